//go:build !purego

package crc32c

import (
	"math"
	"testing"
	"unsafe"
)

var levelNames = map[uint8]string{levelGeneric: "generic", levelSSE42: "sse42", levelAVX512: "avx512"}

func activePath() string { return levelNames[level] }

func archPaths() []path {
	best := detect()
	at := func(l uint8) func(crc uint32, p []byte) uint32 {
		return func(crc uint32, p []byte) (got uint32) {
			withLevel(l, func() { got = Update(crc, p) })
			return got
		}
	}
	paths := []path{{"level generic", 0, at(levelGeneric)}}
	if best >= levelSSE42 {
		paths = append(paths, path{"level sse42", 0, at(levelSSE42)}, path{"sse42", 0, atPointer(updateSSE42)})
	}
	if best >= levelAVX512 {
		for name, amd := range makers {
			paths = append(paths, path{"level avx512, " + name, 0, func(crc uint32, p []byte) (got uint32) {
				withMaker(amd, func() { got = at(levelAVX512)(crc, p) })
				return got
			}})
		}
	}
	return paths
}

// Whose processors there are ways for, and whether that is AMD.
var makers = map[string]bool{"AMD": true, "Intel": false}

// withMaker runs f as on a processor that AMD, or somebody else, made.
func withMaker(amd bool, f func()) {
	was, wasCopy := hybridFrom, copyHybridFrom
	defer func() { hybridFrom, copyHybridFrom = was, wasCopy }()
	hybridFrom, copyHybridFrom = hybridLengths(amd)
	f()
}

// TestChainsBesideFolding shows that only AMD's processors have chains beside the folding.
func TestChainsBesideFolding(t *testing.T) {
	if detect() < levelAVX512 {
		t.Skip("needs AVX-512")
	}
	p := make([]byte, 5000)
	for i := range p {
		p[i] = byte(i * 7)
	}
	flip := func() {
		for i := range chainLanes {
			chainLanes[i] ^= 1
		}
	}
	flip()
	defer flip()
	for name, amd := range makers {
		withMaker(amd, func() {
			for _, n := range []int{hybridAVX512, 5000} {
				if read := Checksum(p[:n]) != bitwise(0, p[:n]); read != amd {
					t.Errorf("%s, %d bytes: chains are taken: %v", name, n, read)
				}
			}
		})
	}
}

// TestPathTaken shows which code computes a checksum: with an entry changed in a table
// that only one path reads, the results of that path, and of no other, are wrong.
func TestPathTaken(t *testing.T) {
	withMaker(true, func() { testPathTaken(t) })
}

func testPathTaken(t *testing.T) {
	best := detect()
	p := make([]byte, 1<<16)
	for i := range p {
		p[i] = byte(i * 7)
	}
	for _, tt := range []struct {
		table string
		flip  func()
		level uint8
		// lengths in bytes that read the table, and that do not
		reads, ignores []int
	}{
		{"short.shift", func() {
			for i := range shortAligned.shift {
				shortAligned.shift[i] ^= 1
			}
		}, levelAVX512, []int{17, 64, 255}, []int{0, 1, 8, 16, 256, 512, 5000}},
		{"short.lastWords", func() {
			for i := range shortAligned.lastWords {
				shortAligned.lastWords[i] ^= 1 << 32
			}
		}, levelAVX512, []int{17, 64, 255, 256, 512, 5000}, []int{0, 1, 8, 16}},
		{"foldZMM", func() {
			for i := range foldZMM {
				foldZMM[i] ^= 1 << 32
			}
		}, levelAVX512, []int{256, 300, 512, 5000}, []int{1, 8, 16, 17, 255}},
		{"chainLanes", func() {
			for i := range chainLanes {
				chainLanes[i] ^= 1
			}
		}, levelAVX512, []int{hybridAVX512, 2000, 5000, 65536}, []int{1, 16, 255, 256, hybridAVX512 - 1}},
		{"shiftWords", func() {
			for i := range shiftWords {
				shiftWords[i] ^= 1
			}
		}, levelSSE42, []int{chainsSSE42, 256, hybridSSE42 - 1}, []int{1, 16, 17, chainsSSE42 - 1, hybridSSE42/304*304 + 304}},
		{"chainEnds", func() {
			for i := range chainEnds {
				chainEnds[i] ^= 1
			}
		}, levelSSE42, []int{hybridSSE42, 5000, 65536}, []int{1, 17, 256, hybridSSE42 - 1}},
		{"foldXMM", func() {
			for i := range foldXMM {
				foldXMM[i] ^= 1 << 32
			}
		}, levelSSE42, []int{hybridSSE42, 5000, 65536}, []int{1, 17, 256, hybridSSE42 - 1}},
		{"slicing", func() {
			for i := range slicing()[0] {
				slicing()[0][i] ^= 1
			}
		}, levelGeneric, []int{1, 16, 17, 255, 5000}, []int{0}},
	} {
		// Flipping the bits once more puts the table right.
		tt.flip()
		for l := uint8(levelGeneric); l <= best; l++ {
			withLevel(l, func() {
				for _, n := range tt.ignores {
					if got, want := Update(1, p[:n]), bitwise(1, p[:n]); got != want {
						t.Errorf("level %s, %d bytes: reads %s", levelNames[l], n, tt.table)
					}
				}
				for _, n := range tt.reads {
					got, want := Update(1, p[:n]), bitwise(1, p[:n])
					if (got != want) != (l == tt.level) {
						t.Errorf("level %s, %d bytes: reads %s: %v", levelNames[l], n, tt.table, got != want)
					}
				}
			})
		}
		tt.flip()
		if got, want := Checksum(p), bitwise(0, p); got != want {
			t.Fatalf("%s: got %08x, want %08x afterwards", tt.table, got, want)
		}
	}
}

func archCopies() []copyPath {
	if detect() < levelAVX512 {
		return nil
	}
	at := func(f func(dst, src *byte, n int, crc uint32) uint32) func([]byte, []byte, uint32) uint32 {
		return func(dst, src []byte, crc uint32) uint32 {
			return f(unsafe.SliceData(dst), unsafe.SliceData(src), len(src), crc)
		}
	}
	as := func(amd bool, f func([]byte, []byte, uint32) uint32) func([]byte, []byte, uint32) uint32 {
		return func(dst, src []byte, crc uint32) (got uint32) {
			withMaker(amd, func() { got = f(dst, src, crc) })
			return got
		}
	}
	return []copyPath{
		{"copySSE42", 0, copySSE42Max, at(copySSE42)},
		{"copyApart, AMD", 256, math.MaxInt, as(true, at(copyApart))},
		{"copyApart, Intel", 256, math.MaxInt, as(false, at(copyApart))},
		{"copyLong, AMD", 0, math.MaxInt, as(true, at(copyLong))},
		{"copyLong, Intel", 0, math.MaxInt, as(false, at(copyLong))},
		{"level sse42", 0, math.MaxInt, func(dst, src []byte, crc uint32) (got uint32) {
			withLevel(levelSSE42, func() { got = at(copyUpdate)(dst, src, crc) })
			return got
		}},
	}
}
