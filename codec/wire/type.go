package wire

import (
	"math"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/crc32c"
)

// Generated code says which runtimes it can be compiled with: the version of the
// runtime that it was generated for must be between these two.
const (
	// Version is the version of this runtime, raised whenever generated code may need more.
	Version = 1
	// MinVersion is the oldest generated code that this runtime serves.
	MinVersion = 1
)

// EnforceVersion makes generated code and a runtime that do not fit a compile-time
// error: a negative constant overflows it.
type EnforceVersion uint

// Generated is what a message type with generated methods implements. The method's
// name begins with a Greek capital gamma, which no name in a .proto file can hold, so no
// field, oneof or message clashes with it.
type Generated interface {
	proto.Message
	Γraven() *Type
}

//go:generate go run github.com/graven-rpc/graven/protoc-gen-graven/internal/known known.go

// typeOf gives the functions for a message: those of its generated methods, or
// ours for a well-known type; nil if there are none.
func typeOf(m proto.Message) *Type {
	if g, ok := m.(Generated); ok {
		return g.Γraven()
	}
	return known(m)
}

// Type is what generated code keeps for a message type. The rest is made on first use.
type Type struct {
	info    atomic.Pointer[Info]
	methods atomic.Pointer[methods]

	// Shape is the CRC32C of the full shape that the code was generated for, 0 for any.
	Shape uint32
	// Make and Clear are Values and Clear of the Go type.
	Make  func(n int) mem.Values
	Clear func(m proto.Message) bool
}

// Clear empties m, which is a *T, and reports whether it can: false if it is nil. Unlike the
// Reset of generated messages it does not store the message's type in it, which costs as much as
// decoding a few fields; ProtoReflect does that when it is needed.
func Clear[T any](m proto.Message) bool {
	x := any(m).(*T)
	if x == nil {
		return false
	}
	if !mem.Blank(x) {
		*x = *new(T)
	}
	return true
}

// methods are a type's generated functions behind proto.Message and any, for callers
// that do not know the Go type.
type methods struct {
	own     func(m proto.Message) bool // m is of the type itself, and not something that embeds it
	put     Put1
	putList func(e *Encoder, tail uint, list any) uint // a *[]P
	get     Get1
	pack    func(e *Encoder, at uint, m proto.Message)
	unpack  func(d *Decoder, p Packed, m proto.Message)
}

// Put writes a block of the messages xs at tail and returns where it ends; with a
// count in front unless it is a root.
type Put[P any] func(e *Encoder, tail uint, xs []P, root bool) uint

// Put1 writes one message, Get1 sets one, whose type the caller does not know.
type (
	Put1 func(e *Encoder, tail uint, m proto.Message, root bool) uint
	Get1 func(d *Decoder, b *Rows, m proto.Message)
)

// Bind ties generated functions to a type, once.
func Bind[P proto.Message](t *Type, put Put[P], put1 Put1, get1 Get1) *Type {
	if t.methods.Load() == nil {
		t.bound(*new(P), bind(put, put1, get1))
	}
	return t
}

// bound stores the functions of a type, whose layout is there by then; m is a nil pointer of it.
func (t *Type) bound(m proto.Message, f *methods) {
	t.Of(m)
	t.methods.Store(f)
}

//go:noinline
func bind[P proto.Message](put Put[P], put1 Put1, get1 Get1) *methods {
	return &methods{
		own: func(m proto.Message) bool {
			_, ok := m.(P)
			return ok
		},
		put: put1,
		putList: func(e *Encoder, tail uint, list any) uint {
			return put(e, tail, *list.(*[]P), false)
		},
		get: get1,
	}
}

// BindInline is Bind for an inline message, which can also be packed into a row.
func BindInline[P proto.Message](t *Type, put Put[P], put1 Put1, get1 Get1, pack func(*Encoder, uint, P), unpack func(*Decoder, Packed, P) P) *Type {
	if t.methods.Load() == nil {
		f := bind(put, put1, get1)
		f.pack = func(e *Encoder, at uint, m proto.Message) { pack(e, at, m.(P)) }
		f.unpack = func(d *Decoder, p Packed, m proto.Message) { unpack(d, p, m.(P)) }
		t.bound(*new(P), f)
	}
	return t
}

// Of gives the type's layout at run time; m is a nil pointer of the type.
func (t *Type) Of(m proto.Message) *Info {
	if i := t.info.Load(); i != nil {
		return i
	}
	return t.make(m.ProtoReflect().Descriptor())
}

