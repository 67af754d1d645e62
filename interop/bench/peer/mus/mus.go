// Package mus measures github.com/mus-format/mus-go with generated serializers:
// safe ones, and unsafe ones whose strings point into the input and whose
// integers are all of fixed size.
package mus

import (
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"

	safe "github.com/graven-rpc/graven/interop/bench/mus/safe"
	unsafe "github.com/graven-rpc/graven/interop/bench/mus/unsafe"
)

const module = "github.com/mus-format/mus-go"

// Safe copies strings and uses varints where they are shorter.
var Safe = peer.Peer{Name: "mus", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	switch m := m.(type) {
	case *scenario.Transaction:
		return setup(m, safe.TransactionMUS)
	case *scenario.Frame:
		return setup(m, safe.FrameMUS)
	case *scenario.Telemetry:
		return setup(m, safe.TelemetryMUS)
	case *scenario.Chunk:
		return setup(m, safe.ChunkMUS)
	case *scenario.Logs:
		return setup(m, safe.LogsMUS)
	case *scenario.Mesh:
		return setup(m, safe.MeshMUS)
	case *scenario.Savedata:
		return setup(m, safe.SavedataMUS)
	}
	return nil
}}

// Unsafe aliases the input.
var Unsafe = peer.Peer{Name: "mus unsafe", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	switch m := m.(type) {
	case *scenario.Transaction:
		return setup(m, unsafe.TransactionMUS)
	case *scenario.Frame:
		return setup(m, unsafe.FrameMUS)
	case *scenario.Telemetry:
		return setup(m, unsafe.TelemetryMUS)
	case *scenario.Chunk:
		return setup(m, unsafe.ChunkMUS)
	case *scenario.Logs:
		return setup(m, unsafe.LogsMUS)
	case *scenario.Mesh:
		return setup(m, unsafe.MeshMUS)
	case *scenario.Savedata:
		return setup(m, unsafe.SavedataMUS)
	}
	return nil
}}

type serializer[T any] interface {
	Size(T) int
	Marshal(T, []byte) int
	Unmarshal([]byte) (T, int, error)
}

type message[T any] interface {
	*T
	scenario.Message
}

func setup[T any, M message[T], S serializer[T]](m M, ser S) *peer.Instance {
	var b peer.Builder
	var buf []byte
	b.Write("structs, reused buffer", func() []byte {
		n := ser.Size(*m)
		if cap(buf) < n {
			buf = make([]byte, n)
		}
		buf = buf[:n]
		ser.Marshal(*m, buf)
		return buf
	})
	decode := func(op peer.Op, get func(M) uint64) {
		b.Read(op, "structs", func(p []byte) uint64 {
			v, _, err := ser.Unmarshal(p)
			peer.Check(err)
			return get(&v)
		})
	}
	decode(peer.ReadAll, M.Sum)
	decode(peer.Decode, M.One)
	return b.Instance()
}
