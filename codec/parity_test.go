package codec_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/hybrid"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
)

// through returns m after a frame.
func through(t testing.TB, m proto.Message) proto.Message {
	t.Helper()
	return unmarshal(t, codec.Options{}, marshal(t, codec.Options{}, m), m)
}

// asProtobuf demands that m after a frame is what it is after protobuf's
// bytes, in which what is nil in m has become empty.
func asProtobuf(t testing.TB, m proto.Message) proto.Message {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	want := empty(m)
	if err := proto.Unmarshal(b, want); err != nil {
		t.Fatal(err)
	}
	corpus.Canonical(want.ProtoReflect())
	frame := marshal(t, codec.Options{}, m)
	got := unmarshal(t, codec.Options{}, frame, m)
	if d := corpus.Diff(want, got); d != "" {
		t.Fatalf("not what protobuf gives\n%s", d)
	}
	if again := marshal(t, codec.Options{}, want); string(again) != string(frame) {
		t.Fatalf("what protobuf gives encodes differently\n%x\n%x", frame, again)
	}
	return got
}

// unknown are unknown fields of every wire type, groups within groups and the
// highest number among them.
func unknown(tag string) protoreflect.RawFields { return unknownAt(536_870_911, tag) }

// unknownRoot is unknown for All3, which has a field of the highest number.
func unknownRoot() protoreflect.RawFields { return unknownAt(536_870_910, "root") }

func unknownAt(num protowire.Number, tag string) protoreflect.RawFields {
	var b []byte
	b = protowire.AppendTag(b, num, protowire.BytesType)
	b = protowire.AppendString(b, tag)
	b = protowire.AppendTag(b, 18_000, protowire.StartGroupType)
	b = protowire.AppendTag(b, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, math.MaxUint64)
	b = protowire.AppendTag(b, 2, protowire.StartGroupType)
	b = protowire.AppendTag(b, 536_870_911, protowire.Fixed64Type)
	b = protowire.AppendFixed64(b, 1<<63)
	b = protowire.AppendTag(b, 2, protowire.EndGroupType)
	b = protowire.AppendTag(b, 18_000, protowire.EndGroupType)
	b = protowire.AppendTag(b, 17_000, protowire.Fixed32Type)
	b = protowire.AppendFixed32(b, 7)
	// The same number again, and a varint longer than it has to be.
	b = protowire.AppendTag(b, num, protowire.VarintType)
	return append(b, 0x81, 0x80, 0x00)
}

func tree3(name string) *open.Tree3 {
	m := &open.Tree3{Name: name}
	m.ProtoReflect().SetUnknown(unknown(name))
	return m
}

func TestUnknownFieldsAtEveryDepth(t *testing.T) {
	m := &open.All3{
		FInt32:       1,
		FMessage:     tree3("singular"),
		FEmpty:       &open.Empty3{},
		OptMessage:   tree3("optional"),
		RepMessage:   []*open.Tree3{tree3("first"), {Name: "none"}, tree3("third")},
		RepEmpty:     []*open.Empty3{{}, {}},
		MapToMessage: map[string]*open.Tree3{"a": tree3("in a map"), "b": {}},
		MapToEmpty:   map[int64]*open.Empty3{-1: {}, 1: {}},
		Kind:         &open.All3_OneMessage{OneMessage: tree3("in a oneof")},
		Other:        &open.All3_OtherTree{OtherTree: tree3("another")},
	}
	m.ProtoReflect().SetUnknown(unknownRoot())
	m.RepEmpty[1].ProtoReflect().SetUnknown(unknown("empty in a list"))
	m.MapToEmpty[1].ProtoReflect().SetUnknown(unknown("empty in a map"))
	m.FEmpty.ProtoReflect().SetUnknown(unknown("empty"))
	m.FMessage.Child = tree3("depth 2")
	m.FMessage.Child.Kids = []*open.Tree3{tree3("depth 3")}
	m.FMessage.Child.Kids[0].Pick = &open.Tree3_Left{Left: tree3("depth 4")}
	m.FMessage.Child.Kids[0].ByName = map[string]*open.Tree3{"": tree3("depth 4 too")}
	frame, got := roundTrip(t, codec.Options{}, m)
	sameAsText(t, m, frame)
	deep := got.(*open.All3).FMessage.Child.Kids[0].ByName[""]
	if u := deep.ProtoReflect().GetUnknown(); string(u) != string(unknown("depth 4 too")) {
		t.Errorf("unknown fields at depth 4: %x", u)
	}
	// Only unknown fields, nothing else.
	only := new(open.Tree3)
	only.ProtoReflect().SetUnknown(unknown("only"))
	roundTrip(t, codec.Options{}, only)
}

