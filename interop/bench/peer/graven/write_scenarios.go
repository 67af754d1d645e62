package graven

import (
	views "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeTransaction(w *views.TransactionWriter, m *scenario.Transaction) {
	w.SetId(m.ID)
	w.SetTimestamp(m.Timestamp)
	w.SetReference(m.Reference)
	w.SetCurrency(m.Currency)
	l := w.NewEntries(len(m.Entries))
	for i := range m.Entries {
		e := &m.Entries[i]
		l.Set(i, e.Account, e.Amount, e.Memo)
	}
}

func buildTransaction(w *views.TransactionWriter, m *scenario.Transaction) {
	w.SetId(m.ID)
	w.SetTimestamp(m.Timestamp)
	w.SetReference(m.Reference)
	w.SetCurrency(m.Currency)
	l := w.BuildEntries()
	for i := range m.Entries {
		e := &m.Entries[i]
		l.Add(e.Account, e.Amount, e.Memo)
	}
	l.Close()
}

func writeFrame(w *views.FrameWriter, m *scenario.Frame) {
	w.SetTick(m.Tick)
	l := w.NewEntities(len(m.Entities))
	for i := range m.Entities {
		e := &m.Entities[i]
		p, v := vec3(e.Position), vec3(e.Velocity)
		l.Set(i, e.ID, &p, &v, uint32(e.Health), e.Flag)
	}
}

func buildFrame(w *views.FrameWriter, m *scenario.Frame) {
	w.SetTick(m.Tick)
	l := w.BuildEntities()
	for i := range m.Entities {
		e := &m.Entities[i]
		p, v := vec3(e.Position), vec3(e.Velocity)
		l.Add(e.ID, &p, &v, uint32(e.Health), e.Flag)
	}
	l.Close()
}

func vec3(v scenario.Vec3) views.Vec3Value { return views.Vec3Value{X: v.X, Y: v.Y, Z: v.Z} }

func writeTelemetry(w *views.TelemetryWriter, m *scenario.Telemetry) {
	w.Set(m.Device, m.Timestamp, m.Temperature, m.Humidity, uint32(m.Battery))
}

func writeChunk(w *views.ChunkWriter, m *scenario.Chunk) {
	w.Set(m.Stream, m.Seq, m.Last, m.Payload)
}
