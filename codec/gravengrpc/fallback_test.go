package gravengrpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/fallback"
)

// checkNoCodec looks for all that the error of a server without the codec has to say.
func checkNoCodec(t *testing.T, err error, target, hint string) {
	t.Helper()
	if !errors.Is(err, ErrNoCodec) || status.Code(err) != codes.Unimplemented {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`import _ "github.com/graven-rpc/graven/codec/gravengrpc"`, target, hint, "/test.Echo/"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	if inner := status.Convert(errors.Unwrap(err)); inner.Code() == codes.Unimplemented {
		t.Errorf("the server's own error is lost: %v", inner)
	}
}

// connectServer is a server of connect-go that has no codec of ours.
func connectServer(t *testing.T, e *echo) string {
	mux := http.NewServeMux()
	mux.Handle(unaryMethod, connect.NewUnaryHandler(unaryMethod, func(_ context.Context, r *connect.Request[wrapperspb.BytesValue]) (*connect.Response[wrapperspb.BytesValue], error) {
		e.calls.Add(1)
		return connect.NewResponse(r.Msg), nil
	}))
	mux.Handle(serverMethod, connect.NewServerStreamHandler(serverMethod, func(_ context.Context, r *connect.Request[wrapperspb.BytesValue], s *connect.ServerStream[wrapperspb.BytesValue]) error {
		e.calls.Add(1)
		return errors.Join(s.Send(r.Msg), s.Send(r.Msg), s.Send(r.Msg))
	}))
	mux.Handle(clientMethod, connect.NewClientStreamHandler(clientMethod, func(_ context.Context, s *connect.ClientStream[wrapperspb.BytesValue]) (*connect.Response[wrapperspb.BytesValue], error) {
		all := new(wrapperspb.BytesValue)
		for s.Receive() {
			e.calls.Add(1)
			all.Value = append(all.Value, s.Msg().Value...)
		}
		return connect.NewResponse(all), s.Err()
	}))
	mux.Handle(bidiMethod, connect.NewBidiStreamHandler(bidiMethod, func(_ context.Context, s *connect.BidiStream[wrapperspb.BytesValue, wrapperspb.BytesValue]) error {
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
	}))
	return serveHTTP(t, mux)
}

// The servers that a client may meet, all without the codec.
func serversWithoutCodec(t *testing.T, e *echo) map[string]string {
	viaHTTP := grpc.NewServer(grpc.ForceServerCodecV2(encoding.GetCodecV2("proto")))
	viaHTTP.RegisterService(e.desc(), nil)
	return map[string]string{
		"grpc-go":            serveWithoutCodec(t, e),
		"grpc-go, ServeHTTP": serveHTTP(t, viaHTTP),
		"connect-go":         connectServer(t, e),
	}
}

func TestServerWithoutCodec(t *testing.T) {
	e := new(echo)
	for name, addr := range serversWithoutCodec(t, e) {
		t.Run(name, func(t *testing.T) {
			cc := dialGraven(t, addr)
			m := wrapperspb.Bytes([]byte("hello"))
			got := new(wrapperspb.BytesValue)
			for range 2 { // nothing is remembered
				checkNoCodec(t, cc.Invoke(testContext(t), unaryMethod, m, got), addr, hintOption)
			}
			for desc, method := range map[*grpc.StreamDesc]string{serverDesc: serverMethod, clientDesc: clientMethod, bidiDesc: bidiMethod} {
				s, err := cc.NewStream(testContext(t), desc, method)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.SendMsg(m); err != nil && err != io.EOF {
					t.Fatal(err)
				}
				if err := s.CloseSend(); err != nil {
					t.Fatal(err)
				}
				checkNoCodec(t, s.RecvMsg(got), addr, hintOption)
			}
			// The next call may be made in protobuf by hand.
			mustEcho(t, cc, []byte("hello"), grpc.CallContentSubtype("proto"))
			if n := e.calls.Swap(0); n != 1 {
				t.Errorf("handlers were called %d times", n)
			}
		})
	}
}

func TestFallback(t *testing.T) {
	e := new(echo)
	for name, addr := range serversWithoutCodec(t, e) {
		t.Run(name, func(t *testing.T) {
			for _, n := range sizes {
				value := randomBytes(6, n)
				// Each kind of call is the first one on its connection.
				mustEcho(t, dialGraven(t, addr, WithFallback()), value)
				checkStreams(t, dialGraven(t, addr, WithFallback(), withPoison(codec.Options{})), value)
				cc := dialGraven(t, addr, WithFallback())
				mustEcho(t, cc, value, grpc.UseCompressor("gzip"))
				checkStreams(t, cc, value)
				mustEcho(t, cc, value)
			}
			if got, want := e.calls.Swap(0), int32(len(sizes)*(1+7+1+7+1)); got != want {
				t.Errorf("handlers got %d messages, want %d", got, want)
			}
		})
	}
}

// Each kind of stream as the first call of a connection.
func TestFallbackOfFirstStream(t *testing.T) {
	e := new(echo)
	for name, addr := range serversWithoutCodec(t, e) {
		for _, method := range []string{serverMethod, clientMethod, bidiMethod} {
			t.Run(name+method, func(t *testing.T) {
				for _, n := range []int{10, 40 << 10, 300 << 10} {
					value := randomBytes(7, n)
					desc := map[string]*grpc.StreamDesc{serverMethod: serverDesc, clientMethod: clientDesc, bidiMethod: bidiDesc}[method]
					s, err := dialGraven(t, addr, WithFallback()).NewStream(testContext(t), desc, method)
					if err != nil {
						t.Fatal(err)
					}
					want, send := 3, 3
					switch method {
					case serverMethod:
						send = 1
					case clientMethod:
						want = 1
						value = value[:n/3]
					}
					// All is sent before anything is received, as fast as it goes.
					for range send {
						if err := s.SendMsg(wrapperspb.Bytes(value)); err != nil {
							t.Fatal(err)
						}
					}
					if err := s.CloseSend(); err != nil {
						t.Fatal(err)
					}
					if method == clientMethod {
						value = bytes.Repeat(value, 3)
					}
					got := new(wrapperspb.BytesValue)
					for range want {
						if err := s.RecvMsg(got); err != nil || !bytes.Equal(got.Value, value) {
							t.Fatalf("%d bytes, %v", len(got.Value), err)
						}
					}
					if method != clientMethod {
						if err := s.RecvMsg(got); err != io.EOF {
							t.Errorf("at the end: %v", err)
						}
					}
				}
			})
		}
	}
}

// Sending and receiving at once while the stream is opened again.
func TestFallbackOfBusyStream(t *testing.T) {
	addr := serveWithoutCodec(t, new(echo))
	for range 20 {
		s, err := dialGraven(t, addr, WithFallback()).NewStream(testContext(t), bidiDesc, bidiMethod)
		if err != nil {
			t.Fatal(err)
		}
		const messages = 60
		var sender sync.WaitGroup
		sender.Go(func() {
			for i := range messages {
				if err := s.SendMsg(wrapperspb.Bytes(append(randomBytes(1, 20_000), byte(i)))); err != nil {
					t.Errorf("message %d: %v", i, err)
					return
				}
			}
			if err := s.CloseSend(); err != nil {
				t.Error(err)
			}
		})
		for i := range messages {
			m := new(wrapperspb.BytesValue)
			if err := s.RecvMsg(m); err != nil || len(m.Value) != 20_001 || m.Value[20_000] != byte(i) {
				t.Fatalf("message %d: %d bytes, %v", i, len(m.Value), err)
			}
		}
		if err := s.RecvMsg(new(wrapperspb.BytesValue)); err != io.EOF {
			t.Fatal(err)
		}
		sender.Wait()
	}
}

// More messages than are kept: the call fails, with the same error, and the next one
// is made in protobuf.
func TestFallbackTooLate(t *testing.T) {
	e := new(echo)
	addr := serveWithoutCodec(t, e)
	cc := dialGraven(t, addr, WithFallback())
	ctx := testContext(t)
	s, err := cc.NewStream(ctx, clientDesc, clientMethod)
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for ; sent < 100_000; sent++ {
		if err = s.SendMsg(wrapperspb.Bytes([]byte("x"))); err != nil {
			break
		}
	}
	if err != io.EOF || sent < fallback.MaxResend {
		t.Errorf("after %d messages: %v", sent, err)
	}
	checkNoCodec(t, s.RecvMsg(new(wrapperspb.BytesValue)), addr, hintNext)
	if n := e.calls.Load(); n != 0 {
		t.Errorf("a handler got %d messages", n)
	}
	checkStreams(t, cc, []byte("next"))

	// A prepared message can't be encoded again.
	cc = dialGraven(t, addr, WithFallback())
	if s, err = cc.NewStream(ctx, clientDesc, clientMethod); err != nil {
		t.Fatal(err)
	}
	p := new(grpc.PreparedMsg)
	if err := errors.Join(p.Encode(s, wrapperspb.Bytes([]byte("x"))), s.SendMsg(p), s.CloseSend()); err != nil {
		t.Fatal(err)
	}
	checkNoCodec(t, s.RecvMsg(new(wrapperspb.BytesValue)), addr, hintNext)
	checkStreams(t, cc, []byte("next"))
}

// A server that has run the handler but answers in protobuf: a nil request is no
// bytes in every encoding. The call must not be made twice.
func TestAnswerInProtobuf(t *testing.T) {
	e := &echo{unary: func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		return wrapperspb.Bytes([]byte("done")), nil
	}, bidi: func(s grpc.ServerStream) error {
		return s.SendMsg(wrapperspb.Bytes([]byte("hello")))
	}}
	addr := serveWithoutCodec(t, e)
	for hint, opts := range map[string][]DialOption{hintOption: nil, hintNext: {WithFallback()}} {
		cc := dialGraven(t, addr, opts...)
		checkNoCodec(t, cc.Invoke(testContext(t), unaryMethod, nil, new(wrapperspb.BytesValue)), addr, hint)
		if n := e.calls.Swap(0); n != 1 {
			t.Errorf("the handler was called %d times", n)
		}
		reply := new(wrapperspb.BytesValue)
		err := cc.Invoke(testContext(t), unaryMethod, nil, reply)
		if opts == nil {
			checkNoCodec(t, err, addr, hint)
		} else if err != nil || string(reply.Value) != "done" {
			t.Errorf("the next call: %q, %v", reply.Value, err)
		}
		e.calls.Store(0)
	}
	for hint, opts := range map[string][]DialOption{hintOption: nil, hintNext: {WithFallback()}} {
		cc := dialGraven(t, addr, opts...)
		s, err := cc.NewStream(testContext(t), bidiDesc, bidiMethod)
		if err != nil {
			t.Fatal(err)
		}
		checkNoCodec(t, s.RecvMsg(new(wrapperspb.BytesValue)), addr, hint)
	}
}

