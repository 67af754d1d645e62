//go:build !purego && (loong64 || ppc64le || s390x)

package crc32c

import (
	"hash/crc32"
	"unsafe"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// update is Update for the n bytes at p. hash/crc32 has assembly for this architecture.
func update(crc uint32, p *byte, n int) uint32 {
	return crc32.Update(crc, castagnoli, unsafe.Slice(p, n))
}
