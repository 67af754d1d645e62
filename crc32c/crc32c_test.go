package crc32c

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// bitwise is the definition that every path is held to: one shift of the register for
// each bit.
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

// bitwisePrefixes returns bitwise(crc, p[:n]) for every n.
func bitwisePrefixes(crc uint32, p []byte) []uint32 {
	crcs := make([]uint32, 1, len(p)+1)
	crcs[0] = crc
	for i := range p {
		crc = bitwise(crc, p[i:i+1])
		crcs = append(crcs, crc)
	}
	return crcs
}

func random(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	return p
}

// A path is one way to compute the checksum, with everything below it.
type path struct {
	name string
	min  int // the shortest input it takes, in bytes
	call func(crc uint32, p []byte) uint32
}

// A copyPath is one way to copy min to max bytes and compute their checksum on top of crc.
type copyPath struct {
	name     string
	min, max int
	call     func(dst, src []byte, crc uint32) uint32
}

// everyPath returns all paths that this machine can run: those of the architecture,
// called directly, and the ones that every build has.
func everyPath() []path {
	return append(archPaths(),
		path{"generic", 0, updateGeneric},
		path{"Update", 0, Update},
	)
}

func TestKnownChecksums(t *testing.T) {
	up, down := make([]byte, 32), make([]byte, 32)
	for i := range up {
		up[i], down[i] = byte(i), byte(31-i)
	}
	ones := make([]byte, 32)
	for i := range ones {
		ones[i] = 0xff
	}
	// The check value of the CRC catalogue, and RFC 3720, B.4.
	for _, tt := range []struct {
		in   []byte
		want uint32
	}{
		{nil, 0},
		{[]byte("123456789"), 0xe3069283},
		{make([]byte, 32), 0x8a9136aa},
		{ones, 0x62a8ab43},
		{up, 0x46dd794e},
		{down, 0x113fdb5c},
	} {
		if got := Checksum(tt.in); got != tt.want {
			t.Errorf("Checksum(%x) = %08x, want %08x", tt.in, got, tt.want)
		}
		if got := bitwise(0, tt.in); got != tt.want {
			t.Errorf("bitwise(%x) = %08x, want %08x", tt.in, got, tt.want)
		}
	}
}

// TestLengthsAndAlignments runs every path on every length from 0 to 2048 at every
// alignment from 0 to 63.
func TestLengthsAndAlignments(t *testing.T) {
	const lengths, alignments = 2048, 64
	rng := rand.New(rand.NewPCG(1, 1))
	buf := random(rng, 4096+alignments+lengths)
	step := 1
	if raceEnabled {
		step = 9 // the portable path is slow then
	}
	for _, at := range []struct{ base, lengths int }{
		{512, lengths},
		// Masked loads look at where pages start and end.
		{0, 300}, {4096 - 64, 300},
	} {
		for a := 0; a < alignments; a += step {
			base, crc := at.base, rng.Uint32()
			if a == 0 {
				crc = 0
			}
			p := buf[base+a:][:at.lengths]
			want := bitwisePrefixes(crc, p)
			for _, path := range everyPath() {
				for n := path.min; n <= len(p); n++ {
					if got := path.call(crc, p[:n:n]); got != want[n] {
						t.Fatalf("%s: %d bytes at %d: got %08x, want %08x", path.name, n, base+a, got, want[n])
					}
				}
			}
		}
	}
}

// TestLongInputs runs every path on random lengths up to 2 MiB.
func TestLongInputs(t *testing.T) {
	const size = 2 << 20
	rng := rand.New(rand.NewPCG(1, 2))
	buf := random(rng, size)
	starts, count := 4, 40
	if testing.Short() || raceEnabled {
		starts, count = 1, 12
	}
	for range starts {
		start, crc := rng.IntN(4096), rng.Uint32()
		p := buf[start:]
		want := bitwisePrefixes(crc, p)
		lengths := []int{
			len(p),
			// Around the ends of blocks, and of what one call takes.
			16<<10 - 1, 16 << 10, 16<<10 + 1, 32<<10 - 1, 32 << 10, 32<<10 + 1, 32<<10 + 511, 32<<10 + 512,
			64<<10 + 300, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1<<20 + 255, 1<<20 + 600,
		}
		for range count {
			lengths = append(lengths, rng.IntN(rng.IntN(len(p))+1))
		}
		for _, n := range lengths {
			for _, path := range everyPath() {
				if got := path.call(crc, p[:n:n]); n >= path.min && got != want[n] {
					t.Fatalf("%s: %d bytes at %d: got %08x, want %08x", path.name, n, start, got, want[n])
				}
			}
		}
	}
}

// TestSplits resumes at every byte of a message, and at random ones.
func TestSplits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	buf := random(rng, 40<<10)
	for _, path := range everyPath() {
		update := func(crc uint32, p []byte) uint32 {
			if len(p) < path.min {
				return Update(crc, p)
			}
			return path.call(crc, p)
		}
		for _, n := range []int{3, 8, 17, 64, 65, 200, 256, 700, 1500} {
			want := bitwise(0, buf[:n])
			for k := range n + 1 {
				if got := update(update(0, buf[:k]), buf[k:n]); got != want {
					t.Fatalf("%s: %d bytes split at %d: got %08x, want %08x", path.name, n, k, got, want)
				}
			}
		}
		want := bitwise(0, buf)
		for range 20 {
			var got uint32
			var at []int
			for p := buf; len(p) > 0; {
				k := min(len(p), rng.IntN(1<<rng.IntN(14)+1))
				at = append(at, k)
				got, p = update(got, p[:k]), p[k:]
			}
			if got != want {
				t.Fatalf("%s: pieces of %d: got %08x, want %08x", path.name, at, got, want)
			}
		}
	}
}

