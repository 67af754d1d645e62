// Command gateway puts a gateway between ordinary clients and the bank of
// examples/bankframes. It receives transactions, changes the account numbers in them, sends
// them on, and does the reverse with the receipts: once on frames, which are changed where
// they stand, and once on ordinary messages. It prints what both take, in bytes
// and in allocations.
//
//	go run ./examples/gateway
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/gravenconnect"
	"github.com/graven-rpc/graven/codec/gravengrpc"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1connect"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravenconnect"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravengrpc"
	"github.com/graven-rpc/graven/examples/bankframes/book"
	"github.com/graven-rpc/graven/examples/bankframes/server"
	"github.com/graven-rpc/graven/examples/gateway/gateway"
)

const (
	timeout = time.Minute // for all together, so that what hangs is an error
	entries = 100         // of a transaction
	calls   = 200         // of each client
	branch  = gateway.Branch(10)
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// settle is a client's call, whatever the client.
type settle = func(context.Context, *bankv1.Transaction) (*bankv1.Receipt, error)

// run starts everything on ports of this machine, calls it and writes to w what it took.
func run(ctx context.Context, w io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	var closers []func() error
	defer func() {
		cancel()
		for i := len(closers) - 1; i >= 0; i-- {
			err = errors.Join(err, closers[i]())
		}
	}()
	dial := func(addr string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
		conn, err := grpc.NewClient(addr, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err == nil {
			closers = append(closers, conn.Close)
		}
		return conn, err
	}
	listen := func() (net.Listener, string, error) {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, "", err
		}
		return lis, lis.Addr().String(), nil
	}

	// The bank.
	lis, bankAddr, err := listen()
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, lis, book.New()) }()
	closers = append(closers, func() error { return <-served })
	inGraven, err := dial(bankAddr, gravengrpc.DialOptions()...)
	if err != nil {
		return err
	}
	inProtobuf, err := dial(bankAddr)
	if err != nil {
		return err
	}
	if err := openAccounts(ctx, bankv1.NewBankServiceClient(inGraven)); err != nil {
		return err
	}

	// The gateways, and clients that know nothing of frames.
	frames := &gateway.Frames{Bank: bankv1gravengrpc.NewBankServiceClient(inGraven), Branch: branch}
	onFrames := func(s *grpc.Server) { bankv1gravengrpc.RegisterBankServiceServer(s, frames) }
	onMessages := func(bank *grpc.ClientConn) func(*grpc.Server) {
		g := &gateway.Messages{Bank: bankv1.NewBankServiceClient(bank), Branch: branch}
		return func(s *grpc.Server) { bankv1.RegisterBankServiceServer(s, g) }
	}
	gateways := []struct {
		name, encoding string
		register       func(*grpc.Server)
		options        []grpc.DialOption
	}{
		{"frames", "graven", onFrames, gravengrpc.DialOptions()},
		{"messages", "graven", onMessages(inGraven), gravengrpc.DialOptions()},
		{"frames", "proto", onFrames, nil},
		{"messages", "proto", onMessages(inProtobuf), nil},
	}
	fmt.Fprintf(w, "Transactions of %d entries. Bytes are those of one message. Allocations of an RPC are those\n"+
		"of the whole program, client and bank included; those of the way through are what the gateway\nadds to the transport's: receive, change, seal, send.\n\n", entries)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "client\tgateway on\tbytes in\tbytes on\tallocations on the way\tan RPC\tbytes allocated an RPC\t")
	row := func(encoding, name string, call settle) error {
		tx := transaction()
		whole, err := perCall(func(i int) error { return settleOne(ctx, call, tx, fmt.Sprintf("%s %s %d", encoding, name, i)) })
		if err != nil {
			return fmt.Errorf("%s, gateway on %s: %w", encoding, name, err)
		}
		way, in, on, err := through(encoding, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%.0f\t%.0f\t%.0f\t\n", encoding, name, in, on, way.allocations, whole.allocations, whole.bytes)
		return nil
	}
	for _, g := range gateways {
		lis, addr, err := listen()
		if err != nil {
			return err
		}
		s := grpc.NewServer()
		g.register(s)
		go func() { _ = s.Serve(lis) }() // a call would fail
		closers = append(closers, func() error { s.Stop(); return nil })
		conn, err := dial(addr, g.options...)
		if err != nil {
			return err
		}
		client := bankv1.NewBankServiceClient(conn)
		call := func(ctx context.Context, tx *bankv1.Transaction) (*bankv1.Receipt, error) {
			return client.Settle(ctx, tx)
		}
		if err := row(g.encoding, g.name, call); err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}

	// The same gateway by connect-go.
	lis, addr, err := listen()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(bankv1gravenconnect.NewBankServiceHandler(gateway.Handler{Frames: frames}, gravenconnect.HandlerOptions()...))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = web.Serve(lis) }()
	closers = append(closers, web.Close)
	for name, options := range map[string][]connect.ClientOption{"graven": gravenconnect.ClientOptions(), "JSON": {connect.WithProtoJSON()}} {
		client := bankv1connect.NewBankServiceClient(http.DefaultClient, "http://"+addr, options...)
		if err := settleOne(ctx, client.Settle, transaction(), "Connect in "+name); err != nil {
			return fmt.Errorf("over Connect in %s: %w", name, err)
		}
	}
	fmt.Fprintln(w, "\nThe gateway on frames also answered Connect in Graven and in JSON.")
	return nil
}

// openAccounts opens those of other branches and then those of this one.
func openAccounts(ctx context.Context, bank bankv1.BankServiceClient) error {
	for i := range uint64(branch) + entries {
		res, err := bank.OpenAccount(ctx, &bankv1.OpenAccountRequest{Owner: fmt.Sprint(i), Currency: "EUR", OverdraftLimit: 1 << 40})
		if err != nil {
			return err
		}
		if got := res.GetAccount().GetId(); got != i+1 {
			return fmt.Errorf("account %d has number %d", i+1, got)
		}
	}
	return nil
}

// transaction is one between all accounts of the branch.
func transaction() *bankv1.Transaction {
	tx := &bankv1.Transaction{Reference: "2026-07-31", Currency: "EUR"}
	for i := range entries {
		e := &bankv1.Entry{Account: uint64(i + 1), Amount: int64(i + 1)}
		if i%2 == 1 {
			e.Amount = -int64(i)
			e.Memo = proto.String(fmt.Sprintf("invoice %d of July", i))
		}
		tx.Entries = append(tx.Entries, e)
	}
	return tx
}

// settleOne makes a call and looks whether the receipt has the branch's accounts.
func settleOne(ctx context.Context, call settle, tx *bankv1.Transaction, reference string) error {
	tx.Reference = reference
	receipt, err := call(ctx, tx)
	if err != nil {
		return err
	}
	if got := receipt.GetReference(); got != reference || len(receipt.GetBalances()) != entries {
		return fmt.Errorf("a receipt for %q with %d balances", got, len(receipt.GetBalances()))
	}
	for _, b := range receipt.GetBalances() {
		if b.GetAccount() < 1 || b.GetAccount() > entries {
			return fmt.Errorf("the receipt has account %d", b.GetAccount())
		}
	}
	return nil
}
