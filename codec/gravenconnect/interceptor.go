package gravenconnect

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fallback"
)

// interceptor watches the calls of a client. With a memory it falls back to protobuf.
type interceptor struct {
	fallback *fallback.Memory
}

var _ connect.Interceptor = (*interceptor)(nil)

// protobufRequest is a request whose message is sent in protobuf.
type protobufRequest struct{ connect.AnyRequest }

func (r protobufRequest) Any() any { return forProtobuf(r.AnyRequest.Any()) }

// forProtobuf marks a message to be sent in protobuf. A nil one is no bytes in
// any encoding.
func forProtobuf(v any) any {
	if m, ok := v.(proto.Message); ok {
		return inProtobuf{m}
	}
	return v
}

func (i *interceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		if !req.Spec().IsClient {
			return next(ctx, req)
		}
		host, method := req.Peer().Addr, req.Spec().Procedure
		if i.fallback == nil {
			res, err := next(ctx, req)
			if err != nil && judge(err) != unknown {
				return nil, noCodec(host, method, hintOption, err)
			}
			return res, err
		}
		inProtobuf := func() (connect.AnyResponse, error) {
			return next(context.WithValue(ctx, attemptKey{}, &attempt{protobuf: true}), protobufRequest{req})
		}
		if i.fallback.Has(host) {
			return inProtobuf()
		}
		// Sending changes the headers, so a second attempt starts from a copy.
		header := req.Header().Clone()
		first := new(attempt)
		res, err := next(context.WithValue(ctx, attemptKey{}, first), req)
		if err == nil || judge(err) != unread {
			return res, err
		}
		if !first.seen.Load() {
			return nil, noCodec(host, method, hintClient, err)
		}
		clear(req.Header())
		maps.Copy(req.Header(), header)
		res, again := inProtobuf()
		if again == nil || judge(again) == unknown {
			i.fallback.Add(host)
		}
		return res, again
	}
}

func (i *interceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

func (i *interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		w := &watchedConn{interceptor: i, watching: true}
		if i.fallback == nil {
			conn := next(ctx, spec)
			w.first = conn
			w.stream = fallback.NewStream(conn, nil, send, closeRequest)
			return w
		}
		w.attempt = new(attempt)
		conn := next(context.WithValue(ctx, attemptKey{}, w.attempt), spec)
		if i.fallback.Has(conn.Peer().Addr) {
			w.attempt.protobuf = true
			return protobufConn{conn}
		}
		w.first = conn
		reopen := func() (connect.StreamingClientConn, error) {
			again := next(context.WithValue(ctx, attemptKey{}, &attempt{protobuf: true}), spec)
			maps.Copy(again.RequestHeader(), w.header)
			return protobufConn{again}, nil
		}
		w.stream = fallback.NewStream(conn, reopen, send, closeRequest)
		return w
	}
}

// protobufConn is a stream that sends in protobuf.
type protobufConn struct{ connect.StreamingClientConn }

func (c protobufConn) Send(m any) error { return c.StreamingClientConn.Send(forProtobuf(m)) }

func send(c connect.StreamingClientConn, m any) error {
	err := c.Send(m)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	return err
}

func closeRequest(c connect.StreamingClientConn) error { return c.CloseRequest() }

// watchedConn is a client's stream in Graven that looks at how it ends if it ends
// before anything was received.
type watchedConn struct {
	interceptor *interceptor
	attempt     *attempt
	first       connect.StreamingClientConn
	header      http.Header // of the request, as the caller had it when it was sent

	watching bool // nothing was received yet; only Receive uses it
	stream   *fallback.Stream[connect.StreamingClientConn]
}

func (w *watchedConn) Spec() connect.Spec           { return w.first.Spec() }
func (w *watchedConn) Peer() connect.Peer           { return w.first.Peer() }
func (w *watchedConn) RequestHeader() http.Header   { return w.stream.Current().RequestHeader() }
func (w *watchedConn) ResponseHeader() http.Header  { return w.stream.Current().ResponseHeader() }
func (w *watchedConn) ResponseTrailer() http.Header { return w.stream.Current().ResponseTrailer() }
func (w *watchedConn) CloseResponse() error         { return w.stream.Current().CloseResponse() }

func (w *watchedConn) Send(m any) error {
	w.keepHeader()
	return w.stream.Send(m, true)
}

func (w *watchedConn) CloseRequest() error {
	w.keepHeader()
	return w.stream.CloseSend()
}

// keepHeader copies the header of the request before it is sent, for another one.
func (w *watchedConn) keepHeader() {
	if w.header == nil && w.attempt != nil {
		w.header = w.first.RequestHeader().Clone()
	}
}

func (w *watchedConn) Receive(m any) error {
	err := w.stream.Current().Receive(m)
	if !w.watching {
		return err
	}
	w.watching = false
	var v verdict
	if err != nil {
		v = judge(err)
	}
	if v == unknown {
		w.stream.Settle()
		return err
	}
	host, method := w.Peer().Addr, w.Spec().Procedure
	memory := w.interceptor.fallback
	if memory == nil {
		return noCodec(host, method, hintOption, err)
	}
	if !w.attempt.seen.Load() {
		w.stream.Settle()
		return noCodec(host, method, hintClient, err)
	}
	opened, _ := w.stream.Reopen()
	if !opened {
		memory.Add(host)
		return noCodec(host, method, hintNext, err)
	}
	w.first.CloseResponse()
	again := w.stream.Current().Receive(m)
	if again == nil || judge(again) == unknown {
		memory.Add(host)
	}
	return again
}
