package codec_test

import (
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/testpb/wide"
)

// nextVersion is the schema of the scenarios with a field added in each type.
const nextVersion = `syntax = "proto3"; package scenarios; import "graven/options.proto";
message Transaction { uint64 id = 1; int64 timestamp = 2; string reference = 3; string currency = 4; repeated Entry entries = 5; uint64 added = 6; }
message Entry { uint64 account = 1; int64 amount = 2; optional string memo = 3; uint32 added = 4; }
message Frame { uint64 tick = 1; repeated Entity entities = 2; uint64 added = 3; }
message Entity { uint32 id = 1; Vec3 position = 2; Vec3 velocity = 3; uint32 health = 4 [(graven.field).width = 16]; bool flag = 5; uint32 added = 6; }
message Vec3 { option (graven.message).inline = true; float x = 1; float y = 2; float z = 3; }
`

// setAdded sets the added fields of a message at every depth.
func setAdded(m protoreflect.Message) {
	if fd := m.Descriptor().Fields().ByName("added"); fd != nil {
		v := protoreflect.ValueOfUint32(7)
		if fd.Kind() == protoreflect.Uint64Kind {
			v = protoreflect.ValueOfUint64(7)
		}
		m.Set(fd, v)
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.IsList() && fd.Message() != nil {
			for i := range v.List().Len() {
				setAdded(v.List().Get(i).Message())
			}
		}
		return true
	})
}

// inUse keeps 64 MiB in use, as a program does, lest the collections of a tiny heap decide.
func inUse(b *testing.B) {
	heap := make([]byte, 64<<20)
	b.Cleanup(func() { runtime.KeepAlive(heap) })
}

// BenchmarkSkew decodes frames of the compiled version and of the next one, with every
// added field set, into the same types.
func BenchmarkSkew(b *testing.B) {
	inUse(b)
	set := compile(b, nextVersion)
	for _, x := range []struct {
		name    string
		message proto.Message
	}{{"bank_100", bank(100)}, {"frame_500", frame(500)}} {
		native := must(b, x.message)
		raw, err := proto.Marshal(x.message)
		if err != nil {
			b.Fatal(err)
		}
		next := newMessage(b, set, x.message.ProtoReflect().Descriptor().FullName())
		if err := proto.Unmarshal(raw, next); err != nil {
			b.Fatal(err)
		}
		setAdded(next)
		if raw, err = proto.Marshal(next); err != nil {
			b.Fatal(err)
		}
		other := must(b, next)
		decode := func(name string, f func(m proto.Message) error) {
			b.Run(x.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := f(x.message.ProtoReflect().New().Interface()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		decode("native", func(m proto.Message) error { return codec.Unmarshal(native, m) })
		decode("next_version", func(m proto.Message) error { return codec.Unmarshal(other, m) })
		decode("next_version_discarding", func(m proto.Message) error { return codec.Options{DiscardUnknown: true}.Unmarshal(other, m) })
		decode("protobuf_next_version", func(m proto.Message) error { return proto.Unmarshal(raw, m) })
	}
}

func must(b *testing.B, m proto.Message) []byte {
	frame, err := codec.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	return frame
}

// BenchmarkWide encodes and decodes a message of 60 fields, 5 of which are set.
func BenchmarkWide(b *testing.B) {
	inUse(b)
	m := &wide.Wide{F2: 1 << 40, F12: "a string", F20: 3, F35: 1.5, F51: "another one"}
	frame := must(b, m)
	raw, err := proto.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("encode/graven", func(b *testing.B) {
		b.ReportMetric(float64(len(frame)-24), "B/msg")
		buf := make([]byte, 0, 4096)
		for b.Loop() {
			buf, _ = codec.MarshalAppend(buf[:0], m)
		}
	})
	b.Run("encode/protobuf", func(b *testing.B) {
		b.ReportMetric(float64(len(raw)), "B/msg")
		buf := make([]byte, 0, 4096)
		for b.Loop() {
			buf, _ = proto.MarshalOptions{}.MarshalAppend(buf[:0], m)
		}
	})
	b.Run("decode/graven", func(b *testing.B) {
		for b.Loop() {
			if err := codec.Unmarshal(frame, new(wide.Wide)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode/protobuf", func(b *testing.B) {
		for b.Loop() {
			if err := proto.Unmarshal(raw, new(wide.Wide)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
