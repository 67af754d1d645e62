//go:build purego || !amd64

package crc32c

// copyApart is Copy for slices of the same length that do not overlap.
func copyApart(dst, src []byte) uint32 {
	return copyTwice(0, dst, src)
}
