package codec

import (
	"io"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
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
	view  V
	state atomic.Uint32
	data  []byte // the frame as it came or was made, nil of an empty message
	read  []byte // what the view reads: data, or what that was converted to
	owner Owner  // of data; nil: the garbage collector, or whoever called Open
	lent  bool   // data is memory of whoever called Open
	opts  Options
	//lint:ignore U1000 the tag gravendebug uses it
	debug debugFrame

	mu     sync.Mutex           // of what readers may cause
	msg    protoreflect.Message // the ordinary message, nil until it is needed
	err    error                // why there is none, or none can be encoded
	made   *made[V]             // of the message, where that is the truth
	shared bool                 // data was handed out, to a clone or to gRPC
}

// made is a frame made of the ordinary message.
type made[V any] struct {
	view  V
	frame []byte
	owner Owner
}

// What a Frame's state has. All but stateEdit are final until something else is put into
// the Frame.
const (
	stateTruth    = 1 << iota // the ordinary message is the truth
	stateFailed               // the ordinary message could not be made
	stateEdit                 // changed since it was sealed
	stateReleased             // by Release
)

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

func (f *Frame[V]) typ() *wire.ViewType {
	var v V
	return v.Γtype()
}

func (f *Frame[V]) name() protoreflect.FullName { return f.typ().Layout().Name() }

// Open replaces what f holds by a frame, as the function Open does. It allocates nothing
// unless the frame has to be converted. After an error f is empty.
func (f *Frame[V]) Open(frame []byte, o Options) error {
	f.Reset()
	err := f.open(frame, &o)
	f.lent = true
	return f.opened(err, len(frame), &o)
}

// OpenTrusted replaces what f holds by a frame, as the function OpenTrusted does.
func (f *Frame[V]) OpenTrusted(frame []byte, o Options) error {
	f.Reset()
	err := f.trust(frame, &o)
	f.lent = true
	return f.opened(err, len(frame), &o)
}

func (f *Frame[V]) trust(frame []byte, o *Options) error {
	h, err := envelope.ParseHeader(frame)
	if err != nil {
		return envelopeError(err)
	}
	if int64(len(frame)) != h.FrameSize() {
		return &Error{Kind: KindEnvelope, Offset: 16, Detail: "the size in the header is not that of the bytes"}
	}
	if err := o.checkSchema(h.SchemaID, f.typ().Layout()); err != nil {
		return err
	}
	return f.adopt(frame, frame, o)
}

// opened reports how opening went.
func (f *Frame[V]) opened(err error, size int, o *Options) error {
	if err != nil {
		f.Reset()
		o.failed(true, f.name(), size, err)
	}
	return err
}

// open verifies a frame and adopts it.
func (f *Frame[V]) open(frame []byte, o *Options) error {
	id, msg, err := envelope.Open(frame, o.maxSize())
	if err != nil {
		return envelopeError(err)
	}
	return f.verify(frame, msg, id, o)
}

// verify checks the message of a frame and adopts the frame.
func (f *Frame[V]) verify(frame, msg []byte, id uint64, o *Options) error {
	t := f.typ()
	lm := t.Layout()
	if err := o.checkSchema(id, lm); err != nil {
		return err
	}
	convert, err := wire.VerifyWithin(lm, msg, o.maxDepth(), o.budget(len(frame)))
	if err != nil {
		return inFrame(err)
	}
	if !convert {
		err = f.adopt(frame, frame, o)
	} else {
		err = f.convert(frame, msg, o)
	}
	if err == nil && !o.AllowPartial && t.NeedsInit() {
		err = f.initialized(o)
	}
	if err == nil && o.Counters != nil {
		o.Counters.read(lm.IsFull(msg), id == lm.ID())
	}
	return err
}

// convert makes the frame that is read where a frame can't be read in place.
func (f *Frame[V]) convert(frame, msg []byte, o *Options) error {
	t := f.typ()
	m := t.New()
	if err := wire.DecodeReflect(m.ProtoReflect(), t.Layout(), msg, o.decoding(len(frame))); err != nil {
		return err
	}
	c := Options{AllowPartial: true, MaxDepth: o.maxDepth()}
	read, err := c.marshalAppend(nil, m)
	if err != nil {
		return err
	}
	return f.adopt(frame, read, o)
}

func (o *Options) decoding(frame int) wire.DecodeOptions {
	return wire.DecodeOptions{
		DiscardUnknown: o.DiscardUnknown, MaxDepth: o.maxDepth(), Resolver: o.Resolver, Budget: o.budget(frame),
	}
}

// adopt takes a frame, and the one that is read for it.
func (f *Frame[V]) adopt(frame, read []byte, o *Options) error {
	v, ok := f.typ().Root(messageIn(read), false)
	if !ok {
		return fault.At(fault.Malformed, envelope.HeaderSize, "rows past the end of the message")
	}
	f.view = f.view.Γview(v)
	f.data, f.read, f.opts = frame, read, *o
	return nil
}

