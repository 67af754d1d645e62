package wire

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
)

// Resolver finds the extensions of a residue.
type Resolver interface {
	FindExtensionByName(field protoreflect.FullName) (protoreflect.ExtensionType, error)
	FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error)
}

// DecodeOptions say how messages are decoded.
type DecodeOptions struct {
	DiscardUnknown bool // drop unknown fields, and fields of another version
	MaxDepth       int  // levels of messages
	Resolver       Resolver
	Budget         int64 // bytes that may be allocated
}

// DecodeReflect sets the fields of an empty message from a verified root block.
func DecodeReflect(m protoreflect.Message, lm *layout.Message, block []byte, o DecodeOptions) error {
	d := reflectDecoder{DecodeOptions: o, left: o.Budget}
	p, err := lm.PlanFor(block)
	if err != nil {
		return err
	}
	row := block[len(p.Rows.Shape):]
	tail := row[p.Rows.Fixed(1):]
	return d.message(m, p, row, tail, 0, uint32(len(tail)), 1)
}

type reflectDecoder struct {
	DecodeOptions
	left int64 // of the budget
}

// charge takes what is about to be allocated from the budget.
func (d *reflectDecoder) charge(n int64) error {
	if d.left -= n; d.left < 0 {
		return fault.Newf(fault.Budget, "decoding would allocate more than %d bytes", d.Budget)
	}
	return nil
}

// What reflection allocates, about: a dynamic message with its map of fields, an
// entry of a map, the interface value of a list's element.
const (
	dynamicSize = 256
	entrySize   = 64
	valueSize   = 24
)

// keptFieldSize is what keeping a field of another version takes beside its value.
const keptFieldSize = 64

// messageSize is the size of a message object in bytes.
func messageSize(m protoreflect.Message) int64 {
	if t := reflect.TypeOf(m.Interface()); t.Kind() == reflect.Pointer {
		return max(dynamicSize, int64(t.Elem().Size()))
	}
	return dynamicSize
}

// message sets the fields of m from a verified row. start and end are the row's part of the tail.
func (d *reflectDecoder) message(m protoreflect.Message, p *layout.Plan, row, tail []byte, start, end uint32, depth int) error {
	if err := d.charge(messageSize(m)); err != nil {
		return err
	}
	var residue []byte
	var foreign kept
	for j := range p.Rows.Fields {
		rf := &p.Rows.Fields[j]
		var value []byte
		if rf.Variable() {
			stop := end
			if rf.Off+4 != p.Rows.Stride {
				stop = le.Uint32(row[rf.Off:])
			}
			value, start = tail[start:stop], stop
		}
		if !has(row, rf.Bit) {
			continue
		}
		switch i := p.Fields[j]; {
		case i >= 0:
			if err := d.field(m, &p.Msg.Fields[i], fieldValue(rf, row, value), depth); err != nil {
				return err
			}
		case int32(j) == p.Residue:
			residue = value
		case !d.DiscardUnknown && !p.Msg.Entry:
			if foreign == nil {
				if err := d.charge(keptFieldSize * int64(len(p.Unknown))); err != nil {
					return err
				}
				foreign = make(kept, 0, len(p.Unknown))
			}
			foreign = append(foreign, fieldValue(rf, row, value))
		}
	}
	if len(residue) == 0 && len(foreign) == 0 {
		return nil
	}
	return d.merge(m, p, row, residue, foreign, depth)
}

// merge merges a residue into m, then sets from its fields of another version what
// nothing else has set, and keeps the rest.
func (d *reflectDecoder) merge(m protoreflect.Message, p *layout.Plan, row, residue []byte, foreign kept, depth int) error {
	lm := p.Msg
	set := map[int32]bool{}  // fields that the row or the residue holds
	oneofs := map[int]bool{} // oneofs that have a member there
	note := func(n int32) bool {
		f := lm.FieldByNumber(n)
		if f != nil {
			set[n] = true
			oneofs[f.Oneof] = oneofs[f.Oneof] || f.Oneof >= 0
		}
		return f != nil
	}
	var ours kept
	if len(residue) > 0 {
		for i := range lm.Fields {
			if j := p.Places[i].Row; j >= 0 && has(row, p.Rows.Fields[j].Bit) {
				note(lm.Fields[i].Number)
			}
		}
		var err error
		if residue, ours, err = splitResidue(residue); err != nil {
			return err
		}
		if err := d.charge(int64(len(residue))); err != nil {
			return err
		}
		if err := d.checkResidue(lm.Desc, residue, depth, func(n protowire.Number) { note(int32(n)) }); err != nil {
			return err
		}
		o := proto.UnmarshalOptions{
			Merge: true, AllowPartial: true, DiscardUnknown: d.DiscardUnknown,
			RecursionLimit: max(1, d.MaxDepth-depth+1),
		}
		if d.Resolver != nil {
			o.Resolver = d.Resolver
		}
		if err := o.Unmarshal(residue, m.Interface()); err != nil {
			return &fault.Error{Kind: fault.Residue, Offset: -1, Field: lm.Name(), Err: err}
		}
	}
	for _, k := range ours.joined() {
		f := lm.FieldByNumber(k.number)
		switch {
		case f == nil:
			if !d.DiscardUnknown {
				foreign = append(foreign, k)
			}
		case !set[k.number] && !(f.Oneof >= 0 && oneofs[f.Oneof]):
			if err := d.field(m, f, k, depth); err != nil {
				return err
			}
		}
	}
	if foreign = foreign.joined(); len(foreign) > 0 {
		unknown := foreign.appendTo(append([]byte(nil), m.GetUnknown()...))
		if err := d.charge(int64(len(unknown))); err != nil {
			return err
		}
		m.SetUnknown(unknown)
	}
	return nil
}

