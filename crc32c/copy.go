package crc32c

import "unsafe"

// copyPiece is how much is checked and then copied at a time where that takes two
// passes, in bytes: the second finds it in the first level of the cache.
const copyPiece = 16 << 10

// Copy copies src to the first len(src) bytes of dst and returns the CRC-32C of src.
// Where the machine allows it does so in one pass over memory, and it is not slower
// than copy followed by Checksum. The slices may overlap: as with copy, dst then gets
// what src was, and the result is the checksum of that. Copy panics if dst is shorter
// than src.
func Copy(dst, src []byte) uint32 {
	if len(dst) < len(src) {
		panic("crc32c: Copy to a slice shorter than its source")
	}
	dst = dst[:len(src)]
	d := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	s := uintptr(unsafe.Pointer(unsafe.SliceData(src)))
	if n := uintptr(len(src)); d-s < n || s-d < n {
		crc := Checksum(src)
		copy(dst, src)
		return crc
	}
	return copyApart(dst, src)
}

// copyTwice is copyApart in two passes.
func copyTwice(crc uint32, dst, src []byte) uint32 {
	for len(src) > copyPiece {
		crc = Update(crc, src[:copyPiece])
		copy(dst, src[:copyPiece])
		dst, src = dst[copyPiece:], src[copyPiece:]
	}
	crc = Update(crc, src)
	copy(dst, src)
	return crc
}
