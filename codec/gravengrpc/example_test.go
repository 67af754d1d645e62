package gravengrpc_test

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/graven-rpc/graven/codec/gravengrpc"
)

// A server needs the import of this package and nothing else, here for the health
// service that comes with gRPC.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	server := grpc.NewServer()
	healthpb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(l)
	defer server.Stop()

	opts := append(gravengrpc.DialOptions(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(l.Addr().String(), opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.GetStatus())
	// Output: SERVING
}

// A client that goes on in protobuf with servers that were not updated yet. The server
// of this example takes everything for protobuf, as one without the import does.
func ExampleWithFallback() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	old := grpc.NewServer(grpc.ForceServerCodecV2(encoding.GetCodecV2("proto")))
	healthpb.RegisterHealthServer(old, health.NewServer())
	go old.Serve(l)
	defer old.Stop()

	for _, opts := range [][]grpc.DialOption{
		gravengrpc.DialOptions(),
		gravengrpc.DialOptions(gravengrpc.WithFallback()),
	} {
		conn, err := grpc.NewClient(l.Addr().String(), append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := healthpb.NewHealthClient(conn).Check(context.Background(), &healthpb.HealthCheckRequest{})
		if errors.Is(err, gravengrpc.ErrNoCodec) {
			fmt.Println(gravengrpc.ErrNoCodec)
		} else if err != nil {
			fmt.Println(err)
		} else {
			fmt.Println(answer.GetStatus())
		}
		conn.Close()
	}
	// Output:
	// the server does not speak Graven
	// SERVING
}
