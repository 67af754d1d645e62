// Command plainserver serves the interoperability suite of grpc-go without knowing
// Graven, on a port of the loopback interface that it prints. It ends when its
// standard input does.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	s := grpc.NewServer()
	testgrpc.RegisterTestServiceServer(s, interop.NewTestServer())
	go func() {
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			log.Print(err)
		}
		s.Stop()
	}()
	fmt.Println(l.Addr())
	if err := s.Serve(l); err != nil {
		log.Fatal(err)
	}
}
