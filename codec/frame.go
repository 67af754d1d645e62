package codec

import (
	"io"
	"log/slog"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/wire"
)

// View is what generated views are. Its methods are for this package.
type View[V any] interface {
	Γtype() *wire.ViewType
	Γview(wire.View) V
}

// Owner keeps memory in use: Ref takes a reference to it, Free gives one up. The buffers
// of gRPC are owners.
type Owner = interface {
	Ref()
	Free()
}

// Frame is a message that stays in the frame it came in: received, read through
// views, changed in place and sent on without being decoded.
//
//	func (s *bank) Settle(ctx context.Context, req *codec.Frame[bankv1graven.Transaction]) (*codec.Frame[bankv1graven.Receipt], error) {
//		for e := range req.View().GetEntries().All() {
//			total += e.GetAmount()
//		}
//
// A Frame is a proto.Message, so that codecs, interceptors, validation and logging take
// it for one: reflection, protobuf and JSON work on an ordinary message, which is
// made of the frame when they first need it. Once a part of that message was handed
// out that could be changed, it is the truth: View and the bytes are then made of it
// anew each time.
//
// The zero Frame is a message with nothing set. Its memory belongs to the frame: views
// and what they give, strings too, are valid until Release. Never calling Release is
// safe, the garbage collector takes over. In programs built with the tag
// gravendebug, use after Release panics, and frames that were never released are
// reported.
//
// Several goroutines may read one Frame at once, through views or as a message.
// Whatever changes it (Open, Edit, Seal after an edit, Reset, Release, a codec that decodes
// into it) must be alone. A Frame must not be copied; see Clone.
type Frame[V View[V]] struct {
	view V // of what core holds, where its state is 0
	core frameCore
}

// Open makes a Frame of the bytes of a whole frame, after it has verified everything that
// the format says. It neither copies nor owns the bytes: they must not change as long as the
// Frame, views of it or what these gave are in use. The errors are those of Unmarshal.
//
// The frame is read in place whatever version of the schema it is of. Only what rows
// can't be read in place for (numbers of another width and the like) makes Open
// convert it once, into memory of its own, within the budget of [Options].
func Open[V View[V]](frame []byte) (*Frame[V], error) {
	f := new(Frame[V])
	if err := f.Open(frame, Options{}); err != nil {
		return nil, err
	}
	return f, nil
}

// OpenTrusted is Open for bytes that were verified before: that this program or one with
// the same schema has made or opened, and that nobody has changed. It looks
// at the header only and takes the same time for frames of any size. If the bytes are
// not what they are trusted to be, views give wrong values, invalid UTF-8 or nothing;
// they still never read outside the frame. Frames of other versions of the schema belong in
// Open.
func OpenTrusted[V View[V]](frame []byte) (*Frame[V], error) {
	f := new(Frame[V])
	if err := f.OpenTrusted(frame, Options{}); err != nil {
		return nil, err
	}
	return f, nil
}

// NewFrame makes a Frame of a message of V's type.
func NewFrame[V View[V]](m proto.Message) (*Frame[V], error) {
	f := new(Frame[V])
	if err := f.Set(m, Options{}); err != nil {
		return nil, err
	}
	return f, nil
}

// typ is what views know of the message type.
func (f *Frame[V]) typ() *wire.ViewType {
	var v V
	return v.Γtype()
}

// put makes the view after something was put into core.
func (f *Frame[V]) put(err error) error {
	f.view = f.view.Γview(f.core.row)
	return err
}

// Open replaces what f holds by a frame, as the function Open does. It allocates nothing
// unless the frame has to be converted. After an error f is empty.
func (f *Frame[V]) Open(frame []byte, o Options) error {
	return f.put(f.core.openLent(f.typ(), frame, &o))
}

// OpenTrusted replaces what f holds by a frame, as the function OpenTrusted does.
func (f *Frame[V]) OpenTrusted(frame []byte, o Options) error {
	return f.put(f.core.openTrusted(f.typ(), frame, &o))
}

// Set replaces what f holds by the frame of a message of V's type. After an error
// f is empty.
func (f *Frame[V]) Set(m proto.Message, o Options) error {
	return f.put(f.core.set(f.typ(), m, &o))
}

// View is the message. It is valid until Release, and until something else is put into f.
// Of a frame that holds nothing, was released or has an Err it is a message with
// nothing set.
func (f *Frame[V]) View() V {
	if f.core.state.Load() != 0 {
		return f.view.Γview(f.core.rowNow(f.typ()))
	}
	return f.view
}

// Err says why View gives an empty message although there should be one, and why
// the frame can't be sent: the message that is the truth can't be encoded (a value
// that does not fit a narrow field, a string that is not UTF-8), or making it of
// the frame would have gone past the budget. It is nil of a frame that was never used as a
// message.
func (f *Frame[V]) Err() error { return f.core.failure(f.typ()) }

// Bytes is the whole frame, envelope included: as it came, or as it was made or changed
// since. It is nil of a frame that holds nothing. It is valid as View is, and must not
// be changed.
func (f *Frame[V]) Bytes() ([]byte, error) {
	f.core.check("Bytes")
	frame, _, err := f.core.current(f.typ())
	return frame, err
}

// Seal completes the frame after an edit; the view of the edit must not be used any
// more. What sends, saves or clones a frame does so by itself. The error is that of Err.
func (f *Frame[V]) Seal() error {
	f.core.check("Seal")
	_, _, err := f.core.current(f.typ())
	return err
}

// Converted reports whether the frame came in a form that can't be read in place, so that the
// view reads a converted copy. Bytes, and sending the frame on, still give what came.
func (f *Frame[V]) Converted() bool { return f.core.converted() }