// TestFlippedBits changes every bit of a message in turn: a comparison that does not
// notice would make the other tests worthless.
func TestFlippedBits(t *testing.T) {
	for _, n := range []int{1, 7, 16, 40, 64, 65, 255, 256, 700, 1500} {
		p := random(rand.New(rand.NewPCG(1, 4)), n)
		for _, path := range everyPath() {
			if n < path.min {
				continue
			}
			want := bitwise(0, p)
			for bit := range 8 * n {
				p[bit/8] ^= 1 << (bit % 8)
				if path.call(0, p) == want {
					t.Fatalf("%s: %d bytes: no change with bit %d flipped", path.name, n, bit)
				}
				p[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

// TestGrowingStack checks bytes on a stack that has to grow at some depth: the assembly
// goes on to functions that may move it.
func TestGrowingStack(t *testing.T) {
	for _, path := range everyPath() {
		done := make(chan uint32)
		go func() { done <- recurse(500, path.call) }()
		if got := <-done; got != 0 {
			t.Errorf("%s: %d wrong checksums", path.name, got)
		}
	}
}

func recurse(depth int, update func(crc uint32, p []byte) uint32) (wrong uint32) {
	if depth == 0 {
		return 0
	}
	var p, q [64]byte
	for i := range p {
		p[i] = byte(depth + i)
	}
	want := bitwise(0, p[:])
	if Checksum(p[:]) != want || update(0, p[:]) != want {
		wrong++
	}
	if Copy(q[:], p[:]) != want || q != p {
		wrong++
	}
	return wrong + recurse(depth-1, update)
}

func TestCombine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	buf := random(rng, 3000)
	for i := range 3000 {
		n := rng.IntN(len(buf) + 1)
		k := rng.IntN(n + 1)
		if i%3 == 0 {
			n = min(i, len(buf))
			k = 0
		}
		got := Combine(bitwise(0, buf[:k]), bitwise(0, buf[k:n]), int64(n-k))
		if want := bitwise(0, buf[:n]); got != want {
			t.Fatalf("Combine at %d of %d: got %08x, want %08x", k, n, got, want)
		}
	}
}

// TestCombineLong uses lengths that cannot be had as bytes.
func TestCombineLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for range 500 {
		a, b, c := rng.Uint32(), rng.Uint32(), rng.Uint32()
		lenB, lenC := rng.Int64N(1<<61), rng.Int64N(1<<61)
		// Combining is associative.
		left := Combine(Combine(a, b, lenB), c, lenC)
		right := Combine(a, Combine(b, c, lenC), lenB+lenC)
		if left != right {
			t.Fatalf("not associative at %d and %d: %08x and %08x", lenB, lenC, left, right)
		}
	}
	// x^order is 1: that many bytes multiply by 1, and as many more change nothing.
	const order = 1<<31 - 1
	for _, n := range []int64{0, 1, 12345, 1 << 40} {
		if got, want := Combine(5, 6, n+order), Combine(5, 6, n); got != want {
			t.Errorf("%d bytes: got %08x, want %08x", n+order, got, want)
		}
	}
}

func TestCombineNegative(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Combine(1, 2, -1)
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte("123456789"), uint32(0), uint16(4))
	f.Add(make([]byte, 700), uint32(1), uint16(256))
	f.Fuzz(func(t *testing.T, p []byte, crc uint32, split uint16) {
		want := bitwise(crc, p)
		if got := crc32.Update(crc, crc32.MakeTable(crc32.Castagnoli), p); got != want {
			t.Fatalf("hash/crc32: got %08x, want %08x", got, want)
		}
		for _, path := range everyPath() {
			if len(p) < path.min {
				continue
			}
			if got := path.call(crc, p); got != want {
				t.Errorf("%s: got %08x, want %08x", path.name, got, want)
			}
		}
		k := min(int(split), len(p))
		if got := Update(Update(crc, p[:k]), p[k:]); got != want {
			t.Errorf("split at %d: got %08x, want %08x", k, got, want)
		}
		if got := Combine(bitwise(crc, p[:k]), Checksum(p[k:]), int64(len(p)-k)); got != want {
			t.Errorf("combined at %d: got %08x, want %08x", k, got, want)
		}
		dst := make([]byte, len(p))
		if got := Copy(dst, p); got != Checksum(p) || string(dst) != string(p) {
			t.Errorf("Copy: got %08x, want %08x", got, Checksum(p))
		}
	})
}

func ExampleChecksum() {
	fmt.Printf("%08x\n", Checksum([]byte("123456789")))
	// Output: e3069283
}

func ExampleUpdate() {
	crc := Checksum([]byte("12345"))
	crc = Update(crc, []byte("6789"))
	fmt.Printf("%08x\n", crc)
	// Output: e3069283
}

func ExampleCombine() {
	a, b := []byte("12345"), []byte("6789")
	fmt.Printf("%08x\n", Combine(Checksum(a), Checksum(b), int64(len(b))))
	// Output: e3069283
}

func ExampleCopy() {
	src := []byte("123456789")
	dst := make([]byte, 16)
	crc := Copy(dst, src)
	fmt.Printf("%s %08x\n", dst[:len(src)], crc)
	// Output: 123456789 e3069283
}
