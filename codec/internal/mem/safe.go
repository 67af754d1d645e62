//go:build nounsafe || !(386 || amd64 || amd64p32 || arm || arm64 || loong64 || mips64le || mipsle || ppc64le || riscv64 || wasm)

package mem

import (
	"encoding/binary"
	"math"
	"reflect"
	"unicode/utf8"
)

// Unsafe says which twin was built.
const Unsafe = false

var le = binary.LittleEndian

// Ptr is a position in a buffer. Its holder keeps accesses inside the buffer.
type Ptr struct{ b []byte }

// Of is the position of b's first byte.
func Of(b []byte) Ptr { return Ptr{b[:cap(b)]} }

// Add is the position n bytes on, inside the buffer.
func (p Ptr) Add(n uint) Ptr { return Ptr{p.b[n:]} }

// Nil reports whether p is no position at all.
func (p Ptr) Nil() bool { return p.b == nil }

func (p Ptr) U8(o uint) uint8   { return p.b[o] }
func (p Ptr) U16(o uint) uint16 { return le.Uint16(p.b[o:]) }
func (p Ptr) U32(o uint) uint32 { return le.Uint32(p.b[o:]) }
func (p Ptr) U64(o uint) uint64 { return le.Uint64(p.b[o:]) }

func (p Ptr) Put8(o uint, v uint8)   { p.b[o] = v }
func (p Ptr) Put16(o uint, v uint16) { le.PutUint16(p.b[o:], v) }
func (p Ptr) Put32(o uint, v uint32) { le.PutUint32(p.b[o:], v) }
func (p Ptr) Put64(o uint, v uint64) { le.PutUint64(p.b[o:], v) }

func (p Ptr) PutF32(o uint, v float32) { p.Put32(o, math.Float32bits(v)) }
func (p Ptr) PutF64(o uint, v float64) { p.Put64(o, math.Float64bits(v)) }
func (p Ptr) PutBool(o uint, v bool) {
	p.b[o] = 0
	if v {
		p.b[o] = 1
	}
}

// Bytes is the n bytes at o, no copy.
func (p Ptr) Bytes(o, n uint) []byte {
	if n == 0 {
		return []byte{}
	}
	return p.b[o : o+n]
}

// String is the n bytes at o; this twin copies.
func (p Ptr) String(o, n uint) string {
	if n == 0 {
		return ""
	}
	return string(p.b[o : o+n])
}

// String is b; this twin copies.
func String(b []byte) string { return string(b) }

// Enum turns a pointer to an int32 into one to an enum type.
func Enum[E ~int32](p *int32) *E {
	e := E(*p)
	return &e
}

// Raw is the form of a slice of numbers on the wire; this twin copies.
func Raw[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64 | ~bool](s []T) []byte {
	var out []byte
	v := reflect.ValueOf(s)
	for i := range s {
		switch e := v.Index(i); e.Kind() {
		case reflect.Int32:
			out = le.AppendUint32(out, uint32(e.Int()))
		case reflect.Uint32:
			out = le.AppendUint32(out, uint32(e.Uint()))
		case reflect.Int64:
			out = le.AppendUint64(out, uint64(e.Int()))
		case reflect.Uint64:
			out = le.AppendUint64(out, e.Uint())
		case reflect.Float32:
			out = le.AppendUint32(out, math.Float32bits(e.Interface().(float32)))
		case reflect.Float64:
			out = le.AppendUint64(out, math.Float64bits(e.Float()))
		case reflect.Bool:
			c := byte(0)
			if e.Bool() {
				c = 1
			}
			out = append(out, c)
		}
	}
	return out
}

// PutText copies a string that has to be UTF-8 to o and returns where it ends, if that is not
// past lim; else it copies nothing.
func (p Ptr) PutText(o, lim uint, s string) (uint, Flags) {
	n := uint(len(s))
	if lim-o < n {
		return o, Over
	}
	if n > 0 {
		copy(p.b[o:], s)
	}
	if !utf8.ValidString(s) {
		return o + n, Invalid
	}
	return o + n, 0
}

// CopyTo copies len(dst) bytes at o to dst.
func (p Ptr) CopyTo(dst []byte, o uint) { copy(dst, p.Bytes(o, uint(len(dst)))) }

// Values are values of one Go type in one allocation.
type Values struct{ s reflect.Value }

// Make allocates n zero values of T.
func Make[T any](n int) Values { return Values{reflect.ValueOf(make([]T, n))} }

// Len is how many values there are, Size the bytes of one.
func (v *Values) Len() int {
	if !v.s.IsValid() {
		return 0
	}
	return v.s.Len()
}

func (v *Values) Size() int { return int(v.s.Type().Elem().Size()) }

// Drop forgets the values, but not their type.
func (v *Values) Drop() { v.s = reflect.Zero(v.s.Type()) }

// Item points to value i, which must be there; P has to be the pointer to their type.
func Item[P any](v *Values, i int) P { return v.s.Index(i).Addr().Interface().(P) }

// Blank reports whether it is known that all bytes at x are zero.
func Blank[T any](x *T) bool { return false }

// Lists are lists of pointers of any types, here one allocation each.
type Lists struct{ left int }

// Left is how many pointers there is room for.
func (l *Lists) Left() int { return l.left }

// Grow makes room for n pointers.
func (l *Lists) Grow(n int) { l.left = n }

// List gives a list of n nil pointers, for which there must be room; P has to be a pointer type.
func List[P any](l *Lists, n int) []P {
	l.left -= n
	return make([]P, n)
}

// Pointers turns a list of a message's pointer type into one of pointers to it.
func Pointers[T any, M ~*T](s []M) []*T {
	out := make([]*T, len(s))
	for i := range s {
		out[i] = s[i]
	}
	return out
}

// Load fills a slice of numbers from their form on the wire, which is of its length.
func Load[T ~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64](dst []T, b []byte) {
	v := reflect.ValueOf(dst)
	for i := range dst {
		switch e := v.Index(i); e.Kind() {
		case reflect.Int32:
			e.SetInt(int64(int32(le.Uint32(b[4*i:]))))
		case reflect.Uint32:
			e.SetUint(uint64(le.Uint32(b[4*i:])))
		case reflect.Int64:
			e.SetInt(int64(le.Uint64(b[8*i:])))
		case reflect.Uint64:
			e.SetUint(le.Uint64(b[8*i:]))
		case reflect.Float32:
			*e.Addr().Interface().(*float32) = math.Float32frombits(le.Uint32(b[4*i:]))
		case reflect.Float64:
			e.SetFloat(math.Float64frombits(le.Uint64(b[8*i:])))
		}
	}
}
