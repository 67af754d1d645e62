// Package plain is the floor below all reading: it visits the plain structs and
// decodes nothing.
package plain

import (
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Peer visits the plain structs.
var Peer = peer.Peer{Name: "plain structs", Setup: func(m scenario.Message) *peer.Instance {
	var b peer.Builder
	b.Read(peer.ReadAll, "no format", func([]byte) uint64 { return m.Sum() })
	return b.Instance()
}}
