package server

import (
	"context"
	"errors"

	_ "github.com/graven-rpc/graven/codec/gravengrpc" // registers the codec, which is all that a server needs
	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
)

// grpcService is the ledger as grpc-go calls it. Unary methods are the
// ledger's own; only the streams have types that belong to the transport.
type grpcService struct {
	*ledger.Ledger
	bankv1.UnsafeBankServiceServer
}

var _ bankv1.BankServiceServer = grpcService{}

func (s grpcService) Statement(req *bankv1.StatementRequest, stream grpc.ServerStreamingServer[bankv1.StatementLine]) error {
	return s.Ledger.Statement(stream.Context(), req, stream.Send)
}

func (s grpcService) Feed(stream grpc.BidiStreamingServer[bankv1.FeedRequest, bankv1.FeedResponse]) error {
	return s.Ledger.Feed(stream.Context(), stream)
}

func newGRPCServer(l *ledger.Ledger) *grpc.Server {
	s := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			resp, err := next(ctx, req)
			return resp, grpcError(err)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			return grpcError(next(srv, stream))
		}),
	)
	bankv1.RegisterBankServiceServer(s, grpcService{Ledger: l})
	return s
}

// grpcError gives the ledger's errors their status; others stay what they are.
func grpcError(err error) error {
	var e *ledger.Error
	switch {
	case errors.As(err, &e):
		st := status.New(codes.Code(e.Code), e.Message)
		if e.Detail == nil {
			return st.Err()
		}
		detailed, err := st.WithDetails(protoadapt.MessageV1Of(e.Detail))
		if err != nil {
			return status.Errorf(codes.Internal, "%s (its detail can't be sent: %v)", e.Message, err)
		}
		return detailed.Err()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	default:
		return err
	}
}
