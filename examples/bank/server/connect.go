package server

import (
	"context"
	"errors"

	"github.com/graven-rpc/graven/codec/gravenconnect"
	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1connect"

	"connectrpc.com/connect"
)

// connectService is the ledger as connect-go calls it. Unary methods are the
// ledger's own; only the streams have types that belong to the transport.
type connectService struct{ *ledger.Ledger }

var _ bankv1connect.BankServiceHandler = connectService{}

func (s connectService) Statement(ctx context.Context, req *bankv1.StatementRequest, stream *connect.ServerStream[bankv1.StatementLine]) error {
	return s.Ledger.Statement(ctx, req, stream.Send)
}

func (s connectService) Feed(ctx context.Context, stream *connect.BidiStream[bankv1.FeedRequest, bankv1.FeedResponse]) error {
	return s.Ledger.Feed(ctx, connectFeed{stream})
}

type connectFeed struct {
	*connect.BidiStream[bankv1.FeedRequest, bankv1.FeedResponse]
}

var _ ledger.FeedStream = connectFeed{}

func (f connectFeed) Recv() (*bankv1.FeedRequest, error) { return f.Receive() }

func handlerOptions() []connect.HandlerOption {
	return append(gravenconnect.HandlerOptions(), connect.WithInterceptors(errorInterceptor{}))
}

// errorInterceptor gives the ledger's errors their code and details.
type errorInterceptor struct{}

func (errorInterceptor) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (connect.AnyResponse, error) {
		resp, err := next(ctx, req)
		return resp, connectError(err)
	}
}

func (errorInterceptor) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return func(ctx context.Context, conn connect.StreamingHandlerConn) error {
		return connectError(next(ctx, conn))
	}
}

func (errorInterceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return next
}

func connectError(err error) error {
	var e *ledger.Error
	if !errors.As(err, &e) {
		return err
	}
	ce := connect.NewError(connect.Code(e.Code), e)
	if e.Detail != nil {
		detail, err := connect.NewErrorDetail(e.Detail)
		if err != nil {
			return connect.NewError(connect.CodeInternal, errors.Join(e, err))
		}
		ce.AddDetail(detail)
	}
	return ce
}
