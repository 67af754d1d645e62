package codec_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/skew/after"
	"github.com/graven-rpc/graven/codec/layout"
)

// Peers that send what no sane peer sends. Where time is at stake, inputs are so large that
// work which grows with the square of their size would not end within a test.

// allocated is how many bytes f asks the allocator for.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// live is the heap in use once the garbage is gone.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// shapeOf is the shape of fields, which are in order of number.
func shapeOf(fields ...layout.RowField) *layout.Rows { return layout.NewRows(fields) }

func column(number int, code layout.Code) layout.RowField {
	return layout.RowField{Number: int32(number), Storage: layout.Storage{Code: code}}
}

// manyShapes is a list of n rows, each with a child of a shape of its own in which the
// fields are only described.
func manyShapes(n, from int) []byte {
	rows := make([][]corpus.Cell, n)
	for i := range rows {
		k := from + i
		r := shapeOf(column(2, layout.Word), column(100+k%1000, layout.Long), column(2000+k/1000, layout.Blob))
		child := append([]byte{1}, r.Shape...)
		child = append(child, make([]byte, r.Fixed(1))...)
		rows[i] = []corpus.Cell{{Number: 21, Code: 6, Bytes: child}}
	}
	return blockOf(rows...)
}

// A peer that sends ever new shapes costs time and no memory.
func TestSkewShapesAreNotKept(t *testing.T) {
	for _, path := range skewPaths {
		m := path.of(skewFiles[true], "InList")
		number := int(holder(m, path.of(skewFiles[true], "AddedLarge")).Number())
		id := idOf(t, m)
		send := func(from int) {
			body := corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: manyShapes(10_000, from)})
			if err := codec.Unmarshal(corpus.Seal(id, body), m); err != nil {
				t.Fatal(err)
			}
			if n := m.ProtoReflect().Get(holder(m, path.of(skewFiles[true], "AddedLarge"))).List().Len(); n != 10_000 {
				t.Fatalf("%d rows", n)
			}
			proto.Reset(m)
		}
		send(0)
		before := live()
		for i := 1; i < 4; i++ {
			send(i * 10_000)
		}
		if grown := live() - before; grown > 1<<20 {
			t.Errorf("%s: 30,000 shapes later the heap has grown by %d bytes", path.name, grown)
		}
	}
}

// The same with shapes that are as long as any that are kept.
func TestSkewLongShapesAreNotKept(t *testing.T) {
	m := new(after.Added)
	id := idOf(t, m)
	send := func(k int) {
		var fields []layout.RowField
		for n := 100; n < 2600; n++ {
			fields = append(fields, column(n, layout.Byte))
		}
		fields = append(fields, column(3000+k, layout.Byte))
		r := shapeOf(fields...)
		body := append(append([]byte(nil), r.Shape...), make([]byte, r.Fixed(1))...)
		if err := codec.Unmarshal(corpus.Seal(id, body), m); err != nil {
			t.Fatal(err)
		}
	}
	before := live()
	for k := range 300 {
		send(k)
	}
	grown := live() - before
	t.Logf("300 shapes of 1,000 bytes: the heap has grown by %d bytes", grown)
	if grown > 16<<20 {
		t.Errorf("300 shapes later the heap has grown by %d bytes", grown)
	}
}

// hostileBodies are messages of type InList or Added that make a reader work.
func hostileBodies() map[string][]byte {
	all := map[string][]byte{}
	// A shape that describes half a million fields, none of them there.
	var wide []layout.RowField
	for n := 1; n <= 500_000; n++ {
		if n != 19_000 && n != 19_001 {
			wide = append(wide, column(10_000_000+n, layout.Bool))
		}
	}
	r := layout.NewRows(wide)
	all["a shape of many fields"] = append(append([]byte(nil), r.Shape...), make([]byte, r.Fixed(1))...)

	// All of them there, kept for the next peer.
	there := append(append([]byte(nil), r.Shape...), make([]byte, r.Fixed(1))...)
	row := there[len(r.Shape):]
	for i := range r.Fields {
		row[r.Fields[i].Bit/8] |= 1 << (r.Fields[i].Bit % 8)
	}
	all["many fields of another version"] = there

	// A residue of many fields of another version, each a block of its own.
	var residues []byte
	for i := range 50_000 {
		residues = append(residues, carried(four(60+i%1000, 1))...)
	}
	all["many fields 19001"] = corpus.Root(residue(residues))

	// And of many fields that protobuf takes.
	var known []byte
	for range 500_000 {
		known = append(known, varint(4, 1)...)
	}
	all["many fields in a residue"] = corpus.Root(residue(known))
	return all
}

