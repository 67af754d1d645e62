// Package gravenconnect makes Connect services and clients speak Graven, in the
// Connect, gRPC and gRPC-Web protocols. A handler answers each client in the
// encoding that the client asks for, Graven, protobuf or JSON:
//
//	path, handler := bankv1connect.NewBankServiceHandler(bank, gravenconnect.HandlerOptions()...)
//
// A client asks for Graven:
//
//	client := bankv1connect.NewBankServiceClient(httpClient, url, gravenconnect.ClientOptions()...)
//
// Roll out servers first and clients second. The options are for
// connectrpc.com/connect; the [Codec] serves both that and its version 2.
package gravenconnect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

// Name is the name of the codec. Content types follow from it:
// application/graven, application/connect+graven, application/grpc+graven and
// application/grpc-web+graven.
const Name = "graven"

// Codec is Graven for connect-go. It has the methods of connect.Codec of
// connectrpc.com/connect, with those by which that appends to a buffer and puts
// messages in URLs, and those of connect.Codec and connect.StableCodec of
// connectrpc.com/connect/v2. In version 2, name the default codecs beside it,
// since the option replaces them:
//
//	connecthttp.WithCodecs(gravenconnect.New(codec.Options{}), connectproto.NewBinaryCodec(), connectproto.NewJSONCodec())
//
// Decoding copies: messages have no part of what they were decoded from. What encoding
// returns belongs to the caller and is not used again. A Codec is safe
// for concurrent use.
type Codec struct {
	options codec.Options
	pool    *pool.Pool
	// both makes decoding take protobuf too, for clients that fall back.
	both bool
}

// New returns a codec with options.
func New(o codec.Options) *Codec { return &Codec{options: o, pool: pool.Default} }

// Name returns "graven".
func (c *Codec) Name() string { return Name }

// Marshal returns the frame of a message.
func (c *Codec) Marshal(message any) ([]byte, error) {
	b, err := c.MarshalAppend(nil, message)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// MarshalAppend appends the frame of a message to dst. After an error it returns
// dst as it was.
func (c *Codec) MarshalAppend(dst []byte, message any) ([]byte, error) {
	switch m := message.(type) {
	case inProtobuf:
		return proto.MarshalOptions{AllowPartial: c.options.AllowPartial}.MarshalAppend(dst, m.Message)
	case appender:
		return m.GravenAppend(dst, c.options)
	}
	m := messageOf(message)
	if m == nil {
		return dst, c.failed(false, notMessage(message))
	}
	return c.options.MarshalAppend(dst, m)
}

// MarshalStable is Marshal: of the same message with the same schema, an encoder
// always makes the same frame. A message that holds a frame that it got from
// elsewhere passes that on as it is.
func (c *Codec) MarshalStable(message any) ([]byte, error) {
	if m, ok := message.(inProtobuf); ok {
		return proto.MarshalOptions{AllowPartial: c.options.AllowPartial, Deterministic: true}.Marshal(m.Message)
	}
	return c.Marshal(message)
}

// IsBinary reports true: frames are not text.
func (c *Codec) IsBinary() bool { return true }

// Unmarshal replaces the content of a message by that of a frame. No bytes at all are the
// message with nothing set: that is the body of a nil message.
func (c *Codec) Unmarshal(data []byte, message any) error {
	if u, ok := message.(unmarshaler); ok {
		return u.GravenUnmarshal(data, nil, c.options)
	}
	m := messageOf(message)
	if m == nil || !m.ProtoReflect().IsValid() {
		return c.failed(true, notMessage(message))
	}
	switch {
	case len(data) == 0:
		proto.Reset(m)
		if c.options.AllowPartial {
			return nil
		}
		if err := proto.CheckInitialized(m); err != nil {
			return c.failed(true, &codec.Error{Kind: codec.KindRequired, Offset: -1, Field: m.ProtoReflect().Descriptor().FullName(), Err: err})
		}
		return nil
	case c.both && data[0] != 'G':
		// A frame begins with a byte that is no valid tag of protobuf, so one is
		// never taken for the other.
		return proto.UnmarshalOptions{AllowPartial: c.options.AllowPartial, DiscardUnknown: c.options.DiscardUnknown}.Unmarshal(data, m)
	}
	return c.options.Unmarshal(data, m)
}

// MarshalWrite writes the frame of a message to dst, in one call of Write. It is
// Marshal for version 2.
func (c *Codec) MarshalWrite(_ context.Context, dst io.Writer, message any) error {
	if b, ok := dst.(interface{ AvailableBuffer() []byte }); ok {
		// A bytes.Buffer and its like: what is written where it will be kept is
		// not copied.
		frame, err := c.MarshalAppend(b.AvailableBuffer(), message)
		if err != nil {
			return err
		}
		_, err = dst.Write(frame)
		return err
	}
	scratch := c.pool.Get(scratchSize)
	defer c.pool.Put(scratch)
	frame, err := c.MarshalAppend((*scratch)[:0], message)
	if err != nil {
		return err
	}
	_, err = dst.Write(frame)
	return err
}

// MarshalWriteStable is MarshalStable for version 2.
func (c *Codec) MarshalWriteStable(ctx context.Context, dst io.Writer, message any) error {
	return c.MarshalWrite(ctx, dst, message)
}

// scratchSize is the size of a buffer that most messages fit in, in bytes.
const scratchSize = 4 << 10

// UnmarshalRead replaces the content of a message by that of the frame that is all of
// src. It is Unmarshal for version 2.
func (c *Codec) UnmarshalRead(_ context.Context, src io.Reader, message any) error {
	if b, ok := src.(*bytes.Buffer); ok {
		return c.Unmarshal(b.Next(b.Len()), message)
	}
	size := scratchSize
	if b, ok := src.(interface{ Len() int }); ok {
		size = b.Len() + 1 // room to see the end
	}
	scratch := c.pool.Get(size)
	defer c.pool.Put(scratch)
	data, err := readAll(src, (*scratch)[:0])
	if err != nil {
		return err
	}
	return c.Unmarshal(data, message)
}

// readAll appends all that src has to dst.
func readAll(src io.Reader, dst []byte) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 1)
		}
		n, err := src.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if err == io.EOF {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

// messageOf returns v as a message, also if it is one of the first protobuf API, or
// nil if it is none.
func messageOf(v any) proto.Message {
	switch m := v.(type) {
	case proto.Message:
		return m
	case protoadapt.MessageV1:
		return protoadapt.MessageV2Of(m)
	}
	return nil
}

func notMessage(v any) *codec.Error {
	detail := fmt.Sprintf("%T is no proto.Message", v)
	if messageOf(v) != nil {
		detail = fmt.Sprintf("a nil %T can't be decoded into", v)
	}
	return &codec.Error{Kind: codec.KindNotMessage, Offset: -1, Detail: detail}
}

// failed tells the hook and the counters about an error that package codec has
// not seen.
func (c *Codec) failed(decoding bool, err *codec.Error) error {
	if n := c.options.Counters; n != nil {
		if decoding {
			n.Refused.Add(1)
		} else {
			n.EncodeFailed.Add(1)
		}
	}
	if c.options.Hook != nil {
		c.options.Hook(codec.Event{Decoding: decoding, Message: err.Field, Err: err})
	}
	return err
}
