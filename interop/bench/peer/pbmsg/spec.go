// Package pbmsg holds what all implementations on protobuf's messages share: the
// way from the plain structs to the messages, and the checksum over them.
package pbmsg

import (
	"google.golang.org/protobuf/proto"

	logv1 "github.com/graven-rpc/graven/interop/bench/proto/log/v1"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
	otlpv1 "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
	savedatav1 "github.com/graven-rpc/graven/interop/bench/proto/savedata/v1"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Message is a message of protoc-gen-go and vtprotobuf.
type Message interface {
	proto.Message
	SizeVT() int
	MarshalToSizedBufferVT([]byte) (int, error)
	UnmarshalVT([]byte) error
	UnmarshalVTUnsafe([]byte) error
	ReturnToVTPool()
}

// Spec says how a scenario's message is handled as a protobuf message of type M.
type Spec[M Message] struct {
	// Build makes the message from the plain structs.
	Build func() M
	New   func() M
	// Pool takes a message from vtprotobuf's pool.
	Pool func() M
	// Sum and One are those of scenario.Message.
	Sum func(M) uint64
	One func(M) uint64
}

// For calls, of the instances of one generic function, the one for m's type.
func For[R any](
	m scenario.Message,
	onTransaction func(Spec[*scenariosv1.Transaction]) R,
	onFrame func(Spec[*scenariosv1.Frame]) R,
	onTelemetry func(Spec[*scenariosv1.Telemetry]) R,
	onChunk func(Spec[*scenariosv1.Chunk]) R,
	onLogs func(Spec[*logv1.Logs]) R,
	onMesh func(Spec[*meshv1.Mesh]) R,
	onSavedata func(Spec[*savedatav1.Savedata]) R,
	onTraces func(Spec[*otlpv1.TracesData]) R,
) R {
	switch m := m.(type) {
	case *scenario.Transaction:
		return onTransaction(Spec[*scenariosv1.Transaction]{
			Build: func() *scenariosv1.Transaction { return transaction(m) },
			New:   func() *scenariosv1.Transaction { return new(scenariosv1.Transaction) },
			Pool:  scenariosv1.TransactionFromVTPool, Sum: sumTransaction,
			One: func(m *scenariosv1.Transaction) uint64 { return m.Id },
		})
	case *scenario.Frame:
		return onFrame(Spec[*scenariosv1.Frame]{
			Build: func() *scenariosv1.Frame { return frame(m) },
			New:   func() *scenariosv1.Frame { return new(scenariosv1.Frame) },
			Pool:  scenariosv1.FrameFromVTPool, Sum: sumFrame,
			One: func(m *scenariosv1.Frame) uint64 { return uint64(m.Entities[len(m.Entities)/2].Health) },
		})
	case *scenario.Telemetry:
		return onTelemetry(Spec[*scenariosv1.Telemetry]{
			Build: func() *scenariosv1.Telemetry { return telemetry(m) },
			New:   func() *scenariosv1.Telemetry { return new(scenariosv1.Telemetry) },
			Pool:  scenariosv1.TelemetryFromVTPool, Sum: sumTelemetry,
			One: func(m *scenariosv1.Telemetry) uint64 { return scenario.Bits(m.Temperature) },
		})
	case *scenario.Chunk:
		return onChunk(Spec[*scenariosv1.Chunk]{
			Build: func() *scenariosv1.Chunk { return chunk(m) },
			New:   func() *scenariosv1.Chunk { return new(scenariosv1.Chunk) },
			Pool:  scenariosv1.ChunkFromVTPool, Sum: sumChunk,
			One: func(m *scenariosv1.Chunk) uint64 { return m.Seq },
		})
	case *scenario.Logs:
		return onLogs(Spec[*logv1.Logs]{
			Build: func() *logv1.Logs { return logs(m) },
			New:   func() *logv1.Logs { return new(logv1.Logs) },
			Pool:  logv1.LogsFromVTPool, Sum: sumLogs,
			One: func(m *logv1.Logs) uint64 { return uint64(m.Logs[len(m.Logs)/2].Code) },
		})
	case *scenario.Mesh:
		return onMesh(Spec[*meshv1.Mesh]{
			Build: func() *meshv1.Mesh { return mesh(m) },
			New:   func() *meshv1.Mesh { return new(meshv1.Mesh) },
			Pool:  meshv1.MeshFromVTPool, Sum: sumMesh,
			One: func(m *meshv1.Mesh) uint64 { return scenario.Bits(m.Triangles[len(m.Triangles)/2].Normal.X) },
		})
	case *scenario.Savedata:
		return onSavedata(Spec[*savedatav1.Savedata]{
			Build: func() *savedatav1.Savedata { return savedata(m) },
			New:   func() *savedatav1.Savedata { return new(savedatav1.Savedata) },
			Pool:  savedatav1.SavedataFromVTPool, Sum: sumSavedata,
			One: func(m *savedatav1.Savedata) uint64 { return uint64(m.Players[len(m.Players)/2].Score) },
		})
	case *scenario.Traces:
		return onTraces(Spec[*otlpv1.TracesData]{
			Build: func() *otlpv1.TracesData { return m.TracesData },
			New:   func() *otlpv1.TracesData { return new(otlpv1.TracesData) },
			Pool:  otlpv1.TracesDataFromVTPool, Sum: scenario.SumTraces, One: scenario.OneTraces,
		})
	}
	panic("pbmsg: unknown message")
}

// Build makes m's protobuf message.
func Build(m scenario.Message) proto.Message {
	return For(m,
		build[*scenariosv1.Transaction], build[*scenariosv1.Frame], build[*scenariosv1.Telemetry], build[*scenariosv1.Chunk],
		build[*logv1.Logs], build[*meshv1.Mesh], build[*savedatav1.Savedata], build[*otlpv1.TracesData])
}

func build[M Message](s Spec[M]) proto.Message { return s.Build() }
