// Package relay_test has both sides of a service with every kind of call, on frames and on
// ordinary messages, talk to each other.
package relay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravenconnect"
	"github.com/graven-rpc/graven/codec/gravengrpc"
	"github.com/graven-rpc/graven/codec/internal/testpb/relay"
	"github.com/graven-rpc/graven/codec/internal/testpb/relay/relayconnect"
	"github.com/graven-rpc/graven/codec/internal/testpb/relay/relaygraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/relay/relaygravenconnect"
	"github.com/graven-rpc/graven/codec/internal/testpb/relay/relaygravengrpc"
	"github.com/graven-rpc/graven/codec/internal/testpb/wide"
	"github.com/graven-rpc/graven/codec/views/emptypbgraven"
)

type (
	item  = codec.Frame[relaygraven.Item]
	empty = codec.Frame[emptypbgraven.Empty]
)

// What the service does, on frames.

func write(number int32, text string) (*item, error) {
	var w relaygraven.ItemWriter
	w.Reset()
	w.SetNumber(number)
	w.SetText(text)
	return w.SealFrame()
}

func many(in *item, send func(*item) error) error {
	defer in.Release()
	for i := range in.View().GetNumber() {
		f, err := write(i, in.View().GetText())
		if err != nil {
			return err
		}
		if err := send(f); err != nil {
			return err
		}
	}
	return nil
}

func collect(recv func() (*item, error)) (*item, error) {
	n, texts := int32(0), new(strings.Builder)
	for {
		in, err := recv()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return nil, err
			}
			return write(n, texts.String())
		}
		n++
		texts.WriteString(in.View().GetText())
		in.Release()
	}
}

func talk(recv func() (*item, error), send func(*item) error) error {
	for {
		in, err := recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := send(in); err != nil {
			return err
		}
	}
}

type grpcFrames struct {
	relaygravengrpc.UnimplementedRelayServer
}

func (grpcFrames) One(_ context.Context, in *item) (*item, error) { return in, nil }

func (grpcFrames) Many(in *item, s grpc.ServerStreamingServer[item]) error { return many(in, s.Send) }

func (grpcFrames) Collect(s grpc.ClientStreamingServer[item, item]) error {
	out, err := collect(s.Recv)
	if err != nil {
		return err
	}
	return s.SendAndClose(out)
}

func (grpcFrames) Talk(s grpc.BidiStreamingServer[item, item]) error { return talk(s.Recv, s.Send) }

func (grpcFrames) Nothing(_ context.Context, in *empty) (*empty, error) { return in, nil }

func (grpcFrames) Foreign(_ context.Context, in *wide.Wide) (*item, error) {
	return write(in.F1, in.F12)
}

type connectFrames struct {
	relaygravenconnect.UnimplementedRelayHandler
}

func (connectFrames) One(_ context.Context, in *item) (*item, error) { return in, nil }

func (connectFrames) Many(_ context.Context, in *item, s *connect.ServerStream[item]) error {
	return many(in, s.Send)
}

func (connectFrames) Collect(_ context.Context, s *connect.ClientStream[item]) (*item, error) {
	return collect(func() (*item, error) {
		if !s.Receive() {
			if s.Err() != nil {
				return nil, s.Err()
			}
			return nil, io.EOF
		}
		return s.Msg().Clone(), nil
	})
}

func (connectFrames) Talk(_ context.Context, s *connect.BidiStream[item, item]) error {
	return talk(s.Receive, s.Send)
}

func (connectFrames) Nothing(_ context.Context, in *empty) (*empty, error) { return in, nil }

func (connectFrames) Foreign(_ context.Context, in *wide.Wide) (*item, error) {
	return write(in.F1, in.F12)
}

// The same on ordinary messages.

type grpcMessages struct{ relay.UnimplementedRelayServer }

func (grpcMessages) One(_ context.Context, in *relay.Item) (*relay.Item, error) { return in, nil }

func (grpcMessages) Many(in *relay.Item, s grpc.ServerStreamingServer[relay.Item]) error {
	for i := range in.Number {
		if err := s.Send(&relay.Item{Number: i, Text: in.Text}); err != nil {
			return err
		}
	}
	return nil
}

func (grpcMessages) Collect(s grpc.ClientStreamingServer[relay.Item, relay.Item]) error {
	out := new(relay.Item)
	for {
		in, err := s.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return s.SendAndClose(out)
			}
			return err
		}
		out.Number++
		out.Text += in.Text
	}
}

