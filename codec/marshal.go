package codec

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
)

// Marshal returns the frame of m. The caller owns it. A nil m is [ErrNotMessage]; a
// typed nil is an empty message, as in protobuf.
func (o Options) Marshal(m proto.Message) ([]byte, error) {
	b, err := o.MarshalAppend(nil, m)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// MarshalAppend appends the frame of m to dst and returns the result. After an
// error it returns dst as it was.
func (o Options) MarshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	out, err := o.marshalAppend(dst, m)
	if err != nil {
		o.failed(false, nameOf(m), 0, err)
		return dst, err
	}
	if o.Counters != nil {
		o.Counters.Encoded.Add(1)
	}
	return out, nil
}

var header [envelope.HeaderSize]byte

func (o *Options) marshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	if m == nil {
		return dst, fault.New(fault.NotMessage, "nil can't be encoded")
	}
	r := m.ProtoReflect()
	lm, err := layout.Of(r.Descriptor())
	if err != nil {
		return dst, err
	}
	if !o.AllowPartial {
		if err := proto.CheckInitialized(m); err != nil {
			return dst, &Error{Kind: KindRequired, Offset: -1, Field: lm.Name(), Err: err}
		}
	}
	begin := len(dst)
	dst = append(dst, header[:]...)
	dst, err = wire.AppendReflect(dst, lm, r, wire.EncodeOptions{
		DiscardUnknown: o.DiscardUnknown, MaxDepth: o.maxDepth(), MaxSize: o.maxSize(),
	})
	if err != nil {
		return dst, err
	}
	return seal(dst, begin, lm.ID()), nil
}

// seal completes the frame that begins at begin: a reserved header and a message.
func seal(dst []byte, begin int, id uint64) []byte {
	size := uint32(len(dst) - begin - envelope.HeaderSize)
	envelope.PutHeader(dst[begin:], envelope.Header{SchemaID: id, Size: size})
	return le.AppendUint32(dst, crc32c.Checksum(dst[begin:]))
}

func nameOf(m proto.Message) protoreflect.FullName {
	if m == nil {
		return ""
	}
	return m.ProtoReflect().Descriptor().FullName()
}
