package rpc

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// vtMessage has what vtprotobuf generates.
type vtMessage interface {
	SizeVT() int
	MarshalVT() ([]byte, error)
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
}

// vtPooled is vtprotobuf behind grpc-go's newer interface: written to pooled
// buffers, and read without a copy if the message came in one buffer.
type vtPooled struct{ pool mem.BufferPool }

func (vtPooled) Name() string { return "vt-pooled" }

func (c vtPooled) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(vtMessage)
	if !ok {
		return nil, fmt.Errorf("vt-pooled: %T has no generated methods", v)
	}
	n := m.SizeVT()
	if mem.IsBelowBufferPoolingThreshold(n) {
		b := make([]byte, n)
		if _, err := m.MarshalToSizedBufferVT(b); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(b)}, nil
	}
	b := c.pool.Get(n)
	if _, err := m.MarshalToSizedBufferVT((*b)[:n]); err != nil {
		c.pool.Put(b)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(b, c.pool)}, nil
}

func (c vtPooled) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(vtMessage)
	if !ok {
		return fmt.Errorf("vt-pooled: %T has no generated methods", v)
	}
	b := data.MaterializeToBuffer(c.pool)
	defer b.Free()
	return m.UnmarshalVT(b.ReadOnlyData())
}

// kept is a message of the floor codec: the buffers that grpc-go received.
type kept struct{ bufs mem.BufferSlice }

// floorCodec does nothing: what it costs is what everything else costs.
type floorCodec struct{}

func (floorCodec) Name() string { return "floor" }

func (floorCodec) Marshal(v any) (mem.BufferSlice, error) { return v.(*kept).bufs, nil }

func (floorCodec) Unmarshal(data mem.BufferSlice, v any) error {
	data.Ref()
	v.(*kept).bufs = append(mem.BufferSlice(nil), data...)
	return nil
}

// raw is a message of Connect's floor codec. Connect takes its buffers back, so
// the bytes have to be copied.
type raw struct{ b []byte }

type connectFloor struct{}

func (connectFloor) Name() string { return "floor" }

func (connectFloor) Marshal(v any) ([]byte, error) { return append([]byte(nil), v.(*raw).b...), nil }

// MarshalAppend keeps Connect from pooling the message's own bytes, which it does
// with what Marshal returns.
func (connectFloor) MarshalAppend(dst []byte, v any) ([]byte, error) {
	return append(dst, v.(*raw).b...), nil
}

func (connectFloor) Unmarshal(b []byte, v any) error {
	v.(*raw).b = append([]byte(nil), b...)
	return nil
}

// connectVT is vtprotobuf for Connect.
type connectVT struct{}

func (connectVT) Name() string { return "proto" }

func (connectVT) Marshal(v any) ([]byte, error) {
	if m, ok := v.(vtMessage); ok {
		return m.MarshalVT()
	}
	return proto.Marshal(v.(proto.Message))
}

func (connectVT) MarshalAppend(dst []byte, v any) ([]byte, error) {
	m, ok := v.(vtMessage)
	if !ok {
		return proto.MarshalOptions{}.MarshalAppend(dst, v.(proto.Message))
	}
	n, size := len(dst), m.SizeVT()
	if cap(dst)-n < size {
		dst = append(make([]byte, 0, n+size), dst...)
	}
	dst = dst[:n+size]
	_, err := m.MarshalToSizedBufferVT(dst[n:])
	return dst, err
}

func (connectVT) Unmarshal(b []byte, v any) error {
	if m, ok := v.(vtMessage); ok {
		return m.UnmarshalVT(b)
	}
	return proto.Unmarshal(b, v.(proto.Message))
}
