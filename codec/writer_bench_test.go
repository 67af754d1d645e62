package codec_test

import (
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
)

// The four messages of the format's own benchmark, written by generated writers.

// writeBank writes a transaction, its entries as a list of known length, row by row.
func writeBank(w *scenariosgraven.TransactionWriter, x *scenarios.Transaction) {
	w.Reset()
	w.SetId(x.Id)
	w.SetTimestamp(x.Timestamp)
	w.SetReference(x.Reference)
	w.SetCurrency(x.Currency)
	l := w.NewEntries(len(x.Entries))
	for i, e := range x.Entries {
		l.Set(i, e.Account, e.Amount, e.Memo)
	}
}

// writeBankFields does so field by field.
func writeBankFields(w *scenariosgraven.TransactionWriter, x *scenarios.Transaction) {
	w.Reset()
	w.SetId(x.Id)
	w.SetTimestamp(x.Timestamp)
	w.SetReference(x.Reference)
	w.SetCurrency(x.Currency)
	l := w.NewEntries(len(x.Entries))
	for i, e := range x.Entries {
		r := l.At(i)
		r.SetAccount(e.Account)
		r.SetAmount(e.Amount)
		if e.Memo != nil {
			r.SetMemo(*e.Memo)
		}
	}
}

// writeBankUnknown does so without knowing how many entries there will be.
func writeBankUnknown(w *scenariosgraven.TransactionWriter, x *scenarios.Transaction) {
	w.Reset()
	w.SetId(x.Id)
	w.SetTimestamp(x.Timestamp)
	w.SetReference(x.Reference)
	w.SetCurrency(x.Currency)
	l := w.BuildEntries()
	for _, e := range x.Entries {
		l.Add(e.Account, e.Amount, e.Memo)
	}
	l.Close()
}

// writeBankBackwards does so with the fields in reverse order.
func writeBankBackwards(w *scenariosgraven.TransactionWriter, x *scenarios.Transaction) {
	w.Reset()
	l := w.NewEntries(len(x.Entries))
	for i, e := range x.Entries {
		l.Set(i, e.Account, e.Amount, e.Memo)
	}
	w.SetCurrency(x.Currency)
	w.SetReference(x.Reference)
	w.SetTimestamp(x.Timestamp)
	w.SetId(x.Id)
}

func vec3(v *scenarios.Vec3) *scenariosgraven.Vec3Value {
	return &scenariosgraven.Vec3Value{X: v.X, Y: v.Y, Z: v.Z}
}

func writeFrame(w *scenariosgraven.FrameWriter, x *scenarios.Frame) {
	w.Reset()
	w.SetTick(x.Tick)
	l := w.NewEntities(len(x.Entities))
	for i, e := range x.Entities {
		l.Set(i, e.Id, vec3(e.Position), vec3(e.Velocity), e.Health, e.Flag)
	}
}

func writeFrameFields(w *scenariosgraven.FrameWriter, x *scenarios.Frame) {
	w.Reset()
	w.SetTick(x.Tick)
	l := w.NewEntities(len(x.Entities))
	for i, e := range x.Entities {
		r := l.At(i)
		r.SetId(e.Id)
		r.SetPosition(*vec3(e.Position))
		r.SetVelocity(*vec3(e.Velocity))
		r.SetHealth(e.Health)
		r.SetFlag(e.Flag)
	}
}

func writeTelemetry(w *scenariosgraven.TelemetryWriter, x *scenarios.Telemetry) {
	w.Reset()
	w.Set(x.Device, x.Timestamp, x.Temperature, x.Humidity, x.Battery)
}

func writeTelemetryFields(w *scenariosgraven.TelemetryWriter, x *scenarios.Telemetry) {
	w.Reset()
	w.SetDevice(x.Device)
	w.SetTimestamp(x.Timestamp)
	w.SetTemperature(x.Temperature)
	w.SetHumidity(*x.Humidity)
	w.SetBattery(x.Battery)
}

func writeChunk(w *scenariosgraven.ChunkWriter, x *scenarios.Chunk) {
	w.Reset()
	w.Set(x.Stream, x.Seq, x.Last, x.Payload)
}

var telemetry = &scenarios.Telemetry{Device: 7, Timestamp: 1234567890123, Temperature: 21.5, Humidity: new(float32), Battery: 99}

func chunk(n int) *scenarios.Chunk {
	return &scenarios.Chunk{Stream: 1, Seq: 2, Last: true, Payload: make([]byte, n)}
}

// writing is a way to write a message with a reused writer.
type writing struct {
	name  string
	write func() // up to sealing
	seal  func() ([]byte, error)
	next  func() error
	into  func() error // seals into a Frame, and releases that
	reset func()
}

func writingOf[V codec.View[V], X any, W interface {
	sealer
	SealInto(*codec.Frame[V]) error
}](name string, w W, x X, write func(W, X)) writing {
	f := new(codec.Frame[V])
	return writing{
		name: name, write: func() { write(w, x) }, seal: w.Seal, next: w.Next, reset: w.Reset,
		into: func() error {
			err := w.SealInto(f)
			f.Release()
			return err
		},
	}
}

func writings() []writing {
	type (
		tx = scenariosgraven.Transaction
		fr = scenariosgraven.Frame
		te = scenariosgraven.Telemetry
		ch = scenariosgraven.Chunk
	)
	tw, fw := new(scenariosgraven.TransactionWriter), new(scenariosgraven.FrameWriter)
	ew, cw := new(scenariosgraven.TelemetryWriter), new(scenariosgraven.ChunkWriter)
	return []writing{
		writingOf[tx]("bank_1", tw, bank(1), writeBank),
		writingOf[tx]("bank_10", tw, bank(10), writeBank),
		writingOf[tx]("bank_100", tw, bank(100), writeBank),
		writingOf[tx]("bank_1/fields", tw, bank(1), writeBankFields),
		writingOf[tx]("bank_10/fields", tw, bank(10), writeBankFields),
		writingOf[tx]("bank_100/fields", tw, bank(100), writeBankFields),
		writingOf[tx]("bank_1/unknown", tw, bank(1), writeBankUnknown),
		writingOf[tx]("bank_10/unknown", tw, bank(10), writeBankUnknown),
		writingOf[tx]("bank_100/unknown", tw, bank(100), writeBankUnknown),
		writingOf[tx]("bank_100/backwards", tw, bank(100), writeBankBackwards),
		writingOf[fr]("frame_10", fw, frame(10), writeFrame),
		writingOf[fr]("frame_500", fw, frame(500), writeFrame),
		writingOf[fr]("frame_500/fields", fw, frame(500), writeFrameFields),
		writingOf[te]("telemetry", ew, telemetry, writeTelemetry),
		writingOf[te]("telemetry/fields", ew, telemetry, writeTelemetryFields),
		writingOf[ch]("chunk_64", cw, chunk(64), writeChunk),
		writingOf[ch]("chunk_65536", cw, chunk(65536), writeChunk),
	}
}

// BenchmarkWrite measures writing alone, and then with each kind of sealing, checksum
// included: the frame borrowed, owned by a Frame that is released at once, in a batch
// of 64.
func BenchmarkWrite(b *testing.B) {
	for _, x := range writings() {
		b.Run(x.name+"/write", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.write()
			}
		})
		b.Run(x.name+"/borrowed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.write()
				if _, err := x.seal(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(x.name+"/owned", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.write()
				if err := x.into(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
