package gravenconnect

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
)

func TestEveryKindOfCall(t *testing.T) {
	url, types := serve(t, new(echo).handler(HandlerOptions()...))
	want := map[string][]string{
		"Connect":  {"application/graven", "application/connect+graven"},
		"gRPC":     {"application/grpc+graven"},
		"gRPC-Web": {"application/grpc-web+graven"},
	}
	for name, protocol := range protocols {
		for with, opts := range map[string][]connect.ClientOption{
			"plain":    ClientOptions(),
			"fallback": ClientOptions(WithFallback()),
			"options":  ClientOptions(WithOptions(codec.Options{MaxSize: 1 << 20})),
			"gzip":     append(ClientOptions(), connect.WithSendGzip()),
		} {
			t.Run(name+"/"+with, func(t *testing.T) {
				client := clients(HTTPClient(newHTTPClient(t)), url, protocol, opts...)
				for _, n := range sizes {
					if n > 40<<10 && with != "plain" {
						continue
					}
					mustEcho(t, client(unaryMethod), testBytes(1, n))
					mustStream(t, client, testBytes(1, n))
				}
				for _, got := range drain(types) {
					if !slices.Contains(want[name], got) {
						t.Errorf("content type %s", got)
					}
				}
			})
		}
	}
}

// One handler answers each client in its own encoding.
func TestOtherEncodings(t *testing.T) {
	url, types := serve(t, new(echo).handler(HandlerOptions()...))
	for name, protocol := range protocols {
		for codec, opt := range map[string]connect.ClientOption{"proto": connect.WithClientOptions(), "json": connect.WithProtoJSON()} {
			client := clients(newHTTPClient(t), url, protocol, opt)
			mustEcho(t, client(unaryMethod), testBytes(2, 3000))
			mustStream(t, client, testBytes(2, 3000))
			for _, got := range drain(types) {
				if strings.Contains(got, "graven") {
					t.Errorf("%s, %s: content type %s", name, codec, got)
				}
			}
		}
	}
}

func TestGet(t *testing.T) {
	url, types := serve(t, new(echo).handler(HandlerOptions()...))
	// HTTP/1.1 too.
	for _, c := range []*http.Client{newHTTPClient(t), {Transport: new(http.Transport)}} {
		client := clients(c, url, protocols["Connect"], append(ClientOptions(), connect.WithHTTPGet(), connect.WithIdempotency(connect.IdempotencyNoSideEffects))...)
		for _, n := range []int{0, 10, 2000} {
			mustEcho(t, client(getMethod), testBytes(3, n))
			if got := drain(types); !slices.Equal(got, []string{"GET graven"}) {
				t.Errorf("requests %v", got)
			}
		}
		c.CloseIdleConnections()
	}
}

func TestErrorDetails(t *testing.T) {
	e := &echo{unary: func(context.Context, *connect.Request[value]) (*connect.Response[value], error) {
		err := connect.NewError(connect.CodeFailedPrecondition, errors.New("not now"))
		for _, m := range []proto.Message{wrapperspb.String("why"), durationpb.New(5)} {
			d, detailErr := connect.NewErrorDetail(m)
			if detailErr != nil {
				return nil, detailErr
			}
			err.AddDetail(d)
		}
		err.Meta().Set("More", "less")
		return nil, err
	}}
	url, _ := serve(t, e.handler(HandlerOptions()...))
	for name, protocol := range protocols {
		for _, opts := range [][]Option{nil, {WithFallback()}} {
			client := clients(HTTPClient(newHTTPClient(t)), url, protocol, ClientOptions(opts...)...)
			_, err := client(unaryMethod).CallUnary(testContext(t), connect.NewRequest(wrapperspb.Bytes(nil)))
			var got *connect.Error
			if !errors.As(err, &got) || got.Code() != connect.CodeFailedPrecondition || got.Message() != "not now" || got.Meta().Get("More") != "less" {
				t.Fatalf("%s: %v", name, err)
			}
			if len(got.Details()) != 2 {
				t.Fatalf("%s: details %v", name, got.Details())
			}
			if m, err := got.Details()[0].Value(); err != nil || !proto.Equal(m, wrapperspb.String("why")) {
				t.Errorf("%s: %v, %v", name, m, err)
			}
		}
	}
}

