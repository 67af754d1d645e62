package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy/legacygraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
	"github.com/graven-rpc/graven/codec/views/structpbgraven"
	"github.com/graven-rpc/graven/codec/views/timestamppbgraven"
	"github.com/graven-rpc/graven/envelope"
)

// dirty leaves buffers full of 0xAA in the pool, so that a writer that takes one must
// write every byte of its frames.
func dirty() {
	for size := 1 << 10; size <= 64<<10; size *= 2 {
		b := pool.Default.NewShared(size)
		whole := b.Bytes()[:cap(b.Bytes())]
		for i := range whole {
			whole[i] = 0xAA
		}
		b.Free()
	}
}

// Sealed frames are those of Marshal for the four messages of the format's benchmark.
func TestWritersOfScenarios(t *testing.T) {
	for _, w := range writings() {
		t.Run(w.name, func(t *testing.T) {
			w.write()
			got, err := w.seal()
			if err != nil {
				t.Fatal(err)
			}
			var m proto.Message
			switch name := strings.Split(w.name, "/")[0]; name {
			case "bank_1", "bank_10", "bank_100":
				n := 0
				fmt.Sscanf(name, "bank_%d", &n)
				m = bank(n)
			case "frame_10", "frame_500":
				n := 0
				fmt.Sscanf(name, "frame_%d", &n)
				m = frame(n)
			case "telemetry":
				m = telemetry
			default:
				n := 0
				fmt.Sscanf(name, "chunk_%d", &n)
				m = chunk(n)
			}
			if want := marshal(t, codec.Options{}, m); !bytes.Equal(got, want) {
				t.Errorf("the writer gives\n%x\nMarshal\n%x", got, want)
			}
		})
	}
}

func TestWritersAllocateNothing(t *testing.T) {
	for _, w := range writings() {
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, seal := range map[string]func(){
			"borrowed": func() { _, err := w.seal(); must(err) },
			"owned":    func() { must(w.into()) },
			"batched":  func() { must(w.next()); w.reset() },
		} {
			run := func() { w.write(); seal() }
			run()
			run()
			if n := testing.AllocsPerRun(100, run); n != 0 && !poolsAllocate {
				t.Errorf("%s, %s: %v allocations", w.name, name, n)
			}
		}
	}
}

// Four owned messages in flight, each of them released when its turn comes again.
func TestOwnedInFlight(t *testing.T) {
	var w scenariosgraven.TransactionWriter
	var frames [4]codec.Frame[scenariosgraven.Transaction]
	for _, n := range []int{1, 10, 100} {
		x := bank(n)
		i := 0
		run := func() {
			for range 100 {
				f := &frames[i%4]
				i++
				f.Release()
				writeBank(&w, x)
				if err := w.SealInto(f); err != nil {
					t.Fatal(err)
				}
				if f.View().GetEntries().Len() != n {
					t.Fatal("the frame holds something else")
				}
			}
		}
		run()
		if got := testing.AllocsPerRun(10, run) / 100; got >= 0.05 && !poolsAllocate {
			t.Errorf("bank/%d: %v allocations a message", n, got)
		}
	}
}

// An owned frame keeps its bytes, and no more memory than one of its own size would.
func TestOwnedFrames(t *testing.T) {
	var w scenariosgraven.TransactionWriter
	var frames []*codec.Frame[scenariosgraven.Transaction]
	sizes := []int{1, 200, 3, 100, 90, 1000, 2}
	for _, n := range sizes {
		writeBank(&w, bank(n))
		f, err := w.SealFrame()
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if cap(b) > len(b)+len(b)/4+64 {
			t.Errorf("a frame of %d bytes keeps %d", len(b), cap(b))
		}
		frames = append(frames, f)
	}
	writeBank(&w, bank(50))
	if _, err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	for i, n := range sizes {
		m, err := frames[i].View().Message()
		if err != nil || !proto.Equal(m, bank(n)) {
			t.Errorf("frame %d has changed: %v", i, err)
		}
		frames[i].Release()
	}
}