// Errors that have nothing to do with the encoding are left alone, and nothing is
// called twice for them.
func TestOtherErrors(t *testing.T) {
	var fail error
	e := &echo{unary: func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) { return nil, fail },
		bidi: func(grpc.ServerStream) error { return fail }}
	for name, addr := range map[string]string{"with codec": serve(t, e, nil), "without": serveWithoutCodec(t, e)} {
		for _, opts := range [][]DialOption{nil, {WithFallback()}} {
			for _, fail = range []error{
				status.Error(codes.Unimplemented, "unknown method"),
				status.Error(codes.Internal, "broken"),
				status.Error(codes.Internal, "failed to unmarshal"),
				status.Error(codes.Unavailable, "grpc: failed to unmarshal the received message: proto: bad"),
				status.Error(codes.InvalidArgument, "Error deserializing request: x"),
			} {
				cc := dialGraven(t, addr, opts...)
				if name == "without" {
					if opts == nil {
						continue
					}
					// The first call shows that the codec is missing.
					cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes(nil), new(wrapperspb.BytesValue))
				}
				e.calls.Store(0)
				err := cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes([]byte("x")), new(wrapperspb.BytesValue))
				if got, want := status.Convert(err), status.Convert(fail); got.Code() != want.Code() || got.Message() != want.Message() || errors.Is(err, ErrNoCodec) {
					t.Errorf("%s: got %v, want %v", name, err, fail)
				}
				if n := e.calls.Load(); n != 1 {
					t.Errorf("%s, %v: the handler was called %d times", name, fail, n)
				}
				s, err := cc.NewStream(testContext(t), bidiDesc, bidiMethod)
				if err != nil {
					t.Fatal(err)
				}
				err = s.RecvMsg(new(wrapperspb.BytesValue))
				if got, want := status.Convert(err), status.Convert(fail); got.Code() != want.Code() || got.Message() != want.Message() {
					t.Errorf("%s: stream: got %v, want %v", name, err, fail)
				}
			}
		}
	}
}

