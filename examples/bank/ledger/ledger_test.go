package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"testing"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"google.golang.org/protobuf/proto"
)

func open(t *testing.T, l *Ledger, currency string, limit int64) uint64 {
	t.Helper()
	resp, err := l.OpenAccount(context.Background(), &bankv1.OpenAccountRequest{Owner: "Ada", Currency: currency, OverdraftLimit: limit})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetAccount().GetId()
}

func balance(t *testing.T, l *Ledger, id uint64) int64 {
	t.Helper()
	resp, err := l.GetAccount(context.Background(), &bankv1.GetAccountRequest{Account: id})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetAccount().GetBalance()
}

func transfer(reference string, from, to uint64, amount int64) *bankv1.Transaction {
	return &bankv1.Transaction{Reference: reference, Currency: "EUR", Entries: []*bankv1.Entry{
		{Account: from, Amount: -amount, Memo: proto.String("out")},
		{Account: to, Amount: amount},
	}}
}

func wantCode(t *testing.T, err error, want Code) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != want {
		t.Fatalf("got error %v, want one of code %d", err, want)
	}
	return e
}

func TestSettleBooksAllOrNothing(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b := open(t, l, "EUR", 100), open(t, l, "EUR", 0)
	receipt, err := l.Settle(ctx, transfer("1", a, b, 70))
	if err != nil {
		t.Fatal(err)
	}
	if receipt.GetTransaction() != 1 || receipt.GetBalances()[0].GetAmount() != -70 || receipt.GetBalances()[1].GetAmount() != 70 {
		t.Fatalf("unexpected receipt %v", receipt)
	}

	_, err = l.Settle(ctx, transfer("2", a, b, 31))
	e := wantCode(t, err, FailedPrecondition)
	want := &bankv1.Overdraft{Account: a, Balance: -70, OverdraftLimit: 100, Missing: 1}
	if !proto.Equal(e.Detail, want) {
		t.Errorf("detail %v, want %v", e.Detail, want)
	}
	if balance(t, l, a) != -70 || balance(t, l, b) != 70 {
		t.Errorf("a refused transaction changed balances to %d and %d", balance(t, l, a), balance(t, l, b))
	}
	if _, err := l.Settle(ctx, transfer("2", a, b, 30)); err != nil {
		t.Errorf("the reference of a refused transaction can't be used again: %v", err)
	}
}

// An account that appears in several entries is judged by what is left.
func TestSettleNetsEntries(t *testing.T) {
	l := New()
	a, b := open(t, l, "EUR", 0), open(t, l, "EUR", 10)
	tx := &bankv1.Transaction{Reference: "1", Currency: "EUR", Entries: []*bankv1.Entry{
		{Account: a, Amount: -500}, {Account: b, Amount: 500}, {Account: b, Amount: -510}, {Account: a, Amount: 510},
	}}
	if _, err := l.Settle(context.Background(), tx); err != nil {
		t.Fatal(err)
	}
	if balance(t, l, a) != 10 || balance(t, l, b) != -10 {
		t.Errorf("balances %d and %d, want 10 and -10", balance(t, l, a), balance(t, l, b))
	}
}

func TestSettleAgain(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b := open(t, l, "EUR", 100), open(t, l, "EUR", 0)
	first, err := l.Settle(ctx, transfer("r", a, b, 60))
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Settle(ctx, transfer("r", a, b, 60))
	if err != nil {
		t.Fatal(err)
	}
	if !again.GetReplayed() || first.GetReplayed() || again.GetTransaction() != first.GetTransaction() {
		t.Errorf("first receipt %v, second %v", first, again)
	}
	if balance(t, l, b) != 60 {
		t.Errorf("booked twice: balance %d", balance(t, l, b))
	}
	_, err = l.Settle(ctx, transfer("r", a, b, 61))
	wantCode(t, err, AlreadyExists)
}

