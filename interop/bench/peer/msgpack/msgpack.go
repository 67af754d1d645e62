// Package msgpack measures github.com/tinylib/msgp, with generated methods that
// write structs as arrays.
package msgpack

import (
	"github.com/tinylib/msgp/msgp"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Peer is msgp.
var Peer = peer.Peer{Name: "msgp", Module: "github.com/tinylib/msgp", Setup: func(m scenario.Message) *peer.Instance {
	switch m := m.(type) {
	case *scenario.Transaction:
		return setup(m)
	case *scenario.Frame:
		return setup(m)
	case *scenario.Telemetry:
		return setup(m)
	case *scenario.Chunk:
		return setup(m)
	case *scenario.Logs:
		return setup(m)
	case *scenario.Mesh:
		return setup(m)
	case *scenario.Savedata:
		return setup(m)
	}
	return nil
}}

type message[T any] interface {
	*T
	scenario.Message
	msgp.Marshaler
	msgp.Unmarshaler
}

func setup[T any, M message[T]](m M) *peer.Instance {
	var b peer.Builder
	var buf []byte
	b.Write("structs, reused buffer", func() []byte {
		buf = peer.Must(m.MarshalMsg(buf[:0]))
		return buf
	})
	reused := M(new(T))
	decode := func(op peer.Op, get func(M) uint64) {
		b.Read(op, "structs", func(p []byte) uint64 {
			v := M(new(T))
			peer.Must(v.UnmarshalMsg(p))
			return get(v)
		})
		b.Read(op, "structs, reused", func(p []byte) uint64 {
			peer.Must(reused.UnmarshalMsg(p))
			return get(reused)
		})
	}
	decode(peer.ReadAll, M.Sum)
	decode(peer.Decode, M.One)
	return b.Instance()
}
