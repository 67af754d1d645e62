package gravenconnect

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/views/wrapperspbgraven"
)

// The copies that frames make are poisoned on release.
func init() { pool.Default.Poison = true }

type bytesFrame = codec.Frame[wrapperspbgraven.BytesValue]

// Handlers and clients on frames, over every protocol: what is kept does not change, and
// peers on ordinary messages see no difference, in any encoding.
func TestFrames(t *testing.T) {
	type keptFrame struct {
		view wrapperspbgraven.BytesValue
		want []byte
	}
	var mu sync.Mutex
	var all []keptFrame
	keep := func(f *bytesFrame, want []byte) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, keptFrame{f.View(), bytes.Clone(want)})
	}
	const unary, bidi = "/test.Framed/Unary", "/test.Framed/Bidi"
	mux := http.NewServeMux()
	mux.Handle(unary, connect.NewUnaryHandler(unary, func(_ context.Context, req *connect.Request[bytesFrame]) (*connect.Response[bytesFrame], error) {
		keep(req.Msg, req.Msg.View().GetValue())
		return connect.NewResponse(req.Msg), nil
	}, HandlerOptions()...))
	mux.Handle(bidi, connect.NewBidiStreamHandler(bidi, func(_ context.Context, s *connect.BidiStream[bytesFrame, bytesFrame]) error {
		for {
			m, err := s.Receive()
			if err != nil {
				return nil // the end, or the client went away
			}
			keep(m, m.View().GetValue())
			if err := s.Send(m); err != nil {
				return err
			}
		}
	}, HandlerOptions()...))
	url, types := serve(t, mux)
	go func() {
		for range types {
		}
	}()
	hc := newHTTPClient(t)
	rounds := 4
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			frames := connect.NewClient[bytesFrame, bytesFrame](hc, url+unary, append([]connect.ClientOption{protocol}, ClientOptions()...)...)
			streams := connect.NewClient[bytesFrame, bytesFrame](hc, url+bidi, append([]connect.ClientOption{protocol}, ClientOptions()...)...)
			plain := connect.NewClient[wrapperspb.BytesValue, wrapperspb.BytesValue](hc, url+unary, append([]connect.ClientOption{protocol}, ClientOptions()...)...)
			others := []*connect.Client[wrapperspb.BytesValue, wrapperspb.BytesValue]{
				connect.NewClient[wrapperspb.BytesValue, wrapperspb.BytesValue](hc, url+unary, protocol),
				connect.NewClient[wrapperspb.BytesValue, wrapperspb.BytesValue](hc, url+unary, protocol, connect.WithProtoJSON()),
			}
			var workers sync.WaitGroup
			for w := range 3 {
				workers.Go(func() {
					ctx := testContext(t)
					for i := range rounds {
						s := streams.CallBidiStream(ctx)
						for _, n := range []int{0, 1, 200, 2 << 10, 40 << 10, 200 << 10} {
							value := bytes.Repeat([]byte{byte(100*w + i + n)}, n)
							req, err := codec.NewFrame[wrapperspbgraven.BytesValue](wrapperspb.Bytes(value))
							if err != nil {
								t.Error(err)
								return
							}
							res, err := frames.CallUnary(ctx, connect.NewRequest(req))
							if err != nil {
								t.Error(err)
								return
							}
							req.Release() // all that Connect keeps is its own
							keep(res.Msg, value)
							got, err := plain.CallUnary(ctx, connect.NewRequest(wrapperspb.Bytes(value)))
							if err != nil || !bytes.Equal(got.Msg.Value, value) {
								t.Errorf("%d bytes as an ordinary message: %v", n, err)
							}
							for _, c := range others {
								if got, err := c.CallUnary(ctx, connect.NewRequest(wrapperspb.Bytes(value))); err != nil || !bytes.Equal(got.Msg.Value, value) {
									t.Errorf("%d bytes in another encoding: %v", n, err)
								}
							}
							if err := s.Send(res.Msg); err != nil {
								t.Error(err)
								return
							}
							m, err := s.Receive()
							if err != nil {
								t.Error(err)
								return
							}
							keep(m, value)
							if i%2 == 0 {
								m.Clone().Release()
							}
						}
						if err := s.CloseRequest(); err != nil {
							t.Error(err)
						}
						if err := s.CloseResponse(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			workers.Wait()
		})
	}
	if len(all) < 3*3*rounds*6*3 {
		t.Errorf("%d frames kept", len(all))
	}
	for _, k := range all {
		if !bytes.Equal(k.view.GetValue(), k.want) {
			t.Fatalf("a frame of %d bytes has changed", len(k.want))
		}
	}
}