//go:noinline
func (t *Type) make(md protoreflect.MessageDescriptor) *Info {
	i, err := newInfo(md)
	if err != nil {
		panic(err) // the generator refuses such a schema
	}
	if t.Shape != 0 && t.Shape != crc32c.Checksum(i.Layout.Full.Shape) {
		// Its slots and offsets would be those of other fields.
		panic("graven: " + string(md.FullName()) + ": the .graven.go file and the .pb.go file come from different versions of the schema: generate both again")
	}
	i.Key.Make = t.Make
	t.info.CompareAndSwap(nil, i)
	return t.info.Load()
}

// Info is the layout of a message type, prepared for the loops of generated code.
type Info struct {
	Layout    *layout.Message
	words     int                  // of 64 bits, that hold the bits of a full row
	presence  []uint64             // the presence bits among them
	Key       Key                  // of the slabs for its Go type
	needsInit bool                 // protobuf has required fields to check
	oneWord   bool                 // the full shape is one word
	full      *form                // of all fields
	fullHead  [2]int               // the measure of elision of a full row, without and with a residue
	residual  atomic.Pointer[form] // the full form with a residue
	forms     atomic.Pointer[[keptForms]atomic.Pointer[form]]
}

// keptForms is how many elided forms a type keeps, by hash of their fields.
const keptForms = 256

func newInfo(md protoreflect.MessageDescriptor) (*Info, error) {
	lm, err := layout.Of(md)
	if err != nil {
		return nil, err
	}
	i := &Info{Layout: lm, words: max(1, int(lm.Full.Bits+63)/64), needsInit: needsInit(lm)}
	i.presence = make([]uint64, i.words)
	for j := range lm.Full.Fields {
		b := lm.Full.Fields[j].Bit
		i.presence[b/64] |= 1 << (b % 64)
	}
	i.full = newForm(i, i.presence, false)
	i.oneWord = lm.Full.Shape[1]&0x80 == 0
	i.fullHead = [2]int{lm.Head(i.presence, false), lm.Head(i.presence, true)}
	return i, nil
}

// form is how an encoder writes the rows of one block: the shape that the rule of
// elision gives for a set of fields.
type form struct {
	key      []uint64 // presence bits, in the bits of a full row, of the fields that some row has
	key0     uint64   // the first word of key
	residue  bool
	full     bool // the rows have all bits of a full row, in place
	elided   bool // the rows have the fields of key alone
	shape    []byte
	stride   uint
	ends     bool
	bitBytes uint
	kind     int    // of blocks
	all      uint64 // bits of a row with all its fields, and all bools false, if they fit
	moves    []move
	offs     []uint32 // of each compiled field: slot or end, 0 if nowhere or if the end is the row's last
	resEnd   uint32   // of the residue, as in offs
	resBit   uint32
}

// move takes a run of bits of a full row to their place in an elided one.
type move struct {
	from, to, n uint32
}

func newForm(i *Info, key []uint64, residue bool) *form {
	lm := i.Layout
	has := func(j int) bool {
		b := lm.Full.Fields[j].Bit
		return key[b/64]>>(b%64)&1 != 0
	}
	rows := lm.Full
	if residue {
		rows = lm.Rows(nil, true)
	}
	f := &form{residue: residue}
	if used := lm.Rows(has, residue); len(used.Fields) < len(rows.Fields) && !lm.Entry && layout.Elide(rows, used) {
		rows, f.elided = used, true
	}
	f.full = rows == lm.Full
	f.shape, f.stride, f.ends, f.bitBytes = rows.Shape, uint(rows.Stride), rows.Ends > 0, uint(rows.BitBytes)
	f.offs = make([]uint32, len(lm.Fields))
	k := 0
	for j := range rows.Fields {
		rf := &rows.Fields[j]
		off := rf.Off
		if rf.Variable() && rf.Off+4 == rows.Stride {
			off = 0
		}
		if rf.Number == layout.ResidueNumber {
			f.resEnd, f.resBit = off, rf.Bit
			continue
		}
		for lm.Fields[k].Number != rf.Number {
			k++
		}
		if rf.Code != layout.Bool {
			f.offs[k] = off
		}
		n := uint32(1)
		if rf.Code == layout.Bool {
			n = 2
		}
		from := lm.Full.Fields[k].Bit
		if m := len(f.moves) - 1; m >= 0 && f.moves[m].from+f.moves[m].n == from && f.moves[m].to+f.moves[m].n == rf.Bit &&
			from/64 == f.moves[m].from/64 {
			f.moves[m].n += n
		} else {
			f.moves = append(f.moves, move{from, rf.Bit, n})
		}
	}
	if residue {
		f.kind |= residual
	}
	if f.ends {
		f.kind |= ends
	}
	if f.full && f.bitBytes == 1 {
		f.kind |= math.MinInt
	}
	f.setKey(append([]uint64(nil), key...))
	return f
}

