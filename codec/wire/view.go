package wire

import (
	"math"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// View is one message of a frame that Open has accepted, read in place through the plan
// of its shape. Generated views are of this type, and their getters are calls of its
// methods; i is the index of a field in order of number. The zero value is a message
// with nothing set.
//
// A View has the four words that the compiler still keeps in registers; one more
// and every getter goes through memory.
//
// Every place that comes from the bytes is bounded again when it is read. If a frame
// is changed after it was verified, a getter may give a wrong value; it never
// reads outside the frame.
type View view

type view = struct {
	p    mem.Ptr      // the row
	tail mem.Ptr      // the tail of its block
	part part         // the row's part of the tail
	at   *layout.View // where the fields are, nil of the zero value
}

// part is a range.
type part = struct{ from, to uint32 }

// noSlot is where a zero view finds its fields.
var noSlot Slot

// slot is where field i is.
func (v View) slot(i int) *Slot {
	if v.at == nil {
		return &noSlot
	}
	if i < layout.Near {
		return &v.at.Near[i]
	}
	return &v.at.Far[i-layout.Near]
}

// Has reports whether field i is present.
func (v View) Has(i int) bool {
	s := v.slot(i)
	return s.Mask != 0 && v.p.U8(uint(s.Byte))&uint8(s.Mask) != 0
}

// Bool is a bool; false if it is absent.
func (v View) Bool(i int) bool {
	s := v.slot(i)
	return s.Prev != 0 && v.p.U8(uint(s.Off))&uint8(s.Prev) != 0
}

// U8 is a number in a slot of one byte; 0 if it is absent. U16, U32 and U64 are wider ones.
func (v View) U8(i int) (x uint8) {
	if s := v.slot(i); s.Off != 0 {
		x = v.p.U8(uint(s.Off))
	}
	return x
}

func (v View) U16(i int) (x uint16) {
	if s := v.slot(i); s.Off != 0 {
		x = v.p.U16(uint(s.Off))
	}
	return x
}

func (v View) U32(i int) (x uint32) {
	if s := v.slot(i); s.Off != 0 {
		x = v.p.U32(uint(s.Off))
	}
	return x
}

func (v View) U64(i int) (x uint64) {
	if s := v.slot(i); s.Off != 0 {
		x = v.p.U64(uint(s.Off))
	}
	return x
}

// F32 is a float, F64 a double.
func (v View) F32(i int) float32 { return math.Float32frombits(v.U32(i)) }
func (v View) F64(i int) float64 { return math.Float64frombits(v.U64(i)) }

// Text is a string in the frame's memory, of one of the first layout.Near fields; ""
// if it is absent. It is valid as long as the frame is.
func (v View) Text(i int) (x string) {
	if v.at != nil {
		s := &v.at.Near[i]
		x = mem.Text(v.p, v.tail, v.part.from, v.part.to, s.Prev, s.Off)
	}
	return x
}

// FarText is Text of a field further on; i counts from there.
func (v View) FarText(i int) (x string) {
	if v.at != nil {
		s := &v.at.Far[i]
		x = mem.Text(v.p, v.tail, v.part.from, v.part.to, s.Prev, s.Off)
	}
	return x
}

// Bytes is a variable value in the frame's memory; empty if it is absent. It is valid as
// long as the frame is, and must not be changed.
func (v View) Bytes(i int) []byte {
	if v.at == nil {
		return nil
	}
	s := v.at.Slot(i)
	return mem.Cut(v.p, v.tail, v.part.from, v.part.to, s.Prev, s.Off)
}

// Which is the number of the field that is set of a oneof, 0 if none is.
func (v View) Which(oneof int) int32 {
	if v.at == nil || oneof >= len(v.at.Oneofs) {
		return 0
	}
	for _, c := range v.at.Oneofs[oneof] {
		if v.p.U8(uint(c.Byte))&c.Mask != 0 {
			return c.Number
		}
	}
	return 0
}

// Message is the message in field i; the zero View if it is absent.
func (v View) Message(i int) View {
	b := v.block(i)
	if b.size.n == 0 {
		return View{}
	}
	return View(rowOf(b, 0))
}

// Inline is the inline message in field i; of an absent one all is zero.
func (v View) Inline(i int) Inline { return Inline{v.p.Field(v.slot(i).Off)} }

// block is the block in field i.
func (v View) block(i int) block {
	if v.at == nil {
		return block{}
	}
	s := v.at.Slot(i)
	from, to := mem.Range(v.p, v.part.from, v.part.to, s.Prev, s.Off)
	if from == to {
		return block{}
	}
	return openView(v.at.Kids[i], v.tail.Add(uint(from)), uint(to-from), v.at.Edit)
}

// block is rows of messages, four words as a View.
type block = struct {
	p    mem.Ptr // the first row
	tail mem.Ptr
	size size
	at   *layout.View
}

// size is how many rows there are, and how many bytes of tail.
type size = struct{ n, tail uint32 }

// openView reads count and shape of the block of n bytes at p. Of one that is malformed, as
// it may be if its bytes were changed, nothing is read.
func openView(m *layout.Message, p mem.Ptr, n uint, edit bool) (b block) {
	in := p.Bytes(0, n)
	count, k := uint32(in[0]), 1
	if count-1 >= 0x7F {
		if count, k = layout.Uvarint(in); k == 0 {
			return b
		}
	}
	at, shape := m.ViewFor(in[k:])
	if at == nil {
		return b
	}
	head := uint(k + shape)
	fixed := uint64(count) * uint64(at.Step)
	if at.Ends {
		fixed -= 4
	}
	if fixed > uint64(n-head) {
		return b
	}
	if edit {
		at = at.Twin
	}
	b.p, b.at = p.Add(head), at
	b.tail = b.p.Add(uint(fixed))
	b.size.n, b.size.tail = count, uint32(n-head-uint(fixed))
	return b
}

// rowOf is row i of a block, which must be below its count.
func rowOf(b block, i uint) (v view) {
	at := i * uint(b.at.Step)
	v.p, v.tail, v.at = b.p.Add(at), b.tail, b.at
	if b.at.Ends {
		if i > 0 {
			v.part.from = b.p.U32(at - 4)
		}
		v.part.to = b.size.tail
		if i+1 < uint(b.size.n) {
			v.part.to = min(v.part.to, b.p.U32(at+uint(b.at.Step)-4))
		}
	}
	return v
}
