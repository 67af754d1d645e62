package wire

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Maps are lists of entries that are put in order when they are closed.

// RowMapWriter is a map of messages that is being written.
type RowMapWriter[K mapKey, R ~row] struct {
	rows rows
	t    *WriteType
}

// ValueMapWriter is a map of bools, strings or bytes that is being written.
type ValueMapWriter[K mapKey, V bool | string | []byte] rows

// NumberMapWriter is a map of numbers or enums that is being written.
type NumberMapWriter[K mapKey, V number] rows

// InlineMapWriter is a map of inline messages that is being written.
type InlineMapWriter[K mapKey, V InlineValue] rows

// BuildRowMap opens the map of messages in field i. The others open other maps.
func BuildRowMap[K mapKey, R ~row](r RowWriter, t *WriteType, i uint) RowMapWriter[K, R] {
	return RowMapWriter[K, R]{r.inlines(i, rowsUnknown, firstRows), t}
}

func BuildValueMap[K mapKey, V bool | string | []byte](r RowWriter, i uint) ValueMapWriter[K, V] {
	return ValueMapWriter[K, V](r.inlines(i, rowsUnknown, firstRows))
}

func BuildNumberMap[K mapKey, V number](r RowWriter, i uint) NumberMapWriter[K, V] {
	return NumberMapWriter[K, V](r.inlines(i, rowsUnknown, firstRows))
}

func BuildInlineMap[K mapKey, V InlineValue](r RowWriter, i uint) InlineMapWriter[K, V] {
	return InlineMapWriter[K, V](r.inlines(i, rowsUnknown, firstRows))
}

// Close ends the map. Of two entries with the same key the later one counts.
func (m RowMapWriter[K, R]) Close()    { m.rows.close() }
func (m ValueMapWriter[K, V]) Close()  { rows(m).close() }
func (m NumberMapWriter[K, V]) Close() { rows(m).close() }
func (m InlineMapWriter[K, V]) Close() { rows(m).close() }

// Len is how many entries were put.
func (m RowMapWriter[K, R]) Len() int    { return length(m.rows) }
func (m ValueMapWriter[K, V]) Len() int  { return length(rows(m)) }
func (m NumberMapWriter[K, V]) Len() int { return length(rows(m)) }
func (m InlineMapWriter[K, V]) Len() int { return length(rows(m)) }

// Put adds an entry whose value is the message that it gives, with nothing set.
func (m RowMapWriter[K, R]) Put(key K) R {
	r, ok := putKey(m.rows, key)
	if ok {
		r = r.NewRow(m.t, valueField)
	}
	return R(row(r))
}

// Put adds an entry. Strings and bytes are copied.
func (m ValueMapWriter[K, V]) Put(key K, value V) {
	r, ok := putKey(rows(m), key)
	if !ok {
		return
	}
	switch v := any(value).(type) {
	case bool:
		f := &r.b.info.fields[valueField]
		putBit(r.at(r.b.info.stride), uint(f.bit)+1, v)
	case string:
		putVariable(r, valueField, v)
	case []byte:
		putVariable(r, valueField, v)
	}
}

// Put adds an entry.
func (m NumberMapWriter[K, V]) Put(key K, value V) {
	if r, ok := putKey(rows(m), key); ok {
		mem.Put(r.at(r.b.info.stride), uint(r.b.info.fields[valueField].off), value)
	}
}

// Put adds an entry.
func (m InlineMapWriter[K, V]) Put(key K, value V) {
	if r, ok := putKey(rows(m), key); ok {
		value.Γput(InlineWriter{Packer{r.at(r.b.info.stride).Add(uint(r.b.info.fields[valueField].off))}, r.b.w})
	}
}

