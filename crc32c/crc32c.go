// Package crc32c computes CRC-32C checksums (the Castagnoli polynomial 0x1EDC6F41,
// reflected, with the register inverted before and after), the checksum of iSCSI,
// ext4, SCTP and of the Graven frame.
//
// Results are the same as those of hash/crc32 with crc32.Castagnoli.
package crc32c

import "hash/crc32"

var table = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of p. The checksum of no bytes is 0.
func Checksum(p []byte) uint32 {
	return crc32.Update(0, table, p)
}

// Update returns the CRC-32C of the bytes that crc covers followed by p, so that
// a checksum may be taken in pieces of any size: Update(Checksum(a), b) is the
// checksum of a followed by b. Update(0, p) is Checksum(p).
func Update(crc uint32, p []byte) uint32 {
	return crc32.Update(crc, table, p)
}

// Copy copies src to the first len(src) bytes of dst and returns the CRC-32C of
// what it copied. It panics if dst is shorter than src. The two must not overlap,
// unless they start at the same byte.
func Copy(dst, src []byte) uint32 {
	if len(dst) < len(src) {
		panic("crc32c: Copy into a slice shorter than its source")
	}
	copy(dst, src)
	return Checksum(src)
}