// What was decoded must not change, whatever Connect receives afterwards into the same
// buffers.
func TestKeptMessages(t *testing.T) {
	var kept sync.Map // value -> its copy
	e := &echo{unary: func(_ context.Context, r *connect.Request[value]) (*connect.Response[value], error) {
		kept.Store(r.Msg, bytes.Clone(r.Msg.Value))
		return connect.NewResponse(r.Msg), nil
	}}
	url, _ := serve(t, e.handler(HandlerOptions()...))
	rounds := 10
	if raceEnabled {
		rounds = 3 // all is ten times as slow
	}
	var workers sync.WaitGroup
	for name, protocol := range protocols {
		for w := range 2 {
			workers.Go(func() {
				client := clients(newHTTPClient(t), url, protocol, ClientOptions()...)(unaryMethod)
				for i := range rounds {
					for _, n := range []int{200, 2 << 10, 40 << 10, 300 << 10} {
						sent := testBytes(w*100+i, n)
						res, err := client.CallUnary(testContext(t), connect.NewRequest(wrapperspb.Bytes(sent)))
						if err != nil {
							t.Errorf("%s: %v", name, err)
							return
						}
						kept.Store(res.Msg, sent)
					}
				}
			})
		}
	}
	workers.Wait()
	n := 0
	kept.Range(func(m, want any) bool {
		n++
		if !bytes.Equal(m.(*value).Value, want.([]byte)) {
			t.Errorf("a message of %d bytes has changed", len(want.([]byte)))
			return false
		}
		return true
	})
	if want := len(protocols) * 2 * rounds * 4 * 2; n != want {
		t.Errorf("%d messages kept, want %d", n, want)
	}
}

// Errors of the codec keep their type within the process that has them.
func TestCodecErrors(t *testing.T) {
	var mu sync.Mutex
	var events []codec.Event
	hook := codec.Options{Hook: func(e codec.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}}
	url, _ := serve(t, new(echo).handler(HandlerOptions(WithOptions(hook))...))
	for name, protocol := range protocols {
		events = nil
		opts := append(ClientOptions(), protocol)
		// The server refuses a frame of another message type.
		_, err := connect.NewClient[durationpb.Duration, value](newHTTPClient(t), url+unaryMethod, opts...).CallUnary(testContext(t), connect.NewRequest(durationpb.New(1)))
		if connect.CodeOf(err) != connect.CodeInvalidArgument || errors.Is(err, ErrNoCodec) || !strings.Contains(err.Error(), "schema mismatch") {
			t.Errorf("%s: another type sent: %v", name, err)
		}
		mu.Lock()
		if len(events) != 1 || !errors.Is(events[0].Err, codec.ErrSchema) {
			t.Errorf("%s: events %+v", name, events)
		}
		mu.Unlock()
		// The client refuses one.
		_, err = connect.NewClient[value, durationpb.Duration](newHTTPClient(t), url+unaryMethod, opts...).CallUnary(testContext(t), connect.NewRequest(wrapperspb.Bytes([]byte("x"))))
		if !errors.Is(err, codec.ErrSchema) || errors.Is(err, ErrNoCodec) {
			t.Errorf("%s: another type received: %v", name, err)
		}
	}
}

func TestNilMessages(t *testing.T) {
	e := &echo{unary: func(_ context.Context, r *connect.Request[value]) (*connect.Response[value], error) {
		if len(r.Msg.Value) != 0 {
			return nil, errors.New("the request is not empty")
		}
		return connect.NewResponse[value](nil), nil // a typed nil
	}}
	url, _ := serve(t, e.handler(HandlerOptions()...))
	for name, protocol := range protocols {
		client := clients(newHTTPClient(t), url, protocol, ClientOptions()...)(unaryMethod)
		res, err := client.CallUnary(testContext(t), connect.NewRequest[value](nil))
		if err != nil || len(res.Msg.GetValue()) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A body of no bytes.
	res, err := newHTTPClient(t).Post(url+unaryMethod, "application/graven", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/graven" {
		t.Errorf("no body: %s, %v", res.Status, res.Header)
	}
}
