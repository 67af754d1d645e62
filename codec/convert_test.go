package codec_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// storedAs are the ways in which a writer may have stored a number.
var storedAs = []struct {
	name string
	code int
	size int
}{{"bool", 1, 1}, {"one byte", 2, 1}, {"two bytes", 7, 2}, {"four bytes", 3, 4}, {"eight bytes", 4, 8}}

// storedValues are the numbers, by their bits.
var storedValues = []uint64{0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, 1 << 63, math.MaxUint64}

// readAs are the fields of a reader. In message R field n has kind n+1, in L a
// list of it, in V and K a map with it as value or key.
var readAs = []struct {
	kind   string
	width  int
	bits   int // of the protobuf kind
	signed bool
	float  bool
}{
	{"int32", 0, 32, true, false}, {"int64", 0, 64, true, false}, {"uint32", 0, 32, false, false}, {"uint64", 0, 64, false, false},
	{"sint32", 0, 32, true, false}, {"sint64", 0, 64, true, false}, {"fixed32", 0, 32, false, false}, {"fixed64", 0, 64, false, false},
	{"sfixed32", 0, 32, true, false}, {"sfixed64", 0, 64, true, false}, {"bool", 0, 1, false, false}, {"E", 0, 32, true, false},
	{"float", 0, 32, false, true}, {"double", 0, 64, false, true},
	{"int32", 8, 32, true, false}, {"uint32", 16, 32, false, false}, {"int64", 16, 64, true, false}, {"uint64", 8, 64, false, false},
	{"uint64", 32, 64, false, false}, {"sint64", 32, 64, true, false}, {"E", 16, 32, true, false},
}

func readerSchema(optional string) string {
	var singular, list, values, keys strings.Builder
	for i, r := range readAs {
		n := i + 1
		tail := ""
		if r.width != 0 {
			tail = fmt.Sprintf(" [(graven.field).width = %d]", r.width)
		}
		fmt.Fprintf(&singular, "%s%s f%d = %d%s;\n", optional, r.kind, n, n, tail)
		fmt.Fprintf(&list, "repeated %s f%d = %d%s;\n", r.kind, n, n, tail)
		if r.width == 0 {
			fmt.Fprintf(&values, "map<int32, %s> f%d = %d;\n", r.kind, n, n)
			if !r.float && r.kind != "E" {
				fmt.Fprintf(&keys, "map<%s, int32> f%d = %d;\n", r.kind, n, n)
			}
		}
	}
	return `syntax = "proto3"; package conv; import "graven/options.proto"; enum E { E0 = 0; }` + "\n" +
		"message R {\n" + singular.String() + "}\nmessage L {\n" + list.String() + "}\nmessage V {\n" + values.String() + "}\nmessage K {\n" + keys.String() + "}\n"
}

// bytesOf returns the low bytes of v.
func bytesOf(v uint64, size int) []byte { return u64(v)[:size] }

// expected is what the format says of a number of size bytes read as kind i:
// its value, or false if it has to be refused.
func expected(i int, code, size int, v uint64) (uint64, bool) {
	r := readAs[i]
	v &= math.MaxUint64 >> (64 - 8*size)
	switch {
	case r.float:
		return v, code != 1 && 8*size == r.bits
	case r.kind == "bool":
		return min(v, 1), true
	}
	// Widened by the reader's signedness; a bool is a bit and not a byte.
	if r.signed && code != 1 {
		v = uint64(int64(v) << (64 - 8*size) >> (64 - 8*size))
	}
	// Narrowed to the width of the reader's protobuf kind; a narrow option
	// does not narrow what is read.
	if r.bits == 32 {
		v &= math.MaxUint32
		if r.signed {
			v = uint64(int64(int32(v)))
		}
	}
	return v, true
}

// numberBits returns a value as expected gives it.
func numberBits(v protoreflect.Value) uint64 {
	return plain(v).(uint64)
}

func floatBits(v protoreflect.Value) uint64 {
	switch x := v.Interface().(type) {
	case float32:
		return uint64(math.Float32bits(x))
	case float64:
		return math.Float64bits(x)
	}
	return numberBits(v)
}

// quiet is what is left of a signaling NaN of 32 bits that went through
// reflection.
func quiet(i int, v uint64) uint64 {
	if readAs[i].kind == "float" {
		return uint64(math.Float32bits(float32(float64(math.Float32frombits(uint32(v))))))
	}
	return v
}

