package rpc

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravenconnect"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
)

func openConnect(cfg Config) (*Conn, error) {
	if cfg.Codec == Floor {
		enc, err := proto.Marshal(cfg.Message.Msg)
		if err != nil {
			return nil, err
		}
		return connectTo(cfg, &raw{enc}, func(m *raw) error {
			if !bytes.Equal(m.b, enc) {
				return errDiffers
			}
			return nil
		})
	}
	if cfg.Codec == GravenFrames {
		return openConnectFrames(cfg)
	}
	switch m := cfg.Message.Msg.(type) {
	case *scenariosv1.Telemetry:
		return connectTo(cfg, m, equal(m))
	case *scenariosv1.Transaction:
		return connectTo(cfg, m, equal(m))
	case *scenariosv1.Frame:
		return connectTo(cfg, m, equal(m))
	case *scenariosv1.Chunk:
		return connectTo(cfg, m, equal(m))
	}
	return nil, fmt.Errorf("rpc: connect-go has no message %T", cfg.Message.Msg)
}

func openConnectFrames(cfg Config) (*Conn, error) {
	f, err := cfg.Message.Framed()
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case *codec.Frame[scenariosv1graven.Telemetry]:
		return connectFrames(cfg, f)
	case *codec.Frame[scenariosv1graven.Transaction]:
		return connectFrames(cfg, f)
	case *codec.Frame[scenariosv1graven.Frame]:
		return connectFrames(cfg, f)
	case *codec.Frame[scenariosv1graven.Chunk]:
		return connectFrames(cfg, f)
	}
	return nil, fmt.Errorf("rpc: connect-go has no frame %T", f)
}

func connectFrames[V codec.View[V]](cfg Config, f *codec.Frame[V]) (*Conn, error) {
	want, err := f.Bytes()
	if err != nil {
		return nil, err
	}
	return connectTo(cfg, f, func(got *codec.Frame[V]) error { return sameFrame(got, want) })
}

func equal[M proto.Message](want M) func(M) error {
	return func(got M) error {
		if !proto.Equal(want, got) {
			return errDiffers
		}
		return nil
	}
}

// connectTo serves and calls with Connect's own protocol over HTTP/2 without TLS.
func connectTo[T any](cfg Config, out *T, check func(*T) error) (*Conn, error) {
	var server []connect.HandlerOption
	var client []connect.ClientOption
	if cfg.Codec != ProtobufGzip {
		client = append(client, connect.WithAcceptCompression("gzip", nil, nil))
	}
	switch cfg.Codec {
	case Protobuf, ProtobufGzip:
	case VT:
		server, client = append(server, connect.WithCodec(connectVT{})), append(client, connect.WithCodec(connectVT{}))
	case Graven, GravenFrames:
		server, client = append(server, gravenconnect.HandlerOptions()...), append(client, gravenconnect.ClientOptions()...)
	case Floor:
		server, client = append(server, connect.WithCodec(connectFloor{})), append(client, connect.WithCodec(connectFloor{}))
	default:
		return nil, fmt.Errorf("rpc: connect-go has no codec %q", cfg.Codec)
	}
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.Handle(echoMethod, connect.NewUnaryHandler(echoMethod, func(_ context.Context, r *connect.Request[T]) (*connect.Response[T], error) {
		return connect.NewResponse(r.Msg), nil
	}, server...))
	mux.Handle(streamMethod, connect.NewServerStreamHandler(streamMethod, func(_ context.Context, r *connect.Request[T], s *connect.ServerStream[T]) error {
		for range count.Load() {
			if err := s.Send(r.Msg); err != nil {
				return err
			}
		}
		return nil
	}, server...))
	l, _, err := listen(cfg.Transport)
	if err != nil {
		return nil, err
	}
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: mux, Protocols: h2c}
	go s.Serve(l)
	tr := &http.Transport{Protocols: h2c}
	base := "http://" + l.Addr().String()
	hc := &http.Client{Transport: tr}
	echo := connect.NewClient[T, T](hc, base+echoMethod, client...)
	stream := connect.NewClient[T, T](hc, base+streamMethod, client...)
	ctx := context.Background()
	return &Conn{
		Call: func(verify bool) error {
			in, err := echo.CallUnary(ctx, connect.NewRequest(out))
			if err == nil && verify {
				err = check(in.Msg)
			}
			if err == nil {
				release(in.Msg)
			}
			return err
		},
		Stream: func(n int, verify bool) error {
			count.Store(int64(n))
			ss, err := stream.CallServerStream(ctx, connect.NewRequest(out))
			if err != nil {
				return err
			}
			defer ss.Close()
			i := 0
			for ; ss.Receive(); i++ {
				if verify {
					if err := check(ss.Msg()); err != nil {
						return err
					}
				}
				release(ss.Msg())
			}
			if err := ss.Err(); err != nil {
				return err
			}
			if i != n {
				return fmt.Errorf("rpc: %d messages came of %d", i, n)
			}
			return nil
		},
		close: []func(){tr.CloseIdleConnections, func() { s.Close() }},
	}, nil
}

// release gives a frame's memory back.
func release(m any) {
	if f, ok := m.(frame); ok {
		f.Release()
	}
}