func TestSkewHostileBodies(t *testing.T) {
	for name, body := range hostileBodies() {
		for _, path := range skewPaths {
			m := path.of(skewFiles[true], "Added")
			frame := corpus.Seal(idOf(t, m), body)
			var err error
			bytes := allocated(func() { err = codec.Unmarshal(frame, m) })
			if err != nil {
				t.Errorf("%s, %s: %v", name, path.name, err)
			}
			if limit := int64(codec.DefaultBudget + codec.DefaultBudgetPerByte*len(frame)); bytes > limit {
				t.Errorf("%s, %s: %d bytes allocated for a frame of %d", name, path.name, bytes, len(frame))
			}
			// What was kept is sent on.
			if again, err := codec.Marshal(m); err != nil {
				t.Errorf("%s, %s: %v", name, path.name, err)
			} else if err := codec.Unmarshal(again, m); err != nil {
				t.Errorf("%s, %s: sent on: %v", name, path.name, err)
			}
		}
	}
}

// Rows that cost their sender a few bits: the budget ends it.
func TestSkewBudget(t *testing.T) {
	// A block of a million rows of two fields that no bit sets.
	r := shapeOf(column(1, layout.Bool))
	rows := binary.AppendUvarint(nil, 1_000_000)
	rows = append(rows, r.Shape...)
	rows = append(rows, make([]byte, r.Fixed(1_000_000))...)
	for _, path := range skewPaths {
		m := path.of(skewFiles[true], "InList")
		number := int(holder(m, path.of(skewFiles[true], "Wide")).Number())
		frame := corpus.Seal(idOf(t, m), corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: rows}))
		var err error
		const budget = 8 << 20
		used := allocated(func() { err = codec.Options{Budget: budget}.Unmarshal(frame, m) })
		refused(t, err, codec.ErrBudget)
		if used > 2*budget {
			t.Errorf("%s: %d bytes allocated within a budget of %d", path.name, used, budget)
		}
	}
}

// Fields of another version that take a bit each and far more once they are taken apart. Plans are
// made of a shape in proportion to it, whatever the budget.
func TestSkewBudgetOfKept(t *testing.T) {
	body := hostileBodies()["many fields of another version"]
	for _, path := range skewPaths {
		m := path.of(skewFiles[true], "Added")
		frame := corpus.Seal(idOf(t, m), body)
		const budget = 8 << 20
		limit := 2*budget + 200*int64(len(frame))
		used := allocated(func() {
			if err := (codec.Options{Budget: budget}).Unmarshal(frame, m); err != nil {
				refused(t, err, codec.ErrBudget)
			}
		})
		if used > limit {
			t.Errorf("%s: %d bytes allocated for a frame of %d within a budget of %d", path.name, used, len(frame), budget)
		}
	}
}

// FuzzSkewShapes gives any bytes as shape and rows of a message, of the elements of a list and
// of the values of a map: an error, or a message; no panic, and no more memory
// than the budget, whatever Go type holds the message.
func FuzzSkewShapes(f *testing.F) {
	for _, c := range changes {
		for _, toNew := range []bool{true, false} {
			d := c.toNew
			if !toNew {
				d = c.toOld
			}
			v := parsed(f, skewPaths[0].of(skewFiles[!toNew], c.message), d.write)
			frame := marshal(f, codec.Options{AllowPartial: true}, v)
			number := holder(skewPaths[0].of(skewFiles[true], "InList"), skewPaths[0].of(skewFiles[true], c.message)).Number()
			f.Add(frame[20:len(frame)-4], uint16(number))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, which uint16) {
		list := skewPaths[0].of(skewFiles[true], "InList").ProtoReflect().Descriptor().Fields()
		fd := list.Get(int(which) % list.Len())
		number, name := int(fd.Number()), string(fd.Message().Name())
		one := append([]byte{1}, body...)
		for _, c := range []struct {
			root string
			body []byte
		}{
			{name, body},
			{"InList", corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: body})},
			{"InList", corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: one})},
			{"InMap", corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: blockOf([]corpus.Cell{blob(1, "k"), {Number: 2, Code: 6, Bytes: one}})})},
		} {
			var results [2]string
			for i, path := range skewPaths {
				m := path.of(skewFiles[true], c.root)
				frame := corpus.Seal(idOf(t, m), c.body)
				budget := int64(64<<10 + 64*len(frame))
				var err error
				used := allocated(func() { err = codec.Options{Budget: budget, AllowPartial: true}.Unmarshal(frame, m) })
				if used > 4*budget+1<<20 {
					t.Fatalf("%s: %d bytes allocated within a budget of %d", path.name, used, budget)
				}
				if err == nil {
					results[i] = string(protoBytes(t, m))
					out, err := codec.Options{AllowPartial: true}.Marshal(m)
					if err != nil {
						continue // a number that does not fit the reader's width
					}
					again := empty(m)
					if err := (codec.Options{AllowPartial: true}).Unmarshal(out, again); err != nil {
						t.Fatalf("%s: what was read can't be read again: %v", path.name, err)
					}
					if d := corpus.Diff(m, again); d != "" {
						t.Fatalf("%s: read again\n%s", path.name, d)
					}
				} else {
					results[i] = "error"
				}
			}
			if (results[0] == "error") != (results[1] == "error") {
				t.Fatalf("the paths disagree: %q, %q", results[0], results[1])
			}
		}
	})
}
