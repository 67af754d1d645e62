package codec

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/envelope"
)

var le = binary.LittleEndian

// Unmarshal resets m and sets it from a whole frame. Nothing in m refers to the
// frame's memory afterwards. Bytes in front of or behind the frame are an error, and so
// are no bytes at all. After an error m is empty.
func (o Options) Unmarshal(frame []byte, m proto.Message) error {
	err := o.unmarshal(frame, m)
	if err != nil {
		o.failed(true, nameOf(m), len(frame), err)
	}
	return err
}

func (o *Options) unmarshal(frame []byte, m proto.Message) error {
	if m == nil {
		return fault.New(fault.NotMessage, "nil can't be decoded into")
	}
	m, t, lm, init, err := wire.Bound(m)
	if err != nil {
		return err
	}
	if !empty(t, m) {
		return fault.Of(fault.NotMessage, lm.Name(), "a nil pointer can't be decoded into")
	}
	id, msg, err := envelope.Open(frame, o.maxSize())
	if err != nil {
		return envelopeError(err)
	}
	if err := o.checkSchema(id, lm); err != nil {
		return err
	}
	plan, convert, err := wire.VerifyRoot(lm, msg, o.maxDepth(), o.budget(len(frame)))
	if err != nil {
		return inFrame(err)
	}
	do := wire.DecodeOptions{
		DiscardUnknown: o.DiscardUnknown, MaxDepth: o.maxDepth(), Resolver: o.Resolver, Budget: o.budget(len(frame)),
	}
	if t != nil && !convert {
		err = wire.DecodeRoot(t, m, plan, msg, do)
	} else {
		err = wire.DecodeReflect(m.ProtoReflect(), lm, msg, do)
	}
	if err == nil && init && !o.AllowPartial {
		if e := proto.CheckInitialized(m); e != nil {
			err = &Error{Kind: KindRequired, Offset: -1, Field: lm.Name(), Err: e}
		}
	}
	if err != nil {
		proto.Reset(m)
		return err
	}
	if o.Counters != nil {
		o.Counters.read(lm.IsFull(msg), id == lm.ID())
	}
	return nil
}

// empty resets m, whose functions are t if it has some. It reports false for a nil pointer.
func empty(t *wire.Type, m proto.Message) bool {
	if t != nil {
		return t.Clear(m)
	}
	if v := reflect.ValueOf(m); v.Kind() == reflect.Pointer && v.IsNil() {
		return false
	}
	proto.Reset(m)
	return true
}

// checkSchema compares the schema id of a frame with that of the message type.
func (o *Options) checkSchema(id uint64, lm *layout.Message) error {
	want := lm.ID()
	if id == want || layout.TypeID(id) == layout.TypeID(want) && !o.StrictSchema {
		return nil
	}
	e := &Error{Kind: KindSchema, Offset: 8, Field: lm.Name(), Want: want, Got: id}
	if layout.TypeID(id) != layout.TypeID(want) {
		e.Detail = fmt.Sprintf("the frame holds another message type (schema id %#016x, expected %#016x)", id, want)
	} else {
		e.Detail = fmt.Sprintf("the frame is of another version of the schema (id %#016x, expected %#016x)", id, want)
	}
	return e
}

// inFrame moves an error's offset from the message into the frame.
func inFrame(err error) error {
	e, ok := err.(*Error)
	if !ok || e.Offset < 0 {
		return err
	}
	c := *e
	c.Offset += envelope.HeaderSize
	return &c
}
