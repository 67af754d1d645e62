package wire

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
)

// MaxMessage is the size of the largest message, in bytes.
const MaxMessage = math.MaxInt32

// EncodeOptions say how messages are encoded.
type EncodeOptions struct {
	DiscardUnknown bool // leave unknown fields out
	MaxDepth       int  // levels of messages
	MaxSize        int  // bytes of the message
}

// AppendReflect appends the root block of m, read by reflection.
func AppendReflect(dst []byte, lm *layout.Message, m protoreflect.Message, o EncodeOptions) ([]byte, error) {
	e := reflectEncoder{EncodeOptions: o, begin: len(dst)}
	out, err := e.block(dst, lm, []reflectRow{{msg: m}}, true, 1)
	if err != nil {
		return dst, err
	}
	return out, nil
}

type reflectEncoder struct {
	EncodeOptions
	begin int
}

// reflectRow is one row to write: a message, or an entry of a map.
type reflectRow struct {
	msg        protoreflect.Message
	residue    []byte
	key, value protoreflect.Value // of an entry of the map owner.field
	owner      protoreflect.Message
	field      protoreflect.FieldDescriptor
}

func (r *reflectRow) has(f *layout.Field) bool { return r.msg == nil || r.msg.Has(f.Desc) }

func (r *reflectRow) get(f *layout.Field) protoreflect.Value {
	switch {
	case r.msg != nil:
		return r.msg.Get(f.Desc)
	case f.Number == 1:
		return r.key
	}
	return r.value
}

// number gives the bits of a singular number.
func (r *reflectRow) number(f *layout.Field, v protoreflect.Value) uint64 {
	switch {
	case f.Kind != protoreflect.FloatKind:
		return numberBits(f.Kind, v)
	case r.msg == nil:
		return uint64(mapFloatBits(r.owner, r.field, r.key, v))
	}
	return uint64(floatBits(r.msg, f.Desc, 0, v))
}

// block appends a block of the given rows.
func (e *reflectEncoder) block(dst []byte, m *layout.Message, rows []reflectRow, root bool, depth int) ([]byte, error) {
	if depth > e.MaxDepth {
		return dst, fault.Of(fault.TooDeep, m.Name(), "")
	}
	if int64(len(rows)) > MaxMessage {
		return dst, e.tooLarge()
	}
	residue := false
	if !m.Entry {
		for i := range rows {
			var err error
			if rows[i].residue, err = e.residue(m, rows[i].msg); err != nil {
				return dst, err
			}
			residue = residue || len(rows[i].residue) > 0
		}
	}
	r := e.shape(m, rows, residue)
	if !root {
		dst = binary.AppendUvarint(dst, uint64(len(rows)))
	}
	dst = append(dst, r.Shape...)
	fixed := r.Fixed(uint64(len(rows)))
	if fixed > uint64(e.MaxSize) {
		return dst, e.tooLarge()
	}
	row := len(dst)
	dst = append(dst, make([]byte, fixed)...)
	tail := len(dst)
	p, err := m.PlanOf(r)
	if err != nil {
		return dst, err
	}
	for i := range rows {
		for j := range r.Fields {
			rf := &r.Fields[j]
			before := len(dst)
			if k := p.Fields[j]; k < 0 {
				if len(rows[i].residue) > 0 {
					setBit(dst[row:], rf.Bit)
					dst = append(dst, rows[i].residue...)
				}
			} else if f := &m.Fields[k]; rows[i].has(f) {
				setBit(dst[row:], rf.Bit)
				if dst, err = e.field(dst, row, rf, f, &rows[i], depth); err != nil {
					return dst, err
				}
			}
			if len(dst) != before && len(dst)-e.begin > e.MaxSize {
				return dst, e.tooLarge()
			}
			if rf.Variable() && (i < len(rows)-1 || rf.Off+4 != r.Stride) {
				le.PutUint32(dst[row+int(rf.Off):], uint32(len(dst)-tail))
			}
		}
		row += int(r.Stride)
	}
	if len(dst)-e.begin > e.MaxSize {
		return dst, e.tooLarge()
	}
	return dst, nil
}

func (e *reflectEncoder) tooLarge() error {
	return fault.Newf(fault.TooLarge, "a message of more than %d bytes", e.MaxSize)
}

// shape chooses the rows of a block: those of all fields, or by the rule of elision
// of those that at least one row has.
func (e *reflectEncoder) shape(m *layout.Message, rows []reflectRow, residue bool) *layout.Rows {
	full := m.Full
	if residue {
		full = m.Rows(nil, true)
	}
	if m.Entry {
		return full
	}
	used := m.Rows(func(i int) bool {
		for j := range rows {
			if rows[j].has(&m.Fields[i]) {
				return true
			}
		}
		return false
	}, residue)
	if len(used.Fields) < len(full.Fields) && layout.Elide(full, used) {
		return used
	}
	return full
}