func (grpcMessages) Talk(s grpc.BidiStreamingServer[relay.Item, relay.Item]) error {
	for {
		in, err := s.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := s.Send(in); err != nil {
			return err
		}
	}
}

func (grpcMessages) Nothing(_ context.Context, in *emptypb.Empty) (*emptypb.Empty, error) {
	return in, nil
}

func (grpcMessages) Foreign(_ context.Context, in *wide.Wide) (*relay.Item, error) {
	return &relay.Item{Number: in.F1, Text: in.F12}, nil
}

// caller is a client of the service, in terms of ordinary messages.
type caller struct {
	one     func(context.Context, *relay.Item) (*relay.Item, error)
	many    func(context.Context, *relay.Item, func(*relay.Item)) error
	collect func(context.Context, []*relay.Item) (*relay.Item, error)
	talk    func(context.Context, []*relay.Item, func(*relay.Item)) error
	nothing func(context.Context) error
	foreign func(context.Context, *wide.Wide) (*relay.Item, error)
}

// frame and message convert between the two.
func frame(m *relay.Item) *item {
	f, err := codec.NewFrame[relaygraven.Item](m)
	if err != nil {
		panic(err)
	}
	return f
}

func message(f *item) *relay.Item {
	m, err := f.View().Message()
	if err != nil {
		panic(err)
	}
	return m
}

func messageOr(f *item, err error) (*relay.Item, error) {
	if err != nil {
		return nil, err
	}
	defer f.Release()
	return message(f), nil
}

// receive calls each for all that recv gives.
func receive[T any](recv func() (*T, error), each func(*T)) error {
	for {
		m, err := recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		each(m)
	}
}

func overGRPCFrames(cc grpc.ClientConnInterface) caller {
	c := relaygravengrpc.NewRelayClient(cc)
	return caller{
		one: func(ctx context.Context, m *relay.Item) (*relay.Item, error) { return messageOr(c.One(ctx, frame(m))) },
		many: func(ctx context.Context, m *relay.Item, each func(*relay.Item)) error {
			s, err := c.Many(ctx, frame(m))
			if err != nil {
				return err
			}
			return receive(s.Recv, func(f *item) { each(message(f)) })
		},
		collect: func(ctx context.Context, ms []*relay.Item) (*relay.Item, error) {
			s, err := c.Collect(ctx)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				if err := s.Send(frame(m)); err != nil {
					return nil, err
				}
			}
			return messageOr(s.CloseAndRecv())
		},
		talk: func(ctx context.Context, ms []*relay.Item, each func(*relay.Item)) error {
			s, err := c.Talk(ctx)
			if err != nil {
				return err
			}
			for _, m := range ms {
				if err := s.Send(frame(m)); err != nil {
					return err
				}
				f, err := s.Recv()
				if err != nil {
					return err
				}
				each(message(f))
			}
			if err := s.CloseSend(); err != nil {
				return err
			}
			return receive(s.Recv, func(f *item) { each(message(f)) })
		},
		nothing: func(ctx context.Context) error {
			_, err := c.Nothing(ctx, new(empty))
			return err
		},
		foreign: func(ctx context.Context, m *wide.Wide) (*relay.Item, error) { return messageOr(c.Foreign(ctx, m)) },
	}
}

func overGRPC(cc grpc.ClientConnInterface) caller {
	c := relay.NewRelayClient(cc)
	return caller{
		one: func(ctx context.Context, m *relay.Item) (*relay.Item, error) { return c.One(ctx, m) },
		many: func(ctx context.Context, m *relay.Item, each func(*relay.Item)) error {
			s, err := c.Many(ctx, m)
			if err != nil {
				return err
			}
			return receive(s.Recv, each)
		},
		collect: func(ctx context.Context, ms []*relay.Item) (*relay.Item, error) {
			s, err := c.Collect(ctx)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				if err := s.Send(m); err != nil {
					return nil, err
				}
			}
			return s.CloseAndRecv()
		},
		talk: func(ctx context.Context, ms []*relay.Item, each func(*relay.Item)) error {
			s, err := c.Talk(ctx)
			if err != nil {
				return err
			}
			for _, m := range ms {
				if err := s.Send(m); err != nil {
					return err
				}
			}
			if err := s.CloseSend(); err != nil {
				return err
			}
			return receive(s.Recv, each)
		},
		nothing: func(ctx context.Context) error {
			_, err := c.Nothing(ctx, new(emptypb.Empty))
			return err
		},
		foreign: func(ctx context.Context, m *wide.Wide) (*relay.Item, error) { return c.Foreign(ctx, m) },
	}
}

