package breaking

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/layout"
	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

const agreeSchema = `syntax = "proto3";
package t;
import "graven/options.proto";
message M { %s }
enum E { NONE = 0; }
message C { int32 v = 1; }
message Pair { int32 key = 1; int32 value = 2; }
message One { option (graven.message).inline = true; bool a = 1; }
message Two { option (graven.message).inline = true; uint32 a = 1 [(graven.field).width = 16]; }
message Four { option (graven.message).inline = true; uint32 a = 1; }
message Eight { option (graven.message).inline = true; uint64 a = 1; }
message Twelve { option (graven.message).inline = true; uint32 a = 1; uint64 b = 2; }
`

// declarations are fields of all kinds, single and repeated.
func declarations() []string {
	var all []string
	scalars := []string{"bool", "int32", "sint32", "sfixed32", "uint32", "fixed32", "int64", "sint64", "sfixed64",
		"uint64", "fixed64", "float", "double", "string", "bytes", "E"}
	narrow := []string{"int32/8", "int32/16", "uint32/8", "uint32/16", "int64/8", "int64/16", "int64/32", "uint64/8", "uint64/16", "uint64/32", "E/8"}
	for _, k := range append(append(scalars, narrow...), "C", "Pair", "One", "Two", "Four", "Eight", "Twelve") {
		for _, label := range []string{"", "repeated "} {
			kind, width, _ := strings.Cut(k, "/")
			d := label + kind + " x = 1"
			if width != "" {
				d += " [(graven.field).width = " + width + "]"
			}
			all = append(all, d+";")
		}
	}
	return append(all, "map<int32, int32> x = 1;")
}

