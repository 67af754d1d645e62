package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/skew/after"
	"github.com/graven-rpc/graven/codec/layout"
)

// residueDepths put a row at the root, between two empty rows of a list, and behind a key.
var residueDepths = []struct {
	name string
	root string // message type of the frame, "" for the row's own
	body func(number int, row []corpus.Cell) []byte
}{
	{"root", "", func(_ int, row []corpus.Cell) []byte { return corpus.Root(row...) }},
	{"list", "InList", func(number int, row []corpus.Cell) []byte {
		return corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: blockOf(nil, row, nil)})
	}},
	{"map value", "InMap", func(number int, row []corpus.Cell) []byte {
		entry := []corpus.Cell{blob(1, "k"), {Number: 2, Code: 6, Bytes: corpus.Block(row)}}
		return corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: corpus.Block(entry)})
	}},
}

// blockOf is a block of rows, each of which has the fields that it has.
func blockOf(rows ...[]corpus.Cell) []byte {
	cells := map[int]corpus.Cell{}
	for _, row := range rows {
		for _, c := range row {
			cells[c.Number] = c
		}
	}
	var fields []layout.RowField
	for n, c := range cells {
		fields = append(fields, layout.RowField{Number: int32(n), Storage: layout.Storage{Code: layout.Code(c.Code), K: uint8(c.K), E: uint8(c.E)}})
	}
	slices.SortFunc(fields, func(a, b layout.RowField) int { return int(a.Number - b.Number) })
	r := layout.NewRows(fields)
	var fixed, tail []byte
	for _, cellsOfRow := range rows {
		row := make([]byte, r.Stride)
		has := map[int]corpus.Cell{}
		for _, c := range cellsOfRow {
			has[c.Number] = c
		}
		for _, f := range r.Fields {
			c, ok := has[int(f.Number)]
			if ok {
				row[f.Bit/8] |= 1 << (f.Bit % 8)
			}
			switch {
			case f.Variable():
				tail = append(tail, c.Bytes...)
				binary.LittleEndian.PutUint32(row[f.Off:], uint32(len(tail)))
			case f.Code == layout.Bool && c.On:
				row[(f.Bit+1)/8] |= 1 << ((f.Bit + 1) % 8)
			default:
				copy(row[f.Off:], c.Bytes)
			}
		}
		fixed = append(fixed, row...)
	}
	block := append(binary.AppendUvarint(nil, uint64(len(rows))), r.Shape...)
	block = append(block, fixed[:r.Fixed(uint64(len(rows)))]...)
	return append(block, tail...)
}

// inside finds the message that a depth wrapped.
func inside(m protoreflect.Message) protoreflect.Message {
	name := m.Descriptor().Name()
	var found protoreflect.Message
	m.Range(func(_ protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch name {
		case "InList":
			found = v.List().Get(1).Message()
		case "InMap":
			found = v.Map().Get(protoreflect.ValueOfString("k").MapKey()).Message()
		}
		return false
	})
	if found == nil {
		return m
	}
	return found
}

