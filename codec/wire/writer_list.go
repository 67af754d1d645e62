package wire

import (
	"github.com/graven-rpc/graven/codec/internal/mem"
)

// NewRow opens the message in field i, as one with nothing set.
func (r RowWriter) NewRow(t *WriteType, i uint) RowWriter {
	c := r.sub(i, t.info(), rowsKnown, 1)
	if c == nil {
		return r.b.w.deadRow()
	}
	return RowWriter{b: c, serial: c.serial}
}

// RowsWriter is a list of messages that is being written.
type RowsWriter rows

type rows struct {
	b      *blockWriter
	serial uint32
}

// NewRows opens a list of n messages in field i.
func (r RowWriter) NewRows(t *WriteType, i uint, n int) RowsWriter {
	return RowsWriter(r.list(i, t.info(), rowsKnown, n))
}

// BuildRows opens a list to be appended to and closed.
func (r RowWriter) BuildRows(t *WriteType, i uint) RowsWriter {
	return RowsWriter(r.list(i, t.info(), rowsUnknown, firstRows))
}

func (r RowWriter) list(i uint, info *writeInfo, kind blockKind, n int) rows {
	c := r.sub(i, info, kind, n)
	if c == nil {
		return rows{b: &r.b.w.dead}
	}
	return rows{b: c, serial: c.serial}
}

// Len is how many messages the list has so far.
func (l RowsWriter) Len() int { return length(rows(l)) }

func length(l rows) int {
	if l.b.serial != l.serial {
		return 0
	}
	return int(l.b.n)
}

// At is message i.
func (l RowsWriter) At(i int) RowWriter {
	b := l.b
	if b.serial != l.serial || uint(i) >= uint(b.n) {
		return rows(l).past(i)
	}
	if b.clean < b.n {
		b.zero(b.n)
	}
	return RowWriter{b: b, index: uint32(i), serial: l.serial}
}

// past is a handle that does nothing, of a row that is not there.
//
//go:noinline
func (l rows) past(i int) RowWriter {
	switch b := l.b; {
	case b.serial != l.serial:
		b.stale()
	default:
		b.misuseOf("element " + itoa(i) + " of a list of " + itoa(int(b.n)))
	}
	return l.b.w.deadRow()
}

// Fresh is At for a row that is going to be written as a whole.
func (l RowsWriter) Fresh(i int) RowWriter {
	b := l.b
	if b.serial != l.serial || uint(i) >= uint(b.n) {
		return rows(l).past(i)
	}
	if uint32(i) >= b.clean {
		b.fresh(uint32(i))
	}
	return RowWriter{b: b, index: uint32(i), serial: l.serial}
}

func (b *blockWriter) fresh(i uint32) {
	if i == b.clean {
		b.clean++
	} else {
		b.zero(i + 1)
	}
}

// Append adds a message to a list that is built.
func (l RowsWriter) Append() RowWriter {
	r, ok := rows(l).add()
	if ok && r.b.clean <= r.index {
		r.b.zero(r.index + 1)
	}
	return r
}

// AppendFresh is Append for a row that is going to be written as a whole.
func (l RowsWriter) AppendFresh() RowWriter {
	r, ok := rows(l).add()
	if ok && r.index >= r.b.clean {
		r.b.fresh(r.index)
	}
	return r
}

// add adds a row.
func (l rows) add() (RowWriter, bool) {
	b := l.b
	switch {
	case b.serial != l.serial:
		b.stale()
		return b.w.deadRow(), false
	case b.kind != rowsUnknown:
		b.misuseOf("a list of known length can't be appended to")
		return b.w.deadRow(), false
	case b.w.top != b && !b.w.closeTo(b), b.n == b.room && !b.more(1):
		return b.w.deadRow(), false
	}
	b.n++
	return RowWriter{b: b, index: b.n - 1, serial: l.serial}, true
}

// Close ends a list that was built. One of known length ends by itself.
func (l RowsWriter) Close() { rows(l).close() }

func (l rows) close() {
	b := l.b
	switch {
	case b.serial != l.serial:
		b.stale()
	case b.w.closeTo(b):
		b.w.close(false)
	}
}

// Whole is a row that is being written as a whole and in order, with the room that its
// variable values take.
type Whole struct {
	p    mem.Ptr // the row
	b    *blockWriter
	last bool // the row's last end is not stored
}

// Begin begins to write a whole row, whose variable values take n bytes. It reports false if
// that can't be done in one go, because the row has values already, comes too early, or
// can't be written to.
func (r RowWriter) Begin(n uint) (o Whole, ok bool) {
	b := r.b
	if b.serial != r.serial {
		return o, false
	}
	w, i := b.w, b.info
	if w.top != b || b.cur != r.index*uint32(i.ends) || w.lim-w.pos < n && !w.room(n) {
		return o, false
	}
	o.p, o.b = b.rows.Add(uint(r.index)*i.stride), b
	o.last = b.kind != rowsUnknown && r.index+1 == b.n
	return o, true
}

// Put8 writes a slot; Put16, Put32, Put64, PutF32 and PutF64 write others.
func (o *Whole) Put8(off uint, v uint8)     { o.p.Put8(off, v) }
func (o *Whole) Put16(off uint, v uint16)   { o.p.Put16(off, v) }
func (o *Whole) Put32(off uint, v uint32)   { o.p.Put32(off, v) }
func (o *Whole) Put64(off uint, v uint64)   { o.p.Put64(off, v) }
func (o *Whole) PutF32(off uint, v float32) { o.p.PutF32(off, v) }
func (o *Whole) PutF64(off uint, v float64) { o.p.PutF64(off, v) }

// Inline is the place of an inline message. Zero writes one of zeros there.
func (o *Whole) Inline(off uint) InlineWriter { return InlineWriter{Packer{o.p.Add(off)}, o.b.w} }
func (o *Whole) Zero(off, size uint)          { clear(o.p.Bytes(off, size)) }

// String writes a string that has to be UTF-8 as the value of field i.
func (o *Whole) String(i uint, s string) {
	w := o.b.w
	end, flags := w.out.PutText(w.pos, w.lim, s)
	if flags != 0 {
		o.b.invalid(&o.b.info.fields[i])
		return
	}
	w.pos = end
}

// Text writes a string that protobuf does not check, Bytes bytes.
func (o *Whole) Text(s string) {
	w := o.b.w
	copy(w.out.Bytes(w.pos, uint(len(s))), s)
	w.pos += uint(len(s))
}

func (o *Whole) Bytes(s []byte) {
	w := o.b.w
	copy(w.out.Bytes(w.pos, uint(len(s))), s)
	w.pos += uint(len(s))
}

// End stores the end of a variable field. LastEnd does so for the row's last one.
func (o *Whole) End(off uint) { o.p.Put32(off, uint32(o.b.w.pos-o.b.tail)) }

func (o *Whole) LastEnd(off uint) {
	if !o.last {
		o.p.Put32(off, uint32(o.b.w.pos-o.b.tail))
	}
}

// Done ends a row that has n variable fields.
func (o *Whole) Done(n uint32) { o.b.cur += n }

// Bits writes the bits of a row from bit 8*o on.
func (o *Whole) Bits(at uint, bits uint64) { o.p.Put8(at, uint8(bits)) }
