package codec_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// extensionsOf returns the generated extensions of the test messages.
func extensionsOf() []protoreflect.ExtensionType {
	var all []protoreflect.ExtensionType
	for _, prefix := range []string{"open", "hybrid", "opaque"} {
		for _, name := range []string{"All2", "Node2", "Node2.Bag", "Required2", "AllE23", "NodeE23", "AllE24", "NodeE24"} {
			full := protoreflect.FullName(fmt.Sprintf("testpb.%s.%s", prefix, name))
			protoregistry.GlobalTypes.RangeExtensionsByMessage(full, func(xt protoreflect.ExtensionType) bool {
				all = append(all, xt)
				return true
			})
		}
	}
	// The registry is a map.
	slices.SortFunc(all, func(a, b protoreflect.ExtensionType) int {
		return cmp.Compare(a.TypeDescriptor().FullName(), b.TypeDescriptor().FullName())
	})
	return all
}

func newDynamic(md protoreflect.MessageDescriptor) proto.Message { return dynamicpb.NewMessage(md) }

// sameBytes compares messages of different Go types through protobuf bytes,
// both parsed as the first one's type, since types order unlike fields
// differently.
func sameBytes(t testing.TB, a, b proto.Message) string {
	t.Helper()
	raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	other := empty(a)
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(raw, other); err != nil {
		t.Fatal(err)
	}
	return corpus.Diff(a, other)
}