// The client notices when the server has got the codec.
func TestFallbackForgets(t *testing.T) {
	now := time.Unix(1000, 0)
	d := new(dialOptions)
	WithFallback()(d)
	d.fallback.Now = func() time.Time { return now }
	var subtypes []string
	spoken := false
	call := func() error {
		return d.unary(t.Context(), "/m", nil, nil, dial(t, "127.0.0.1:1"), func(_ context.Context, _ string, _, _ any, _ *grpc.ClientConn, opts ...grpc.CallOption) error {
			subtype := "proto"
			if _, ok := d.inGraven(opts[:1]); ok && len(opts) == 2 {
				subtype = Name
			}
			subtypes = append(subtypes, subtype)
			if subtype == Name && !spoken {
				return status.Error(codes.Internal, "grpc: failed to unmarshal the received message: proto: x")
			}
			return nil
		}, grpc.CallContentSubtype(Name))
	}
	check := func(want ...string) {
		t.Helper()
		subtypes = nil
		if err := call(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(subtypes, " "); got != strings.Join(want, " ") {
			t.Errorf("calls in %s, want %v", got, want)
		}
	}
	check(Name, "proto")
	check("proto")
	now = now.Add(fallback.Period - time.Second)
	check("proto")
	now = now.Add(2 * time.Second)
	check(Name, "proto")
	check("proto")
	spoken = true
	now = now.Add(fallback.Period + time.Second)
	check(Name)
	check(Name)
}

func TestInGraven(t *testing.T) {
	own := New(codec.Options{MaxSize: 1})
	proto := encoding.GetCodecV2("proto")
	d := &dialOptions{codec: New(codec.Options{})}
	for _, test := range []struct {
		opts []grpc.CallOption
		want encoding.CodecV2
	}{
		{nil, nil},
		{[]grpc.CallOption{grpc.CallContentSubtype("GRAVEN")}, d.codec},
		{[]grpc.CallOption{grpc.CallContentSubtype(Name), grpc.WaitForReady(true)}, d.codec},
		{[]grpc.CallOption{grpc.CallContentSubtype(Name), grpc.CallContentSubtype("json")}, nil},
		{[]grpc.CallOption{grpc.CallContentSubtype(Name), grpc.ForceCodecV2(own)}, own},
		{[]grpc.CallOption{grpc.CallContentSubtype(Name), grpc.ForceCodecV2(proto)}, nil},
		{inProtobuf([]grpc.CallOption{grpc.CallContentSubtype(Name), grpc.ForceCodecV2(own)}), nil},
	} {
		with, ok := d.inGraven(test.opts)
		if ok != (test.want != nil) {
			t.Errorf("%v: %v", test.opts, ok)
			continue
		}
		if ok {
			forced := with[len(with)-1].(grpc.ForceCodecV2CallOption).CodecV2.(clientCodec)
			if forced.CodecV2 != test.want {
				t.Errorf("%v: codec %v", test.opts, forced)
			}
		}
	}
}

// What a server's codec says about a request is not taken for what the client's says
// about an answer, whoever passes it on.
func TestRefusedByCodec(t *testing.T) {
	refused := status.Error(codes.Internal, "grpc: failed to unmarshal the received message: "+(&codec.Error{Kind: codec.KindMagic}).Error())
	e := &echo{unary: func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) { return nil, refused }}
	cc := dialGraven(t, serve(t, e, nil), WithFallback())
	for range 2 {
		err := cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes([]byte("x")), new(wrapperspb.BytesValue))
		if errors.Is(err, ErrNoCodec) || status.Convert(err).Message() != status.Convert(refused).Message() {
			t.Errorf("got %v", err)
		}
	}
}