func compileOne(t *testing.T, body string) *layout.Message {
	t.Helper()
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
		&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(map[string]string{"t.proto": fmt.Sprintf(agreeSchema, body)})},
		protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
			if path != "graven/options.proto" {
				return protocompile.SearchResult{}, protoregistry.NotFound
			}
			return protocompile.SearchResult{Proto: protodesc.ToFileDescriptorProto(gravenpb.File_graven_options_proto)}, nil
		}),
	})}
	files, err := c.Compile(context.Background(), "t.proto")
	if err != nil {
		t.Fatal(err)
	}
	m, err := layout.Of(files[0].Messages().ByName("M"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// samples are messages with field x set to the ends of what it can hold.
func samples(m *layout.Message) []*dynamicpb.Message {
	f := &m.Fields[0]
	var all []*dynamicpb.Message
	add := func(set func(d *dynamicpb.Message, v protoreflect.Value), values ...protoreflect.Value) {
		for _, v := range values {
			d := dynamicpb.NewMessage(m.Desc)
			set(d, v)
			all = append(all, d)
		}
	}
	switch {
	case f.Desc.IsMap():
		add(func(d *dynamicpb.Message, v protoreflect.Value) {
			mp := d.Mutable(f.Desc).Map()
			for i := range int32(v.Int()) {
				mp.Set(protoreflect.ValueOfInt32(i-1).MapKey(), protoreflect.ValueOfInt32(i-1))
			}
		}, protoreflect.ValueOfInt32(1), protoreflect.ValueOfInt32(3))
	case f.Desc.IsList():
		add(func(d *dynamicpb.Message, v protoreflect.Value) {
			d.Mutable(f.Desc).List().Append(v)
			if f.Child != nil && !f.Inline {
				d.Mutable(f.Desc).List().Append(v)
			}
		}, values(f)...)
	default:
		add(func(d *dynamicpb.Message, v protoreflect.Value) { d.Set(f.Desc, v) }, values(f)...)
	}
	return all
}

func values(f *layout.Field) []protoreflect.Value {
	width := f.Width
	if width == 0 {
		width = 8 * layout.KindSize(f.Kind)
	}
	low, high := int64(-1)<<(max(1, width)-1), int64(math.MaxUint64>>1)>>(64-max(1, width))
	middle := high/2 + 1 // one bit, not the highest
	top := uint64(math.MaxUint64) >> (64 - max(1, width))
	switch f.Kind {
	case protoreflect.BoolKind:
		return []protoreflect.Value{protoreflect.ValueOfBool(true)}
	case protoreflect.EnumKind:
		return []protoreflect.Value{protoreflect.ValueOfEnum(protoreflect.EnumNumber(low)), protoreflect.ValueOfEnum(protoreflect.EnumNumber(high)), protoreflect.ValueOfEnum(protoreflect.EnumNumber(middle)), protoreflect.ValueOfEnum(1)}
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return []protoreflect.Value{protoreflect.ValueOfInt32(int32(low)), protoreflect.ValueOfInt32(int32(high)), protoreflect.ValueOfInt32(-1), protoreflect.ValueOfInt32(int32(middle)), protoreflect.ValueOfInt32(1)}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return []protoreflect.Value{protoreflect.ValueOfInt64(low), protoreflect.ValueOfInt64(high), protoreflect.ValueOfInt64(-1), protoreflect.ValueOfInt64(middle), protoreflect.ValueOfInt64(1)}
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint32(uint32(top)), protoreflect.ValueOfUint32(1), protoreflect.ValueOfUint32(uint32(middle))}
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return []protoreflect.Value{protoreflect.ValueOfUint64(top), protoreflect.ValueOfUint64(1), protoreflect.ValueOfUint64(uint64(middle))}
	case protoreflect.FloatKind:
		return []protoreflect.Value{protoreflect.ValueOfFloat32(1.5)}
	case protoreflect.DoubleKind:
		return []protoreflect.Value{protoreflect.ValueOfFloat64(1.5)}
	case protoreflect.StringKind:
		return []protoreflect.Value{protoreflect.ValueOfString("abcdefgh"), protoreflect.ValueOfString("ü")}
	case protoreflect.BytesKind:
		return []protoreflect.Value{protoreflect.ValueOfBytes([]byte("abcdefgh")), protoreflect.ValueOfBytes([]byte{0xFF})}
	}
	d := dynamicpb.NewMessage(f.Child.Desc)
	for i := range f.Child.Fields {
		c := &f.Child.Fields[i]
		d.Set(c.Desc, values(c)[0])
	}
	if f.Inline {
		return []protoreflect.Value{protoreflect.ValueOfMessage(d)}
	}
	more := proto.Clone(d).(*dynamicpb.Message)
	more.SetUnknown([]byte{0x98, 0x06, 0x01}) // field 99
	return []protoreflect.Value{protoreflect.ValueOfMessage(d), protoreflect.ValueOfMessage(more)}
}

// number is an integer, bool or enum as a mathematical integer.
func number(k protoreflect.Kind, v protoreflect.Value) *big.Int {
	switch x := v.Interface().(type) {
	case bool:
		if x {
			return big.NewInt(1)
		}
		return new(big.Int)
	case uint32:
		return big.NewInt(int64(x))
	case uint64:
		return new(big.Int).SetUint64(x)
	case protoreflect.EnumNumber:
		return big.NewInt(int64(x))
	}
	return big.NewInt(v.Int())
}

// same reports whether a reader has the writer's value: numbers as protobuf turns
// one integer kind into another without cutting them, messages by their fields.
func same(w, r *layout.Field, a, b protoreflect.Message) bool {
	single := func(x, y protoreflect.Value) bool {
		switch {
		case classOf(w) == integer && classOf(r) == integer:
			n, m := number(w.Kind, x), number(r.Kind, y)
			if r.Kind == protoreflect.BoolKind {
				return n.Cmp(m) == 0
			}
			size := uint(8 * layout.KindSize(r.Kind))
			limit := new(big.Int).Lsh(big.NewInt(1), size)
			if n.Sign() < 0 && n.BitLen() >= int(size)+1 || n.Cmp(limit) >= 0 || n.BitLen() > int(size) {
				return false // cut
			}
			return new(big.Int).Mod(n, limit).Cmp(new(big.Int).Mod(m, limit)) == 0
		case w.Child != nil && r.Child != nil:
			return shown(x.Message()) == shown(y.Message())
		case classOf(w) == text || classOf(w) == raw:
			return fmt.Sprintf("%q", x.Interface()) == fmt.Sprintf("%q", y.Interface())
		}
		return x.Interface() == y.Interface()
	}
	va, vb := a.Get(w.Desc), b.Get(r.Desc)
	elements := func(f *layout.Field, v protoreflect.Value) []protoreflect.Value {
		var all []protoreflect.Value
		switch {
		case f.Desc.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, e protoreflect.Value) bool {
				d := dynamicpb.NewMessage(f.Child.Desc)
				d.Set(f.Child.Fields[0].Desc, k.Value())
				d.Set(f.Child.Fields[1].Desc, e)
				all = append(all, protoreflect.ValueOfMessage(d))
				return true
			})
			slices.SortFunc(all, func(x, y protoreflect.Value) int { return strings.Compare(shown(x.Message()), shown(y.Message())) })
		case f.Desc.IsList():
			for i := range v.List().Len() {
				all = append(all, v.List().Get(i))
			}
			if r.Desc.IsMap() || w.Desc.IsMap() {
				slices.SortFunc(all, func(x, y protoreflect.Value) int { return strings.Compare(shown(x.Message()), shown(y.Message())) })
			}
		default:
			all = append(all, v)
		}
		return all
	}
	return slices.EqualFunc(elements(w, va), elements(r, vb), single)
}

