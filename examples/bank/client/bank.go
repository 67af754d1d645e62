package client

import (
	"context"
	"errors"
	"io"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1connect"

	"connectrpc.com/connect"
	"google.golang.org/grpc/status"
)

// bank is the service as a client sees it, whatever carries the calls.
type bank interface {
	OpenAccount(context.Context, *bankv1.OpenAccountRequest) (*bankv1.OpenAccountResponse, error)
	Settle(context.Context, *bankv1.Transaction) (*bankv1.Receipt, error)
	// Statement calls each for every line until it returns an error.
	Statement(ctx context.Context, req *bankv1.StatementRequest, each func(*bankv1.StatementLine) error) error
	Feed(context.Context) (feed, error)
}

// feed is a client's side of a feed. Recv returns io.EOF at its end.
type feed interface {
	Send(*bankv1.FeedRequest) error
	CloseSend() error
	Recv() (*bankv1.FeedResponse, error)
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

func (b grpcBank) Feed(ctx context.Context) (feed, error) { return b.client.Feed(ctx) }

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

func (b connectBank) Feed(ctx context.Context) (feed, error) {
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

// overdraft returns the detail that a bank's error carries, or nil.
func overdraft(err error) *bankv1.Overdraft {
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
