//go:build !purego

package crc32c

import "unsafe"

// copyApart is Copy for slices of the same length that do not overlap.
func copyApart(dst, src []byte) uint32 {
	if level < levelAVX512 || len(src) < 256 {
		return copyTwice(0, dst, src)
	}
	crc := uint32(0)
	for len(src) > copyMax {
		const block = copyMax &^ 63
		crc = copyAVX512(crc, unsafe.SliceData(dst), unsafe.SliceData(src), block)
		dst, src = dst[block:], src[block:]
	}
	if len(src) < 256 {
		crc = copyTwice(crc, dst, src)
	} else {
		crc = copyAVX512(crc, unsafe.SliceData(dst), unsafe.SliceData(src), len(src))
	}
	return crc
}
