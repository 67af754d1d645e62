package codec_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
)

func required2() *open.Required2 {
	return &open.Required2{
		Key: proto.String(""), Number: proto.Int32(0), Level: open.Level2_LEVEL2_LOW.Enum(), Node: &open.Node2{}, Raw: []byte{},
	}
}

func TestRequired(t *testing.T) {
	roundTrip(t, codec.Options{}, required2())
	with := func(set func(m *open.Required2)) *open.Required2 {
		m := required2()
		set(m)
		return m
	}
	cases := map[string]proto.Message{
		"all":       new(open.Required2),
		"scalar":    with(func(m *open.Required2) { m.Number = nil }),
		"string":    with(func(m *open.Required2) { m.Key = nil }),
		"bytes":     with(func(m *open.Required2) { m.Raw = nil }),
		"enum":      with(func(m *open.Required2) { m.Level = nil }),
		"message":   with(func(m *open.Required2) { m.Node = nil }),
		"child":     with(func(m *open.Required2) { m.Child = new(open.Required2) }),
		"list":      with(func(m *open.Required2) { m.Kids = []*open.Required2{required2(), {}} }),
		"map":       with(func(m *open.Required2) { m.ByNumber = map[int32]*open.Required2{1: {}} }),
		"oneof":     with(func(m *open.Required2) { m.Pick = &open.Required2_Left{Left: new(open.Required2)} }),
		"extension": with(func(m *open.Required2) { proto.SetExtension(m, open.E_RequiredX, new(open.Required2)) }),
		"deep": with(func(m *open.Required2) {
			m.Child = required2()
			m.Child.Kids = []*open.Required2{with(func(m *open.Required2) { m.Child = new(open.Required2) })}
		}),
		"below others": &open.HoldsRequired2{One: new(open.Required2)},
		"editions":     &open.RequiredE23{Text: proto.String("")},
		"delimited":    &open.RequiredE23{Text: proto.String(""), Number: proto.Int32(0), Kids: []*open.RequiredE23{{}}},
	}
	partial := codec.Options{AllowPartial: true}
	for name, m := range cases {
		if proto.CheckInitialized(m) == nil {
			t.Fatalf("%s: protobuf finds nothing missing", name)
		}
		_, err := codec.Marshal(m)
		if err == nil {
			t.Errorf("%s: encoded", name)
			continue
		}
		refused(t, err, codec.ErrRequired)
		frame, _ := roundTrip(t, partial, m)
		got := empty(m)
		err = codec.Unmarshal(frame, got)
		if err == nil {
			t.Errorf("%s: decoded", name)
			continue
		}
		refused(t, err, codec.ErrRequired)
	}
}

// Whatever the message, the codec misses what protobuf misses.
func TestRequiredRandom(t *testing.T) {
	missing, complete := 0, 0
	for seed := range uint64(300) {
		var m proto.Message = new(open.Required2)
		if seed%2 == 1 {
			m = new(open.RequiredE23)
		}
		v := corpus.Values{R: corpus.Rand(seed), Extensions: extensionsOf(), Partial: seed%3 > 0, Size: 5}
		v.Fill(m.ProtoReflect())
		want := proto.CheckInitialized(m) != nil
		if want {
			missing++
		} else {
			complete++
		}
		_, err := codec.Marshal(m)
		if (err != nil) != want {
			t.Fatalf("seed %d: encoding gives %v", seed, err)
		}
		frame := marshal(t, codec.Options{AllowPartial: true}, m)
		err = codec.Unmarshal(frame, empty(m))
		if (err != nil) != want {
			t.Fatalf("seed %d: decoding gives %v", seed, err)
		}
	}
	if missing < 50 || complete < 50 {
		t.Errorf("%d with something missing, %d without", missing, complete)
	}
}

const invalid = "a\xffb"

// patch replaces text in a frame's message by other of the same length.
func patch(t testing.TB, frame []byte, from, to string) []byte {
	t.Helper()
	if bytes.Count(frame, []byte(from)) != 1 || len(from) != len(to) {
		t.Fatalf("%q stands %d times in the frame", from, bytes.Count(frame, []byte(from)))
	}
	return corpus.Reseal(bytes.Replace(frame, []byte(from), []byte(to), 1))
}

