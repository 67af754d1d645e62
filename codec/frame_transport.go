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

// GravenUnmarshal is for transports: it puts a received frame into f, after it has verified
// it. If owner, which may be nil, says that data can be kept and does not keep
// much more memory than that, f takes a reference to it; else it makes a copy
// while it checks the CRC. No data is a message with nothing set. After an error f is empty.
//
// What f held before is left to the garbage collector, unless it was released.
func (f *Frame[V]) GravenUnmarshal(data []byte, owner Owner, o Options) error {
	err := f.receive(data, owner, &o)
	if err != nil {
		o.failed(true, f.name(), len(data), err)
	}
	return err
}

func (f *Frame[V]) receive(data []byte, owner Owner, o *Options) error {
	f.Reset()
	err := f.received(data, owner, o)
	if err != nil {
		held := f.owner
		f.release()
		f.Reset()
		if held != nil {
			held.Free()
		}
	}
	return err
}

func (f *Frame[V]) received(data []byte, owner Owner, o *Options) error {
	f.opts = *o
	if len(data) == 0 {
		if !o.AllowPartial && f.typ().NeedsInit() {
			return f.initialized(o)
		}
		return nil
	}
	// A short message may stand in a buffer many times its size, which would be kept
	// as long as the frame.
	if owner != nil && cap(data) <= 2*len(data) {
		owner.Ref()
		f.hold(owner)
		return f.open(data, o)
	}
	if len(data) > o.maxSize()+envelope.Overhead {
		_, _, err := envelope.Open(data, o.maxSize()) // says what is wrong, before memory is taken
		return envelopeError(err)
	}
	own := pool.Default.NewShared(len(data))
	f.hold(own)
	id, msg, err := envelope.OpenCopy(own.Bytes(), data, o.maxSize())
	if err != nil {
		return envelopeError(err)
	}
	return f.verify(own.Bytes(), msg, id, o)
}

// GravenAppend is for transports: it appends the frame to dst, the bytes that came if they
// are what f holds. After an error it returns dst as it was.
func (f *Frame[V]) GravenAppend(dst []byte, o Options) ([]byte, error) {
	out, err := f.appendTo(dst, &o)
	if err != nil {
		o.failed(false, f.name(), 0, err)
		return dst, err
	}
	if o.Counters != nil {
		o.Counters.Encoded.Add(1)
	}
	return out, nil
}

func (f *Frame[V]) appendTo(dst []byte, o *Options) ([]byte, error) {
	f.check("sending")
	if f.state.Load()&stateReleased != 0 {
		return dst, fault.Of(fault.Released, f.name(), "a released frame can't be sent")
	}
	if o.DiscardUnknown {
		m, err := f.ordinary(false)
		if err != nil {
			return dst, err
		}
		return o.marshalAppend(dst, m.Interface())
	}
	frame, _, err := f.current()
	if err != nil {
		return dst, err
	}
	if f.state.Load()&stateTruth != 0 && !o.AllowPartial && f.typ().NeedsInit() {
		if err := f.checkInitialized(); err != nil {
			return dst, err
		}
	}
	if frame == nil {
		return o.marshalAppend(dst, f.typ().New())
	}
	if n := len(frame) - envelope.Overhead; n > o.maxSize() {
		return dst, fault.Newf(fault.TooLarge, "a message of %d bytes, the limit is %d", n, o.maxSize())
	}
	return append(dst, frame...), nil
}

// GravenBuffer is for transports that send without copying: the frame's bytes with their
// owner. The frame can't be edited until the owner has back the references that the transport
// takes. A nil frame says that it has to be appended.
func (f *Frame[V]) GravenBuffer() ([]byte, Owner) {
	f.check("sending")
	if f.state.Load()&^stateEdit != 0 || f.opts.DiscardUnknown {
		return nil, nil
	}
	frame, owner, err := f.current()
	if err != nil || owner == nil || f.lent {
		return nil, nil
	}
	f.mu.Lock()
	f.shared = true
	f.mu.Unlock()
	return frame, owner
}
