package crc32c

import (
	"encoding/binary"
	"sync"
)

// slicingTables[k][b] is what byte b contributes to the CRC register when k bytes
// follow it.
type slicingTables [16][256]uint32

// slicing returns the tables, 16 KiB that programs on the paths in assembly never build.
var slicing = sync.OnceValue(func() *slicingTables {
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
	return t
})

// updateGeneric is Update without any special instruction: 16 bytes at a time, then
// 8, then single bytes. It slices the input as Kounavis and Berry do in "A Systematic
// Approach to Building High Performance Software-based CRC Generators" (2005).
func updateGeneric(crc uint32, p []byte) uint32 {
	t := slicing()
	crc = ^crc
	for len(p) >= 16 {
		a := binary.LittleEndian.Uint64(p) ^ uint64(crc)
		b := binary.LittleEndian.Uint64(p[8:])
		crc = t[15][byte(a)] ^ t[14][byte(a>>8)] ^ t[13][byte(a>>16)] ^ t[12][byte(a>>24)] ^
			t[11][byte(a>>32)] ^ t[10][byte(a>>40)] ^ t[9][byte(a>>48)] ^ t[8][byte(a>>56)] ^
			t[7][byte(b)] ^ t[6][byte(b>>8)] ^ t[5][byte(b>>16)] ^ t[4][byte(b>>24)] ^
			t[3][byte(b>>32)] ^ t[2][byte(b>>40)] ^ t[1][byte(b>>48)] ^ t[0][byte(b>>56)]
		p = p[16:]
	}
	if len(p) >= 8 {
		a := binary.LittleEndian.Uint64(p) ^ uint64(crc)
		crc = t[7][byte(a)] ^ t[6][byte(a>>8)] ^ t[5][byte(a>>16)] ^ t[4][byte(a>>24)] ^
			t[3][byte(a>>32)] ^ t[2][byte(a>>40)] ^ t[1][byte(a>>48)] ^ t[0][byte(a>>56)]
		p = p[8:]
	}
	for _, b := range p {
		crc = crc>>8 ^ t[0][byte(crc)^b]
	}
	return ^crc
}