func TestUTF8(t *testing.T) {
	const valid = "aYb"
	checked := map[string]func(s string) proto.Message{
		"singular":             func(s string) proto.Message { return &open.All3{FString: s} },
		"optional":             func(s string) proto.Message { return &open.All3{OptString: &s} },
		"list":                 func(s string) proto.Message { return &open.All3{RepString: []string{"ok", s, ""}} },
		"map key":              func(s string) proto.Message { return &open.All3{MapToEnum: map[string]open.Color3{s: 1}} },
		"map value":            func(s string) proto.Message { return &open.All3{MapToString: map[int32]string{1: s}} },
		"oneof":                func(s string) proto.Message { return &open.All3{Kind: &open.All3_OneString{OneString: s}} },
		"nested":               func(s string) proto.Message { return &open.Tree3{Kids: []*open.Tree3{{}, {Name: s}}} },
		"in a map":             func(s string) proto.Message { return &open.All3{MapToMessage: map[string]*open.Tree3{"k": {Name: s}}} },
		"edition":              func(s string) proto.Message { return &open.AllE23{FString: &s} },
		"by feature":           func(s string) proto.Message { return &open.AllE23{Checked: s1(s)} },
		"second of neighbours": func(s string) proto.Message { return &open.All3{FString: "é", OptString: &s} },
	}
	for name, make := range checked {
		if b, err := proto.Marshal(make(invalid)); err == nil {
			t.Fatalf("%s: protobuf takes it: %x", name, b)
		}
		_, err := codec.Marshal(make(invalid))
		if err == nil {
			t.Errorf("%s: encoded", name)
		} else {
			refused(t, err, codec.ErrUTF8)
			if fieldOf(err) == "" {
				t.Errorf("%s: the error names no field: %v", name, err)
			}
		}
		m := make(valid)
		frame := marshal(t, codec.Options{}, m)
		err = codec.Unmarshal(patch(t, frame, valid, invalid), empty(m))
		if err == nil {
			t.Errorf("%s: decoded", name)
			continue
		}
		refused(t, err, codec.ErrMalformed)
	}
	// protobuf-go checks no extension.
	edition := new(open.AllE23)
	proto.SetExtension(edition, open.E_X23Text, invalid)
	unchecked := map[string]proto.Message{
		"edition ext.": edition,
		"proto2":       &open.All2{FString: s1(invalid), RepString: []string{invalid}, Kind: &open.All2_OneText{OneText: invalid}},
		"proto2 map":   &open.All2{MapText: map[string]string{invalid: invalid}, MapToMessage: map[string]*open.Node2{invalid: {Name: s1(invalid)}}},
		"by feature":   &open.AllE23{Unchecked: s1(invalid), RepUnchecked: []string{invalid, "", "\xc3", "\xa9"}},
		"bytes":        &open.All3{FBytes: []byte(invalid), RepBytes: [][]byte{[]byte(invalid)}},
		"proto2 ext.":  func() proto.Message { m := new(open.All2); proto.SetExtension(m, open.E_XString, invalid); return m }(),
	}
	for name, m := range unchecked {
		if _, err := proto.Marshal(m); err != nil {
			t.Fatalf("%s: protobuf refuses it: %v", name, err)
		}
		frame, _ := roundTrip(t, codec.Options{}, m)
		sameAsText(t, m, frame)
	}
}

func s1(s string) *string { return &s }

// Strings stand side by side in a tail; each has to be UTF-8 by itself.
func TestUTF8IsPerString(t *testing.T) {
	halves := []proto.Message{
		&open.All3{FString: "\xc3", OptString: s1("\xa9")},
		&open.All3{RepString: []string{"\xc3", "\xa9"}},
		&open.All3{RepMessage: []*open.Tree3{{Name: "\xe6\x97"}, {Name: "\xa5"}}},
		&open.All3{MapInt32: map[int32]string{1: "\xf0\x9f", 2: "\x98\x80"}},
	}
	wholes := []proto.Message{
		&open.All3{FString: "x", OptString: s1("y")},
		&open.All3{RepString: []string{"x", "y"}},
		&open.All3{RepMessage: []*open.Tree3{{Name: "vx"}, {Name: "y"}}},
		&open.All3{MapInt32: map[int32]string{1: "vx", 2: "yw"}},
	}
	texts := []string{"xy", "xy", "vxy", "vxyw"}
	broken := []string{"é", "é", "日", "😀"}
	for i, m := range halves {
		if _, err := codec.Marshal(m); err == nil {
			t.Errorf("%d: encoded", i)
		} else {
			refused(t, err, codec.ErrUTF8)
		}
		frame := marshal(t, codec.Options{}, wholes[i])
		if !bytes.Contains(frame, []byte(texts[i])) {
			t.Fatalf("%d: %q does not stand together", i, texts[i])
		}
		refused(t, codec.Unmarshal(patch(t, frame, texts[i], broken[i]), new(open.All3)), codec.ErrMalformed)
	}
	// Long runs of ASCII with one bad byte, at every place.
	long := strings.Repeat("0123456789abcdef", 9)
	frame := marshal(t, codec.Options{}, &open.All3{FString: long})
	for i := range long {
		bad := long[:i] + "\x80" + long[i+1:]
		refused(t, codec.Unmarshal(patch(t, frame, long, bad), new(open.All3)), codec.ErrMalformed)
	}
}

