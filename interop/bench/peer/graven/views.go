package graven

import (
	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/proto/log/v1/logv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/mesh/v1/meshv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/otlp/v1/otlpv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/savedata/v1/savedatav1graven"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// addViews adds the cases of m's view.
func addViews(b *peer.Builder, m scenario.Message, other []byte) {
	switch m.(type) {
	case *scenario.Transaction:
		viewed(b, other, sumTransaction,
			func(v scenariosv1graven.Transaction) uint64 { return v.GetId() },
			func(v scenariosv1graven.Transaction) { peer.Check(v.SetId(7)) })
	case *scenario.Frame:
		viewed(b, other, sumFrame,
			func(v scenariosv1graven.Frame) uint64 {
				l := v.GetEntities()
				return uint64(l.At(l.Len() / 2).GetHealth())
			},
			func(v scenariosv1graven.Frame) {
				var p scenariosv1.Vec3
				for e := range v.GetEntities().All() {
					old := e.GetPosition()
					p.X, p.Y, p.Z = 1, old.GetY(), old.GetZ()
					peer.Check(e.SetPosition(&p))
					peer.Check(e.SetHealth(100))
				}
			})
	case *scenario.Telemetry:
		viewed(b, other, sumTelemetry,
			func(v scenariosv1graven.Telemetry) uint64 { return scenario.Bits(v.GetTemperature()) },
			func(v scenariosv1graven.Telemetry) { peer.Check(v.SetTemperature(21.5)) })
	case *scenario.Chunk:
		viewed(b, other, sumChunk,
			func(v scenariosv1graven.Chunk) uint64 { return v.GetSeq() },
			func(v scenariosv1graven.Chunk) { peer.Check(v.SetSeq(7)) })
	case *scenario.Logs:
		viewed(b, other, sumLogs,
			func(v logv1graven.Logs) uint64 {
				l := v.GetLogs()
				return uint64(l.At(l.Len() / 2).GetCode())
			},
			func(v logv1graven.Logs) {
				for l := range v.GetLogs().All() {
					peer.Check(l.SetCode(200))
					peer.Check(l.SetSize(1000))
				}
			})
	case *scenario.Mesh:
		// Elements of a list of inline messages can't be changed one by one.
		viewed(b, other, sumMesh,
			func(v meshv1graven.Mesh) uint64 {
				l := v.GetTriangles()
				return scenario.Bits(l.At(l.Len() / 2).GetNormal().GetX())
			}, nil)
	case *scenario.Savedata:
		viewed(b, other, sumSavedata,
			func(v savedatav1graven.Savedata) uint64 {
				l := v.GetPlayers()
				return uint64(l.At(l.Len() / 2).GetScore())
			},
			func(v savedatav1graven.Savedata) {
				for p := range v.GetPlayers().All() {
					peer.Check(p.SetScore(1))
					peer.Check(p.SetSpawnX(1))
					peer.Check(p.SetSpawnY(2))
					peer.Check(p.SetSpawnZ(3))
				}
			})
	case *scenario.Traces:
		viewed(b, other, sumTraces,
			func(v otlpv1graven.TracesData) uint64 {
				rs := v.GetResourceSpans()
				ss := rs.At(rs.Len() - 1).GetScopeSpans()
				return ss.At(ss.Len() - 1).GetSpans().At(0).GetStartTimeUnixNano()
			},
			func(v otlpv1graven.TracesData) {
				for rs := range v.GetResourceSpans().All() {
					for ss := range rs.GetScopeSpans().All() {
						for s := range ss.GetSpans().All() {
							peer.Check(s.SetEndTimeUnixNano(1))
						}
					}
				}
			})
	}
}

// viewed adds cases that read frames in place, with one frame that is opened again
// and again. Other is a frame of another shape, if there is one.
func viewed[V codec.View[V]](b *peer.Builder, other []byte, sum, one func(V) uint64, update func(V)) {
	var f codec.Frame[V]
	trusted := func(get func(V) uint64) func([]byte) uint64 {
		return func(p []byte) uint64 {
			peer.Check(f.OpenTrusted(p, codec.Options{}))
			return get(f.View())
		}
	}
	verified := func(get func(V) uint64) func([]byte) uint64 {
		return func(p []byte) uint64 {
			peer.Check(f.Open(p, codec.Options{}))
			return get(f.View())
		}
	}
	b.Read(peer.ReadAll, "view, trusted", trusted(sum))
	b.Read(peer.VerifyRead, "view, verified", verified(sum))
	b.Read(peer.ReadOne, "view, trusted", trusted(one))
	b.Read(peer.VerifyOne, "view, verified", verified(one))
	if other != nil {
		b.ReadFrom(other, peer.VerifyRead, "view of another shape, verified", verified(sum))
	}
	bareViews(b, sum)
	if update != nil {
		b.Update("view, checksum made anew", func(p []byte) {
			peer.Check(f.OpenTrusted(p, codec.Options{}))
			update(peer.Must(f.Edit()))
			peer.Check(f.Seal())
		})
		b.UpdateIncomplete("view"+Bare, func(p []byte) {
			peer.Check(f.OpenTrusted(p, codec.Options{}))
			update(peer.Must(f.Edit()))
		}, reseal)
	}
}
