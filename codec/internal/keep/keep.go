package keep

import (
	_ "connectrpc.com/connect"
	_ "github.com/bufbuild/protocompile"
	_ "golang.org/x/sys/cpu"
	_ "google.golang.org/grpc"
	_ "google.golang.org/grpc/health"
	_ "google.golang.org/grpc/reflection"
	_ "google.golang.org/grpc/test/bufconn"
	_ "google.golang.org/protobuf/proto"
)
