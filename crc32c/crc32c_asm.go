//go:build !purego && (amd64 || arm64)

package crc32c

import "unsafe"

// pieceMax is what one call of a path may take, in bytes. The scheduler cannot stop
// assembly, and this much takes some tens of microseconds.
//
//lint:ignore U1000 for the assembly
const pieceMax = 1 << 20

// update is Update for the n bytes at p. It selects the path of this machine.
//
//go:noescape
func update(crc uint32, p *byte, n int) uint32

// updateBytes is where update goes on a machine without the instructions that the
// paths need.
//
//lint:ignore U1000 for the assembly
func updateBytes(crc uint32, p *byte, n int) uint32 {
	return updateGeneric(crc, unsafe.Slice(p, n))
}

// updatePieces is where the paths go with more than pieceMax bytes.
//
//lint:ignore U1000 for the assembly
func updatePieces(crc uint32, p *byte, n int) uint32 {
	for b := unsafe.Slice(p, n); len(b) > 0; {
		k := min(len(b), pieceMax)
		crc = update(crc, unsafe.SliceData(b), k)
		b = b[k:]
	}
	return crc
}