// setKey sets the fields that some row has.
func (f *form) setKey(key []uint64) {
	f.key, f.key0 = key, key[0]
	if len(key) == 1 {
		f.all = f.squeeze1(key[0])
	}
}

// formFor finds the form for the union of the rows' bits: in one of two places of the table,
// by hash. There is no other order in which forms are kept, so a lookup writes nothing.
func (i *Info) formFor(bits []uint64, residue bool) *form {
	h := uint64(0)
	for w, b := range bits {
		h = (h ^ b&i.presence[w]) * golden
	}
	h >>= 64 - 8
	forms := i.forms.Load()
	if forms == nil {
		i.forms.CompareAndSwap(nil, new([keptForms]atomic.Pointer[form]))
		forms = i.forms.Load()
	}
	at := &forms[h]
	if f := at.Load(); f != nil {
		if f.is(i, bits, residue) {
			return f
		}
		other := &forms[h^1]
		if f := other.Load(); f == nil {
			at = other
		} else if f.is(i, bits, residue) {
			return f
		}
	}
	f := i.newForm(bits, residue)
	at.Store(f)
	return f
}

// golden is the multiplier of multiplicative hashing, as in Knuth, The Art of Computer
// Programming, volume 3, 6.4.
const golden = 0x9E3779B97F4A7C15

// newForm makes the form for rows with the fields of these bits. If they are not elided,
// it is the full form under their key.
func (i *Info) newForm(bits []uint64, residue bool) *form {
	key := make([]uint64, i.words)
	for w := range key {
		key[w] = bits[w] & i.presence[w]
	}
	if i.elides(key, residue) {
		return newForm(i, key, residue)
	}
	f := *i.fullForm(residue)
	f.setKey(key)
	return &f
}

// elides reports whether rows with the fields of these bits are written elided.
func (i *Info) elides(bits []uint64, residue bool) bool {
	full := i.fullHead[0]
	if residue {
		full = i.fullHead[1]
	}
	set := bits
	if i.Layout.Entry {
		return false
	}
	return layout.ElideHead(full, i.Layout.Head(set, residue))
}

// fullForm is the form of rows with all fields.
func (i *Info) fullForm(residue bool) *form {
	if !residue {
		return i.full
	}
	if f := i.residual.Load(); f != nil {
		return f
	}
	i.residual.CompareAndSwap(nil, newForm(i, i.presence, true))
	return i.residual.Load()
}

func (f *form) is(i *Info, bits []uint64, residue bool) bool {
	if f.residue != residue {
		return false
	}
	for w, k := range f.key {
		if bits[w]&i.presence[w] != k {
			return false
		}
	}
	return true
}

// form1 is formFor for rows of one word of bits.
func (i *Info) form1(b uint64, residue bool) *form {
	b &= i.presence[0]
	if b == i.presence[0] && !residue {
		return i.full
	}
	if forms := i.forms.Load(); forms != nil {
		h := b * golden >> (64 - 8)
		if f := forms[h].Load(); f != nil && f.key0 == b && f.residue == residue {
			return f
		}
		if f := forms[h^1].Load(); f != nil && f.key0 == b && f.residue == residue {
			return f
		}
	}
	set := [1]uint64{b}
	return i.formFor(set[:], residue)
}

// squeeze moves the bits of a full row to an elided one, written at row.
func (f *form) squeeze(out []byte, bits []uint64) {
	clear(out)
	for _, m := range f.moves {
		for n := uint32(0); n < m.n; n++ {
			b := m.from + n
			if bits[b/64]>>(b%64)&1 != 0 {
				setBit(out, m.to+n)
			}
		}
	}
}

// squeeze1 is squeeze where both rows have at most 64 bits.
func (f *form) squeeze1(b uint64) (out uint64) {
	for _, m := range f.moves {
		out |= b >> m.from & (1<<m.n - 1) << m.to
	}
	return out
}

// needsInit reports whether protobuf has required fields to look for, in what the type
// reaches or in extensions that it may hold.
func needsInit(lm *layout.Message) bool {
	seen := map[protoreflect.FullName]bool{}
	var walk func(md protoreflect.MessageDescriptor) bool
	walk = func(md protoreflect.MessageDescriptor) bool {
		if seen[md.FullName()] {
			return false
		}
		seen[md.FullName()] = true
		if md.RequiredNumbers().Len() > 0 || md.ExtensionRanges().Len() > 0 {
			return true
		}
		for i := 0; i < md.Fields().Len(); i++ {
			if c := md.Fields().Get(i).Message(); c != nil && walk(c) {
				return true
			}
		}
		return false
	}
	return walk(lm.Desc)
}
