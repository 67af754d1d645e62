// Package peers lists every implementation that is measured.
package peers

import (
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/capn"
	"github.com/graven-rpc/graven/interop/bench/peer/dynamic"
	"github.com/graven-rpc/graven/interop/bench/peer/flat"
	"github.com/graven-rpc/graven/interop/bench/peer/graven"
	"github.com/graven-rpc/graven/interop/bench/peer/hyper"
	"github.com/graven-rpc/graven/interop/bench/peer/msgpack"
	"github.com/graven-rpc/graven/interop/bench/peer/mus"
	"github.com/graven-rpc/graven/interop/bench/peer/plain"
	"github.com/graven-rpc/graven/interop/bench/peer/protobuf"
	"github.com/graven-rpc/graven/interop/bench/peer/vtproto"
)

// All is in the order of the tables.
var All = []peer.Peer{
	graven.Peer,
	protobuf.Peer, vtproto.Peer, hyper.Peer,
	flat.Peer, flat.Structs, capn.Plain, capn.Packed,
	msgpack.Peer, mus.Safe, mus.Unsafe,
	dynamic.CBOR, dynamic.BSON, dynamic.JSON, dynamic.SIMDJSON, dynamic.Gob,
	plain.Peer,
}
