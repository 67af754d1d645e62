// Package dynamic measures the formats whose libraries encode any Go value by
// reflection, or compile code for its type while the program runs: CBOR, BSON,
// JSON by the standard library and by a SIMD one, and gob.
package dynamic

import (
	"bytes"
	"encoding/gob"
	"encoding/json"

	"github.com/bytedance/sonic"
	"github.com/fxamacker/cbor/v2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// CBOR writes structs as arrays.
var CBOR = peer.Peer{Name: "CBOR", Module: "github.com/fxamacker/cbor/v2", Setup: func(m scenario.Message) *peer.Instance {
	var buf bytes.Buffer
	enc := peer.Must(cbor.EncOptions{}.UserBufferEncMode())
	// The default limit of 131,072 elements holds mesh too, but not much more.
	dec := peer.Must(cbor.DecOptions{MaxArrayElements: 1 << 20}.DecMode())
	return setup(m, func(v any) []byte {
		buf.Reset()
		peer.Check(enc.MarshalToBuffer(v, &buf))
		return buf.Bytes()
	}, dec.Unmarshal)
}}

// BSON is MongoDB's.
var BSON = peer.Peer{Name: "BSON", Module: "go.mongodb.org/mongo-driver/v2", Setup: func(m scenario.Message) *peer.Instance {
	return setup(m, func(v any) []byte { return peer.Must(bson.Marshal(v)) }, bson.Unmarshal)
}}

// JSON is the standard library's.
var JSON = peer.Peer{Name: "JSON", Setup: func(m scenario.Message) *peer.Instance {
	return setup(m, func(v any) []byte { return peer.Must(json.Marshal(v)) }, json.Unmarshal)
}}

// SIMDJSON is JSON by sonic.
var SIMDJSON = peer.Peer{Name: "JSON (sonic)", Module: "github.com/bytedance/sonic", Setup: func(m scenario.Message) *peer.Instance {
	api := sonic.ConfigDefault
	return setup(m, func(v any) []byte { return peer.Must(api.Marshal(v)) }, api.Unmarshal)
}}

// Gob is encoding/gob, each message on its own and so with its types. It leaves
// savedata out: gob sends no zero values, so a pointer to false is read as nil.
var Gob = peer.Peer{Name: "gob", Setup: func(m scenario.Message) *peer.Instance {
	if _, ok := m.(*scenario.Savedata); ok {
		return nil
	}
	var buf bytes.Buffer
	return setup(m, func(v any) []byte {
		buf.Reset()
		peer.Check(gob.NewEncoder(&buf).Encode(v))
		return buf.Bytes()
	}, func(p []byte, v any) error { return gob.NewDecoder(bytes.NewReader(p)).Decode(v) })
}}

func setup(m scenario.Message, marshal func(any) []byte, unmarshal func([]byte, any) error) *peer.Instance {
	zero := scenario.Zero(m)
	if zero == nil {
		return nil
	}
	var b peer.Builder
	b.Write("structs", func() []byte { return marshal(m) })
	decode := func(op peer.Op, get func(scenario.Message) uint64) {
		b.Read(op, "structs", func(p []byte) uint64 {
			v := zero()
			peer.Check(unmarshal(p, v))
			return get(v)
		})
	}
	decode(peer.ReadAll, scenario.Message.Sum)
	decode(peer.Decode, scenario.Message.One)
	return b.Instance()
}
