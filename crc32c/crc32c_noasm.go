//go:build purego || !(amd64 || arm64 || loong64 || ppc64le || s390x)

package crc32c

import "unsafe"

// update is Update for the n bytes at p.
func update(crc uint32, p *byte, n int) uint32 {
	return updateGeneric(crc, unsafe.Slice(p, n))
}