func TestBatch(t *testing.T) {
	var w scenariosgraven.TransactionWriter
	w.Reset()
	var want []proto.Message
	for i := range 50 {
		x := bank(i % 7)
		if len(w.Batch()) != 0 && i == 0 {
			t.Error("a batch that was just begun holds something")
		}
		w.SetId(x.Id)
		w.SetTimestamp(x.Timestamp)
		w.SetReference(x.Reference)
		w.SetCurrency(x.Currency)
		l := w.NewEntries(len(x.Entries))
		for j, e := range x.Entries {
			l.Set(j, e.Account, e.Amount, e.Memo)
		}
		if i%10 == 9 {
			l.At(len(x.Entries)) // past its count
			if err := w.Next(); !errors.Is(err, codec.ErrMisuse) {
				t.Fatal(err)
			}
			continue
		}
		if err := w.Next(); err != nil {
			t.Fatal(err)
		}
		want = append(want, x)
	}
	w.SetId(1) // which is not part of it
	rest := w.Batch()
	for i := range want {
		var frame []byte
		var err error
		if frame, rest, err = envelope.Split(rest, 0); err != nil {
			t.Fatal(err)
		}
		if got := unmarshal(t, codec.Options{}, frame, want[i]); !proto.Equal(got, want[i]) {
			t.Errorf("frame %d holds %v", i, got)
		}
	}
	if len(rest) > 0 {
		t.Errorf("%d bytes behind the last frame", len(rest))
	}
	w.Reset()
	if len(w.Batch()) > 0 {
		t.Error("Reset keeps the batch")
	}
}

