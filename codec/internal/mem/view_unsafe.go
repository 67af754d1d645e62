//go:build !nounsafe && (386 || amd64 || amd64p32 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package mem

import "unsafe"

// Text is a variable value in the tail of a row, no copy. Offsets prev and off of the row
// say where it begins and ends; from and to stand for those that are 0. What the row
// says never leads past to.
func Text(row, tail Ptr, from, to, prev, off uint32) string {
	if prev != 0 {
		from = *(*uint32)(unsafe.Add(row.p, prev))
	}
	if off != 0 {
		to = min(to, *(*uint32)(unsafe.Add(row.p, off)))
	}
	from = min(from, to)
	return unsafe.String((*byte)(unsafe.Add(tail.p, from)), to-from)
}

// Cut is Text as bytes.
func Cut(row, tail Ptr, from, to, prev, off uint32) []byte {
	if prev != 0 {
		from = *(*uint32)(unsafe.Add(row.p, prev))
	}
	if off != 0 {
		to = min(to, *(*uint32)(unsafe.Add(row.p, off)))
	}
	from = min(from, to)
	return unsafe.Slice((*byte)(unsafe.Add(tail.p, from)), to-from)
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
	return *(*T)(unsafe.Add(p.p, o))
}

var zeros [256]byte

// Field is the position n bytes on, that of 256 zeros if n is 0.
func (p Ptr) Field(n uint32) Ptr {
	q := unsafe.Pointer(&zeros)
	if n != 0 {
		q = unsafe.Add(p.p, n)
	}
	// This tells the compiler that q is not nil: it drops what asks.
	_ = *(*byte)(q)
	return Ptr{q}
}

// Sure is the position n bytes on, where a byte can be read.
func (p Ptr) Sure(n uint) Ptr {
	q := unsafe.Add(p.p, n)
	_ = *(*byte)(q)
	return Ptr{q}
}