// field writes a present field: its slot or value bit at row, or its value to the tail.
func (e *reflectEncoder) field(dst []byte, row int, rf *layout.RowField, f *layout.Field, r *reflectRow, depth int) ([]byte, error) {
	v := r.get(f)
	switch {
	case f.Desc.IsMap():
		return e.mapField(dst, f, r.msg, v.Map(), depth)
	case f.Desc.IsList():
		return e.list(dst, f, r.msg, v.List(), depth)
	case f.Inline:
		return dst, e.pack(dst[row+int(rf.Off):], f.Child, v.Message())
	case f.Child != nil:
		return e.block(dst, f.Child, []reflectRow{{msg: v.Message()}}, false, depth+1)
	case f.Code == layout.Bool:
		if v.Bool() {
			setBit(dst[row:], rf.Bit+1)
		}
		return dst, nil
	case f.Code == layout.Blob:
		return appendBlob(dst, f, v)
	}
	return dst, putNumber(dst[row+int(rf.Off):], f.Desc, f.Width, f.Size(), r.number(f, v))
}

func appendBlob(dst []byte, f *layout.Field, v protoreflect.Value) ([]byte, error) {
	if f.Kind == protoreflect.BytesKind {
		return append(dst, v.Bytes()...), nil
	}
	s := v.String()
	if f.UTF8 && !utf8.ValidString(s) {
		return dst, fault.Of(fault.UTF8, f.Desc.FullName(), "")
	}
	return append(dst, s...), nil
}

// putNumber writes a number, a bool or an enum, given as its bits, to the start of dst.
func putNumber(dst []byte, fd protoreflect.FieldDescriptor, width, size int, x uint64) error {
	if width != 0 && !layout.Fits(fd.Kind(), x, width) {
		return outOfRange(fd, x, width)
	}
	storeNumber(dst, size, x)
	return nil
}

func outOfRange(fd protoreflect.FieldDescriptor, x uint64, width int) error {
	if layout.Signed(fd.Kind()) {
		if layout.KindSize(fd.Kind()) == 4 {
			x = uint64(int32(uint32(x)))
		}
		return &fault.Error{Kind: fault.Range, Offset: -1, Field: fd.FullName(), Detail: fmtRange(int64(x), width)}
	}
	return &fault.Error{Kind: fault.Range, Offset: -1, Field: fd.FullName(), Detail: fmtRange(x, width)}
}

func (e *reflectEncoder) list(dst []byte, f *layout.Field, m protoreflect.Message, l protoreflect.List, depth int) ([]byte, error) {
	n := l.Len()
	switch {
	case f.Code == layout.Block:
		rows := make([]reflectRow, n)
		for i := range rows {
			rows[i].msg = l.Get(i).Message()
		}
		return e.block(dst, f.Child, rows, false, depth+1)
	case f.E == 0:
		dst = binary.AppendUvarint(dst, uint64(n))
		ends := len(dst)
		dst = append(dst, make([]byte, 4*(n-1))...)
		data := len(dst)
		for i := range n {
			var err error
			if dst, err = appendBlob(dst, f, l.Get(i)); err != nil {
				return dst, err
			}
			if len(dst)-e.begin > e.MaxSize {
				return dst, e.tooLarge()
			}
			if i < n-1 {
				le.PutUint32(dst[ends+4*i:], uint32(len(dst)-data))
			}
		}
		return dst, nil
	}
	size := int(f.E)
	if int64(n)*int64(size) > int64(e.MaxSize) {
		return dst, e.tooLarge()
	}
	at := len(dst)
	dst = append(dst, make([]byte, n*size)...)
	for i := range n {
		var err error
		if f.Inline {
			err = e.pack(dst[at:], f.Child, l.Get(i).Message())
		} else {
			x := uint64(0)
			if f.Kind == protoreflect.FloatKind {
				x = uint64(floatBits(m, f.Desc, i, l.Get(i)))
			} else {
				x = numberBits(f.Kind, l.Get(i))
			}
			err = putNumber(dst[at:], f.Desc, f.Width, size, x)
		}
		if err != nil {
			return dst, err
		}
		at += size
	}
	return dst, nil
}

