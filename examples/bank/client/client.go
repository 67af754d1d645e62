// Package client calls the bank over every protocol in every encoding and
// prints what travelled.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
)

const (
	// Transactions of each kind of call, so that times have a median.
	rounds = 20
	// Entries of a transaction; every other one has a memo.
	entries = 10
	// What an account of this client may owe: all that it ever books.
	overdraftLimit = 1_000_000
)

// Run calls the bank at addr, a host and a port, and prints a table of what
// travelled to w. It returns the first error, also if an answer is not what
// the bank has to say.
func Run(ctx context.Context, addr string, w io.Writer) error {
	fmt.Fprintf(w, "%d calls of Settle, one Statement of %d lines, one Feed of %d transactions.\n", rounds, rounds, rounds)
	fmt.Fprint(w, "Bytes are those of all messages before compression, a frame's header and checksum included;\ntimes are medians of one message.\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "protocol\tby\tencoding\tcall\tsent\tbytes\tencode\treceived\tbytes\tdecode\tlast CRC32C\t")
	var refused []string
	for _, r := range routes {
		for _, name := range encodings {
			refusal, err := runRoute(ctx, addr, r, name, table)
			if err != nil {
				return fmt.Errorf("%s by %s in %s: %w", r.protocol, r.library, name, err)
			}
			refused = append(refused, fmt.Sprintf("%s by %s in %s: %s", r.protocol, r.library, name, refusal))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nAn account without enough money, told by an error with details:")
	fmt.Fprintln(w)
	for _, line := range refused {
		fmt.Fprintln(w, "  "+line)
	}
	return nil
}

// runRoute makes every kind of call, prints a line of the table for each and
// returns what the bank said to a transaction that it had to refuse.
func runRoute(ctx context.Context, addr string, r route, name codecName, table io.Writer) (refusal string, err error) {
	m := new(meter)
	b, closeConn, err := r.dial(addr, name, m)
	if err != nil {
		return "", err
	}
	defer closeConn()

	c, err := openCase(ctx, b, fmt.Sprintf("%s/%s/%s", r.protocol, r.library, name))
	if err != nil {
		return "", err
	}
	m.take()
	for _, call := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"Settle", c.settle},
		{"Statement", c.statement},
		{"Feed", c.feed},
	} {
		if err := call.run(ctx); err != nil {
			return "", fmt.Errorf("%s: %w", call.name, err)
		}
		sent, received := m.take()
		crc := "none"
		if name == graven {
			crc = fmt.Sprintf("%08x", received[len(received)-1].crc)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%v\t%d\t%d\t%v\t%s\t\n", r.protocol, r.library, name, call.name,
			len(sent), totalBytes(sent), medianTime(sent), len(received), totalBytes(received), medianTime(received), crc)
	}
	return c.overdraw(ctx)
}

// A bankCase is one pair of accounts and what is done with them.
type bankCase struct {
	bank     Bank
	name     string
	from, to uint64
	settled  int
}

func openCase(ctx context.Context, b Bank, name string) (*bankCase, error) {
	c := &bankCase{bank: b, name: name}
	for _, id := range []*uint64{&c.from, &c.to} {
		resp, err := b.OpenAccount(ctx, &bankv1.OpenAccountRequest{Owner: name, Currency: "EUR", OverdraftLimit: overdraftLimit})
		if err != nil {
			return nil, fmt.Errorf("OpenAccount: %w", err)
		}
		*id = resp.GetAccount().GetId()
	}
	return c, nil
}

// transaction moves 100 from one account to the other in several entries. The
// account ids make its reference one of its own, even on a server that this
// client has called before.
func (c *bankCase) transaction(i int) *bankv1.Transaction {
	tx := &bankv1.Transaction{Reference: fmt.Sprintf("%s/%d/%d", c.name, c.from, i), Currency: "EUR"}
	for j := range entries / 2 {
		memo := fmt.Sprintf("part %d of transfer %d", j+1, i)
		tx.Entries = append(tx.Entries,
			&bankv1.Entry{Account: c.from, Amount: -20, Memo: &memo},
			&bankv1.Entry{Account: c.to, Amount: 20})
	}
	return tx
}

func (c *bankCase) settle(ctx context.Context) error {
	for range rounds {
		c.settled++
		receipt, err := c.bank.Settle(ctx, c.transaction(c.settled))
		if err != nil {
			return err
		}
		if err := c.checkReceipt(receipt, c.settled); err != nil {
			return err
		}
	}
	return nil
}

func (c *bankCase) statement(ctx context.Context) error {
	lines := 0
	err := c.bank.Statement(ctx, &bankv1.StatementRequest{Account: c.to}, func(line *bankv1.StatementLine) error {
		lines++
		if want := int64(lines) * 100; line.GetBalance() != want || line.GetAmount() != 100 {
			return fmt.Errorf("line %d has amount %d and balance %d, want 100 and %d", lines, line.GetAmount(), line.GetBalance(), want)
		}
		return c.checkTransaction(line.GetTransaction(), lines)
	})
	if err == nil && lines != c.settled {
		err = fmt.Errorf("%d lines, want %d", lines, c.settled)
	}
	return err
}

// feed watches one account and settles transactions on it in the same call:
// each gives a receipt, and an event since the account is watched.
func (c *bankCase) feed(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.bank.Feed(ctx)
	if err != nil {
		return err
	}
	first := c.settled + 1
	c.settled += rounds
	sending := make(chan error, 1)
	go func() { sending <- c.sendFeed(stream, first) }()

	var watching, receipts, events int
	for {
		resp, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch event := resp.GetEvent().(type) {
		case *bankv1.FeedResponse_Watching:
			watching++
		case *bankv1.FeedResponse_Receipt:
			err = c.checkReceipt(event.Receipt, first+receipts)
			receipts++
		case *bankv1.FeedResponse_Settled:
			err = c.checkTransaction(event.Settled, first+events)
			events++
		case *bankv1.FeedResponse_Refusal:
			err = errors.New(event.Refusal.GetMessage())
		default:
			err = fmt.Errorf("unexpected event %T", event)
		}
		if err != nil {
			return err
		}
	}
	if watching != 1 || receipts != rounds || events != rounds {
		return fmt.Errorf("%d answers to a watch, %d receipts and %d events, want 1, %d and %d", watching, receipts, events, rounds, rounds)
	}
	return <-sending
}

func (c *bankCase) sendFeed(stream Feed, first int) error {
	if err := stream.Send(&bankv1.FeedRequest{Action: &bankv1.FeedRequest_Watch{Watch: &bankv1.Watch{Account: c.to}}}); err != nil {
		return err
	}
	for i := range rounds {
		req := &bankv1.FeedRequest{Action: &bankv1.FeedRequest_Settle{Settle: c.transaction(first + i)}}
		if err := stream.Send(req); err != nil {
			return err
		}
	}
	return stream.CloseSend()
}

// overdraw tries to book more than an account may owe and returns what the
// bank says.
func (c *bankCase) overdraw(ctx context.Context) (string, error) {
	tx := c.transaction(c.settled + 1)
	tx.Entries[0].Amount -= overdraftLimit
	tx.Entries[1].Amount += overdraftLimit
	_, err := c.bank.Settle(ctx, tx)
	if err == nil {
		return "", errors.New("the bank let an account be overdrawn")
	}
	detail := OverdraftOf(err)
	if detail == nil {
		return "", fmt.Errorf("an overdraft without its detail: %w", err)
	}
	if want := int64(c.settled+1) * 100; detail.GetMissing() != want {
		return "", fmt.Errorf("%d missing, want %d: %w", detail.GetMissing(), want, err)
	}
	return fmt.Sprintf("%d of account %d missing", detail.GetMissing(), detail.GetAccount()), nil
}

func (c *bankCase) checkReceipt(r *bankv1.Receipt, i int) error {
	want := c.transaction(i).GetReference()
	if r.GetReference() != want || r.GetReplayed() || len(r.GetBalances()) != 2 || r.GetBalances()[1].GetAmount() != int64(i)*100 {
		return fmt.Errorf("unexpected receipt for %q: %v", want, r)
	}
	return nil
}

func (c *bankCase) checkTransaction(got *bankv1.Transaction, i int) error {
	want := c.transaction(i)
	if got.GetReference() != want.GetReference() || len(got.GetEntries()) != len(want.GetEntries()) {
		return fmt.Errorf("unexpected transaction instead of %q: %v", want.GetReference(), got)
	}
	for j, e := range got.GetEntries() {
		w := want.GetEntries()[j]
		if e.GetAccount() != w.GetAccount() || e.GetAmount() != w.GetAmount() || e.GetMemo() != w.GetMemo() || (e.Memo == nil) != (w.Memo == nil) {
			return fmt.Errorf("entry %d of %q is %v, want %v", j, want.GetReference(), e, w)
		}
	}
	return nil
}
