package wire

import (
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Encoder is the state of encoding one message in one pass: rows and tail are written
// with two cursors, and every write is checked against the room that is left, so a
// message that another goroutine changes meanwhile makes a wrong frame at most.
// Generated code passes positions, in bytes from the start of the buffer.
type Encoder struct {
	out mem.Ptr
	lim uint // where the room ends
	// Unstorable gathers, or-ed, the sizes of unknown fields that have no place.
	Unstorable int
	state

	opts    EncodeOptions
	scratch []byte
	strings []string
	numbers []uint64
}

// state is what changes while a message is encoded.
type state struct {
	flags   mem.Flags // what went wrong with strings
	over    bool      // the room was too little
	failed  bool      // something that the reflective encoder has to find and report
	careful bool      // some message has a residue: look at all rows before choosing a shape
	seen    bool      // a residue was met while not careful
	want    uint      // the room would not be enough below this
	depth   int
}

// begin has the encoder write to out, up to position lim.
func (e *Encoder) begin(out mem.Ptr, lim uint, o EncodeOptions) {
	e.out, e.lim, e.opts = out, lim, o
	e.state, e.Unstorable = state{}, 0
}

// Union gathers which fields the rows of a block have, to choose its shape.
type Union struct {
	info    *Info
	bits    uint64
	form    *form
	residue bool
	wide    []uint64
}

// Add takes one row's bits, and whether it has unknown fields or extensions. It reports
// whether the shape is settled, whatever other rows hold.
//
//go:noinline
func (u *Union) Add(e *Encoder, bits uint64, residue bool) bool {
	f, i := u.form, u.info
	if f == nil || bits&^u.bits != 0 || residue && !u.residue {
		u.bits |= bits
		u.residue = u.residue || residue
		f = i.form1(u.bits, u.residue)
		u.form = f
	}
	// That the full shape is the choice so far is not enough where shapes have several words:
	// a field in a word that was empty saves a byte, the run of one empty word taking three
	// bytes and a word two, and may so make the elided shape small enough.
	return f.full && !e.careful && (i.oneWord || u.bits&i.presence[0] == i.presence[0])
}

// AddWide is Add for rows of more than 64 bits.
func (u *Union) AddWide(e *Encoder, bits []uint64, residue bool) bool {
	if u.wide == nil {
		u.wide = make([]uint64, len(bits))
	}
	for i, b := range bits {
		u.wide[i] |= b
	}
	u.residue = u.residue || residue
	u.form = u.info.formFor(u.wide, u.residue)
	return false // more than 64 bits are more than one word
}

// Union begins the choice of a block's shape.
func (e *Encoder) Union(i *Info) Union { return Union{info: i} }

// Block is a block being written: its rows, and the tail behind them. It has the four words
// that the compiler still keeps in registers: as more, copied from one place on the stack to
// another, it cost more than all else that opening a block does.
type Block struct {
	Out  Out
	Tail uint // position of the tail
	form *form
	kind int // residual, ends; negative if the bits of a row are one byte, those of a full row
}

const (
	residual = 1 << iota // rows have a place for extensions and unknown fields
	ends                 // rows but the last store their last end
)

// Offs gives, for each compiled field, its slot or end in a row; 0: nowhere.
func (b Block) Offs() []uint32 { return b.form.offs }

// Step is from a row to the next one.
func (b Block) Step() uint { return b.form.stride }

// Open writes count and shape of a block at position at and reserves its rows, which
// hold arbitrary bytes unless zero is set, and gives the position of the first. It reports
// false if there is no room, or the message is nested too deep.
//
//go:noinline
func (e *Encoder) Open(u *Union, at uint, n int, root, zero bool) (b Block, row uint, ok bool) {
	f := u.form
	if f == nil { // all messages are nil
		f = u.info.formFor(make([]uint64, u.info.words), false)
	}
	return e.open(f, at, n, root, zero)
}

func (e *Encoder) open(f *form, at uint, n int, root, zero bool) (b Block, row uint, ok bool) {
	if e.depth++; e.depth > e.opts.MaxDepth {
		e.failed = true
		return b, at, false
	}
	need := uint64(5+len(f.shape)) + uint64(n)*uint64(f.stride)
	if need > uint64(e.lim-at) && !e.fits(f, at, n, root) {
		e.over = true
		return b, at, false
	}
	if !root {
		at = e.putUvarint(at, uint32(n))
	}
	if len(f.shape) == 2 {
		e.out.Put16(at, le.Uint16(f.shape))
	} else {
		copy(e.out.Bytes(at, uint(len(f.shape))), f.shape)
	}
	row = at + uint(len(f.shape))
	b = Block{Out: Out{e.out}, Tail: row + uint(n)*f.stride, form: f, kind: f.kind}
	if f.ends {
		b.Tail -= 4
	}
	// One elided row has all the fields that its shape has.
	if zero && (n != 1 || !f.elided) {
		clear(e.out.Bytes(row, b.Tail-row))
	}
	return b, row, true
}

// fits reports whether a block's count, shape and rows fit close to the end of the room.
func (e *Encoder) fits(f *form, at uint, n int, root bool) bool {
	need := uint64(len(f.shape)) + uint64(n)*uint64(f.stride)
	if f.ends {
		need -= 4
	}
	if !root {
		need += uint64(uvarintLen(uint32(n)))
	}
	return need <= uint64(e.lim-at)
}

// Close ends the block that was opened last.
func (e *Encoder) Close(tail uint) uint {
	e.depth--
	return tail
}

// Bits writes the bits of the row at position row, given as those of a full row.
func (b Block) Bits(row uint, bits uint64) {
	if b.kind < 0 {
		b.Out.p.Put8(row, uint8(bits))
	} else {
		b.putBits(row, bits)
	}
}

// BitsWide is Bits for rows of more than 64 bits.
func (b Block) BitsWide(row uint, bits []uint64) {
	f := b.form
	out := b.Out.p.Bytes(row, f.bitBytes)
	if !f.full {
		f.squeeze(out, bits)
		return
	}
	for i := range out {
		out[i] = byte(bits[i/8] >> (i % 8 * 8))
	}
}

func (b Block) putBits(row uint, bits uint64) {
	f, w := b.form, b.Out
	switch {
	case f.full:
	case bits == f.key0: // all fields, and all bools false
		bits = f.all
	default:
		bits = f.squeeze1(bits)
	}
	switch f.bitBytes {
	case 1:
		w.p.Put8(row, uint8(bits))
	case 2:
		w.p.Put16(row, uint16(bits))
	case 4:
		w.p.Put32(row, uint32(bits))
	case 8:
		w.p.Put64(row, bits)
	default:
		for i := uint(0); i < f.bitBytes; i++ { // 3, 5, 6, 7, or 9 with a residue
			w.p.Put8(row+i, uint8(bits))
			bits >>= 8
		}
	}
}

// Out is the buffer of an encoder, written at positions that were reserved.
type Out struct{ p mem.Ptr }

// U8 writes a slot of one byte at offset o of a row, if the row has it. U16, U32 and
// U64 do so for wider ones, F32 and F64 for floats.
func (w Out) U8(row uint, o uint32, v uint8) {
	if o != 0 {
		w.p.Put8(row+uint(o), v)
	}
}

func (w Out) U16(row uint, o uint32, v uint16) {
	if o != 0 {
		w.p.Put16(row+uint(o), v)
	}
}

func (w Out) U32(row uint, o uint32, v uint32) {
	if o != 0 {
		w.p.Put32(row+uint(o), v)
	}
}

func (w Out) U64(row uint, o uint32, v uint64) {
	if o != 0 {
		w.p.Put64(row+uint(o), v)
	}
}

func (w Out) F32(row uint, o uint32, v float32) { w.U32(row, o, math.Float32bits(v)) }
func (w Out) F64(row uint, o uint32, v float64) { w.U64(row, o, math.Float64bits(v)) }

// Last stores where the values of the row in front of position next end, unless that is the
// end of the block, which stands nowhere.
func (b Block) Last(next, tail uint) {
	if b.kind&ends != 0 && next <= b.Tail {
		b.Out.p.Put32(next-4, uint32(tail-b.Tail))
	}
}

// End stores where a variable value ends, counted from the start of the tail, if its
// end stands in the row and is not the last.
func (w Out) End(row uint, o uint32, end uint) { w.U32(row, o, uint32(end)) }

// Residue writes the extensions and unknown fields of a row's message, where the block
// has a place for them.
func (b Block) Residue(e *Encoder, row, tail uint, residue bool, m proto.Message) uint {
	if residue || b.kind&residual != 0 {
		tail = b.residue(e, row, tail, residue, m)
	}
	return tail
}

func (b Block) residue(e *Encoder, row, tail uint, expected bool, m proto.Message) uint {
	if b.kind&residual == 0 {
		e.seen = true
		return tail
	}
	lm, err := layout.Of(m.ProtoReflect().Descriptor())
	if err != nil {
		e.failed = true
		return tail
	}
	r := reflectEncoder{EncodeOptions: e.opts}
	bytes, err := r.residue(lm, m.ProtoReflect())
	if err != nil {
		e.failed = true
	}
	if len(bytes) == 0 && expected {
		e.failed = true // nothing of it may travel, so the shape was the wrong one
	}
	if len(bytes) > 0 {
		bit := row + uint(b.form.resBit/8)
		b.Out.p.Put8(bit, b.Out.p.U8(bit)|1<<(b.form.resBit%8))
		tail = e.Bytes(tail, bytes)
	}
	b.Out.End(row, b.form.resEnd, tail-b.Tail)
	return tail
}

// HasUnknown reports whether a message has unknown fields.
func HasUnknown(m proto.Message) bool { return len(m.ProtoReflect().GetUnknown()) > 0 }

// HasResidue reports whether a message has unknown fields or extensions.
func HasResidue(m protoreflect.Message) bool {
	if len(m.GetUnknown()) > 0 {
		return true
	}
	found := false
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		found = fd.IsExtension()
		return !found
	})
	return found
}

