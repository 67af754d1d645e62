package gravengrpc

import (
	"fmt"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
)

// What the adapter adds to encoding and decoding.
func BenchmarkAdapter(b *testing.B) {
	for _, n := range []int{100, 6 << 10, 64 << 10} {
		m := wrapperspb.Bytes(randomBytes(1, n))
		c := New(codec.Options{})
		frame, err := codec.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		received := mem.BufferSlice{mem.SliceBuffer(frame)}
		for name, f := range map[string]func() error{
			"codec.MarshalAppend": func() (err error) { frame, err = codec.MarshalAppend(frame[:0], m); return err },
			"Marshal": func() error {
				data, err := c.Marshal(m)
				data.Free()
				return err
			},
			"codec.Unmarshal": func() error { return codec.Unmarshal(received[0].ReadOnlyData(), m) },
			"Unmarshal":       func() error { return c.Unmarshal(received, m) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
