package gravenconnect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/fallback"
)

func checkNoCodec(t *testing.T, err error, url, hint string) {
	t.Helper()
	if !errors.Is(err, ErrNoCodec) || connect.CodeOf(err) != connect.CodeUnimplemented {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`"github.com/graven-rpc/graven/codec/gravenconnect"`, `"github.com/graven-rpc/graven/codec/gravengrpc"`, strings.TrimPrefix(url, "http://"), "/test.Echo/", hint} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	var no *noCodecError
	if !errors.As(err, &no) || no.said == nil || errors.Is(no.said, ErrNoCodec) {
		t.Errorf("the call's own error is lost: %v", err)
	}
}

// eachServer runs a test against each server without the codec that a client of the
// protocol may meet. Only the first has streams.
func eachServer(t *testing.T, test func(t *testing.T, e *echo, url string, types chan string, protocol connect.ClientOption, streams bool)) {
	for name, protocol := range protocols {
		t.Run("connect-go/"+name, func(t *testing.T) {
			e := new(echo)
			url, types := serve(t, e.handler())
			test(t, e, url, types, protocol, true)
		})
	}
	t.Run("grpc-go/gRPC", func(t *testing.T) {
		e := new(echo)
		url, types := serve(t, e.grpcServer())
		test(t, e, url, types, connect.WithGRPC(), false)
	})
}

func TestServerWithoutCodec(t *testing.T) {
	eachServer(t, func(t *testing.T, e *echo, url string, _ chan string, protocol connect.ClientOption, streams bool) {
		for hint, client := range map[string]newClient{
			"WithFallback": clients(newHTTPClient(t), url, protocol, ClientOptions()...),
			"HTTPClient":   clients(newHTTPClient(t), url, protocol, ClientOptions(WithFallback())...),
		} {
			for range 2 { // nothing is remembered
				_, err := client(unaryMethod).CallUnary(testContext(t), connect.NewRequest(wrapperspb.Bytes([]byte("x"))))
				checkNoCodec(t, err, url, hint)
			}
			if !streams {
				continue
			}
			s, err := client(serverMethod).CallServerStream(testContext(t), connect.NewRequest(wrapperspb.Bytes([]byte("x"))))
			if err != nil {
				t.Fatal(err)
			}
			if s.Receive() {
				t.Error("something was received")
			}
			checkNoCodec(t, s.Err(), url, hint)
			c := client(clientMethod).CallClientStream(testContext(t))
			c.Send(wrapperspb.Bytes([]byte("x")))
			_, err = c.CloseAndReceive()
			checkNoCodec(t, err, url, hint)
			b := client(bidiMethod).CallBidiStream(testContext(t))
			b.Send(wrapperspb.Bytes([]byte("x")))
			_, err = b.Receive()
			checkNoCodec(t, err, url, hint)
		}
		if n := e.calls.Load(); n != 0 {
			t.Errorf("handlers got %d messages", n)
		}
	})
}

func TestFallback(t *testing.T) {
	eachServer(t, func(t *testing.T, e *echo, url string, types chan string, protocol connect.ClientOption, streams bool) {
		for _, compress := range [][]connect.ClientOption{nil, {connect.WithSendGzip(), connect.WithCompressMinBytes(100)}} {
			for _, n := range []int{0, 200, 5000, 40 << 10} {
				if n == 0 && !streams {
					continue // its answer to nothing is something
				}
				v := testBytes(1, n)
				c := HTTPClient(newHTTPClient(t))
				client := clients(c, url, protocol, append(ClientOptions(WithFallback()), compress...)...)
				mustEcho(t, client(unaryMethod), v)
				mustEcho(t, client(unaryMethod), v)
				got := drain(types)
				if len(got) != 3 || !strings.HasSuffix(got[0], "graven") || strings.HasSuffix(got[1], "graven") || strings.HasSuffix(got[2], "graven") {
					t.Errorf("requests %v", got)
				}
				want := int32(2)
				if streams {
					// Each kind as the first call, then with what is known.
					mustStream(t, clients(c, url, protocol, append(ClientOptions(WithFallback()), compress...)...), v)
					for _, method := range []string{clientMethod, bidiMethod} {
						first := clients(c, url, protocol, append(ClientOptions(WithFallback()), compress...)...)
						mustStream(t, func(m string, more ...connect.ClientOption) *connect.Client[value, value] {
							if m == method {
								return first(m, more...)
							}
							return client(m, more...)
						}, v)
					}
					want += 3 * 7
				}
				if got := e.calls.Swap(0); got != want {
					t.Errorf("%d bytes: handlers got %d messages, want %d", n, got, want)
				}
				drain(types)
			}
		}
	})
}