// Fail has the message encoded again by reflection, which finds what is wrong and
// names it.
func (e *Encoder) Fail(wrong bool) {
	if wrong {
		e.failed = true
	}
}

// String writes a string that has to be UTF-8.
func (e *Encoder) String(tail uint, s string) uint {
	end, f := e.out.PutText(tail, e.lim, s)
	e.flags |= f
	return end
}

// Text writes a string that protobuf does not check.
func (e *Encoder) Text(tail uint, s string) uint {
	n := uint(len(s))
	if e.lim-tail < n {
		e.over = true
		return tail
	}
	copy(e.out.Bytes(tail, n), s)
	return tail + n
}

// Bytes writes bytes.
func (e *Encoder) Bytes(tail uint, s []byte) uint {
	n := uint(len(s))
	if e.lim-tail < n {
		e.over = true
		e.want = max(e.want, tail+n)
		return tail
	}
	copy(e.out.Bytes(tail, n), s)
	return tail + n
}

// Message writes a block of one message of another package: by its methods if it has
// generated ones, else by reflection. A nil message is an empty one.
func (e *Encoder) Message(tail uint, m proto.Message) uint {
	if t := typeOf(m); t != nil {
		return t.methods.Load().put(e, tail, m, false)
	}
	return e.reflect(tail, []reflectRow{{msg: m.ProtoReflect()}})
}

