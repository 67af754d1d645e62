// Package crc32c computes CRC-32C checksums (the Castagnoli polynomial 0x1EDC6F41,
// reflected, with the register inverted before and after), the checksum of iSCSI,
// ext4, SCTP and of the Graven frame.
//
// Results are the same as those of hash/crc32 with crc32.Castagnoli.
package crc32c

import "unsafe"

//go:generate go run ./internal/gen

// Checksum returns the CRC-32C of p. The checksum of no bytes is 0.
func Checksum(p []byte) uint32 {
	return update(0, unsafe.SliceData(p), len(p))
}

// Update returns the CRC-32C of the bytes that crc covers followed by p, so that
// a checksum may be taken in pieces of any size: Update(Checksum(a), b) is the
// checksum of a followed by b. Update(0, p) is Checksum(p).
func Update(crc uint32, p []byte) uint32 {
	return update(crc, unsafe.SliceData(p), len(p))
}
