// Command bankframes serves the bank of examples/bank on frames: handlers that read
// requests in place and write responses straight into what is sent. The client of
// examples/bank, which knows nothing of frames, calls it over gRPC, gRPC-Web and Connect in
// Graven, protobuf and JSON and prints what travelled.
//
//	go run ./examples/bankframes
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/graven-rpc/graven/examples/bank/client"
	"github.com/graven-rpc/graven/examples/bankframes/book"
	"github.com/graven-rpc/graven/examples/bankframes/server"
)

// timeout bounds all calls together, so that a bank that hangs is an error.
const timeout = time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bankframes:", err)
		os.Exit(1)
	}
}

// run serves a bank, calls it and writes what happens to w.
func run(ctx context.Context, w io.Writer) error {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, lis, book.New()) }()
	err = client.Run(ctx, lis.Addr().String(), w)
	cancel()
	return errors.Join(err, <-served)
}
