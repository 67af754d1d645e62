package book

import (
	"context"
	"errors"
	"io"

	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1graven"
)

// feedBacklog is how many events wait for a slow reader before its feed is ended.
const feedBacklog = 1024

// FeedStream is the service's side of a feed. Recv returns io.EOF when the client has
// closed its side. One goroutine calls Send, another one Recv.
type FeedStream interface {
	Recv() (*FeedRequest, error)
	Send(*FeedResponse) error
}

// watcher is the end of a feed that other calls write to.
type watcher struct {
	events  chan *FeedResponse
	lagging chan struct{}
	lost    bool // guarded by the book's lock
}

// tell queues an event without ever waiting. The book's lock is held.
func (w *watcher) tell(event *FeedResponse) {
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

// send sends an event, which is released then.
func send(s FeedStream, event *FeedResponse) error {
	defer event.Release()
	return s.Send(event)
}

// drain sends the events that are waiting.
func (w *watcher) drain(s FeedStream) error {
	for {
		select {
		case event := <-w.events:
			if err := send(s, event); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// Feed serves one feed until the client has closed its side and has been sent all that it
// asked for.
func (b *Book) Feed(ctx context.Context, stream FeedStream) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan *FeedRequest)
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

	w := &watcher{events: make(chan *FeedResponse, feedBacklog), lagging: make(chan struct{})}
	defer b.unwatch(w)
	for {
		select {
		case event := <-w.events:
			if err := send(stream, event); err != nil {
				return err
			}
		case req := <-requests:
			answer, err := b.act(w, req)
			if err == nil {
				err = send(stream, answer)
			}
			if err == nil {
				err = w.drain(stream)
			}
			if err != nil {
				return err
			}
		case <-w.lagging:
			return errorf(ledger.ResourceExhausted, "the feed was read too slowly: more than %d events were waiting", feedBacklog)
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
func (b *Book) act(w *watcher, req *FeedRequest) (*FeedResponse, error) {
	defer req.Release()
	v := req.View()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch v.WhichAction() {
	case bankv1graven.FeedRequest_Settle_case:
		s, replayed, err := b.settle(v.GetSettle())
		if err != nil {
			return b.refusal(v.GetSettle().GetReference(), err)
		}
		receipt := s.receipt
		if replayed {
			b.writeReplay(s)
			if receipt, err = b.receipt.SealFrame(); err != nil {
				return nil, err
			}
		}
		b.event.Reset()
		b.event.SpliceReceipt(receipt.View())
	case bankv1graven.FeedRequest_Watch_case:
		id := v.GetWatch().GetAccount()
		a, err := b.account(id)
		if err != nil {
			return b.refusal("", err)
		}
		a.watchers[w] = struct{}{}
		b.event.Reset()
		a.write(b.event.NewWatching(), id)
	default:
		return b.refusal("", errorf(ledger.InvalidArgument, "the request asks for nothing that this bank knows"))
	}
	return b.event.SealFrame()
}

// refusal tells why a request was refused.
func (b *Book) refusal(reference string, err error) (*FeedResponse, error) {
	b.event.Reset()
	r := b.event.NewRefusal()
	r.SetReference(reference)
	var e *ledger.Error
	if errors.As(err, &e) {
		r.SetCode(uint32(e.Code))
	}
	r.SetMessage(err.Error())
	if e != nil {
		if o, ok := e.Detail.(*bankv1.Overdraft); ok {
			r.NewOverdraft().Set(o.Account, o.Balance, o.OverdraftLimit, o.Missing)
		}
	}
	return b.event.SealFrame()
}

func (b *Book) unwatch(w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.accounts {
		delete(a.watchers, w)
	}
}
