package gravengrpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
)

// contentTypes notes the content types of the requests that a server gets.
type contentTypes struct {
	mu   sync.Mutex
	seen []string
}

func (c *contentTypes) add(ctx context.Context) {
	md, _ := metadata.FromIncomingContext(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = append(c.seen, md.Get("content-type")...)
}

func (c *contentTypes) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	c.add(ctx)
	return ctx
}
func (c *contentTypes) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *contentTypes) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *contentTypes) HandleConn(context.Context, stats.ConnStats)                       {}

func (c *contentTypes) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := strings.Join(c.seen, " ")
	c.seen = nil
	return s
}

func TestEveryKindOfCall(t *testing.T) {
	var types contentTypes
	e := new(echo)
	addr := serve(t, e, nil, grpc.StatsHandler(&types))
	for name, cc := range map[string]*grpc.ClientConn{
		"DialOptions":     dialGraven(t, addr),
		"own options":     dialGraven(t, addr, withPoison(codec.Options{MaxSize: 1 << 20})),
		"with fallback":   dialGraven(t, addr, WithFallback()),
		"content-subtype": dial(t, addr, grpc.WithDefaultCallOptions(grpc.CallContentSubtype(Name))),
	} {
		for _, n := range sizes {
			value := randomBytes(1, n)
			mustEcho(t, cc, value)
			mustEcho(t, cc, value, grpc.UseCompressor("gzip"))
			checkStreams(t, cc, value)
		}
		got := types.take()
		if want := strings.TrimSpace(strings.Repeat("application/grpc+graven ", 5*len(sizes))); got != want {
			t.Errorf("%s: content types %s", name, got)
		}
	}
	// One call in protobuf among the others, also where the codec has options.
	for _, opts := range [][]DialOption{nil, {withPoison(codec.Options{})}} {
		mustEcho(t, dialGraven(t, addr, opts...), []byte("x"), grpc.CallContentSubtype("proto"))
		if got := types.take(); got != "application/grpc+proto" {
			t.Errorf("content type %s", got)
		}
	}
}

// checkStreams makes one call of each streaming kind.
func checkStreams(t *testing.T, cc *grpc.ClientConn, value []byte) {
	t.Helper()
	ctx := testContext(t)
	m := wrapperspb.Bytes(value)
	got := new(wrapperspb.BytesValue)

	s, err := cc.NewStream(ctx, serverDesc, serverMethod)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.SendMsg(m), s.CloseSend()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.RecvMsg(got); err != nil || !bytes.Equal(got.Value, value) {
			t.Fatalf("server stream: %d bytes, %v", len(got.Value), err)
		}
	}
	if err := s.RecvMsg(got); err != io.EOF {
		t.Fatalf("server stream: %v", err)
	}

	if s, err = cc.NewStream(ctx, clientDesc, clientMethod); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.SendMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.RecvMsg(got); err != nil || !bytes.Equal(got.Value, bytes.Repeat(value, 3)) {
		t.Fatalf("client stream: %d bytes, %v", len(got.Value), err)
	}

	if s, err = cc.NewStream(ctx, bidiDesc, bidiMethod); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.SendMsg(m); err != nil {
			t.Fatal(err)
		}
		if err := s.RecvMsg(got); err != nil || !bytes.Equal(got.Value, value) {
			t.Fatalf("bidi: %d bytes, %v", len(got.Value), err)
		}
	}
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.RecvMsg(got); err != io.EOF {
		t.Fatalf("bidi: %v", err)
	}
}

