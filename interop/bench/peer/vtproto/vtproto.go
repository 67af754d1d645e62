// Package vtproto measures github.com/planetscale/vtprotobuf, whose methods stand
// beside protobuf-go's structs.
package vtproto

import (
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	logv1 "github.com/graven-rpc/graven/interop/bench/proto/log/v1"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
	otlpv1 "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
	savedatav1 "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Peer is vtprotobuf. Its unsafe decoding lets strings point into the input.
var Peer = peer.Peer{Name: "vtprotobuf", Module: "github.com/planetscale/vtprotobuf", Setup: func(m scenario.Message) *peer.Instance {
	return pbmsg.For(m,
		setup[*scenariosv1.Transaction], setup[*scenariosv1.Frame], setup[*scenariosv1.Telemetry], setup[*scenariosv1.Chunk],
		setup[*logv1.Logs], setup[*meshv1.Mesh], setup[*savedatav1.Savedata], setup[*otlpv1.TracesData])
}}

func setup[M pbmsg.Message](s pbmsg.Spec[M]) *peer.Instance {
	var b peer.Builder
	msg := s.Build()
	var buf []byte
	write := func(m M) []byte {
		n := m.SizeVT()
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		peer.Must(m.MarshalToSizedBufferVT(buf))
		return buf
	}
	b.Write("message, reused buffer", func() []byte { return write(msg) })
	b.Write("structs, reused buffer", func() []byte { return write(s.Build()) })

	decode := func(op peer.Op, variant string, get func(M) uint64, unmarshal func(M, []byte) error) {
		b.Read(op, variant, func(p []byte) uint64 {
			m := s.New()
			peer.Check(unmarshal(m, p))
			return get(m)
		})
		b.Read(op, variant+", pooled", func(p []byte) uint64 {
			m := s.Pool()
			peer.Check(unmarshal(m, p))
			v := get(m)
			m.ReturnToVTPool()
			return v
		})
	}
	decode(peer.ReadAll, "decode", s.Sum, M.UnmarshalVT)
	decode(peer.ReadAll, "decode unsafe", s.Sum, M.UnmarshalVTUnsafe)
	decode(peer.Decode, "message", s.One, M.UnmarshalVT)
	decode(peer.Decode, "message, unsafe", s.One, M.UnmarshalVTUnsafe)
	return b.Instance()
}
