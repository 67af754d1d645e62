// Package graven measures Graven. Sizes and times are of whole frames, with the
// envelope and its checksum, unless a variant says otherwise.
package graven

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	logv1 "github.com/graven-rpc/graven/interop/bench/proto/log/v1"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
	otlpv1 "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
	savedatav1 "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Envelope is how many bytes of a frame are not the message.
const Envelope = 24

// Peer is Graven.
var Peer = peer.Peer{Name: "Graven", Setup: func(m scenario.Message) *peer.Instance {
	cases := pbmsg.For(m,
		setup[*scenariosv1.Transaction], setup[*scenariosv1.Frame], setup[*scenariosv1.Telemetry], setup[*scenariosv1.Chunk],
		setup[*logv1.Logs], setup[*meshv1.Mesh], setup[*savedatav1.Savedata], setup[*otlpv1.TracesData])
	var b peer.Builder
	cases(&b, m)
	return b.Instance()
}}

// reflected hides generated methods, so that the codec takes the message's
// reflection.
type reflected struct{ proto.Message }

func setup[M pbmsg.Message](s pbmsg.Spec[M]) func(*peer.Builder, scenario.Message) {
	return func(b *peer.Builder, m scenario.Message) {
		msg := s.Build()
		other := anotherShape(msg)
		if _, ok := any(msg).(wire.Generated); ok {
			messages(b, "generated", s, other, func(m M) proto.Message { return m })
			bareMessages(b, msg, func(p []byte) uint64 {
				m := s.New()
				peer.Check(decodeBare(p, m))
				return s.Sum(m)
			})
		}
		messages(b, "reflection", s, other, func(m M) proto.Message { return reflected{m} })
		addViews(b, m, other)
		addWriters(b, m)
	}
}

// messages adds the cases of ordinary messages, which as gives to the codec. Other
// is the frame of another shape, if there is one.
func messages[M pbmsg.Message](b *peer.Builder, how string, s pbmsg.Spec[M], other []byte, as func(M) proto.Message) {
	msg := as(s.Build())
	var buf []byte
	b.Write("message, "+how+", reused buffer", func() []byte {
		buf = peer.Must(codec.MarshalAppend(buf[:0], msg))
		return buf
	})
	b.Write("message, "+how+", new buffer", func() []byte { return peer.Must(codec.Marshal(msg)) })
	b.Write("structs, "+how+", reused buffer", func() []byte {
		buf = peer.Must(codec.MarshalAppend(buf[:0], as(s.Build())))
		return buf
	})
	decode := func(get func(M) uint64) func(p []byte) uint64 {
		return func(p []byte) uint64 {
			m := s.New()
			peer.Check(codec.Unmarshal(p, as(m)))
			return get(m)
		}
	}
	b.Read(peer.ReadAll, "decode, "+how, decode(s.Sum))
	b.Read(peer.Decode, "message, "+how, decode(s.One))
	if other != nil {
		b.ReadFrom(other, peer.ReadAll, "decode another shape, "+how, decode(s.Sum))
	}
}