func TestUnknownFieldsHybridAndOpaque(t *testing.T) {
	h := hybrid.All3_builder{FMessage: hybrid.Tree3_builder{Name: "h"}.Build(), OneMessage: new(hybrid.Tree3)}.Build()
	h.ProtoReflect().SetUnknown(unknownRoot())
	h.GetFMessage().ProtoReflect().SetUnknown(unknown("h1"))
	h.GetOneMessage().ProtoReflect().SetUnknown(unknown("h2"))
	roundTrip(t, codec.Options{}, h)
	o := opaque.All3_builder{FMessage: opaque.Tree3_builder{Name: "o"}.Build(), OneMessage: new(opaque.Tree3)}.Build()
	o.ProtoReflect().SetUnknown(unknownRoot())
	o.GetFMessage().ProtoReflect().SetUnknown(unknown("o1"))
	o.GetOneMessage().ProtoReflect().SetUnknown(unknown("o2"))
	roundTrip(t, codec.Options{}, o)
}

func TestDiscardUnknown(t *testing.T) {
	m := &open.All3{
		FMessage:     tree3("singular"),
		RepMessage:   []*open.Tree3{tree3("first")},
		MapToMessage: map[string]*open.Tree3{"a": tree3("in a map")},
	}
	m.ProtoReflect().SetUnknown(unknownRoot())
	stripped := proto.CloneOf(m)
	corpus.StripUnknown(stripped.ProtoReflect())

	discard := codec.Options{DiscardUnknown: true}
	got := unmarshal(t, discard, marshal(t, codec.Options{}, m), m)
	if d := corpus.Diff(stripped, got); d != "" {
		t.Errorf("decoding\n%s", d)
	}
	if a, b := marshal(t, discard, m), marshal(t, codec.Options{}, stripped); string(a) != string(b) {
		t.Errorf("encoding\n%x\n%x", a, b)
	}
	// Extensions are known fields.
	x := &open.Node2{Name: proto.String("n")}
	proto.SetExtension(x, open.E_NodeText, "x")
	got = unmarshal(t, discard, marshal(t, discard, x), x)
	if d := corpus.Diff(x, got); d != "" {
		t.Errorf("extensions\n%s", d)
	}
}

// Unknown fields inside an inline message have no place.
func TestUnknownFieldsOfInlineMessages(t *testing.T) {
	vec := func() *open.Vec3 {
		v := &open.Vec3{X: 1}
		v.ProtoReflect().SetUnknown(unknown("v"))
		return v
	}
	for name, m := range map[string]*open.All3{
		"singular":   {FInline: &open.Box3{Low: vec()}},
		"optional":   {OptInline: vec()},
		"list":       {RepInline: []*open.Box3{{}, {High: vec()}}},
		"map":        {MapToInline: map[string]*open.Vec3{"k": vec()}},
		"oneof":      {Kind: &open.All3_OneInline{OneInline: &open.Box3{Low: vec()}}},
		"singular 1": {FMessage: nil, FInline: func() *open.Box3 { b := new(open.Box3); b.ProtoReflect().SetUnknown(unknown("b")); return b }()},
	} {
		_, err := codec.Marshal(m)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		refused(t, err, codec.ErrUnstorable)
		frame := marshal(t, codec.Options{DiscardUnknown: true}, m)
		corpus.StripUnknown(m.ProtoReflect())
		corpus.Canonical(m.ProtoReflect())
		if d := corpus.Diff(m, unmarshal(t, codec.Options{}, frame, m)); d != "" {
			t.Errorf("%s, discarding\n%s", name, d)
		}
	}
	// As the root, it is a message like any other.
	roundTrip(t, codec.Options{}, vec())
}

