package wire

import (
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Decoder is the state of decoding one verified message into ordinary ones. What it
// allocates comes from slabs of a few KiB, so that keeping one string or one
// element never pins a large message. What is left of slabs without pointers serves the
// next message; of those with pointers it must not, since one kept element could pin
// any number of messages in a chain. Generated code calls a Decoder; failures are thrown
// as *fault.Error and caught at the root.
type Decoder struct {
	reflectDecoder
	depth    int
	text     bytesSlab // of strings
	data     bytesSlab // of bytes fields
	next     int       // values in the next slab for fields with explicit presence
	root     Rows
	stack    []Rows    // blocks of other packages' messages
	slabs    []*Slab   // by key
	used     []*Slab   // those that are not empty
	lists    mem.Lists // of messages
	nextList int       // pointers in their next slab

	strs  ones[string]
	u64s  ones[uint64]
	u32s  ones[uint32]
	i64s  ones[int64]
	i32s  ones[int32]
	f64s  ones[float64]
	f32s  ones[float32]
	bools ones[bool]
}

// slabBytes is the largest slab: with the eight bytes that the allocator puts in front of
// pointers, its size class of 3,072, of which a span holds eight; of 4,096 it holds two.
const slabBytes = 3064

// Key identifies a Go type whose values a decoder takes from slabs, and makes them. All
// that is generic about slabs takes the pointer type P, never the type itself: code that is
// generic over pointers is compiled once for a package, over structs once for each.
type Key struct {
	Make func(n int) mem.Values // Values of the type

	id atomic.Uint32
}

// Values are n zero values of a type.
func Values[T any](n int) mem.Values { return mem.Make[T](n) }

var lastKey atomic.Uint32

func (k *Key) get() uint32 {
	if id := k.id.Load(); id != 0 {
		return id
	}
	k.id.CompareAndSwap(0, lastKey.Add(1))
	return k.id.Load()
}

// Slab hands out values of one type. It counts rather than cuts what it has handed out: no
// pointer is written for that.
type Slab struct {
	all  mem.Values
	at   int
	next int
	key  *Key
}

// SlabOf is the decoder's slab for a type.
func SlabOf(d *Decoder, k *Key) *Slab {
	if id := int(k.id.Load()); id < len(d.slabs) {
		if s := d.slabs[id]; s != nil {
			return s
		}
	}
	return d.newSlab(k)
}

//go:noinline
func (d *Decoder) newSlab(k *Key) *Slab {
	id := k.get()
	if n := int(id) + 1 - len(d.slabs); n > 0 {
		d.slabs = append(d.slabs, make([]*Slab, n)...)
	}
	s := &Slab{all: k.Make(0), key: k}
	d.slabs[id] = s
	return s
}

// drop forgets what is left, which must not be shared by messages.
func (s *Slab) drop() {
	s.all.Drop()
	s.at, s.next = 0, 0
}

// Take takes a zero value from a slab, New from the slab of its type.
func Take[P any](d *Decoder, s *Slab) P {
	if s.at >= s.all.Len() {
		s.grow(d, 1)
	}
	s.at++
	return mem.Item[P](&s.all, s.at-1)
}

func New[P any](d *Decoder, k *Key) P { return Take[P](d, SlabOf(d, k)) }

//go:noinline
func (s *Slab) grow(d *Decoder, atLeast int) {
	size := s.all.Size()
	most := max(1, slabBytes/max(1, size))
	if atLeast > most/4 {
		s.next = min(atLeast, most) // a long list takes what it needs
	} else {
		s.next = min(max(1, 2*s.next, atLeast), most)
	}
	d.take(s.next * size)
	if s.all.Len() == 0 {
		d.used = append(d.used, s)
	}
	s.all, s.at = s.key.Make(s.next), 0
}

// take charges bytes about to be allocated; past the budget it throws.
func (d *Decoder) take(n int) {
	if err := d.charge(int64(n)); err != nil {
		panic(err)
	}
}

// maxStrings is how many strings with explicit presence are allocated at once.
const maxStrings = 128

// ones are values for fields with explicit presence.
type ones[T any] struct {
	all []T
	at  int
}

// numbersSlab is how many bytes of numbers with explicit presence are allocated at once.
const numbersSlab = 512

// one takes a number from a small slab.
func one[T any](d *Decoder, o *ones[T], v T) *T {
	if o.at >= len(o.all) {
		d.take(numbersSlab)
		o.all, o.at = make([]T, numbersSlab/mem.SizeOf[T]()), 0
	}
	p := &o.all[o.at]
	o.at++
	*p = v
	return p
}

func (d *Decoder) U64(v uint64) *uint64   { return one(d, &d.u64s, v) }
func (d *Decoder) U32(v uint32) *uint32   { return one(d, &d.u32s, v) }
func (d *Decoder) I64(v int64) *int64     { return one(d, &d.i64s, v) }
func (d *Decoder) I32(v int32) *int32     { return one(d, &d.i32s, v) }
func (d *Decoder) F64(v float64) *float64 { return one(d, &d.f64s, v) }
func (d *Decoder) F32(v float32) *float32 { return one(d, &d.f32s, v) }
func (d *Decoder) Bool(v bool) *bool      { return one(d, &d.bools, v) }

// Enum is a pointer to an enum of value v.
func Enum[E ~int32](d *Decoder, v E) *E { return mem.Enum[E](one(d, &d.i32s, int32(v))) }

// StringPtr copies a string and points to it.
func (d *Decoder) StringPtr(r Row, s *Slot) *string {
	if d.strs.at >= len(d.strs.all) {
		d.take(d.next * mem.SizeOf[string]())
		d.strs.all, d.strs.at = make([]string, d.next), 0
		d.next = min(2*d.next, maxStrings)
	}
	p := &d.strs.all[d.strs.at]
	d.strs.at++
	*p = d.String(r, s)
	return p
}

// String copies a string; "" if it is absent.
func (d *Decoder) String(r Row, s *Slot) string {
	start, n := r.value(s)
	if n == 0 {
		return ""
	}
	if t := &d.text; n <= uint(len(t.all)-t.at) {
		out := t.all[t.at : t.at+int(n)]
		t.at += int(n)
		r.tail.CopyTo(out, start)
		return mem.String(out)
	}
	return mem.String(d.copy(&d.text, r.tail.Bytes(start, n)))
}

func (d *Decoder) str(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return mem.String(d.copy(&d.text, b))
}

// Bytes copies bytes; the result is never nil.
func (d *Decoder) Bytes(r Row, s *Slot) []byte { return d.bytes(r.Bytes(s)) }

func (d *Decoder) bytes(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	return d.copy(&d.data, b)
}

// bytesSlab is bytes of which those below at are handed out.
type bytesSlab struct {
	all []byte
	at  int
}

// bytesSlabSize is the size of a slab of bytes.
const bytesSlabSize = 3072

// ownBytes is the size above which a value is worth an allocation of its own.
const ownBytes = 1024

func (d *Decoder) copy(s *bytesSlab, b []byte) []byte {
	if len(b) > len(s.all)-s.at {
		if len(b) > ownBytes {
			d.take(len(b))
			return append([]byte(nil), b...) // which, unlike make, zeroes nothing first
		}
		s.grow(d, len(b))
	}
	out := s.all[s.at : s.at+len(b) : s.at+len(b)]
	s.at += len(b)
	copy(out, b)
	return out
}

// grow makes room for n bytes.
func (s *bytesSlab) grow(d *Decoder, n int) {
	size := max(n, bytesSlabSize)
	d.take(size)
	s.all, s.at = make([]byte, size), 0
}

// open reads the block of a present field into b. It is verified, but bounds are checked all
// the same.
func (d *Decoder) open(i *Info, block []byte, b *Rows) {
	n, k := layout.Uvarint(block)
	p, err := i.Layout.PlanFor(block[k:])
	if err != nil {
		panic(err)
	}
	b.open(p, int(n), block[k+len(p.Rows.Shape):])
}

// OpenOne opens the block of a present message of the package's type t and takes a message,
// OpenList one of a list and takes as many. Both are left to be decoded from b.
//
//go:noinline
func OpenOne[P proto.Message](d *Decoder, r Row, s *Slot, t *Type, b *Rows) P {
	return New[P](d, t.open(*new(P), d, r, s, b))
}

//go:noinline
func OpenList[P proto.Message](d *Decoder, r Row, s *Slot, t *Type, b *Rows) []P {
	k := t.open(*new(P), d, r, s, b)
	d.next = max(d.next, min(b.N, maxStrings))
	return valuesOf[P](d, k, b.N)
}

// valuesOf gives a list of n values from the slab of their type.
func valuesOf[P any](d *Decoder, k *Key, n int) []P {
	xs := list[P](d, n)
	s := SlabOf(d, k)
	for i := range xs {
		if s.at >= s.all.Len() {
			s.grow(d, n-i)
		}
		xs[i] = mem.Item[P](&s.all, s.at)
		s.at++
	}
	return xs
}

// Short lists of messages come from slabs too.
const (
	shortList = 32  // pointers
	listSlab  = 128 // the most pointers of a slab: 1 KiB
)

// list gives a list of n nil pointers.
func list[P any](d *Decoder, n int) []P {
	if n > shortList || d.nextList == 0 { // many messages have but one list
		d.nextList = max(d.nextList, min(n, shortList))
		d.take(8 * n)
		return make([]P, n)
	}
	if n > d.lists.Left() {
		d.nextList = min(max(n, 2*d.nextList), listSlab)
		d.take(8 * d.nextList)
		d.lists.Grow(d.nextList)
	}
	return mem.List[P](&d.lists, n)[:n:n]
}

func (t *Type) open(m proto.Message, d *Decoder, r Row, s *Slot, b *Rows) *Key {
	d.depth++
	i := t.Of(m)
	d.open(i, r.Bytes(s), b)
	return &i.Key
}

// Close ends the block that was opened last.
func (d *Decoder) Close() { d.depth-- }

// Message decodes a present message of another package into m, which is empty.
func (d *Decoder) Message(r Row, s *Slot, m proto.Message) {
	d.message1(r.Bytes(s), m)
}

func (d *Decoder) message1(block []byte, m proto.Message) {
	d.depth++
	if t := typeOf(m); t != nil {
		d.stack = append(d.stack, Rows{})
		d.open(t.info.Load(), block, &d.stack[len(d.stack)-1])
		t.methods.Load().get(d, &d.stack[len(d.stack)-1], m)
		d.stack = d.stack[:len(d.stack)-1]
	} else {
		d.reflected(block, []proto.Message{m})
	}
	d.depth--
}

// reflected decodes a block by reflection.
func (d *Decoder) reflected(block []byte, ms []proto.Message) {
	lm, err := layout.Of(ms[0].ProtoReflect().Descriptor())
	if err == nil {
		var b reflectBlock
		if b, err = openBlock(lm, block); err == nil {
			i := 0
			err = b.each(func(row []byte, start, end uint32) error {
				i++
				return d.message(ms[i-1].ProtoReflect(), b.plan, row, b.tail, start, end, d.depth)
			})
		}
	}
	if err != nil {
		panic(err)
	}
}

// Foreign decodes a present list of messages of another package.
func Foreign[T any, M interface {
	*T
	proto.Message
}](d *Decoder, r Row, s *Slot) []M {
	block := r.Bytes(s)
	n, _ := layout.Uvarint(block)
	d.take(int(n) * (8 + mem.SizeOf[T]()))
	xs := make([]M, n)
	ms := make([]proto.Message, n)
	for i := range xs {
		xs[i] = M(new(T))
		ms[i] = xs[i]
	}
	d.depth++
	if t := typeOf(ms[0]); t != nil {
		var b Rows
		d.open(t.info.Load(), block, &b)
		for i := range xs {
			d.stack = append(d.stack, b.slice(i))
			t.methods.Load().get(d, &d.stack[len(d.stack)-1], ms[i])
			d.stack = d.stack[:len(d.stack)-1]
		}
	} else {
		d.reflected(block, ms)
	}
	d.depth--
	return xs
}

// ForeignOne decodes a present message of another package.
func ForeignOne[T any, M interface {
	*T
	proto.Message
}](d *Decoder, r Row, s *Slot) M {
	m := M(new(T))
	d.take(mem.SizeOf[T]())
	d.Message(r, s, m)
	return m
}

// UnpackNew decodes an inline message of another package.
func UnpackNew[T any, M interface {
	*T
	proto.Message
}](d *Decoder, p Packed, size uint) M {
	m := M(new(T))
	d.take(mem.SizeOf[T]())
	d.Unpack(p, m, size)
	return m
}

// slice is row i as a block of its own.
func (b *Rows) slice(i int) Rows {
	one := *b
	one.N = 1
	one.base = b.base + i
	return one
}

// Unpack is an inline message in a row.
func (r Row) Unpack(s *Slot) Packed { return Packed{r.p.Add(uint(s.Off))} }

// Unpack decodes an inline message of another package into m, which is empty.
func (d *Decoder) Unpack(p Packed, m proto.Message, size uint) {
	if t := typeOf(m); t != nil {
		if f := t.methods.Load().unpack; f != nil {
			f(d, p, m)
			return
		}
	}
	lm, err := layout.Of(m.ProtoReflect().Descriptor())
	if err == nil {
		err = d.unpack(m.ProtoReflect(), lm, p.p.Bytes(0, size))
	}
	if err != nil {
		panic(err)
	}
}

// Kept gives the fields of another version of row i as unknown fields. It reports
// false where the row has a residue too, for Merge to do both.
func (d *Decoder) Kept(b *Rows, i int, unknown *[]byte) bool {
	if b.plan.Residue >= 0 {
		return false
	}
	if d.DiscardUnknown {
		return true
	}
	if b.plan.Carry != nil && d.carry(b, i, unknown) {
		return true
	}
	row, tail, start, end := b.raw(i)
	n := keptSize(b.plan, row, start, end)
	if n == 0 {
		return true
	}
	if n > len(d.data.all)-d.data.at {
		d.data.grow(d, n)
	}
	at := d.data.at
	out := appendKept(d.data.all[at:at:at+n], b.plan, row, tail, start, end)
	d.data.at += len(out)
	*unknown = out
	return true
}

// carry is Kept for rows that have all fields of another version, if none is variable.
func (d *Decoder) carry(b *Rows, i int, unknown *[]byte) bool {
	c := b.plan.Carry
	row := b.Row(i).p
	bits := uint64(row.U8(0))
	for k := uint(1); k < uint(b.plan.Rows.BitBytes); k++ {
		bits |= uint64(row.U8(k)) << (8 * k)
	}
	if bits&c.Mask != c.Mask {
		return bits&c.Mask == 0
	}
	n := len(c.Bytes)
	if n > len(d.data.all)-d.data.at {
		d.data.grow(d, n)
	}
	out := d.data.all[d.data.at : d.data.at+n : d.data.at+n]
	d.data.at += n
	copy(out, c.Bytes)
	for k := range c.Slots {
		switch s := &c.Slots[k]; s.Size {
		case 8:
			le.PutUint64(out[s.To:], row.U64(uint(s.From)))
		case 4:
			le.PutUint32(out[s.To:], row.U32(uint(s.From)))
		default:
			copy(out[s.To:], row.Bytes(uint(s.From), uint(s.Size)))
		}
	}
	for _, v := range c.Values {
		if bits>>v.From&1 != 0 {
			setBit(out, v.To)
		}
	}
	*unknown = out
	return true
}

// Merge merges the residue and the fields of another version of row i into m.
func (d *Decoder) Merge(b *Rows, i int, m proto.Message) {
	row, tail, start, end := b.raw(i)
	var residue []byte
	var foreign kept
	for _, f := range presentIn(b.plan, row, tail, start, end) {
		switch {
		case f.number == layout.ResidueNumber:
			residue = f.value
		case b.plan.Msg.FieldByNumber(f.number) == nil && !d.DiscardUnknown && !b.plan.Msg.Entry:
			foreign = append(foreign, f)
		}
	}
	if len(residue) == 0 && len(foreign) == 0 {
		return
	}
	if err := d.merge(m.ProtoReflect(), b.plan, row, residue, foreign, d.depth); err != nil {
		panic(err)
	}
}

// raw is row i as slices.
func (b *Rows) raw(i int) (row, tail []byte, start, end uint32) {
	r := b.Row(i)
	n := uint(b.plan.Rows.Fixed(1))
	return r.p.Bytes(0, n), b.tail.Bytes(0, uint(b.size)), uint32(r.span), uint32(r.span >> 32)
}

// keptSize is at least the number of bytes of a row's fields of another version as an
// unknown field; 0 if none is present.
func keptSize(p *layout.Plan, row []byte, start, end uint32) int {
	for _, j := range p.Unknown {
		if has(row, p.Rows.Fields[j].Bit) {
			return 2*protowire.SizeTag(layout.KeptNumber) + p.Kept.Head() + int(end-start) + 5
		}
	}
	return 0
}

// appendKept appends a row's fields of another version as one unknown field 19001.
func appendKept(dst []byte, p *layout.Plan, row, tail []byte, start, end uint32) []byte {
	var k kept
	for _, f := range presentIn(p, row, tail, start, end) {
		if p.Msg.FieldByNumber(f.number) == nil {
			k = append(k, f)
		}
	}
	return k.appendTo(dst)
}

// presentIn cuts the present fields out of a row of a block.
func presentIn(p *layout.Plan, row, tail []byte, start, end uint32) kept {
	k := make(kept, 0, len(p.Rows.Fields))
	for j := range p.Rows.Fields {
		f := &p.Rows.Fields[j]
		var value []byte
		if f.Variable() {
			stop := end
			if f.Off+4 != p.Rows.Stride {
				stop = le.Uint32(row[f.Off:])
			}
			value, start = tail[start:stop], stop
		}
		if has(row, f.Bit) {
			k = append(k, fieldValue(f, row, value))
		}
	}
	return k
}
