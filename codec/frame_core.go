package codec

import (
	"log/slog"
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

// frameCore is all of a Frame that does not depend on its view's Go type, so that it is
// compiled once. Its methods are given the message type.
type frameCore struct {
	row   wire.View
	state atomic.Uint32
	data  []byte // the frame as it came or was made, nil of an empty message
	read  []byte // what row is in: data, or what that was converted to
	owner Owner  // of data; nil: the garbage collector, or whoever called Open
	lent  bool   // data is memory of whoever called Open
	opts  Options
	debug debugFrame

	reflection atomic.Pointer[reflection]

	mu     sync.Mutex           // of what readers may cause
	msg    protoreflect.Message // the ordinary message, nil until it is needed
	err    error                // why there is none, or none can be encoded
	made   *made                // of the message, where that is the truth
	shared bool                 // data was handed out, to a clone or to gRPC
}

// made is a frame made of the ordinary message.
type made struct {
	row   wire.View
	frame []byte
	owner Owner
}

// What a frame's state has. All but stateEdit last until something else is put into it.
const (
	stateTruth    = 1 << iota // the ordinary message is the truth
	stateFailed               // the ordinary message could not be made
	stateEdit                 // changed since it was sealed
	stateReleased             // by Release
	stateRow                  // the Frame's view is not yet made of row
)

func (c *frameCore) openLent(t *wire.ViewType, frame []byte, o *Options) error {
	c.reset()
	err := c.open(t, frame, o)
	c.lent = true
	return c.opened(t, err, len(frame), o)
}

func (c *frameCore) openTrusted(t *wire.ViewType, frame []byte, o *Options) error {
	c.reset()
	err := c.trust(t, frame, o)
	c.lent = true
	return c.opened(t, err, len(frame), o)
}

func (c *frameCore) trust(t *wire.ViewType, frame []byte, o *Options) error {
	h, err := envelope.ParseHeader(frame)
	if err != nil {
		return envelopeError(err)
	}
	if int64(len(frame)) != h.FrameSize() {
		return &Error{Kind: KindEnvelope, Offset: 16, Detail: "the size in the header is not that of the bytes"}
	}
	if err := o.checkSchema(h.SchemaID, t.Layout()); err != nil {
		return err
	}
	return c.adopt(t, frame, frame, o)
}

// opened reports how opening went.
func (c *frameCore) opened(t *wire.ViewType, err error, size int, o *Options) error {
	if err != nil {
		c.reset()
		o.failed(true, t.Layout().Name(), size, err)
	}
	return err
}

// open verifies a frame and adopts it.
func (c *frameCore) open(t *wire.ViewType, frame []byte, o *Options) error {
	id, msg, err := envelope.Open(frame, o.maxSize())
	if err != nil {
		return envelopeError(err)
	}
	return c.verify(t, frame, msg, id, o)
}

// verify checks the message of a frame and adopts the frame.
func (c *frameCore) verify(t *wire.ViewType, frame, msg []byte, id uint64, o *Options) error {
	lm := t.Layout()
	if err := o.checkSchema(id, lm); err != nil {
		return err
	}
	convert, err := wire.VerifyWithin(lm, msg, o.maxDepth(), o.budget(len(frame)))
	if err != nil {
		return inFrame(err)
	}
	if !convert {
		err = c.adopt(t, frame, frame, o)
	} else {
		err = c.convert(t, frame, msg, o)
	}
	if err == nil && !o.AllowPartial && t.NeedsInit() {
		err = c.initialized(t, o)
	}
	if err == nil && o.Counters != nil {
		o.Counters.read(lm.IsFull(msg), id == lm.ID())
	}
	return err
}

// convert makes the frame that is read where a frame can't be read in place.
func (c *frameCore) convert(t *wire.ViewType, frame, msg []byte, o *Options) error {
	m := t.New()
	if err := wire.DecodeReflect(m.ProtoReflect(), t.Layout(), msg, o.decoding(len(frame))); err != nil {
		return err
	}
	again := Options{AllowPartial: true, MaxDepth: o.maxDepth()}
	read, err := again.marshalAppend(nil, m)
	if err != nil {
		return err
	}
	return c.adopt(t, frame, read, o)
}

func (o *Options) decoding(frame int) wire.DecodeOptions {
	return wire.DecodeOptions{
		DiscardUnknown: o.DiscardUnknown, MaxDepth: o.maxDepth(), Resolver: o.Resolver, Budget: o.budget(frame),
	}
}

// adopt takes a frame, and the one that is read for it.
func (c *frameCore) adopt(t *wire.ViewType, frame, read []byte, o *Options) error {
	row, ok := t.Root(messageIn(read), false)
	if !ok {
		return fault.At(fault.Malformed, envelope.HeaderSize, "rows past the end of the message")
	}
	c.row, c.data, c.read, c.opts = row, frame, read, *o
	return nil
}

// messageIn is the message in a frame. Its capacity includes the frame's CRC.
func messageIn(frame []byte) []byte {
	return frame[envelope.HeaderSize : len(frame)-envelope.TrailerSize]
}

// initialized looks for required fields that are not set, by way of the ordinary message.
func (c *frameCore) initialized(t *wire.ViewType, o *Options) error {
	m, err := c.decode(t, o)
	if err != nil {
		return err
	}
	c.msg = m
	return requiredIn(t, m)
}

func requiredIn(t *wire.ViewType, m protoreflect.Message) error {
	if err := proto.CheckInitialized(m.Interface()); err != nil {
		return &Error{Kind: KindRequired, Offset: -1, Field: t.Layout().Name(), Err: err}
	}
	return nil
}

func (c *frameCore) set(t *wire.ViewType, m proto.Message, o *Options) error {
	c.reset()
	err := c.encode(t, m, o)
	if err != nil {
		c.reset()
		o.failed(false, nameOf(m), 0, err)
	}
	return err
}

func (c *frameCore) encode(t *wire.ViewType, m proto.Message, o *Options) error {
	if m == nil {
		return fault.New(fault.NotMessage, "nil can't be encoded")
	}
	if got, want := nameOf(m), t.Layout().Name(); got != want {
		return fault.Of(fault.Misuse, want, "a frame of this type can't hold a "+string(got))
	}
	frame, owner, err := encodeShared(m, o)
	if err != nil {
		return err
	}
	c.hold(owner)
	return c.adopt(t, frame, frame, o)
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

// rowNow is what the view reads, where the state has something to say.
func (c *frameCore) rowNow(t *wire.ViewType) wire.View {
	c.check("View")
	switch s := c.state.Load(); {
	case s&stateFailed != 0:
		return wire.View{}
	case s&stateTruth == 0:
		return c.row
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := c.remake(t)
	if err != nil {
		return wire.View{}
	}
	return m.row
}

func (c *frameCore) failure(t *wire.ViewType) error {
	c.check("Err")
	switch s := c.state.Load(); {
	case s&stateFailed != 0:
		return c.err
	case s&stateTruth == 0:
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.remake(t)
	return err
}

// remake makes a frame where the ordinary message is the truth. The one before is
// left to the garbage collector: views of it may be in use.
func (c *frameCore) remake(t *wire.ViewType) (*made, error) {
	o := Options{AllowPartial: true, MaxDepth: c.opts.MaxDepth, MaxSize: c.opts.MaxSize}
	frame, owner, err := encodeShared(c.msg.Interface(), &o)
	if err != nil {
		return nil, err
	}
	if c.made != nil && string(c.made.frame) == string(frame) {
		owner.Free()
		return c.made, nil
	}
	m := &made{frame: frame, owner: owner}
	m.row, _ = t.Root(messageIn(frame), false) // we have made it
	c.made = m
	return m, nil
}

// current is the whole frame, sealed, with its owner.
func (c *frameCore) current(t *wire.ViewType) ([]byte, Owner, error) {
	if c.state.Load()&^stateRow == 0 {
		return c.data, c.owner, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch s := c.state.Load(); {
	case s&stateFailed != 0:
		return nil, nil, c.err
	case s&stateTruth != 0:
		m, err := c.remake(t)
		if err != nil {
			return nil, nil, err
		}
		return m.frame, m.owner, nil
	}
	c.seal()
	return c.data, c.owner, nil
}

// seal ends an edit.
func (c *frameCore) seal() {
	if c.state.Load()&stateEdit != 0 {
		end := len(c.data) - envelope.TrailerSize
		le.PutUint32(c.data[end:], crc32c.Checksum(c.data[:end]))
		c.state.And(^uint32(stateEdit))
	}
}

func (c *frameCore) converted() bool {
	return len(c.data) > 0 && len(c.read) > 0 && &c.data[0] != &c.read[0]
}

// cloneTo makes to, which is empty, a clone.
func (c *frameCore) cloneTo(t *wire.ViewType, to *frameCore) {
	_, _, _ = c.current(t) // seals it; an error is cloned
	c.mu.Lock()
	defer c.mu.Unlock()
	to.opts = c.opts
	state := uint32(stateRow)
	switch s := c.state.Load(); {
	case s&stateFailed != 0:
		to.msg, to.err = t.New().ProtoReflect(), c.err
		state = stateFailed | s&stateTruth
	case s&stateTruth != 0:
		to.msg = proto.Clone(c.msg.Interface()).ProtoReflect()
		state = stateTruth
	case c.data == nil:
	case c.lent:
		// Somebody else's memory may change once c is not in use any more.
		b := pool.Default.NewShared(len(c.data))
		copy(b.Bytes(), c.data)
		to.hold(b)
		read := c.read
		if !c.converted() {
			read = b.Bytes()
		}
		_ = to.adopt(t, b.Bytes(), read, &c.opts) // c has adopted it
	default:
		if c.owner != nil {
			c.owner.Ref()
		}
		to.hold(c.owner)
		to.row, to.data, to.read = c.row, c.data, c.read
		to.shared, c.shared = true, true
	}
	to.state.Store(state)
}

func (c *frameCore) edit(t *wire.ViewType) (row wire.View, err error) {
	c.check("Edit")
	name := t.Layout().Name()
	switch s := c.state.Load(); {
	case s&stateReleased != 0:
		return row, fault.Of(fault.Released, name, "a released frame can't be edited")
	case t.Layout().Inline:
		return row, fault.Of(fault.Misuse, name, "an inline message can't be edited as a frame")
	case s&stateFailed != 0:
		return row, c.err
	case s&stateTruth != 0:
		c.mu.Lock()
		m, err := c.remake(t)
		c.mu.Unlock()
		if err != nil {
			return row, err
		}
		o := c.opts
		c.debug.excuse()
		c.reset()
		c.hold(m.owner)
		c.row, c.data, c.read, c.opts = m.row, m.frame, m.frame, o
	}
	if c.converted() {
		// Views may be reading the bytes that came; c.row is in the others.
		c.data, c.owner, c.lent, c.shared = c.read, nil, false, false
		c.debug.excuse()
		c.debug.drop()
	}
	if c.data == nil {
		return row, fault.Of(fault.Misuse, name, "a frame that holds nothing can't be edited")
	}
	if c.isShared() {
		return row, fault.Of(fault.Misuse, name, "the frame's bytes are shared; release the other holder, or edit a copy")
	}
	row, _ = t.Root(messageIn(c.data), true)
	c.msg = nil
	c.state.Store(stateEdit)
	return row, nil
}

// isShared reports whether others may be reading the bytes. Of our own memory the
// number of references tells, so that an edit is possible again once it is back.
func (c *frameCore) isShared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o, ok := c.owner.(interface{ Refs() int }); ok {
		return o.Refs() > 1
	}
	return c.shared
}

// free gives the memory back.
func (c *frameCore) free() {
	if c.state.Load()&stateReleased != 0 {
		return
	}
	owner, made := c.owner, c.made
	c.debug.release()
	c.reset()
	c.state.Store(stateReleased)
	if owner != nil {
		owner.Free()
	}
	if made != nil {
		made.owner.Free()
	}
}

// reset leaves the memory to the garbage collector.
func (c *frameCore) reset() {
	c.row, c.data, c.read, c.owner, c.lent, c.shared = wire.View{}, nil, nil, nil, false, false
	c.msg, c.err, c.made = nil, nil, nil
	c.debug.drop()
	if c.state.Load() != 0 { // a store costs more than all else here
		c.state.Store(0)
	}
}

// hold takes over a reference to the owner of memory.
func (c *frameCore) hold(owner Owner) {
	c.owner = owner
	c.debug.holds(owner)
}

func (c *frameCore) format(t *wire.ViewType) string {
	if c.state.Load()&stateReleased != 0 {
		return "(released)"
	}
	return c.rowNow(t).Format()
}

func (c *frameCore) logValue(t *wire.ViewType) slog.Value {
	if c.state.Load()&stateReleased != 0 {
		return slog.StringValue("(released)")
	}
	return c.rowNow(t).LogValue()
}
