package gravenconnect

import (
	"connectrpc.com/connect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/fallback"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

// Codec is what connect-go looks for; version 2 is asserted where that is linked.
var (
	_ connect.Codec = (*Codec)(nil)
	_ interface {
		MarshalAppend([]byte, any) ([]byte, error)
		MarshalStable(any) ([]byte, error)
		IsBinary() bool
	} = (*Codec)(nil)
)

// Option is an option of [HandlerOptions] and [ClientOptions].
type Option func(*options)

type options struct {
	codec    codec.Options
	fallback bool
}

// WithOptions encodes and decodes with options of its own.
func WithOptions(o codec.Options) Option {
	return func(s *options) { s.codec = o }
}

// WithFallback makes a client go on in protobuf with a server that does not speak
// Graven. A call that has shown it is made again, and for ten minutes the host is
// not asked again. The client needs an HTTP client made by [HTTPClient] for that.
//
// A call is made again only if the server has refused to read the request, so that no
// handler has seen it. A stream is opened again if, besides, nothing was received
// on it, and at most 64 messages were sent, which are then sent again: until the
// first answer they must not be changed. Otherwise the call fails with
// [ErrNoCodec], and the next one is made in protobuf.
//
// Without this option such a call fails with [ErrNoCodec]. For handlers the option
// means nothing.
func WithFallback() Option {
	return func(s *options) { s.fallback = true }
}

func collect(opts []Option) *options {
	s := new(options)
	for _, o := range opts {
		o(s)
	}
	return s
}

// HandlerOptions makes a handler speak Graven beside protobuf and JSON.
func HandlerOptions(opts ...Option) []connect.HandlerOption {
	return []connect.HandlerOption{connect.WithCodec(New(collect(opts).codec))}
}

// ClientOptions makes a client speak Graven. A server that lacks the codec is told from
// other failures: the call fails with an error that says what the server has to
// do, with connect.CodeUnimplemented, and matches [ErrNoCodec].
//
// What the options know about servers they know by the host of the URL.
func ClientOptions(opts ...Option) []connect.ClientOption {
	s := collect(opts)
	c := &Codec{options: s.codec, pool: pool.Default, both: s.fallback}
	watch := new(interceptor)
	if s.fallback {
		watch.fallback = fallback.NewMemory()
	}
	return []connect.ClientOption{connect.WithCodec(c), connect.WithInterceptors(watch)}
}