func cellOf(number, code, size int, v uint64) corpus.Cell {
	c := corpus.Cell{Number: number, Code: code, On: v != 0, Bytes: bytesOf(v, size)}
	if code == 7 {
		c.K = size
	}
	return c
}

func TestNumbersOfAnotherWidth(t *testing.T) {
	for _, optional := range []string{"", "optional "} {
		set := compile(t, readerSchema(optional))
		for _, w := range storedAs {
			for _, v := range storedValues {
				if w.code == 1 && v > 1 || v > math.MaxUint64>>(64-8*w.size) {
					continue
				}
				for i := range readAs {
					name := fmt.Sprintf("%s %#x as %s%s/%d", w.name, v, optional, readAs[i].kind, readAs[i].width)
					m := newMessage(t, set, "conv.R")
					err := decoded(t, m, cellOf(i+1, w.code, w.size, v))
					want, ok := expected(i, w.code, w.size, v)
					checkRead(t, name, m, i, err, ok)
					if err != nil {
						continue
					}
					fd := m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(i + 1))
					if got := floatBits(m.Get(fd)); got != quiet(i, want) {
						t.Errorf("%s: read %#x, want %#x", name, got, want)
					}
					if optional != "" && !m.Has(fd) {
						t.Errorf("%s: came unset", name)
					}
					checkEncodesIfItFits(t, name, m, fd)
				}
			}
		}
	}
}

func checkRead(t *testing.T, name string, m protoreflect.Message, i int, err error, ok bool) {
	t.Helper()
	if ok != (err == nil) {
		t.Errorf("%s: %v", name, err)
	}
	if err == nil {
		return
	}
	if !errors.Is(err, codec.ErrIncompatible) {
		t.Errorf("%s: %v", name, err)
	}
	if f := fieldOf(err); f != m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(i+1)).FullName() {
		t.Errorf("%s: the error names %q", name, f)
	}
}

// checkEncodesIfItFits demands an error that names the field from a narrow
// value that was read whole and does not fit, and else a frame.
func checkEncodesIfItFits(t *testing.T, name string, m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	t.Helper()
	_, err := codec.Marshal(m.Interface())
	if fits(m.Interface()) {
		if err != nil {
			t.Errorf("%s: encoding: %v", name, err)
		}
		return
	}
	if !errors.Is(err, codec.ErrRange) || fieldOf(err) != fd.FullName() {
		t.Errorf("%s: encoding what does not fit: %v", name, err)
	}
}

func TestListsOfAnotherWidth(t *testing.T) {
	set := compile(t, readerSchema(""))
	for _, size := range []int{1, 2, 4, 8} {
		var stored []byte
		var values []uint64
		for _, v := range storedValues {
			if v <= math.MaxUint64>>(64-8*size) {
				stored = append(stored, bytesOf(v, size)...)
				values = append(values, v)
			}
		}
		for i, r := range readAs {
			for _, few := range []bool{false, true} {
				b, vs := stored, values
				if few { // 0 and 1
					b, vs = stored[:2*size], values[:2]
				}
				name := fmt.Sprintf("elements of %d as %s/%d", size, r.kind, r.width)
				m := newMessage(t, set, "conv.L")
				err := decoded(t, m, corpus.Cell{Number: i + 1, Code: 7, E: size, Bytes: b})
				ok := !r.float || 8*size == r.bits
				if r.kind == "bool" && size == 1 && !few {
					if err == nil || !errors.Is(err, codec.ErrMalformed) && !errors.Is(err, codec.ErrIncompatible) {
						t.Errorf("%s: bytes other than 0 and 1: %v", name, err)
					}
					continue
				}
				checkRead(t, name, m, i, err, ok)
				if err != nil {
					continue
				}
				fd := m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(i + 1))
				list := m.Get(fd).List()
				if list.Len() != len(vs) {
					t.Fatalf("%s: %d of %d elements", name, list.Len(), len(vs))
				}
				for j, v := range vs {
					want, _ := expected(i, 0, size, v)
					if got := floatBits(list.Get(j)); got != quiet(i, want) {
						t.Errorf("%s: element %d: read %#x, want %#x", name, j, got, want)
					}
				}
				checkEncodesIfItFits(t, name, m, fd)
			}
		}
	}
	for name, c := range map[string]corpus.Cell{
		"elements of three": {Code: 7, E: 3, Bytes: make([]byte, 6)},
		"strings":           {Code: 7, E: 0, Bytes: unhex(t, "01 61")},
		"a blob":            {Code: 5, Bytes: []byte("abcd")},
		"a block":           {Code: 6, Bytes: corpus.Block([]corpus.Cell{four(1, 1)})},
		"a number":          {Code: 3, Bytes: u32(1)},
		"a bool":            {Code: 1, On: true},
		"fixed bytes":       {Code: 7, K: 4, Bytes: u32(1)},
	} {
		for i := range readAs {
			m := newMessage(t, set, "conv.L")
			c.Number = i + 1
			checkRead(t, name, m, i, decoded(t, m, c), false)
		}
	}
	for name, c := range map[string]corpus.Cell{
		"a list":        {Code: 7, E: 4, Bytes: u32(1)},
		"strings":       {Code: 7, E: 0, Bytes: unhex(t, "01 61")},
		"a blob":        {Code: 5, Bytes: []byte("abcd")},
		"a block":       {Code: 6, Bytes: corpus.Block([]corpus.Cell{four(1, 1)})},
		"an inline one": {Code: 7, K: 4, Bytes: u32(1)},
		"three bytes":   {Code: 7, K: 3, Bytes: make([]byte, 3)},
		"one byte":      {Code: 7, K: 1, Bytes: make([]byte, 1)},
	} {
		for i := range readAs {
			m := newMessage(t, set, "conv.R")
			c.Number = i + 1
			checkRead(t, name, m, i, decoded(t, m, c), false)
		}
	}
}

