// Command bank serves a small bank over gRPC, gRPC-Web and Connect on one port,
// in Graven, protobuf and JSON, calls it in all of these and prints what
// travelled.
//
//	go run ./examples/bank                              # serve, call, end
//	go run ./examples/bank -serve -addr 127.0.0.1:7465  # serve until interrupted
//	go run ./examples/bank -call -addr 127.0.0.1:7465   # call a bank that is served
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/graven-rpc/graven/examples/bank/client"
	"github.com/graven-rpc/graven/examples/bank/ledger"
	"github.com/graven-rpc/graven/examples/bank/server"
)

// callTimeout bounds all calls together, so that a bank that hangs is an error.
const callTimeout = time.Minute

func main() {
	serve := flag.Bool("serve", false, "only serve, until interrupted")
	call := flag.Bool("call", false, "only call the bank at -addr")
	addr := flag.String("addr", "", "host and port (default 127.0.0.1:7465, and with neither -serve nor -call any free port of 127.0.0.1)")
	flag.Parse()
	if flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *serve && *call {
		*serve, *call = false, false
	}
	if *addr == "" {
		*addr = "127.0.0.1:7465"
		if *serve == *call {
			*addr = "127.0.0.1:0"
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Stdout, *serve, *call, *addr); err != nil {
		fmt.Fprintln(os.Stderr, "bank:", err)
		os.Exit(1)
	}
}

// run writes what happens to w and returns when it is over.
func run(ctx context.Context, w io.Writer, serveOnly, callOnly bool, addr string) error {
	if callOnly {
		return callBank(ctx, w, addr)
	}
	lis, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "The bank is open at %v.\n", lis.Addr())
	bank := server.New(ledger.New())
	if serveOnly {
		return bank.Serve(ctx, lis)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- bank.Serve(ctx, lis) }()
	err = callBank(ctx, w, lis.Addr().String())
	cancel()
	return errors.Join(err, <-served)
}

func callBank(ctx context.Context, w io.Writer, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return client.Run(ctx, addr, w)
}
