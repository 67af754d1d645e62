package crc32c

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// These benchmarks are the rows of README.md's table. Ratios of two that run one after
// the other drift with the machine: internal/ratio makes them take turns.

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

var benchSizes = []int{4, 8, 16, 24, 32, 48, 64, 96, 128, 200, 256, 512, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20}

var benchSink uint32

// benchInput returns n bytes that start 64 bytes after the start of a page.
func benchInput(n int) []byte {
	p := random(rand.New(rand.NewPCG(3, 1)), n+64+4096)
	return p[64 : 64+n]
}

func BenchmarkChecksum(b *testing.B) {
	input := benchInput(1 << 20)
	for _, n := range benchSizes {
		p := input[:n]
		b.Run(fmt.Sprintf("crc32c/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s ^= Checksum(p)
			}
			benchSink ^= s
		})
		b.Run(fmt.Sprintf("hash-crc32/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s ^= crc32.Checksum(p, castagnoliTable)
			}
			benchSink ^= s
		})
	}
}

// BenchmarkChained makes every call wait for the result of the one before it.
func BenchmarkChained(b *testing.B) {
	input := benchInput(1 << 20)
	for _, n := range benchSizes {
		p := input[:n]
		b.Run(fmt.Sprintf("crc32c/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s = Update(s, p)
			}
			benchSink ^= s
		})
		b.Run(fmt.Sprintf("hash-crc32/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s = crc32.Update(s, castagnoliTable, p)
			}
			benchSink ^= s
		})
	}
}

// BenchmarkUnpredictable takes lengths from 1 to 64 in an order that branch predictors do
// not learn.
func BenchmarkUnpredictable(b *testing.B) {
	const calls = 1 << 18
	rng := rand.New(rand.NewPCG(3, 2))
	sizes := make([]uint8, calls)
	for i := range sizes {
		sizes[i] = uint8(1 + rng.IntN(64))
	}
	p := benchInput(8 << 10)
	b.Run("crc32c", func(b *testing.B) {
		var s uint32
		for i := range b.N {
			o := i * 72 & 4095
			s ^= Checksum(p[o : o+int(sizes[i%calls])])
		}
		benchSink ^= s
	})
	b.Run("hash-crc32", func(b *testing.B) {
		var s uint32
		for i := range b.N {
			o := i * 72 & 4095
			s ^= crc32.Checksum(p[o:o+int(sizes[i%calls])], castagnoliTable)
		}
		benchSink ^= s
	})
}

func BenchmarkCopy(b *testing.B) {
	input, output := benchInput(1<<20), benchInput(1<<20)
	for _, n := range benchSizes {
		src, dst := input[:n], output[:n]
		b.Run(fmt.Sprintf("Copy/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s ^= Copy(dst, src)
			}
			benchSink ^= s
		})
		b.Run(fmt.Sprintf("copy-Checksum/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				copy(dst, src)
				s ^= Checksum(src)
			}
			benchSink ^= s
		})
	}
}

// BenchmarkGeneric is the portable path.
func BenchmarkGeneric(b *testing.B) {
	input := benchInput(64 << 10)
	for _, n := range []int{16, 64, 256, 4 << 10, 64 << 10} {
		p := input[:n]
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			var s uint32
			for range b.N {
				s ^= updateGeneric(0, p)
			}
			benchSink ^= s
		})
	}
}

func BenchmarkCombine(b *testing.B) {
	var s uint32
	for i := range b.N {
		s ^= Combine(uint32(i), 5, 1<<30+12345)
	}
	benchSink ^= s
}