func TestHeaderAndTrailerOfReopenedStream(t *testing.T) {
	e := &echo{bidi: func(s grpc.ServerStream) error {
		m := new(wrapperspb.BytesValue)
		if err := s.RecvMsg(m); err != nil {
			return err
		}
		s.SetTrailer(metadata.Pairs("trail", "er"))
		return errors.Join(s.SendHeader(metadata.Pairs("head", "er")), s.SendMsg(m))
	}}
	cc := dialGraven(t, serveWithoutCodec(t, e), WithFallback())
	s, err := cc.NewStream(testContext(t), bidiDesc, bidiMethod)
	if err != nil {
		t.Fatal(err)
	}
	m := wrapperspb.Bytes([]byte("x"))
	if err := errors.Join(s.SendMsg(m), s.RecvMsg(m)); err != nil {
		t.Fatal(err)
	}
	if md, err := s.Header(); err != nil || len(md.Get("head")) != 1 {
		t.Errorf("header %v, %v", md, err)
	}
	if err := s.RecvMsg(m); err != io.EOF || len(s.Trailer().Get("trail")) != 1 || s.Context() == nil {
		t.Errorf("%v, trailer %v", err, s.Trailer())
	}
}

// A server that can't read protobuf either: the client gets what a protobuf client
// would.
func TestFallbackFailsToo(t *testing.T) {
	e := &echo{unary: func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		return nil, status.Error(codes.Internal, "grpc: failed to unmarshal the received message: second")
	}, bidi: func(s grpc.ServerStream) error {
		if err := s.RecvMsg(new(wrapperspb.BytesValue)); err != nil {
			return err
		}
		return status.Error(codes.Internal, "grpc: failed to unmarshal the received message: second")
	}}
	cc := dialGraven(t, serveWithoutCodec(t, e), WithFallback())
	for range 2 {
		err := cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes([]byte("x")), new(wrapperspb.BytesValue))
		if status.Code(err) != codes.Internal || !strings.HasSuffix(err.Error(), "second") {
			t.Errorf("got %v", err)
		}
		if n := e.calls.Swap(0); n != 1 {
			t.Errorf("the handler was called %d times", n)
		}
		s, err := cc.NewStream(testContext(t), bidiDesc, bidiMethod)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.SendMsg(wrapperspb.Bytes([]byte("x"))), s.CloseSend()); err != nil {
			t.Fatal(err)
		}
		if err := s.RecvMsg(new(wrapperspb.BytesValue)); !strings.HasSuffix(err.Error(), "second") {
			t.Errorf("stream: %v", err)
		}
	}
}
