// Package server puts a bank on frames on one port: gRPC by grpc-go in Graven and
// protobuf, everything else by connect-go.
package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/graven-rpc/graven/codec/gravenconnect"
	_ "github.com/graven-rpc/graven/codec/gravengrpc" // registers the codec, which is all that a server needs
	"github.com/graven-rpc/graven/examples/bank/ledger"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravenconnect"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1gravengrpc"
	"github.com/graven-rpc/graven/examples/bankframes/book"
)

// grpcService is the book as grpc-go calls it, connectService as connect-go does. Unary
// methods are the book's own; only the streams have types that belong to the transport.
type grpcService struct{ *book.Book }

var _ bankv1gravengrpc.BankServiceServer = grpcService{}

func (s grpcService) Statement(req *book.StatementRequest, stream grpc.ServerStreamingServer[book.StatementLine]) error {
	return s.Book.Statement(stream.Context(), req, stream.Send)
}

func (s grpcService) Feed(stream grpc.BidiStreamingServer[book.FeedRequest, book.FeedResponse]) error {
	return s.Book.Feed(stream.Context(), stream)
}

type connectService struct{ *book.Book }

var _ bankv1gravenconnect.BankServiceHandler = connectService{}

func (s connectService) Statement(ctx context.Context, req *book.StatementRequest, stream *connect.ServerStream[book.StatementLine]) error {
	return s.Book.Statement(ctx, req, stream.Send)
}

func (s connectService) Feed(ctx context.Context, stream *connect.BidiStream[book.FeedRequest, book.FeedResponse]) error {
	return s.Book.Feed(ctx, connectFeed{stream})
}

type connectFeed struct {
	*connect.BidiStream[book.FeedRequest, book.FeedResponse]
}

func (f connectFeed) Recv() (*book.FeedRequest, error) { return f.Receive() }

// New returns a handler for all calls of a book.
func New(b *book.Book) http.Handler {
	byGRPC := grpc.NewServer(
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			resp, err := next(ctx, req)
			return resp, grpcError(err)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
			return grpcError(next(srv, stream))
		}),
	)
	bankv1gravengrpc.RegisterBankServiceServer(byGRPC, grpcService{b})
	byConnect := http.NewServeMux()
	byConnect.Handle(bankv1gravenconnect.NewBankServiceHandler(connectService{b},
		append(gravenconnect.HandlerOptions(), connect.WithInterceptors(errorInterceptor{}))...))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
		switch contentType {
		case "application/grpc", "application/grpc+proto", "application/grpc+graven":
			if r.ProtoMajor == 2 {
				byGRPC.ServeHTTP(w, r)
				return
			}
		}
		byConnect.ServeHTTP(w, r)
	})
}

// Serve answers on lis over HTTP/1.1 and HTTP/2 without TLS until ctx is done. It closes lis.
func Serve(ctx context.Context, lis net.Listener, b *book.Book) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: New(b), Protocols: protocols, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.Serve(lis); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// grpcError gives the bank's errors their status; others stay what they are.
func grpcError(err error) error {
	var e *ledger.Error
	switch {
	case errors.As(err, &e):
		st := status.New(codes.Code(e.Code), e.Message)
		if e.Detail != nil {
			detailed, err := st.WithDetails(protoadapt.MessageV1Of(e.Detail))
			if err != nil {
				return status.Errorf(codes.Internal, "%s (its detail can't be sent: %v)", e.Message, err)
			}
			st = detailed
		}
		return st.Err()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return err
}

// errorInterceptor gives the bank's errors their code and details.
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
