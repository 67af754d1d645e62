package codec_test

import (
	"math/rand"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	scenarios "github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
)

// bank is a transaction of n entries, about half of which carry a memo of 8 to 40 bytes.
func bank(n int) *scenarios.Transaction {
	r := rand.New(rand.NewSource(1))
	t := &scenarios.Transaction{Id: r.Uint64(), Timestamp: r.Int63(), Reference: "INV-2026-000123", Currency: "EUR"}
	for range n {
		e := &scenarios.Entry{Account: r.Uint64(), Amount: r.Int63()}
		if r.Intn(2) == 0 {
			e.Memo = proto.String(strings.Repeat("x", 8+r.Intn(33)))
		}
		t.Entries = append(t.Entries, e)
	}
	return t
}

func frame(n int) *scenarios.Frame {
	r := rand.New(rand.NewSource(1))
	vec := func() *scenarios.Vec3 {
		return &scenarios.Vec3{X: r.Float32(), Y: r.Float32(), Z: r.Float32()}
	}
	f := &scenarios.Frame{Tick: r.Uint64()}
	for range n {
		f.Entities = append(f.Entities, &scenarios.Entity{
			Id: r.Uint32(), Position: vec(), Velocity: vec(), Health: uint32(r.Intn(1 << 16)), Flag: r.Intn(2) == 0,
		})
	}
	return f
}

var benchmarks = []struct {
	name    string
	message proto.Message
}{
	{"bank_1", bank(1)},
	{"bank_100", bank(100)},
	{"frame_10", frame(10)},
	{"frame_500", frame(500)},
	{"telemetry", &scenarios.Telemetry{Device: 7, Timestamp: 1234567890123, Temperature: 21.5, Humidity: proto.Float32(0.5), Battery: 99}},
	{"chunk_65536", &scenarios.Chunk{Stream: 1, Seq: 2, Last: true, Payload: make([]byte, 65536)}},
}

func BenchmarkEncode(b *testing.B) {
	for _, x := range benchmarks {
		b.Run(x.name+"/graven", func(b *testing.B) {
			buf, err := codec.Marshal(x.message)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(buf)), "B/msg")
			buf = make([]byte, 0, 2*len(buf)+256)
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = codec.MarshalAppend(buf[:0], x.message); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(x.name+"/protobuf", func(b *testing.B) {
			buf, err := proto.Marshal(x.message)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(buf)), "B/msg")
			b.ReportAllocs()
			for b.Loop() {
				if buf, err = (proto.MarshalOptions{}).MarshalAppend(buf[:0], x.message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, x := range benchmarks {
		b.Run(x.name+"/graven", func(b *testing.B) {
			buf, err := codec.Marshal(x.message)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				m := x.message.ProtoReflect().New().Interface()
				if err := codec.Unmarshal(buf, m); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(x.name+"/protobuf", func(b *testing.B) {
			buf, err := proto.Marshal(x.message)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				m := x.message.ProtoReflect().New().Interface()
				if err := proto.Unmarshal(buf, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
