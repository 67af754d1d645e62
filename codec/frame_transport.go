package codec

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/envelope"
)

// framed is a Frame of any message.
type framed interface {
	appendTo(dst []byte, o *Options) ([]byte, error)
	receive(data []byte, owner Owner, o *Options) error
}

// framedOf is m if that is a Frame; t are the functions of its type, which a Frame has not.
func framedOf(t *wire.Type, m proto.Message) (framed, bool) {
	if t != nil {
		return nil, false
	}
	f, ok := m.(framed)
	return f, ok
}

func (c *frameCore) receive(t *wire.ViewType, data []byte, owner Owner, o *Options) error {
	c.reset()
	err := c.received(t, data, owner, o)
	if err != nil {
		held := c.owner
		c.debug.release()
		c.reset()
		if held != nil {
			held.Free()
		}
	}
	return err
}

func (c *frameCore) received(t *wire.ViewType, data []byte, owner Owner, o *Options) error {
	c.opts = *o
	if len(data) == 0 {
		if !o.AllowPartial && t.NeedsInit() {
			return c.initialized(t, o)
		}
		return nil
	}
	// A short message may stand in a buffer many times its size, which would be kept
	// as long as the frame.
	if owner != nil && cap(data) <= 2*len(data) {
		owner.Ref()
		c.hold(owner)
		return c.open(t, data, o)
	}
	if len(data)-envelope.Overhead > o.maxSize() {
		_, _, err := envelope.Open(data, o.maxSize()) // says what is wrong, before memory is taken
		return envelopeError(err)
	}
	own := pool.Default.NewShared(len(data))
	c.hold(own)
	id, msg, err := envelope.OpenCopy(own.Bytes(), data, o.maxSize())
	if err != nil {
		return envelopeError(err)
	}
	return c.verify(t, own.Bytes(), msg, id, o)
}

func (c *frameCore) appendTo(t *wire.ViewType, dst []byte, o *Options) ([]byte, error) {
	c.check("sending")
	if c.state.Load()&stateReleased != 0 {
		return dst, fault.Of(fault.Released, t.Layout().Name(), "a released frame can't be sent")
	}
	if o.DiscardUnknown {
		m, err := c.ordinary(t, false)
		if err != nil {
			return dst, err
		}
		return o.marshalAppend(dst, m.Interface())
	}
	frame, _, err := c.current(t)
	if err != nil {
		return dst, err
	}
	if c.state.Load()&stateTruth != 0 && !o.AllowPartial && t.NeedsInit() {
		m, err := c.ordinary(t, false)
		if err == nil {
			err = requiredIn(t, m)
		}
		if err != nil {
			return dst, err
		}
	}
	if frame == nil {
		return o.marshalAppend(dst, t.New())
	}
	if n := len(frame) - envelope.Overhead; n > o.maxSize() {
		return dst, fault.Newf(fault.TooLarge, "a message of %d bytes, the limit is %d", n, o.maxSize())
	}
	return append(dst, frame...), nil
}

func (c *frameCore) buffer(t *wire.ViewType) ([]byte, Owner) {
	c.check("sending")
	if c.state.Load()&^(stateEdit|stateRow) != 0 || c.opts.DiscardUnknown {
		return nil, nil
	}
	frame, owner, err := c.current(t)
	if err != nil || owner == nil || c.lent {
		return nil, nil
	}
	c.mu.Lock()
	c.shared = true
	c.mu.Unlock()
	return frame, owner
}
