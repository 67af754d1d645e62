package client

import (
	"context"
	"errors"
	"io"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1connect"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// Bank is the service as a client sees it, whatever carries the calls.
type Bank interface {
	OpenAccount(context.Context, *bankv1.OpenAccountRequest) (*bankv1.OpenAccountResponse, error)
	Settle(context.Context, *bankv1.Transaction) (*bankv1.Receipt, error)
	// Statement calls each for every line until it returns an error.
	Statement(ctx context.Context, req *bankv1.StatementRequest, each func(*bankv1.StatementLine) error) error
	Feed(context.Context) (Feed, error)
}

// Feed is a client's side of a feed. Recv returns an error that is io.EOF at
// its end. One goroutine may send while another one receives.
type Feed interface {
	Send(*bankv1.FeedRequest) error
	CloseSend() error
	Recv() (*bankv1.FeedResponse, error)
}

// OverGRPC returns the bank at the other end of a connection of grpc-go.
func OverGRPC(conn grpc.ClientConnInterface) Bank {
	return grpcBank{bankv1.NewBankServiceClient(conn)}
}

// OverConnect returns the bank at a URL, called by connect-go.
func OverConnect(c connect.HTTPClient, url string, options ...connect.ClientOption) Bank {
	return connectBank{bankv1connect.NewBankServiceClient(c, url, options...)}
}

type grpcBank struct{ client bankv1.BankServiceClient }

func (b grpcBank) OpenAccount(ctx context.Context, req *bankv1.OpenAccountRequest) (*bankv1.OpenAccountResponse, error) {
	return b.client.OpenAccount(ctx, req)
}

func (b grpcBank) Settle(ctx context.Context, req *bankv1.Transaction) (*bankv1.Receipt, error) {
	return b.client.Settle(ctx, req)
}

func (b grpcBank) Statement(ctx context.Context, req *bankv1.StatementRequest, each func(*bankv1.StatementLine) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := b.client.Statement(ctx, req)
	if err != nil {
		return err
	}
	for {
		line, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

func (b grpcBank) Feed(ctx context.Context) (Feed, error) { return b.client.Feed(ctx) }

type connectBank struct {
	bankv1connect.BankServiceClient
}

func (b connectBank) Statement(ctx context.Context, req *bankv1.StatementRequest, each func(*bankv1.StatementLine) error) error {
	stream, err := b.BankServiceClient.Statement(ctx, req)
	if err != nil {
		return err
	}
	defer stream.Close()
	for stream.Receive() {
		if err := each(stream.Msg()); err != nil {
			return err
		}
	}
	return stream.Err()
}

func (b connectBank) Feed(ctx context.Context) (Feed, error) {
	stream, err := b.BankServiceClient.Feed(ctx)
	if err != nil {
		return nil, err
	}
	return connectFeed{stream}, nil
}

type connectFeed struct {
	*connect.BidiStreamForClientSimple[bankv1.FeedRequest, bankv1.FeedResponse]
}

func (f connectFeed) CloseSend() error { return f.CloseRequest() }

func (f connectFeed) Recv() (*bankv1.FeedResponse, error) { return f.Receive() }

// OverdraftOf returns the detail that an error of either transport carries, or
// nil.
func OverdraftOf(err error) *bankv1.Overdraft {
	var ce *connect.Error
	if errors.As(err, &ce) {
		for _, d := range ce.Details() {
			if m, err := d.Value(); err == nil {
				if o, ok := m.(*bankv1.Overdraft); ok {
					return o
				}
			}
		}
		return nil
	}
	for _, d := range status.Convert(err).Details() {
		if o, ok := d.(*bankv1.Overdraft); ok {
			return o
		}
	}
	return nil
}