func TestEnumNumbersThatAreUnknown(t *testing.T) {
	for _, n := range []int32{0, 1, -7, 99, -99, math.MaxInt32, math.MinInt32} {
		e3, e2 := open.Color3(n), open.Level2(n)
		e23 := open.ClosedE23(n)
		m3 := &open.All3{
			FEnum: e3, OptEnum: e3.Enum(), RepEnum: []open.Color3{e3, 0, e3},
			MapToEnum: map[string]open.Color3{"k": e3}, Kind: &open.All3_OneEnum{OneEnum: e3},
		}
		roundTrip(t, codec.Options{}, m3)
		m2 := &open.All2{
			FEnum: e2.Enum(), DefEnum: e2.Enum(), RepEnum: []open.Level2{e2, e2}, RepPackedEnum: []open.Level2{e2},
			MapToEnum: map[bool]open.Zero2{true: open.Zero2(n)}, Kind: &open.All2_OneEnum{OneEnum: e2},
		}
		proto.SetExtension(m2, open.E_XEnum, e2)
		proto.SetExtension(m2, open.E_XRepEnum, []open.Level2{e2, 1})
		_, got := roundTrip(t, codec.Options{}, m2)
		if g := got.(*open.All2).GetFEnum(); g != e2 {
			t.Errorf("closed enum %d came as %d", e2, g)
		}
		m23 := &open.AllE23{
			FClosed: e23.Enum(), RepClosed: []open.ClosedE23{e23}, Kind: &open.AllE23_OneClosed{OneClosed: e23},
			FOpen: open.OpenE23(n).Enum(), ImpOpen: open.OpenE23(n),
		}
		roundTrip(t, codec.Options{}, m23)
	}
}

// doubles and floats by their bits: NaNs with payloads, -0.0 and more. Floats
// pass through float64 in reflection, which makes signaling NaNs quiet, so
// these have quiet ones.
var (
	doubles = []uint64{
		0, 1 << 63, 1, 0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0001, 0x7FF0_0000_0000_0001,
		0xFFF8_DEAD_BEEF_0001, 0xFFF0_0000_0000_0002, 0x7FEF_FFFF_FFFF_FFFF, 0x000F_FFFF_FFFF_FFFF,
	}
	floats = []uint32{
		0, 1 << 31, 1, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFFFF_FFFF, 0xFFC1_2345, 0x7F7F_FFFF, 0x007F_FFFF,
	}
)

func TestFloatBits(t *testing.T) {
	m := new(open.All3)
	m.MapToDouble = make(map[int32]float64)
	m.MapToFloat = make(map[int32]float32)
	m.MapToInline = make(map[string]*open.Vec3)
	for i, bits := range doubles {
		d := math.Float64frombits(bits)
		f := math.Float32frombits(floats[i%len(floats)])
		m.RepDouble = append(m.RepDouble, d)
		m.RepFloat = append(m.RepFloat, f)
		m.MapToDouble[int32(i)] = d
		m.MapToFloat[int32(i)] = f
		m.MapToInline[string(rune('a'+i))] = &open.Vec3{X: f, Y: f, Z: d}
		m.RepInline = append(m.RepInline, &open.Box3{Low: &open.Vec3{X: f, Z: d}, High: &open.Vec3{}})

		one := &open.All3{
			FDouble: d, FFloat: f, OptDouble: &d, OptFloat: &f,
			Kind:    &open.All3_OneDouble{OneDouble: d},
			FInline: &open.Box3{Low: &open.Vec3{X: f, Y: f, Z: d}, High: &open.Vec3{}},
		}
		_, got := roundTrip(t, codec.Options{}, one)
		g := got.(*open.All3)
		for what, b := range map[string]uint64{
			"singular": math.Float64bits(g.FDouble), "optional": math.Float64bits(g.GetOptDouble()),
			"oneof": math.Float64bits(g.GetOneDouble()), "inline": math.Float64bits(g.FInline.Low.Z),
		} {
			if b != bits {
				t.Errorf("%s: %#x came as %#x", what, bits, b)
			}
		}
		if b := math.Float32bits(g.FFloat); b != math.Float32bits(f) {
			t.Errorf("float %#x came as %#x", math.Float32bits(f), b)
		}
		roundTrip(t, codec.Options{}, &open.All3{Kind: &open.All3_OneFloat{OneFloat: f}})
		roundTrip(t, codec.Options{}, &open.All2{FDouble: &d, FFloat: &f, DefFloat: &f, DefDouble: &d})
		roundTrip(t, codec.Options{}, opaque.AllE23_builder{FDouble: &d, ImpDouble: d, ImpFloat: f}.Build())
	}
	roundTrip(t, codec.Options{}, m)
}

