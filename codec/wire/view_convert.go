package wire

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// ViewType is what the views of a message type know of it.
type ViewType struct {
	// New makes an empty ordinary message.
	New func() proto.Message

	known atomic.Pointer[viewInfo]
}

type viewInfo struct {
	layout *layout.Message
	typ    *Type
	init   bool
}

func (t *ViewType) info() *viewInfo {
	if i := t.known.Load(); i != nil {
		return i
	}
	_, typ, m, init, err := Bound(t.New())
	if err != nil {
		panic(err) // the generator refuses such a schema
	}
	m.FullPlan() // so that its shape is compared first
	t.known.CompareAndSwap(nil, &viewInfo{m, typ, init})
	return t.known.Load()
}

// Layout is the layout of the message type.
func (t *ViewType) Layout() *layout.Message { return t.info().layout }

// NeedsInit reports whether protobuf has required fields to check.
func (t *ViewType) NeedsInit() bool { return t.info().init }

// Decode makes the ordinary message of a verified root block that needs no conversion.
func (t *ViewType) Decode(message []byte, o DecodeOptions) (proto.Message, error) {
	i, m := t.info(), t.New()
	if i.typ != nil {
		return m, Decode(i.typ, m, message, o)
	}
	return m, DecodeReflect(m.ProtoReflect(), i.layout, message, o)
}

// Root is the view of a message that stands in a frame with the frame's CRC behind it.
// edit says whether it may be changed. Nothing is verified; a block whose rows do not
// fit in it is false.
func (t *ViewType) Root(message []byte, edit bool) (View, bool) {
	m := t.Layout()
	at, shape := m.ViewFor(message)
	if at == nil {
		return View{}, false
	}
	fixed := uint(at.Plan.Rows.Fixed(1))
	if fixed > uint(len(message)-shape) {
		return View{}, false
	}
	if edit {
		at = at.Twin
	}
	v := View{at: at}
	v.p = mem.Of(message).Add(uint(shape))
	v.tail = v.p.Add(fixed)
	v.part.to = uint32(uint(len(message)-shape) - fixed)
	return v, true
}

// Pack gives the inline message that a row of its own fields holds, which is how an inline
// message is stored that is the root of a frame. It is in memory of its own.
func (v View) Pack() Inline {
	if v.at == nil {
		return Inline{}
	}
	m := v.at.Plan.Msg
	b := make([]byte, m.Size)
	for i := range m.Packed {
		p := &m.Packed[i]
		s := v.at.Slot(i)
		switch {
		case s.Mask == 0:
		case m.Fields[i].Code == layout.Bool:
			b[p.Off] = byte(Bit(v.Bool(i)))
		default:
			copy(b[p.Off:p.Off+p.Size], v.p.Bytes(uint(s.Off), uint(p.Size)))
		}
	}
	return Inline{p: mem.Of(b)}
}

// AppendRoot appends the message as a root block: what may stand in a frame. Its nested
// values stay as they are.
func (v View) AppendRoot(dst []byte) []byte {
	if v.at == nil {
		return append(dst, 0, 0, 0) // no field, no bit
	}
	r := v.at.Plan.Rows
	fixed, size := uint(r.Fixed(1)), uint(v.part.to-min(v.part.from, v.part.to))
	dst = slices.Grow(dst, len(r.Shape)+int(fixed+size))
	dst = append(dst, r.Shape...)
	row := len(dst)
	dst = append(dst, v.p.Bytes(0, fixed)...)
	for i := range r.Fields {
		f := &r.Fields[i]
		if f.Variable() && f.Off+4 != r.Stride {
			end := le.Uint32(dst[row+int(f.Off):])
			le.PutUint32(dst[row+int(f.Off):], min(max(end, v.part.from), v.part.to)-v.part.from)
		}
	}
	return append(dst, v.tail.Bytes(uint(v.part.from), size)...)
}

// scratch is room for messages on their way from a view to an ordinary message.
var scratch = sync.Pool{New: func() any { return new([]byte) }}

// maxScratch is the largest that is kept, in bytes.
const maxScratch = 1 << 20

// As sets m, which is of the view's message type, from the message; nothing in it
// refers to the frame. It works on a copy that it verifies, so it is safe even if the
// frame has changed.
func (v View) As(m proto.Message) (err error) {
	proto.Reset(m)
	if v.at == nil {
		return nil
	}
	m, t, lm, _, err := Bound(m)
	if err != nil {
		return err
	}
	if lm != v.at.Plan.Msg && lm.Name() != v.at.Plan.Msg.Name() {
		return fault.Of(fault.Misuse, v.at.Plan.Msg.Name(), "a view of this type can't be read as a "+string(lm.Name()))
	}
	b := scratch.Get().(*[]byte)
	*b = v.AppendRoot((*b)[:0])
	o := DecodeOptions{MaxDepth: DefaultDepth, Budget: budget(len(*b))}
	convert, err := Verify(lm, *b, o.MaxDepth)
	switch {
	case err != nil:
	case t != nil && !convert:
		err = Decode(t, m, *b, o)
	default:
		err = DecodeReflect(m.ProtoReflect(), lm, *b, o)
	}
	if cap(*b) <= maxScratch {
		scratch.Put(b)
	}
	if err != nil {
		proto.Reset(m)
	}
	return err
}

// budget is how many bytes a message of n bytes may take when it is decoded.
func budget(n int) int64 { return 256<<20 + 64*int64(n) }

// As sets m, which is of the view's message type, from the inline message.
func (v Inline) As(m proto.Message) (err error) {
	proto.Reset(m)
	if v.p.Nil() {
		return nil
	}
	m, _, lm, _, err := Bound(m)
	if err != nil {
		return err
	}
	d := reflectDecoder{left: budget(lm.Size)}
	return d.unpack(m.ProtoReflect(), lm, v.p.Bytes(0, uint(lm.Size)))
}

// asser is a view.
type asser interface{ As(m proto.Message) error }

// Message is a view as an ordinary message, m.
func Message[M proto.Message](v asser, m M) (M, error) {
	if err := v.As(m); err != nil {
		var none M
		return none, err
	}
	return m, nil
}

// JSON is a view as protobuf JSON, by way of the ordinary message m.
func JSON(v asser, m proto.Message) ([]byte, error) {
	if err := v.As(m); err != nil {
		return nil, err
	}
	return protojson.MarshalOptions{AllowPartial: true}.Marshal(m)
}

// Untyped is a view of a message whose Go package has no views. It can be read as the
// ordinary message.
type Untyped View

// As sets m, which is of the message type, from the message.
func (v Untyped) As(m proto.Message) error { return View(v).As(m) }

// String is the message like prototext.
func (v Untyped) String() string { return View(v).Format() }

// LogValue is the start of String.
func (v Untyped) LogValue() slog.Value { return View(v).LogValue() }

// UntypedInline is a view of an inline message whose Go package has no views. It can be read
// as the ordinary message.
type UntypedInline Inline

// As sets m, which is of the message type, from the message.
func (v UntypedInline) As(m proto.Message) error { return Inline(v).As(m) }
