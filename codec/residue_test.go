package codec_test

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
)

const (
	residueNumber = 19_000
	carriedNumber = 19_001
)

func u32(n uint32) []byte { return protowire.AppendFixed32(nil, n) }
func u64(n uint64) []byte { return protowire.AppendFixed64(nil, n) }

func blob(n int, s string) corpus.Cell    { return corpus.Cell{Number: n, Code: 5, Bytes: []byte(s)} }
func four(n int, v uint32) corpus.Cell    { return corpus.Cell{Number: n, Code: 3, Bytes: u32(v)} }
func residue(b ...[]byte) corpus.Cell     { return blob(residueNumber, string(bytes.Join(b, nil))) }
func carried(cells ...corpus.Cell) []byte { return field(carriedNumber, corpus.Root(cells...)) }
func varint(n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
}
func field(n protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
}

func idOf(t testing.TB, m proto.Message) uint64 {
	t.Helper()
	id, err := codec.SchemaID(m.ProtoReflect().Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// decoded reads a root block of these fields into m.
func decoded(t testing.TB, m proto.Message, cells ...corpus.Cell) error {
	t.Helper()
	return codec.Unmarshal(corpus.Seal(idOf(t, m), corpus.Root(cells...)), m)
}

func mustDecode(t testing.TB, m proto.Message, cells ...corpus.Cell) {
	t.Helper()
	if err := decoded(t, m, cells...); err != nil {
		t.Fatal(err)
	}
}

func TestResidueMergesAfterTheRow(t *testing.T) {
	tele := new(scenarios.Telemetry)
	mustDecode(t, tele, four(1, 7), residue(varint(1, 8), varint(1, 9)))
	if tele.Device != 9 {
		t.Errorf("device %d: the last one wins", tele.Device)
	}
	tele = new(scenarios.Telemetry)
	mustDecode(t, tele, four(1, 7), residue(varint(1, 0)))
	if tele.Device != 0 {
		t.Errorf("device %d: the residue's zero wins", tele.Device)
	}

	// Lists grow, messages are merged, maps too.
	row := marshal(t, codec.Options{}, &open.Tree3{
		Name: "row", Child: &open.Tree3{Name: "child", Weight: 1}, Kids: []*open.Tree3{{Name: "kid"}},
		ByName: map[string]*open.Tree3{"a": {Name: "a"}, "b": {}},
	})
	more := &open.Tree3{
		Child: &open.Tree3{Weight: 2}, Kids: []*open.Tree3{{Name: "more"}}, ByName: map[string]*open.Tree3{"b": {Name: "b"}},
		Pick: &open.Tree3_Number{Number: 4},
	}
	want := new(open.Tree3)
	decodedRow := unmarshal(t, codec.Options{}, row, want)
	want = decodedRow.(*open.Tree3)
	proto.Merge(want, more)
	got := new(open.Tree3)
	cells := []corpus.Cell{
		blob(1, "row"),
		{Number: 2, Code: 6, Bytes: corpus.Block([]corpus.Cell{blob(1, "child"), {Number: 10, Code: 4, Bytes: u64(0x3FF0000000000000)}})},
		{Number: 3, Code: 6, Bytes: corpus.Block([]corpus.Cell{blob(1, "kid")})},
		{Number: 4, Code: 6, Bytes: append([]byte{2}, unhex(t, "3500 03 01000000 0b000000 03 0c000000 61 01 0500 01 61 62 01 0000 00")...)},
		residue(protoBytes(t, more)),
	}
	// The map by hand is easy to get wrong; take the encoder's instead.
	if m, err := corpus.Encode(&open.Tree3{ByName: map[string]*open.Tree3{"a": {Name: "a"}, "b": {}}}); err != nil {
		t.Fatal(err)
	} else {
		cells[3].Bytes = m[20+len(unhex(t, "0060 01")) : len(m)-4]
	}
	mustDecode(t, got, cells...)
	if d := corpus.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestResidueAndOneofs(t *testing.T) {
	// The residue's member comes last and replaces the row's.
	choice := new(kitchen.Choice)
	mustDecode(t, choice, blob(4, "text"), residue(varint(3, 5)))
	if choice.GetNumber() != 5 || choice.GetText() != "" {
		t.Errorf("%v", choice)
	}
	// Two members in a row: the highest number.
	choice = new(kitchen.Choice)
	mustDecode(t, choice, four(3, 7), blob(4, "text"), blob(5, "raw"))
	if string(choice.GetRaw()) != "raw" {
		t.Errorf("%v", choice)
	}
	// A member that was carried is set only if no member is.
	choice = new(kitchen.Choice)
	mustDecode(t, choice, blob(4, "text"), residue(carried(four(3, 5))))
	if choice.GetText() != "text" {
		t.Errorf("%v", choice)
	}
	choice = new(kitchen.Choice)
	mustDecode(t, choice, residue(carried(four(3, 5)), varint(8, 1)))
	if choice.GetColor() != 1 {
		t.Errorf("%v", choice)
	}
	choice = new(kitchen.Choice)
	mustDecode(t, choice, residue(carried(four(3, 5))))
	if choice.GetNumber() != 5 || len(choice.ProtoReflect().GetUnknown()) != 0 {
		t.Errorf("%v", choice)
	}
}

func TestCarriedFields(t *testing.T) {
	for _, c := range []struct {
		name   string
		cells  []corpus.Cell
		device uint32
		kept   []byte // unknown fields afterwards
	}{
		{"sets what nothing has set", []corpus.Cell{residue(carried(four(1, 9)))}, 9, nil},
		{"the row goes first", []corpus.Cell{four(1, 7), residue(carried(four(1, 9)))}, 7, nil},
		{"the residue goes first", []corpus.Cell{residue(carried(four(1, 9)), varint(1, 8))}, 8, nil},
		{"a zero in the residue goes first", []corpus.Cell{residue(varint(1, 0), carried(four(1, 9)))}, 0, nil},
		{"of two the first wins", []corpus.Cell{residue(carried(four(1, 5)), carried(four(1, 9)))}, 5, nil},
		{"what is unknown is kept", []corpus.Cell{residue(carried(four(1, 9), blob(20, "x")))}, 9, carried(blob(20, "x"))},
		{"two are joined", []corpus.Cell{residue(carried(blob(20, "x")), varint(30, 1), carried(four(10, 1), blob(20, "y")))}, 0,
			append(varint(30, 1), carried(four(10, 1), blob(20, "x"))...)},
		{"joined with the row's own, which go first", []corpus.Cell{blob(20, "row"), residue(carried(four(10, 1), blob(20, "residue")))}, 0,
			carried(four(10, 1), blob(20, "row"))},
		{"the row's own behind all unknown", []corpus.Cell{blob(20, "row"), residue(varint(30, 1))}, 0, append(varint(30, 1), carried(blob(20, "row"))...)},
		{"an empty one", []corpus.Cell{residue(field(carriedNumber, unhex(t, "0000 00")))}, 0, nil},
		{"a residue in one goes nowhere further", nil, 0, nil},
	} {
		if c.cells == nil {
			continue
		}
		m := new(scenarios.Telemetry)
		if err := decoded(t, m, c.cells...); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Device != c.device {
			t.Errorf("%s: device %d, want %d", c.name, m.Device, c.device)
		}
		if got := m.ProtoReflect().GetUnknown(); !bytes.Equal(got, c.kept) {
			t.Errorf("%s: keeps %x, want %x", c.name, got, c.kept)
		}
		roundTrip(t, codec.Options{}, m)
	}
}

// What an encoder finds among the unknown fields of a message.
func TestCarriedFieldsOfAMessage(t *testing.T) {
	for _, c := range []struct {
		name    string
		unknown []byte
		want    []byte // residue in the frame
	}{
		{"as it is", carried(blob(20, "x")), carried(blob(20, "x"))},
		{"goes behind all others", append(carried(blob(20, "x")), varint(30, 1)...), append(varint(30, 1), carried(blob(20, "x"))...)},
		{"two are joined, the first wins", append(carried(blob(20, "x")), carried(four(10, 2), blob(20, "y"))...), carried(four(10, 2), blob(20, "x"))},
		{"numbers of the schema are left out", carried(four(1, 9), blob(20, "x")), carried(blob(20, "x"))},
		{"nothing is left", carried(four(1, 9)), nil},
		{"an empty one", field(carriedNumber, unhex(t, "0000 00")), nil},
		{"not a block", field(carriedNumber, []byte{1}), nil},
		{"no bytes", field(carriedNumber, nil), nil},
		{"a number", varint(carriedNumber, 1), nil},
		{"a bad one beside a good one", append(field(carriedNumber, []byte{1}), carried(blob(20, "x"))...), carried(blob(20, "x"))},
		{"19000 is left out", append(field(residueNumber, []byte("x")), varint(30, 1)...), varint(30, 1)},
		{"19000 of any type", append(varint(residueNumber, 1), varint(30, 1)...), varint(30, 1)},
		{"a 19000 in one is left out with it", carried(blob(20, "x"), blob(residueNumber, "")), nil},
	} {
		m := &scenarios.Telemetry{}
		m.ProtoReflect().SetUnknown(c.unknown)
		got := marshal(t, codec.Options{}, m)
		want := corpus.Seal(idOf(t, m), corpus.Root())
		if c.want != nil {
			want = corpus.Seal(idOf(t, m), corpus.Root(residue(c.want)))
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: frame\n got %x\nwant %x", c.name, got, want)
		}
	}
}

func TestHostileResidues(t *testing.T) {
	deep := carried(blob(20, "x"))
	for range 3 {
		deep = carried(corpus.Cell{Number: 25, Code: 6, Bytes: corpus.Block([]corpus.Cell{residue(deep)})})
	}
	for name, c := range map[string][]corpus.Cell{
		"no protobuf":                      {residue([]byte{0xFF})},
		"an end group":                     {residue([]byte{0x0C})},
		"a group that does not end":        {residue([]byte{0x0B, 0x08, 0x01})},
		"field number 0":                   {residue([]byte{0x00, 0x01})},
		"a varint of eleven bytes":         {residue(bytes.Repeat([]byte{0x80}, 12))},
		"bytes past the end":               {residue([]byte{0x0A, 0x05, 0x01})},
		"19000 in one":                     {residue(field(residueNumber, []byte("x")))},
		"19000 as a number":                {residue(varint(residueNumber, 1))},
		"19001 as a number":                {residue(varint(carriedNumber, 1))},
		"19001 without bytes":              {residue(field(carriedNumber, nil))},
		"19001 that is no block":           {residue(field(carriedNumber, []byte{3}))},
		"19001 with a byte too many":       {residue(field(carriedNumber, append(corpus.Root(four(30, 1)), 0)))},
		"19001 with a value behind a 0":    {residue(field(carriedNumber, unhex(t, "0300 00 01000000")))},
		"19001 with spare bits":            {residue(field(carriedNumber, unhex(t, "0300 03 01000000")))},
		"19001 with half an element":       {residue(carried(corpus.Cell{Number: 30, Code: 7, E: 4, Bytes: make([]byte, 5)}))},
		"19001 with 19000":                 {residue(carried(blob(20, "x"), residue(varint(30, 1))))},
		"19001 with 19001":                 {residue(carried(blob(20, "x"), blob(carriedNumber, "x")))},
		"19001 with descending ends":       {residue(field(carriedNumber, unhex(t, "0550 0000 03 05000000 6161")))},
		"19001 of a known field, other":    {residue(carried(blob(1, "device")))},
		"the shape has 19000 as a number":  {four(residueNumber, 1)},
		"the shape has 19000 as a block":   {{Number: residueNumber, Code: 6, Bytes: corpus.Block([]corpus.Cell{four(1, 1)})}},
		"the shape has 19001":              {blob(carriedNumber, "x")},
		"a known field of the wrong UTF-8": nil,
	} {
		if c == nil {
			continue
		}
		err := decoded(t, new(scenarios.Telemetry), c...)
		if err == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if k := classOfMessage(err); k == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What the schema lacks is a range of bytes and not looked into.
	m := new(scenarios.Telemetry)
	if err := codec.Unmarshal(corpus.Seal(idOf(t, m), corpus.Root(residue(deep))), m); err != nil {
		t.Errorf("19001 in blocks that the schema lacks: %v", err)
	}
	// Text in a residue is checked as protobuf checks it.
	if err := decoded(t, new(scenarios.Transaction), residue(field(3, []byte(invalid)))); err == nil {
		t.Error("a string of a residue that is no UTF-8: accepted")
	}
	// And so is text that was carried.
	if err := decoded(t, new(scenarios.Transaction), residue(carried(blob(3, invalid)))); err == nil {
		t.Error("a string of 19001 that is no UTF-8: accepted")
	}
	// The error of a carried field that can't be read names it.
	err := decoded(t, new(scenarios.Telemetry), residue(carried(blob(1, "device"))))
	refused(t, err, codec.ErrIncompatible)
	if f := fieldOf(err); f != "scenarios.Telemetry.device" {
		t.Errorf("field %q: %v", f, err)
	}
}

func classOfMessage(err error) string {
	for kind, name := range map[error]string{codec.ErrMalformed: "malformed", codec.ErrIncompatible: "incompatible"} {
		if errors.Is(err, kind) {
			return name
		}
	}
	return ""
}

// Messages inside a residue are protobuf's: a 19001 in them stays what it is
// there, an unknown field.
func TestCarriedInsideExtensions(t *testing.T) {
	in := &open.Node2{Name: proto.String("in")}
	in.ProtoReflect().SetUnknown(carried(blob(1, "other"), blob(20, "x")))
	m := &open.Node2{}
	proto.SetExtension(m, open.E_NodeNode, in)
	_, got := roundTrip(t, codec.Options{}, m)
	x := proto.GetExtension(got, open.E_NodeNode).(*open.Node2)
	if x.GetName() != "in" || !bytes.Equal(x.ProtoReflect().GetUnknown(), in.ProtoReflect().GetUnknown()) {
		t.Errorf("%v", x)
	}
}

// Entries of maps keep no fields of another version.
func TestEntriesDropWhatTheyLack(t *testing.T) {
	entry := corpus.Block([]corpus.Cell{blob(1, "k"), blob(2, "v"), blob(3, "more")})
	m := new(kitchen.Maps)
	mustDecode(t, m, corpus.Cell{Number: 1, Code: 6, Bytes: entry})
	if len(m.F1) != 1 || m.F1["k"] != "v" || len(m.ProtoReflect().GetUnknown()) != 0 {
		t.Errorf("%v", m)
	}
	roundTrip(t, codec.Options{}, m)
	// An entry without a key or a value has their zeros.
	m = new(kitchen.Maps)
	mustDecode(t, m, corpus.Cell{Number: 1, Code: 6, Bytes: corpus.Block([]corpus.Cell{blob(2, "v")})})
	if m.F1[""] != "v" {
		t.Errorf("%v", m)
	}
	m = new(kitchen.Maps)
	mustDecode(t, m, corpus.Cell{Number: 4, Code: 6, Bytes: corpus.Block([]corpus.Cell{{Number: 1, Code: 4, Bytes: u64(5)}})})
	if m.F4[5] == nil {
		t.Errorf("%v", m)
	}
	roundTrip(t, codec.Options{}, m)
	for _, n := range []int{residueNumber, carriedNumber} {
		entry = corpus.Block([]corpus.Cell{blob(1, "k"), blob(n, "\x08\x01")})
		err := decoded(t, new(kitchen.Maps), corpus.Cell{Number: 1, Code: 6, Bytes: entry})
		if err == nil {
			t.Errorf("%d in an entry: accepted", n)
		}
	}
}

// A 19001 counts as a level.
func TestDepthOfCarried(t *testing.T) {
	cells := []corpus.Cell{residue(carried(corpus.Cell{Number: 2, Code: 6, Bytes: corpus.Block([]corpus.Cell{blob(1, "leaf")})}))}
	m := new(kitchen.Node)
	frame := corpus.Seal(idOf(t, m), corpus.Root(cells...))
	for limit, ok := range map[int]bool{4: true, 3: true, 1: false} {
		err := codec.Options{MaxDepth: limit}.Unmarshal(frame, m)
		if ok != (err == nil) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if err != nil {
			refused(t, err, codec.ErrTooDeep)
		}
	}
	if err := codec.Unmarshal(frame, m); err != nil || m.GetLeft().GetName() != "leaf" {
		t.Errorf("%v %v", m, err)
	}
}

// Blobs and blocks that the schema lacks travel through as they are, at every
// depth and whatever is in them.
func TestUnlookedAtFieldsTravel(t *testing.T) {
	strange := corpus.Cell{Number: 100, Code: 6, Bytes: []byte{0xFF, 0xFF, 0xFF}}
	list := corpus.Cell{Number: 101, Code: 7, Bytes: unhex(t, "02 01000000 6162")}
	inline := corpus.Cell{Number: 102, Code: 7, K: 3, Bytes: []byte{1, 2, 3}}
	flag := corpus.Cell{Number: 103, Code: 1, On: true}
	m := new(kitchen.Node)
	mustDecode(t, m, blob(1, "n"), corpus.Cell{Number: 2, Code: 6, Bytes: corpus.Block([]corpus.Cell{strange, list, inline, flag})}, strange, list, inline, flag)
	want := carried(strange, list, inline, flag)
	for _, at := range []protoreflect.Message{m.ProtoReflect(), m.Left.ProtoReflect()} {
		if got := at.GetUnknown(); !bytes.Equal(got, want) {
			t.Errorf("kept %x, want %x", got, want)
		}
	}
	roundTrip(t, codec.Options{}, m)
}