// Generated methods and protobuf-go's own code move floats without looking at
// them, so the bits of signaling NaNs survive as well.
func TestSignalingNaN(t *testing.T) {
	f, bits := math.Float32frombits(0x7FA0_0001), uint32(0x7FA0_0001)
	d, dbits := math.Float64frombits(0x7FF4_0000_0000_0001), uint64(0x7FF4_0000_0000_0001)
	m := &open.All3{
		FFloat: f, OptFloat: &f, RepFloat: []float32{f, 1}, MapToFloat: map[int32]float32{1: f},
		Kind: &open.All3_OneFloat{OneFloat: f}, FInline: &open.Box3{Low: &open.Vec3{X: f, Z: d}, High: &open.Vec3{}},
		FDouble: d, RepDouble: []float64{d},
	}
	g := through(t, m).(*open.All3)
	for name, got := range map[string]float32{
		"singular": g.FFloat, "optional": g.GetOptFloat(), "list": g.RepFloat[0], "map": g.MapToFloat[1], "oneof": g.GetOneFloat(), "inline": g.FInline.Low.X,
	} {
		if b := math.Float32bits(got); b != bits {
			t.Errorf("%s: %#x came as %#x", name, bits, b)
		}
	}
	for name, got := range map[string]float64{"singular": g.FDouble, "list": g.RepDouble[0], "inline": g.FInline.Low.Z} {
		if b := math.Float64bits(got); b != dbits {
			t.Errorf("double, %s: %#x came as %#x", name, dbits, b)
		}
	}
}

// Minus zero is a value and not what an absent field reads as.
func TestMinusZeroIsSet(t *testing.T) {
	minus := math.Copysign(0, -1)
	zero := marshal(t, codec.Options{}, new(open.All3))
	for _, m := range []*open.All3{{FDouble: minus}, {FFloat: float32(minus)}} {
		frame, got := roundTrip(t, codec.Options{}, m)
		if string(frame) == string(zero) {
			t.Errorf("%v takes the frame of nothing", m)
		}
		g := got.(*open.All3)
		if !math.Signbit(g.FDouble) && !math.Signbit(float64(g.FFloat)) {
			t.Errorf("%v came as %v", m, g)
		}
	}
}

func TestNilElements(t *testing.T) {
	got := asProtobuf(t, &open.All3{
		RepMessage:   []*open.Tree3{nil, {Name: "b", Kids: []*open.Tree3{nil, nil}, ByName: map[string]*open.Tree3{"k": nil}}, nil},
		RepEmpty:     []*open.Empty3{nil, {}, nil},
		RepInline:    []*open.Box3{nil, {Open: true}, {Low: nil, High: &open.Vec3{Y: 1}}, nil},
		MapToMessage: map[string]*open.Tree3{"": nil, "x": {}},
		MapToEmpty:   map[int64]*open.Empty3{4: nil},
		MapToInline:  map[string]*open.Vec3{"v": nil, "w": {X: 1}},
		RepBytes:     [][]byte{nil, {}, {1}},
		MapToBytes:   map[int32][]byte{1: nil, 2: {}},
	}).(*open.All3)
	if n := len(got.RepMessage); n != 3 {
		t.Fatalf("%d elements", n)
	}
	if got.RepMessage[0] == nil || got.MapToMessage[""] == nil || got.RepInline[0] == nil || got.MapToInline["v"] == nil {
		t.Error("a nil element came as nil")
	}
	asProtobuf(t, &open.All2{Many: []*open.All2_Many{nil, {}}, RepMessage: []*open.Node2{nil}, MapToMessage: map[string]*open.Node2{"": nil}})
	asProtobuf(t, &open.AllE23{RepDelimited: []*open.NodeE23{nil, {}}, RepInline: []*open.BoxE23{nil}, MapToInline: map[uint32]*open.BoxE23{7: nil}})

	x := new(open.All2)
	proto.SetExtension(x, open.E_XRepMessage, []*open.Node2{nil, {}})
	asProtobuf(t, x)
}

