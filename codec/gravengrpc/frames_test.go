package gravengrpc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/views/wrapperspbgraven"
)

// The copies that frames make are poisoned on release, like all else here.
func init() { pool.Default.Poison = true }

type bytesFrame = codec.Frame[wrapperspbgraven.BytesValue]

// framed is a service of BytesValue whose handlers take and give frames.
type framed struct {
	unary func(context.Context, *bytesFrame) (*bytesFrame, error)
	bidi  func(grpc.ServerStream) error
}

const (
	frameUnary = "/test.Framed/Unary"
	frameBidi  = "/test.Framed/Bidi"
)

func (f *framed) register(s *grpc.Server) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Framed",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(srv any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
				req := new(bytesFrame)
				if err := decode(req); err != nil {
					return nil, err
				}
				handle := func(ctx context.Context, req any) (any, error) { return f.unary(ctx, req.(*bytesFrame)) }
				if interceptor == nil {
					return handle(ctx, req)
				}
				return interceptor(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: frameUnary}, handle)
			},
		}},
		Streams: []grpc.StreamDesc{{StreamName: "Bidi", ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, s grpc.ServerStream) error { return f.bidi(s) }}},
	}, nil)
}

// kept are frames that are held while other traffic goes on, with what they have to hold.
type kept struct {
	mu     sync.Mutex
	frames []*bytesFrame
	views  []wrapperspbgraven.BytesValue
	want   [][]byte
}

func (k *kept) add(f *bytesFrame, want []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.frames, k.views, k.want = append(k.frames, f), append(k.views, f.View()), append(k.want, want)
}

func (k *kept) check(t *testing.T) {
	t.Helper()
	for i, v := range k.views {
		if !bytes.Equal(v.GetValue(), k.want[i]) {
			t.Errorf("a frame of %d bytes has changed", len(k.want[i]))
		}
	}
	for i, f := range k.frames {
		value := f.View().GetValue()
		f.Release()
		if n := len(k.want[i]); n > 2000 && !pool.Debug && bytes.Equal(value, k.want[i]) {
			// Else this test could not see a release that comes too early.
			if b := k.want[i]; len(b) < 300<<10 {
				t.Errorf("memory of a released frame of %d bytes was not given back", n)
			}
		}
	}
}

