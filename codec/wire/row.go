package wire

import (
	"math"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Slot is where a plan finds a compiled field in a row.
type Slot = layout.Slot

// Row is one row of a verified block. It has the four words that the compiler
// still keeps in registers; one more and every getter goes through memory.
type Row struct {
	p    mem.Ptr // the row
	tail mem.Ptr // the tail of its block
	span uint64  // the row's part of the tail: start, and end in the upper half
	plan *layout.Plan
}

// Has reports whether the field is present.
func (r Row) Has(s *Slot) bool { return r.p.U8(uint(s.Byte))&uint8(s.Mask) != 0 }

// Bool is a bool; false if it is absent.
func (r Row) Bool(s *Slot) bool { return r.p.U8(uint(s.Off))&uint8(s.Prev) != 0 }

// U8 is a slot of one byte; 0 if it is absent. U16, U32 and U64 are wider ones.
func (r Row) U8(s *Slot) uint8 {
	if s.Off == 0 {
		return 0
	}
	return r.p.U8(uint(s.Off))
}

func (r Row) U16(s *Slot) uint16 {
	if s.Off == 0 {
		return 0
	}
	return r.p.U16(uint(s.Off))
}

func (r Row) U32(s *Slot) uint32 {
	if s.Off == 0 {
		return 0
	}
	return r.p.U32(uint(s.Off))
}

func (r Row) U64(s *Slot) uint64 {
	if s.Off == 0 {
		return 0
	}
	return r.p.U64(uint(s.Off))
}

// F32 is a float, F64 a double.
func (r Row) F32(s *Slot) float32 { return math.Float32frombits(r.U32(s)) }
func (r Row) F64(s *Slot) float64 { return math.Float64frombits(r.U64(s)) }

// value is where a present variable field starts in the tail and how long it is. It never
// leaves the row's part, even if the bytes change after they were verified.
func (r Row) value(s *Slot) (start, n uint) {
	from, to := uint32(r.span), uint32(r.span>>32)
	end := to
	if s.Prev != 0 {
		from = r.p.U32(uint(s.Prev))
	}
	if s.Off != 0 {
		to = r.p.U32(uint(s.Off))
	}
	if from >= to || to > end || s.Mask == 0 {
		return 0, 0
	}
	return uint(from), uint(to - from)
}

// Bytes is the value of a variable field, in the frame's memory; empty if it is absent.
func (r Row) Bytes(s *Slot) []byte {
	start, n := r.value(s)
	return r.tail.Bytes(start, n)
}

// Packed is an inline message in a row or a list.
type Packed struct{ p mem.Ptr }

func (p Packed) Bool(o uint) bool   { return p.p.U8(o) != 0 }
func (p Packed) U8(o uint) uint8    { return p.p.U8(o) }
func (p Packed) U16(o uint) uint16  { return p.p.U16(o) }
func (p Packed) U32(o uint) uint32  { return p.p.U32(o) }
func (p Packed) U64(o uint) uint64  { return p.p.U64(o) }
func (p Packed) F32(o uint) float32 { return math.Float32frombits(p.p.U32(o)) }
func (p Packed) F64(o uint) float64 { return math.Float64frombits(p.p.U64(o)) }

// At is the inline message at offset o of another one.
func (p Packed) At(o uint) Packed { return Packed{p.p.Add(o)} }

// Rows is a verified block.
type Rows struct {
	N     int    // rows
	Slots []Slot // of each compiled field
	Extra bool   // rows may hold a residue or fields of another version

	plan *layout.Plan
	p    mem.Ptr
	tail mem.Ptr
	size uint32 // of the tail
	step uint
	ends bool
	base int // rows in front of the first, where this is a part of a block
	all  int // rows of the whole block
}

// open reads n rows of a plan at the start of block, which is verified. It fills in a Rows where
// that is: one given back as a result would be copied from stack to stack, which cost more
// than all else here.
func (b *Rows) open(p *layout.Plan, n int, block []byte) {
	fixed := uint(p.Rows.Fixed(uint64(n)))
	m := mem.Of(block)
	tail := m // an empty one may be behind the last byte, where no pointer may point
	if fixed < uint(len(block)) {
		tail = m.Add(fixed)
	}
	b.N, b.all, b.base = n, n, 0
	b.Slots, b.Extra, b.plan = p.Slots, p.Extra, p
	b.p, b.tail, b.size = m, tail, uint32(uint(len(block))-fixed)
	b.step, b.ends = uint(p.Rows.Stride), p.Rows.Ends > 0
}

// Row is row i, which must be below N.
func (b *Rows) Row(i int) Row {
	i += b.base
	at := uint(i) * b.step
	if !b.ends {
		return Row{p: b.p.Add(at), tail: b.tail, plan: b.plan}
	}
	start, end := uint32(0), b.size
	if i > 0 {
		start = b.p.U32(at - 4)
	}
	if i+1 < b.all {
		end = b.p.U32(at + b.step - 4)
	}
	return Row{p: b.p.Add(at), tail: b.tail, span: uint64(end)<<32 | uint64(start), plan: b.plan}
}
