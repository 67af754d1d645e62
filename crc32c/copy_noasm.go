//go:build purego || !amd64

package crc32c

import "unsafe"

// copyUpdate copies n bytes from src to dst, as the built-in copy does, and returns their
// checksum on top of crc.
func copyUpdate(dst, src *byte, n int, crc uint32) uint32 {
	to, from := unsafe.Slice(dst, n), unsafe.Slice(src, n)
	if overlap(to, from) {
		crc = Update(crc, from)
		copy(to, from)
		return crc
	}
	return copyTwice(to, from, crc)
}