// shown is a message by its numbers, whatever its type is called.
func shown(m protoreflect.Message) string {
	var all []string
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		all = append(all, fmt.Sprint(fd.Number(), ":", v))
		return true
	})
	slices.Sort(all)
	return strings.Join(all, " ") + fmt.Sprintf(" %x", []byte(m.GetUnknown()))
}

// entryLike names a field's message type, a map's entry by the message that looks like it.
func entryLike(f *layout.Field) protoreflect.FullName {
	if f.Desc.IsMap() {
		return "t.Pair"
	}
	return f.Child.Name()
}

// lesser are troubles that some values may have, besides the one that is told.
var lesser = map[loss][]loss{
	cut:     {stuck},
	misread: {stuck, notBool},
}

// What the check says of each pair of kinds is what the codec does: every
// outcome is found by a value, and nothing else is.
func TestOutcomesAreTheCodecs(t *testing.T) {
	decls := declarations()
	types := make([]*layout.Message, len(decls))
	for i, d := range decls {
		types[i] = compileOne(t, d)
	}
	outcomes := map[loss]int{}
	for i, w := range types {
		frames := make([][]byte, 0, 4)
		written := samples(w)
		for _, m := range written {
			b, err := codec.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, b)
		}
		for j, r := range types {
			plan, err := layout.NewPlan(r, w.Full)
			if err != nil {
				t.Fatal(err)
			}
			// Types of one shape but of different fields are compared field by field, elsewhere.
			wf, rf := &w.Fields[0], &r.Fields[0]
			if wf.Child != nil && rf.Child != nil && entryLike(wf) != entryLike(rf) {
				continue
			}
			said := read(wf, rf, plan)
			seen := map[loss]bool{}
			for k, frame := range frames {
				seen[observe(t, w, r, written[k], frame, said.kind)] = true
			}
			outcomes[said.kind]++
			if !seen[said.kind] {
				t.Errorf("%s -> %s: %s was said, no value shows it, but %v", decls[i], decls[j], said.says, seen)
			}
			for k := range seen {
				if k != right && k != said.kind && !slices.Contains(lesser[said.kind], k) {
					t.Errorf("%s -> %s: %s was said, not %d", decls[i], decls[j], said.says, k)
				}
			}
		}
	}
	for k := right; k <= mismatch; k++ {
		if outcomes[k] == 0 {
			t.Errorf("no pair of kinds has outcome %d", k)
		}
	}
}

// observe decodes a frame and classifies what came of it. What is refused in different words is
// told by what was said, if the kind of the error allows it.
func observe(t *testing.T, w, r *layout.Message, m proto.Message, frame []byte, said loss) loss {
	t.Helper()
	got := dynamicpb.NewMessage(r.Desc)
	err := codec.Unmarshal(frame, got)
	switch {
	case errors.Is(err, codec.ErrIncompatible):
		if !strings.Contains(err.Error(), "t.M.x") {
			t.Errorf("%v does not name the field", err)
		}
		if said == several {
			return several
		}
		return mismatch
	case errors.Is(err, codec.ErrUTF8):
		return notUTF8
	case errors.Is(err, codec.ErrMalformed):
		if said == likeMap {
			return likeMap
		}
		return notBool
	case err != nil:
		t.Fatal(err)
	}
	if !same(&w.Fields[0], &r.Fields[0], m.ProtoReflect(), got.ProtoReflect()) {
		if said == cut || said == likeMap {
			return said
		}
		return misread
	}
	if _, err := codec.Marshal(got); errors.Is(err, codec.ErrRange) {
		return stuck
	}
	return right
}
