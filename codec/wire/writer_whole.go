package wire

import (
	"github.com/graven-rpc/graven/codec/internal/mem"
)

// Rows that are written as a whole, one after the other, take a short cut: their block says
// which of its rows may be written next without another question. A row that this
// holds for is in the block, all rows in front of it are complete, none behind it has a
// value in the tail, and no other block is open inside. Everything else, such as a row out of
// order, a list that has to grow, a value that does not fit or a handle of another block,
// is written field by field, where errors are found.
//
// While the short cut lasts, how many rows there are, which of them were written and which
// value comes next follow from its next row alone. Whoever else asks for them calls settle.

const (
	// adding marks the index of a row that is yet to be added to its list. No list has as many
	// rows, or as many as the other two say.
	adding  = 1 << 31
	outside = adding - 1 // an index that no list has
	noRow   = adding - 2 // there is no short cut
)

// Row is a handle that only setters of whole rows take: it may be of a row that is not there.
func (l RowsWriter) Row(i int) RowWriter {
	return RowWriter{b: l.b, index: uint32(min(uint(i), outside)), serial: l.serial}
}

// Next is Row for one that is added to the list.
func (l RowsWriter) Next() RowWriter {
	return RowWriter{b: l.b, index: l.b.next | adding, serial: l.serial}
}

// shorten begins the short cut at a row, if that is there or may be added.
func (b *blockWriter) shorten(row uint32) {
	switch {
	case row < b.n:
		b.next, b.stop = row, b.n
	case b.kind == rowsUnknown && row < b.room:
		b.next, b.stop = adding|row, adding|b.room
	}
}

// settle ends the short cut.
func (b *blockWriter) settle() {
	if b.next != noRow {
		b.leave()
	}
}

//go:noinline
func (b *blockWriter) leave() {
	row := b.next &^ adding
	if b.next >= adding {
		b.n = row
	}
	b.clean = max(b.clean, row)
	b.cur = row * uint32(b.info.ends)
	b.next = noRow
}

// Blank is a row with nothing set, to be written field by field; Filled is called
// behind that.
//
//go:noinline
func (r RowWriter) Blank() RowWriter {
	b := r.b
	if b.serial != r.serial {
		b.stale()
		return b.w.deadRow()
	}
	b.settle()
	switch l := (rows{b, r.serial}); {
	case r.index >= adding:
		var ok bool
		if r, ok = l.add(); !ok {
			return r
		}
	case r.index >= b.n:
		return l.past(int(r.index))
	}
	switch fixed := b.info.stride - 4*b.info.ends; {
	case r.index < b.clean:
		r.Clear()
	case r.index == b.clean:
		clear(r.at(b.info.stride).Bytes(0, fixed))
		b.clean++
	default:
		b.zero(r.index + 1)
	}
	return r
}

// Filled begins the short cut behind the row if everything up to there is in order.
func (r RowWriter) Filled() {
	b := r.b
	if b.serial != r.serial || b.w.top != b {
		return
	}
	switch next := (r.index + 1) * uint32(b.info.ends); {
	case b.cur > next:
		return // a row behind it has values, or they are out of order
	case b.cur < next:
		b.fill(next)
	}
	b.shorten(r.index + 1)
}

// Whole is a row that is being written as a whole.
type Whole struct {
	p   mem.Ptr // the row
	b   *blockWriter
	w   *Writer
	pos uint // where its next variable value goes
}

// Whole begins to write a whole row of a number of bytes, which End completes. It reports
// false if that can't be done by the short cut.
func (r RowWriter) Whole(stride uint) (o Whole, ok bool) {
	if b := r.b; b.serial == r.serial && b.next == r.index {
		o, ok = Whole{b.rows.Add(uint(r.index&^adding) * stride), b, b.w, b.w.pos}, true
	}
	return o, ok
}

// Put8 writes a slot; Put16, Put32, Put64, PutF32 and PutF64 write others.
func (o Whole) Put8(off uint, v uint8)     { o.p.Put8(off, v) }
func (o Whole) Put16(off uint, v uint16)   { o.p.Put16(off, v) }
func (o Whole) Put32(off uint, v uint32)   { o.p.Put32(off, v) }
func (o Whole) Put64(off uint, v uint64)   { o.p.Put64(off, v) }
func (o Whole) PutF32(off uint, v float32) { o.p.PutF32(off, v) }
func (o Whole) PutF64(off uint, v float64) { o.p.PutF64(off, v) }

// Inline is the place of an inline message. Zero writes one of zeros there.
func (o Whole) Inline(off uint) InlineWriter { return InlineWriter{Packer{o.p.Add(off)}, o.w} }
func (o Whole) Zero(off, size uint)          { clear(o.p.Bytes(off, size)) }

// String writes a string that has to be UTF-8 as the next variable value. If it reports false,
// the row has to be written field by field: the string is not UTF-8 or there is no room.
func (o Whole) String(s string) (Whole, bool) {
	var flags mem.Flags
	o.pos, flags = o.w.out.PutText(o.pos, o.w.lim, s)
	return o, flags == 0
}

// Text writes a string that protobuf does not check. If it reports false, there is no room.
func (o Whole) Text(s string) (Whole, bool) { return putWhole(o, s) }

// Bytes is Text for bytes.
func (o Whole) Bytes(s []byte) (Whole, bool) { return putWhole(o, s) }

func putWhole[S string | []byte](o Whole, s S) (Whole, bool) {
	w, n := o.w, uint(len(s))
	if w.lim-o.pos < n {
		return o, false
	}
	copy(w.out.Bytes(o.pos, n), s)
	o.pos += n
	return o, true
}

// PutEnd stores the end of a variable value that is not the row's last.
func (o Whole) PutEnd(off uint) { o.p.Put32(off, uint32(o.pos-o.b.tail)) }

// End completes a row without variable values.
func (o Whole) End() {
	if o.b.next++; o.b.next == o.b.stop {
		o.b.leave()
	}
}

// LastEnd completes a row whose last variable value has its end at off. If it reports true, Stop
// has to be called: it was the last row that the short cut takes.
func (o Whole) LastEnd(off uint) bool {
	o.w.pos = o.pos
	if o.b.next++; o.b.next == o.b.stop {
		return true
	}
	o.p.Put32(off, uint32(o.pos-o.b.tail))
	return false
}

// Stop ends the short cut behind a row, whose last end is stored if it is not the list's last.
func (o Whole) Stop(off uint) {
	o.b.leave()
	if o.b.kind == rowsUnknown {
		o.p.Put32(off, uint32(o.pos-o.b.tail))
	}
}
