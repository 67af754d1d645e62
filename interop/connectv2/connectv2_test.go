package connectv2

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	connectv1 "connectrpc.com/connect"
	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravenconnect"
)

var _ connect.StableCodec = (*gravenconnect.Codec)(nil)

// withGraven names the default codecs beside ours, since the option replaces them.
func withGraven(o codec.Options) connecthttp.Option {
	return connecthttp.WithCodecs(gravenconnect.New(o), connectproto.NewBinaryCodec(), connectproto.NewJSONCodec())
}

type value = wrapperspb.BytesValue

var (
	unary  = connect.Spec{Procedure: "/test.Echo/Unary"}
	get    = connect.Spec{Procedure: "/test.Echo/Get", IdempotencyLevel: connect.IdempotencyNoSideEffects}
	server = connect.Spec{Procedure: "/test.Echo/ServerStream", StreamType: connect.StreamTypeServer}
	client = connect.Spec{Procedure: "/test.Echo/ClientStream", StreamType: connect.StreamTypeClient}
	bidi   = connect.Spec{Procedure: "/test.Echo/Bidi", StreamType: connect.StreamTypeBidi}
)

// echo is a service of BytesValue without generated code.
type echo struct {
	unary func(context.Context, *value) (*value, error)
	calls atomic.Int32
}

func (e *echo) server() *connect.Server {
	one := func(ctx context.Context, _ connect.Spec, s connect.ServerStream) error {
		m := new(value)
		if err := s.Receive(m); err != nil {
			return err
		}
		e.calls.Add(1)
		if e.unary != nil {
			var err error
			if m, err = e.unary(ctx, m); err != nil {
				return err
			}
		}
		return s.Send(m)
	}
	srv := connect.NewServer()
	srv.Register(
		connect.Method{Spec: unary, Handler: one},
		connect.Method{Spec: get, Handler: one},
		connect.Method{Spec: server, Handler: func(_ context.Context, _ connect.Spec, s connect.ServerStream) error {
			m := new(value)
			if err := s.Receive(m); err != nil {
				return err
			}
			e.calls.Add(1)
			return errors.Join(s.Send(m), s.Send(m), s.Send(m))
		}},
		connect.Method{Spec: client, Handler: func(_ context.Context, _ connect.Spec, s connect.ServerStream) error {
			all := new(value)
			for {
				m := new(value)
				if err := s.Receive(m); errors.Is(err, io.EOF) {
					return s.Send(all)
				} else if err != nil {
					return err
				}
				e.calls.Add(1)
				all.Value = append(all.Value, m.Value...)
			}
		}},
		connect.Method{Spec: bidi, Handler: func(_ context.Context, _ connect.Spec, s connect.ServerStream) error {
			m := new(value) // used again for each
			for {
				if err := s.Receive(m); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return err
				}
				e.calls.Add(1)
				if err := s.Send(m); err != nil {
					return err
				}
			}
		}},
	)
	return srv
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

func serve(t *testing.T, e *echo, opts ...connecthttp.Option) (url string, types chan string) {
	t.Helper()
	mux := http.NewServeMux()
	connecthttp.Mount(mux, e.server(), opts...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	types = make(chan string, 10_000)
	s := &http.Server{Handler: noted{mux, types}, Protocols: &protocols}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return "http://" + l.Addr().String(), types
}

func httpClient(t *testing.T) *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &protocols, DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func dial(t *testing.T, url string, opts ...connecthttp.Option) *connect.Client {
	return connect.NewClient(connecthttp.NewTransport(httpClient(t), url, opts...))
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

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func testBytes(seed, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + seed)
	}
	return b
}

var protocols = map[string]connecthttp.Option{
	"grpc":    connecthttp.WithGRPC(),
	"grpcweb": connecthttp.WithGRPCWeb(),
	"connect": nil, // the default
}

