package wire

import (
	"iter"
	"slices"

	"github.com/graven-rpc/graven/codec/internal/mem"
)

// NumberList is a list of numbers or enums in a frame, in their full width. It is valid as
// long as the frame is.
type NumberList[T number] struct {
	p mem.Ptr
	n int
}

// NumbersOf is the list of numbers in field i.
func NumbersOf[T number](v View, i int) (l NumberList[T]) {
	l.p, l.n = v.elements(i, uint(mem.SizeOf[T]()))
	return l
}

// Len is the number of elements.
func (l NumberList[T]) Len() int { return l.n }

// At is element i. It panics if there is none.
func (l NumberList[T]) At(i int) T {
	if uint(i) >= uint(l.n) {
		noElement(i, l.n)
	}
	return mem.At[T](l.p, uint(i)*uint(mem.SizeOf[T]()))
}

// All yields the elements in order.
func (l NumberList[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range l.n {
			if !yield(mem.At[T](l.p, uint(i)*uint(mem.SizeOf[T]()))) {
				return
			}
		}
	}
}

// AppendTo appends all elements to dst, in one copy.
func (l NumberList[T]) AppendTo(dst []T) []T {
	if l.n == 0 {
		return dst
	}
	begin := len(dst)
	dst = slices.Grow(dst, l.n)[:begin+l.n]
	mem.Load(dst[begin:], l.p.Bytes(0, uint(l.n)*uint(mem.SizeOf[T]())))
	return dst
}

// NarrowList is a list of integers or enums of a narrow width in a frame. It is valid as
// long as the frame is.
type NarrowList[T integer] struct {
	p     mem.Ptr
	n     int
	width uint
}

// NarrowOf is the list of integers of width bits in field i.
func NarrowOf[T integer](v View, i int, width uint) (l NarrowList[T]) {
	l.p, l.n = v.elements(i, width/8)
	l.width = width
	return l
}

// Len is the number of elements.
func (l NarrowList[T]) Len() int { return l.n }

// At is element i. It panics if there is none.
func (l NarrowList[T]) At(i int) T {
	if uint(i) >= uint(l.n) {
		noElement(i, l.n)
	}
	return l.at(uint(i))
}

func (l NarrowList[T]) at(i uint) T {
	signed := ^T(0) < 0
	switch {
	case l.width == 8 && signed:
		return T(int8(l.p.U8(i)))
	case l.width == 8:
		return T(l.p.U8(i))
	case l.width == 16 && signed:
		return T(int16(l.p.U16(2 * i)))
	case l.width == 16:
		return T(l.p.U16(2 * i))
	case signed:
		return T(int32(l.p.U32(4 * i)))
	}
	return T(l.p.U32(4 * i))
}

// All yields the elements in order.
func (l NarrowList[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range l.n {
			if !yield(l.at(uint(i))) {
				return
			}
		}
	}
}

// AppendTo appends all elements to dst.
func (l NarrowList[T]) AppendTo(dst []T) []T {
	dst = slices.Grow(dst, l.n)
	for i := range l.n {
		dst = append(dst, l.at(uint(i)))
	}
	return dst
}

// BoolList is a list of bools in a frame. It is valid as long as the frame is.
type BoolList struct {
	p mem.Ptr
	n int
}

// Bools is the list of bools in field i.
func (v View) Bools(i int) (l BoolList) {
	l.p, l.n = v.elements(i, 1)
	return l
}

// Len is the number of elements.
func (l BoolList) Len() int { return l.n }

// At is element i. It panics if there is none.
func (l BoolList) At(i int) bool {
	if uint(i) >= uint(l.n) {
		noElement(i, l.n)
	}
	return l.p.U8(uint(i)) != 0
}

// All yields the elements in order.
func (l BoolList) All() iter.Seq[bool] {
	return func(yield func(bool) bool) {
		for i := range l.n {
			if !yield(l.p.U8(uint(i)) != 0) {
				return
			}
		}
	}
}

// AppendTo appends all elements to dst.
func (l BoolList) AppendTo(dst []bool) []bool {
	for i := range l.n {
		dst = append(dst, l.p.U8(uint(i)) != 0)
	}
	return dst
}
