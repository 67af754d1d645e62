// Package ledger is the bank behind bank.v1.BankService: what accounts hold,
// what may be booked and who is told. It knows the messages of the service and
// no transport, so one Ledger stands behind gRPC and Connect at the same time.
package ledger

import (
	"context"
	"math"
	"sync"
	"time"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Ledger keeps accounts and their transactions in memory. Its methods may be
// called by any number of goroutines at once. Messages that it returns or sends
// are not changed afterwards, and it keeps no message that it is given.
// Failures are of type *Error.
type Ledger struct {
	now func() time.Time

	mu           sync.Mutex
	accounts     []*account // the account with id i+1 is at i
	transactions uint64
	byReference  map[string]settled
}

type account struct {
	owner, currency string
	overdraftLimit  int64
	openedAt        *timestamppb.Timestamp
	balance         int64
	// Grows at its end only, so that a slice of it stays valid without the lock.
	lines    []*bankv1.StatementLine
	watchers map[*watcher]struct{}
}

type settled struct {
	transaction *bankv1.Transaction
	receipt     *bankv1.Receipt
}

// New returns a ledger without accounts.
func New() *Ledger {
	return &Ledger{now: time.Now, byReference: make(map[string]settled)}
}

// OpenAccount creates an account with a balance of zero.
func (l *Ledger) OpenAccount(_ context.Context, req *bankv1.OpenAccountRequest) (*bankv1.OpenAccountResponse, error) {
	switch {
	case req.GetOwner() == "":
		return nil, errorf(InvalidArgument, "owner is empty")
	case !isCurrency(req.GetCurrency()):
		return nil, errorf(InvalidArgument, "currency %q is not three capital letters", req.GetCurrency())
	case req.GetOverdraftLimit() < 0:
		return nil, errorf(InvalidArgument, "overdraft limit %d is negative", req.GetOverdraftLimit())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accounts = append(l.accounts, &account{
		owner:          req.GetOwner(),
		currency:       req.GetCurrency(),
		overdraftLimit: req.GetOverdraftLimit(),
		openedAt:       timestamppb.New(l.now()),
		watchers:       make(map[*watcher]struct{}),
	})
	id := uint64(len(l.accounts))
	return &bankv1.OpenAccountResponse{Account: l.accounts[id-1].message(id)}, nil
}

// GetAccount returns an account as it stands now.
func (l *Ledger) GetAccount(_ context.Context, req *bankv1.GetAccountRequest) (*bankv1.GetAccountResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, err := l.account(req.GetAccount())
	if err != nil {
		return nil, err
	}
	return &bankv1.GetAccountResponse{Account: a.message(req.GetAccount())}, nil
}

// Settle books all entries of a transaction or none of them.
func (l *Ledger) Settle(_ context.Context, req *bankv1.Transaction) (*bankv1.Receipt, error) {
	nets, err := netAmounts(req)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.byReference[req.GetReference()]; ok {
		return before.replay(req)
	}
	if err := l.check(req.GetCurrency(), nets); err != nil {
		return nil, err
	}

	l.transactions++
	tx := proto.Clone(req).(*bankv1.Transaction)
	tx.Id = l.transactions
	tx.SettledAt = timestamppb.New(l.now())
	receipt := &bankv1.Receipt{Transaction: tx.Id, Reference: tx.Reference, SettledAt: tx.SettledAt}
	told := make(map[*watcher]struct{})
	for _, net := range nets {
		a := l.accounts[net.account-1]
		a.balance += net.amount
		a.lines = append(a.lines, &bankv1.StatementLine{Transaction: tx, Amount: net.amount, Balance: a.balance})
		receipt.Balances = append(receipt.Balances, &bankv1.Balance{Account: net.account, Amount: a.balance})
		for w := range a.watchers {
			if _, ok := told[w]; !ok {
				told[w] = struct{}{}
				w.tell(&bankv1.FeedResponse{Event: &bankv1.FeedResponse_Settled{Settled: tx}})
			}
		}
	}
	l.byReference[tx.Reference] = settled{tx, receipt}
	return receipt, nil
}

// Statement calls send with the lines of an account that there are when it is
// called, oldest first, and returns the first error of send.
func (l *Ledger) Statement(ctx context.Context, req *bankv1.StatementRequest, send func(*bankv1.StatementLine) error) error {
	l.mu.Lock()
	a, err := l.account(req.GetAccount())
	if err != nil {
		l.mu.Unlock()
		return err
	}
	lines := a.lines
	l.mu.Unlock()

	sent := uint32(0)
	for _, line := range lines {
		if line.Transaction.Id <= req.GetAfter() {
			continue
		}
		if req.GetLimit() != 0 && sent == req.GetLimit() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := send(line); err != nil {
			return err
		}
		sent++
	}
	return nil
}

func (l *Ledger) account(id uint64) (*account, error) {
	if id == 0 || id > uint64(len(l.accounts)) {
		return nil, errorf(NotFound, "there is no account %d", id)
	}
	return l.accounts[id-1], nil
}

// check says whether all of nets may be booked.
func (l *Ledger) check(currency string, nets []netAmount) error {
	for _, net := range nets {
		a, err := l.account(net.account)
		if err != nil {
			return err
		}
		if a.currency != currency {
			return errorf(InvalidArgument, "account %d is in %s, the transaction in %q", net.account, a.currency, currency)
		}
		balance, ok := add(a.balance, net.amount)
		if !ok {
			return errorf(InvalidArgument, "the balance of account %d would not fit into 64 bits", net.account)
		}
		if net.amount < 0 && balance < -a.overdraftLimit {
			return overdrawn(&bankv1.Overdraft{
				Account:        net.account,
				Balance:        a.balance,
				OverdraftLimit: a.overdraftLimit,
				Missing:        missing(balance, a.overdraftLimit),
			})
		}
	}
	return nil
}

func (a *account) message(id uint64) *bankv1.Account {
	return &bankv1.Account{
		Id:             id,
		Owner:          a.owner,
		Currency:       a.currency,
		Balance:        a.balance,
		OverdraftLimit: a.overdraftLimit,
		OpenedAt:       a.openedAt,
	}
}

// replay answers a transaction whose reference has been used.
func (s settled) replay(req *bankv1.Transaction) (*bankv1.Receipt, error) {
	same := proto.Clone(req).(*bankv1.Transaction)
	same.Id, same.SettledAt = s.transaction.Id, s.transaction.SettledAt
	if !proto.Equal(same, s.transaction) {
		return nil, errorf(AlreadyExists, "reference %q is that of transaction %d, which has other content", req.GetReference(), s.transaction.Id)
	}
	receipt := proto.Clone(s.receipt).(*bankv1.Receipt)
	receipt.Replayed = true
	return receipt, nil
}

type netAmount struct {
	account uint64
	amount  int64
}

// netAmounts checks what can be checked without the accounts and returns what
// the transaction does to each account, in the order in which they appear.
func netAmounts(tx *bankv1.Transaction) ([]netAmount, error) {
	if tx.GetReference() == "" {
		return nil, errorf(InvalidArgument, "reference is empty; choose one for each transaction")
	}
	if len(tx.GetEntries()) < 2 {
		return nil, errorf(InvalidArgument, "a transaction has at least two entries, this one has %d", len(tx.GetEntries()))
	}
	var nets []netAmount
	at := make(map[uint64]int)
	total, ok := int64(0), true
	for i, e := range tx.GetEntries() {
		if e.GetAmount() == 0 {
			return nil, errorf(InvalidArgument, "entry %d moves nothing", i)
		}
		if total, ok = add(total, e.GetAmount()); !ok {
			return nil, errorf(InvalidArgument, "the sum of the entries does not fit into 64 bits")
		}
		j, seen := at[e.GetAccount()]
		if !seen {
			j = len(nets)
			at[e.GetAccount()] = j
			nets = append(nets, netAmount{account: e.GetAccount()})
		}
		if nets[j].amount, ok = add(nets[j].amount, e.GetAmount()); !ok {
			return nil, errorf(InvalidArgument, "what account %d would get does not fit into 64 bits", e.GetAccount())
		}
	}
	if total != 0 {
		return nil, errorf(InvalidArgument, "the entries sum to %d, not to zero", total)
	}
	return nets, nil
}

func add(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}

// missing is by how much balance is below -limit, at most the largest int64.
func missing(balance, limit int64) int64 {
	m, ok := add(-limit, -balance)
	if !ok || balance == math.MinInt64 {
		return math.MaxInt64
	}
	return m
}

func isCurrency(s string) bool {
	if len(s) != 3 {
		return false
	}
	for _, c := range []byte(s) {
		if c < 'A' || c > 'Z' {
			return false
		}
	}
	return true
}
