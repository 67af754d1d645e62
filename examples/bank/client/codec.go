package client

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/graven-rpc/graven/codec/gravengrpc"

	"connectrpc.com/connect"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// codecName is an encoding as content types name it.
type codecName string

const (
	graven   codecName = gravengrpc.Name
	protobuf codecName = "proto"
	json     codecName = "json"
)

// plainCodec is protobuf or JSON as connect-go takes a codec. connect-go's own
// are not exported and grpc-go has none for JSON.
type plainCodec struct {
	name      codecName
	marshal   func(proto.Message) ([]byte, error)
	unmarshal func([]byte, proto.Message) error
}

var (
	protobufCodec connect.Codec = plainCodec{protobuf, proto.Marshal, proto.Unmarshal}
	jsonCodec     connect.Codec = plainCodec{json, protojson.Marshal, protojson.Unmarshal}
)

func (c plainCodec) Name() string { return string(c.name) }

func (c plainCodec) Marshal(v any) ([]byte, error) {
	m, ok := v.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", v)
	}
	return c.marshal(m)
}

func (c plainCodec) Unmarshal(b []byte, v any) error {
	m, ok := v.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is not a protobuf message", v)
	}
	return c.unmarshal(b, m)
}

// grpcCodec is a plain codec as grpc-go takes it.
type grpcCodec struct{ connect.Codec }

func (c grpcCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, err := c.Codec.Marshal(v)
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

func (c grpcCodec) Unmarshal(data mem.BufferSlice, v any) error {
	return c.Codec.Unmarshal(data.Materialize(), v)
}

// meteredConnect is a codec of connect-go that writes down what it does.
type meteredConnect struct {
	connect.Codec
	meter *meter
}

func (c meteredConnect) Marshal(v any) ([]byte, error) {
	start := time.Now()
	b, err := c.Codec.Marshal(v)
	took := time.Since(start)
	if err == nil {
		c.meter.addSent(sample{len(b), took, checksum(c.Name(), b)})
	}
	return b, err
}

func (c meteredConnect) Unmarshal(b []byte, v any) error {
	start := time.Now()
	err := c.Codec.Unmarshal(b, v)
	took := time.Since(start)
	if err == nil {
		c.meter.addReceived(sample{len(b), took, checksum(c.Name(), b)})
	}
	return err
}

// meteredGRPC is a codec of grpc-go that writes down what it does.
type meteredGRPC struct {
	encoding.CodecV2
	meter *meter
}

func (c meteredGRPC) Marshal(v any) (mem.BufferSlice, error) {
	start := time.Now()
	data, err := c.CodecV2.Marshal(v)
	took := time.Since(start)
	if err == nil {
		c.meter.addSent(sample{data.Len(), took, checksum(c.Name(), data.Materialize())})
	}
	return data, err
}

func (c meteredGRPC) Unmarshal(data mem.BufferSlice, v any) error {
	start := time.Now()
	err := c.CodecV2.Unmarshal(data, v)
	took := time.Since(start)
	if err == nil {
		c.meter.addReceived(sample{data.Len(), took, checksum(c.Name(), data.Materialize())})
	}
	return err
}

// checksum returns the CRC32C that ends a Graven frame, and 0 for other
// encodings and for messages of no bytes, which are no frames.
func checksum(name string, b []byte) uint32 {
	if name != string(graven) || len(b) < 4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b[len(b)-4:])
}
