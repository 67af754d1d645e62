package wire

import (
	"fmt"
	"math"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/envelope"
	"google.golang.org/protobuf/proto"
)

// Writer fills a buffer with a message, field by field, without an ordinary message in
// between. It is what generated writers are made of; package codec seals what it has
// written.
//
// A message is a chain of open blocks: the root, in one of its rows a list, in one
// of its rows another. Rows are filled in place, in any order. Variable values are
// appended to the buffer; those that come in the order of their rows and fields are
// then where they belong, others are put in order when their block is closed. What
// would corrupt the message, such as a write to a block that is closed, is
// remembered as the writer's first error, after which every call does nothing.
//
// A Writer keeps its memory from one message to the next. It must not be copied, nor
// used by two goroutines at once.
type Writer struct {
	out   mem.Ptr
	lim   uint // where the room for values ends, the frame's trailer behind it
	pos   uint // where the next variable value goes
	begin uint // where the frame of this message begins
	top   *blockWriter
	depth int
	err   error

	buf  pool.Shared
	hint int // how large the next buffer should be, in bytes
	root blockWriter
	dead blockWriter // what handles refer to that must not write

	moved []moved  // values out of order, of all open blocks
	spans []span   // room for putting them in order
	order []uint32 // room for sorting maps
}

// moved is a variable value that was written out of order.
type moved struct {
	index uint32 // of the value in its block: row times variable fields, plus field
	span
}

// span is a range of a block's tail.
type span struct{ from, to uint32 }

// firstBuffer is what a writer takes before it knows how large its messages are, in bytes.
const firstBuffer = 1 << 10

// Begin drops what the writer has and begins a message at the start of its buffer.
func (w *Writer) Begin(t *WriteType) RowWriter { return w.BeginAt(t, 0) }

// BeginAt begins a message whose frame is to stand at a position of the buffer, behind
// those that are to be kept.
func (w *Writer) BeginAt(t *WriteType, at int) RowWriter {
	w.kill()
	w.err, w.depth, w.begin, w.pos = nil, 1, uint(at), uint(at)
	w.moved = w.moved[:0]
	i := t.info()
	b := &w.root
	if b.w == nil {
		b.w, w.dead = w, blockWriter{w: w, serial: 1, next: noRow}
	}
	if !w.room(uint(envelope.HeaderSize + len(i.shape) + int(i.stride))) {
		return w.deadRow()
	}
	at += envelope.HeaderSize
	w.pos = uint(at)
	b.info, b.start, b.kind = i, w.pos, rootBlock
	b.open(1, 1)
	return RowWriter{b: b, serial: b.serial}
}

// End closes the message and gives the position of its frame and where the message ends.
// Between them, and behind the end, there is room for header and trailer.
func (w *Writer) End() (frame []byte, err error) {
	if w.err == nil && w.top == nil {
		w.err = fault.New(fault.Misuse, "the writer has no message: Reset begins one")
	}
	for w.err == nil && w.top != nil {
		w.close(w.top.kind != rootBlock)
	}
	if w.err != nil {
		w.kill()
		return nil, w.err
	}
	if w.pos-w.begin > envelope.MaxMessage {
		w.fail(fault.New(fault.TooLarge, "a message of more than 2^31-1 bytes"))
		return nil, w.err
	}
	return w.out.Bytes(w.begin, w.pos+envelope.TrailerSize-w.begin), nil
}

// Frames are the bytes that frames stand in up to a position.
func (w *Writer) Frames(end int) []byte { return w.out.Bytes(0, uint(end)) }

// Position is where the frame begins that is being written.
func (w *Writer) Position() int { return int(w.begin) }

// ID is the schema id of the message.
func (w *Writer) ID() uint64 { return w.root.info.id }

// Fills reports whether a frame of n bytes takes so much of the writer's buffer that it
// keeps no more memory alive than one of a buffer of its own.
func (w *Writer) Fills(n int) bool {
	return w.begin == 0 && cap(w.buf.Bytes()) <= n+n/4
}

// Take gives the buffer away, with its reference. The writer takes another one of n bytes
// when it needs it.
func (w *Writer) Take(n int) pool.Shared {
	b := w.buf
	w.kill()
	w.buf, w.out, w.lim, w.hint = pool.Shared{}, mem.Ptr{}, 0, n
	return b
}

// Drop gives the buffer back to the pool.
func (w *Writer) Drop() {
	w.kill()
	if w.lim > 0 {
		w.Take(0).Free()
	}
}

// room makes sure that n bytes can be written at the writer's position.
func (w *Writer) room(n uint) bool {
	return w.pos <= w.lim && w.lim-w.pos >= n || w.grow(n)
}

//go:noinline
func (w *Writer) grow(n uint) bool {
	if w.err != nil {
		return false
	}
	need := uint64(w.pos) + uint64(n) + envelope.TrailerSize
	if need-uint64(w.begin) > envelope.MaxMessage+envelope.Overhead || need > math.MaxInt {
		w.fail(fault.New(fault.TooLarge, "a message of more than 2^31-1 bytes"))
		return false
	}
	size := max(need, firstBuffer, uint64(w.hint))
	if w.lim > 0 {
		size = max(size, min(2*uint64(w.lim), uint64(w.lim)+1<<28))
	}
	next := pool.Default.NewShared(int(size))
	b := next.Bytes()
	b = b[:cap(b)]
	if w.lim > 0 {
		copy(b, w.out.Bytes(0, w.pos))
		w.buf.Free()
	}
	w.buf, w.out, w.lim = next, mem.Of(b), uint(len(b)-envelope.TrailerSize)
	for b := w.top; b != nil; b = b.parent {
		b.rows = w.out.Add(b.rowsAt)
	}
	return true
}

// fail remembers the first error and makes all handles void.
func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
	w.kill()
}

func (w *Writer) kill() {
	for b := w.top; b != nil; b = b.parent {
		b.serial++
	}
	w.top = nil
}

func (w *Writer) deadRow() RowWriter { return RowWriter{b: &w.dead} }

// stale is called for a handle of a block that is closed.
//
//go:noinline
func (b *blockWriter) stale() {
	w := b.w
	if w.err == nil && w.top != nil {
		w.fail(fault.New(fault.Misuse, "a write to a row, list or map that is closed: what comes behind a value "+
			"of its parent closes it, and so does sealing"))
	}
}

// misuse fails with an error about a field of the block.
func (b *blockWriter) misuse(f *writeField, format string, args ...any) {
	b.w.fail(fault.Of(fault.Misuse, f.name(b.info), fmt.Sprintf(format, args...)))
}

// What must not go where, found where it is written.
func (r RowWriter) outOfRange(i uint, v any, width int) {
	if r.b.serial == r.serial {
		r.b.w.fail(fault.Of(fault.Range, r.b.info.fields[i].name(r.b.info), fmt.Sprintf("%v does not fit in %d bits", v, width)))
	} else {
		r.b.stale()
	}
}

func (b *blockWriter) invalid(f *writeField) {
	b.w.fail(fault.Of(fault.UTF8, f.name(b.info), "a string that is not UTF-8"))
}

// WriteType is what generated writers keep for a message type. The rest is made on first
// use.
type WriteType struct {
	New  func() proto.Message // an empty message
	made lazy[writeInfo]
}

func (t *WriteType) info() *writeInfo {
	if i := t.made.Load(); i != nil {
		return i
	}
	return t.made.keep(newWriteInfo(t.New().ProtoReflect().Descriptor()))
}