func TestSettleRefuses(t *testing.T) {
	l := New()
	a, b, usd := open(t, l, "EUR", math.MaxInt64), open(t, l, "EUR", math.MaxInt64), open(t, l, "USD", 0)
	entries := func(pairs ...int64) *bankv1.Transaction {
		tx := &bankv1.Transaction{Reference: "r", Currency: "EUR"}
		for i := 0; i < len(pairs); i += 2 {
			tx.Entries = append(tx.Entries, &bankv1.Entry{Account: uint64(pairs[i]), Amount: pairs[i+1]})
		}
		return tx
	}
	ia, ib := int64(a), int64(b)
	noReference := entries(ia, -1, ib, 1)
	noReference.Reference = ""
	for name, c := range map[string]struct {
		tx   *bankv1.Transaction
		code Code
	}{
		"nothing":         {&bankv1.Transaction{}, InvalidArgument},
		"nil":             {nil, InvalidArgument},
		"no reference":    {noReference, InvalidArgument},
		"one entry":       {entries(ia, 1), InvalidArgument},
		"sum not zero":    {entries(ia, -1, ib, 2), InvalidArgument},
		"moves nothing":   {entries(ia, 0, ib, 0), InvalidArgument},
		"sum overflows":   {entries(ia, math.MaxInt64, ib, 1), InvalidArgument},
		"sum wraps to 0":  {entries(ia, math.MinInt64, ib, math.MinInt64), InvalidArgument},
		"net overflows":   {entries(ia, math.MaxInt64, ib, -1, ia, 1, ib, -math.MaxInt64), InvalidArgument},
		"no such account": {entries(ia, -1, 99, 1), NotFound},
		"account 0":       {entries(0, -1, ib, 1), NotFound},
		"other currency":  {entries(ia, -1, int64(usd), 1), InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := l.Settle(context.Background(), c.tx)
			wantCode(t, err, c.code)
		})
	}
	if balance(t, l, a) != 0 || balance(t, l, b) != 0 {
		t.Error("a refused transaction was booked")
	}
}

func TestBalanceDoesNotOverflow(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b, c := open(t, l, "EUR", math.MaxInt64), open(t, l, "EUR", math.MaxInt64), open(t, l, "EUR", math.MaxInt64)
	if _, err := l.Settle(ctx, transfer("1", a, b, math.MaxInt64)); err != nil {
		t.Fatal(err)
	}
	_, err := l.Settle(ctx, transfer("2", c, b, 1))
	wantCode(t, err, InvalidArgument)
	_, err = l.Settle(ctx, transfer("3", a, c, 1))
	if o, ok := wantCode(t, err, FailedPrecondition).Detail.(*bankv1.Overdraft); !ok || o.GetMissing() <= 0 {
		t.Errorf("detail %v", o)
	}
}

func TestOpenAccountRefuses(t *testing.T) {
	for _, req := range []*bankv1.OpenAccountRequest{
		{Currency: "EUR"},
		{Owner: "Ada", Currency: "eur"},
		{Owner: "Ada", Currency: "EURO"},
		{Owner: "Ada", Currency: "EUR", OverdraftLimit: -1},
	} {
		_, err := New().OpenAccount(context.Background(), req)
		wantCode(t, err, InvalidArgument)
	}
}

func TestStatement(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b := open(t, l, "EUR", 1000), open(t, l, "EUR", 0)
	for i := range 5 {
		if _, err := l.Settle(ctx, transfer(fmt.Sprint(i), a, b, 10)); err != nil {
			t.Fatal(err)
		}
	}
	var got []int64
	collect := func(line *bankv1.StatementLine) error {
		got = append(got, line.GetBalance())
		return nil
	}
	if err := l.Statement(ctx, &bankv1.StatementRequest{Account: b, After: 1, Limit: 3}, collect); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != "[20 30 40]" {
		t.Errorf("balances %v, want [20 30 40]", got)
	}
	wantCode(t, l.Statement(ctx, &bankv1.StatementRequest{Account: 9}, collect), NotFound)
	broken := errors.New("broken")
	if err := l.Statement(ctx, &bankv1.StatementRequest{Account: b}, func(*bankv1.StatementLine) error { return broken }); err != broken {
		t.Errorf("got %v, want the error of send", err)
	}
}

