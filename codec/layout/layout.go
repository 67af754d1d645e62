// Package layout is the heart of Graven: it turns a protobuf message descriptor
// into rows, bits, slots, ends, shapes, plans, schema text and schema id. It is the
// only place that knows the format's rules; everything else asks it.
package layout

import (
	"math/bits"
	"slices"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
)

// Message is the layout of one message type. It is immutable and may be used by
// any number of goroutines.
type Message struct {
	Desc   protoreflect.MessageDescriptor
	Fields []Field // without extensions, in order of number
	Full   *Rows   // rows with all Fields
	Entry  bool    // entry of a map
	Inline bool    // a value type; Packed and Size are set

	Packed []Packed // fields inside the parent's row, in order of number
	Size   int      // bytes inside the parent's row, 1 to 255
	Bools  []uint8  // offsets of the bool bytes in Size, nested ones too

	id     func() (uint64, string) // schema id and text, made on first use
	shapes planCache
}

// Field is one field of a message type.
type Field struct {
	Desc   protoreflect.FieldDescriptor
	Number int32
	Kind   protoreflect.Kind
	Storage
	Width    int      // bits of a narrow integer, 0 if it is not narrow
	Child    *Message // of messages, groups, maps (the entry) and inline messages
	Inline   bool     // the child is stored inline
	UTF8     bool     // a string that has to be UTF-8
	Presence bool     // explicit presence
	Oneof    int      // index of the containing oneof, synthetic ones aside; -1 if none
}

// Packed is one field of an inline message.
type Packed struct {
	Desc  protoreflect.FieldDescriptor
	Kind  protoreflect.Kind
	Width int // bits of a narrow integer, 0 if it is not narrow
	Off   int // offset in the inline message
	Size  int // bytes
	Child *Message
}

// Name is the full name of the message type.
func (m *Message) Name() protoreflect.FullName { return m.Desc.FullName() }

// ID is the schema id: CRC32C of the full name above CRC32C of the schema text.
func (m *Message) ID() uint64 { id, _ := m.id(); return id }

// Text is the schema text whose checksum is in the id.
func (m *Message) Text() string { _, t := m.id(); return t }

// FieldByNumber finds a field, nil if the type has none of that number.
func (m *Message) FieldByNumber(n int32) *Field {
	i, ok := slices.BinarySearchFunc(m.Fields, n, func(f Field, n int32) int { return int(f.Number - n) })
	if !ok {
		return nil
	}
	return &m.Fields[i]
}

// Signed reports whether numbers of the kind are widened with their sign.
func Signed(k protoreflect.Kind) bool {
	switch k {
	case protoreflect.Int32Kind, protoreflect.Int64Kind, protoreflect.Sint32Kind, protoreflect.Sint64Kind,
		protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind, protoreflect.EnumKind:
		return true
	}
	return false
}

// Float reports whether the kind is a float or a double.
func Float(k protoreflect.Kind) bool {
	return k == protoreflect.FloatKind || k == protoreflect.DoubleKind
}

// KindSize is the number of bytes of a number of the kind that is not narrow: 1, 4 or
// 8; 0 for strings, bytes and messages.
func KindSize(k protoreflect.Kind) int {
	switch k {
	case protoreflect.BoolKind:
		return 1
	case protoreflect.EnumKind, protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Uint32Kind,
		protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return 4
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Uint64Kind,
		protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return 8
	}
	return 0
}

// cached bounds what Of remembers: layouts of types that are made at run time
// (dynamic messages) must not pile up. Past the bound all are forgotten.
const cached = 8192

var cache struct {
	sync.RWMutex
	m map[protoreflect.MessageDescriptor]*Message
}

func lookup(md protoreflect.MessageDescriptor) *Message {
	cache.RLock()
	defer cache.RUnlock()
	return cache.m[md]
}

// Of gives the layout of a message type. The error (kind BadSchema) names the
// field whose graven options break the format's rules; it is also given where
// a message type that the root reaches breaks them.
func Of(md protoreflect.MessageDescriptor) (*Message, error) {
	if m := lookup(md); m != nil {
		return m, nil
	}
	b := builder{made: map[protoreflect.MessageDescriptor]*Message{}}
	if _, err := b.message(md); err != nil {
		return nil, err
	}
	cache.Lock()
	defer cache.Unlock()
	if cache.m == nil || len(cache.m)+len(b.made) > cached {
		cache.m = make(map[protoreflect.MessageDescriptor]*Message, len(b.made))
	}
	for md, m := range b.made {
		if known := cache.m[md]; known == nil {
			cache.m[md] = m
		}
	}
	return cache.m[md], nil
}

// builder lays out all message types that one reaches.
type builder struct {
	made map[protoreflect.MessageDescriptor]*Message
}