func TestHealthAndReflection(t *testing.T) {
	var types contentTypes
	addr := serve(t, new(echo), func(s *grpc.Server) {
		h := health.NewServer()
		h.SetServingStatus("test.Echo", healthpb.HealthCheckResponse_SERVING)
		h.SetServingStatus("down", healthpb.HealthCheckResponse_NOT_SERVING)
		healthpb.RegisterHealthServer(s, h)
		reflection.Register(s)
	}, grpc.StatsHandler(&types))
	cc := dialGraven(t, addr)
	ctx := testContext(t)

	checks := healthpb.NewHealthClient(cc)
	for service, want := range map[string]healthpb.HealthCheckResponse_ServingStatus{
		"": healthpb.HealthCheckResponse_SERVING, "test.Echo": healthpb.HealthCheckResponse_SERVING, "down": healthpb.HealthCheckResponse_NOT_SERVING,
	} {
		got, err := checks.Check(ctx, &healthpb.HealthCheckRequest{Service: service})
		if err != nil || got.Status != want {
			t.Errorf("health of %q: %v, %v", service, got, err)
		}
	}
	if _, err := checks.Check(ctx, &healthpb.HealthCheckRequest{Service: "other"}); status.Code(err) != codes.NotFound {
		t.Errorf("health of an unknown service: %v", err)
	}
	watch, err := checks.Watch(ctx, &healthpb.HealthCheckRequest{Service: "down"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := watch.Recv(); err != nil || got.Status != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("watch: %v, %v", got, err)
	}

	info, err := reflectionpb.NewServerReflectionClient(cc).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(r *reflectionpb.ServerReflectionRequest) *reflectionpb.ServerReflectionResponse {
		if err := info.Send(r); err != nil {
			t.Fatal(err)
		}
		got, err := info.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	list := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
	var names []string
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "grpc.health.v1.Health") {
		t.Errorf("services %v", names)
	}
	files := ask(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "google.protobuf.FileDescriptorProto"}})
	file := new(descriptorpb.FileDescriptorProto)
	if err := proto.Unmarshal(files.GetFileDescriptorResponse().GetFileDescriptorProto()[0], file); err != nil || file.GetName() != "google/protobuf/descriptor.proto" {
		t.Errorf("file %q, %v", file.GetName(), err)
	}
	if got := types.take(); strings.Count(got, "application/grpc+graven") != 6 || len(strings.Fields(got)) != 6 {
		t.Errorf("content types %s", got)
	}
}

func TestErrorDetails(t *testing.T) {
	want, err := status.New(codes.FailedPrecondition, "not now").WithDetails(wrapperspb.String("why"), durationpb.New(5))
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{unary: func(context.Context, *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		return nil, want.Err()
	}}
	cc := dialGraven(t, serve(t, e, nil))
	err = cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes(nil), new(wrapperspb.BytesValue))
	got := status.Convert(err)
	if got.Code() != codes.FailedPrecondition || !proto.Equal(got.Proto(), want.Proto()) {
		t.Errorf("got %v, want %v", got.Proto(), want.Proto())
	}
	if len(got.Details()) != 2 || !proto.Equal(got.Details()[0].(proto.Message), wrapperspb.String("why")) {
		t.Errorf("details %v", got.Details())
	}
}

// What was decoded must not change, whatever gRPC receives afterwards into buffers
// that are overwritten as soon as they are given back.
func TestKeptMessages(t *testing.T) {
	var kept sync.Map // value -> its copy, on the server
	e := &echo{unary: func(_ context.Context, m *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		kept.Store(m, bytes.Clone(m.Value))
		return m, nil
	}}
	addr := serve(t, e, nil)
	cc := dialGraven(t, addr, withPoison(codec.Options{}))
	ctx := testContext(t)
	rounds := 12
	if raceEnabled {
		rounds = 4 // all is ten times as slow
	}
	var clients sync.WaitGroup
	for w := range 4 {
		clients.Go(func() {
			for i := range rounds {
				for _, n := range []int{200, 2 << 10, 40 << 10, 300 << 10} {
					sent := randomBytes(uint64(w*1000+i), n)
					reply := new(wrapperspb.BytesValue)
					var opts []grpc.CallOption
					if i%4 == 1 && n < 100<<10 {
						opts = append(opts, grpc.UseCompressor("gzip"))
					}
					if err := cc.Invoke(ctx, unaryMethod, wrapperspb.Bytes(sent), reply, opts...); err != nil {
						t.Error(err)
						return
					}
					kept.Store(reply, sent)
				}
			}
		})
	}
	// A stream whose messages are of one type but kept apart, strings too.
	clients.Go(func() {
		for i := range rounds {
			s, err := cc.NewStream(ctx, bidiDesc, bidiMethod)
			if err != nil {
				t.Error(err)
				return
			}
			for _, n := range []int{100, 2 << 10, 40 << 10, 300 << 10} {
				sent := randomBytes(uint64(i), n)
				reply := new(wrapperspb.BytesValue)
				if err := errors.Join(s.SendMsg(wrapperspb.Bytes(sent)), s.RecvMsg(reply)); err != nil {
					t.Error(err)
					return
				}
				kept.Store(reply, sent)
			}
			if err := s.CloseSend(); err != nil {
				t.Error(err)
			}
			if err := s.RecvMsg(new(wrapperspb.BytesValue)); err != io.EOF {
				t.Error(err)
			}
		}
	})
	clients.Wait()
	n := 0
	kept.Range(func(m, want any) bool {
		n++
		if !bytes.Equal(m.(*wrapperspb.BytesValue).Value, want.([]byte)) {
			t.Errorf("a message of %d bytes has changed", len(want.([]byte)))
			return false
		}
		return true
	})
	if want := rounds * (4*4*2 + 4); n != want {
		t.Errorf("%d messages kept, want %d", n, want)
	}
}