// chain returns a message of n levels, each in the field of the one above.
func chain(n int, down func(*open.Tree3) *open.Tree3) *open.Tree3 {
	root := &open.Tree3{}
	for at := root; n > 1; n-- {
		at = down(at)
	}
	return root
}

func TestDepth(t *testing.T) {
	single := func(m *open.Tree3) *open.Tree3 { m.Child = &open.Tree3{}; return m.Child }
	list := func(m *open.Tree3) *open.Tree3 { m.Kids = []*open.Tree3{{}}; return m.Kids[0] }
	oneof := func(m *open.Tree3) *open.Tree3 {
		in := &open.Tree3{}
		m.Pick = &open.Tree3_Left{Left: in}
		return in
	}
	mapped := func(m *open.Tree3) *open.Tree3 {
		in := &open.Tree3{}
		m.ByName = map[string]*open.Tree3{"": in}
		return in
	}
	// A level in a map counts twice: the entry and the message.
	for name, c := range map[string]struct {
		down  func(*open.Tree3) *open.Tree3
		steps int
	}{"singular": {single, 1}, "list": {list, 1}, "oneof": {oneof, 1}, "map": {mapped, 2}} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 3, 10, 101} {
				n := (limit-1)/c.steps + 1
				o := codec.Options{MaxDepth: limit}
				deepest, tooDeep := chain(n, c.down), chain(n+1, c.down)
				frame, err := o.Marshal(deepest)
				if err != nil {
					t.Fatalf("limit %d, %d levels: %v", limit, n, err)
				}
				if err := o.Unmarshal(frame, new(open.Tree3)); err != nil {
					t.Fatalf("limit %d, %d levels: %v", limit, n, err)
				}
				if err := (proto.UnmarshalOptions{RecursionLimit: limit}).Unmarshal(protoBytes(t, deepest), new(open.Tree3)); err != nil {
					t.Fatalf("limit %d, %d levels: protobuf says %v", limit, n, err)
				}
				frame = marshal(t, codec.Options{}, tooDeep)
				refused(t, o.Unmarshal(frame, new(open.Tree3)), codec.ErrTooDeep)
				if err := (proto.UnmarshalOptions{RecursionLimit: limit}).Unmarshal(protoBytes(t, tooDeep), new(open.Tree3)); err == nil {
					t.Fatalf("limit %d, %d levels: protobuf takes it", limit, n+1)
				}
				_, err = o.Marshal(tooDeep)
				refused(t, err, codec.ErrTooDeep)
			}
		})
	}
}

