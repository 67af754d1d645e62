package crc32c

import (
	"encoding/binary"
	"sync/atomic"
)

// slicingTables[k][b] is what byte b contributes to the CRC register when k bytes
// follow it.
type slicingTables [16][256]uint32

// builtSlicing is nil until the tables are needed, 16 KiB that programs on the paths in
// assembly never build.
var builtSlicing atomic.Pointer[slicingTables]

func slicing() *slicingTables {
	if t := builtSlicing.Load(); t != nil {
		return t
	}
	return buildSlicing()
}

// buildSlicing builds the tables. Doing so twice at once does no harm.
func buildSlicing() *slicingTables {
	t := new(slicingTables)
	for b := range t[0] {
		crc := uint32(b)
		for range 8 {
			crc = crc>>1 ^ polynomial&-(crc&1)
		}
		t[0][b] = crc
	}
	for k := 1; k < len(t); k++ {
		for b, crc := range t[k-1] {
			t[k][b] = crc>>8 ^ t[0][byte(crc)]
		}
	}
	builtSlicing.Store(t)
	return t
}

// updateGeneric is Update without any special instruction: 16 bytes at a time, then
// 8, then single bytes. It slices the input as Kounavis and Berry do in "A Systematic
// Approach to Building High Performance Software-based CRC Generators" (2005).
func updateGeneric(crc uint32, p []byte) uint32 {
	t := slicing()
	crc = ^crc
	for len(p) >= 16 {
		a := binary.LittleEndian.Uint32(p) ^ crc
		b := binary.LittleEndian.Uint32(p[4:])
		c := binary.LittleEndian.Uint32(p[8:])
		d := binary.LittleEndian.Uint32(p[12:])
		crc = t[15][byte(a)] ^ t[14][byte(a>>8)] ^ t[13][byte(a>>16)] ^ t[12][a>>24] ^
			t[11][byte(b)] ^ t[10][byte(b>>8)] ^ t[9][byte(b>>16)] ^ t[8][b>>24] ^
			t[7][byte(c)] ^ t[6][byte(c>>8)] ^ t[5][byte(c>>16)] ^ t[4][c>>24] ^
			t[3][byte(d)] ^ t[2][byte(d>>8)] ^ t[1][byte(d>>16)] ^ t[0][d>>24]
		p = p[16:]
	}
	if len(p) >= 8 {
		a := binary.LittleEndian.Uint32(p) ^ crc
		b := binary.LittleEndian.Uint32(p[4:])
		crc = t[7][byte(a)] ^ t[6][byte(a>>8)] ^ t[5][byte(a>>16)] ^ t[4][a>>24] ^
			t[3][byte(b)] ^ t[2][byte(b>>8)] ^ t[1][byte(b>>16)] ^ t[0][b>>24]
		p = p[8:]
	}
	for _, b := range p {
		crc = crc>>8 ^ t[0][byte(crc)^b]
	}
	return ^crc
}
