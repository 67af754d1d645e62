package crc32c

import (
	"math/rand/v2"
	"testing"
)

// bitwise is the definition: one shift of the register for each bit.
func bitwise(crc uint32, p []byte) uint32 {
	crc = ^crc
	for _, b := range p {
		crc ^= uint32(b)
		for range 8 {
			crc = crc>>1 ^ polynomial&-(crc&1)
		}
	}
	return ^crc
}

func TestCombine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 3000)
	for i := range buf {
		buf[i] = byte(rng.Uint32())
	}
	for range 2000 {
		n := rng.IntN(len(buf) + 1)
		k := rng.IntN(n + 1)
		got := Combine(Checksum(buf[:k]), Checksum(buf[k:n]), int64(n-k))
		if want := bitwise(0, buf[:n]); got != want {
			t.Fatalf("Combine at %d of %d: got %08x, want %08x", k, n, got, want)
		}
	}
}