func TestOneofWrappers(t *testing.T) {
	unset := marshal(t, codec.Options{}, new(open.All3))
	for name, m := range map[string]*open.All3{
		"typed nil of a scalar":  {Kind: (*open.All3_OneInt32)(nil)},
		"typed nil of a string":  {Kind: (*open.All3_OneString)(nil)},
		"typed nil of a message": {Kind: (*open.All3_OneMessage)(nil), Other: (*open.All3_OtherTree)(nil)},
		"typed nil of an inline": {Kind: (*open.All3_OneInline)(nil)},
	} {
		if frame := marshal(t, codec.Options{}, m); string(frame) != string(unset) {
			t.Errorf("%s: not the frame of nothing\n%x", name, frame)
		}
		if g := through(t, m).(*open.All3); g.Kind != nil || g.Other != nil {
			t.Errorf("%s: came as %v", name, g)
		}
	}
	for name, m := range map[string]*open.All3{
		"nil message": {Kind: &open.All3_OneMessage{}},
		"nil empty":   {Kind: &open.All3_OneEmpty{}},
		"nil inline":  {Kind: &open.All3_OneInline{}},
		"nil bytes":   {Kind: &open.All3_OneBytes{}},
		"empty bytes": {Kind: &open.All3_OneBytes{OneBytes: []byte{}}},
		"empty text":  {Kind: &open.All3_OneString{}},
		"zero":        {Kind: &open.All3_OneSint64{}},
		"false":       {Kind: &open.All3_OneBool{}},
		"zero enum":   {Kind: &open.All3_OneEnum{}},
		"zero float":  {Kind: &open.All3_OneFloat{}},
		"other":       {Kind: &open.All3_OneBool{OneBool: true}, Other: &open.All3_OtherText{}},
	} {
		g := asProtobuf(t, m).(*open.All3)
		if g.Kind == nil {
			t.Errorf("%s: the oneof came unset", name)
		}
	}
	asProtobuf(t, &open.All2{Kind: &open.All2_One_{}})
	asProtobuf(t, &open.AllE23{Kind: &open.AllE23_OneDelimited{}})
	asProtobuf(t, &open.AllE23{Kind: &open.AllE23_OneInline{}})
}

func TestNilAndEmptyBytes(t *testing.T) {
	got := asProtobuf(t, &open.All3{
		FBytes: []byte{}, OptBytes: []byte{}, RepBytes: [][]byte{{}}, MapToBytes: map[int32][]byte{0: {}},
		RepMessage: []*open.Tree3{{OptRaw: []byte{}}, {OptRaw: nil}},
	}).(*open.All3)
	if got.OptBytes == nil || got.RepMessage[0].OptRaw == nil {
		t.Error("empty bytes came as nil")
	}
	if got.FBytes != nil || got.RepMessage[1].OptRaw != nil {
		t.Error("bytes that are not set came as not nil")
	}
	if got.RepBytes[0] == nil || got.MapToBytes[0] == nil {
		t.Error("empty elements came as nil")
	}
	two := asProtobuf(t, &open.All2{FBytes: []byte{}}).(*open.All2)
	if two.FBytes == nil {
		t.Error("proto2: empty bytes came as nil")
	}
	if two = asProtobuf(t, &open.All2{DefBytes: []byte{}}).(*open.All2); len(two.GetDefBytes()) != 0 {
		t.Error("proto2: empty bytes came as the default")
	}
	if two = asProtobuf(t, new(open.All2)).(*open.All2); two.FBytes != nil || string(two.GetDefBytes()) != "\x00\xff" {
		t.Error("proto2: bytes that are not set came set")
	}
	e := asProtobuf(t, opaque.AllE23_builder{FBytes: []byte{}, ImpBytes: []byte{}}.Build()).(*opaque.AllE23)
	if !e.HasFBytes() {
		t.Error("opaque: empty bytes came unset")
	}
}

// Every scalar set to zero where presence is explicit.
func TestExplicitZeros(t *testing.T) {
	for _, like := range generatedMessages() {
		m := empty(like)
		r := m.ProtoReflect()
		for i := range r.Descriptor().Fields().Len() {
			fd := r.Descriptor().Fields().Get(i)
			if fd.HasPresence() && (fd.ContainingOneof() == nil || fd.ContainingOneof().IsSynthetic()) {
				r.Set(fd, r.NewField(fd))
				if fd.Message() == nil {
					r.Set(fd, protoreflect.ValueOf(zeroOf(fd)))
				}
			}
		}
		corpus.Canonical(r)
		roundTrip(t, codec.Options{AllowPartial: true}, m)
	}
}

func zeroOf(fd protoreflect.FieldDescriptor) any {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return false
	case protoreflect.EnumKind:
		return protoreflect.EnumNumber(0)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return int32(0)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return int64(0)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return uint32(0)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return uint64(0)
	case protoreflect.FloatKind:
		return float32(0)
	case protoreflect.DoubleKind:
		return float64(0)
	case protoreflect.StringKind:
		return ""
	}
	return []byte{}
}

