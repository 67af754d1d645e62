// Package server puts a ledger on one port: gRPC by grpc-go, and Connect,
// gRPC-Web and gRPC in JSON by connect-go, over HTTP/1.1 and HTTP/2 without
// TLS. Graven and protobuf are spoken on all of them, JSON wherever connect-go
// answers.
package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/bank/proto/bank/v1/bankv1connect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// shutdownGrace is how long open calls may go on once Serve is told to end.
const shutdownGrace = 2 * time.Second

// Server serves one ledger. Make it with New.
type Server struct {
	grpc    *grpc.Server
	connect *http.ServeMux
}

// New returns a server of l with health checks and server reflection.
func New(l *ledger.Ledger) *Server {
	s := &Server{grpc: newGRPCServer(l), connect: http.NewServeMux()}

	checks := health.NewServer()
	checks.SetServingStatus(bankv1.BankService_ServiceDesc.ServiceName, healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(s.grpc, checks)
	reflection.Register(s.grpc)

	s.connect.Handle(bankv1connect.NewBankServiceHandler(connectService{l}, handlerOptions()...))
	return s
}

// ServeHTTP hands gRPC requests in the encodings that grpc-go has a codec for
// to grpc-go and everything else to connect-go.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 && takenByGRPC(r.Header.Get("Content-Type")) {
		s.grpc.ServeHTTP(w, r)
		return
	}
	s.connect.ServeHTTP(w, r)
}

func takenByGRPC(contentType string) bool {
	mediaType, _, _ := strings.Cut(contentType, ";")
	subtype, ok := strings.CutPrefix(strings.TrimSpace(mediaType), "application/grpc")
	if !ok {
		return false
	}
	if subtype == "" {
		subtype = "+" + proto.Name
	}
	subtype, ok = strings.CutPrefix(subtype, "+")
	return ok && encoding.GetCodecV2(strings.ToLower(subtype)) != nil
}

// Serve answers on lis until ctx is done, then lets open calls end for a
// moment and returns nil, or the error that ended it before. It closes lis.
func (s *Server) Serve(ctx context.Context, lis net.Listener) error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	srv := &http.Server{Handler: s, Protocols: protocols, ReadHeaderTimeout: 10 * time.Second}

	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
		defer cancel()
		if srv.Shutdown(grace) != nil {
			srv.Close()
		}
	})
	err := srv.Serve(lis)
	if !stop() {
		<-stopped
	}
	s.grpc.Stop()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
