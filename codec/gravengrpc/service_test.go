package gravengrpc

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/experimental"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

// All tests of this package run over a codec whose pool overwrites what is put back.
func init() {
	encoding.RegisterCodecV2(&grpcCodec{pool: &pool.Pool{Poison: true}})
}

// echo is a service of BytesValue without generated code. Every method answers with what
// it got, or as its field says.
type echo struct {
	unary func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error)
	calls atomic.Int32 // handlers that have got a request
	bidi  func(grpc.ServerStream) error
}

const (
	unaryMethod  = "/test.Echo/Unary"
	serverMethod = "/test.Echo/ServerStream"
	clientMethod = "/test.Echo/ClientStream"
	bidiMethod   = "/test.Echo/Bidi"
)

var (
	serverDesc = &grpc.StreamDesc{StreamName: "ServerStream", ServerStreams: true}
	clientDesc = &grpc.StreamDesc{StreamName: "ClientStream", ClientStreams: true}
	bidiDesc   = &grpc.StreamDesc{StreamName: "Bidi", ServerStreams: true, ClientStreams: true}
)

func (e *echo) desc() *grpc.ServiceDesc {
	return &grpc.ServiceDesc{
		ServiceName: "test.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				m := new(wrapperspb.BytesValue)
				if err := decode(m); err != nil {
					return nil, err
				}
				e.calls.Add(1)
				if e.unary != nil {
					return e.unary(ctx, m)
				}
				return m, nil
			},
		}},
		Streams: []grpc.StreamDesc{
			{StreamName: "ServerStream", ServerStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
				m := new(wrapperspb.BytesValue)
				if err := s.RecvMsg(m); err != nil {
					return err
				}
				e.calls.Add(1)
				for range 3 {
					if err := s.SendMsg(m); err != nil {
						return err
					}
				}
				return nil
			}},
			{StreamName: "ClientStream", ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
				all := new(wrapperspb.BytesValue)
				for {
					m := new(wrapperspb.BytesValue)
					if err := s.RecvMsg(m); err == io.EOF {
						return s.SendMsg(all)
					} else if err != nil {
						return err
					}
					e.calls.Add(1)
					all.Value = append(all.Value, m.Value...)
				}
			}},
			{StreamName: "Bidi", ServerStreams: true, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
				if e.bidi != nil {
					return e.bidi(s)
				}
				m := new(wrapperspb.BytesValue) // used again for each
				for {
					if err := s.RecvMsg(m); err == io.EOF {
						return nil
					} else if err != nil {
						return err
					}
					e.calls.Add(1)
					if err := s.SendMsg(m); err != nil {
						return err
					}
				}
			}},
		},
	}
}

// poisoned are the buffers that messages are received in.
var poisoned = &pool.Pool{Poison: true}

// serve starts a server with the echo service and returns its address.
func serve(t testing.TB, e *echo, register func(*grpc.Server), opts ...grpc.ServerOption) string {
	t.Helper()
	s := grpc.NewServer(append([]grpc.ServerOption{experimental.BufferPool(poisoned)}, opts...)...)
	s.RegisterService(e.desc(), nil)
	if register != nil {
		register(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// serveWithoutCodec starts a server that takes everything for protobuf, as grpc-go does
// with a content-subtype that it does not know.
func serveWithoutCodec(t testing.TB, e *echo) string {
	return serve(t, e, nil, grpc.ForceServerCodecV2(encoding.GetCodecV2("proto")))
}

func dial(t testing.TB, addr string, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	cc, err := grpc.NewClient(addr, append(opts,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		experimental.WithBufferPool(poisoned))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return cc
}

// dialGraven dials as the documentation says to.
func dialGraven(t testing.TB, addr string, opts ...DialOption) *grpc.ClientConn {
	return dial(t, addr, DialOptions(opts...)...)
}

// withPoison is a client's codec over a poisoning pool, with options.
func withPoison(o codec.Options) DialOption {
	return func(d *dialOptions) { d.codec = &grpcCodec{options: o, pool: &pool.Pool{Poison: true}} }
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// randomBytes returns n bytes that differ from those of another seed.
func randomBytes(seed uint64, n int) []byte {
	const spread = 1 << 18
	source := noise()
	return bytes.Clone(source[seed*7919%spread:][:n])
}

var noise = sync.OnceValue(func() []byte {
	rng := rand.NewChaCha8([32]byte{1})
	b := make([]byte, 1<<18+1<<19)
	rng.Read(b)
	return b
})

// The sizes at which gRPC and our pool do things differently: not pooled, one buffer
// of an HTTP/2 frame, a few, many.
var sizes = []int{0, 1, 200, 1000, 1024, 2 << 10, 5000, 40 << 10, 300 << 10}

func mustEcho(t *testing.T, cc *grpc.ClientConn, value []byte, opts ...grpc.CallOption) {
	t.Helper()
	reply := new(wrapperspb.BytesValue)
	if err := cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes(value), reply, opts...); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(reply.Value, value) {
		t.Fatalf("%d bytes came back as %d others", len(value), len(reply.Value))
	}
}

// serveHTTP serves HTTP/2 without TLS and returns the address.
func serveHTTP(t testing.TB, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: h, Protocols: &protocols}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return l.Addr().String()
}
