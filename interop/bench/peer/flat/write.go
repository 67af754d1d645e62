package flat

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/graven-rpc/graven/interop/bench/fb"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// writer is a builder with room for the offsets of the tables of a list.
type writer struct {
	*flatbuffers.Builder
	offs []flatbuffers.UOffsetT
}

func (w *writer) offsets(n int) []flatbuffers.UOffsetT {
	if cap(w.offs) < n {
		w.offs = make([]flatbuffers.UOffsetT, n)
	}
	return w.offs[:n]
}

// vector ends a list that was started with the generated Start function.
func (w *writer) vector(offs []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	for i := len(offs) - 1; i >= 0; i-- {
		w.PrependUOffsetT(offs[i])
	}
	return w.EndVector(len(offs))
}

func (w *writer) transaction(m *scenario.Transaction) []byte {
	b := w.Builder
	b.Reset()
	offs := w.offsets(len(m.Entries))
	for i := range m.Entries {
		e := &m.Entries[i]
		var memo flatbuffers.UOffsetT
		if e.Memo != nil {
			memo = b.CreateString(*e.Memo)
		}
		fb.EntryStart(b)
		fb.EntryAddAccount(b, e.Account)
		fb.EntryAddAmount(b, e.Amount)
		if e.Memo != nil {
			fb.EntryAddMemo(b, memo)
		}
		offs[i] = fb.EntryEnd(b)
	}
	fb.TransactionStartEntriesVector(b, len(offs))
	entries := w.vector(offs)
	reference, currency := b.CreateString(m.Reference), b.CreateString(m.Currency)
	fb.TransactionStart(b)
	fb.TransactionAddId(b, m.ID)
	fb.TransactionAddTimestamp(b, m.Timestamp)
	fb.TransactionAddReference(b, reference)
	fb.TransactionAddCurrency(b, currency)
	fb.TransactionAddEntries(b, entries)
	b.Finish(fb.TransactionEnd(b))
	return b.FinishedBytes()
}

func (w *writer) frame(m *scenario.Frame) []byte {
	b := w.Builder
	b.Reset()
	offs := w.offsets(len(m.Entities))
	for i := range m.Entities {
		e := &m.Entities[i]
		fb.EntityStart(b)
		fb.EntityAddPosition(b, fb.CreateVec3(b, e.Position.X, e.Position.Y, e.Position.Z))
		fb.EntityAddVelocity(b, fb.CreateVec3(b, e.Velocity.X, e.Velocity.Y, e.Velocity.Z))
		fb.EntityAddId(b, e.ID)
		fb.EntityAddHealth(b, e.Health)
		fb.EntityAddFlag(b, e.Flag)
		offs[i] = fb.EntityEnd(b)
	}
	fb.FrameStartEntitiesVector(b, len(offs))
	entities := w.vector(offs)
	fb.FrameStart(b)
	fb.FrameAddTick(b, m.Tick)
	fb.FrameAddEntities(b, entities)
	b.Finish(fb.FrameEnd(b))
	return b.FinishedBytes()
}

func (w *writer) frameOfStructs(m *scenario.Frame) []byte {
	b := w.Builder
	b.Reset()
	fb.FrameSStartEntitiesVector(b, len(m.Entities))
	for i := len(m.Entities) - 1; i >= 0; i-- {
		e := &m.Entities[i]
		p, v := &e.Position, &e.Velocity
		fb.CreateEntityS(b, e.ID, p.X, p.Y, p.Z, v.X, v.Y, v.Z, e.Health, e.Flag)
	}
	entities := b.EndVector(len(m.Entities))
	fb.FrameSStart(b)
	fb.FrameSAddTick(b, m.Tick)
	fb.FrameSAddEntities(b, entities)
	b.Finish(fb.FrameSEnd(b))
	return b.FinishedBytes()
}

func (w *writer) telemetry(m *scenario.Telemetry) []byte {
	b := w.Builder
	b.Reset()
	fb.TelemetryStart(b)
	fb.TelemetryAddTimestamp(b, m.Timestamp)
	fb.TelemetryAddDevice(b, m.Device)
	fb.TelemetryAddTemperature(b, m.Temperature)
	if m.Humidity != nil {
		fb.TelemetryAddHumidity(b, *m.Humidity)
	}
	fb.TelemetryAddBattery(b, m.Battery)
	b.Finish(fb.TelemetryEnd(b))
	return b.FinishedBytes()
}

func (w *writer) chunk(m *scenario.Chunk) []byte {
	b := w.Builder
	b.Reset()
	payload := b.CreateByteVector(m.Payload)
	fb.ChunkStart(b)
	fb.ChunkAddSeq(b, m.Seq)
	fb.ChunkAddStream(b, m.Stream)
	fb.ChunkAddPayload(b, payload)
	fb.ChunkAddLast(b, m.Last)
	b.Finish(fb.ChunkEnd(b))
	return b.FinishedBytes()
}

func (w *writer) logs(m *scenario.Logs) []byte {
	b := w.Builder
	b.Reset()
	offs := w.offsets(len(m.Logs))
	for i := range m.Logs {
		l := &m.Logs[i]
		identity, user, date, request := b.CreateString(l.Identity), b.CreateString(l.UserID), b.CreateString(l.Date), b.CreateString(l.Request)
		fb.LogStart(b)
		fb.LogAddSize(b, l.Size)
		fb.LogAddIdentity(b, identity)
		fb.LogAddUserid(b, user)
		fb.LogAddDate(b, date)
		fb.LogAddRequest(b, request)
		fb.LogAddAddress(b, fb.CreateAddress(b, l.Address.X0, l.Address.X1, l.Address.X2, l.Address.X3))
		fb.LogAddCode(b, l.Code)
		offs[i] = fb.LogEnd(b)
	}
	fb.LogsStartLogsVector(b, len(offs))
	logs := w.vector(offs)
	fb.LogsStart(b)
	fb.LogsAddLogs(b, logs)
	b.Finish(fb.LogsEnd(b))
	return b.FinishedBytes()
}

func (w *writer) mesh(m *scenario.Mesh) []byte {
	b := w.Builder
	b.Reset()
	fb.MeshStartTrianglesVector(b, len(m.Triangles))
	for i := len(m.Triangles) - 1; i >= 0; i-- {
		t := &m.Triangles[i]
		fb.CreateTriangle(b, t.V0.X, t.V0.Y, t.V0.Z, t.V1.X, t.V1.Y, t.V1.Z,
			t.V2.X, t.V2.Y, t.V2.Z, t.Normal.X, t.Normal.Y, t.Normal.Z)
	}
	triangles := b.EndVector(len(m.Triangles))
	fb.MeshStart(b)
	fb.MeshAddTriangles(b, triangles)
	b.Finish(fb.MeshEnd(b))
	return b.FinishedBytes()
}