// What a residue and the fields of another version in it make of a message, wherever
// it stands, on all paths.
func TestSkewResidues(t *testing.T) {
	one := func(b ...byte) []byte { return field(carriedNumber, b) }
	leaf := func(number int, cells ...corpus.Cell) corpus.Cell {
		return corpus.Cell{Number: number, Code: 6, Bytes: corpus.Block(cells)}
	}
	named := func(n int32, name string) []byte {
		return protoBytes(t, &after.Leaf{Name: name, N: n})
	}
	flag := corpus.Cell{Number: 3, Code: 1, On: true}
	for _, c := range []struct {
		what    string
		message string
		row     []corpus.Cell
		read    string // the message as JSON
		kept    []byte // its unknown fields
		refused error
	}{
		// Known fields in a residue.
		{"a known field", "Added", []corpus.Cell{residue(varint(4, 7))}, `{"d":7}`, nil, nil},
		{"over the row's", "Added", []corpus.Cell{four(4, 1), residue(varint(4, 2), varint(4, 7))}, `{"d":7}`, nil, nil},
		{"a zero over the row's", "Added", []corpus.Cell{four(4, 1), residue(varint(4, 0))}, unset, nil, nil},
		{"a known number of another wire type", "Added", []corpus.Cell{four(4, 1), residue(field(4, []byte("x")))}, `{"d":1}`, field(4, []byte("x")), nil},
		{"a list grows", "AddedLarge", []corpus.Cell{{Number: 1, Code: 7, Bytes: []byte{1, 'p'}}, residue(field(1, []byte("q")))}, `{"a":["p","q"]}`, nil, nil},
		{"a packed list grows", "AddedLarge", []corpus.Cell{{Number: 401, Code: 7, E: 4, Bytes: u32(5)}, residue(field(401, []byte{1, 4}))}, `{"f":[5,-1,2]}`, nil, nil},
		{"messages are merged", "AddedLarge", []corpus.Cell{leaf(21, blob(1, "row"), four(2, 1)), residue(field(21, named(9, "")))}, `{"d":{"name":"row","n":9}}`, nil, nil},
		{"a list of messages grows", "AddedLarge", []corpus.Cell{leaf(400, four(2, 1)), residue(field(400, named(2, "x")))}, `{"e":[{"n":1},{"name":"x","n":2}]}`, nil, nil},
		{"a map's value is replaced", "AddedLarge", []corpus.Cell{leaf(2, blob(1, "k"), leaf(2, four(2, 1))), residue(field(2, append(field(1, []byte("k")), field(2, named(0, "x"))...)))},
			`{"c":{"k":{"name":"x"}}}`, nil, nil},
		{"an inline message is merged", "AddedLarge", []corpus.Cell{{Number: 403, Code: 7, K: 8, Bytes: append(u32(0x3F800000), u32(0)...)}, residue(field(403, []byte{0x15, 0, 0, 0, 0x40}))}, `{"h":{"x":1,"y":2}}`, nil, nil},
		{"an unknown field", "Added", []corpus.Cell{four(4, 1), residue(varint(60, 1))}, `{"d":1}`, varint(60, 1), nil},

		// Fields of another version: what nothing else has set.
		{"carried", "Added", []corpus.Cell{residue(carried(blob(1, "x"), flag, four(4, 7)))}, `{"a":"x","c":true,"d":7}`, nil, nil},
		{"carried, of another width", "Added", []corpus.Cell{residue(carried(corpus.Cell{Number: 4, Code: 4, Bytes: u64(1<<32 + 7)}))}, `{"d":7}`, nil, nil},
		{"carried list of another width", "AddedLarge", []corpus.Cell{residue(carried(corpus.Cell{Number: 401, Code: 7, E: 1, Bytes: []byte{0xFF, 1}}))}, `{"f":[-1,1]}`, nil, nil},
		{"the row's goes first", "Added", []corpus.Cell{four(4, 1), residue(carried(blob(1, "x"), four(4, 7)))}, `{"a":"x","d":1}`, nil, nil},
		{"the row's empty value goes first", "PresenceAdded", []corpus.Cell{four(1, 0), residue(carried(four(1, 7)))}, `{"a":0}`, nil, nil},
		{"the residue's goes first", "Added", []corpus.Cell{residue(carried(four(4, 7)), varint(4, 0))}, unset, nil, nil},
		{"of two, the first wins", "Added", []corpus.Cell{residue(carried(four(4, 7)), carried(blob(1, "x"), four(4, 8)))}, `{"a":"x","d":7}`, nil, nil},
		{"lists do not grow", "AddedLarge", []corpus.Cell{{Number: 401, Code: 7, E: 4, Bytes: u32(5)}, residue(carried(corpus.Cell{Number: 401, Code: 7, E: 4, Bytes: u32(6)}))}, `{"f":[5]}`, nil, nil},
		{"messages are not merged", "AddedLarge", []corpus.Cell{leaf(21, blob(1, "row")), residue(carried(leaf(21, four(2, 9))))}, `{"d":{"name":"row"}}`, nil, nil},

		// What is kept on.
		{"kept on", "Added", []corpus.Cell{residue(carried(four(4, 7), blob(60, "x")))}, `{"d":7}`, carried(blob(60, "x")), nil},
		{"joined, the first wins", "Added", []corpus.Cell{residue(carried(blob(61, "b")), varint(70, 1), carried(blob(60, "a"), blob(61, "lost")))}, unset,
			append(varint(70, 1), carried(blob(60, "a"), blob(61, "b"))...), nil},
		{"joined, the row's own goes first", "Added", []corpus.Cell{blob(60, "row"), residue(carried(blob(59, "before"), blob(60, "lost")))}, unset, carried(blob(59, "before"), blob(60, "row")), nil},
		{"of unlike storage, too", "Added", []corpus.Cell{four(60, 1), residue(carried(blob(60, "lost")))}, unset, carried(four(60, 1)), nil},
		{"empty", "Added", []corpus.Cell{residue(one(0, 0, 0))}, unset, nil, nil},
		{"described only", "Added", []corpus.Cell{residue(one(0x28, 0, 0))}, unset, nil, nil},

		// Members of a oneof.
		{"a member", "MemberAdded", []corpus.Cell{residue(carried(four(2, 7)))}, `{"b":7}`, nil, nil},
		{"a member beside the row's", "MemberAdded", []corpus.Cell{blob(1, "x"), residue(carried(four(2, 7)))}, `{"a":"x"}`, nil, nil},
		{"a member beside the residue's", "MemberAdded", []corpus.Cell{residue(carried(leaf(3, four(2, 1))), varint(2, 9))}, `{"b":9}`, nil, nil},
		{"two members", "MemberAdded", []corpus.Cell{residue(carried(blob(1, "x"), four(2, 7)))}, `{"b":7}`, nil, nil},
		{"two members, apart", "MemberAdded", []corpus.Cell{residue(carried(four(2, 7)), carried(blob(1, "x")))}, `{"b":7}`, nil, nil},
		{"two members in the row", "MemberAdded", []corpus.Cell{blob(1, "x"), leaf(3, four(2, 1))}, `{"c":{"n":1}}`, nil, nil},
		{"the residue's over the row's", "MemberAdded", []corpus.Cell{leaf(3, four(2, 1)), residue(field(1, []byte("x")))}, `{"a":"x"}`, nil, nil},

		// What is refused.
		{"no protobuf", "Added", []corpus.Cell{residue([]byte{0xFF})}, "", nil, codec.ErrMalformed},
		{"19000 in a residue", "Added", []corpus.Cell{residue(field(residueNumber, nil))}, "", nil, codec.ErrMalformed},
		{"19001 that is no bytes", "Added", []corpus.Cell{residue(varint(carriedNumber, 1))}, "", nil, codec.ErrMalformed},
		{"19001 that is no block", "Added", []corpus.Cell{residue(one(5))}, "", nil, codec.ErrMalformed},
		{"19001, the second is none", "Added", []corpus.Cell{residue(carried(four(4, 1)), one())}, "", nil, codec.ErrMalformed},
		{"19001 in 19001", "Added", []corpus.Cell{residue(carried(blob(carriedNumber, "")))}, "", nil, codec.ErrMalformed},
		{"19000 in 19001", "Added", []corpus.Cell{residue(carried(residue(varint(60, 1))))}, "", nil, codec.ErrMalformed},
		{"19001 with bytes behind it", "Added", []corpus.Cell{residue(one(append(corpus.Root(four(4, 1)), 0)...))}, "", nil, codec.ErrMalformed},
		{"19001 with a value behind a clear bit", "Added", []corpus.Cell{residue(one(0x28, 0, 0, 1, 0, 0, 0))}, "", nil, codec.ErrMalformed},
		{"19001 with text that is no UTF-8", "Added", []corpus.Cell{residue(carried(blob(1, "\xFF")))}, "", nil, codec.ErrUTF8},
		{"19001 with a kind that can't be read", "Added", []corpus.Cell{residue(carried(blob(4, "x")))}, "", nil, codec.ErrIncompatible},
		{"the same, though the row has the field", "Added", []corpus.Cell{four(4, 1), residue(carried(blob(4, "x")))}, "", nil, codec.ErrIncompatible},
		{"text in a residue that is no UTF-8", "Added", []corpus.Cell{residue(field(1, []byte{0xFF}))}, "", nil, codec.ErrMalformed},
		{"field 19000 as a number", "Added", []corpus.Cell{four(residueNumber, 1)}, "", nil, codec.ErrMalformed},
		{"field 19001 in a row", "Added", []corpus.Cell{blob(carriedNumber, "x")}, "", nil, codec.ErrMalformed},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, depth := range residueDepths {
				for _, path := range skewPaths {
					row := path.of(skewFiles[true], c.message)
					root, number := row, 0
					if depth.root != "" {
						root = path.of(skewFiles[true], depth.root)
						number = int(holder(root, row).Number())
					}
					err := codec.Unmarshal(corpus.Seal(idOf(t, root), depth.body(number, c.row)), root)
					if c.refused != nil {
						if !errors.Is(err, c.refused) {
							t.Errorf("%s, %s: %v, want %v", depth.name, path.name, err, c.refused)
						}
						continue
					}
					if err != nil {
						t.Errorf("%s, %s: %v", depth.name, path.name, err)
						continue
					}
					got := inside(root.ProtoReflect())
					if want, have := asJSON(t, parsed(t, path.of(skewFiles[true], c.message), c.read)), asJSON(t, got.Interface()); have != want {
						t.Errorf("%s, %s\nwant %s\n got %s", depth.name, path.name, want, have)
					}
					if !bytes.Equal(got.GetUnknown(), c.kept) {
						t.Errorf("%s, %s: keeps %x, want %x", depth.name, path.name, got.GetUnknown(), c.kept)
					}
					roundTrip(t, codec.Options{}, root)
				}
			}
		})
	}
}

