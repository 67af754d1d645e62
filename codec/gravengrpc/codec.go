// Package gravengrpc makes gRPC services speak Graven. Importing it registers
// the codec under the name "graven" with google.golang.org/grpc, which is all a
// server needs:
//
//	import _ "github.com/graven-rpc/graven/codec/gravengrpc"
//
// The server then answers each client in the encoding that the client asks for.
// A client asks for Graven with [DialOptions] or, call by call, with
// grpc.CallContentSubtype(gravengrpc.Name). Handlers, stubs and messages stay what
// they are; any proto.Message can be sent, so health checks and reflection work over
// the same connection.
//
// Roll out servers first and clients second.
package gravengrpc

import (
	"fmt"
	"sync/atomic"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

// Name is the content-subtype of Graven: calls in it have the content type
// application/grpc+graven.
const Name = "graven"

func init() {
	encoding.RegisterCodecV2(New(codec.Options{}))
}

// New returns a codec with options of its own, in the place of the one that
// is registered on import: for a whole program by encoding.RegisterCodecV2
// (the last registration wins), for the calls of a client by [WithOptions] or
// grpc.ForceCodecV2. Do not use it with grpc.ForceServerCodecV2, which takes
// every client of the server, health checks and reflection too, to speak
// Graven.
//
// The codec is safe for concurrent use. Decoded messages have no part of gRPC's
// buffers; a message that holds its frame, see the frame types of package codec,
// keeps a reference to the buffer as long as it needs it.
func New(o codec.Options) encoding.CodecV2 {
	return &grpcCodec{options: o, pool: pool.Default}
}

var _ encoding.CodecV2 = (*grpcCodec)(nil)
var _ mem.BufferPool = (*pool.Pool)(nil)

type grpcCodec struct {
	options codec.Options
	pool    *pool.Pool
	// guess is how large a buffer the next message should be written to.
	guess atomic.Int64
}

const (
	// maxUnpooled is the size up to which gRPC does not give buffers back to a
	// pool (mem.IsBelowBufferPoolingThreshold), so that taking one from ours
	// would lose it.
	maxUnpooled = 1 << 10

	minGuess = 4 << 10
	maxGuess = 1 << 20
)

func (c *grpcCodec) Name() string { return Name }

// Marshal writes the frame of v to a buffer that gRPC gives back to the pool
// when it was sent.
func (c *grpcCodec) Marshal(v any) (mem.BufferSlice, error) {
	if data := sendHeld(v); data != nil {
		return data, nil
	}
	// The size of a frame is known only when it is written, so it is written to
	// a buffer that most messages fit in, and moved if it leaves much room.
	scratch := c.pool.Get(int(max(c.guess.Load(), minGuess)))
	frame, err := c.appendTo((*scratch)[:0], v)
	if err != nil {
		c.pool.Put(scratch)
		return nil, err
	}
	c.learn(len(frame))
	if cap(frame) != cap(*scratch) {
		// It did not fit and is in memory of its own, which is as good.
		c.pool.Put(scratch)
		return mem.BufferSlice{mem.SliceBuffer(frame)}, nil
	}
	if len(frame) <= maxUnpooled {
		small := append(make([]byte, 0, len(frame)), frame...)
		c.pool.Put(scratch)
		return mem.BufferSlice{mem.SliceBuffer(small)}, nil
	}
	if len(frame) < cap(frame)/2 {
		fitting := c.pool.Get(len(frame))
		copy(*fitting, frame)
		c.pool.Put(scratch)
		return mem.BufferSlice{mem.NewBuffer(fitting, c.pool)}, nil
	}
	*scratch = frame
	return mem.BufferSlice{mem.NewBuffer(scratch, c.pool)}, nil
}

// learn keeps guess near the largest of the recent messages.
func (c *grpcCodec) learn(size int) {
	old := c.guess.Load()
	switch n := int64(min(size, maxGuess)); {
	case n > old && n > minGuess:
		c.guess.Store(n)
	case n < old/2:
		c.guess.Store(old - old/64)
	}
}

func (c *grpcCodec) appendTo(dst []byte, v any) ([]byte, error) {
	if w, ok := v.(appender); ok {
		return w.GravenAppend(dst, c.options)
	}
	m := messageOf(v)
	if m == nil {
		return dst, c.failed(false, notMessage(v))
	}
	return c.options.MarshalAppend(dst, m)
}

// Unmarshal replaces the content of v by what is in data. No bytes at all are
// the message with nothing set, since that is how gRPC sends a nil message.
func (c *grpcCodec) Unmarshal(data mem.BufferSlice, v any) error {
	size := data.Len()
	if u, ok := v.(unmarshaler); ok {
		return c.receive(data, size, u)
	}
	m := messageOf(v)
	if m == nil || !m.ProtoReflect().IsValid() {
		return c.failed(true, notMessage(v))
	}
	if size == 0 {
		proto.Reset(m)
		if c.options.AllowPartial {
			return nil
		}
		if err := proto.CheckInitialized(m); err != nil {
			return c.failed(true, &codec.Error{Kind: codec.KindRequired, Offset: -1, Field: m.ProtoReflect().Descriptor().FullName(), Err: err})
		}
		return nil
	}
	if len(data) == 1 {
		return c.options.Unmarshal(data[0].ReadOnlyData(), m)
	}
	whole := c.pool.Get(size)
	data.CopyTo(*whole)
	err := c.options.Unmarshal(*whole, m)
	c.pool.Put(whole)
	return err
}

// messageOf returns v as a message, also if it is one of the first
// protobuf API, or nil if it is none.
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
func (c *grpcCodec) failed(decoding bool, err *codec.Error) error {
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