// A message that already holds something is replaced, not merged into.
func TestUnmarshalReplaces(t *testing.T) {
	full := func() *open.All2 {
		m := &open.All2{
			FInt32: proto.Int32(1), FString: proto.String("s"), RepInt32: []int32{1, 2}, FMessage: &open.Node2{Name: proto.String("n")},
			MapToBytes: map[int32][]byte{1: {1}}, Kind: &open.All2_OneText{OneText: "t"}, Solo: &open.All2_Solo{Text: proto.String("t")},
		}
		proto.SetExtension(m, open.E_XString, "x")
		m.ProtoReflect().SetUnknown(unknown("u"))
		return m
	}
	for name, want := range map[string]*open.All2{
		"nothing": {},
		"other":   {FInt64: proto.Int64(2), RepInt32: []int32{3}, MapToBytes: map[int32][]byte{2: nil}, Kind: &open.All2_OneNumber{OneNumber: 1}},
	} {
		got := full()
		if err := codec.Unmarshal(marshal(t, codec.Options{}, want), got); err != nil {
			t.Fatal(err)
		}
		if d := corpus.Diff(want, got); d != "" {
			t.Errorf("%s\n%s", name, d)
		}
	}
	// Whatever the message was, after an error it is empty.
	got := full()
	frame := marshal(t, codec.Options{}, full())
	frame[30] ^= 1
	refused(t, codec.Unmarshal(frame, got), codec.ErrChecksum)
	if d := corpus.Diff(new(open.All2), got); d != "" {
		t.Errorf("after an error\n%s", d)
	}
}

func TestNil(t *testing.T) {
	_, err := codec.Marshal(nil)
	refused(t, err, codec.ErrNotMessage)
	frame := marshal(t, codec.Options{}, new(open.All3))
	refused(t, codec.Unmarshal(frame, nil), codec.ErrNotMessage)
	refused(t, codec.Unmarshal(frame, (*open.All3)(nil)), codec.ErrNotMessage)
	// To protobuf a nil pointer is an empty message.
	if typed := marshal(t, codec.Options{}, (*open.All3)(nil)); string(typed) != string(frame) {
		t.Errorf("nil pointer\n%x\n%x", typed, frame)
	}
	refused(t, codec.Unmarshal(nil, new(open.All3)), codec.ErrIncomplete)
	dst := []byte("kept")
	if out, err := codec.MarshalAppend(dst, nil); err == nil || string(out) != "kept" {
		t.Errorf("MarshalAppend gave %q, %v", out, err)
	}
}

func TestDefaults(t *testing.T) {
	got := through(t, new(open.All2)).(*open.All2)
	if got.GetDefInt32() != -32 || got.GetDefString() != `a "default"` || got.GetDefEnum() != open.Level2_LEVEL2_HIGH || got.DefInt32 != nil {
		t.Errorf("defaults: %v", got)
	}
	got = through(t, &open.All2{DefInt32: proto.Int32(0), DefString: proto.String(""), DefBool: proto.Bool(false)}).(*open.All2)
	if got.GetDefInt32() != 0 || got.DefString == nil || got.GetDefString() != "" || got.GetDefBool() {
		t.Errorf("set against the default: %v", got)
	}
}

// A struct that embeds a message is a proto.Message too: it has the message's methods.
func TestEmbedded(t *testing.T) {
	type embedding struct {
		*open.All3
		Note string
	}
	m := &open.All3{FInt32: 5, FString: "text"}
	want := marshal(t, codec.Options{}, m)
	frame, err := codec.Marshal(embedding{All3: m})
	if err != nil || !bytes.Equal(frame, want) {
		t.Errorf("%x, %v, want %x", frame, err, want)
	}
	got := &embedding{All3: &open.All3{FBool: true}, Note: "kept"}
	if err := codec.Unmarshal(want, got); err != nil || !proto.Equal(got.All3, m) || got.Note != "kept" {
		t.Errorf("%v, %v, want %v", got, err, m)
	}
	if err := codec.Unmarshal(want, embedding{}); !errors.Is(err, codec.ErrNotMessage) {
		t.Errorf("into a nil one: %v, want %v", err, codec.ErrNotMessage)
	}
}
