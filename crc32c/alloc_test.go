//go:build purego || !(loong64 || ppc64le || s390x)

// Inputs escape in hash/crc32, which does the work on the other architectures.

package crc32c

import "testing"

// TestAllocations holds that inputs on the stack stay there.
func TestAllocations(t *testing.T) {
	n := testing.AllocsPerRun(100, func() {
		var src, dst [300]byte
		src[3] = byte(sink)
		sink ^= Checksum(src[:]) ^ Update(sink, src[:20]) ^ Copy(dst[:], src[:]) ^ Copy(dst[:], src[:9])
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

var sink uint32
