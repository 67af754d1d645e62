// Command gen derives the constants of package crc32c's assembly and writes them
// as Go tables. Run it with go generate in package crc32c.
//
// All polynomials are over GF(2) modulo P, the Castagnoli polynomial, and are
// stored with their bits reflected, the way the CRC instructions hold them: in a
// 32-bit word, bit 31 stands for x^0 and bit 0 for x^31. A reflected word that sits
// in the upper half of a 64-bit word stands for the same polynomial; in the lower
// half, for that polynomial times x^32. The carry-less product of two reflected
// 64-bit words, read as a reflected 128-bit word, is their product times x.
//
// A register "at distance n" is followed by n more bytes of message. What it holds
// is brought to the end of the message by multiplying with x^(8n), and a table
// holds that power corrected for the factors x and x^32 that the layout brings in.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"log"
	"os"
	"path/filepath"
)

const (
	// polynomial is P without its x^32.
	polynomial = 0x82f63b78
	// order is the multiplicative order of x modulo P.
	order = 1<<31 - 1
)

// Sizes that the assembly relies on.
const (
	hybridChains = 8   // CRC32Q chains beside the 512-bit folding
	hybridBlock  = 148 // iterations in a block, which holds 64 KiB to be copied
	chainStride  = 32  // bytes of one chain in an iteration
	zmmStride    = 256

	sseChains      = 6   // chains of the SSE4.2 path
	sseBlock       = 108 // iterations in a block of at most 32 KiB
	sseChainStride = 40
	xmmStride      = 64

	wordsMax = 256 // words in the longest input of the SSE4.2 path that has chains only

	armChains      = 4
	armBlock       = 128 // iterations in a block of at most 16 KiB
	armChainStride = 32
)

// multiply returns a times b modulo P.
func multiply(a, b uint32) uint32 {
	var product uint32
	for i := 31; i >= 0; i-- {
		if a>>i&1 != 0 {
			product ^= b
		}
		if b&1 != 0 {
			b = b>>1 ^ polynomial
		} else {
			b >>= 1
		}
	}
	return product
}

// power returns x^n modulo P. A negative n is a power of the inverse of x.
func power(n int) uint32 {
	n %= order
	if n < 0 {
		n += order
	}
	result, square := uint32(1)<<31, uint32(1)<<30
	for ; n != 0; n >>= 1 {
		if n&1 != 0 {
			result = multiply(result, square)
		}
		square = multiply(square, square)
	}
	return result
}

// upper returns the multiplier in the upper half of a 64-bit word that takes a
// 64-bit word of message to a 128-bit register n bytes further on. The product's
// factor x takes one off the power.
func upper(n int) uint64 { return uint64(power(8*n-1)) << 32 }

// fold returns the two multipliers that move a 128-bit register on by n bytes: its
// lower word is followed by 8 bytes more than its upper word.
func fold(n int) [2]uint64 { return [2]uint64{upper(n + 8), upper(n)} }

// lower returns the multiplier in the lower half of a word that takes a CRC register,
// in the lower half too, over n bytes. The product fits into 64 bits, and the CRC32
// instruction that reduces it multiplies by x^32; two lower halves and the factor x
// make x^65, less the x^32 by which a 64-bit word in the upper half of a 128-bit
// register differs: 33 powers come off.
func lower(n int) uint32 { return power(8*n - 33) }

// inverted returns the word that, added to the last word that a CRC32 instruction takes
// in, makes up for inverting neither the register before n bytes nor the checksum after
// them: what a register of ones comes to after n bytes, and ones times the inverse of the
// x^32 that the instruction multiplies by.
func inverted(n int) uint64 {
	var ones uint64
	for i := range 32 {
		ones ^= uint64(lower(n)) << i
	}
	return ones ^ uint64(multiply(0xffffffff, power(-32)))<<32
}

// chain returns the multiplier of chain j after k iterations of the hybrid loop: it
// takes the chain's register into 128-bit lane j/2 of the last accumulator. The chains
// lie one after the other before the bytes that are folded, and a lane ends 16 bytes
// before the next. The accumulator is reduced by CRC32 instructions at last (x^32),
// and the product of two lower halves brings x^65.
func chain(k, j int) uint32 {
	distance := (hybridChains-1-j)*chainStride*k + zmmStride*k
	lane := 48 - 16*(j/2)
	return power(8*(distance-lane) - 97)
}

type table struct {
	name, doc string
	typ       string
	values    []string
	perLine   int
	fields    []table // of a struct, instead of values
}

// write appends the values, or the fields with theirs.
func (t table) write(b *bytes.Buffer) {
	for i, v := range t.values {
		if i%t.perLine == 0 {
			b.WriteString("\n\t")
		}
		b.WriteString(v + ", ")
	}
	for _, f := range t.fields {
		fmt.Fprintf(b, "\n%s: [...]%s{", f.name, f.typ)
		f.write(b)
		b.WriteString("\n},")
	}
}

func bytes8(n int, f func(i int) byte) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("0x%02x", f(i))
	}
	return s
}

func words32(n int, f func(i int) uint32) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("0x%08x", f(i))
	}
	return s
}