func (b *builder) message(md protoreflect.MessageDescriptor) (*Message, error) {
	if m := b.made[md]; m != nil {
		return m, nil
	}
	if m := lookup(md); m != nil {
		return m, nil
	}
	m := &Message{Desc: md, Entry: md.IsMapEntry()}
	m.id = sync.OnceValues(m.makeID)
	b.made[md] = m
	inline, err := inlineOption(md)
	if err != nil {
		return nil, err
	}
	if inline {
		if err := b.pack(m); err != nil {
			return nil, err
		}
	}
	fds := md.Fields()
	m.Fields = make([]Field, 0, fds.Len())
	for i := 0; i < fds.Len(); i++ {
		f, err := b.field(fds.Get(i))
		if err != nil {
			return nil, err
		}
		m.Fields = append(m.Fields, f)
	}
	slices.SortFunc(m.Fields, func(x, y Field) int { return int(x.Number - y.Number) })
	m.Full = m.Rows(nil, false)
	return m, nil
}

// Rows lays out the rows that have the fields for which has is true (nil: all),
// and the residue's field if residue is set.
func (m *Message) Rows(has func(i int) bool, residue bool) *Rows {
	fields := make([]RowField, 0, len(m.Fields)+1)
	for i := range m.Fields {
		f := &m.Fields[i]
		if residue && f.Number > ResidueNumber {
			fields = append(fields, RowField{Number: ResidueNumber, Storage: Storage{Code: Blob}})
			residue = false
		}
		if has == nil || has(i) {
			fields = append(fields, RowField{Number: f.Number, Storage: f.Storage})
		}
	}
	if residue {
		fields = append(fields, RowField{Number: ResidueNumber, Storage: Storage{Code: Blob}})
	}
	return NewRows(fields)
}

// Head is the measure of elision for rows of a set of fields, without laying them out: the
// bytes of their shape and of one row. The set is given as the presence bits of a full row.
func (m *Message) Head(set []uint64, residue bool) int {
	shape, bits, row, word := 0, 0, 0, -1
	add := func(number int32, s Storage) {
		if w := int(number-1) / wordFields; w != word {
			if run := w - word - 1; run > 0 {
				shape += 2 + uvarintLen(uint32(run))
			}
			shape += 2
			word = w
		}
		bits++
		switch {
		case s.Code == Bool:
			bits++
		case s.Variable():
			row += 4
		default:
			row += s.Size()
		}
		if s.Code == Ext {
			shape++
			if s.K == 0 {
				shape++
			}
		}
	}
	for i := range m.Full.Fields {
		f := &m.Full.Fields[i]
		if residue && f.Number > ResidueNumber {
			add(ResidueNumber, Storage{Code: Blob})
			residue = false
		}
		if set[f.Bit/64]>>(f.Bit%64)&1 != 0 {
			add(f.Number, f.Storage)
		}
	}
	if residue {
		add(ResidueNumber, Storage{Code: Blob})
	}
	return max(2, shape) + max(1, (bits+7)/8) + row
}

func uvarintLen(n uint32) int { return (bits.Len32(n|1) + 6) / 7 }

// Elide is the rule of elision: whether a block is written with the used fields
// only, given the rows of all fields and those of the used ones. Blocks of map
// entries never are; the caller knows.
func Elide(full, used *Rows) bool { return ElideHead(full.Head(), used.Head()) }

// ElideHead is Elide given the measures.
func ElideHead(full, used int) bool { return full > 8 && 4*used <= 3*full }

func (b *builder) field(fd protoreflect.FieldDescriptor) (Field, error) {
	f := Field{
		Desc:     fd,
		Number:   int32(fd.Number()),
		Kind:     fd.Kind(),
		Presence: fd.HasPresence(),
		Oneof:    -1,
	}
	if od := fd.ContainingOneof(); od != nil && !od.IsSynthetic() {
		f.Oneof = od.Index()
	}
	var err error
	if f.Width, err = widthOption(fd); err != nil {
		return f, err
	}
	switch f.Kind {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if f.Child, err = b.message(fd.Message()); err != nil {
			return f, err
		}
		f.Inline = f.Child.Size > 0
		switch {
		case !f.Inline:
			f.Storage = Storage{Code: Block}
		case fd.IsList():
			f.Storage = Storage{Code: Ext, E: uint8(f.Child.Size)}
		default:
			f.Storage = Storage{Code: Ext, K: uint8(f.Child.Size)}
		}
		return f, nil
	case protoreflect.StringKind, protoreflect.BytesKind:
		f.UTF8 = f.Kind == protoreflect.StringKind && enforceUTF8(fd)
		f.Storage = Storage{Code: Blob}
		if fd.IsList() {
			f.Storage = Storage{Code: Ext}
		}
		return f, nil
	}
	size := KindSize(f.Kind)
	if f.Width != 0 {
		size = f.Width / 8
	}
	switch {
	case fd.IsList():
		f.Storage = Storage{Code: Ext, E: uint8(size)}
	case f.Kind == protoreflect.BoolKind:
		f.Storage = Storage{Code: Bool}
	default:
		f.Storage = map[int]Storage{1: {Code: Byte}, 2: {Code: Ext, K: 2}, 4: {Code: Word}, 8: {Code: Long}}[size]
	}
	return f, nil
}

