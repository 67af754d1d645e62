package codec_test

import (
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
	"google.golang.org/protobuf/proto"
)

func readTransaction(v scenariosgraven.Transaction) (sum uint64) {
	sum = v.GetId() + uint64(v.GetTimestamp()) + uint64(len(v.GetReference())+len(v.GetCurrency()))
	for e := range v.GetEntries().All() {
		sum += e.GetAccount() + uint64(e.GetAmount())
		if e.HasMemo() {
			sum += uint64(len(e.GetMemo()))
		}
	}
	return sum
}

func readFrame(v scenariosgraven.Frame) (sum uint64) {
	sum = v.GetTick()
	var at float32
	for e := range v.GetEntities().All() {
		p, q := e.GetPosition(), e.GetVelocity()
		at += p.GetX() + p.GetY() + p.GetZ() + q.GetX() + q.GetY() + q.GetZ()
		sum += uint64(e.GetId()) + uint64(e.GetHealth())
		if e.GetFlag() {
			sum++
		}
	}
	return sum + uint64(at)
}

func readTelemetry(v scenariosgraven.Telemetry) (sum uint64) {
	if v.HasHumidity() {
		sum = uint64(v.GetHumidity())
	}
	return sum + uint64(v.GetDevice()) + v.GetTimestamp() + uint64(v.GetTemperature()) + uint64(v.GetBattery())
}

func readChunk(v scenariosgraven.Chunk) (sum uint64) {
	if v.GetLast() {
		sum = 1
	}
	return sum + uint64(v.GetStream()) + v.GetSeq() + uint64(len(v.GetPayload()))
}

func readMaps(v kitchengraven.Maps) (sum uint64) {
	for k, x := range v.GetF1().All() {
		sum += uint64(len(k) + len(x))
	}
	for k, x := range v.GetF2().All() {
		sum += uint64(k) + uint64(x)
	}
	for k, x := range v.GetF4().All() {
		sum += k + uint64(x.GetF3()) + uint64(len(x.GetF14()))
	}
	for k, x := range v.GetF5().All() {
		sum += uint64(len(k)) + uint64(x)
	}
	if x, ok := v.GetF4().Get(70); ok {
		sum += x.GetF6()
	}
	if x, ok := v.GetF1().Get("key 7"); ok {
		sum += uint64(len(x))
	}
	return sum
}

func readLists(v kitchengraven.Repeateds) (sum uint64) {
	for x := range v.GetF1().All() {
		sum += uint64(x)
	}
	for x := range v.GetF3().All() {
		sum += uint64(x)
	}
	for x := range v.GetF13().All() {
		if x {
			sum++
		}
	}
	for x := range v.GetF14().All() {
		sum += uint64(len(x))
	}
	for x := range v.GetF15().All() {
		sum += uint64(len(x))
	}
	for x := range v.GetF16().All() {
		sum += uint64(x)
	}
	l := v.GetF17()
	for i := range l.Len() {
		sum += l.At(i).GetF6() + uint64(len(l.At(i).GetF14()))
	}
	buf := [16]float64{}
	return sum + uint64(len(v.GetF1().AppendTo(buf[:0])))
}

func readNodes(v kitchengraven.Node) (n int) {
	n = len(v.GetName())
	l := v.GetChildren()
	for i := range l.Len() {
		n += readNodes(l.At(i))
	}
	return n
}

// readWide is a loop in a loop in a loop, with a body too large to be inlined.
func readWide(v kitchengraven.Wide) (sum uint64) {
	for a := range v.GetKids().All() {
		sum += a.GetF1() + a.GetF2() + uint64(len(a.GetF6())+len(a.GetF7())+len(a.GetF8()))
		kids := a.GetKids()
		for i := range kids.Len() {
			b := kids.At(i)
			sum += b.GetF1() + b.GetF2() + uint64(len(b.GetF6())+len(b.GetF7())+len(b.GetF8()))
			deeper := b.GetKids()
			for j := range deeper.Len() {
				c := deeper.At(j)
				sum += c.GetF1() + c.GetF2() + c.GetF5() + uint64(len(c.GetF6())+len(c.GetF7())+len(c.GetF8()))
			}
		}
	}
	return sum
}