func protoBytes(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := corpus.Bytes(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDepthDefault(t *testing.T) {
	single := func(m *open.Tree3) *open.Tree3 { m.Child = &open.Tree3{}; return m.Child }
	m := chain(10_000, single)
	got := new(open.Tree3)
	if err := codec.Unmarshal(marshal(t, codec.Options{}, m), got); err != nil {
		t.Fatal(err)
	}
	levels := 0
	for at := got; at != nil; at = at.Child {
		levels++
	}
	if levels != 10_000 {
		t.Errorf("%d levels", levels)
	}
	m = chain(10_001, single)
	frame, err := codec.Options{MaxDepth: 20_000}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, codec.Unmarshal(frame, new(open.Tree3)), codec.ErrTooDeep)
}

// A residue counts on from the depth of its message.
func TestDepthOfResidue(t *testing.T) {
	leaf := &open.Node2{}
	m := leaf
	for range 5 {
		up := &open.Node2{}
		proto.SetExtension(up, open.E_NodeNode, m)
		m = up
	}
	m = &open.Node2{Child: &open.Node2{Child: m}} // 2 levels and 6 in the residue
	frame := marshal(t, codec.Options{}, m)
	if err := (codec.Options{MaxDepth: 8}).Unmarshal(frame, new(open.Node2)); err != nil {
		t.Errorf("8 levels: %v", err)
	}
	err := codec.Options{MaxDepth: 7}.Unmarshal(frame, new(open.Node2))
	if err == nil {
		t.Fatal("8 levels pass where 7 are allowed")
	}
	refused(t, err, codec.ErrTooDeep)
}

func TestNarrow(t *testing.T) {
	for name, c := range map[string]struct {
		set      func(m *open.All3, v int64)
		low, top int64
		unsigned bool
	}{
		"narrow_int32_8":       {set: func(m *open.All3, v int64) { m.NarrowInt32_8 = int32(v) }, low: -128, top: 127},
		"narrow_int32_16":      {set: func(m *open.All3, v int64) { m.NarrowInt32_16 = int32(v) }, low: -1 << 15, top: 1<<15 - 1},
		"narrow_uint32_8":      {set: func(m *open.All3, v int64) { m.NarrowUint32_8 = uint32(v) }, top: 255},
		"narrow_uint32_16":     {set: func(m *open.All3, v int64) { m.NarrowUint32_16 = uint32(v) }, top: 1<<16 - 1},
		"narrow_sint32_8":      {set: func(m *open.All3, v int64) { m.NarrowSint32_8 = int32(v) }, low: -128, top: 127},
		"narrow_fixed32_16":    {set: func(m *open.All3, v int64) { m.NarrowFixed32_16 = uint32(v) }, top: 1<<16 - 1},
		"narrow_int64_8":       {set: func(m *open.All3, v int64) { m.NarrowInt64_8 = v }, low: -128, top: 127},
		"narrow_int64_32":      {set: func(m *open.All3, v int64) { m.NarrowInt64_32 = v }, low: -1 << 31, top: 1<<31 - 1},
		"narrow_uint64_32":     {set: func(m *open.All3, v int64) { m.NarrowUint64_32 = uint64(v) }, top: 1<<32 - 1},
		"narrow_sfixed64_16":   {set: func(m *open.All3, v int64) { m.NarrowSfixed64_16 = v }, low: -1 << 15, top: 1<<15 - 1},
		"narrow_enum_8":        {set: func(m *open.All3, v int64) { m.NarrowEnum_8 = open.Color3(v) }, low: -128, top: 127},
		"narrow_opt":           {set: func(m *open.All3, v int64) { m.NarrowOpt = proto.Uint64(uint64(v)) }, top: 1<<16 - 1},
		"narrow_rep_uint32_8":  {set: func(m *open.All3, v int64) { m.NarrowRepUint32_8 = []uint32{1, uint32(v)} }, top: 255},
		"narrow_rep_uint64_32": {set: func(m *open.All3, v int64) { m.NarrowRepUint64_32 = []uint64{uint64(v)} }, top: 1<<32 - 1},
		"narrow_rep_sint64_8":  {set: func(m *open.All3, v int64) { m.NarrowRepSint64_8 = []int64{v, 0} }, low: -128, top: 127},
		"narrow_rep_enum":      {set: func(m *open.All3, v int64) { m.NarrowRepEnum = []open.Color3{open.Color3(v)} }, low: -1 << 15, top: 1<<15 - 1},
		"small":                {set: func(m *open.All3, v int64) { m.FInline = &open.Box3{Low: &open.Vec3{}, High: &open.Vec3{}, Small: v} }, low: -128, top: 127},
		"tag": {set: func(m *open.All3, v int64) {
			m.RepInline = []*open.Box3{{Low: &open.Vec3{}, High: &open.Vec3{}, Tag: uint32(v)}}
		}, top: 1<<16 - 1},
	} {
		for _, v := range []int64{0, 1, c.low, c.top} {
			m := new(open.All3)
			c.set(m, v)
			frame, _ := roundTrip(t, codec.Options{}, m)
			sameAsText(t, m, frame)
		}
		for _, v := range []int64{c.low - 1, c.top + 1, math.MaxInt64, math.MinInt64 + 7} {
			m := new(open.All3)
			c.set(m, v)
			if fits(m) {
				continue // cut to the width of the Go type
			}
			_, err := codec.Marshal(m)
			if err == nil {
				t.Errorf("%s = %d: encoded", name, v)
				continue
			}
			refused(t, err, codec.ErrRange)
			if f := fieldOf(err); string(f.Name()) != name || !strings.Contains(err.Error(), name) {
				t.Errorf("%s = %d: the error names %q: %v", name, v, f, err)
			}
		}
	}
}

// fits says whether the encoder that was written from the text takes m.
func fits(m proto.Message) bool {
	_, err := corpus.Encode(m)
	return err == nil
}

func fieldOf(err error) protoreflect.FullName {
	var e *codec.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}
