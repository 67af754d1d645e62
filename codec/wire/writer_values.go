package wire

import (
	"fmt"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
)

func itoa(i int) string { return strconv.Itoa(i) }

// SetNumbers sets field i to a list of numbers or enums in their full width.
func SetNumbers[T number](r RowWriter, i uint, xs []T) { putBlob(r, i, mem.Raw(xs), len(xs) > 0) }

// SetBools sets field i to a list of bools.
func SetBools(r RowWriter, i uint, xs []bool) { putBlob(r, i, mem.Raw(xs), len(xs) > 0) }

// SetNarrow sets field i to a list of integers or enums of width bits.
func SetNarrow[T integer](r RowWriter, i uint, xs []T, width uint) {
	f := r.field(i)
	if f == nil || !r.begin(f, uint(len(xs))*(width/8)) {
		return
	}
	start := r.b.w.pos
	if putNarrow(r, i, xs, width) {
		r.end(f, start, len(xs) > 0)
	}
}

// AppendNumbers appends to the list of numbers or enums in field i.
func AppendNumbers[T number](r RowWriter, i uint, xs []T) { r.extend(i, mem.Raw(xs)) }

// AppendBools appends to the list of bools in field i.
func AppendBools(r RowWriter, i uint, xs []bool) { r.extend(i, mem.Raw(xs)) }

// AppendNarrow appends to the list of integers or enums of width bits in field i.
func AppendNarrow[T integer](r RowWriter, i uint, xs []T, width uint) {
	if f := r.field(i); f != nil && len(xs) > 0 {
		start, ok := r.reopen(f, uint(len(xs))*(width/8))
		if ok && putNarrow(r, i, xs, width) {
			r.end(f, start, true)
		}
	}
}

func (r RowWriter) extend(i uint, s []byte) {
	if f := r.field(i); f != nil && len(s) > 0 {
		if start, ok := r.reopen(f, uint(len(s))); ok {
			w := r.b.w
			copy(w.out.Bytes(w.pos, uint(len(s))), s)
			w.pos += uint(len(s))
			r.end(f, start, true)
		}
	}
}

// putNarrow writes integers where there is room for them.
func putNarrow[T integer](r RowWriter, i uint, xs []T, width uint) bool {
	w := r.b.w
	signed := ^T(0) < 0
	for _, x := range xs {
		if signed && WideS(int64(x), width) || !signed && WideU(uint64(x), width) {
			r.outOfRange(i, x, int(width))
			return false
		}
		switch width {
		case 8:
			w.out.Put8(w.pos, uint8(x))
		case 16:
			w.out.Put16(w.pos, uint16(x))
		default:
			w.out.Put32(w.pos, uint32(x))
		}
		w.pos += width / 8
	}
	return true
}

// reopen readies the buffer for n bytes more of the value of field f, which begins at
// start and ends at the writer's position. One that is somewhere else is copied there.
func (r RowWriter) reopen(f *writeField, n uint) (start uint, ok bool) {
	b := r.b
	w := b.w
	b.settle()
	if w.top != b && !w.closeTo(b) {
		return 0, false
	}
	index := r.index*uint32(b.info.ends) + f.k
	from, to := b.written(index)
	start = b.tail + uint(from)
	if from < to && b.tail+uint(to) == w.pos && w.room(n) {
		if b.cur != outOfOrder && index+1 == b.cur {
			b.cur--
			return start, true
		}
		if last := len(w.moved) - 1; last >= b.moved && w.moved[last].index == index {
			w.moved = w.moved[:last]
			return start, true
		}
	}
	old := uint(to - from)
	if !r.begin(f, old+n) {
		return 0, false
	}
	copy(w.out.Bytes(w.pos, old), w.out.Bytes(start, old))
	start = w.pos
	w.pos += old
	return start, true
}

// written is where a value lies that has been written.
func (b *blockWriter) written(index uint32) (from, to uint32) {
	w := b.w
	if b.cur == outOfOrder {
		for i := len(w.moved) - 1; i >= b.moved; i-- {
			if m := &w.moved[i]; m.index == index {
				return m.from, m.to
			}
		}
		if index >= b.prefix {
			return 0, 0
		}
		if index > 0 {
			from = b.endOf(index - 1)
		}
		return from, b.endOf(index)
	}
	if index >= b.cur {
		return 0, 0
	}
	b.prefix, b.prefixEnd = b.cur, uint32(w.pos-b.tail)
	if index > 0 {
		from = b.endOf(index - 1)
	}
	return from, b.endOf(index)
}

// SetStrings sets field i to a list of strings or bytes.
func SetStrings[S string | []byte](r RowWriter, i uint, xs []S) {
	f := r.field(i)
	if f == nil {
		return
	}
	need := 5 + 4*uint(len(xs))
	for _, x := range xs {
		need += uint(len(x))
	}
	if !r.begin(f, need) {
		return
	}
	w := r.b.w
	start := w.pos
	if len(xs) > 0 {
		ends := w.putUvarint(w.pos, uint32(len(xs)))
		data := ends + 4*uint(len(xs)-1)
		w.pos = data
		for j, x := range xs {
			if !putElement(w, f, x) {
				r.b.invalid(f)
				return
			}
			if j < len(xs)-1 {
				w.out.Put32(ends+4*uint(j), uint32(w.pos-data))
			}
		}
	}
	r.end(f, start, len(xs) > 0)
}