var readSum uint64

func kitchenMaps() *kitchen.Maps {
	m := &kitchen.Maps{F1: map[string]string{}, F2: map[int32]float64{}, F4: map[uint64]*kitchen.Scalars{}, F5: map[string]kitchen.Color{"a": 1, "b": -7}}
	for i := range 20 {
		m.F1["key "+string(rune('a'+i))] = "value"
		m.F1["key 7"] = "seven"
		m.F2[int32(-i)] = float64(i)
		m.F4[uint64(10*i)] = &kitchen.Scalars{F6: uint64(i), F14: "text"}
	}
	return m
}

func wideTree(depth int) *kitchen.Wide {
	w := &kitchen.Wide{F1: 1, F6: "six", F8: "eight"}
	if depth > 0 {
		for range 3 {
			w.Kids = append(w.Kids, wideTree(depth-1))
		}
	}
	return w
}

// reading is a message with what opens its frame, in place, and reads it.
type reading struct {
	name string
	m    proto.Message
	read func(t testing.TB, frame []byte) func()
}

// openAndRead opens frames in one Frame, again and again.
func openAndRead[V codec.View[V]](read func(V)) func(testing.TB, []byte) func() {
	return func(t testing.TB, frame []byte) func() {
		f := new(codec.Frame[V])
		return func() {
			if err := f.Open(frame, codec.Options{}); err != nil {
				t.Fatal(err)
			}
			read(f.View())
		}
	}
}

var readings = []reading{
	{"bank_100", bank(100), openAndRead(func(v scenariosgraven.Transaction) { readSum += readTransaction(v) })},
	{"frame_500", frame(500), openAndRead(func(v scenariosgraven.Frame) { readSum += readFrame(v) })},
	{"telemetry", benchmarks[4].message, openAndRead(func(v scenariosgraven.Telemetry) { readSum += readTelemetry(v) })},
	{"chunk_65536", benchmarks[5].message, openAndRead(func(v scenariosgraven.Chunk) { readSum += readChunk(v) })},
	{"elided", &scenarios.Telemetry{Battery: 1}, openAndRead(func(v scenariosgraven.Telemetry) { readSum += readTelemetry(v) })},
	{"maps", kitchenMaps(), openAndRead(func(v kitchengraven.Maps) { readSum += readMaps(v) })},
	{"lists", &kitchen.Repeateds{
		F1: []float64{1, 2}, F3: []int32{1, 2, 3}, F13: []bool{true, false}, F14: []string{"a", "", "ccc"}, F15: [][]byte{{1}, {2, 3}},
		F16: []kitchen.Color{1, -7}, F17: []*kitchen.Scalars{{F14: "x"}, {F6: 6}},
	}, openAndRead(func(v kitchengraven.Repeateds) { readSum += readLists(v) })},
	{"nested", wideTree(3), openAndRead(func(v kitchengraven.Wide) { readSum += readWide(v) })},
	{"tree", &kitchen.Node{Name: "a", Children: []*kitchen.Node{{Name: "b", Children: []*kitchen.Node{{}, {Name: "c"}}}, {Name: "d"}}},
		openAndRead(func(v kitchengraven.Node) { readSum += uint64(readNodes(v)) })},
}

// allocations is AllocsPerRun where nothing but the code itself allocates.
func allocations(t *testing.T, f func()) float64 {
	t.Helper()
	if !mem.Unsafe {
		t.Skip("strings of views are copies here")
	}
	if pool.Debug {
		t.Skip("frames note where they were opened")
	}
	return testing.AllocsPerRun(100, f)
}

func TestReadingAllocatesNothing(t *testing.T) {
	for _, x := range readings {
		t.Run(x.name, func(t *testing.T) {
			if n := allocations(t, x.read(t, marshal(t, codec.Options{}, x.m))); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkView(b *testing.B) {
	for _, x := range readings {
		frame := marshal(b, codec.Options{}, x.m)
		b.Run(x.name, func(b *testing.B) {
			open := x.read(b, frame)
			b.ReportAllocs()
			for b.Loop() {
				open()
			}
		})
	}
}
