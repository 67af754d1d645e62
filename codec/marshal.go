package codec

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/pool"
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

func (o *Options) marshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	if m == nil {
		return dst, fault.New(fault.NotMessage, "nil can't be encoded")
	}
	m, t, lm, init, err := wire.Bound(m)
	if err != nil {
		return dst, err
	}
	if f, ok := framedOf(t, m); ok {
		own := *o // lest every call's options go to the heap
		return f.appendTo(dst, &own)
	}
	if init && !o.AllowPartial {
		if err := proto.CheckInitialized(m); err != nil {
			return dst, &Error{Kind: KindRequired, Offset: -1, Field: lm.Name(), Err: err}
		}
	}
	eo := wire.EncodeOptions{DiscardUnknown: o.DiscardUnknown, MaxDepth: o.maxDepth(), MaxSize: o.maxSize()}
	begin := len(dst)
	if t != nil && !o.DiscardUnknown {
		if out, ok := encode(dst, t, m, lm, eo); ok {
			return out, nil
		}
	}
	dst = append(dst, header[:]...)
	if dst, err = wire.AppendReflect(dst, lm, m.ProtoReflect(), eo); err != nil {
		return dst, err
	}
	return seal(dst, begin, lm.ID()), nil
}

var header [envelope.HeaderSize]byte

// firstScratch is the room that a message gets that does not fit in the caller's
// buffer. It is enough for most.
const firstScratch = 4 << 10

// encode appends the frame of a message by its generated methods. It reports false
// where reflection has to find out what is wrong.
func encode(dst []byte, t *wire.Type, m proto.Message, lm *layout.Message, eo wire.EncodeOptions) ([]byte, bool) {
	begin := len(dst)
	const least = envelope.Overhead + 64 // not worth a try below
	if room := cap(dst) - begin; room >= least {
		end, result := wire.Encode(dst[:cap(dst)-envelope.TrailerSize], begin+envelope.HeaderSize, t, m, eo)
		switch result {
		case wire.Done:
			return seal(dst[:end], begin, lm.ID()), true
		case wire.Reflect:
			return dst, false
		}
	}
	for size := max(firstScratch, 2*(cap(dst)-begin)); ; {
		scratch := buffers.Get(size)
		end, result := wire.Encode((*scratch)[:size-envelope.TrailerSize], envelope.HeaderSize, t, m, eo)
		if result == wire.Done {
			dst = appendSealed(dst, (*scratch)[:end], lm.ID())
		}
		buffers.Put(scratch)
		if result != wire.Small {
			return dst, result == wire.Done
		}
		size = max(4*size, end+end/4)
	}
}

// buffers are scratch room for messages whose size is not known.
var buffers pool.Pool

// appendSealed appends the frame of a message that stands behind a reserved header,
// copying it while its checksum is computed.
func appendSealed(dst, message []byte, id uint64) []byte {
	envelope.PutHeader(message, envelope.Header{SchemaID: id, Size: uint32(len(message) - envelope.HeaderSize)})
	begin, size := len(dst), len(message)+envelope.TrailerSize
	if cap(dst)-begin < size {
		if begin == 0 {
			dst = make([]byte, 0, size)
		} else {
			dst = slices.Grow(dst, size)
		}
	}
	dst = dst[:begin+size]
	sum := crc32c.Copy(dst[begin:begin+len(message)], message)
	le.PutUint32(dst[begin+len(message):], sum)
	return dst
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