// putElement writes an element of a list of strings or bytes where there is room for it.
func putElement[S string | []byte](w *Writer, f *writeField, x S) bool {
	if s, ok := any(x).(string); ok && f.lay.UTF8 {
		end, flags := w.out.PutText(w.pos, w.lim, s)
		w.pos = end
		return flags == 0
	}
	copy(w.out.Bytes(w.pos, uint(len(x))), x)
	w.pos += uint(len(x))
	return true
}

// StringsWriter is a list of strings or bytes that is being written.
type StringsWriter[S string | []byte] rows

// NewStrings opens a list of n strings or bytes in field i.
func NewStrings[S string | []byte](r RowWriter, i uint, n int) StringsWriter[S] {
	return StringsWriter[S](r.list(i, stringRows, rowsKnown, n))
}

// BuildStrings opens a list to be appended to and closed.
func BuildStrings[S string | []byte](r RowWriter, i uint) StringsWriter[S] {
	return StringsWriter[S](r.list(i, stringRows, rowsUnknown, firstRows))
}

// Len is how many elements the list has so far.
func (l StringsWriter[S]) Len() int { return length(rows(l)) }

// Set sets element i, which is copied.
func (l StringsWriter[S]) Set(i int, x S) {
	if l.b.serial != l.serial || uint(i) >= uint(l.b.n) {
		rows(l).past(i)
		return
	}
	setElement(RowWriter{b: l.b, index: uint32(i), serial: l.serial}, x)
}

// Append adds an element to a list that is built. It is copied.
func (l StringsWriter[S]) Append(x S) {
	if r, ok := rows(l).add(); ok {
		setElement(r, x)
	}
}

// Close ends a list that was built. One of known length ends by itself.
func (l StringsWriter[S]) Close() { rows(l).close() }

func setElement[S string | []byte](r RowWriter, x S) {
	b := r.b
	f := &stringRows.fields[0]
	b.clean = max(b.clean, r.index+1)
	if !r.begin(f, uint(len(x))) {
		return
	}
	start := b.w.pos
	if !putElement(b.w, b.field, x) {
		b.parent.invalid(b.field)
		return
	}
	r.ended(f, start)
}

// InlineValue is a generated struct with the fields of an inline message.
type InlineValue interface{ Γput(InlineWriter) }

// InlineWriter is where an inline message is written.
type InlineWriter struct {
	Packer
	w *Writer
}

// FitsU reports whether an unsigned value fits the width of a field. If it does not,
// that is the writer's error. FitsS does so for signed values and enums.
func (o InlineWriter) FitsU(v uint64, width uint, field protoreflect.FullName) bool {
	return !WideU(v, width) || o.outOfRange(v, width, field)
}

func (o InlineWriter) FitsS(v int64, width uint, field protoreflect.FullName) bool {
	return !WideS(v, width) || o.outOfRange(v, width, field)
}

func (o InlineWriter) outOfRange(v any, width uint, field protoreflect.FullName) bool {
	o.w.fail(fault.Of(fault.Range, field, fmt.Sprintf("%v does not fit in %d bits", v, width)))
	return false
}

// Of is the inline message at offset off of this one.
func (o InlineWriter) Of(off uint) InlineWriter { return InlineWriter{Packer{o.p.Add(off)}, o.w} }

// SetInlines sets field i to a list of inline messages.
func SetInlines[V InlineValue](r RowWriter, i uint, xs []V) {
	f := r.field(i)
	if f == nil {
		return
	}
	size := f.list.stride
	if !r.begin(f, size*uint(len(xs))) {
		return
	}
	w := r.b.w
	start := w.pos
	for _, x := range xs {
		x.Γput(InlineWriter{Packer{w.out.Add(w.pos)}, w})
		w.pos += size
	}
	if w.err == nil {
		r.end(f, start, len(xs) > 0)
	}
}

// InlinesWriter is a list of inline messages that is being written.
type InlinesWriter[V InlineValue] rows

// NewInlines opens a list of n inline messages in field i.
func NewInlines[V InlineValue](r RowWriter, i uint, n int) InlinesWriter[V] {
	return InlinesWriter[V](r.inlines(i, rowsKnown, n))
}

// BuildInlines opens a list to be appended to and closed.
func BuildInlines[V InlineValue](r RowWriter, i uint) InlinesWriter[V] {
	return InlinesWriter[V](r.inlines(i, rowsUnknown, firstRows))
}

func (r RowWriter) inlines(i uint, kind blockKind, n int) rows {
	if f := r.field(i); f != nil {
		return r.list(i, f.list, kind, n)
	}
	return rows{b: &r.b.w.dead}
}

// Len is how many messages the list has so far.
func (l InlinesWriter[V]) Len() int { return length(rows(l)) }

// Set sets message i.
func (l InlinesWriter[V]) Set(i int, x V) {
	b := l.b
	if b.serial != l.serial || uint(i) >= uint(b.n) {
		rows(l).past(i)
		return
	}
	RowWriter{b: b, index: uint32(i), serial: l.serial}.putInline(x)
}

// Append adds a message to a list that is built.
func (l InlinesWriter[V]) Append(x V) {
	if r, ok := rows(l).add(); ok {
		r.putInline(x)
	}
}

// Close ends a list that was built. One of known length ends by itself.
func (l InlinesWriter[V]) Close() { rows(l).close() }

// putInline writes an inline message that is a row itself.
func (r RowWriter) putInline(x InlineValue) {
	if b := r.b; r.index == b.clean {
		b.clean++
	} else {
		b.zero(r.index + 1)
	}
	x.Γput(InlineWriter{Packer{r.at(r.b.info.stride)}, r.b.w})
}