// messageIn is the message in a frame. Its capacity includes the frame's CRC.
func messageIn(frame []byte) []byte {
	return frame[envelope.HeaderSize : len(frame)-envelope.TrailerSize]
}

// initialized looks for required fields that are not set, by way of the ordinary message.
func (f *Frame[V]) initialized(o *Options) error {
	m, err := f.decode(o)
	if err != nil {
		return err
	}
	f.msg = m
	if e := proto.CheckInitialized(m.Interface()); e != nil {
		return &Error{Kind: KindRequired, Offset: -1, Field: f.name(), Err: e}
	}
	return nil
}

// Set replaces what f holds by the frame of a message of V's type. After an error
// f is empty.
func (f *Frame[V]) Set(m proto.Message, o Options) error {
	f.Reset()
	err := f.set(m, &o)
	if err != nil {
		f.Reset()
		o.failed(false, nameOf(m), 0, err)
	}
	return err
}

func (f *Frame[V]) set(m proto.Message, o *Options) error {
	if m == nil {
		return fault.New(fault.NotMessage, "nil can't be encoded")
	}
	if got, want := nameOf(m), f.name(); got != want {
		return fault.Of(fault.Misuse, want, "a frame of this type can't hold a "+string(got))
	}
	frame, owner, err := encodeShared(m, o)
	if err != nil {
		return err
	}
	f.hold(owner)
	return f.adopt(frame, frame, o)
}

// encodeShared makes a frame in memory from the pool.
func encodeShared(m proto.Message, o *Options) ([]byte, Owner, error) {
	scratch := buffers.Get(firstScratch)
	defer buffers.Put(scratch)
	b, err := o.marshalAppend((*scratch)[:0], m)
	if err != nil {
		return nil, nil, err
	}
	s := pool.Default.NewShared(len(b))
	copy(s.Bytes(), b)
	return s.Bytes(), s, nil
}

// View is the message. It is valid until Release, and until something else is put into f.
// Of a frame that holds nothing, was released or has an Err it is a message with
// nothing set.
func (f *Frame[V]) View() V {
	if f.state.Load() != 0 {
		return f.viewNow()
	}
	return f.view
}

