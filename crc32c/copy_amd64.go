//go:build !purego

package crc32c

import "unsafe"

// Lengths in bytes at which copying changes its way.
const (
	// copySSE42Overlap is what fits into the registers of 16 bytes.
	//
	//lint:ignore U1000 for the assembly
	copySSE42Overlap = 128
	// copySSE42Max is what the table for six chains reaches to.
	copySSE42Max = hybridSSE42 - 1
	// copyLongMin is where bringing the destination to a multiple of 64 pays.
	copyLongMin = 4096
	// copyHybrid is where chains beside the folding pay, which read and write in six
	// more places. copyHybridMax is what one block takes: iterations of 448 bytes, and
	// less than one more.
	//
	//lint:ignore U1000 for the assembly
	copyHybrid = 2048
	//lint:ignore U1000 for the assembly
	copyHybridMax = 448*blockAVX512 + 447
	// copyFolding is where, in caches further away, fewer places are faster again.
	copyFolding = 192 << 10
)

// copyUpdate copies n bytes from src to dst, as the built-in copy does, and returns their
// checksum on top of crc.
//
//go:noescape
func copyUpdate(dst, src *byte, n int, crc uint32) uint32

// copySSE42 is copyUpdate for up to copySSE42Max bytes, with SSE4.2 and PCLMULQDQ. More
// than copySSE42Overlap bytes must not overlap.
//
//go:noescape
func copySSE42(dst, src *byte, n int, crc uint32) uint32

// copyApart is copyUpdate for 256 bytes and more that do not overlap, with AVX-512.
//
//go:noescape
func copyApart(dst, src *byte, n int, crc uint32) uint32

// copyLong is where copyUpdate goes with everything out of the ordinary.
func copyLong(dst, src *byte, n int, crc uint32) uint32 {
	to, from := unsafe.Slice(dst, n), unsafe.Slice(src, n)
	switch {
	case overlap(to, from):
		crc = Update(crc, from)
		copy(to, from)
		return crc
	case level < levelAVX512 || n < copyLongMin:
		return copyTwice(to, from, crc)
	}
	// Stores of 64 bytes are slower where they reach into another cache line.
	k := -int(uintptr(unsafe.Pointer(dst))) & 63
	crc = copyUpdate(dst, src, k, crc)
	to, from = to[k:], from[k:]
	block := 448 * blockAVX512
	if len(from) > copyFolding {
		block = pieceMax
	}
	for len(from) >= block+256 {
		crc = copyApart(unsafe.SliceData(to), unsafe.SliceData(from), block, crc)
		to, from = to[block:], from[block:]
	}
	return copyApart(unsafe.SliceData(to), unsafe.SliceData(from), len(from), crc)
}
