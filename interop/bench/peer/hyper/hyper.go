// Package hyper measures buf.build/go/hyperpb, which parses into memory of its
// own and is read through reflection. It does not write.
package hyper

import (
	"buf.build/go/hyperpb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Peer is hyperpb.
var Peer = peer.Peer{Name: "hyperpb", Module: "buf.build/go/hyperpb", Setup: setup}

type get = func(protoreflect.Message) uint64

func setup(m scenario.Message) *peer.Instance {
	src := pbmsg.Build(m)
	enc := peer.Must(proto.Marshal(src))
	md := src.ProtoReflect().Descriptor()
	plain := hyperpb.CompileMessageDescriptor(md)
	profile := plain.NewProfile()
	shared := new(hyperpb.Shared)
	for range max(1, min(20, 1<<20/len(enc))) {
		peer.Check(shared.NewMessage(plain).Unmarshal(enc, hyperpb.WithRecordProfile(profile, 1)))
		shared.Free()
	}
	tuned := plain.Recompile(profile)

	var b peer.Builder
	b.Encoded(enc)
	for _, op := range []struct {
		op  peer.Op
		get func(protoreflect.MessageDescriptor) get
	}{{peer.ReadAll, sums(m)}, {peer.Decode, one(m)}} {
		fresh := op.get(plain.Descriptor())
		b.Read(op.op, "new arena", func(p []byte) uint64 {
			m := hyperpb.NewMessage(plain)
			peer.Check(m.Unmarshal(p))
			return fresh(m)
		})
		reused := func(ty *hyperpb.MessageType, opts ...hyperpb.UnmarshalOption) func([]byte) uint64 {
			get, shared := op.get(ty.Descriptor()), new(hyperpb.Shared)
			return func(p []byte) uint64 {
				m := shared.NewMessage(ty)
				peer.Check(m.Unmarshal(p, opts...))
				v := get(m)
				shared.Free()
				return v
			}
		}
		b.Read(op.op, "reused arena", reused(plain))
		b.Read(op.op, "reused arena, aliased", reused(plain, hyperpb.WithAllowAlias(true)))
		// Types compiled with a profile read repeated strings as empty ones in
		// v0.1.3, so they can't be measured where there are any.
		if _, ok := m.(*scenario.Savedata); !ok {
			b.Read(op.op, "reused arena, aliased, profiled", reused(tuned, hyperpb.WithAllowAlias(true)))
		}
	}
	return b.Instance()
}

// one reads the one field of a message.
func one(m scenario.Message) func(protoreflect.MessageDescriptor) get {
	field := func(fd protoreflect.MessageDescriptor, n protoreflect.FieldNumber) protoreflect.FieldDescriptor {
		return fd.Fields().ByNumber(n)
	}
	middle := func(md protoreflect.MessageDescriptor, n protoreflect.FieldNumber) (func(protoreflect.Message) protoreflect.Message, protoreflect.MessageDescriptor) {
		fd := field(md, n)
		return func(m protoreflect.Message) protoreflect.Message {
			l := m.Get(fd).List()
			return l.Get(l.Len() / 2).Message()
		}, fd.Message()
	}
	return func(md protoreflect.MessageDescriptor) get {
		switch m.(type) {
		case *scenario.Transaction:
			id := field(md, 1)
			return func(m protoreflect.Message) uint64 { return m.Get(id).Uint() }
		case *scenario.Frame:
			mid, md := middle(md, 2)
			health := field(md, 4)
			return func(m protoreflect.Message) uint64 { return mid(m).Get(health).Uint() }
		case *scenario.Telemetry:
			temp := field(md, 3)
			return func(m protoreflect.Message) uint64 { return scenario.Bits(float32(m.Get(temp).Float())) }
		case *scenario.Chunk:
			seq := field(md, 2)
			return func(m protoreflect.Message) uint64 { return m.Get(seq).Uint() }
		case *scenario.Logs:
			mid, md := middle(md, 1)
			code := field(md, 6)
			return func(m protoreflect.Message) uint64 { return mid(m).Get(code).Uint() }
		case *scenario.Mesh:
			mid, md := middle(md, 1)
			normal := field(md, 4)
			x := field(normal.Message(), 1)
			return func(m protoreflect.Message) uint64 {
				return scenario.Bits(float32(mid(m).Get(normal).Message().Get(x).Float()))
			}
		case *scenario.Savedata:
			mid, md := middle(md, 1)
			score := field(md, 3)
			return func(m protoreflect.Message) uint64 { return uint64(mid(m).Get(score).Int()) }
		case *scenario.Traces:
			rs := field(md, 1)
			ss := field(rs.Message(), 2)
			span := field(ss.Message(), 2)
			start := field(span.Message(), 7)
			return func(m protoreflect.Message) uint64 {
				l := m.Get(rs).List()
				l = l.Get(l.Len() - 1).Message().Get(ss).List()
				return l.Get(l.Len() - 1).Message().Get(span).List().Get(0).Message().Get(start).Uint()
			}
		}
		panic("hyper: unknown message")
	}
}