// A request that is small enough for a URL in one encoding and perhaps not in the other.
func TestFallbackOfGet(t *testing.T) {
	e := new(echo)
	url, types := serve(t, e.handler())
	for _, n := range []int{10, 190, 200, 210, 1000} {
		client := clients(HTTPClient(newHTTPClient(t)), url, protocols["Connect"], append(ClientOptions(WithFallback()),
			connect.WithHTTPGet(), connect.WithHTTPGetMaxURLSize(350, true), connect.WithIdempotency(connect.IdempotencyNoSideEffects))...)
		mustEcho(t, client(getMethod), testBytes(2, n))
		mustEcho(t, client(getMethod), testBytes(2, n))
		got := drain(types)
		if len(got) != 3 || !strings.HasSuffix(got[0], "graven") || !strings.HasSuffix(got[1], "proto") || got[1] != got[2] {
			t.Errorf("%d bytes: requests %v", n, got)
		}
	}
}

// More messages than are kept: the call fails, with the same error, and the next one
// is made in protobuf.
func TestFallbackTooLate(t *testing.T) {
	e := new(echo)
	url, _ := serve(t, e.handler())
	client := clients(HTTPClient(newHTTPClient(t)), url, connect.WithGRPC(), ClientOptions(WithFallback())...)
	c := client(clientMethod).CallClientStream(testContext(t))
	sent := 0
	for ; sent < 100_000; sent++ {
		if err := c.Send(wrapperspb.Bytes([]byte("x"))); err != nil {
			break
		}
	}
	if sent < fallback.MaxResend || sent == 100_000 {
		t.Errorf("%d messages were sent", sent)
	}
	_, err := c.CloseAndReceive()
	checkNoCodec(t, err, url, "next call")
	if n := e.calls.Load(); n != 0 {
		t.Errorf("a handler got %d messages", n)
	}
	mustStream(t, client, []byte("next"))
}

// A server of grpc-go that answers a stream in protobuf before it has read anything. The
// handler has run and must not run again.
func TestAnswerInProtobuf(t *testing.T) {
	e := new(echo)
	url, types := serve(t, e.grpcServer())
	for _, opts := range [][]Option{nil, {WithFallback()}} {
		client := clients(HTTPClient(newHTTPClient(t)), url, connect.WithGRPC(), ClientOptions(opts...)...)
		s := client(bidiMethod).CallBidiStream(testContext(t))
		if err := s.Send(nil); err != nil {
			t.Fatal(err)
		}
		m, err := s.Receive()
		if opts == nil {
			checkNoCodec(t, err, url, "WithFallback")
		} else if err != nil || string(m.Value) != "first" {
			t.Errorf("a client that falls back got %v, %v", m, err)
		}
		s.CloseRequest()
		s.CloseResponse()
		if got := drain(types); !slices.Equal(got, []string{"application/grpc+graven"}) {
			t.Errorf("requests %v", got)
		}
	}
}

