package wire

import (
	"math"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// RowWriter is a row of a message that is being written. Generated rows are of this type,
// and their setters are calls of its methods, with what layout says about a field:
// the stride of the rows, the offset of the field's slot, the number of its presence
// bit; of a variable field, a member of a oneof and a list its index i in order of number.
//
// A row can be written to as long as its block is open: until a variable field of
// a row outside is written to, or the message is sealed.
type RowWriter row

type row = struct {
	b      *blockWriter
	index  uint32
	serial uint32
}

// at is the row in the buffer.
func (r RowWriter) at(stride uint) mem.Ptr { return r.b.rows.Add(uint(r.index) * stride) }

func putBit(p mem.Ptr, bit uint, set bool) {
	v := p.U8(bit/8) &^ (1 << (bit % 8))
	p.Put8(bit/8, v|uint8(Bit(set))<<(bit%8))
}

// U8 sets a field of one byte that has explicit presence. U16, U32, U64, F32, F64 and Bool
// set others.
func (r RowWriter) U8(stride, off, bit uint, v uint8) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put8(off, v)
	putBit(p, bit, true)
}

func (r RowWriter) U16(stride, off, bit uint, v uint16) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put16(off, v)
	putBit(p, bit, true)
}

func (r RowWriter) U32(stride, off, bit uint, v uint32) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put32(off, v)
	putBit(p, bit, true)
}

func (r RowWriter) U64(stride, off, bit uint, v uint64) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put64(off, v)
	putBit(p, bit, true)
}

func (r RowWriter) F32(stride, off, bit uint, v float32) {
	r.U32(stride, off, bit, math.Float32bits(v))
}

func (r RowWriter) F64(stride, off, bit uint, v float64) {
	r.U64(stride, off, bit, math.Float64bits(v))
}

func (r RowWriter) Bool(stride, bit uint, v bool) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	putBit(p, bit, true)
	putBit(p, bit+1, v)
}

// Implicit8 sets a field of one byte that is present if it is not zero. Implicit16,
// Implicit32, Implicit64 and ImplicitBool set others.
func (r RowWriter) Implicit8(stride, off, bit uint, v uint8) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put8(off, v)
	putBit(p, bit, v != 0)
}

func (r RowWriter) Implicit16(stride, off, bit uint, v uint16) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put16(off, v)
	putBit(p, bit, v != 0)
}

func (r RowWriter) Implicit32(stride, off, bit uint, v uint32) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put32(off, v)
	putBit(p, bit, v != 0)
}

func (r RowWriter) Implicit64(stride, off, bit uint, v uint64) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	p.Put64(off, v)
	putBit(p, bit, v != 0)
}

func (r RowWriter) ImplicitF32(stride, off, bit uint, v float32) {
	r.Implicit32(stride, off, bit, math.Float32bits(v))
}

func (r RowWriter) ImplicitF64(stride, off, bit uint, v float64) {
	r.Implicit64(stride, off, bit, math.Float64bits(v))
}

func (r RowWriter) ImplicitBool(stride, bit uint, v bool) {
	if r.b.serial != r.serial {
		r.b.stale()
		return
	}
	p := r.at(stride)
	putBit(p, bit, v)
	putBit(p, bit+1, v)
}

// FitsU reports whether an unsigned value fits the width of field i. If it does not,
// that is the writer's error. FitsS does so for signed values and enums.
func (r RowWriter) FitsU(i uint, v uint64, width uint) bool {
	if WideU(v, width) {
		r.outOfRange(i, v, int(width))
		return false
	}
	return true
}

func (r RowWriter) FitsS(i uint, v int64, width uint) bool {
	if WideS(v, width) {
		r.outOfRange(i, v, int(width))
		return false
	}
	return true
}

// Inline gives the place of the inline message in field i, to be written by Packer.
func (r RowWriter) Inline(stride, off, bit uint) (InlineWriter, bool) {
	if r.b.serial != r.serial {
		r.b.stale()
		return InlineWriter{}, false
	}
	p := r.at(stride)
	putBit(p, bit, true)
	return InlineWriter{Packer{p.Add(off)}, r.b.w}, true
}

// Oneof empties the other members of the oneof of field i, which is about to be set.
func (r RowWriter) Oneof(i uint) {
	b := r.b
	if b.serial != r.serial {
		return // which the setter will find, too
	}
	f := &b.info.fields[i]
	for c := b.w.top; c != b && c != nil; c = c.parent {
		if c.parent == b && c.row == r.index && c.field.oneof == f.oneof && !b.w.closeTo(b) {
			return
		}
	}
	p := r.at(b.info.stride)
	for _, m := range b.info.oneofs[f.oneof] {
		set := p.U8(uint(m.byte)) & m.mask
		if m.byte == f.byte {
			set &^= f.mask
		}
		if set != 0 {
			r.clearMembers(f)
			return
		}
	}
}

//go:noinline
func (r RowWriter) clearMembers(keep *writeField) {
	i := r.b.info
	for j := range i.fields {
		if f := &i.fields[j]; f.oneof == keep.oneof && f != keep {
			r.clear(f)
		}
	}
}