func words64(n int, f func(i int) uint64) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprintf("0x%016x", f(i))
	}
	return s
}

func folds(step int) []string {
	return words64(8, func(i int) uint64 { return fold((i/2 + 1) * step)[i%2] })
}

func everywhere() []table {
	return []table{{
		name: "squares", typ: "[31]uint32", perLine: 8,
		doc:    "squares[k] is x^(2^k) modulo the polynomial. x^(2^31) is x again.",
		values: words32(31, func(k int) uint32 { return power(1 << k) }),
	}}
}

func amd64() []table {
	return []table{
		{
			name: "shiftWords", typ: fmt.Sprintf("[%d]uint32", wordsMax*(sseChains-1)/sseChains+sseChains), perLine: 8,
			doc:    "shiftWords[n] takes a CRC register over n words of 8 bytes.",
			values: words32(wordsMax*(sseChains-1)/sseChains+sseChains, func(i int) uint32 { return lower(8 * i) }),
		},
		{
			name: "chainEnds", typ: fmt.Sprintf("[%d]uint32", sseChains*(sseBlock+1)), perLine: 6,
			doc: "chainEnds[6*k+j] takes the register of chain j, after k iterations of the hybrid loop\n" +
				"with SSE4.2, to the end of the block.",
			values: words32(sseChains*(sseBlock+1), func(i int) uint32 {
				k, j := i/sseChains, i%sseChains
				return lower(k * ((sseChains-1-j)*sseChainStride + xmmStride))
			}),
		},
		{
			name: "chainLanes", typ: fmt.Sprintf("[%d]uint32", hybridChains*(hybridBlock+1)), perLine: 8,
			doc: "chainLanes[8*k+j] takes the register of chain j, after k iterations of the hybrid\n" +
				"loop, into lane j/2 of the last accumulator.",
			values: words32(hybridChains*(hybridBlock+1), func(i int) uint32 { return chain(i/8, i%8) }),
		},
		{
			name: "short", typ: "shortTables", doc: "short holds what inputs of up to 255 bytes need.",
			fields: []table{
				{name: "lastWords", typ: "uint64", perLine: 4, values: words64(32, func(i int) uint64 {
					return upper(8 * (31 - i))
				})},
				{name: "shift", typ: "uint64", perLine: 4, values: words64(256, func(i int) uint64 {
					return uint64(lower(i))
				})},
				{name: "inverted", typ: "uint64", perLine: 4, values: words64(256, inverted)},
				{name: "mask", typ: "byte", perLine: 16, values: bytes8(128, func(i int) byte {
					return byte(-(i / 64))
				})},
				{name: "move", typ: "byte", perLine: 16, values: bytes8(128, func(i int) byte {
					return byte(i % 64)
				})},
			},
		},
		{
			name: "tailWords", typ: "[128]uint64", perLine: 4,
			doc: "tailWords[16*(n%8)+7-n/8+i] takes word i of 64 bytes, which n more bytes follow, to\n" +
				"the last 16 bytes of a message, for n from 0 to 63.",
			values: words64(128, func(i int) uint64 {
				return upper(8*(14-i%16) + i/16)
			}),
		},
		{
			name: "foldZMM", typ: "[8]uint64", perLine: 4,
			doc:    "foldZMM[2*i:] moves a 128-bit register on by 64*(i+1) bytes.",
			values: folds(64),
		},
		{
			name: "foldXMM", typ: "[8]uint64", perLine: 4,
			doc:    "foldXMM[2*i:] moves a 128-bit register on by 16*(i+1) bytes.",
			values: folds(16),
		},
	}
}

func arm64() []table {
	return []table{{
		name: "shiftStrides", typ: fmt.Sprintf("[%d]uint32", (armChains-1)*armBlock+1), perLine: 8,
		doc:    "shiftStrides[n] takes a CRC register over n times 32 bytes.",
		values: words32((armChains-1)*armBlock+1, func(i int) uint32 { return lower(armChainStride * i) }),
	}}
}

// files returns the generated files by name.
func files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, file := range []struct {
		name, constraint string
		tables           []table
	}{
		{"tables.go", "", everywhere()},
		{"tables_amd64.go", "//go:build !purego\n\n", amd64()},
		{"tables_arm64.go", "//go:build !purego\n\n", arm64()},
	} {
		var b bytes.Buffer
		fmt.Fprintf(&b, "// Code generated by internal/gen. DO NOT EDIT.\n\n%spackage crc32c\n", file.constraint)
		for _, t := range file.tables {
			b.WriteByte('\n')
			for line := range bytes.Lines([]byte(t.doc)) {
				fmt.Fprintf(&b, "// %s\n", bytes.TrimRight(line, "\n"))
			}
			fmt.Fprintf(&b, "var %s = %s{", t.name, t.typ)
			t.write(&b)
			b.WriteString("\n}\n")
		}
		src, err := format.Source(b.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
		out[file.name] = src
	}
	return out, nil
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	dir := flag.String("dir", ".", "directory that the tables are written to")
	flag.Parse()
	generated, err := files()
	if err != nil {
		log.Fatal(err)
	}
	for name, src := range generated {
		if err := os.WriteFile(filepath.Join(*dir, name), src, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