// Errors that have nothing to do with the encoding are left alone, and nothing is called
// twice for them.
func TestOtherErrors(t *testing.T) {
	var fail *connect.Error
	e := &echo{unary: func(context.Context, *connect.Request[value]) (*connect.Response[value], error) {
		return nil, fail
	}}
	for with, handler := range map[string]http.Handler{"with codec": e.handler(HandlerOptions()...), "without": e.handler()} {
		url, _ := serve(t, handler)
		for name, protocol := range protocols {
			for _, opts := range [][]Option{nil, {WithFallback()}} {
				if with == "without" && opts == nil {
					continue
				}
				for _, fail = range []*connect.Error{
					connect.NewError(connect.CodeUnimplemented, errors.New("unknown method")),
					connect.NewError(connect.CodeUnknown, errors.New("broken")),
					connect.NewError(connect.CodeInternal, errors.New("415 Unsupported Media Type")),
					connect.NewError(connect.CodeInvalidArgument, errors.New("unmarshal message: bad")),
				} {
					client := clients(HTTPClient(newHTTPClient(t)), url, protocol, ClientOptions(opts...)...)
					e.calls.Store(0)
					_, err := client(unaryMethod).CallUnary(testContext(t), connect.NewRequest(wrapperspb.Bytes([]byte("x"))))
					var got *connect.Error
					if !errors.As(err, &got) || got.Code() != fail.Code() || got.Message() != fail.Message() || errors.Is(err, ErrNoCodec) {
						t.Errorf("%s, %s: got %v, want %v", with, name, err, fail)
					}
					if n := e.calls.Load(); n != 1 {
						t.Errorf("%s, %s, %v: the handler was called %d times", with, name, fail, n)
					}
				}
			}
		}
	}
}

func TestJudge(t *testing.T) {
	own := &codec.Error{Kind: codec.KindMagic}
	for _, test := range []struct {
		err  error
		want verdict
	}{
		{errors.New("415 Unsupported Media Type"), unknown},
		{connect.NewError(connect.CodeUnknown, errors.New("415 Unsupported Media Type")), unread},
		{connect.NewError(connect.CodeInternal, errors.New("grpc: failed to unmarshal the received message: proto: x")), unread},
		{connect.NewError(connect.CodeInternal, errors.New("grpc: failed to unmarshal the received message: graven: x")), unknown},
		{connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("unmarshal message: %w", own)), otherEncoding},
	} {
		if got := judge(test.err); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
}

// The client notices when the server has got the codec.
func TestFallbackForgets(t *testing.T) {
	now := time.Unix(1000, 0)
	i := &interceptor{fallback: fallback.NewMemory()}
	i.fallback.Now = func() time.Time { return now }
	e := new(echo)
	without, with := e.handler(), e.handler(HandlerOptions()...)
	updated := false
	url, types := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if updated {
			with.ServeHTTP(w, r)
		} else {
			without.ServeHTTP(w, r)
		}
	}))
	c := newCodec(codec.Options{})
	c.both = true
	client := clients(HTTPClient(newHTTPClient(t)), url, protocols["Connect"], connect.WithCodec(c), connect.WithInterceptors(i))
	const graven, protobuf = "application/graven", "application/proto"
	check := func(want ...string) {
		t.Helper()
		mustEcho(t, client(unaryMethod), []byte("x"))
		if got := drain(types); !slices.Equal(got, want) {
			t.Errorf("requests %v, want %v", got, want)
		}
	}
	check(graven, protobuf)
	check(protobuf)
	updated = true
	check(protobuf)
	now = now.Add(fallback.Period + 1)
	check(graven)
	check(graven)
}

// A request that connect-go makes without our interceptor goes through as it is.
func TestHTTPClientAlone(t *testing.T) {
	url, types := serve(t, new(echo).handler(HandlerOptions()...))
	c := HTTPClient(newHTTPClient(t))
	mustEcho(t, clients(c, url, protocols["Connect"])(unaryMethod), []byte("x"))
	mustEcho(t, clients(c, url, protocols["Connect"], connect.WithCodec(New(codec.Options{})))(unaryMethod), []byte("x"))
	if got := drain(types); !slices.Equal(got, []string{"application/proto", "application/graven"}) {
		t.Errorf("requests %v", got)
	}
}
