package wire

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Set changes number, bool or enum i in the frame's memory; x is its bits. It keeps presence
// as protobuf has it: an implicit zero is absent, and the other members of a oneof are
// cleared. The error is of kind Misuse if the view is not one of an edit, if the
// frame's shape has no place for the field, or if another member of the oneof would
// have to leave the tail; of kind Range if x does not fit a narrow field.
func (v View) Set(i int, x uint64) error {
	f, s, err := v.edit(i)
	if err != nil {
		return err
	}
	if f.Width != 0 && !layout.Fits(f.Kind, x, f.Width) {
		return fault.Of(fault.Range, f.Desc.FullName(), "the value does not fit its width")
	}
	if s.Mask == 0 {
		if x == 0 && !f.Presence {
			return nil
		}
		return misuse(f, "the frame's shape has no place for the field")
	}
	if err := v.clearOthers(f); err != nil {
		return err
	}
	v.setBit(s.Byte, uint8(s.Mask), x != 0 || f.Presence)
	switch {
	case f.Code == layout.Bool:
		v.setBit(s.Off, uint8(s.Prev), x != 0)
	default:
		v.put(s.Off, f.Size(), x)
	}
	return nil
}

// SetInline changes inline message i in the frame's memory; a nil one is cleared. Errors
// are those of Set.
func (v View) SetInline(i int, m proto.Message) error {
	if !m.ProtoReflect().IsValid() {
		return v.Clear(i)
	}
	f, s, err := v.edit(i)
	if err != nil {
		return err
	}
	if s.Mask == 0 {
		return misuse(f, "the frame's shape has no place for the field")
	}
	// Packed aside first: a message that can't be packed changes nothing.
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	b, err := e.packed(f, m)
	if err != nil {
		return err
	}
	if err := v.clearOthers(f); err != nil {
		return err
	}
	v.setBit(s.Byte, uint8(s.Mask), true)
	copy(v.p.Bytes(uint(s.Off), uint(f.K)), b)
	return nil
}

// packed packs an inline message into memory of the encoder.
func (e *Encoder) packed(f *layout.Field, m proto.Message) ([]byte, error) {
	e.scratch = slices.Grow(e.scratch[:0], int(f.K))
	b := e.scratch[:f.K]
	if t := typeOf(m); t != nil {
		if pack := t.methods.Load().pack; pack != nil {
			e.begin(mem.Of(b), uint(len(b)), EncodeOptions{})
			pack(e, 0, m)
			e.out = mem.Ptr{}
			if !e.failed && e.Unstorable == 0 {
				return b, nil
			}
		}
	}
	clear(b)
	r := reflectEncoder{} // which also says what is wrong
	return b, r.pack(b, f.Child, m.ProtoReflect())
}

// Clear makes field i absent. The error is of kind Misuse if the view is not one of
// an edit, or if the value is in the tail.
func (v View) Clear(i int) error {
	f, s, err := v.edit(i)
	if err != nil || s.Mask == 0 || !v.Has(i) {
		return err
	}
	if f.Variable() {
		return misuse(f, "its value is in the tail")
	}
	v.setBit(s.Byte, uint8(s.Mask), false)
	switch {
	case f.Code == layout.Bool:
		v.setBit(s.Off, uint8(s.Prev), false)
	default:
		clear(v.p.Bytes(uint(s.Off), uint(f.Size())))
	}
	return nil
}

// edit finds a field that is about to be changed.
func (v View) edit(i int) (*layout.Field, *Slot, error) {
	if v.at == nil || !v.at.Edit {
		return nil, nil, fault.New(fault.Misuse, "the view is not one of Frame.Edit, or of a message that is absent")
	}
	return &v.at.Plan.Msg.Fields[i], v.at.Slot(i), nil
}

func misuse(f *layout.Field, why string) error {
	return fault.Of(fault.Misuse, f.Desc.FullName(), "can't be changed in place: "+why)
}

// clearOthers clears the other members of the field's oneof.
func (v View) clearOthers(f *layout.Field) error {
	if f.Oneof < 0 {
		return nil
	}
	fields := v.at.Plan.Msg.Fields
	for j := range fields {
		if o := &fields[j]; o.Oneof == f.Oneof && o != f && v.Has(j) {
			if o.Variable() {
				return misuse(f, string(o.Desc.Name())+" of the same oneof is in the tail")
			}
			if err := v.Clear(j); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v View) setBit(at uint32, mask uint8, set bool) {
	b := v.p.U8(uint(at)) &^ mask
	if set {
		b |= mask
	}
	v.p.Put8(uint(at), b)
}

func (v View) put(off uint32, size int, x uint64) {
	switch o := uint(off); size {
	case 1:
		v.p.Put8(o, uint8(x))
	case 2:
		v.p.Put16(o, uint16(x))
	case 4:
		v.p.Put32(o, uint32(x))
	default:
		v.p.Put64(o, x)
	}
}
