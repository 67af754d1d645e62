package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"

	vtgrpc "github.com/planetscale/vtprotobuf/codec/grpc"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/gravengrpc"
)

var errDiffers = errors.New("the echo differs from what was sent")

const (
	service      = "bench.Echo"
	echoMethod   = "/bench.Echo/Echo"
	streamMethod = "/bench.Echo/Stream"
)

var pooled = vtPooled{new(classPool)}

// listen returns a listener and a function that connects to it.
func listen(transport string) (net.Listener, func(context.Context) (net.Conn, error), error) {
	if transport == Bufconn {
		l := bufconn.Listen(1 << 20)
		return l, l.DialContext, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	return l, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}, nil
}

// grpcCodec is how one codec is used with grpc-go.
type grpcCodec struct {
	server []grpc.ServerOption
	call   []grpc.CallOption
	// out is what is sent; fresh makes what an answer is read into; check
	// compares the two, and free gives back what fresh was filled with.
	out   any
	fresh func() any
	check func(any) error
	free  func(any)
}

func newGRPCCodec(name string, m Message) (grpcCodec, error) {
	c := grpcCodec{
		out:   m.Msg,
		fresh: func() any { return m.New() },
		check: func(v any) error {
			if !proto.Equal(m.Msg, v.(proto.Message)) {
				return errDiffers
			}
			return nil
		},
		free: func(any) {},
	}
	switch name {
	case Protobuf:
	case VT:
		c.server = []grpc.ServerOption{grpc.ForceServerCodec(vtgrpc.Codec{})}
		c.call = []grpc.CallOption{grpc.ForceCodec(vtgrpc.Codec{})}
	case VTPool:
		c.server = []grpc.ServerOption{grpc.ForceServerCodecV2(pooled)}
		c.call = []grpc.CallOption{grpc.ForceCodecV2(pooled)}
	case Graven:
		c.call = []grpc.CallOption{grpc.CallContentSubtype(gravengrpc.Name)}
	case GravenFrames:
		c.call = []grpc.CallOption{grpc.CallContentSubtype(gravengrpc.Name)}
		out, err := m.Framed()
		if err != nil {
			return c, err
		}
		want, err := out.Bytes()
		if err != nil {
			return c, err
		}
		c.out = out
		c.fresh = func() any { return m.NewFrame() }
		c.check = func(v any) error { return sameFrame(v.(frame), want) }
		c.free = func(v any) { v.(frame).Release() }
	case Floor:
		c.server = []grpc.ServerOption{grpc.ForceServerCodecV2(floorCodec{})}
		c.call = []grpc.CallOption{grpc.ForceCodecV2(floorCodec{})}
		enc, err := proto.Marshal(m.Msg)
		if err != nil {
			return c, err
		}
		c.out = &kept{mem.BufferSlice{mem.SliceBuffer(enc)}}
		c.fresh = func() any { return new(kept) }
		c.check = func(v any) error {
			if !bytes.Equal(v.(*kept).bufs.Materialize(), enc) {
				return errDiffers
			}
			return nil
		}
		c.free = func(v any) { v.(*kept).bufs.Free() }
	default:
		return c, fmt.Errorf("rpc: grpc-go has no codec %q", name)
	}
	return c, nil
}

func sameFrame(f frame, want []byte) error {
	got, err := f.Bytes()
	if err == nil && !bytes.Equal(got, want) {
		err = errDiffers
	}
	return err
}

func openGRPC(cfg Config) (*Conn, error) {
	c, err := newGRPCCodec(cfg.Codec, cfg.Message)
	if err != nil {
		return nil, err
	}
	l, dial, err := listen(cfg.Transport)
	if err != nil {
		return nil, err
	}
	var count atomic.Int64
	s := grpc.NewServer(c.server...)
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: service, HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Echo", Handler: func(_ any, _ context.Context, dec func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := c.fresh()
			if err := dec(in); err != nil {
				return nil, err
			}
			return in, nil
		}}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, Handler: func(_ any, ss grpc.ServerStream) error {
			if err := ss.RecvMsg(c.fresh()); err != nil {
				return err
			}
			for range count.Load() {
				if err := ss.SendMsg(c.out); err != nil {
					return err
				}
			}
			return nil
		}}},
	}, struct{}{})
	go s.Serve(l)
	cc, err := grpc.NewClient("passthrough:///bench",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }))
	if err != nil {
		s.Stop()
		return nil, err
	}
	conn := &Conn{close: []func(){func() { cc.Close() }, s.Stop}}
	ctx := context.Background()
	take := func(v any, verify bool) (err error) {
		if verify {
			err = c.check(v)
		}
		c.free(v)
		return err
	}
	conn.Call = func(verify bool) error {
		in := c.fresh()
		if err := cc.Invoke(ctx, echoMethod, c.out, in, c.call...); err != nil {
			return err
		}
		return take(in, verify)
	}
	conn.Stream = func(n int, verify bool) error {
		count.Store(int64(n))
		cs, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, streamMethod, c.call...)
		if err != nil {
			return err
		}
		if err := cs.SendMsg(c.out); err != nil {
			return err
		}
		if err := cs.CloseSend(); err != nil {
			return err
		}
		for i := 0; ; i++ {
			in := c.fresh()
			if err := cs.RecvMsg(in); err == io.EOF {
				if i != n {
					return fmt.Errorf("rpc: %d messages came of %d", i, n)
				}
				return nil
			} else if err != nil {
				return err
			}
			if err := take(in, verify); err != nil {
				return err
			}
		}
	}
	return conn, nil
}