// One is Message for a field, which is absent if it is nil.
func One[T any, M interface {
	*T
	proto.Message
}](e *Encoder, tail uint, x M) uint {
	if x == nil {
		return tail
	}
	return e.Message(tail, x)
}

// reflect writes a block of messages of one type by reflection.
func (e *Encoder) reflect(tail uint, rows []reflectRow) uint {
	lm, err := layout.Of(rows[0].msg.Descriptor())
	if err != nil {
		e.failed = true
		return tail
	}
	r := reflectEncoder{EncodeOptions: e.opts}
	e.scratch, err = r.block(e.scratch[:0], lm, rows, false, e.depth+1)
	if err != nil {
		e.failed = true
		return tail
	}
	return e.Bytes(tail, e.scratch)
}

// Messages writes a list of messages of another package.
func Messages[T any, M interface {
	*T
	proto.Message
}](e *Encoder, tail uint, xs []M) uint {
	if len(xs) == 0 {
		return tail
	}
	if t := typeOf(xs[0]); t != nil {
		list := mem.Pointers[T, M](xs)
		return t.methods.Load().putList(e, tail, &list)
	}
	rows := make([]reflectRow, len(xs))
	for i, x := range xs {
		rows[i].msg = x.ProtoReflect()
	}
	return e.reflect(tail, rows)
}

// Pack writes an inline message of another package at position at, which has room for
// it; nil as zeros.
func (e *Encoder) Pack(at uint, m proto.Message, size uint) {
	out := e.out.Bytes(at, size)
	if !m.ProtoReflect().IsValid() {
		clear(out)
		return
	}
	if t := typeOf(m); t != nil {
		if p := t.methods.Load().pack; p != nil {
			p(e, at, m)
			return
		}
	}
	clear(out)
	lm, err := layout.Of(m.ProtoReflect().Descriptor())
	if err == nil {
		r := reflectEncoder{EncodeOptions: e.opts}
		err = r.pack(out, lm, m.ProtoReflect())
	}
	if err != nil {
		e.failed = true
	}
}

// Packer is the buffer, for functions that write the fields of inline messages.
func (e *Encoder) Packer() Packer { return Packer{e.out} }

// Packer writes to positions in a buffer that were reserved.
type Packer struct{ p mem.Ptr }

func (w Packer) Put8(at uint, v uint8)     { w.p.Put8(at, v) }
func (w Packer) Put16(at uint, v uint16)   { w.p.Put16(at, v) }
func (w Packer) Put32(at uint, v uint32)   { w.p.Put32(at, v) }
func (w Packer) Put64(at uint, v uint64)   { w.p.Put64(at, v) }
func (w Packer) PutF32(at uint, v float32) { w.p.PutF32(at, v) }
func (w Packer) PutF64(at uint, v float64) { w.p.PutF64(at, v) }
func (w Packer) PutBool(at uint, v bool)   { w.p.PutBool(at, v) }

func uvarintLen(n uint32) int {
	switch {
	case n < 1<<7:
		return 1
	case n < 1<<14:
		return 2
	case n < 1<<21:
		return 3
	case n < 1<<28:
		return 4
	}
	return 5
}

// putUvarint writes a count where there is room.
func (e *Encoder) putUvarint(at uint, n uint32) uint {
	for n >= 0x80 {
		e.out.Put8(at, uint8(n)|0x80)
		at++
		n >>= 7
	}
	e.out.Put8(at, uint8(n))
	return at + 1
}

// Bit is 1 where a condition holds.
func Bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// Deref is the value at p, or zero.
func Deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Wide8 and Wide16 and so on report whether a value needs more bits than a narrow field has.
func WideU[T ~uint32 | ~uint64](v T, width uint) bool { return uint64(v)>>width != 0 }

// WideS is WideU for signed integers and enums.
func WideS[T ~int32 | ~int64](v T, width uint) bool {
	return int64(v) != int64(v)<<(64-width)>>(64-width)
}
