// Package protobuf measures google.golang.org/protobuf.
package protobuf

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	logv1 "github.com/graven-rpc/graven/interop/bench/proto/log/v1"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
	otlpv1 "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
	savedatav1 "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Peer is protobuf-go, with open structs.
var Peer = peer.Peer{Name: "protobuf-go", Module: "google.golang.org/protobuf", Setup: func(m scenario.Message) *peer.Instance {
	return pbmsg.For(m,
		setup[*scenariosv1.Transaction], setup[*scenariosv1.Frame], setup[*scenariosv1.Telemetry], setup[*scenariosv1.Chunk],
		setup[*logv1.Logs], setup[*meshv1.Mesh], setup[*savedatav1.Savedata], setup[*otlpv1.TracesData])
}}

func setup[M pbmsg.Message](s pbmsg.Spec[M]) *peer.Instance {
	var b peer.Builder
	msg := s.Build()
	var buf []byte
	b.Write("message, reused buffer", func() []byte {
		buf = peer.Must(proto.MarshalOptions{}.MarshalAppend(buf[:0], msg))
		return buf
	})
	b.Write("message, new buffer", func() []byte { return peer.Must(proto.Marshal(msg)) })
	b.Write("structs, reused buffer", func() []byte {
		buf = peer.Must(proto.MarshalOptions{}.MarshalAppend(buf[:0], s.Build()))
		return buf
	})
	b.Read(peer.ReadAll, "decode", func(p []byte) uint64 {
		m := s.New()
		peer.Check(proto.Unmarshal(p, m))
		return s.Sum(m)
	})
	b.Read(peer.Decode, "message", func(p []byte) uint64 {
		m := s.New()
		peer.Check(proto.Unmarshal(p, m))
		return s.One(m)
	})
	return b.Instance()
}
