package fallback

import (
	"io"
	"sync"
)

// MaxResend is how many messages a [Stream] keeps to send them again. They are
// kept by reference.
const MaxResend = 64

// Stream is the sending half of a client's stream that may turn out to be in an
// encoding that the server does not speak. Until that is settled it keeps what
// was sent. Then either nothing needs to be kept any more ([Stream.Settle]), or a
// second stream is opened and all is sent again on that ([Stream.Reopen]).
//
// One goroutine may send while another one receives. S is the transport's own
// stream.
type Stream[S any] struct {
	send      func(S, any) error
	closeSend func(S) error

	// What is below changes under mu. Nothing that may wait for the server is
	// done under it.
	mu     sync.Mutex
	s      S
	reopen func() (S, error) // nil once it was used or is too late
	sent   []any             // kept while reopen is there
	closed bool              // CloseSend was called
	resent chan struct{}     // made when reopen is used, closed when all of sent was sent again
}

// NewStream watches s. With a nil reopen nothing is kept and s stays what it is. The
// others are the transport's own functions; send returns io.EOF if the server has
// ended the stream.
func NewStream[S any](s S, reopen func() (S, error), send func(S, any) error, closeSend func(S) error) *Stream[S] {
	return &Stream[S]{s: s, reopen: reopen, send: send, closeSend: closeSend}
}

// Current is the stream to use now.
func (w *Stream[S]) Current() S {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.s
}

// Send sends m. If m can't be sent a second time, again is false, and from
// then on it is too late to open the stream again.
func (w *Stream[S]) Send(m any, again bool) error {
	s, kept := w.keep(m, again)
	if !kept {
		return w.send(w.last(), m)
	}
	err := w.send(s, m)
	if err != io.EOF {
		return err
	}
	// The server has ended the stream, and receiving will tell why. If it is for
	// want of the codec, m is sent again, so the caller is to go on.
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reopen != nil || w.resent != nil {
		return nil
	}
	return err
}

// keep takes m to be sent again, if the stream may be opened again, and returns
// the stream to send it on first.
func (w *Stream[S]) keep(m any, again bool) (s S, kept bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reopen != nil && (!again || len(w.sent) == MaxResend) {
		w.reopen, w.sent = nil, nil
	}
	if w.reopen == nil {
		return w.s, false
	}
	w.sent = append(w.sent, m)
	return w.s, true
}

// last returns the stream to send on once all that has to be sent again was.
func (w *Stream[S]) last() S {
	w.mu.Lock()
	resent := w.resent
	w.mu.Unlock()
	if resent != nil {
		<-resent
	}
	return w.Current()
}

// CloseSend ends the sending half.
func (w *Stream[S]) CloseSend() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	return w.closeSend(w.last())
}

// Settle ends the time in which messages are kept.
func (w *Stream[S]) Settle() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reopen, w.sent = nil, nil
}

// Reopen opens the stream again, if that is still possible, and begins to send
// what was sent. That goes on in a goroutine, which ends with the stream at the
// latest: a server may want its answers to be received before it takes more.
func (w *Stream[S]) Reopen() (ok bool, err error) {
	w.mu.Lock()
	reopen, sent, closed := w.reopen, w.sent, w.closed
	if reopen == nil {
		w.mu.Unlock()
		return false, nil
	}
	resent := make(chan struct{})
	w.reopen, w.sent, w.resent = nil, nil, resent
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
			if w.send(s, m) != nil {
				return // receiving tells why
			}
		}
		if closed {
			w.closeSend(s)
		}
	}()
	return true, nil
}
