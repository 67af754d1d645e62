// Package book is the bank behind bank.v1.BankService once more, on frames: requests are
// read where they came, what is kept of them are the frames, and answers are written
// straight into the buffers that are sent. No message is decoded or encoded on the
// way.
package book

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/views/timestamppbgraven"
	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1graven"
)

// The frames of the service.
type (
	Transaction         = codec.Frame[bankv1graven.Transaction]
	Receipt             = codec.Frame[bankv1graven.Receipt]
	OpenAccountRequest  = codec.Frame[bankv1graven.OpenAccountRequest]
	OpenAccountResponse = codec.Frame[bankv1graven.OpenAccountResponse]
	GetAccountRequest   = codec.Frame[bankv1graven.GetAccountRequest]
	GetAccountResponse  = codec.Frame[bankv1graven.GetAccountResponse]
	StatementRequest    = codec.Frame[bankv1graven.StatementRequest]
	StatementLine       = codec.Frame[bankv1graven.StatementLine]
	FeedRequest         = codec.Frame[bankv1graven.FeedRequest]
	FeedResponse        = codec.Frame[bankv1graven.FeedResponse]
)

// Book keeps accounts and their transactions in memory. Its methods may be called by any
// number of goroutines at once. It keeps no frame that it is given, and does not
// change one that it returns. Failures are of type *ledger.Error.
type Book struct {
	mu          sync.Mutex
	accounts    []*account // the account with id i+1 is at i
	settled     uint64
	byReference map[string]*settled

	// Writers that are used again, under the lock.
	opened      bankv1graven.OpenAccountResponseWriter
	found       bankv1graven.GetAccountResponseWriter
	transaction bankv1graven.TransactionWriter
	receipt     bankv1graven.ReceiptWriter
	event       bankv1graven.FeedResponseWriter
}

type account struct {
	owner, currency         string
	overdraftLimit, balance int64
	opened                  time.Time
	// Grows at its end only, so that a slice of it stays valid without the lock.
	lines    []line
	watchers map[*watcher]struct{}
}

type line struct {
	transaction     *Transaction
	amount, balance int64
}

type settled struct {
	transaction *Transaction
	receipt     *Receipt
}

// New returns a book without accounts.
func New() *Book { return &Book{byReference: map[string]*settled{}} }