func (e *reflectEncoder) mapField(dst []byte, f *layout.Field, owner protoreflect.Message, m protoreflect.Map, depth int) ([]byte, error) {
	rows := make([]reflectRow, 0, m.Len())
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		rows = append(rows, reflectRow{key: k.Value(), value: v, owner: owner, field: f.Desc})
		return true
	})
	key := &f.Child.Fields[0]
	if key.Kind == protoreflect.StringKind {
		slices.SortFunc(rows, func(x, y reflectRow) int { return cmp.Compare(x.key.String(), y.key.String()) })
	} else {
		slices.SortFunc(rows, func(x, y reflectRow) int {
			return cmp.Compare(numberBits(key.Kind, x.key), numberBits(key.Kind, y.key))
		})
	}
	return e.block(dst, f.Child, rows, false, depth+1)
}

// pack writes an inline message to the start of dst, which is zero.
func (e *reflectEncoder) pack(dst []byte, m *layout.Message, msg protoreflect.Message) error {
	if len(msg.GetUnknown()) > 0 && !e.DiscardUnknown {
		return fault.Of(fault.Unstorable, m.Name(), "unknown fields of an inline message")
	}
	for i := range m.Packed {
		p := &m.Packed[i]
		if !msg.Has(p.Desc) {
			continue
		}
		var err error
		if p.Child != nil {
			err = e.pack(dst[p.Off:], p.Child, msg.Get(p.Desc).Message())
		} else {
			v, x := msg.Get(p.Desc), uint64(0)
			if p.Kind == protoreflect.FloatKind {
				x = uint64(floatBits(msg, p.Desc, 0, v))
			} else {
				x = numberBits(p.Kind, v)
			}
			err = putNumber(dst[p.Off:], p.Desc, p.Width, p.Size, x)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// residue gives the extensions and unknown fields of a message as protobuf bytes.
func (e *reflectEncoder) residue(lm *layout.Message, m protoreflect.Message) ([]byte, error) {
	if isMessageSet(lm.Desc) {
		return e.messageSet(lm, m)
	}
	var ext []byte
	if lm.Desc.ExtensionRanges().Len() > 0 {
		var err error
		if ext, err = extensionBytes(m); err != nil {
			return nil, &fault.Error{Kind: fault.Residue, Offset: -1, Field: lm.Name(), Detail: "extensions", Err: err}
		}
	}
	unknown := m.GetUnknown()
	if e.DiscardUnknown || len(unknown) == 0 {
		return ext, nil
	}
	unknown, err := joinUnknown(lm, unknown)
	if err != nil {
		return nil, named(err, lm.Name())
	}
	if len(ext) == 0 {
		return unknown, nil
	}
	return append(ext, unknown...), nil
}

// messageSet gives the items of a message set. Its unknown fields stand for items too,
// so protobuf itself has to write them.
func (e *reflectEncoder) messageSet(lm *layout.Message, m protoreflect.Message) ([]byte, error) {
	if e.DiscardUnknown && len(m.GetUnknown()) > 0 {
		return extensionBytes(m)
	}
	b, err := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m.Interface())
	if err != nil {
		return nil, &fault.Error{Kind: fault.Residue, Offset: -1, Field: lm.Name(), Detail: "message set", Err: err}
	}
	return b, nil
}

// named adds the message type to an error that names nothing.
func named(err error, name protoreflect.FullName) error {
	if f, ok := err.(*fault.Error); ok && f.Field == "" {
		c := *f
		c.Field = name
		return &c
	}
	return err
}

// extensionBytes gives the extensions of a message as deterministic protobuf.
func extensionBytes(m protoreflect.Message) ([]byte, error) {
	var only protoreflect.Message
	exact := true
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.IsExtension() {
			if only == nil {
				only = m.Type().New()
			}
			only.Set(fd, v)
			if fd.Kind() == protoreflect.FloatKind && !fd.IsList() && math.IsNaN(v.Float()) {
				exact = false
			}
		}
		return true
	})
	o := proto.MarshalOptions{AllowPartial: true, Deterministic: true}
	switch {
	case only == nil:
		return nil, nil
	case exact:
		return o.Marshal(only.Interface())
	}
	// A NaN loses bits in Set: cut the extensions out of the whole message.
	all, err := o.Marshal(m.Interface())
	if err != nil {
		return nil, err
	}
	all = all[:len(all)-len(m.GetUnknown())]
	var ext []byte
	begin := 0
	err = eachField(all, func(num protowire.Number, _ protowire.Type, val []byte, pos int) error {
		if m.Descriptor().ExtensionRanges().Has(num) {
			ext = append(ext, all[begin:pos+len(val)]...)
		}
		begin = pos + len(val)
		return nil
	})
	return ext, err
}