// What would corrupt a frame is an error at sealing, and does not hurt the next message.
func TestWriterMisuse(t *testing.T) {
	type (
		repeateds = kitchengraven.RepeatedsWriter
		maps      = kitchengraven.MapsWriter
		choice    = kitchengraven.ChoiceWriter
		narrow    = kitchengraven.NarrowWriter
		mesh      = kitchengraven.MeshWriter
		node      = kitchengraven.NodeWriter
		record    = legacygraven.RecordWriter
	)
	var staleRow kitchengraven.ScalarsRow
	invalid := "\xff"
	long := "a string that is long enough to be looked at word by word\xff"
	cases := []struct {
		name  string
		write any
		kind  codec.Kind
		field protoreflect.FullName
	}{
		{"a row past its count", func(w *repeateds) { w.NewF17(2).At(2) }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a row in front of the first", func(w *repeateds) { w.NewF17(2).At(-1).SetF3(1) }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a row of an empty list", func(w *repeateds) { w.NewF17(0).At(0) }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a whole row past its count", func(w *repeateds) { w.NewF17(1).Set(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false, "", nil, 0) }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a string past its count", func(w *repeateds) { w.NewF14(1).Set(1, "") }, codec.KindMisuse, "kitchen.Repeateds.f14"},
		{"an inline message past its count", func(w *mesh) { w.NewTriangles(1).Set(1, kitchengraven.TriangleValue{}) }, codec.KindMisuse, "kitchen.Mesh.triangles"},
		{"a negative count", func(w *repeateds) { w.NewF17(-1) }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"too many rows", func(w *repeateds) { w.NewF17(1 << 26) }, codec.KindTooLarge, "kitchen.Repeateds.f17"},
		{"two lists open", func(w *repeateds) { w.BuildF17().Append(); w.BuildF18() }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a string while a list is open", func(w *choice) { w.NewNode().BuildChildren(); w.SetAfter("x") }, codec.KindMisuse, "kitchen.Node.children"},
		{"a list that is still open at the end", func(w *repeateds) { w.BuildF17() }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a map that is still open at the end", func(w *maps) { w.BuildF1().Put("x", "y") }, codec.KindMisuse, "kitchen.Maps.f1"},
		{"a list inside one that is closed", func(w *node) {
			l := w.BuildChildren()
			l.Append().BuildChildren()
			l.Close()
		}, codec.KindMisuse, "kitchen.Node.children"},
		{"a row of a list that another one closed", func(w *repeateds) {
			r := w.NewF17(1).At(0)
			w.NewF18(1)
			r.SetF3(1)
		}, codec.KindMisuse, ""},
		{"a string of such a row", func(w *repeateds) {
			r := w.NewF17(1).At(0)
			w.SetF14(nil)
			r.SetF14("x")
		}, codec.KindMisuse, ""},
		{"a list that was closed", func(w *repeateds) { l := w.BuildF17(); l.Close(); l.Append() }, codec.KindMisuse, ""},
		{"a list closed twice", func(w *repeateds) { l := w.BuildF17(); l.Close(); l.Close() }, codec.KindMisuse, ""},
		{"a map that was closed", func(w *maps) { m := w.BuildF1(); m.Close(); m.Put("x", "y") }, codec.KindMisuse, ""},
		{"a list of known length appended to", func(w *repeateds) { w.NewF17(1).Append() }, codec.KindMisuse, "kitchen.Repeateds.f17"},
		{"a row of the message before", func(w *repeateds) {
			staleRow = w.NewF17(1).At(0)
			w.Reset()
			staleRow.SetF14("x")
		}, codec.KindMisuse, ""},
		{"a message opened again", func(w *node) { l := w.NewLeft(); w.NewLeft(); l.SetName("x") }, codec.KindMisuse, ""},
		{"a message of a oneof that another member replaced", func(w *choice) {
			n := w.NewNode()
			w.SetNumber(1)
			n.SetName("x")
		}, codec.KindMisuse, ""},
		{"an unsigned value too wide", func(w *narrow) { w.SetU8(256) }, codec.KindRange, "kitchen.Narrow.u8"},
		{"a signed value too wide", func(w *narrow) { w.SetI16(-32769) }, codec.KindRange, "kitchen.Narrow.i16"},
		{"an enum too wide", func(w *narrow) { w.SetE8(128) }, codec.KindRange, "kitchen.Narrow.e8"},
		{"an optional value too wide", func(w *narrow) { w.SetOpt(256) }, codec.KindRange, "kitchen.Narrow.opt"},
		{"an element too wide", func(w *narrow) { w.SetList([]uint32{1, 65536}) }, codec.KindRange, "kitchen.Narrow.list"},
		{"an appended element too wide", func(w *narrow) { w.AppendList(65536) }, codec.KindRange, "kitchen.Narrow.list"},
		{"a value in an inline message too wide", func(w *mesh) { w.BuildTriangles().Append(kitchengraven.TriangleValue{Tag: 256}) }, codec.KindRange, "kitchen.Triangle.tag"},
		{"a value of a whole row too wide", func(w *scenariosgraven.FrameWriter) { w.NewEntities(1).Set(0, 0, nil, nil, 65536, false) }, codec.KindRange, "scenarios.Entity.health"},
		{"a string that is not UTF-8", func(w *node) { w.SetName(invalid) }, codec.KindUTF8, "kitchen.Node.name"},
		{"a long string that is not UTF-8", func(w *node) { w.SetName(long) }, codec.KindUTF8, "kitchen.Node.name"},
		{"a string of a whole row", func(w *scenariosgraven.TransactionWriter) { w.NewEntries(1).Set(0, 1, 2, &invalid) }, codec.KindUTF8, "scenarios.Entry.memo"},
		{"an element that is not UTF-8", func(w *repeateds) { w.SetF14([]string{"x", long}) }, codec.KindUTF8, "kitchen.Repeateds.f14"},
		{"an appended element", func(w *repeateds) { w.BuildF14().Append(invalid) }, codec.KindUTF8, "kitchen.Repeateds.f14"},
		{"a key that is not UTF-8", func(w *maps) { w.BuildF1().Put(invalid, "") }, codec.KindUTF8, "kitchen.Maps.f1"},
		{"a value that is not UTF-8", func(w *maps) { w.BuildF1().Put("", invalid) }, codec.KindUTF8, "kitchen.Maps.f1"},
		{"a required field that is not set", func(w *record) { w.SetRetries(1) }, codec.KindRequired, "legacy.Record.key"},
		{"a required field of a row", func(w *record) {
			w.SetKey("x")
			l := w.NewItem(2)
			l.At(0).SetN(1)
		}, codec.KindRequired, "legacy.Record.Item.n"},
		{"too many levels", func(w *node) {
			r := w.NodeRow
			for range 10_000 {
				r = r.NewLeft()
			}
		}, codec.KindTooDeep, "kitchen.Node.left"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := reflect.ValueOf(c.write)
			w := reflect.New(f.Type().In(0).Elem())
			s := w.Interface().(sealer)
			s.Reset()
			f.Call([]reflect.Value{w})
			frame, err := s.Seal()
			var e *codec.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Field != c.field || frame != nil {
				t.Fatalf("%v, want kind %v and field %q", err, c.kind, c.field)
			}
			if _, again := s.Seal(); again != err {
				t.Errorf("sealing again gives %v", again)
			}
			s.Reset()
			if _, ok := s.(*record); ok {
				s.(*record).SetKey("")
			}
			if _, err := s.Seal(); err != nil {
				t.Errorf("the next message: %v", err)
			}
		})
	}
}

func TestWriterWithoutMessage(t *testing.T) {
	var w kitchengraven.NodeWriter
	if _, err := w.Seal(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("before Reset: %v", err)
	}
	w.Release()
	w.Reset()
	w.SetName("x")
	if _, err := w.Seal(); err != nil {
		t.Fatal(err)
	}
	w.SetName("y") // does nothing
	if _, err := w.Seal(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("sealed twice: %v", err)
	}
	if _, err := w.SealFrame(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("sealed twice: %v", err)
	}
	w.Release()
	w.SetName("z")
	w.Reset()
	frame, err := w.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if m := unmarshal(t, codec.Options{}, frame, new(kitchen.Node)); !proto.Equal(m, new(kitchen.Node)) {
		t.Errorf("an empty message is %v", m)
	}
}

// As deep as readers go, and no deeper by splicing.
func TestWriterDepth(t *testing.T) {
	var w kitchengraven.NodeWriter
	deep := func(levels int) []byte {
		w.Reset()
		r := w.NodeRow
		for range levels - 1 {
			r = r.NewLeft()
		}
		frame, err := w.Seal()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(frame)
	}
	if err := codec.Unmarshal(deep(10_000), new(kitchen.Node)); err != nil {
		t.Error(err)
	}
	f, err := codec.Open[kitchengraven.Node](deep(6_000))
	if err != nil {
		t.Fatal(err)
	}
	for levels, want := range map[int]codec.Kind{4_000: 0, 4_001: codec.KindTooDeep} {
		w.Reset()
		r := w.NodeRow
		for range levels - 1 {
			r = r.NewLeft()
		}
		r.SpliceRight(f.View())
		frame, err := w.Seal()
		var e *codec.Error
		if got := errors.As(err, &e); got != (want != 0) || got && (e.Kind != want || e.Field != "kitchen.Node.right") {
			t.Errorf("%d levels: %v", levels, err)
		}
		if err == nil {
			if err := codec.Unmarshal(frame, new(kitchen.Node)); err != nil {
				t.Error(err)
			}
		}
	}
}

// What is spliced in stands as it came: elided, or of another version.
func TestSplice(t *testing.T) {
	wide := &kitchen.Wide{F3: 7, Child: &kitchen.Wide{F6: "six", Kids: []*kitchen.Wide{{F1: 1}, {}}}, Kids: []*kitchen.Wide{{F7: "seven"}, {}, {F8: "eight", F13: 13}}}
	f, err := codec.Open[kitchengraven.Wide](marshal(t, codec.Options{}, wide))
	if err != nil {
		t.Fatal(err)
	}
	var w kitchengraven.WideWriter
	w.Reset()
	w.SpliceChild(f.View().GetChild())
	w.SpliceKids(f.View().GetKids())
	one, err := w.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := unmarshal(t, codec.Options{}, one, wide), (&kitchen.Wide{Child: wide.Child, Kids: wide.Kids}); !proto.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// Single rows of a list as messages, and what is absent.
	for i, kid := range wide.Kids {
		w.Reset()
		w.NewChild().SpliceChild(f.View().GetKids().At(i))
		w.SpliceKids(f.View().GetKids().At(1).GetKids())
		frame, err := w.Seal()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := unmarshal(t, codec.Options{}, frame, wide), (&kitchen.Wide{Child: &kitchen.Wide{Child: kid}}); !proto.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	w.Reset()
	w.NewChild().SetF1(1)
	w.SpliceChild(f.View().GetKids().At(1).GetChild())
	frame, err := w.Seal()
	if err != nil {
		t.Fatal(err)
	}
	if got := unmarshal(t, codec.Options{}, frame, wide); !proto.Equal(got, new(kitchen.Wide)) {
		t.Errorf("an absent message makes %v", got)
	}
	// Nothing is decoded.
	if n := testing.AllocsPerRun(100, func() {
		w.Reset()
		w.SpliceChild(f.View().GetChild())
		w.SpliceKids(f.View().GetKids())
		if _, err := w.Seal(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 && !poolsAllocate {
		t.Errorf("splicing makes %v allocations", n)
	}
}

func TestWriteWellKnown(t *testing.T) {
	var w timestamppbgraven.TimestampWriter
	w.Reset()
	w.Set(1, 2)
	frame, err := w.Seal()
	if err != nil {
		t.Fatal(err)
	}
	want := &timestamppb.Timestamp{Seconds: 1, Nanos: 2}
	if got := unmarshal(t, codec.Options{}, frame, want); !proto.Equal(got, want) {
		t.Errorf("%v", got)
	}
	var s structpbgraven.StructWriter
	s.Reset()
	fields := s.BuildFields()
	fields.Put("b").SetNumberValue(1)
	list := fields.Put("a").NewListValue().BuildValues()
	list.Append().SetBoolValue(true)
	list.Append().SetStringValue("x")
	list.Close()
	fields.Put("b").SetStringValue("twice")
	fields.Close()
	f, err := s.SealFrame()
	if err != nil {
		t.Fatal(err)
	}
	if got := f.View().String(); !strings.Contains(got, "twice") || strings.Contains(got, "number_value") {
		t.Error(got)
	}
}

// Calls at random, of all handles that ever were: a frame that is sealed is valid.
func TestWritersAtRandom(t *testing.T) {
	rounds := tries(400)
	sealed := 0
	for n, typ := range writtenTypes() {
		md := typ.message.ProtoReflect().Descriptor()
		x := empty(typ.message)
		v := corpus.Values{R: corpus.Rand(uint64(n)), Depth: 3, Size: 20}
		v.Fill(x.ProtoReflect())
		view, err := typ.view(marshal(t, codec.Options{}, x))
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			r := corpus.Rand(uint64(n)<<32 + uint64(round))
			typ.writer.Reset()
			handles := []reflect.Value{reflect.ValueOf(typ.writer).Elem().Field(0)}
			views := []reflect.Value{reflect.ValueOf(view)}
			for range r.IntN(60) {
				h := handles[r.IntN(len(handles))]
				if r.IntN(3) > 0 {
					h = handles[len(handles)-1]
				}
				if h.NumMethod() == 0 {
					continue
				}
				m := h.Method(r.IntN(h.NumMethod()))
				if h.Type().Method(0).Name == "Γwrites" && h.NumMethod() == 1 {
					continue
				}
				for _, out := range callRandomly(r, m, &views) {
					if out.NumMethod() > 0 && out.Kind() == reflect.Struct {
						handles = append(handles, out)
					}
				}
			}
			if r.IntN(2) == 0 {
				// Close what is open, so that more of it can be sealed.
				for i := len(handles) - 1; i > 0; i-- {
					if m := handles[i].MethodByName("Close"); m.IsValid() && r.IntN(8) > 0 {
						m.Call(nil)
					}
				}
			}
			frame, err := typ.writer.Seal()
			if err != nil {
				var e *codec.Error
				if !errors.As(err, &e) {
					t.Fatalf("%s: %v", md.FullName(), err)
				}
				continue
			}
			sealed++
			if err := corpus.Verify(md, frame, nil); err != nil {
				t.Fatalf("%s, round %d: %v\n%x", md.FullName(), round, err, frame)
			}
			unmarshal(t, codec.Options{}, frame, typ.message)
		}
	}
	if sealed < rounds {
		t.Errorf("only %d frames were sealed", sealed)
	}
}

// callRandomly calls a method with random arguments; views are what may be spliced.
func callRandomly(r *rand.Rand, m reflect.Value, views *[]reflect.Value) []reflect.Value {
	var args []reflect.Value
	for i := range m.Type().NumIn() {
		in := m.Type().In(i)
		if v := findView(r, in, views); v.IsValid() {
			args = append(args, v)
			continue
		}
		args = append(args, randomArg(r, in, 0))
	}
	if m.Type().IsVariadic() {
		return m.CallSlice(args)
	}
	return m.Call(args)
}

// findView finds a view of a type by getters from those that there are.
func findView(r *rand.Rand, t reflect.Type, views *[]reflect.Value) reflect.Value {
	if t.Kind() != reflect.Struct || t.NumMethod() == 0 {
		return reflect.Value{}
	}
	for range 30 {
		v := (*views)[r.IntN(len(*views))]
		if v.Type() == t {
			return v
		}
		i := r.IntN(max(1, v.NumMethod()))
		if v.NumMethod() == 0 || !strings.HasPrefix(v.Type().Method(i).Name, "Get") || v.Method(i).Type().NumIn() > 0 {
			continue
		}
		if out := v.Method(i).Call(nil)[0]; out.Kind() == reflect.Struct {
			*views = append(*views, out)
		}
	}
	return reflect.Value{}
}

func randomArg(r *rand.Rand, t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(int64(r.IntN(5)) - r.Int64N(8)/7)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(256) - 128))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.IntN(300)) * uint64(r.IntN(20)) / 20)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(r.IntN(3)))
	case reflect.String:
		v.SetString([]string{"", "a", "zwölf", "a longer string of some words"}[r.IntN(4)])
		if r.IntN(60) == 0 {
			v.SetString("\xff")
		}
	case reflect.Slice:
		if n := r.IntN(5); n > 0 {
			v.Set(reflect.MakeSlice(t, 0, n))
			for range n {
				if t.Elem().Kind() == reflect.Uint8 {
					v.Set(reflect.Append(v, reflect.ValueOf(byte(r.IntN(256)))))
				} else {
					v.Set(reflect.Append(v, randomArg(r, t.Elem(), depth+1)))
				}
			}
		}
	case reflect.Pointer:
		if r.IntN(2) == 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(randomArg(r, t.Elem(), depth+1))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(randomArg(r, t.Field(i).Type, depth+1))
			}
		}
	}
	return v
}