// pack lays out an inline message inside its parent's row.
func (b *builder) pack(m *Message) error {
	m.Inline = true
	bad := func(name protoreflect.FullName, why string) error {
		return fault.Of(fault.BadSchema, name, "(graven.message).inline: "+why)
	}
	if m.Desc.ExtensionRanges().Len() > 0 {
		return bad(m.Name(), "an inline message can't be extended")
	}
	fds := m.Desc.Fields()
	var all []protoreflect.FieldDescriptor
	for i := 0; i < fds.Len(); i++ {
		all = append(all, fds.Get(i))
	}
	slices.SortFunc(all, func(x, y protoreflect.FieldDescriptor) int { return int(x.Number() - y.Number()) })
	var packed []Packed
	var bools []uint8
	off := 0
	for _, fd := range all {
		p := Packed{Desc: fd, Kind: fd.Kind(), Off: off}
		name := fd.FullName()
		if fd.Cardinality() == protoreflect.Repeated {
			return bad(name, "a field of an inline message must be singular")
		}
		if fd.ContainingOneof() != nil {
			return bad(name, "a field of an inline message can't be optional or in a oneof")
		}
		switch p.Kind {
		case protoreflect.StringKind, protoreflect.BytesKind:
			return bad(name, "a field of an inline message can't be a string or bytes")
		case protoreflect.MessageKind, protoreflect.GroupKind:
			child, err := b.message(fd.Message())
			switch {
			case err != nil:
				return err
			case !child.Inline:
				return bad(name, "a message in an inline message must be inline itself")
			case child.Size == 0: // being packed: it is m or holds m
				return bad(name, "an inline message can't hold itself")
			}
			p.Child, p.Size = child, child.Size
			for _, o := range child.Bools {
				bools = append(bools, uint8(off)+o)
			}
		default:
			if fd.HasPresence() {
				return bad(name, "a field of an inline message can't have presence of its own (optional, proto2, or features.field_presence = EXPLICIT)")
			}
			width, err := widthOption(fd)
			if err != nil {
				return err
			}
			p.Width, p.Size = width, KindSize(p.Kind)
			if width != 0 {
				p.Size = width / 8
			}
			if p.Kind == protoreflect.BoolKind {
				bools = append(bools, uint8(off))
			}
		}
		if off += p.Size; off > 255 {
			return bad(m.Name(), "an inline message takes at most 255 bytes")
		}
		packed = append(packed, p)
	}
	if off == 0 {
		return bad(m.Name(), "an inline message needs a field")
	}
	m.Packed, m.Bools, m.Size = packed, bools, off
	return nil
}

// The options are read from their bytes: descriptors that were parsed at run time
// hold them as dynamic messages, on which proto.GetExtension panics.
const optionNumber = 51320

func option(options proto.Message, field protowire.Number) (v uint64, err error) {
	if options == nil || !options.ProtoReflect().IsValid() {
		return 0, nil
	}
	raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(options)
	if err != nil {
		return 0, err
	}
	err = eachField(raw, func(num protowire.Number, typ protowire.Type, val []byte) error {
		if num != optionNumber || typ != protowire.BytesType {
			return nil
		}
		msg, _ := protowire.ConsumeBytes(val)
		return eachField(msg, func(num protowire.Number, typ protowire.Type, val []byte) error {
			if num == field && typ == protowire.VarintType {
				v, _ = protowire.ConsumeVarint(val)
			}
			return nil
		})
	})
	return v, err
}

// eachField calls f for each field of a protobuf message; val begins with the value.
func eachField(b []byte, f func(num protowire.Number, typ protowire.Type, val []byte) error) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			return protowire.ParseError(m)
		}
		if err := f(num, typ, b[n:n+m]); err != nil {
			return err
		}
		b = b[n+m:]
	}
	return nil
}

func inlineOption(md protoreflect.MessageDescriptor) (bool, error) {
	v, err := option(md.Options(), 1)
	if err != nil {
		return false, &fault.Error{Kind: fault.BadSchema, Offset: -1, Field: md.FullName(), Err: err}
	}
	return v != 0, nil
}

func widthOption(fd protoreflect.FieldDescriptor) (int, error) {
	v, err := option(fd.Options(), 1)
	if err != nil {
		return 0, &fault.Error{Kind: fault.BadSchema, Offset: -1, Field: fd.FullName(), Err: err}
	}
	if v == 0 {
		return 0, nil
	}
	bad := func(why string) (int, error) {
		return 0, fault.Of(fault.BadSchema, fd.FullName(), "(graven.field).width: "+why)
	}
	switch size := KindSize(fd.Kind()); {
	case fd.IsMap():
		return bad("a map can't be narrow")
	case fd.Kind() == protoreflect.BoolKind, Float(fd.Kind()), size == 0:
		return bad("only integers and enums can be narrow, not " + fd.Kind().String())
	case v != 8 && v != 16 && (v != 32 || size != 8):
		if size == 8 {
			return bad("a 64-bit kind takes 8, 16 or 32")
		}
		return bad("a 32-bit kind or enum takes 8 or 16")
	}
	return int(v), nil
}

// Error is the type of this package's errors.
type Error = fault.Error