// putKey adds an entry with its key and both presence bits. Its value is to be
// written next.
func putKey[K mapKey](l rows, key K) (r RowWriter, ok bool) {
	if r, ok = l.add(); !ok {
		return r, false
	}
	b := r.b
	b.clean = b.n
	fields := b.info.fields
	f := &fields[keyField]
	p := r.at(b.info.stride)
	bits := f.mask | fields[valueField].mask
	switch k := any(key).(type) {
	case bool:
		bits |= uint8(Bit(k)) << (f.bit + 1)
	case int32:
		p.Put32(uint(f.off), uint32(k))
	case uint32:
		p.Put32(uint(f.off), k)
	case int64:
		p.Put64(uint(f.off), uint64(k))
	case uint64:
		p.Put64(uint(f.off), k)
	case string:
		p.Put8(0, bits)
		return r, putVariable(r, keyField, k)
	}
	p.Put8(0, bits)
	return r, true
}

// putVariable writes key or value of an entry.
func putVariable[S string | []byte](r RowWriter, i int, s S) bool {
	b := r.b
	f := &b.info.fields[i]
	if !r.begin(f, uint(len(s))) {
		return false
	}
	start := b.w.pos
	if !putElement(b.w, f, s) {
		b.parent.invalid(b.field)
		return false
	}
	r.ended(f, start)
	return true
}

// sort puts the entries of a map in ascending order of keys, and takes away all but the
// last of those with the same key.
func (b *blockWriter) sort() bool {
	sorted := true
	for i := uint32(1); i < b.n && sorted; i++ {
		sorted = b.compareKeys(i-1, i) < 0
	}
	if sorted {
		return true
	}
	w, stride := b.w, b.info.stride
	if cap(w.order) < int(b.n) {
		w.order = make([]uint32, b.n+b.n/4)
	}
	order := w.order[:b.n]
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int {
		if c := b.compareKeys(x, y); c != 0 {
			return c
		}
		return int(x) - int(y)
	})
	n := 0
	for i := range order {
		if i+1 == len(order) || b.compareKeys(order[i], order[i+1]) != 0 {
			order[n] = order[i]
			n++
		}
	}
	order = order[:n]
	// The entries are built once more behind the tail, and moved from there.
	fixed, tail := uint(n)*stride, w.pos-b.tail
	if !w.room(fixed + tail) {
		return false
	}
	rows := w.out.Add(w.pos)
	out := w.pos + fixed
	size := uint(0)
	for i, j := range order {
		p := uint(i) * stride
		copy(rows.Bytes(p, stride), b.rows.Bytes(uint(j)*stride, stride))
		from := b.startOf(j)
		for k := b.info.ends; k > 0; k-- {
			at := p + stride - 4*k
			rows.Put32(at, rows.U32(at)-from+uint32(size))
		}
		if b.info.ends > 0 {
			n := uint(b.startOf(j+1) - from)
			copy(w.out.Bytes(out+size, n), w.out.Bytes(b.tail+uint(from), n))
			size += n
		}
	}
	copy(b.rows.Bytes(0, fixed), rows.Bytes(0, fixed))
	copy(w.out.Bytes(b.tail, size), w.out.Bytes(out, size))
	b.n, w.pos = uint32(n), b.tail+size
	return true
}

// startOf is where the tail of a row begins.
func (b *blockWriter) startOf(i uint32) uint32 {
	if i == 0 || b.info.ends == 0 {
		return 0
	}
	return b.rows.U32(uint(i)*b.info.stride - 4)
}

// compareKeys compares the keys of two entries.
func (b *blockWriter) compareKeys(x, y uint32) int {
	f := &b.info.fields[keyField]
	p, q := b.rows.Add(uint(x)*b.info.stride), b.rows.Add(uint(y)*b.info.stride)
	switch f.lay.Code {
	case layout.Blob:
		return bytes.Compare(b.key(f, x, p), b.key(f, y, q))
	case layout.Bool:
		bit := (f.bit + 1) % 8
		return int(p.U8(0)>>bit&1) - int(q.U8(0)>>bit&1)
	case layout.Word:
		return cmp.Compare(p.U32(uint(f.off)), q.U32(uint(f.off)))
	}
	return cmp.Compare(p.U64(uint(f.off)), q.U64(uint(f.off)))
}

// key is the key of an entry that is a string.
func (b *blockWriter) key(f *writeField, i uint32, p mem.Ptr) []byte {
	from := b.startOf(i)
	return b.w.out.Bytes(b.tail+uint(from), uint(p.U32(uint(f.off))-from))
}
