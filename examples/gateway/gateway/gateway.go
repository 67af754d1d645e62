// Package gateway stands between the clients of a branch and their bank. The branch
// numbers its accounts from 1; the gateway puts the bank's numbers into transactions
// on their way to the bank, and the branch's into receipts on their way back.
//
// It is there twice. [Frames] changes the numbers where they stand in the frame that was received, and
// sends this frame on; it works for grpc-go and connect-go alike. [Messages] does it in the
// ordinary way, to compare with.
package gateway

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/graven-rpc/graven/codec"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1graven"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravenconnect"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravengrpc"
)

// The frames that pass through.
type (
	Transaction = codec.Frame[bankv1graven.Transaction]
	Receipt     = codec.Frame[bankv1graven.Receipt]
)

// Branch translates account numbers: the branch's account 1 is the bank's account
// Branch + 1.
type Branch uint64

// ToBank puts the bank's account numbers into a transaction.
func (b Branch) ToBank(f *Transaction) error {
	tx, err := f.Edit()
	if err != nil {
		return err
	}
	for e := range tx.GetEntries().All() {
		account := e.GetAccount()
		if account == 0 { // and the frame may have no room for another
			return status.Error(codes.InvalidArgument, "an entry without an account")
		}
		if err := e.SetAccount(account + uint64(b)); err != nil {
			return err
		}
	}
	return nil
}

// MessageToBank is ToBank for an ordinary message.
func (b Branch) MessageToBank(tx *bankv1.Transaction) {
	for _, e := range tx.Entries {
		e.Account += uint64(b)
	}
}

// FromBank puts the branch's account numbers into a receipt.
func (b Branch) FromBank(f *Receipt) error {
	receipt, err := f.Edit()
	if err != nil {
		return err
	}
	for x := range receipt.GetBalances().All() {
		if err := x.SetAccount(x.GetAccount() - uint64(b)); err != nil {
			return err
		}
	}
	return nil
}

// Frames is a gateway on frames, a server of gRPC and a handler of Connect.
type Frames struct {
	bankv1gravengrpc.UnimplementedBankServiceServer
	Bank   bankv1gravengrpc.BankServiceClient
	Branch Branch
}

// Settle has the bank settle a transaction. What the client sent is checked once, when it is received.
func (g *Frames) Settle(ctx context.Context, req *Transaction) (*Receipt, error) {
	defer req.Release() // gRPC keeps what it still sends
	if err := g.Branch.ToBank(req); err != nil {
		return nil, err
	}
	receipt, err := g.Bank.Settle(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := g.Branch.FromBank(receipt); err != nil {
		receipt.Release()
		return nil, err
	}
	return receipt, nil
}

// Handler is Frames for connect-go, whose unary methods are the same.
type Handler struct {
	bankv1gravenconnect.UnimplementedBankServiceHandler
	*Frames
}

// Settle is that of Frames.
func (h Handler) Settle(ctx context.Context, req *Transaction) (*Receipt, error) {
	return h.Frames.Settle(ctx, req)
}

// Messages is a gateway on ordinary messages.
type Messages struct {
	bankv1.UnimplementedBankServiceServer
	Bank   bankv1.BankServiceClient
	Branch Branch
}

// Settle has the bank settle a transaction.
func (g *Messages) Settle(ctx context.Context, req *bankv1.Transaction) (*bankv1.Receipt, error) {
	g.Branch.MessageToBank(req)
	receipt, err := g.Bank.Settle(ctx, req)
	for _, b := range receipt.GetBalances() {
		b.Account -= uint64(g.Branch)
	}
	return receipt, err
}
