package graven

import (
	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/proto/log/v1/logv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/mesh/v1/meshv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/otlp/v1/otlpv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/savedata/v1/savedatav1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// addWriters adds the cases of m's writer.
func addWriters(b *peer.Builder, m scenario.Message) {
	switch m := m.(type) {
	case *scenario.Transaction:
		writes[scenariosv1graven.Transaction](b, new(scenariosv1graven.TransactionWriter), m, writeTransaction, buildTransaction)
	case *scenario.Frame:
		writes[scenariosv1graven.Frame](b, new(scenariosv1graven.FrameWriter), m, writeFrame, buildFrame)
	case *scenario.Telemetry:
		writes[scenariosv1graven.Telemetry](b, new(scenariosv1graven.TelemetryWriter), m, writeTelemetry, nil)
	case *scenario.Chunk:
		writes[scenariosv1graven.Chunk](b, new(scenariosv1graven.ChunkWriter), m, writeChunk, nil)
	case *scenario.Logs:
		writes[logv1graven.Logs](b, new(logv1graven.LogsWriter), m, writeLogs, buildLogs)
	case *scenario.Mesh:
		writes[meshv1graven.Mesh](b, new(meshv1graven.MeshWriter), m, writeMesh, buildMesh)
	case *scenario.Savedata:
		writes[savedatav1graven.Savedata](b, new(savedatav1graven.SavedataWriter), m, writeSavedata, buildSavedata)
	case *scenario.Traces:
		writes[otlpv1graven.TracesData](b, new(otlpv1graven.TracesDataWriter), m, writeTraces, buildTraces)
	}
}

// writer is a generated writer of messages whose view is V.
type writer[V codec.View[V]] interface {
	Reset()
	Next() error
	Seal() ([]byte, error)
	SealInto(*codec.Frame[V]) error
	Batch() []byte
}

// A batch has up to batchFrames frames of together up to batchBytes bytes. Messages that are
// larger than an eighth of that are not batched.
const (
	batchFrames = 64
	batchBytes  = 1 << 20
)

// writes adds cases that write a message from the plain structs with one writer, used
// again and again. Write tells the writer the lengths of lists, build does not; it is nil
// for a message without lists.
func writes[V codec.View[V], M scenario.Message, W writer[V]](b *peer.Builder, w W, m M, write, build func(W, M)) {
	borrowed := func(fill func(W, M)) func() []byte {
		return func() []byte {
			w.Reset()
			fill(w, m)
			return peer.Must(w.Seal())
		}
	}
	b.Write("structs, writer, borrowed", borrowed(write))
	if build != nil {
		b.Write("structs, writer, borrowed, lengths unknown", borrowed(build))
	}
	if n := min(batchFrames, batchBytes/len(borrowed(write)())); n >= 8 {
		left, from := 0, 0
		b.Write("structs, writer, batched", func() []byte {
			if left == 0 {
				w.Reset()
				left, from = n, 0
			}
			write(w, m)
			peer.Check(w.Next())
			left--
			all := w.Batch()
			frame := all[from:]
			from = len(all)
			return frame
		})
	}
	var f codec.Frame[V]
	b.Write("structs, writer, owned", func() []byte {
		f.Release()
		w.Reset()
		write(w, m)
		peer.Check(w.SealInto(&f))
		return peer.Must(f.Bytes())
	})
}