// overConnectFrames and overConnect differ in nothing but their types.

type connectClient[I, E any] interface {
	One(context.Context, *I) (*I, error)
	Many(context.Context, *I) (*connect.ServerStreamForClient[I], error)
	Collect(context.Context) (*connect.ClientStreamForClientSimple[I, I], error)
	Talk(context.Context) (*connect.BidiStreamForClientSimple[I, I], error)
	Nothing(context.Context, *E) (*E, error)
	Foreign(context.Context, *wide.Wide) (*I, error)
}

func overConnect[I, E any](c connectClient[I, E], from func(*relay.Item) *I, to func(*I) *relay.Item) caller {
	toOr := func(x *I, err error) (*relay.Item, error) {
		if err != nil {
			return nil, err
		}
		return to(x), nil
	}
	return caller{
		one: func(ctx context.Context, m *relay.Item) (*relay.Item, error) { return toOr(c.One(ctx, from(m))) },
		many: func(ctx context.Context, m *relay.Item, each func(*relay.Item)) error {
			s, err := c.Many(ctx, from(m))
			if err != nil {
				return err
			}
			defer s.Close()
			for s.Receive() {
				each(to(s.Msg()))
			}
			return s.Err()
		},
		collect: func(ctx context.Context, ms []*relay.Item) (*relay.Item, error) {
			s, err := c.Collect(ctx)
			if err != nil {
				return nil, err
			}
			for _, m := range ms {
				if err := s.Send(from(m)); err != nil {
					return nil, err
				}
			}
			return toOr(s.CloseAndReceive())
		},
		talk: func(ctx context.Context, ms []*relay.Item, each func(*relay.Item)) error {
			s, err := c.Talk(ctx)
			if err != nil {
				return err
			}
			for _, m := range ms {
				if err := s.Send(from(m)); err != nil {
					return err
				}
			}
			if err := s.CloseRequest(); err != nil {
				return err
			}
			err = receive(s.Receive, func(x *I) { each(to(x)) })
			return errors.Join(err, s.CloseResponse())
		},
		nothing: func(ctx context.Context) error {
			_, err := c.Nothing(ctx, new(E))
			return err
		},
		foreign: func(ctx context.Context, m *wide.Wide) (*relay.Item, error) { return toOr(c.Foreign(ctx, m)) },
	}
}

// texts are such that messages come in one buffer of gRPC's and in several, pooled or not.
var texts = []string{"", "short", strings.Repeat("middle ", 500), strings.Repeat("long ", 20_000)}

// callAll makes every kind of call.
func callAll(t *testing.T, c caller) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, text := range texts {
		want := &relay.Item{Number: -1, Text: text, Parts: []*relay.Item{{Text: "part"}, {Number: 7}}, Raw: []byte{0, 255}}
		got, err := c.one(ctx, want)
		if err != nil || !proto.Equal(got, want) {
			t.Fatalf("one: %v", err)
		}
		n := int32(0)
		err = c.many(ctx, &relay.Item{Number: 5, Text: text}, func(m *relay.Item) {
			if !proto.Equal(m, &relay.Item{Number: n, Text: text}) {
				t.Errorf("many: item %d is wrong", n)
			}
			n++
		})
		if err != nil || n != 5 {
			t.Fatalf("many: %d, %v", n, err)
		}
		got, err = c.collect(ctx, []*relay.Item{{Text: text}, {Text: "!"}, {}})
		if err != nil || !proto.Equal(got, &relay.Item{Number: 3, Text: text + "!"}) {
			t.Fatalf("collect: %v", err)
		}
		said := []*relay.Item{want, {}, {Text: text}}
		err = c.talk(ctx, said, func(m *relay.Item) {
			if len(said) == 0 || !proto.Equal(m, said[0]) {
				t.Error("talk: an item is wrong")
				return
			}
			said = said[1:]
		})
		if err != nil || len(said) > 0 {
			t.Fatalf("talk: %d left, %v", len(said), err)
		}
		got, err = c.foreign(ctx, &wide.Wide{F1: 3, F12: text})
		if err != nil || !proto.Equal(got, &relay.Item{Number: 3, Text: text}) {
			t.Fatalf("foreign: %v", err)
		}
	}
	if err := c.nothing(ctx); err != nil {
		t.Fatalf("nothing: %v", err)
	}
}