// viewNow is View where the state has something to say.
func (f *Frame[V]) viewNow() (v V) {
	f.check("View")
	switch s := f.state.Load(); {
	case s&stateFailed != 0:
		return v
	case s&stateTruth == 0:
		return f.view
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	m, err := f.remake()
	if err != nil {
		return v
	}
	return m.view
}

// Err says why View gives an empty message although there should be one, and why
// the frame can't be sent: the message that is the truth can't be encoded (a value
// that does not fit a narrow field, a string that is not UTF-8), or making it of
// the frame would have gone past the budget. It is nil of a frame that was never used as a
// message.
func (f *Frame[V]) Err() error {
	f.check("Err")
	switch s := f.state.Load(); {
	case s&stateFailed != 0:
		return f.err
	case s&stateTruth == 0:
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.remake()
	return err
}

// remake makes a frame where the ordinary message is the truth. The one before is
// left to the garbage collector: views of it may be in use.
func (f *Frame[V]) remake() (*made[V], error) {
	o := Options{AllowPartial: true, MaxDepth: f.opts.MaxDepth, MaxSize: f.opts.MaxSize}
	frame, owner, err := encodeShared(f.msg.Interface(), &o)
	if err != nil {
		return nil, err
	}
	if f.made != nil && string(f.made.frame) == string(frame) {
		owner.Free()
		return f.made, nil
	}
	m := &made[V]{frame: frame, owner: owner}
	if v, ok := f.typ().Root(messageIn(frame), false); ok {
		m.view = m.view.Γview(v)
	}
	f.made = m
	return m, nil
}

// Bytes is the whole frame, envelope included: as it came, or as it was made or changed
// since. It is nil of a frame that holds nothing. It is valid as View is, and must not
// be changed.
func (f *Frame[V]) Bytes() ([]byte, error) {
	f.check("Bytes")
	frame, _, err := f.current()
	return frame, err
}

// current is the whole frame, sealed, with its owner.
func (f *Frame[V]) current() ([]byte, Owner, error) {
	if f.state.Load() == 0 {
		return f.data, f.owner, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch s := f.state.Load(); {
	case s&stateFailed != 0:
		return nil, nil, f.err
	case s&stateTruth != 0:
		m, err := f.remake()
		if err != nil {
			return nil, nil, err
		}
		return m.frame, m.owner, nil
	}
	f.seal()
	return f.data, f.owner, nil
}

// seal ends an edit.
func (f *Frame[V]) seal() {
	if f.state.Load()&stateEdit != 0 {
		end := len(f.data) - envelope.TrailerSize
		le.PutUint32(f.data[end:], crc32c.Checksum(f.data[:end]))
		f.state.And(^uint32(stateEdit))
	}
}

// Seal completes the frame after an edit; the view of the edit must not be used any
// more. What sends, saves or clones a frame does so by itself. The error is that of Err.
func (f *Frame[V]) Seal() error {
	f.check("Seal")
	_, _, err := f.current()
	return err
}

// Converted reports whether the frame came in a form that can't be read in place, so that the
// view reads a converted copy. Bytes, and sending the frame on, still give what came.
func (f *Frame[V]) Converted() bool {
	return len(f.data) > 0 && len(f.read) > 0 && &f.data[0] != &f.read[0]
}

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
func (f *Frame[V]) Append(dst []byte) ([]byte, error) { return f.appendTo(dst, &f.opts) }

// Clone is a Frame with the same message. Where it can it shares the bytes, which
// neither of the two may then edit until the other is released.
func (f *Frame[V]) Clone() *Frame[V] {
	f.check("Clone")
	c := new(Frame[V])
	f.cloneTo(c)
	return c
}

// cloneTo makes c, which is empty, a clone.
func (f *Frame[V]) cloneTo(c *Frame[V]) {
	_, _, _ = f.current() // seals it; an error is cloned
	f.mu.Lock()
	defer f.mu.Unlock()
	c.opts = f.opts
	switch s := f.state.Load(); {
	case s&stateTruth != 0:
		c.msg = proto.Clone(f.msg.Interface()).ProtoReflect()
		c.state.Store(stateTruth)
	case s&stateFailed != 0:
		c.msg, c.err = f.typ().New().ProtoReflect(), f.err
		c.state.Store(stateFailed)
	case f.data == nil:
	case f.lent:
		// Somebody else's memory may change once f is not in use any more.
		b := pool.Default.NewShared(len(f.data))
		copy(b.Bytes(), f.data)
		c.hold(b)
		read := f.read
		if !f.Converted() {
			read = b.Bytes()
		}
		_ = c.adopt(b.Bytes(), read, &f.opts) // f has adopted it
	default:
		if f.owner != nil {
			f.owner.Ref()
		}
		c.hold(f.owner)
		c.view, c.data, c.read = f.view, f.data, f.read
		c.shared, f.shared = true, true
	}
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
func (f *Frame[V]) Edit() (v V, err error) {
	f.check("Edit")
	if f.state.Load()&stateReleased != 0 {
		return v, fault.Of(fault.Released, f.name(), "a released frame can't be edited")
	}
	t := f.typ()
	if t.Layout().Inline {
		return v, fault.Of(fault.Misuse, f.name(), "an inline message can't be edited as a frame")
	}
	if s := f.state.Load(); s&stateFailed != 0 {
		return v, f.err
	} else if s&stateTruth != 0 {
		f.mu.Lock()
		m, err := f.remake()
		f.mu.Unlock()
		if err != nil {
			return v, err
		}
		o := f.opts
		f.excuse()
		f.Reset()
		f.hold(m.owner)
		f.view, f.data, f.read, f.opts = m.view, m.frame, m.frame, o
	}
	if f.Converted() {
		f.take(f.read)
	}
	if f.data == nil {
		return v, fault.Of(fault.Misuse, f.name(), "a frame that holds nothing can't be edited")
	}
	if f.isShared() {
		return v, fault.Of(fault.Misuse, f.name(), "the frame's bytes are shared; release the other holder, or edit a copy")
	}
	row, _ := t.Root(messageIn(f.data), true)
	f.msg = nil
	f.state.Store(stateEdit)
	return v.Γview(row), nil
}

// take replaces the frame's bytes, which views may still be reading, by others that are
// read from now on.
func (f *Frame[V]) take(frame []byte) {
	f.data, f.owner, f.lent, f.shared = frame, nil, false, false
	f.excuse()
	f.drop()
}

// isShared reports whether others may be reading the bytes. Of our own memory the
// number of references tells, so that an edit is possible again once it is back.
func (f *Frame[V]) isShared() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o, ok := f.owner.(interface{ Refs() int }); ok {
		return o.Refs() > 1
	}
	return f.shared
}

// Release gives the frame's memory back. Views of it and what they gave must not be used
// any more. The Frame itself may be opened or received into again.
func (f *Frame[V]) Release() {
	if f.state.Load()&stateReleased != 0 {
		return
	}
	owner, made := f.owner, f.made
	f.release()
	f.Reset()
	f.state.Store(stateReleased)
	if owner != nil {
		owner.Free()
	}
	if made != nil {
		made.owner.Free()
	}
}

// Reset makes f a message with nothing set. Unlike Release it leaves the memory to
// the garbage collector, since views of it may be in use.
func (f *Frame[V]) Reset() {
	var none V
	f.view, f.data, f.read, f.owner, f.lent, f.shared = none, nil, nil, nil, false, false
	f.msg, f.err, f.made = nil, nil, nil
	f.drop()
	if f.state.Load() != 0 { // a store costs more than all else here
		f.state.Store(0)
	}
}

// hold takes a reference to the owner of memory for the frame's own.
func (f *Frame[V]) hold(owner Owner) {
	f.owner = owner
	f.held()
}