// splitResidue takes the fields of another version out of a verified residue.
func splitResidue(residue []byte) (rest []byte, ours kept, err error) {
	found := false
	err = eachField(residue, func(num protowire.Number, _ protowire.Type, val []byte, _ int) error {
		if num == layout.KeptNumber {
			found = true
			fields, err := rootFields(payload(val))
			ours = append(ours, fields...)
			return err
		}
		return nil
	})
	if err != nil || !found {
		return residue, nil, err
	}
	begin := 0
	err = eachField(residue, func(num protowire.Number, _ protowire.Type, val []byte, pos int) error {
		if num != layout.KeptNumber {
			rest = append(rest, residue[begin:pos+len(val)]...)
		}
		begin = pos + len(val)
		return nil
	})
	return rest, ours, err
}

// checkResidue looks through the messages that a residue holds before protobuf does: it
// charges what they will take, which can be far more than their bytes, and counts levels,
// on which protobuf starts anew at every extension. note is called for each field at
// the top.
func (d *reflectDecoder) checkResidue(md protoreflect.MessageDescriptor, b []byte, depth int, note func(protowire.Number)) error {
	set := isMessageSet(md)
	return eachField(b, func(num protowire.Number, typ protowire.Type, val []byte, _ int) error {
		if note != nil {
			note(num)
		}
		var child protoreflect.MessageDescriptor
		if set && num == 1 && typ == protowire.StartGroupType {
			num, val = setItem(val)
			typ = protowire.BytesType
		}
		if fd := md.Fields().ByNumber(num); fd != nil {
			child = fd.Message()
		} else if md.ExtensionRanges().Has(num) {
			if xt, err := d.resolver().FindExtensionByNumber(md.FullName(), num); err == nil {
				child = xt.TypeDescriptor().Message()
			}
		}
		if child == nil {
			return nil
		}
		if depth++; depth > d.MaxDepth {
			return fault.Of(fault.TooDeep, child.FullName(), "in a residue")
		}
		defer func() { depth-- }()
		if err := d.charge(dynamicSize + 16*int64(child.Fields().Len())); err != nil {
			return err
		}
		switch typ {
		case protowire.BytesType:
			val = payload(val)
		case protowire.StartGroupType:
			val, _ = protowire.ConsumeGroup(num, val)
		default:
			return nil
		}
		err := d.checkResidue(child, val, depth, nil)
		if fault.KindOf(err) == fault.Residue {
			return nil // what is wrong further in is for protobuf to find
		}
		return err
	})
}

func (d *reflectDecoder) resolver() Resolver {
	if d.Resolver != nil {
		return d.Resolver
	}
	return protoregistry.GlobalTypes
}

func isMessageSet(md protoreflect.MessageDescriptor) bool {
	x, ok := md.(interface{ IsMessageSet() bool })
	return ok && x.IsMessageSet()
}

// setItem takes an item of a message set apart: its type and, with its length, its message.
func setItem(group []byte) (num protowire.Number, message []byte) {
	item, _ := protowire.ConsumeGroup(1, group)
	_ = eachField(item, func(n protowire.Number, typ protowire.Type, val []byte, _ int) error {
		switch {
		case n == 2 && typ == protowire.VarintType:
			v, _ := protowire.ConsumeVarint(val)
			num = protowire.Number(v)
		case n == 3 && typ == protowire.BytesType:
			message = val
		}
		return nil
	})
	return num, message
}