// WriteTo writes the whole frame to w, for a file or a stream of frames. Of a frame that
// holds nothing that is the frame of a message with nothing set.
func (f *Frame[V]) WriteTo(w io.Writer) (int64, error) {
	b, err := f.Bytes()
	if err == nil && b == nil {
		b, err = f.Append(nil)
	}
	if err != nil {
		return 0, err
	}
	n, err := w.Write(b)
	return int64(n), err
}

// Append appends the whole frame to dst.
func (f *Frame[V]) Append(dst []byte) ([]byte, error) {
	return f.core.appendTo(f.typ(), dst, &f.core.opts)
}

// Clone is a Frame with the same message. Where it can it shares the bytes, which
// neither of the two may then edit until the other is released.
func (f *Frame[V]) Clone() *Frame[V] {
	f.core.check("Clone")
	c := new(Frame[V])
	f.core.cloneTo(f.typ(), &c.core)
	if c.core.state.CompareAndSwap(stateRow, 0) {
		_ = c.put(nil)
	}
	return c
}

// Edit gives a view whose SetX and ClearX change the frame in place: numbers, bools, enums
// and inline messages, which live in rows. They keep presence right, and return an
// error for what would touch the tail or has no slot in the frame's shape. The view
// can be used until Seal, or until the frame is sent, cloned or used as a message. Only the views that are made of
// it can be edited; View shows what was changed.
//
// The error is [ErrReleased] of a released frame, and [ErrMisuse] of one that holds nothing,
// whose message is inline, or whose bytes others may be reading: a clone, or
// gRPC, which sends them. Edit writes to the memory that was given to Open. What
// was handed out of the frame as an ordinary message has no part in it afterwards. A frame
// that was converted is changed in its converted form.
func (f *Frame[V]) Edit() (V, error) {
	row, err := f.core.edit(f.typ())
	if err != nil {
		var none V
		return none, err
	}
	return f.view.Γview(row), f.put(nil)
}

// Release gives the frame's memory back. Views of it and what they gave must not be used
// any more. The Frame itself may be opened or received into again.
func (f *Frame[V]) Release() {
	f.core.free()
	var none V
	f.view = none
}

// Reset makes f a message with nothing set. Unlike Release it leaves the memory to
// the garbage collector, since views of it may be in use.
func (f *Frame[V]) Reset() {
	f.core.reset()
	var none V
	f.view = none
}

// GravenUnmarshal is for transports: it puts a received frame into f, after it has verified
// it. If owner, which may be nil, says that data can be kept and does not keep
// much more memory than that, f takes a reference to it; else it makes a copy
// while it checks the CRC. No data is a message with nothing set. After an error f is empty.
//
// What f held before is left to the garbage collector, unless it was released.
func (f *Frame[V]) GravenUnmarshal(data []byte, owner Owner, o Options) error {
	err := f.receive(data, owner, &o)
	if err != nil {
		o.failed(true, f.typ().Layout().Name(), len(data), err)
	}
	return err
}

func (f *Frame[V]) receive(data []byte, owner Owner, o *Options) error {
	return f.put(f.core.receive(f.typ(), data, owner, o))
}

// GravenAppend is for transports: it appends the frame to dst, the bytes that came if they
// are what f holds. After an error it returns dst as it was.
func (f *Frame[V]) GravenAppend(dst []byte, o Options) ([]byte, error) {
	out, err := f.appendTo(dst, &o)
	if err != nil {
		o.failed(false, f.typ().Layout().Name(), 0, err)
		return dst, err
	}
	if o.Counters != nil {
		o.Counters.Encoded.Add(1)
	}
	return out, nil
}

func (f *Frame[V]) appendTo(dst []byte, o *Options) ([]byte, error) {
	return f.core.appendTo(f.typ(), dst, o)
}

// GravenBuffer is for transports that send without copying: the frame's bytes with their
// owner. The frame can't be edited until the owner has back the references that the transport
// takes. A nil frame says that it has to be appended.
func (f *Frame[V]) GravenBuffer() ([]byte, Owner) { return f.core.buffer(f.typ()) }

// ProtoMessage marks a Frame as a protobuf message.
func (f *Frame[V]) ProtoMessage() {}

// ProtoReflect is the message to protobuf. Only what looks at its fields makes an
// ordinary message of the frame.
func (f *Frame[V]) ProtoReflect() protoreflect.Message {
	if f != nil {
		if r := f.core.reflection.Load(); r != nil {
			return r
		}
	}
	r := &reflection{t: f.typ(), self: f, fresh: func() proto.Message { return new(Frame[V]) }}
	if f == nil {
		return r
	}
	r.c = &f.core
	f.core.reflection.CompareAndSwap(nil, r)
	return f.core.reflection.Load()
}

// String is the message like prototext, without an ordinary message being made. Of a
// released frame it says so.
func (f *Frame[V]) String() string {
	if f == nil {
		return ""
	}
	return f.core.format(f.typ())
}

// LogValue is the start of String.
func (f *Frame[V]) LogValue() slog.Value {
	if f == nil {
		return slog.StringValue("")
	}
	return f.core.logValue(f.typ())
}

// MarshalJSON gives the message as protobuf JSON.
func (f *Frame[V]) MarshalJSON() ([]byte, error) { return protojson.Marshal(f) }

// UnmarshalJSON replaces the message by that of protobuf JSON.
func (f *Frame[V]) UnmarshalJSON(b []byte) error { return protojson.Unmarshal(b, f) }

// hold takes over a reference to the owner of the memory of the frame that adopt
// is about to be given.
func (f *Frame[V]) hold(owner Owner) { f.core.hold(owner) }

// adopt takes a frame that needs no verification.
func (f *Frame[V]) adopt(frame, read []byte, o *Options) error {
	return f.put(f.core.adopt(f.typ(), frame, read, o))
}
