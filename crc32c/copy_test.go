package crc32c

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// everyCopy returns all ways to copy that this machine has.
func everyCopy() []copyPath {
	return append(archCopies(),
		copyPath{"copyTwice", 0, math.MaxInt, copyTwice},
		copyPath{"Copy", 0, math.MaxInt, func(dst, src []byte, crc uint32) uint32 {
			got := Copy(dst, src)
			return Combine(crc, got, int64(len(src)))
		}},
	)
}

// TestCopy copies at all alignments of source and destination, and looks at the bytes
// around.
func TestCopy(t *testing.T) {
	const around = 128
	rng := rand.New(rand.NewPCG(2, 1))
	src := random(rng, 300<<10)
	dst := make([]byte, len(src)+2*around)
	rounds := 8000
	if testing.Short() || raceEnabled {
		rounds = 800
	}
	for i := range rounds {
		n := rng.IntN(2100)
		switch {
		case i < 1000:
			n = i
		case i%100 == 0:
			n = rng.IntN(len(src) - around)
		}
		from, to, crc := rng.IntN(around), around+rng.IntN(around), rng.Uint32()
		if i%2 == 0 {
			from, to = from&^63, to&^63
		}
		p := src[from : from+n : from+n]
		want := Update(crc, p)
		for _, path := range everyCopy() {
			if n < path.min || n > path.max {
				continue
			}
			area := dst[:to+n+around]
			clear(area)
			if got := path.call(dst[to:to+n:to+n], p, crc); got != want {
				t.Fatalf("%s: %d bytes from %d to %d: got %08x, want %08x", path.name, n, from, to, got, want)
			}
			if !bytes.Equal(area[to:to+n], p) {
				t.Fatalf("%s: %d bytes from %d to %d: not copied", path.name, n, from, to)
			}
			if bytes.Count(area[:to], []byte{0}) != to || bytes.Count(area[to+n:], []byte{0}) != around {
				t.Fatalf("%s: %d bytes from %d to %d: wrote outside", path.name, n, from, to)
			}
		}
	}
}

// TestCopyDistances copies over all distances modulo 4096, some of which take another
// way.
func TestCopyDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	buf := random(rng, 128<<10)
	src := buf[:8192]
	for d := 0; d < 4096; d += 61 {
		for _, n := range []int{40, 300, 1000, 5000} {
			p, dst := src[:n], buf[16<<10+d:]
			if got, want := Copy(dst, p), Checksum(p); got != want || !bytes.Equal(dst[:n], p) {
				t.Fatalf("%d bytes at distance %d: got %08x, want %08x", n, d, got, want)
			}
		}
	}
}

// TestCopyOverlap holds that Copy copies as copy does, and returns the checksum of what
// the source was.
func TestCopyOverlap(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	for _, n := range []int{1, 3, 8, 20, 64, 100, 255, 256, 500, 1000, 5000, 40000} {
		original := random(rng, 2*n+64)
		for _, shift := range []int{-n, -n + 1, -300, -64, -17, -8, -1, 0, 1, 8, 17, 64, 300, n - 1, n} {
			from := n
			to := n + shift
			if to < 0 || max(from, to)+n > len(original) {
				continue
			}
			got, want := bytes.Clone(original), bytes.Clone(original)
			copy(want[to:to+n], want[from:from+n])
			crc := Copy(got[to:], got[from:from+n])
			if crc != Checksum(original[from:from+n]) {
				t.Errorf("%d bytes moved by %d: checksum %08x, want %08x", n, shift, crc, Checksum(original[from:from+n]))
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes moved by %d: not what copy does", n, shift)
			}
		}
	}
}

func TestCopyShort(t *testing.T) {
	for _, n := range []int{1, 20, 300} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d bytes: no panic", n)
				}
			}()
			Copy(make([]byte, n-1), make([]byte, n))
		}()
	}
	if got := Copy(nil, nil); got != 0 {
		t.Errorf("Copy of nothing: got %08x, want 0", got)
	}
}