// Rows of one list that have a residue, fields of another version, both or neither.
func TestSkewResiduesOfAList(t *testing.T) {
	rows := [][]corpus.Cell{
		{four(4, 1)},
		{four(4, 2), blob(60, "own")},
		{residue(carried(four(4, 3), blob(60, "kept")))},
		{four(4, 4), blob(60, "own"), residue(varint(70, 1), carried(blob(60, "lost"), blob(61, "kept")))},
		nil,
	}
	kept := [][]byte{nil, carried(blob(60, "own")), carried(blob(60, "kept")), append(varint(70, 1), carried(blob(60, "own"), blob(61, "kept"))...), nil}
	for _, path := range skewPaths {
		m := path.of(skewFiles[true], "InList")
		number := int(holder(m, path.of(skewFiles[true], "Added")).Number())
		body := corpus.Root(corpus.Cell{Number: number, Code: 6, Bytes: blockOf(rows...)})
		if err := codec.Unmarshal(corpus.Seal(idOf(t, m), body), m); err != nil {
			t.Fatal(err)
		}
		l := m.ProtoReflect().Get(holder(m, path.of(skewFiles[true], "Added"))).List()
		for i := range l.Len() {
			e := l.Get(i).Message()
			if d := e.Get(e.Descriptor().Fields().ByNumber(4)).Int(); d != []int64{1, 2, 3, 4, 0}[i] {
				t.Errorf("%s, row %d: %d", path.name, i, d)
			}
			if !bytes.Equal(e.GetUnknown(), kept[i]) {
				t.Errorf("%s, row %d keeps %x, want %x", path.name, i, e.GetUnknown(), kept[i])
			}
		}
		frame, _ := roundTrip(t, codec.Options{}, m)
		if err := (codec.Options{DiscardUnknown: true}).Unmarshal(frame, m); err != nil {
			t.Fatal(err)
		}
		for i := range l.Len() {
			l = m.ProtoReflect().Get(holder(m, path.of(skewFiles[true], "Added"))).List()
			if u := l.Get(i).Message().GetUnknown(); len(u) > 0 {
				t.Errorf("%s, row %d: discarding keeps %x", path.name, i, u)
			}
		}
	}
}