func errorf(code ledger.Code, format string, args ...any) *ledger.Error {
	return &ledger.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// OpenAccount creates an account with a balance of zero.
func (b *Book) OpenAccount(_ context.Context, req *OpenAccountRequest) (*OpenAccountResponse, error) {
	defer req.Release()
	v := req.View()
	switch {
	case v.GetOwner() == "":
		return nil, errorf(ledger.InvalidArgument, "owner is empty")
	case len(v.GetCurrency()) != 3:
		return nil, errorf(ledger.InvalidArgument, "currency %q is not three letters", v.GetCurrency())
	case v.GetOverdraftLimit() < 0:
		return nil, errorf(ledger.InvalidArgument, "overdraft limit %d is negative", v.GetOverdraftLimit())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	a := &account{
		// Strings of a view end with its frame.
		owner: strings.Clone(v.GetOwner()), currency: strings.Clone(v.GetCurrency()),
		overdraftLimit: v.GetOverdraftLimit(), opened: time.Now(), watchers: map[*watcher]struct{}{},
	}
	b.accounts = append(b.accounts, a)
	b.opened.Reset()
	a.write(b.opened.NewAccount(), uint64(len(b.accounts)))
	return b.opened.SealFrame()
}

// GetAccount returns an account as it stands now.
func (b *Book) GetAccount(_ context.Context, req *GetAccountRequest) (*GetAccountResponse, error) {
	defer req.Release()
	id := req.View().GetAccount()
	b.mu.Lock()
	defer b.mu.Unlock()
	a, err := b.account(id)
	if err != nil {
		return nil, err
	}
	b.found.Reset()
	a.write(b.found.NewAccount(), id)
	return b.found.SealFrame()
}

func (b *Book) account(id uint64) (*account, error) {
	if id == 0 || id > uint64(len(b.accounts)) {
		return nil, errorf(ledger.NotFound, "there is no account %d", id)
	}
	return b.accounts[id-1], nil
}

func (a *account) write(row bankv1graven.AccountRow, id uint64) {
	row.SetId(id)
	row.SetOwner(a.owner)
	row.SetCurrency(a.currency)
	row.SetBalance(a.balance)
	row.SetOverdraftLimit(a.overdraftLimit)
	writeTime(row.NewOpenedAt(), a.opened)
}

func writeTime(row timestamppbgraven.TimestampRow, t time.Time) {
	row.Set(t.Unix(), int32(t.Nanosecond()))
}

// Settle books all entries of a transaction or none of them.
func (b *Book) Settle(_ context.Context, req *Transaction) (*Receipt, error) {
	defer req.Release()
	b.mu.Lock()
	defer b.mu.Unlock()
	s, replayed, err := b.settle(req.View())
	switch {
	case err != nil:
		return nil, err
	case replayed:
		b.writeReplay(s)
		return b.receipt.SealFrame()
	}
	return s.receipt.Clone(), nil
}

// writeReplay writes the receipt for a transaction that was settled before.
func (b *Book) writeReplay(s *settled) {
	v := s.receipt.View()
	b.receipt.Reset()
	b.receipt.SetTransaction(v.GetTransaction())
	b.receipt.SetReference(v.GetReference())
	b.receipt.SpliceSettledAt(v.GetSettledAt())
	b.receipt.SpliceBalances(v.GetBalances())
	b.receipt.SetReplayed(true)
}

// settle does the work of Settle under the lock.
func (b *Book) settle(tx bankv1graven.Transaction) (s *settled, replayed bool, err error) {
	nets, err := netAmounts(tx)
	if err != nil {
		return nil, false, err
	}
	if s := b.byReference[tx.GetReference()]; s != nil {
		if !same(tx, s.transaction.View()) {
			return nil, false, errorf(ledger.AlreadyExists, "reference %q is that of transaction %d, which has other content",
				tx.GetReference(), s.transaction.View().GetId())
		}
		return s, true, nil
	}
	if err := b.check(tx.GetCurrency(), nets); err != nil {
		return nil, false, err
	}
	now := time.Now()
	b.settled++

	// The transaction is kept as a frame. Its entries are spliced in as they came.
	w := &b.transaction
	w.Reset()
	w.SetId(b.settled)
	writeTime(w.NewSettledAt(), now)
	w.SetReference(tx.GetReference())
	w.SetCurrency(tx.GetCurrency())
	w.SpliceEntries(tx.GetEntries())
	kept, err := w.SealFrame()
	if err != nil {
		return nil, false, err
	}

	r := &b.receipt
	r.Reset()
	r.SetTransaction(b.settled)
	r.SetReference(tx.GetReference())
	writeTime(r.NewSettledAt(), now)
	balances := r.NewBalances(len(nets))
	told := map[*watcher]struct{}{}
	for i, net := range nets {
		a := b.accounts[net.account-1]
		a.balance += net.amount
		a.lines = append(a.lines, line{kept, net.amount, a.balance})
		balances.Set(i, net.account, a.balance)
		for w := range a.watchers {
			told[w] = struct{}{}
		}
	}
	receipt, err := r.SealFrame()
	if err != nil {
		return nil, false, err
	}
	s = &settled{kept, receipt}
	b.byReference[kept.View().GetReference()] = s // the key lives as long as the frame
	for w := range told {
		b.event.Reset()
		b.event.SpliceSettled(kept.View())
		event, err := b.event.SealFrame()
		if err != nil {
			return nil, false, err
		}
		w.tell(event)
	}
	return s, false, nil
}

// same compares what the client has a say in.
func same(x, y bankv1graven.Transaction) bool {
	if x.GetCurrency() != y.GetCurrency() || x.GetEntries().Len() != y.GetEntries().Len() {
		return false
	}
	for i := range x.GetEntries().Len() {
		a, b := x.GetEntries().At(i), y.GetEntries().At(i)
		if a.GetAccount() != b.GetAccount() || a.GetAmount() != b.GetAmount() || a.HasMemo() != b.HasMemo() || a.GetMemo() != b.GetMemo() {
			return false
		}
	}
	return true
}

// Statement calls send with the lines of an account that there are when it is called,
// oldest first. A line is released when it is sent.
func (b *Book) Statement(ctx context.Context, req *StatementRequest, send func(*StatementLine) error) error {
	defer req.Release()
	v := req.View()
	b.mu.Lock()
	a, err := b.account(v.GetAccount())
	if err != nil {
		b.mu.Unlock()
		return err
	}
	lines := a.lines
	b.mu.Unlock()

	var w bankv1graven.StatementLineWriter
	defer w.Release()
	sent := uint32(0)
	for _, l := range lines {
		if l.transaction.View().GetId() <= v.GetAfter() {
			continue
		}
		if v.GetLimit() != 0 && sent == v.GetLimit() {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		w.Reset()
		w.SpliceTransaction(l.transaction.View())
		w.SetAmount(l.amount)
		w.SetBalance(l.balance)
		f, err := w.SealFrame()
		if err == nil {
			err = send(f)
			f.Release()
		}
		if err != nil {
			return err
		}
		sent++
	}
	return nil
}

type netAmount struct {
	account uint64
	amount  int64
}

// netAmounts checks what can be checked without the accounts and returns what the
// transaction does to each account, in the order in which they appear.
func netAmounts(tx bankv1graven.Transaction) ([]netAmount, error) {
	entries := tx.GetEntries()
	switch {
	case tx.GetReference() == "":
		return nil, errorf(ledger.InvalidArgument, "reference is empty; choose one for each transaction")
	case entries.Len() < 2:
		return nil, errorf(ledger.InvalidArgument, "a transaction has at least two entries, this one has %d", entries.Len())
	}
	var nets []netAmount
	total := int64(0)
	for e := range entries.All() {
		amount := e.GetAmount()
		if amount == 0 {
			return nil, errorf(ledger.InvalidArgument, "an entry of account %d moves nothing", e.GetAccount())
		}
		ok := false
		if total, ok = add(total, amount); !ok {
			return nil, errorf(ledger.InvalidArgument, "the sum of the entries does not fit into 64 bits")
		}
		i := 0
		for i < len(nets) && nets[i].account != e.GetAccount() {
			i++
		}
		if i == len(nets) {
			nets = append(nets, netAmount{account: e.GetAccount()})
		}
		if nets[i].amount, ok = add(nets[i].amount, amount); !ok {
			return nil, errorf(ledger.InvalidArgument, "what account %d would get does not fit into 64 bits", e.GetAccount())
		}
	}
	if total != 0 {
		return nil, errorf(ledger.InvalidArgument, "the entries sum to %d, not to zero", total)
	}
	return nets, nil
}

// check says whether all of nets may be booked.
func (b *Book) check(currency string, nets []netAmount) error {
	for _, net := range nets {
		a, err := b.account(net.account)
		if err != nil {
			return err
		}
		if a.currency != currency {
			return errorf(ledger.InvalidArgument, "account %d is in %s, the transaction in %q", net.account, a.currency, currency)
		}
		balance, ok := add(a.balance, net.amount)
		if !ok {
			return errorf(ledger.InvalidArgument, "the balance of account %d would not fit into 64 bits", net.account)
		}
		if missing := -a.overdraftLimit - balance; net.amount < 0 && missing > 0 {
			e := errorf(ledger.FailedPrecondition, "account %d holds %d and may be overdrawn by %d: %d missing", net.account, a.balance, a.overdraftLimit, missing)
			e.Detail = &bankv1.Overdraft{Account: net.account, Balance: a.balance, OverdraftLimit: a.overdraftLimit, Missing: missing}
			return e
		}
	}
	return nil
}

func add(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}
