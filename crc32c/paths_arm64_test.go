//go:build !purego

package crc32c

import "testing"

func activePath() string {
	return map[uint8]string{levelGeneric: "generic", levelCRC32: "crc32"}[level]
}

func archPaths() []path {
	paths := []path{{"level generic", 0, func(crc uint32, p []byte) (got uint32) {
		withLevel(levelGeneric, func() { got = Update(crc, p) })
		return got
	}}}
	if detect() >= levelCRC32 {
		paths = append(paths, path{"crc32", 0, atPointer(updateCRC32)})
	}
	return paths
}

// TestPathTaken shows which code computes a checksum: with its table of multipliers
// changed, the results of the path in assembly, and of no other, are wrong.
func TestPathTaken(t *testing.T) {
	p := make([]byte, 1<<16)
	for i := range p {
		p[i] = byte(i * 7)
	}
	flip := func() {
		for i := range shiftStrides {
			shiftStrides[i] ^= 1
		}
	}
	flip()
	defer flip()
	for l := uint8(levelGeneric); l <= detect(); l++ {
		withLevel(l, func() {
			for _, n := range []int{0, 1, 16, chainsMin - 1, chainsMin, 5000, 65536} {
				got, want := Checksum(p[:n]), bitwise(0, p[:n])
				if (got != want) != (l == levelCRC32 && n >= chainsMin) {
					t.Errorf("level %d, %d bytes: reads shiftStrides: %v", l, n, got != want)
				}
			}
		})
	}
}

func archCopies() []copyPath { return nil }
