//go:build nounsafe || !(386 || amd64 || amd64p32 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package mem

// Text is a variable value in the tail of a row; this twin copies. Offsets prev and off of
// the row say where it begins and ends; from and to stand for those that are 0. What
// the row says never leads past to.
func Text(row, tail Ptr, from, to, prev, off uint32) string {
	return string(Cut(row, tail, from, to, prev, off))
}

// Cut is Text as bytes, no copy.
func Cut(row, tail Ptr, from, to, prev, off uint32) []byte {
	from, to = Range(row, from, to, prev, off)
	if from == to {
		return []byte{}
	}
	return tail.b[from:to:to]
}

// Range is where Text is in the tail.
func Range(row Ptr, from, to, prev, off uint32) (uint32, uint32) {
	if prev != 0 {
		from = row.U32(uint(prev))
	}
	if off != 0 {
		to = min(to, row.U32(uint(off)))
	}
	return min(from, to), to
}

// At is the number at o.
func At[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64](p Ptr, o uint) T {
	var x [1]T
	Load(x[:], p.b[o:])
	return x[0]
}

var zeros [256]byte

// Field is the position n bytes on, that of 256 zeros if n is 0.
func (p Ptr) Field(n uint32) Ptr {
	if n == 0 {
		return Ptr{zeros[:]}
	}
	return p.Add(uint(n))
}

// Sure is the position n bytes on, where a byte can be read.
func (p Ptr) Sure(n uint) Ptr { return p.Add(n) }