func TestGRPC(t *testing.T) {
	servers := map[string]func(*grpc.Server){
		"frames":   func(s *grpc.Server) { relaygravengrpc.RegisterRelayServer(s, grpcFrames{}) },
		"messages": func(s *grpc.Server) { relay.RegisterRelayServer(s, grpcMessages{}) },
	}
	for name, register := range servers {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			if _, ok := req.(proto.Message); !ok {
				return nil, status.Error(codes.Internal, "not a message")
			}
			return next(ctx, req)
		}))
		register(s)
		go s.Serve(lis)
		t.Cleanup(s.Stop)
		for encoding, options := range map[string][]grpc.DialOption{"graven": gravengrpc.DialOptions(), "protobuf": nil} {
			cc, err := grpc.NewClient(lis.Addr().String(), append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cc.Close() })
			t.Run(fmt.Sprintf("%s called with frames in %s", name, encoding), func(t *testing.T) { callAll(t, overGRPCFrames(cc)) })
			t.Run(fmt.Sprintf("%s called with messages in %s", name, encoding), func(t *testing.T) { callAll(t, overGRPC(cc)) })
		}
	}
}

func TestConnect(t *testing.T) {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	client := &http.Client{Transport: &http.Transport{Protocols: protocols}}
	t.Cleanup(client.CloseIdleConnections)
	mux := http.NewServeMux()
	mux.Handle(relaygravenconnect.NewRelayHandler(connectFrames{}, gravenconnect.HandlerOptions()...))
	server := httptest.NewUnstartedServer(mux)
	server.Config.Protocols = protocols
	server.Start()
	t.Cleanup(server.Close)
	encodings := map[string][]connect.ClientOption{
		"graven":          gravenconnect.ClientOptions(),
		"protobuf":        nil,
		"JSON":            {connect.WithProtoJSON()},
		"graven by gRPC":  append(gravenconnect.ClientOptions(), connect.WithGRPC()),
		"JSON by gRPC":    {connect.WithGRPC(), connect.WithProtoJSON()},
		"graven with GET": append(gravenconnect.ClientOptions(), connect.WithHTTPGet()),
	}
	for encoding, options := range encodings {
		t.Run("frames in "+encoding, func(t *testing.T) {
			c := relaygravenconnect.NewRelayClient(client, server.URL, options...)
			callAll(t, overConnect[item, empty](c, frame, message))
		})
		t.Run("messages in "+encoding, func(t *testing.T) {
			c := relayconnect.NewRelayClient(client, server.URL+"/", options...)
			same := func(m *relay.Item) *relay.Item { return m }
			callAll(t, overConnect[relay.Item, emptypb.Empty](c, same, proto.CloneOf))
		})
	}
}

// What a server has not written it refuses.
func TestUnimplemented(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	relaygravengrpc.RegisterRelayServer(s, relaygravengrpc.UnimplementedRelayServer{})
	relaygravengrpc.RegisterIdleServer(s, relaygravengrpc.UnimplementedIdleServer{})
	go s.Serve(lis)
	t.Cleanup(s.Stop)
	cc, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	if _, err := overGRPC(cc).one(t.Context(), new(relay.Item)); status.Code(err) != codes.Unimplemented {
		t.Errorf("gRPC: %v", err)
	}
	if _, err := overGRPCFrames(cc).collect(t.Context(), nil); status.Code(err) != codes.Unimplemented {
		t.Errorf("gRPC: %v", err)
	}
	mux := http.NewServeMux()
	mux.Handle(relaygravenconnect.NewRelayHandler(relaygravenconnect.UnimplementedRelayHandler{}))
	mux.Handle(relaygravenconnect.NewIdleHandler(relaygravenconnect.UnimplementedIdleHandler{}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c := relaygravenconnect.NewRelayClient(server.Client(), server.URL)
	if _, err := c.One(t.Context(), new(item)); connect.CodeOf(err) != connect.CodeUnimplemented {
		t.Errorf("Connect: %v", err)
	}
}
