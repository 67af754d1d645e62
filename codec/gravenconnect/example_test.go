package gravenconnect_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec/gravenconnect"
)

const procedure = "/example.v1.Greeter/Greet"

func greet(_ context.Context, r *connect.Request[wrapperspb.StringValue]) (*connect.Response[wrapperspb.StringValue], error) {
	return connect.NewResponse(wrapperspb.String("Hello, " + r.Msg.GetValue() + ", in " + r.Header().Get("Content-Type"))), nil
}

func Example() {
	// Generated constructors of handlers and clients take the same options.
	server := httptest.NewServer(connect.NewUnaryHandler(procedure, greet, gravenconnect.HandlerOptions()...))
	defer server.Close()

	client := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](
		server.Client(), server.URL+procedure, gravenconnect.ClientOptions()...)
	answer, err := client.CallUnary(context.Background(), connect.NewRequest(wrapperspb.String("world")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Msg.GetValue())
	// Output: Hello, world, in application/graven
}

// A client that goes on in protobuf with servers that were not updated yet.
func ExampleWithFallback() {
	server := httptest.NewServer(connect.NewUnaryHandler(procedure, greet))
	defer server.Close()

	var c connect.HTTPClient = http.DefaultClient
	client := connect.NewClient[wrapperspb.StringValue, wrapperspb.StringValue](
		gravenconnect.HTTPClient(c), server.URL+procedure, gravenconnect.ClientOptions(gravenconnect.WithFallback())...)
	answer, err := client.CallUnary(context.Background(), connect.NewRequest(wrapperspb.String("world")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Msg.GetValue())
	// Output: Hello, world, in application/proto
}