// Frames that keep gRPC's own buffers, with other traffic over the same pool.
func TestKeptFrames(t *testing.T) {
	addr := serve(t, new(echo), nil)
	cc := dialGraven(t, addr, withPoison(codec.Options{}))
	ctx := testContext(t)
	var frames []*heldFrame
	var want [][]byte
	for i := range 20 {
		for _, n := range []int{200, 2 << 10, 40 << 10, 300 << 10} {
			m := wrapperspb.Bytes(randomBytes(uint64(i), n))
			frame, err := codec.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			f := new(heldFrame)
			if err := cc.Invoke(ctx, unaryMethod, m, f); err != nil {
				t.Fatal(err)
			}
			frames, want = append(frames, f), append(want, frame)
			// Forward it as it is, and read the answer as an ordinary message.
			got := new(wrapperspb.BytesValue)
			if err := cc.Invoke(ctx, unaryMethod, f, got); err != nil || !proto.Equal(got, m) {
				t.Fatalf("forwarded: %v", err)
			}
		}
	}
	owned := 0
	for i, f := range frames {
		if !bytes.Equal(f.data, want[i]) {
			t.Errorf("frame %d of %d bytes has changed", i, len(want[i]))
		}
		if f.owner != nil {
			owned++
		}
		f.release()
	}
	if owned < len(frames)/2 {
		t.Errorf("only %d of %d frames keep a buffer", owned, len(frames))
	}
}

func TestNilMessages(t *testing.T) {
	var got []byte
	e := &echo{unary: func(_ context.Context, m *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		got = m.Value
		return nil, nil // a typed nil
	}}
	cc := dialGraven(t, serve(t, e, nil))
	for name, req := range map[string]any{"nil": nil, "typed nil": (*wrapperspb.BytesValue)(nil)} {
		got = []byte("old")
		reply := wrapperspb.Bytes([]byte("old"))
		if err := cc.Invoke(testContext(t), unaryMethod, req, reply); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(got) != 0 || len(reply.Value) != 0 {
			t.Errorf("%s: the server got %q, the client %q", name, got, reply.Value)
		}
	}
}

// A service config that retries: gRPC sends the bytes of the first attempt again.
func TestRetries(t *testing.T) {
	var attempts atomic.Int32
	e := &echo{unary: func(_ context.Context, m *wrapperspb.BytesValue) (*wrapperspb.BytesValue, error) {
		if attempts.Add(1)%3 != 0 {
			return nil, status.Error(codes.Unavailable, "again")
		}
		return m, nil
	}}
	retry := grpc.WithDefaultServiceConfig(`{"methodConfig": [{"name": [{}], "retryPolicy":
		{"maxAttempts": 4, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}`)
	cc := dial(t, serve(t, e, nil), append(DialOptions(withPoison(codec.Options{})), retry)...)
	room := grpc.MaxRetryRPCBufferSize(1 << 20) // larger requests are not sent again
	for _, n := range sizes {
		mustEcho(t, cc, randomBytes(4, n), room)
		mustEcho(t, cc, randomBytes(4, n), room, grpc.UseCompressor("gzip"))
	}
	if got, want := attempts.Load(), int32(len(sizes)*6); got != want {
		t.Errorf("%d attempts, want %d", got, want)
	}
}