// field sets one field from a present value, as it stood in the writer's row.
func (d *reflectDecoder) field(m protoreflect.Message, f *layout.Field, k keptField, depth int) error {
	fd := f.Desc
	switch {
	case fd.IsMap():
		return d.mapField(m, f, k.value, depth+1)
	case fd.IsList():
		return d.list(m, f, k, depth)
	case f.Inline:
		v := m.NewField(fd)
		if err := d.unpack(v.Message(), f.Child, k.value); err != nil {
			return err
		}
		m.Set(fd, v)
		return nil
	case f.Child != nil:
		v := m.NewField(fd)
		b, err := openBlock(f.Child, k.value)
		if err != nil {
			return err
		}
		if err := d.message(v.Message(), b.plan, b.rows, b.tail, 0, uint32(len(b.tail)), depth+1); err != nil {
			return err
		}
		m.Set(fd, v)
		return nil
	case f.Code == layout.Blob:
		v, err := d.blob(f.Kind, k.value)
		if err == nil {
			m.Set(fd, v)
		}
		return err
	}
	x := loadNumber(k.value, len(k.value))
	if f.Kind == protoreflect.FloatKind && isSignalling(uint32(x)) {
		mergeRaw(m, appendFloat(nil, fd.Number(), uint32(x)))
		return nil
	}
	m.Set(fd, numberValue(f.Kind, d.widen(f, x, k.storage)))
	return nil
}

// widen turns the bits of a number in the writer's row into those of the reader's kind.
func (d *reflectDecoder) widen(f *layout.Field, x uint64, s layout.Storage) uint64 {
	if layout.Float(f.Kind) {
		return x
	}
	size := s.Size()
	if s.List() {
		size = int(s.E)
	}
	return layout.Widen(f.Kind, x, size, s.Code == layout.Bool)
}

func (d *reflectDecoder) blob(k protoreflect.Kind, b []byte) (protoreflect.Value, error) {
	if err := d.charge(int64(len(b))); err != nil {
		return protoreflect.Value{}, err
	}
	if k == protoreflect.StringKind {
		return protoreflect.ValueOfString(string(b)), nil
	}
	return protoreflect.ValueOfBytes(append([]byte{}, b...)), nil
}

// openBlock reads count and shape of a verified block.
func openBlock(m *layout.Message, b []byte) (blk reflectBlock, err error) {
	n, k := layout.Uvarint(b)
	if blk.plan, err = m.PlanFor(b[k:]); err != nil {
		return blk, err
	}
	blk.n = int(n)
	blk.rows = b[k+len(blk.plan.Rows.Shape):]
	blk.tail = blk.rows[blk.plan.Rows.Fixed(uint64(n)):]
	return blk, nil
}

type reflectBlock struct {
	plan       *layout.Plan
	n          int
	rows, tail []byte
}