func TestMapsOfAnotherWidth(t *testing.T) {
	set := compile(t, readerSchema(""))
	for _, w := range storedAs {
		for _, v := range storedValues {
			if w.code == 1 && v > 1 || v > math.MaxUint64>>(64-8*w.size) {
				continue
			}
			for i, r := range readAs {
				if r.width != 0 {
					continue
				}
				name := fmt.Sprintf("%s %#x as a map's %s", w.name, v, r.kind)
				want, ok := expected(i, w.code, w.size, v)
				m := newMessage(t, set, "conv.V")
				err := decoded(t, m, corpus.Cell{Number: i + 1, Code: 6, Bytes: corpus.Block([]corpus.Cell{four(1, 5), cellOf(2, w.code, w.size, v)})})
				if ok != (err == nil) {
					t.Errorf("%s: %v", name, err)
				}
				if err == nil {
					got := m.Get(m.Descriptor().Fields().ByNumber(protoreflect.FieldNumber(i + 1))).Map().Get(protoreflect.ValueOfInt32(5).MapKey())
					if !got.IsValid() || floatBits(got) != quiet(i, want) {
						t.Errorf("%s: read %v, want %#x", name, got, want)
					}
				}
				fd := set.Main.Messages().ByName("K").Fields().ByNumber(protoreflect.FieldNumber(i + 1))
				if fd == nil {
					continue
				}
				// Two keys that may become one: the last wins.
				m = newMessage(t, set, "conv.K")
				err = decoded(t, m, corpus.Cell{Number: i + 1, Code: 6, Bytes: corpus.Block(
					[]corpus.Cell{cellOf(1, w.code, w.size, v), four(2, 1)},
					[]corpus.Cell{cellOf(1, w.code, w.size, v), four(2, 2)},
				)})
				if err != nil {
					t.Errorf("%s as a key: %v", name, err)
					continue
				}
				m.Get(fd).Map().Range(func(k protoreflect.MapKey, val protoreflect.Value) bool {
					if numberBits(k.Value()) != want || val.Int() != 2 {
						t.Errorf("%s as a key: read %v: %v, want %#x: 2", name, k, val, want)
					}
					return true
				})
				if n := m.Get(fd).Map().Len(); n != 1 {
					t.Errorf("%s as a key: %d entries", name, n)
				}
			}
		}
	}
}