func TestPreparedMessages(t *testing.T) {
	value := randomBytes(5, 5000)
	e := &echo{bidi: func(s grpc.ServerStream) error {
		if err := s.RecvMsg(new(wrapperspb.BytesValue)); err != nil {
			return err
		}
		p := new(grpc.PreparedMsg)
		if err := p.Encode(s, wrapperspb.Bytes(value)); err != nil {
			return err
		}
		return errors.Join(s.SendMsg(p), s.SendMsg(p))
	}}
	for name, cc := range map[string]*grpc.ClientConn{
		"plain": dialGraven(t, serve(t, e, nil)), "with fallback": dialGraven(t, serve(t, e, nil), WithFallback()),
	} {
		var p *grpc.PreparedMsg
		for range 3 { // one message, encoded once, on several streams
			s, err := cc.NewStream(testContext(t), bidiDesc, bidiMethod)
			if err != nil {
				t.Fatal(err)
			}
			if p == nil {
				p = new(grpc.PreparedMsg)
				if err := p.Encode(s, wrapperspb.Bytes(value)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.SendMsg(p); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				got := new(wrapperspb.BytesValue)
				if err := s.RecvMsg(got); err != nil || !bytes.Equal(got.Value, value) {
					t.Errorf("%s: %d bytes, %v", name, len(got.Value), err)
				}
			}
			if err := s.RecvMsg(new(wrapperspb.BytesValue)); err != io.EOF {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Errors of the codec reach the caller as text and the hook with their type.
func TestCodecErrors(t *testing.T) {
	cc := dialGraven(t, serve(t, new(echo), nil))
	// The server refuses a frame of another message type, and has the codec.
	err := cc.Invoke(testContext(t), unaryMethod, durationpb.New(1), new(wrapperspb.BytesValue))
	if status.Code(err) != codes.Internal || errors.Is(err, ErrNoCodec) || !strings.Contains(err.Error(), "schema mismatch") {
		t.Errorf("another type sent: %v", err)
	}

	var event codec.Event
	hooked := dialGraven(t, serve(t, new(echo), nil), WithOptions(codec.Options{Hook: func(e codec.Event) { event = e }}))
	err = hooked.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes([]byte("x")), new(durationpb.Duration))
	if status.Code(err) != codes.Internal || errors.Is(err, ErrNoCodec) {
		t.Errorf("another type received: %v", err)
	}
	if !errors.Is(event.Err, codec.ErrSchema) || event.Message != "google.protobuf.Duration" {
		t.Errorf("event %+v", event)
	}
	err = hooked.Invoke(testContext(t), unaryMethod, "text", new(wrapperspb.BytesValue))
	if status.Code(err) != codes.Internal || !errors.Is(event.Err, codec.ErrNotMessage) {
		t.Errorf("no message: %v, event %+v", err, event)
	}
	// The limit of gRPC counts our bytes.
	err = cc.Invoke(testContext(t), unaryMethod, wrapperspb.Bytes(make([]byte, 5<<20)), new(wrapperspb.BytesValue))
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("over gRPC's limit: %v", err)
	}
}

// Messages with no generated methods of ours and of some depth, over a connection.
func TestOtherMessages(t *testing.T) {
	value, err := structpb.NewValue(map[string]any{"list": []any{1, "two", nil, map[string]any{"deep": true}}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := anypb.New(value)
	if err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(packed)
	if err != nil {
		t.Fatal(err)
	}
	cc := dialGraven(t, serve(t, new(echo), nil))
	mustEcho(t, cc, data)
	for i := range 100 {
		mustEcho(t, cc, fmt.Append(nil, i))
	}
}
