package crc32c

import "unsafe"

// Copy copies src to the first len(src) bytes of dst and returns the CRC-32C of src.
// Where the machine allows, it does so in one pass over memory, and it is not slower
// than copy followed by Checksum. The slices may overlap: as with copy, dst then gets
// what src was, and the result is the checksum of that. Copy panics if dst is shorter
// than src.
func Copy(dst, src []byte) uint32 {
	return copyUpdate(unsafe.SliceData(dst[:len(src):len(dst)]), unsafe.SliceData(src), len(src), 0)
}

// overlap reports whether two slices of the same length have bytes in common.
func overlap(a, b []byte) bool {
	d := uintptr(unsafe.Pointer(unsafe.SliceData(a))) - uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	n := uintptr(len(a))
	return d < n || -d < n
}

// copyPiece is how much is copied and then checked at a time where that takes two passes,
// in bytes: the second finds it in the first level of the cache.
const copyPiece = 16 << 10

// copyTwice copies src to dst, which is as long and does not overlap, in two passes, and
// returns the checksum of src on top of crc.
func copyTwice(dst, src []byte, crc uint32) uint32 {
	for len(src) > 2*copyPiece {
		copy(dst, src[:copyPiece])
		crc = Update(crc, src[:copyPiece])
		dst, src = dst[copyPiece:], src[copyPiece:]
	}
	copy(dst, src)
	return Update(crc, src)
}