// Messages and blobs of another kind.
func TestOtherKindsOfStorage(t *testing.T) {
	set := compile(t, `syntax = "proto3"; package conv; import "graven/options.proto";
		message I { option (graven.message).inline = true; uint32 a = 1; bool b = 2; }
		message M { string s = 1; }
		message R {
			string text = 1; bytes raw = 2; M one = 3; repeated M many = 4; I inline = 5; repeated I inlines = 6;
			map<string, M> by_name = 7; repeated string texts = 8; repeated bytes raws = 9; map<int32, I> values = 10;
			optional string opt = 11; oneof o { M in_oneof = 12; I inline_in_oneof = 13; string text_in_oneof = 14; }
		}`)
	one := corpus.Block([]corpus.Cell{blob(1, "x")})
	two := corpus.Block([]corpus.Cell{blob(1, "x")}, []corpus.Cell{blob(1, "y")})
	writers := map[string]corpus.Cell{
		"blob": {Code: 5, Bytes: []byte("text")}, "one row": {Code: 6, Bytes: one}, "two rows": {Code: 6, Bytes: two},
		"five fixed bytes": {Code: 7, K: 5, Bytes: []byte{1, 2, 3, 4, 1}}, "four fixed bytes": {Code: 7, K: 4, Bytes: u32(1)},
		"list of five bytes": {Code: 7, E: 5, Bytes: []byte{1, 2, 3, 4, 0, 1, 2, 3, 4, 1}}, "list of four bytes": {Code: 7, E: 4, Bytes: u32(1)},
		"strings": {Code: 7, E: 0, Bytes: unhex(t, "02 01000000 6162")},
		"number":  {Code: 3, Bytes: u32(1)}, "bool": {Code: 1, On: true}, "byte": {Code: 2, Bytes: []byte{1}}, "eight bytes": {Code: 4, Bytes: u64(1)},
	}
	accepts := map[string]string{
		"text": "blob", "raw": "blob", "opt": "blob", "text_in_oneof": "blob",
		"one": "one row", "in_oneof": "one row", "many": "one row, two rows", "by_name": "", "values": "",
		"inline": "five fixed bytes", "inline_in_oneof": "five fixed bytes", "inlines": "list of five bytes", "texts": "strings", "raws": "strings",
	}
	for i := range set.Main.Messages().ByName("R").Fields().Len() {
		fd := set.Main.Messages().ByName("R").Fields().Get(i)
		for name, c := range writers {
			c.Number = int(fd.Number())
			m := newMessage(t, set, "conv.R")
			err := decoded(t, m, c)
			if strings.Contains(", "+accepts[string(fd.Name())]+", ", ", "+name+", ") {
				if err != nil {
					t.Errorf("%s as %s: %v", name, fd.Name(), err)
				} else if !m.Has(fd) {
					t.Errorf("%s as %s: not set", name, fd.Name())
				}
				continue
			}
			if fd.IsMap() && strings.HasSuffix(name, "row") || fd.IsMap() && strings.HasSuffix(name, "rows") {
				continue // rows of another type, whose field 1 may do for a key
			}
			if err == nil {
				t.Errorf("%s as %s: accepted as %v", name, fd.Name(), m)
				continue
			}
			if name == "two rows" && fd.Message() != nil && errors.Is(err, codec.ErrMalformed) {
				continue // n = 1 where singular is a verifier's rule as well
			}
			if !errors.Is(err, codec.ErrIncompatible) || fieldOf(err) != fd.FullName() {
				t.Errorf("%s as %s: %v, field %q", name, fd.Name(), err, fieldOf(err))
			}
		}
	}
}

// A field that a writer only describes, without any row having it, never fails.
func TestDescribedOnly(t *testing.T) {
	set := compile(t, `syntax = "proto3"; package conv; message R { string a = 1; int32 b = 2; R c = 3; repeated bytes d = 4; }`)
	m := newMessage(t, set, "conv.R")
	// a as a number, b as a blob, c as two fixed bytes, d as a block, and a
	// number 5, which is the only one that the row has.
	body := unhex(t, "eb3d 02 10 00000000 0000 07000000 00000000")
	if err := codec.Unmarshal(corpus.Seal(idOf(t, m), body), m); err != nil {
		t.Fatal(err)
	}
	want := newMessage(t, set, "conv.R")
	want.SetUnknown(carried(four(5, 7)))
	if d := corpus.Diff(want, m); d != "" {
		t.Error(d)
	}
	// The first of them present.
	body[3] = 0x11
	err := codec.Unmarshal(corpus.Seal(idOf(t, m), body), m)
	refused(t, err, codec.ErrIncompatible)
	if f := fieldOf(err); f != "conv.R.a" {
		t.Errorf("field %q: %v", f, err)
	}
}
