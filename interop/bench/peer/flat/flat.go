// Package flat measures github.com/google/flatbuffers/go. Its Go library has no
// verifier, so its reads trust the bytes.
package flat

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/graven-rpc/graven/interop/bench/fb"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

const module = "github.com/google/flatbuffers"

// Peer is FlatBuffers with tables wherever a schema may want to grow.
var Peer = peer.Peer{Name: "FlatBuffers", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	w := &writer{Builder: flatbuffers.NewBuilder(1024)}
	switch m := m.(type) {
	case *scenario.Transaction:
		return setup(func() []byte { return w.transaction(m) }, sumTransaction,
			func(p []byte) uint64 { return fb.GetRootAsTransaction(p, 0).Id() },
			func(p []byte) { set(fb.GetRootAsTransaction(p, 0).MutateId(7)) })
	case *scenario.Frame:
		return setup(func() []byte { return w.frame(m) }, sumFrame,
			func(p []byte) uint64 {
				f := fb.GetRootAsFrame(p, 0)
				var e fb.Entity
				f.Entities(&e, f.EntitiesLength()/2)
				return uint64(e.Health())
			},
			func(p []byte) {
				f := fb.GetRootAsFrame(p, 0)
				var e fb.Entity
				var v fb.Vec3
				for i := range f.EntitiesLength() {
					f.Entities(&e, i)
					set(e.Position(&v).MutateX(1))
					set(e.MutateHealth(100))
				}
			})
	case *scenario.Telemetry:
		return setup(func() []byte { return w.telemetry(m) }, sumTelemetry,
			func(p []byte) uint64 { return scenario.Bits(fb.GetRootAsTelemetry(p, 0).Temperature()) },
			func(p []byte) { set(fb.GetRootAsTelemetry(p, 0).MutateTemperature(21.5)) })
	case *scenario.Chunk:
		return setup(func() []byte { return w.chunk(m) }, sumChunk,
			func(p []byte) uint64 { return fb.GetRootAsChunk(p, 0).Seq() },
			func(p []byte) { set(fb.GetRootAsChunk(p, 0).MutateSeq(7)) })
	case *scenario.Logs:
		return setup(func() []byte { return w.logs(m) }, sumLogs,
			func(p []byte) uint64 {
				f := fb.GetRootAsLogs(p, 0)
				var l fb.Log
				f.Logs(&l, f.LogsLength()/2)
				return uint64(l.Code())
			},
			func(p []byte) {
				f := fb.GetRootAsLogs(p, 0)
				var l fb.Log
				for i := range f.LogsLength() {
					f.Logs(&l, i)
					set(l.MutateCode(200))
					set(l.MutateSize(1000))
				}
			})
	case *scenario.Mesh:
		return setup(func() []byte { return w.mesh(m) }, sumMesh,
			func(p []byte) uint64 {
				f := fb.GetRootAsMesh(p, 0)
				var t fb.Triangle
				var n fb.Vec3
				f.Triangles(&t, f.TrianglesLength()/2)
				return scenario.Bits(t.Normal(&n).X())
			},
			func(p []byte) {
				f := fb.GetRootAsMesh(p, 0)
				var t fb.Triangle
				var n fb.Vec3
				for i := range f.TrianglesLength() {
					f.Triangles(&t, i)
					t.Normal(&n)
					n.MutateX(0)
					n.MutateY(0)
					n.MutateZ(1)
				}
			})
	case *scenario.Savedata:
		return setup(func() []byte { return w.savedata(m) }, sumSavedata,
			func(p []byte) uint64 {
				f := fb.GetRootAsSavedata(p, 0)
				var l fb.Player
				f.Players(&l, f.PlayersLength()/2)
				return uint64(l.Score())
			},
			func(p []byte) {
				f := fb.GetRootAsSavedata(p, 0)
				var l fb.Player
				for i := range f.PlayersLength() {
					f.Players(&l, i)
					set(l.MutateScore(1))
					set(l.MutateSpawnX(1))
					set(l.MutateSpawnY(2))
					set(l.MutateSpawnZ(3))
				}
			})
	}
	return nil
}}

// Structs is FlatBuffers with the elements of lists as structs, which can never
// change.
var Structs = peer.Peer{Name: "FlatBuffers structs", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	f, ok := m.(*scenario.Frame)
	if !ok {
		return nil
	}
	w := &writer{Builder: flatbuffers.NewBuilder(1024)}
	return setup(func() []byte { return w.frameOfStructs(f) }, sumFrameOfStructs,
		func(p []byte) uint64 {
			f := fb.GetRootAsFrameS(p, 0)
			var e fb.EntityS
			f.Entities(&e, f.EntitiesLength()/2)
			return uint64(e.Health())
		},
		func(p []byte) {
			f := fb.GetRootAsFrameS(p, 0)
			var e fb.EntityS
			var v fb.Vec3
			for i := range f.EntitiesLength() {
				f.Entities(&e, i)
				set(e.Position(&v).MutateX(1))
				set(e.MutateHealth(100))
			}
		})
}}

func setup(write func() []byte, sum, one func([]byte) uint64, update func([]byte)) *peer.Instance {
	var b peer.Builder
	b.Write("structs, reused builder", write)
	b.Read(peer.ReadAll, "view, trusted", sum)
	b.Read(peer.ReadOne, "view, trusted", one)
	b.Update("view", update)
	return b.Instance()
}

// set checks that a field could be changed, which it can't where the default was
// left out of the bytes.
func set(ok bool) {
	if !ok {
		panic("flat: field is not in the bytes")
	}
}
