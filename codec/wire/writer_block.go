package wire

import (
	"math"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
)

// blockWriter is a block that is open, and kept for the next one at its depth.
type blockWriter struct {
	rows   mem.Ptr // the first row, and where it is
	rowsAt uint
	tail   uint   // where the tail begins
	serial uint32 // counts what was opened and closed here, so that handles know that they are void
	n      uint32 // rows
	clean  uint32 // rows that are written, or zero
	cur    uint32 // the next variable value in order, by rows and fields; outOfOrder
	total  uint32 // variable values there will be; open if the number of rows is not known
	kind   blockKind
	next   uint32 // the row that the short cut for whole rows takes next, and the first one that
	stop   uint32 // it does not; see writer_whole.go

	info  *writeInfo
	w     *Writer
	start uint   // where the block begins
	room  uint32 // rows there is room for
	moved int    // where the block's values out of order begin, in the writer's
	// Of the values in order, where out of order ones follow: how many, and where they end.
	prefix    uint32
	prefixEnd uint32

	parent *blockWriter
	child  *blockWriter
	row    uint32 // of the parent
	field  *writeField
}

type blockKind uint8

const (
	rootBlock   blockKind = iota
	rowsKnown             // a message, or a list of known length: what comes behind closes it
	rowsUnknown           // a list or map that has to be closed
)

const (
	outOfOrder = math.MaxUint32
	endless    = math.MaxUint32
	firstRows  = 16 // rows there is room for at first where the number is not known
)

// open begins a block of n rows, with room for some, at the writer's position. Room in
// the buffer is there.
func (b *blockWriter) open(n, room uint32) {
	w, i := b.w, b.info
	at := w.pos
	count := n
	if b.kind == rowsUnknown {
		n, count, b.total = 0, 1, endless
	} else {
		b.total = n * uint32(i.ends)
	}
	if i.counted && b.kind != rootBlock {
		at = w.putUvarint(at, count)
	}
	if len(i.shape) == 2 {
		w.out.Put16(at, le.Uint16(i.shape))
		at += 2
	} else if len(i.shape) > 0 {
		copy(w.out.Bytes(at, uint(len(i.shape))), i.shape)
		at += uint(len(i.shape))
	}
	fixed := uint(room) * i.stride
	if b.kind != rowsUnknown && i.ends > 0 {
		fixed -= 4
	}
	b.rowsAt, b.rows, b.tail = at, w.out.Add(at), at+fixed
	w.pos = b.tail
	b.n, b.room, b.cur, b.clean = n, room, 0, 0
	b.moved = len(w.moved)
	if b.serial++; b.serial == 0 {
		b.serial = 1
	}
	w.top = b
	if room == 1 {
		b.zero(1)
	}
	if b.next = noRow; i.flat {
		b.shorten(0)
	}
}

// zero makes sure that the first n rows are written or zero, and clears all that are there
// so that it need not be done again for each.
func (b *blockWriter) zero(n uint32) {
	if b.clean >= n {
		return
	}
	from, to := uint(b.clean)*b.info.stride, uint(b.room)*b.info.stride
	if b.kind != rowsUnknown && b.info.ends > 0 {
		to -= 4
	}
	clear(b.rows.Bytes(from, to-from))
	b.clean = b.room
}

// putUvarint writes a count where there is room.
func (w *Writer) putUvarint(at uint, n uint32) uint {
	for n >= 0x80 {
		w.out.Put8(at, uint8(n)|0x80)
		at++
		n >>= 7
	}
	w.out.Put8(at, uint8(n))
	return at + 1
}