// clear makes a field absent.
func (r RowWriter) clear(f *writeField) {
	b := r.b
	p := r.at(b.info.stride)
	present := p.U8(uint(f.byte))&f.mask != 0
	putBit(p, uint(f.bit), false)
	switch {
	case f.lay.Code == layout.Bool:
		putBit(p, uint(f.bit)+1, false)
	case !f.lay.Variable():
		clear(p.Bytes(uint(f.off), uint(f.lay.Size())))
	case present:
		if r.begin(f, 0) {
			r.end(f, b.w.pos, false)
		}
	}
}

// Clear makes all fields of the row absent.
func (r RowWriter) Clear() {
	b := r.b
	if b.serial != r.serial {
		b.stale()
		return
	}
	i := b.info
	b.settle()
	if len(i.vars) > 0 && !b.w.closeTo(b) {
		return
	}
	for _, j := range i.vars {
		f := &i.fields[j]
		if r.at(i.stride).U8(uint(f.byte))&f.mask != 0 && r.begin(f, 0) {
			r.end(f, b.w.pos, false)
		}
	}
	if b.serial == r.serial {
		clear(r.at(i.stride).Bytes(0, i.stride-4*i.ends))
	}
}

// field is what writing field i takes, nil if the row can't be written to.
func (r RowWriter) field(i uint) *writeField {
	if r.b.serial != r.serial {
		r.b.stale()
		return nil
	}
	return &r.b.info.fields[i]
}

// begin readies the buffer for a value of field f of about n bytes, which is then written at
// the writer's position.
func (r RowWriter) begin(f *writeField, n uint) bool {
	b := r.b
	w := b.w
	b.settle()
	if w.top != b && !w.closeTo(b) {
		return false
	}
	if index := r.index*uint32(b.info.ends) + f.k; index != b.cur && b.cur != outOfOrder {
		if index < b.cur {
			b.scatter()
		} else {
			b.fill(index)
		}
	}
	return w.room(n)
}

// end notes that a value of field f was written from start to the writer's position.
func (r RowWriter) end(f *writeField, start uint, present bool) {
	putBit(r.at(r.b.info.stride), uint(f.bit), present)
	r.ended(f, start)
}

// ended is end for rows without bits.
func (r RowWriter) ended(f *writeField, start uint) {
	b := r.b
	w, i := b.w, b.info
	if b.cur == outOfOrder {
		index := r.index*uint32(i.ends) + f.k
		w.moved = append(w.moved, moved{index, span{uint32(start - b.tail), uint32(w.pos - b.tail)}})
		return
	}
	b.cur++
	if b.cur != b.total {
		r.at(i.stride).Put32(uint(f.off), uint32(w.pos-b.tail))
	}
}

// String sets field i to a string that has to be UTF-8; it has explicit presence.
func (r RowWriter) String(i uint, s string) { r.text(i, s, true) }

// ImplicitString is String for a field that is present if it is not empty.
func (r RowWriter) ImplicitString(i uint, s string) { r.text(i, s, len(s) > 0) }

func (r RowWriter) text(i uint, s string, present bool) {
	if b := r.b; b.serial == r.serial && b.next == noRow && b.w.top == b {
		f, w := &b.info.fields[i], b.w
		if b.cur == r.index*uint32(b.info.ends)+f.k { // it comes next
			if end, flags := w.out.PutText(w.pos, w.lim, s); flags == 0 {
				w.pos = end
				p := r.at(b.info.stride)
				putBit(p, uint(f.bit), present)
				if b.cur++; b.cur != b.total {
					p.Put32(uint(f.off), uint32(end-b.tail))
				}
				return
			}
		}
	}
	r.textSlowly(i, s, present)
}

// textSlowly is text for values out of order, without room for them or wrong, and for rows
// behind which others are open.
func (r RowWriter) textSlowly(i uint, s string, present bool) {
	f := r.field(i)
	if f == nil || !r.begin(f, uint(len(s))) {
		return
	}
	w := r.b.w
	start := w.pos
	end, flags := w.out.PutText(start, w.lim, s)
	if flags != 0 {
		r.b.invalid(f)
		return
	}
	w.pos = end
	r.end(f, start, present)
}

// Text sets field i to a string that protobuf does not check, Bytes to bytes;
// with explicit presence.
func (r RowWriter) Text(i uint, s string) { putBlob(r, i, s, true) }

func (r RowWriter) Bytes(i uint, s []byte) { putBlob(r, i, s, true) }

// ImplicitText and ImplicitBytes are for fields that are present if they are not empty.
func (r RowWriter) ImplicitText(i uint, s string) { putBlob(r, i, s, len(s) > 0) }

func (r RowWriter) ImplicitBytes(i uint, s []byte) { putBlob(r, i, s, len(s) > 0) }

func putBlob[S string | []byte](r RowWriter, i uint, s S, present bool) {
	f, n := r.field(i), uint(len(s))
	if f == nil || !r.begin(f, n) {
		return
	}
	w := r.b.w
	start := w.pos
	copy(w.out.Bytes(start, n), s)
	w.pos = start + n
	r.end(f, start, present)
}