// Money is neither made nor lost, whoever moves it at once.
func TestSettleAtOnce(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b := open(t, l, "EUR", 1000), open(t, l, "EUR", 1000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 100 {
				from, to := a, b
				if (g+i)%2 == 0 {
					from, to = b, a
				}
				// Every reference is used by two goroutines; one books.
				_, err := l.Settle(ctx, transfer(fmt.Sprintf("%d/%d", g/2*2, i), from, to, 7))
				var e *Error
				if err != nil && (!errors.As(err, &e) || e.Code != AlreadyExists && e.Code != FailedPrecondition) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if sum := balance(t, l, a) + balance(t, l, b); sum != 0 {
		t.Errorf("balances sum to %d", sum)
	}
	if n := len(l.accounts[0].lines); uint64(n) != l.transactions || n == 0 || n > 400 {
		t.Errorf("%d lines for %d transactions", n, l.transactions)
	}
}

// fakeStream is a feed of given requests whose answers are kept.
type fakeStream struct {
	requests chan *bankv1.FeedRequest
	sent     chan *bankv1.FeedResponse
}

func newFakeStream(room int) *fakeStream {
	return &fakeStream{make(chan *bankv1.FeedRequest, room), make(chan *bankv1.FeedResponse, room)}
}

func (s *fakeStream) Recv() (*bankv1.FeedRequest, error) {
	if req, ok := <-s.requests; ok {
		return req, nil
	}
	return nil, io.EOF
}

func (s *fakeStream) Send(resp *bankv1.FeedResponse) error {
	s.sent <- resp
	return nil
}

func watchRequest(id uint64) *bankv1.FeedRequest {
	return &bankv1.FeedRequest{Action: &bankv1.FeedRequest_Watch{Watch: &bankv1.Watch{Account: id}}}
}

func settleRequest(tx *bankv1.Transaction) *bankv1.FeedRequest {
	return &bankv1.FeedRequest{Action: &bankv1.FeedRequest_Settle{Settle: tx}}
}

func TestFeed(t *testing.T) {
	l := New()
	a, b := open(t, l, "EUR", 100), open(t, l, "EUR", 0)
	s := newFakeStream(16)
	s.requests <- watchRequest(a)
	s.requests <- watchRequest(b) // the transaction touches both: one event
	s.requests <- settleRequest(transfer("1", a, b, 100))
	s.requests <- settleRequest(transfer("2", a, b, 1))
	s.requests <- watchRequest(9)
	s.requests <- &bankv1.FeedRequest{}
	close(s.requests)
	if err := l.Feed(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	close(s.sent)
	var got []string
	for resp := range s.sent {
		switch e := resp.GetEvent().(type) {
		case *bankv1.FeedResponse_Watching:
			got = append(got, fmt.Sprintf("watching %d", e.Watching.GetId()))
		case *bankv1.FeedResponse_Receipt:
			got = append(got, "receipt "+e.Receipt.GetReference())
		case *bankv1.FeedResponse_Settled:
			got = append(got, "settled "+e.Settled.GetReference())
		case *bankv1.FeedResponse_Refusal:
			got = append(got, fmt.Sprintf("refusal %d %q %d", e.Refusal.GetCode(), e.Refusal.GetReference(), e.Refusal.GetOverdraft().GetMissing()))
		}
	}
	want := `[watching 1 watching 2 receipt 1 settled 1 refusal 9 "2" 1 refusal 5 "" 0 refusal 3 "" 0]`
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if len(l.accounts[0].watchers) != 0 {
		t.Error("a feed that has ended still watches")
	}
}

func TestFeedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := newFakeStream(0)
	defer close(s.requests)
	if err := New().Feed(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A feed that nobody reads is ended; the bank neither waits nor hoards.
func TestFeedThatLags(t *testing.T) {
	ctx, l := context.Background(), New()
	a, b := open(t, l, "EUR", math.MaxInt64), open(t, l, "EUR", 0)
	s := newFakeStream(0)
	defer close(s.requests)
	ended := make(chan error, 1)
	go func() { ended <- l.Feed(ctx, s) }()
	s.requests <- watchRequest(a)
	<-s.sent // it watches now
	for i := range feedBacklog + 2 {
		if _, err := l.Settle(ctx, transfer(fmt.Sprint(i), a, b, 1)); err != nil {
			t.Fatal(err)
		}
	}
	events := 0
	for {
		select {
		case <-s.sent:
			events++
		case err := <-ended:
			wantCode(t, err, ResourceExhausted)
			if events > feedBacklog+1 {
				t.Errorf("%d events were kept", events)
			}
			return
		}
	}
}
