package gravenconnect

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type (
	value     = wrapperspb.BytesValue
	echoFunc  func(context.Context, *connect.Request[value]) (*connect.Response[value], error)
	newClient = func(method string, opts ...connect.ClientOption) *connect.Client[value, value]
)

const (
	unaryMethod  = "/test.Echo/Unary"
	getMethod    = "/test.Echo/Get"
	serverMethod = "/test.Echo/ServerStream"
	clientMethod = "/test.Echo/ClientStream"
	bidiMethod   = "/test.Echo/Bidi"
)

// echo is a service of BytesValue that answers with what it got, or as unary says.
type echo struct {
	unary echoFunc
	calls atomic.Int32 // messages that handlers have got
}

func (e *echo) handler(opts ...connect.HandlerOption) http.Handler {
	mux := http.NewServeMux()
	unary := func(ctx context.Context, r *connect.Request[value]) (*connect.Response[value], error) {
		e.calls.Add(1)
		if e.unary != nil {
			return e.unary(ctx, r)
		}
		return connect.NewResponse(r.Msg), nil
	}
	mux.Handle(unaryMethod, connect.NewUnaryHandler(unaryMethod, unary, opts...))
	mux.Handle(getMethod, connect.NewUnaryHandler(getMethod, unary, append(opts, connect.WithIdempotency(connect.IdempotencyNoSideEffects))...))
	mux.Handle(serverMethod, connect.NewServerStreamHandler(serverMethod, func(_ context.Context, r *connect.Request[value], s *connect.ServerStream[value]) error {
		e.calls.Add(1)
		s.ResponseHeader().Set("Echo", r.Header().Get("Echo"))
		return errors.Join(s.Send(r.Msg), s.Send(r.Msg), s.Send(r.Msg))
	}, opts...))
	mux.Handle(clientMethod, connect.NewClientStreamHandler(clientMethod, func(_ context.Context, s *connect.ClientStream[value]) (*connect.Response[value], error) {
		all := new(value)
		for s.Receive() {
			e.calls.Add(1)
			all.Value = append(all.Value, s.Msg().Value...)
		}
		if s.Err() != nil {
			return nil, s.Err()
		}
		res := connect.NewResponse(all)
		res.Header().Set("Echo", s.RequestHeader().Get("Echo"))
		return res, nil
	}, opts...))
	mux.Handle(bidiMethod, connect.NewBidiStreamHandler(bidiMethod, func(_ context.Context, s *connect.BidiStream[value, value]) error {
		s.ResponseHeader().Set("Echo", s.RequestHeader().Get("Echo"))
		for {
			m, err := s.Receive()
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			e.calls.Add(1)
			if err := s.Send(m); err != nil {
				return err
			}
		}
	}, opts...))
	return mux
}

// grpcServer is a service in grpc-go, which takes what it does not know for protobuf: the
// unary method and a stream that does not wait for a request.
func (e *echo) grpcServer() http.Handler {
	s := grpc.NewServer(grpc.ForceServerCodecV2(encoding.GetCodecV2("proto")))
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				m := new(value)
				if err := decode(m); err != nil {
					return nil, err
				}
				e.calls.Add(1)
				if len(m.Value) == 0 {
					m.Value = []byte("empty")
				}
				return m, nil
			},
		}},
		Streams: []grpc.StreamDesc{{StreamName: "Bidi", ServerStreams: true, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
			return s.SendMsg(wrapperspb.Bytes([]byte("first")))
		}}},
	}, nil)
	return s
}

// noted is what a server has seen of the requests.
type noted struct {
	http.Handler
	types chan string
}

func (n noted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := r.Header.Get("Content-Type")
	if r.Method == http.MethodGet {
		s = "GET " + r.URL.Query().Get("encoding")
	}
	n.types <- s
	n.Handler.ServeHTTP(w, r)
}

// serve serves HTTP/1.1 and HTTP/2 without TLS and returns the URL and a channel of
// the requests' content types.
func serve(t testing.TB, h http.Handler) (url string, types chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	types = make(chan string, 1000)
	s := &http.Server{Handler: noted{h, types}, Protocols: &protocols}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return "http://" + l.Addr().String(), types
}

// newHTTPClient speaks HTTP/2 only.
func newHTTPClient(t testing.TB) *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &protocols, DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

var protocols = map[string]connect.ClientOption{
	"Connect":  connect.WithClientOptions(),
	"gRPC":     connect.WithGRPC(),
	"gRPC-Web": connect.WithGRPCWeb(),
}

// clients makes clients of url in a protocol with some options.
func clients(c connect.HTTPClient, url string, protocol connect.ClientOption, opts ...connect.ClientOption) newClient {
	return func(method string, more ...connect.ClientOption) *connect.Client[value, value] {
		return connect.NewClient[value, value](c, url+method, append(append([]connect.ClientOption{protocol}, opts...), more...)...)
	}
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func mustEcho(t testing.TB, c *connect.Client[value, value], v []byte) {
	t.Helper()
	req := connect.NewRequest(wrapperspb.Bytes(v))
	req.Header().Set("Echo", "unary")
	res, err := c.CallUnary(testContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(res.Msg.Value, v) {
		t.Fatalf("%d bytes came back as %d others", len(v), len(res.Msg.Value))
	}
}

// mustStream makes a call of each streaming kind. All is sent before anything is
// received.
func mustStream(t testing.TB, client newClient, v []byte) {
	t.Helper()
	ctx := testContext(t)
	m := wrapperspb.Bytes(v)

	req := connect.NewRequest(m)
	req.Header().Set("Echo", "server")
	s, err := client(serverMethod).CallServerStream(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; s.Receive(); n++ {
		if !bytes.Equal(s.Msg().Value, v) {
			t.Fatalf("server stream: %d bytes", len(s.Msg().Value))
		}
	}
	if err := s.Err(); err != nil || n != 3 || s.ResponseHeader().Get("Echo") != "server" {
		t.Fatalf("server stream: %d messages, %v, %v", n, err, s.ResponseHeader())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	c := client(clientMethod).CallClientStream(ctx)
	c.RequestHeader().Set("Echo", "client")
	for range 3 {
		if err := c.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	res, err := c.CloseAndReceive()
	if err != nil || !bytes.Equal(res.Msg.Value, bytes.Repeat(v, 3)) || res.Header().Get("Echo") != "client" {
		t.Fatalf("client stream: %v", err)
	}

	b := client(bidiMethod).CallBidiStream(ctx)
	b.RequestHeader().Set("Echo", "bidi")
	for range 3 {
		if err := b.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.CloseRequest(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		got, err := b.Receive()
		if err != nil || !bytes.Equal(got.Value, v) {
			t.Fatalf("bidi: %v", err)
		}
	}
	if _, err := b.Receive(); !errors.Is(err, io.EOF) || b.ResponseHeader().Get("Echo") != "bidi" {
		t.Fatalf("bidi: %v, %v", err, b.ResponseHeader())
	}
	if err := b.CloseResponse(); err != nil {
		t.Fatal(err)
	}
}

func drain(types chan string) (all []string) {
	for {
		select {
		case s := <-types:
			all = append(all, s)
		default:
			return all
		}
	}
}
