package corpus

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The generators are only as good as what they reach.
func TestRandomValuesReach(t *testing.T) {
	seen := make(map[string]int)
	var walk func(m protoreflect.Message, depth int)
	walk = func(m protoreflect.Message, depth int) {
		if len(m.GetUnknown()) > 0 {
			seen["unknown"]++
		}
		if depth == 4 {
			seen["depth 4"]++
		}
		m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			if fd.IsExtension() {
				seen["extension"]++
			}
			if fd.ContainingOneof() != nil && !fd.ContainingOneof().IsSynthetic() {
				seen["oneof"]++
			}
			if Width(fd) != 0 {
				seen["narrow"]++
			}
			if fd.Message() != nil && !fd.IsMap() && Inline(fd.Message()) {
				seen["inline"]++
			}
			if fd.Kind() == protoreflect.EnumKind && !fd.IsList() && fd.Enum().Values().ByNumber(v.Enum()) == nil {
				seen["unknown enum"]++
			}
			return true
		})
		eachMessage(m, func(_ protoreflect.FieldDescriptor, sub protoreflect.Message) { walk(sub, depth+1) })
	}
	largest := 0
	for seed := range uint64(200) {
		set, err := Compile("rnd.proto", RandomSchema(seed, "rnd").Text())
		if err != nil {
			t.Fatal(err)
		}
		for i, md := range set.Messages() {
			m, err := set.New(md.FullName())
			if err != nil {
				t.Fatal(err)
			}
			v := Values{R: Rand(seed*100 + uint64(i)), Extensions: set.Extensions(), Unknown: true}
			v.Fill(m.ProtoReflect())
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			largest = max(largest, len(b))
			again, err := set.New(md.FullName())
			if err != nil {
				t.Fatal(err)
			}
			if err := (proto.UnmarshalOptions{Resolver: set.Types}).Unmarshal(b, again); err != nil {
				t.Fatal(err)
			}
			if d := Diff(m, again); d != "" {
				t.Fatalf("seed %d: protobuf's bytes do not give the message back\n%s", seed, d)
			}
			walk(m.ProtoReflect(), 1)
		}
	}
	for _, k := range []string{"unknown", "extension", "oneof", "narrow", "inline", "unknown enum", "depth 4"} {
		if seen[k] < 10 {
			t.Errorf("%s: seen %d times", k, seen[k])
		}
	}
	t.Logf("%v, largest message %d bytes", seen, largest)
}
