package ledger

import (
	"context"
	"errors"
	"io"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
)

// feedBacklog is how many events wait for a slow reader before its feed is
// ended: enough for a burst, and bounded, so that nobody's slow connection
// makes the bank keep messages without end.
const feedBacklog = 1024

// FeedStream is the service's side of a feed. Recv returns io.EOF when the
// client has closed its side. One goroutine calls Send, another one Recv.
type FeedStream interface {
	Recv() (*bankv1.FeedRequest, error)
	Send(*bankv1.FeedResponse) error
}

// Feed serves one feed until the client has closed its side and has been sent
// all that it asked for.
func (l *Ledger) Feed(ctx context.Context, stream FeedStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan *bankv1.FeedRequest)
	ended := make(chan error, 1)
	go func() {
		for {
			req, err := stream.Recv()
			if err != nil {
				ended <- err
				return
			}
			select {
			case requests <- req:
			case <-ctx.Done():
				return
			}
		}
	}()

	w := newWatcher()
	defer l.unwatch(w)
	for {
		select {
		case event := <-w.events:
			if err := stream.Send(event); err != nil {
				return err
			}
		case req := <-requests:
			if err := stream.Send(l.act(ctx, w, req)); err != nil {
				return err
			}
			// What a request caused goes out before the next one is taken:
			// a client never fills its own backlog.
			if err := w.drain(stream); err != nil {
				return err
			}
		case <-w.lagging:
			return errorf(ResourceExhausted, "the feed was read too slowly: more than %d events were waiting; read the statements and watch again", feedBacklog)
		case err := <-ended:
			if errors.Is(err, io.EOF) {
				return w.drain(stream)
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// act does what a request asks for and returns the answer.
func (l *Ledger) act(ctx context.Context, w *watcher, req *bankv1.FeedRequest) *bankv1.FeedResponse {
	switch action := req.GetAction().(type) {
	case *bankv1.FeedRequest_Settle:
		receipt, err := l.Settle(ctx, action.Settle)
		if err != nil {
			return refusal(action.Settle.GetReference(), err)
		}
		return &bankv1.FeedResponse{Event: &bankv1.FeedResponse_Receipt{Receipt: receipt}}
	case *bankv1.FeedRequest_Watch:
		a, err := l.watch(w, action.Watch.GetAccount())
		if err != nil {
			return refusal("", err)
		}
		return &bankv1.FeedResponse{Event: &bankv1.FeedResponse_Watching{Watching: a}}
	default:
		return refusal("", errorf(InvalidArgument, "the request asks for nothing that this bank knows"))
	}
}

func refusal(reference string, err error) *bankv1.FeedResponse {
	r := &bankv1.Refusal{Reference: reference, Message: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		r.Code = uint32(e.Code)
		r.Overdraft, _ = e.Detail.(*bankv1.Overdraft)
	}
	return &bankv1.FeedResponse{Event: &bankv1.FeedResponse_Refusal{Refusal: r}}
}

// watcher is the end of a feed that other calls write to.
type watcher struct {
	events  chan *bankv1.FeedResponse
	lagging chan struct{}
	// Both guarded by the ledger's lock.
	lost    bool
	watched []*account
}

func newWatcher() *watcher {
	return &watcher{events: make(chan *bankv1.FeedResponse, feedBacklog), lagging: make(chan struct{})}
}

// tell queues an event without ever waiting. The ledger's lock is held.
func (w *watcher) tell(event *bankv1.FeedResponse) {
	if w.lost {
		return
	}
	select {
	case w.events <- event:
	default:
		w.lost = true
		close(w.lagging)
	}
}

// drain sends the events that are waiting.
func (w *watcher) drain(stream FeedStream) error {
	for {
		select {
		case event := <-w.events:
			if err := stream.Send(event); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (l *Ledger) watch(w *watcher, id uint64) (*bankv1.Account, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, err := l.account(id)
	if err != nil {
		return nil, err
	}
	if _, ok := a.watchers[w]; !ok {
		a.watchers[w] = struct{}{}
		w.watched = append(w.watched, a)
	}
	return a.message(id), nil
}

func (l *Ledger) unwatch(w *watcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range w.watched {
		delete(a.watchers, w)
	}
}