// sub opens a block of n rows as the value of a field. It gives nil if it can't.
func (r RowWriter) sub(i uint, info *writeInfo, kind blockKind, n int) *blockWriter {
	f := r.field(i)
	if f == nil {
		return nil
	}
	b := r.b
	w := b.w
	if n < 0 || int64(n) > MaxMessage {
		b.misuse(f, "a list of %d", n)
		return nil
	}
	size := uint64(len(info.shape)+5) + uint64(n)*uint64(info.stride)
	if size > MaxMessage {
		w.fail(fault.Of(fault.TooLarge, f.name(b.info), "a message of more than 2^31-1 bytes"))
		return nil
	}
	if !r.begin(f, uint(size)) {
		return nil
	}
	if info.shape != nil {
		if w.depth++; w.depth > DefaultDepth {
			w.fail(fault.Of(fault.TooDeep, f.name(b.info), "more than 10,000 levels of messages"))
			return nil
		}
	}
	c := b.child
	if c == nil {
		c = &blockWriter{w: w, parent: b}
		b.child = c
	}
	c.info, c.start, c.kind, c.row, c.field = info, w.pos, kind, r.index, f
	if n == 0 {
		c.openEmpty()
	} else {
		c.open(uint32(n), uint32(n))
	}
	return c
}

// openEmpty opens a list without rows, of which nothing is written.
func (b *blockWriter) openEmpty() {
	w := b.w
	b.rowsAt, b.rows, b.tail = w.pos, w.out, w.pos
	b.n, b.room, b.cur, b.clean, b.total, b.next = 0, 0, 0, 0, 0, noRow
	b.moved = len(w.moved)
	if b.serial++; b.serial == 0 {
		b.serial = 1
	}
	w.top = b
}

// closeTo closes what is open inside block b. Lists of unknown length must have been
// closed.
func (w *Writer) closeTo(b *blockWriter) bool {
	for w.top != b {
		if w.top == nil {
			return false
		}
		w.close(true)
	}
	return true
}

// close closes the innermost block; implied says that nobody asked for it.
func (w *Writer) close(implied bool) {
	b := w.top
	if implied && b.kind == rowsUnknown {
		b.misuseOf("the list or map is still open: close it before anything that comes behind it is written")
		return
	}
	i := b.info
	b.settle()
	b.zero(b.n)
	if len(i.required) > 0 && !b.checkRequired() {
		return
	}
	if b.cur == outOfOrder {
		if !b.putInOrder() {
			return
		}
	} else if b.kind != rowsUnknown && b.cur < b.total {
		b.fill(b.total)
	}
	if b.kind == rowsUnknown {
		if b.cur < b.n*uint32(i.ends) {
			b.fill(b.n * uint32(i.ends))
		}
		if !b.shrink() {
			return
		}
	}
	w.moved = w.moved[:b.moved]
	b.serial++
	w.top = b.parent
	if i.shape != nil {
		w.depth--
	}
	if b.parent != nil {
		RowWriter{b: b.parent, index: b.row, serial: b.parent.serial}.end(b.field, b.start, b.n > 0)
	}
}

// misuseOf is misuse about the block itself.
func (b *blockWriter) misuseOf(what string) {
	b.w.fail(fault.Of(fault.Misuse, b.field.name(b.parent.info), what))
}

// fill stores the ends of the absent values up to one that is written.
func (b *blockWriter) fill(to uint32) {
	i, end := b.info, uint32(b.w.pos-b.tail)
	n := uint32(i.ends)
	base := i.stride - 4*i.ends
	row, k := uint(b.cur/n), uint(b.cur%n)
	p := row*i.stride + base
	for c := b.cur; c < to; c++ {
		if c+1 != b.total {
			b.rows.Put32(p+4*k, end)
		}
		if k++; k == i.ends {
			k = 0
			p += i.stride
		}
	}
	b.cur = to
}

// endOf is the end of a value in order.
func (b *blockWriter) endOf(index uint32) uint32 {
	if index+1 == b.prefix {
		return b.prefixEnd
	}
	n := uint32(b.info.ends)
	return b.rows.U32(uint(index/n+1)*b.info.stride - 4*uint(n-index%n))
}

// scatter notes that values are not in order any more.
func (b *blockWriter) scatter() {
	b.prefix, b.prefixEnd, b.cur = b.cur, uint32(b.w.pos-b.tail), outOfOrder
}

