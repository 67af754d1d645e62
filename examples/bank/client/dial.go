package client

import (
	"net/http"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravenconnect"
	"github.com/graven-rpc/graven/codec/gravengrpc"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
)

// A route is one way to the bank: a protocol as one library speaks it.
type route struct {
	protocol, library string
	dial              func(addr string, codec codecName, m *meter) (Bank, func() error, error)
}

// routes are all protocols that the server answers. gRPC goes both ways: by
// grpc-go, and by connect-go to the same server.
var routes = []route{
	{"gRPC", "grpc-go", dialGRPC},
	{"gRPC", "connect-go", dialConnect(connect.WithGRPC())},
	{"gRPC-Web", "connect-go", dialConnect(connect.WithGRPCWeb())},
	{"Connect", "connect-go", dialConnect()},
}

// encodings are tried on every route.
var encodings = []codecName{graven, protobuf, json}

// dialGRPC puts the meter around the codec. A client that measures nothing
// speaks Graven with gravengrpc.DialOptions() alone.
func dialGRPC(addr string, name codecName, m *meter) (Bank, func() error, error) {
	conn, err := grpc.NewClient(addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(meteredGRPC{grpcCodecOf(name), m})))
	if err != nil {
		return nil, nil, err
	}
	return OverGRPC(conn), conn.Close, nil
}

func grpcCodecOf(name codecName) encoding.CodecV2 {
	switch name {
	case graven:
		return gravengrpc.New(codec.Options{})
	case json:
		return grpcCodec{jsonCodec}
	default:
		return encoding.GetCodecV2(proto.Name)
	}
}

// dialConnect puts the meter around the codec. A client that measures nothing
// speaks Graven with gravenconnect.ClientOptions() alone.
func dialConnect(options ...connect.ClientOption) func(string, codecName, *meter) (Bank, func() error, error) {
	return func(addr string, name codecName, m *meter) (Bank, func() error, error) {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: protocols}
		all := append(options[:len(options):len(options)], connect.WithCodec(meteredConnect{connectCodecOf(name), m}))
		b := OverConnect(&http.Client{Transport: transport}, "http://"+addr, all...)
		return b, func() error { transport.CloseIdleConnections(); return nil }, nil
	}
}

func connectCodecOf(name codecName) connect.Codec {
	switch name {
	case graven:
		return gravenconnect.New(codec.Options{})
	case json:
		return jsonCodec
	default:
		return protobufCodec
	}
}
