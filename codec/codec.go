// Package codec turns protobuf messages into Graven frames and back.
//
// A frame is a message in Graven's layout inside an envelope of 24 bytes with a
// CRC32C. [Marshal] and [Unmarshal] take any [proto.Message]: types that
// protoc-gen-graven has generated methods for take the fast path, all others
// are read and written by reflection with the same bytes as the result.
//
// The package links no transport. gRPC and Connect are adapters above it, in
// gravengrpc and gravenconnect.
package codec

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// Marshal returns the frame of m. The caller owns it.
func Marshal(m proto.Message) ([]byte, error) { return Options{}.Marshal(m) }

// MarshalAppend appends the frame of m to dst and returns the result, which shares
// dst's memory where its capacity allows. After an error it returns dst as it was.
func MarshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	return Options{}.MarshalAppend(dst, m)
}

// Unmarshal resets m and sets it from a whole frame. Nothing in m refers to the
// frame's memory afterwards. After an error m is empty.
func Unmarshal(frame []byte, m proto.Message) error { return Options{}.Unmarshal(frame, m) }

// SchemaID is the 64-bit id that frames of the message type carry: the CRC32C of its
// full name in the upper half, of its schema text in the lower. The error is an
// [*Error] of kind [KindBadSchema] that names the option that breaks the format's rules.
func SchemaID(md protoreflect.MessageDescriptor) (uint64, error) {
	m, err := layout.Of(md)
	if err != nil {
		return 0, err
	}
	return m.ID(), nil
}