// check makes a call of each kind.
func check(t *testing.T, c *connect.Client, v []byte) {
	t.Helper()
	ctx := testContext(t)
	m := wrapperspb.Bytes(v)
	got := wrapperspb.Bytes([]byte("old"))
	if err := c.CallUnary(ctx, unary, m, got); err != nil || !bytes.Equal(got.Value, v) {
		t.Fatalf("unary: %d bytes, %v", len(got.Value), err)
	}

	s, err := c.CallServerStream(ctx, server, m)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Receive(got); err != nil || !bytes.Equal(got.Value, v) {
			t.Fatalf("server stream: %d bytes, %v", len(got.Value), err)
		}
	}
	if err := s.Receive(got); !errors.Is(err, io.EOF) {
		t.Fatalf("server stream: %v", err)
	}

	if s, err = c.CallClientStream(ctx, client); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Send(m), s.Send(m), s.Send(m), s.CloseSend()); err != nil {
		t.Fatal(err)
	}
	if err := s.Receive(got); err != nil || !bytes.Equal(got.Value, bytes.Repeat(v, 3)) {
		t.Fatalf("client stream: %d bytes, %v", len(got.Value), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	if s, err = c.CallClientStream(ctx, bidi); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Send(m); err != nil {
			t.Fatal(err)
		}
		if err := s.Receive(got); err != nil || !bytes.Equal(got.Value, v) {
			t.Fatalf("bidi: %d bytes, %v", len(got.Value), err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.Receive(got); !errors.Is(err, io.EOF) {
		t.Fatalf("bidi: %v", err)
	}
}

func TestEveryKindOfCall(t *testing.T) {
	url, types := serve(t, new(echo), withGraven(codec.Options{}))
	for name, protocol := range protocols {
		for with, opts := range map[string][]connecthttp.Option{
			"graven":       {withGraven(codec.Options{})},
			"graven, gzip": {withGraven(codec.Options{}), connecthttp.WithSendGzip()},
			"proto":        nil,
			"json":         {connecthttp.WithProtoJSON()},
		} {
			t.Run(name+"/"+with, func(t *testing.T) {
				if protocol != nil {
					opts = append(opts, protocol)
				}
				c := dial(t, url, opts...)
				for _, n := range []int{0, 1, 2 << 10, 40 << 10, 300 << 10} {
					check(t, c, testBytes(1, n))
				}
				for _, got := range drain(types) {
					if strings.HasSuffix(got, "graven") != strings.HasPrefix(with, "graven") {
						t.Errorf("content type %s", got)
					}
				}
			})
		}
	}
}

func TestGet(t *testing.T) {
	url, types := serve(t, new(echo), withGraven(codec.Options{}))
	c := dial(t, url, withGraven(codec.Options{}), connecthttp.WithHTTPGet())
	for _, n := range []int{0, 10, 2000} {
		got := new(value)
		if err := c.CallUnary(testContext(t), get, wrapperspb.Bytes(testBytes(2, n)), got); err != nil || !bytes.Equal(got.Value, testBytes(2, n)) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if got := drain(types); !slices.Equal(got, []string{"GET graven"}) {
			t.Errorf("requests %v", got)
		}
	}
}

func TestErrorDetails(t *testing.T) {
	want := wrapperspb.String("why")
	e := &echo{unary: func(context.Context, *value) (*value, error) {
		detail, err := connectproto.NewErrorDetail(want)
		if err != nil {
			return nil, err
		}
		return nil, connect.Errorf(connect.CodeFailedPrecondition, "not now").WithDetail(detail)
	}}
	url, _ := serve(t, e, withGraven(codec.Options{}))
	for name, protocol := range protocols {
		opts := []connecthttp.Option{withGraven(codec.Options{})}
		if protocol != nil {
			opts = append(opts, protocol)
		}
		err := dial(t, url, opts...).CallUnary(testContext(t), unary, new(value), new(value))
		var got *connect.Error
		if !errors.As(err, &got) || got.Code() != connect.CodeFailedPrecondition || len(got.Details()) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if m, err := connectproto.UnmarshalErrorDetail(got.Details()[0]); err != nil || !proto.Equal(m, want) {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
}

// What was decoded must not change, whatever is received afterwards into the same buffers.
func TestKeptMessages(t *testing.T) {
	var kept sync.Map // value -> its copy
	e := &echo{unary: func(_ context.Context, m *value) (*value, error) {
		kept.Store(m, bytes.Clone(m.Value))
		return m, nil
	}}
	url, _ := serve(t, e, withGraven(codec.Options{}))
	const rounds, workers = 10, 4
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			c := dial(t, url, withGraven(codec.Options{}))
			for i := range rounds {
				for _, n := range []int{200, 2 << 10, 40 << 10, 300 << 10} {
					sent := testBytes(w*100+i, n)
					got := new(value)
					if err := c.CallUnary(testContext(t), unary, wrapperspb.Bytes(sent), got); err != nil {
						t.Error(err)
						return
					}
					kept.Store(got, sent)
				}
			}
		})
	}
	all.Wait()
	n := 0
	kept.Range(func(m, want any) bool {
		n++
		if !bytes.Equal(m.(*value).Value, want.([]byte)) {
			t.Errorf("a message of %d bytes has changed", len(want.([]byte)))
			return false
		}
		return true
	})
	if n != 2*4*rounds*workers {
		t.Errorf("%d messages kept", n)
	}
}

func TestCodecErrors(t *testing.T) {
	var n codec.Counters
	url, _ := serve(t, new(echo), withGraven(codec.Options{Counters: &n}))
	c := dial(t, url, withGraven(codec.Options{}))
	err := c.CallUnary(testContext(t), unary, durationpb.New(1), new(value))
	if err == nil || !strings.Contains(err.Error(), "schema mismatch") || n.Refused.Load() != 1 {
		t.Errorf("another type sent: %v, %d refused", err, n.Refused.Load())
	}
	err = c.CallUnary(testContext(t), unary, new(value), new(durationpb.Duration))
	if !errors.Is(err, codec.ErrSchema) {
		t.Errorf("another type received: %v", err)
	}
	err = c.CallUnary(testContext(t), unary, "text", new(value))
	if !errors.Is(err, codec.ErrNotMessage) {
		t.Errorf("no message: %v", err)
	}
}

// A body of no bytes is a message with nothing set.
func TestNoBody(t *testing.T) {
	url, _ := serve(t, new(echo), withGraven(codec.Options{}))
	res, err := httpClient(t).Post(url+unary.Procedure, "application/graven", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "application/graven" {
		t.Fatalf("%s, %v, %v", res.Status, res.Header, err)
	}
	if m := wrapperspb.String(""); codec.Unmarshal(body, m) == nil {
		t.Error("another type was decoded")
	}
	m := wrapperspb.Bytes([]byte("old"))
	if err := codec.Unmarshal(body, m); err != nil || len(m.Value) != 0 {
		t.Errorf("%v, %v", m, err)
	}
}

// A client of version 1 and a server of version 2: with the codec they speak
// Graven, without it the client falls back.
func TestVersion1AndVersion2(t *testing.T) {
	for _, version1 := range []connectv1.ClientOption{connectv1.WithClientOptions(), connectv1.WithGRPC(), connectv1.WithGRPCWeb()} {
		e := new(echo)
		url, types := serve(t, e, withGraven(codec.Options{}))
		call := func(url string, c connectv1.HTTPClient, opts ...gravenconnect.Option) error {
			t.Helper()
			v1 := connectv1.NewClient[value, value](c, url+unary.Procedure, append(gravenconnect.ClientOptions(opts...), version1)...)
			res, err := v1.CallUnary(testContext(t), connectv1.NewRequest(wrapperspb.Bytes([]byte("hello"))))
			if err == nil && string(res.Msg.Value) != "hello" {
				t.Errorf("got %q", res.Msg.Value)
			}
			return err
		}
		if err := call(url, httpClient(t)); err != nil {
			t.Error(err)
		}
		if got := drain(types); len(got) != 1 || !strings.HasSuffix(got[0], "graven") {
			t.Errorf("requests %v", got)
		}

		url, types = serve(t, e)
		if err := call(url, httpClient(t)); !errors.Is(err, gravenconnect.ErrNoCodec) {
			t.Errorf("without the codec: %v", err)
		}
		drain(types)
		if err := call(url, gravenconnect.HTTPClient(httpClient(t)), gravenconnect.WithFallback()); err != nil {
			t.Errorf("with fallback: %v", err)
		}
		if got := drain(types); len(got) != 2 || !strings.HasSuffix(got[0], "graven") || strings.HasSuffix(got[1], "graven") {
			t.Errorf("requests %v", got)
		}
		if n := e.calls.Load(); n != 2 {
			t.Errorf("handlers were called %d times", n)
		}
	}
}
