// Package codec is being laid down; see codec.go's replacement.
package codec

import (
	"encoding/binary"
	"hash/crc32"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type Options struct {
	AllowPartial   bool
	DiscardUnknown bool
}

func Marshal(m proto.Message) ([]byte, error) { return Options{}.Marshal(m) }
func MarshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	return Options{}.MarshalAppend(dst, m)
}
func Unmarshal(frame []byte, m proto.Message) error { return Options{}.Unmarshal(frame, m) }

func (o Options) Marshal(m proto.Message) ([]byte, error) { return o.MarshalAppend(nil, m) }
func (o Options) MarshalAppend(dst []byte, m proto.Message) ([]byte, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return dst, err
	}
	l := len(dst)
	dst = append(dst, "GRVN\x01\x00\x00\x00"...)
	dst = binary.LittleEndian.AppendUint64(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(b)))
	dst = append(dst, b...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[l:], crc32.MakeTable(crc32.Castagnoli))), nil
}
func (o Options) Unmarshal(frame []byte, m proto.Message) error {
	return proto.Unmarshal(frame[20:len(frame)-4], m)
}

func SchemaID(md protoreflect.MessageDescriptor) (uint64, error) { return 0, nil }