// each calls f for every row with the row's part of the tail.
func (b *reflectBlock) each(f func(row []byte, start, end uint32) error) error {
	start := uint32(0)
	stride := int(b.plan.Rows.Stride)
	for i := range b.n {
		row := b.rows[i*stride:]
		end := uint32(len(b.tail))
		if i < b.n-1 {
			end = 0
			if b.plan.Rows.Ends > 0 {
				end = le.Uint32(row[stride-4:])
			}
		}
		if err := f(row, start, end); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (d *reflectDecoder) list(m protoreflect.Message, f *layout.Field, k keptField, depth int) error {
	v := m.NewField(f.Desc)
	l := v.List()
	switch {
	case f.Code == layout.Block:
		b, err := openBlock(f.Child, k.value)
		if err != nil {
			return err
		}
		err = b.each(func(row []byte, start, end uint32) error {
			e := l.NewElement()
			if err := d.message(e.Message(), b.plan, row, b.tail, start, end, depth+1); err != nil {
				return err
			}
			l.Append(e)
			return d.charge(valueSize)
		})
		if err != nil {
			return err
		}
	case f.E == 0:
		s, _ := splitStrings(k.value)
		start := uint32(0)
		for i := range s.n {
			var b []byte
			b, start = s.at(i, start)
			if err := d.charge(valueSize); err != nil {
				return err
			}
			e, err := d.blob(f.Kind, b)
			if err != nil {
				return err
			}
			l.Append(e)
		}
	default:
		size := int(k.storage.E)
		var exact []byte // the whole list in protobuf bytes, if it holds a signalling NaN
		for b := k.value; len(b) > 0; b = b[size:] {
			if err := d.charge(valueSize); err != nil {
				return err
			}
			if f.Inline {
				e := l.NewElement()
				if err := d.unpack(e.Message(), f.Child, b); err != nil {
					return err
				}
				l.Append(e)
				continue
			}
			x := loadNumber(b, size)
			if f.Kind == protoreflect.FloatKind && exact == nil && isSignalling(uint32(x)) {
				exact = protowire.AppendBytes(protowire.AppendTag(nil, f.Desc.Number(), protowire.BytesType), k.value)
			}
			l.Append(numberValue(f.Kind, d.widen(f, x, k.storage)))
		}
		if exact != nil {
			mergeRaw(m, exact)
			return nil
		}
	}
	m.Set(f.Desc, v)
	return nil
}

func (d *reflectDecoder) mapField(m protoreflect.Message, f *layout.Field, block []byte, depth int) error {
	b, err := openBlock(f.Child, block)
	if err != nil {
		return err
	}
	v := m.NewField(f.Desc)
	mp := v.Map()
	keyField, valueField := &f.Child.Fields[0], &f.Child.Fields[1]
	var exact []byte // entries whose value is a signalling NaN, as protobuf
	err = b.each(func(row []byte, start, end uint32) error {
		if err := d.charge(entrySize); err != nil {
			return err
		}
		key := f.Desc.MapKey().Default().MapKey()
		value := mp.NewValue()
		if keyField.Kind == protoreflect.StringKind {
			key = protoreflect.ValueOfString("").MapKey()
		}
		signalling := uint32(0)
		for j := range b.plan.Rows.Fields {
			rf := &b.plan.Rows.Fields[j]
			var val []byte
			if rf.Variable() {
				stop := end
				if rf.Off+4 != b.plan.Rows.Stride {
					stop = le.Uint32(row[rf.Off:])
				}
				val, start = b.tail[start:stop], stop
			}
			if !has(row, rf.Bit) {
				continue
			}
			k := fieldValue(rf, row, val)
			var err error
			switch rf.Number {
			case 1:
				var kv protoreflect.Value
				if kv, err = d.single(keyField, k); err == nil {
					key = kv.MapKey()
				}
			case 2:
				switch {
				case valueField.Inline:
					err = d.unpack(value.Message(), valueField.Child, k.value)
				case valueField.Child != nil:
					var vb reflectBlock
					if vb, err = openBlock(valueField.Child, k.value); err == nil {
						err = d.message(value.Message(), vb.plan, vb.rows, vb.tail, 0, uint32(len(vb.tail)), depth+1)
					}
				default:
					value, err = d.single(valueField, k)
					if valueField.Kind == protoreflect.FloatKind && isSignalling(le.Uint32(k.value)) {
						signalling = le.Uint32(k.value)
					}
				}
			}
			if err != nil {
				return err
			}
		}
		mp.Set(key, value)
		if signalling != 0 {
			entry := appendScalar(protowire.AppendTag(nil, 1, wireType(keyField.Kind)), keyField.Kind, key.Value())
			entry = appendFloat(entry, 2, signalling)
			exact = protowire.AppendBytes(protowire.AppendTag(exact, f.Desc.Number(), protowire.BytesType), entry)
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Set(f.Desc, v)
	if exact != nil {
		mergeRaw(m, exact)
	}
	return nil
}

// single is a string, bytes or number value.
func (d *reflectDecoder) single(f *layout.Field, k keptField) (protoreflect.Value, error) {
	if f.Code == layout.Blob {
		return d.blob(f.Kind, k.value)
	}
	return numberValue(f.Kind, d.widen(f, loadNumber(k.value, len(k.value)), k.storage)), nil
}

func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.StringKind:
		return protowire.BytesType
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

// unpack sets the fields of an inline message; messages inside are always set.
func (d *reflectDecoder) unpack(m protoreflect.Message, lm *layout.Message, b []byte) error {
	if err := d.charge(messageSize(m)); err != nil {
		return err
	}
	for i := range lm.Packed {
		p := &lm.Packed[i]
		if p.Child != nil {
			v := m.NewField(p.Desc)
			if err := d.unpack(v.Message(), p.Child, b[p.Off:]); err != nil {
				return err
			}
			m.Set(p.Desc, v)
			continue
		}
		x := loadNumber(b[p.Off:], p.Size)
		switch {
		case x == 0:
		case p.Kind == protoreflect.FloatKind && isSignalling(uint32(x)):
			mergeRaw(m, appendFloat(nil, p.Desc.Number(), uint32(x)))
		case layout.Float(p.Kind):
			m.Set(p.Desc, numberValue(p.Kind, x))
		default:
			m.Set(p.Desc, numberValue(p.Kind, layout.Widen(p.Kind, x, p.Size, false)))
		}
	}
	return nil
}
