package codec_test

import (
	"slices"
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
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

// elided has the fields of m that are named, at every depth.
func elided(m proto.Message, names ...protoreflect.Name) proto.Message {
	m = proto.Clone(m)
	keep(m.ProtoReflect(), names)
	return m
}

func keep(m protoreflect.Message, names []protoreflect.Name) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case !slices.Contains(names, fd.Name()):
			m.Clear(fd)
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				keep(v.List().Get(i).Message(), names)
			}
		}
		return true
	})
}

func TestReadingElidedAllocatesNothing(t *testing.T) {
	for i, m := range []proto.Message{
		elided(readings[0].m, "entries", "amount"),
		elided(readings[1].m, "entities", "id", "flag"),
		elided(readings[2].m, "battery"),
		elided(readings[3].m, "payload"),
	} {
		t.Run(readings[i].name, func(t *testing.T) {
			frame := marshal(t, codec.Options{}, m)
			var c codec.Counters
			if unmarshal(t, codec.Options{Counters: &c}, frame, m); c.OtherShape.Load() != 1 {
				t.Error("nothing was left out of the frame")
			}
			if n := allocations(t, readings[i].read(t, frame)); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// newer are the messages of scenarios.proto with fields below, between and above those that they had.
const newer = `syntax = "proto3"; package scenarios; import "graven/options.proto";
	message Transaction { string region = 6; uint64 id = 1; int64 timestamp = 2; string reference = 3; string currency = 4; repeated Entry entries = 5; uint32 flags = 9; }
	message Entry { uint64 account = 1; int64 amount = 2; optional string memo = 3; uint64 batch = 4; string note = 7; }
	message Frame { uint64 tick = 1; repeated Entity entities = 2; map<string, Entity> named = 4; }
	message Entity { uint32 id = 1; Vec3 position = 2; Vec3 velocity = 3; uint32 health = 4 [(graven.field).width = 16]; bool flag = 5; bool away = 6; string name = 7; }
	message Vec3 { option (graven.message).inline = true; float x = 1; float y = 2; float z = 3; }
	message Telemetry { uint32 device = 1; uint64 timestamp = 2; float temperature = 3; optional float humidity = 4; uint32 battery = 5 [(graven.field).width = 8]; optional double pressure = 6; string site = 7; }
	message Chunk { uint32 stream = 1; uint64 seq = 2; bool last = 3; bytes payload = 4; bytes digest = 5; uint64 total = 6; }`

// addNew sets the fields of m that the older version has not.
func addNew(m protoreflect.Message, older protoreflect.MessageDescriptor) {
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		was := older.Fields().ByNumber(fd.Number())
		switch {
		case was != nil && fd.IsList():
			for i := range m.Get(fd).List().Len() {
				addNew(m.Get(fd).List().Get(i).Message(), was.Message())
			}
		case was != nil:
		case fd.IsMap():
			m.Mutable(fd).Map().Mutable(protoreflect.ValueOfString("x").MapKey())
		case fd.Kind() == protoreflect.StringKind:
			m.Set(fd, protoreflect.ValueOfString("new"))
		case fd.Kind() == protoreflect.BytesKind:
			m.Set(fd, protoreflect.ValueOfBytes([]byte("new")))
		case fd.Kind() == protoreflect.BoolKind:
			m.Set(fd, protoreflect.ValueOfBool(true))
		case fd.Kind() == protoreflect.DoubleKind:
			m.Set(fd, protoreflect.ValueOfFloat64(7))
		case fd.Kind() == protoreflect.Uint32Kind:
			m.Set(fd, protoreflect.ValueOfUint32(7))
		default:
			m.Set(fd, protoreflect.ValueOfUint64(7))
		}
	}
}

// Frames of another version are read in place, and give what those of this one do.
func TestReadingAnotherVersionAllocatesNothing(t *testing.T) {
	set := compile(t, newer)
	for _, x := range readings[:4] {
		t.Run(x.name, func(t *testing.T) {
			older := x.m.ProtoReflect().Descriptor()
			m := newMessage(t, set, older.FullName())
			raw, err := proto.Marshal(x.m)
			if err != nil {
				t.Fatal(err)
			}
			if err := proto.Unmarshal(raw, m); err != nil {
				t.Fatal(err)
			}
			addNew(m, older)
			frame := marshal(t, codec.Options{}, m)
			var c codec.Counters
			if unmarshal(t, codec.Options{Counters: &c}, frame, x.m); c.OtherVersion.Load() != 1 || c.OtherShape.Load() != 1 {
				t.Error("the frame is of this version")
			}
			read, readOwn := x.read(t, frame), x.read(t, marshal(t, codec.Options{}, x.m))
			before := readSum
			read()
			between := readSum
			readOwn()
			if got, want := between-before, readSum-between; got != want {
				t.Errorf("sum %d, want %d", got, want)
			}
			if n := allocations(t, read); n != 0 {
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