// putInOrder moves the block's values to their places. Of one that was written more than
// once the last is taken.
func (b *blockWriter) putInOrder() bool {
	w, i := b.w, b.info
	log := w.moved[b.moved:]
	total := b.n * uint32(i.ends)
	lo := b.prefix
	for j := range log {
		lo = min(lo, log[j].index)
	}
	n := int(total - lo)
	if cap(w.spans) < n {
		w.spans = make([]span, n+n/4)
	}
	spans := w.spans[:n]
	clear(spans)
	start := uint32(0) // of the first value that may have to move
	if lo > 0 {
		start = b.endOf(lo - 1)
	}
	prev := start
	for j := lo; j < b.prefix; j++ {
		end := b.endOf(j)
		spans[j-lo] = span{prev, end}
		prev = end
	}
	for j := range log {
		spans[log[j].index-lo] = log[j].span
	}
	size := uint(0)
	for j := range spans {
		size += uint(spans[j].to - spans[j].from)
	}
	if !w.room(size) {
		return false
	}
	at := w.pos
	end := start
	ends := uint32(i.ends)
	for j := range spans {
		s := &spans[j]
		n := uint(s.to - s.from)
		copy(w.out.Bytes(at, n), w.out.Bytes(b.tail+uint(s.from), n))
		at += n
		end += uint32(n)
		if index := lo + uint32(j); index+1 != b.total {
			b.rows.Put32(uint(index/ends+1)*i.stride-4*uint(ends-index%ends), end)
		}
	}
	copy(w.out.Bytes(b.tail+uint(start), size), w.out.Bytes(w.pos, size))
	w.pos = b.tail + uint(start) + size
	b.cur = total
	return true
}

// more makes room for more rows in a list whose length is not known.
func (b *blockWriter) more(n uint32) bool {
	w, i := b.w, b.info
	room := max(firstRows, 2*b.room, b.n+n)
	extra := uint(room-b.room) * i.stride
	if uint64(room)*uint64(i.stride) > MaxMessage || !w.room(extra) {
		w.grow(MaxMessage)
		return false
	}
	if size := w.pos - b.tail; size > 0 {
		copy(w.out.Bytes(b.tail+extra, size), w.out.Bytes(b.tail, size))
	}
	b.tail += extra
	w.pos += extra
	b.room = room
	return true
}

// shrink gives a list whose length was not known its count, and takes away the rows that
// it has not and the last end.
func (b *blockWriter) shrink() bool {
	w, i := b.w, b.info
	if b.n == 0 {
		w.pos = b.start
		return true
	}
	if i.shape != nil && i.layout.Entry && !b.sort() {
		return false
	}
	shift := uint(0)
	if i.counted {
		shift = uint(uvarintLen(b.n)) - 1
		if shift > 0 && !w.room(shift) {
			return false
		}
	}
	fixed := uint(b.n) * i.stride
	if i.ends > 0 {
		fixed -= 4
	}
	size := w.pos - b.tail
	tail := b.rowsAt + shift + fixed
	if size > 0 && tail != b.tail {
		copy(w.out.Bytes(tail, size), w.out.Bytes(b.tail, size))
	}
	w.pos = tail + size
	if i.counted {
		if shift > 0 {
			head := uint(len(i.shape)) + fixed
			copy(w.out.Bytes(b.start+1+shift, head), w.out.Bytes(b.start+1, head))
		}
		w.putUvarint(b.start, b.n)
	}
	return true
}

// checkRequired looks for required fields that are not set.
func (b *blockWriter) checkRequired() bool {
	i := b.info
	for row := range uint(b.n) {
		for _, p := range i.required {
			missing := p.mask &^ b.rows.U8(row*i.stride+uint(p.byte))
			if missing == 0 {
				continue
			}
			for j := range i.fields {
				if f := &i.fields[j]; f.byte == p.byte && f.mask&missing != 0 {
					b.w.fail(fault.Of(fault.Required, f.name(i), "not set"))
					return false
				}
			}
		}
	}
	return true
}
