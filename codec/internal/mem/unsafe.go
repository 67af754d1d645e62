//go:build !nounsafe && (386 || amd64 || amd64p32 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package mem

import (
	"unicode/utf8"
	"unsafe"
)

// Unsafe says which twin was built.
const Unsafe = true

// Ptr is a position in a buffer. Its holder keeps accesses inside the buffer.
type Ptr struct{ p unsafe.Pointer }

// Of is the position of b's first byte.
func Of(b []byte) Ptr { return Ptr{unsafe.Pointer(unsafe.SliceData(b))} }

// Add is the position n bytes on, inside the buffer.
func (p Ptr) Add(n uint) Ptr { return Ptr{unsafe.Add(p.p, n)} }

// Nil reports whether p is no position at all.
func (p Ptr) Nil() bool { return p.p == nil }

func (p Ptr) U8(o uint) uint8   { return *(*uint8)(unsafe.Add(p.p, o)) }
func (p Ptr) U16(o uint) uint16 { return *(*uint16)(unsafe.Add(p.p, o)) }
func (p Ptr) U32(o uint) uint32 { return *(*uint32)(unsafe.Add(p.p, o)) }
func (p Ptr) U64(o uint) uint64 { return *(*uint64)(unsafe.Add(p.p, o)) }

func (p Ptr) Put8(o uint, v uint8)   { *(*uint8)(unsafe.Add(p.p, o)) = v }
func (p Ptr) Put16(o uint, v uint16) { *(*uint16)(unsafe.Add(p.p, o)) = v }
func (p Ptr) Put32(o uint, v uint32) { *(*uint32)(unsafe.Add(p.p, o)) = v }
func (p Ptr) Put64(o uint, v uint64) { *(*uint64)(unsafe.Add(p.p, o)) = v }

func (p Ptr) PutF32(o uint, v float32) { *(*float32)(unsafe.Add(p.p, o)) = v }
func (p Ptr) PutF64(o uint, v float64) { *(*float64)(unsafe.Add(p.p, o)) = v }
func (p Ptr) PutBool(o uint, v bool)   { *(*bool)(unsafe.Add(p.p, o)) = v }

// Bytes is the n bytes at o, no copy.
func (p Ptr) Bytes(o, n uint) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(p.p, o)), n)
}

// String is the n bytes at o, no copy: they must not change while it lives.
func (p Ptr) String(o, n uint) string {
	return unsafe.String((*byte)(unsafe.Add(p.p, o)), n)
}

// String is b, no copy: it must not change while the string lives.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Enum turns a pointer to an int32 into one to an enum type.
func Enum[E ~int32](p *int32) *E { return (*E)(unsafe.Pointer(p)) }

// Raw is the memory of a slice of numbers, which is their form on the wire.
func Raw[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | ~bool](s []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(z)))
}

const high = 0x8080808080808080

// PutText copies a string that has to be UTF-8 to o and returns where it ends, if that is not
// past lim; else it copies nothing. Short strings, which are most, are copied by words
// that overlap, and the same words tell whether they are ASCII.
func (p Ptr) PutText(o, lim uint, s string) (uint, Flags) {
	n := uint(len(s))
	if lim-o < n {
		return o, Over
	}
	d, q := unsafe.Add(p.p, o), unsafe.Pointer(unsafe.StringData(s))
	var acc uint64
	switch {
	case n >= 8 && n <= 32:
		a, b := *(*uint64)(q), *(*uint64)(unsafe.Add(q, n-8))
		acc = a | b
		if n > 16 {
			x, y := *(*uint64)(unsafe.Add(q, 8)), *(*uint64)(unsafe.Add(q, n-16))
			*(*uint64)(unsafe.Add(d, 8)) = x
			*(*uint64)(unsafe.Add(d, n-16)) = y
			acc |= x | y
		}
		*(*uint64)(d) = a
		*(*uint64)(unsafe.Add(d, n-8)) = b
	case n > 32:
		copy(unsafe.Slice((*byte)(d), n), s)
		for i := uint(0); i+8 < n; i += 8 {
			acc |= *(*uint64)(unsafe.Add(q, i))
		}
		acc |= *(*uint64)(unsafe.Add(q, n-8))
	case n >= 4:
		a, b := *(*uint32)(q), *(*uint32)(unsafe.Add(q, n-4))
		*(*uint32)(d) = a
		*(*uint32)(unsafe.Add(d, n-4)) = b
		acc = uint64(a | b)
	default:
		for i := uint(0); i < n; i++ {
			c := *(*byte)(unsafe.Add(q, i))
			*(*byte)(unsafe.Add(d, i)) = c
			acc |= uint64(c)
		}
	}
	if acc&high != 0 && !utf8.ValidString(s) {
		return o + n, Invalid
	}
	return o + n, 0
}

