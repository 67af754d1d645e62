package wire

import (
	"iter"
	"math"

	"github.com/graven-rpc/graven/codec/internal/mem"
)

// Inline is an inline message in a row or a list of a frame that Open has accepted. Its
// layout is frozen, so its getters know the offsets of its fields. The zero value is
// a message of zeros.
type Inline inline

type inline = struct{ p mem.Ptr }

// Bool is the bool at o. U8, U16, U32, U64, F32 and F64 are numbers.
func (v Inline) Bool(o uint) bool { return !v.p.Nil() && v.p.U8(o) != 0 }

func (v Inline) U8(o uint) (x uint8) {
	if !v.p.Nil() {
		x = v.p.U8(o)
	}
	return x
}

func (v Inline) U16(o uint) (x uint16) {
	if !v.p.Nil() {
		x = v.p.U16(o)
	}
	return x
}

func (v Inline) U32(o uint) (x uint32) {
	if !v.p.Nil() {
		x = v.p.U32(o)
	}
	return x
}

func (v Inline) U64(o uint) (x uint64) {
	if !v.p.Nil() {
		x = v.p.U64(o)
	}
	return x
}

func (v Inline) F32(o uint) float32 { return math.Float32frombits(v.U32(o)) }
func (v Inline) F64(o uint) float64 { return math.Float64frombits(v.U64(o)) }

// At is the inline message at o.
func (v Inline) At(o uint) (x Inline) {
	if !v.p.Nil() {
		x.p = v.p.Sure(o)
	}
	return x
}

// InlineList is a list of inline messages in a frame. It is valid as long as the frame is.
type InlineList[V ~inline] struct {
	p    mem.Ptr
	n    int
	size uint
}

// Inlines is the list of inline messages of size bytes in field i.
func Inlines[V ~inline](v View, i int, size uint) (l InlineList[V]) {
	l.p, l.n = v.elements(i, size)
	l.size = size
	return l
}

// elements is the list of elements of size bytes in field i.
func (v View) elements(i int, size uint) (mem.Ptr, int) {
	if v.at == nil {
		return mem.Ptr{}, 0
	}
	s := v.at.Slot(i)
	from, to := mem.Range(v.p, v.part.from, v.part.to, s.Prev, s.Off)
	return v.tail.Add(uint(from)), int(uint(to-from) / size)
}

// Len is the number of messages.
func (l InlineList[V]) Len() int { return l.n }

// At is message i. It panics if there is none.
func (l InlineList[V]) At(i int) V {
	if uint(i) >= uint(l.n) {
		noElement(i, l.n)
	}
	return V(inline{l.p.Sure(uint(i) * l.size)})
}

// All yields the messages in order.
func (l InlineList[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		for i := range l.n {
			if !yield(V(inline{l.p.Sure(uint(i) * l.size)})) {
				return
			}
		}
	}
}