// Frames that handlers and clients keep, unary and in streams, keep their values.
func TestFramesOverTime(t *testing.T) {
	var server, client kept
	f := &framed{
		unary: func(_ context.Context, req *bytesFrame) (*bytesFrame, error) {
			server.add(req, bytes.Clone(req.View().GetValue()))
			return req, nil // forwarded as it is
		},
		bidi: func(s grpc.ServerStream) error {
			for {
				m := new(bytesFrame)
				if err := s.RecvMsg(m); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
				server.add(m, bytes.Clone(m.View().GetValue()))
				if err := s.SendMsg(m); err != nil {
					return err
				}
			}
		},
	}
	cc := dialGraven(t, serve(t, new(echo), f.register), withPoison(codec.Options{}))
	ctx := testContext(t)
	rounds := 8
	if raceEnabled {
		rounds = 3
	}
	var workers sync.WaitGroup
	for w := range 4 {
		workers.Go(func() {
			for i := range rounds {
				s, err := cc.NewStream(ctx, bidiDesc, frameBidi)
				if err != nil {
					t.Error(err)
					return
				}
				for _, n := range sizes {
					value := randomBytes(uint64(100*w+i), n)
					reply := new(bytesFrame)
					var opts []grpc.CallOption
					if i%4 == 1 && n < 100<<10 {
						opts = append(opts, grpc.UseCompressor("gzip"))
					}
					if err := cc.Invoke(ctx, frameUnary, wrapperspb.Bytes(value), reply, opts...); err != nil {
						t.Error(err)
						return
					}
					client.add(reply, value)
					// The answer is sent on, as it is, and comes back as an ordinary message.
					got := new(wrapperspb.BytesValue)
					if err := cc.Invoke(ctx, frameUnary, reply, got); err != nil || !bytes.Equal(got.Value, value) {
						t.Errorf("%d bytes forwarded: %v", n, err)
					}
					streamed := new(bytesFrame)
					if err := errors.Join(s.SendMsg(reply), s.RecvMsg(streamed)); err != nil {
						t.Error(err)
						return
					}
					client.add(streamed, value)
				}
				if err := s.CloseSend(); err != nil {
					t.Error(err)
				}
				if err := s.RecvMsg(new(bytesFrame)); err != io.EOF {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if want := 4 * rounds * len(sizes); len(client.frames) != 2*want || len(server.frames) != 3*want {
		t.Errorf("%d and %d frames", len(client.frames), len(server.frames))
	}
	client.check(t)
	for i, v := range server.views {
		if !bytes.Equal(v.GetValue(), server.want[i]) {
			t.Errorf("a frame of %d bytes has changed on the server", len(server.want[i]))
		}
	}
}

// One Frame for all messages of a stream, released or not between them; and the second receive
// of a unary call.
func TestFrameReceivesAgain(t *testing.T) {
	f := &framed{bidi: func(s grpc.ServerStream) error {
		m := new(bytesFrame)
		var before wrapperspbgraven.BytesValue
		var want []byte
		for i := 0; ; i++ {
			if err := s.RecvMsg(m); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if i%2 == 1 && !bytes.Equal(before.GetValue(), want) {
				return status.Error(codes.DataLoss, "a view of the message before has changed")
			}
			before, want = m.View(), bytes.Clone(m.View().GetValue())
			if err := s.SendMsg(m); err != nil {
				return err
			}
			if i%2 == 1 {
				m.Release()
			}
		}
	}}
	cc := dialGraven(t, serve(t, new(echo), f.register), withPoison(codec.Options{}))
	s, err := cc.NewStream(testContext(t), bidiDesc, frameBidi)
	if err != nil {
		t.Fatal(err)
	}
	reply := new(bytesFrame)
	for i := range 60 {
		value := randomBytes(uint64(i), sizes[i%len(sizes)])
		if err := errors.Join(s.SendMsg(wrapperspb.Bytes(value)), s.RecvMsg(reply)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(reply.View().GetValue(), value) {
			t.Fatalf("%d bytes came back as others", len(value))
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Error(err)
	}
	if err := s.RecvMsg(reply); err != io.EOF {
		t.Error(err)
	}

	c := newCodec(codec.Options{})
	for _, n := range sizes {
		one, err := codec.Marshal(wrapperspb.Bytes(randomBytes(1, n)))
		if err != nil {
			t.Fatal(err)
		}
		m := new(bytesFrame)
		for range 2 {
			if err := c.Unmarshal(cut(one, 3000), m); err != nil || !bytes.Equal(m.View().GetValue(), randomBytes(1, n)) {
				t.Fatalf("%d bytes: %v", n, err)
			}
		}
		if err := c.Unmarshal(cut(one[:len(one)-1], 3000), m); err == nil || len(m.View().GetValue()) != 0 {
			t.Errorf("a frame that is cut short: %v", err)
		}
	}
}

// A frame that a server holds keeps at most twice its size in memory, not a larger buffer of
// gRPC that it came in.
func TestFramesKeepLittle(t *testing.T) {
	if pool.Debug {
		t.Skip("buffers are not used again")
	}
	const held, each = 100, 8 // of so many messages one is held
	after := make(chan int64, 1)
	f := &framed{bidi: func(s grpc.ServerStream) error {
		var frames []*bytesFrame
		for i := range held * each {
			m := new(bytesFrame)
			if err := s.RecvMsg(m); err != nil {
				return err
			}
			if i%each == 0 {
				frames = append(frames, m)
			} else {
				m.Release()
			}
		}
		after <- inUse()
		runtime.KeepAlive(frames)
		return nil
	}}
	cc := dialGraven(t, serve(t, new(echo), f.register, experimental.BufferPool(mem.DefaultBufferPool())))
	for i, n := range []int{4500, 300, 1500, 4500, 9000, 17_000, 70_000} {
		before := inUse()
		s, err := cc.NewStream(testContext(t), bidiDesc, frameBidi)
		if err != nil {
			t.Fatal(err)
		}
		for range held * each {
			if err := s.SendMsg(wrapperspb.Bytes(randomBytes(1, n))); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.RecvMsg(new(bytesFrame)); err != io.EOF {
			t.Fatal(err)
		}
		// The first round is gRPC's own memory.
		if got, most := (<-after-before)/held, int64(2*n+1024); i > 0 && got > most {
			t.Errorf("a frame of %d bytes keeps %d", n, got)
		}
	}
}

// inUse is the memory in use after the garbage collector and the pools are done.
func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// gRPC sends the bytes of a frame again when it retries, after SendMsg has returned and the
// frame was released.
func TestFrameRetries(t *testing.T) {
	var attempts atomic.Int32
	f := &framed{unary: func(_ context.Context, req *bytesFrame) (*bytesFrame, error) {
		if attempts.Add(1)%3 != 0 {
			req.Release()
			return nil, status.Error(codes.Unavailable, "again")
		}
		return req, nil
	}}
	retry := grpc.WithDefaultServiceConfig(`{"methodConfig": [{"name": [{}], "retryPolicy":
		{"maxAttempts": 4, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`)
	cc := dial(t, serve(t, new(echo), f.register), append(DialOptions(withPoison(codec.Options{})), retry)...)
	for _, n := range sizes {
		value := randomBytes(4, n)
		req, err := codec.NewFrame[wrapperspbgraven.BytesValue](wrapperspb.Bytes(value))
		if err != nil {
			t.Fatal(err)
		}
		s, err := cc.NewStream(testContext(t), clientDesc, frameUnary, grpc.MaxRetryRPCBufferSize(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SendMsg(req); err != nil {
			t.Fatal(err)
		}
		req.Release()
		other := pool.Default.NewBuffer(n + 60) // the memory, if it was given back
		clear(other.Bytes())
		if err := s.CloseSend(); err != nil {
			t.Fatal(err)
		}
		reply := new(bytesFrame)
		if err := s.RecvMsg(reply); err != nil || !bytes.Equal(reply.View().GetValue(), value) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	if got, want := attempts.Load(), int32(len(sizes)*3); got != want {
		t.Errorf("%d attempts, want %d", got, want)
	}
}

// An interceptor that changes messages by reflection changes frames too, and a handler
// on frames serves a peer that speaks protobuf.
func TestFramesBehindAnInterceptor(t *testing.T) {
	f := &framed{unary: func(_ context.Context, req *bytesFrame) (*bytesFrame, error) { return req, nil }}
	redact := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		m := req.(proto.Message).ProtoReflect()
		m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			if bytes.HasPrefix(v.Bytes(), []byte("secret")) {
				m.Set(fd, protoreflect.ValueOfBytes([]byte("redacted")))
			}
			return true
		})
		return handle(ctx, req)
	}
	addr := serve(t, new(echo), f.register, grpc.UnaryInterceptor(redact))
	for name, cc := range map[string]*grpc.ClientConn{"graven": dialGraven(t, addr), "protobuf": dial(t, addr)} {
		for value, want := range map[string]string{"": "", "open": "open", "secret of many words": "redacted"} {
			reply := new(wrapperspb.BytesValue)
			if err := cc.Invoke(testContext(t), frameUnary, wrapperspb.Bytes([]byte(value)), reply); err != nil || string(reply.Value) != want {
				t.Errorf("%s: %q came back as %q, %v", name, value, reply.Value, err)
			}
		}
	}
}

// Frames that are no messages of the type, or none at all, are refused before a handler sees
// them.
func TestFramesAreVerified(t *testing.T) {
	f := &framed{unary: func(_ context.Context, req *bytesFrame) (*bytesFrame, error) { return req, nil }}
	cc := dialGraven(t, serve(t, new(echo), f.register))
	err := cc.Invoke(testContext(t), frameUnary, wrapperspb.String("text"), new(bytesFrame))
	if status.Code(err) != codes.Internal {
		t.Errorf("another type: %v", err)
	}
	if err := cc.Invoke(testContext(t), frameUnary, nil, new(bytesFrame)); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
}