// CopyTo copies len(dst) bytes at o to dst. Short values, which are most, are copied by
// words that overlap.
func (p Ptr) CopyTo(dst []byte, o uint) {
	n := uint(len(dst))
	d, q := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Add(p.p, o)
	switch {
	case n > 32 || n < 4:
		copy(dst, unsafe.Slice((*byte)(q), n))
	case n >= 8:
		a, b := *(*uint64)(q), *(*uint64)(unsafe.Add(q, n-8))
		if n > 16 {
			*(*[16]byte)(d) = *(*[16]byte)(q)
			*(*uint64)(unsafe.Add(d, n-16)) = *(*uint64)(unsafe.Add(q, n-16))
		}
		*(*uint64)(d) = a
		*(*uint64)(unsafe.Add(d, n-8)) = b
	default:
		a, b := *(*uint32)(q), *(*uint32)(unsafe.Add(q, n-4))
		*(*uint32)(d) = a
		*(*uint32)(unsafe.Add(d, n-4)) = b
	}
}

// Values are values of one Go type in one allocation.
type Values struct {
	p    unsafe.Pointer
	size uintptr // of one
	n    int
}

// Make allocates n zero values of T.
func Make[T any](n int) Values {
	var z T
	return Values{unsafe.Pointer(unsafe.SliceData(make([]T, n))), unsafe.Sizeof(z), n}
}

// Len is how many values there are, Size the bytes of one.
func (v *Values) Len() int  { return v.n }
func (v *Values) Size() int { return int(v.size) }

// Drop forgets the values, but not their type.
func (v *Values) Drop() { v.p, v.n = nil, 0 }

// Item points to value i, which must be there; P has to be the pointer to their type. Pointers
// share one instance of generic code, so that none is compiled for each message type.
func Item[P any](v *Values, i int) P {
	p := unsafe.Add(v.p, uintptr(i)*v.size)
	return *(*P)(unsafe.Pointer(&p))
}

var blank [1024]byte

// Blank reports whether all bytes at x are zero, if it is so large that looking takes less time
// than writing zeros: most messages that are decoded into are new.
func Blank[T any](x *T) bool {
	size := unsafe.Sizeof(*x)
	return size >= 256 && size <= uintptr(len(blank)) && string(unsafe.Slice((*byte)(unsafe.Pointer(x)), size)) == string(blank[:size])
}

// Lists are lists of pointers of any types in one allocation.
type Lists struct {
	p     unsafe.Pointer
	at, n int
}

// Left is how many pointers there is room for.
func (l *Lists) Left() int { return l.n - l.at }

// Grow makes room for n pointers.
func (l *Lists) Grow(n int) {
	l.p, l.at, l.n = unsafe.Pointer(unsafe.SliceData(make([]unsafe.Pointer, n))), 0, n
}

// List gives a list of n nil pointers, for which there must be room; P has to be a pointer type.
func List[P any](l *Lists, n int) []P {
	s := unsafe.Slice((*P)(unsafe.Add(l.p, uintptr(l.at)*unsafe.Sizeof(l.p))), n)
	l.at += n
	return s
}

// Pointers turns a list of a message's pointer type into one of pointers to it, no copy.
func Pointers[T any, M ~*T](s []M) []*T {
	return unsafe.Slice((**T)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// Load fills a slice of numbers from their form on the wire, which is of its length.
func Load[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64](dst []T, b []byte) {
	copy(Raw(dst), b)
}
