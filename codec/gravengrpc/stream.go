package gravengrpc

import (
	"context"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxResend is how many messages a stream keeps to send them again in
// protobuf. They are kept by reference and only until the first answer.
const maxResend = 64

func (d *dialOptions) stream(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	if !inGraven(opts) {
		return open(ctx, desc, cc, method, opts...)
	}
	target := cc.Target()
	if d.fallback != nil && d.fallback.has(target) {
		return open(ctx, desc, cc, method, inProtobuf(opts)...)
	}
	s, err := open(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, err
	}
	w := &watchedStream{options: d, target: target, method: method, s: s, watching: true}
	if d.fallback != nil {
		w.reopen = func() (grpc.ClientStream, error) {
			return open(ctx, desc, cc, method, inProtobuf(opts)...)
		}
	}
	return w, nil
}

// watchedStream is a client's stream in Graven that looks at how it ends if it ends
// before anything was received. If reopen is there, the stream is then opened
// again in protobuf, and what was sent is sent again.
//
// One goroutine may send while another one receives, so the fields below mu
// change under it; nothing that may wait for the server is done under it.
type watchedStream struct {
	options *dialOptions
	target  string
	method  string

	watching bool // nothing was received yet; only RecvMsg uses it

	mu     sync.Mutex
	s      grpc.ClientStream
	reopen func() (grpc.ClientStream, error) // nil once it was used or is too late
	sent   []any                             // kept while reopen is there
	closed bool                              // CloseSend was called
	resent chan struct{}                     // made when reopen is used, closed when all of sent was sent again
}

func (w *watchedStream) current() grpc.ClientStream {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s
}

func (w *watchedStream) Header() (metadata.MD, error) { return w.current().Header() }
func (w *watchedStream) Trailer() metadata.MD         { return w.current().Trailer() }
func (w *watchedStream) Context() context.Context     { return w.current().Context() }

func (w *watchedStream) SendMsg(m any) error {
	s := w.keep(m)
	if s == nil {
		return w.settled().SendMsg(m)
	}
	err := s.SendMsg(m)
	if err != io.EOF {
		return err
	}
	// The server has ended the stream, and RecvMsg will tell why. If it is for
	// want of the codec, RecvMsg sends m again, so the caller is to go on.
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reopen != nil || w.resent != nil {
		return nil
	}
	return err
}

// keep takes m to be sent again, if the stream may be opened again, and returns
// the stream to send it on first; otherwise nil.
func (w *watchedStream) keep(m any) grpc.ClientStream {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reopen == nil {
		return nil
	}
	// A prepared message is encoded already.
	if _, prepared := m.(*grpc.PreparedMsg); prepared || len(w.sent) == maxResend {
		w.reopen, w.sent = nil, nil
		return nil
	}
	w.sent = append(w.sent, m)
	return w.s
}

// settled returns the stream to send on when what has to be sent again was.
func (w *watchedStream) settled() grpc.ClientStream {
	w.mu.Lock()
	resent := w.resent
	w.mu.Unlock()
	if resent != nil {
		<-resent
	}
	return w.current()
}

func (w *watchedStream) CloseSend() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	return w.settled().CloseSend()
}

func (w *watchedStream) RecvMsg(m any) error {
	s := w.current()
	err := s.RecvMsg(m)
	if !w.watching {
		return err
	}
	w.watching = false
	v := unknown
	var said *status.Status
	if err != nil && err != io.EOF {
		said = status.Convert(err)
		v = judge(said)
	}
	switch v {
	case unknown:
		w.tooLate()
		return err
	case otherEncoding:
		w.tooLate()
		w.options.remember(w.target)
	case unread:
		opened, err := w.again()
		if err != nil {
			return err
		}
		if !opened {
			w.options.remember(w.target)
			break
		}
		err = w.current().RecvMsg(m)
		if err == nil || err == io.EOF || judge(status.Convert(err)) == unknown {
			w.options.remember(w.target)
			return err
		}
	}
	return &noCodecError{target: w.target, method: w.method, said: said}
}

// tooLate ends the time in which messages are kept.
func (w *watchedStream) tooLate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reopen, w.sent = nil, nil
}

// again opens the stream in protobuf, if it still may, and begins to send what was
// sent. That goes on in a goroutine, which ends with the stream at the latest: a
// server may want its answers to be received before it takes more.
func (w *watchedStream) again() (opened bool, err error) {
	w.mu.Lock()
	reopen, sent := w.reopen, w.sent
	if reopen == nil {
		w.mu.Unlock()
		return false, nil
	}
	resent := make(chan struct{})
	w.reopen, w.sent, w.resent = nil, nil, resent
	closed := w.closed
	w.mu.Unlock()

	s, err := reopen()
	if err != nil {
		close(resent)
		return false, err
	}
	w.mu.Lock()
	w.s = s
	w.mu.Unlock()
	go func() {
		defer close(resent)
		for _, m := range sent {
			if s.SendMsg(m) != nil {
				return // RecvMsg tells why
			}
		}
		if closed {
			s.CloseSend()
		}
	}()
	return true, nil
}
