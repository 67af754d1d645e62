package gravengrpc

import (
	"context"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/graven-rpc/graven/codec/internal/fallback"
)

func (d *dialOptions) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	graven, ok := d.inGraven(opts)
	if !ok {
		return open(ctx, desc, cc, method, opts...)
	}
	target := cc.Target()
	if d.fallback != nil && d.fallback.Has(target) {
		return open(ctx, desc, cc, method, inProtobuf(opts)...)
	}
	s, err := open(ctx, desc, cc, method, graven...)
	if err != nil {
		return nil, err
	}
	var reopen func() (grpc.ClientStream, error)
	if d.fallback != nil {
		reopen = func() (grpc.ClientStream, error) {
			return open(ctx, desc, cc, method, inProtobuf(opts)...)
		}
	}
	return &watchedStream{
		options: d, target: target, method: method, watching: true,
		s: fallback.NewStream(s, reopen, grpc.ClientStream.SendMsg, grpc.ClientStream.CloseSend),
	}, nil
}

// watchedStream is a client's stream in Graven that looks at how it ends if it ends
// before anything was received.
type watchedStream struct {
	options *dialOptions
	target  string
	method  string

	watching bool // nothing was received yet; only RecvMsg uses it
	s        *fallback.Stream[grpc.ClientStream]
}

func (w *watchedStream) Header() (metadata.MD, error) { return w.s.Current().Header() }
func (w *watchedStream) Trailer() metadata.MD         { return w.s.Current().Trailer() }
func (w *watchedStream) Context() context.Context     { return w.s.Current().Context() }
func (w *watchedStream) CloseSend() error             { return w.s.CloseSend() }

func (w *watchedStream) SendMsg(m any) error {
	_, encoded := m.(*grpc.PreparedMsg) // in Graven, for good
	return w.s.Send(m, !encoded)
}

func (w *watchedStream) RecvMsg(m any) error {
	err := w.s.Current().RecvMsg(m)
	if !w.watching {
		return err
	}
	w.watching = false
	if err == nil || err == io.EOF {
		w.s.Settle()
		return err
	}
	said := status.Convert(err)
	switch judge(said) {
	case unknown:
		w.s.Settle()
		return err
	case otherEncoding:
		w.s.Settle()
		w.options.remember(w.target)
	case unread:
		opened, err := w.s.Reopen()
		if err != nil {
			return err
		}
		if !opened {
			w.options.remember(w.target)
			break
		}
		err = w.s.Current().RecvMsg(m)
		if err == nil || err == io.EOF || judge(status.Convert(err)) == unknown {
			w.options.remember(w.target)
		}
		return err
	}
	return w.options.noCodec(w.target, w.method, said)
}
