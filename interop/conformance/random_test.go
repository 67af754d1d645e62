package main

import (
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/check"
)

// Random values of the suite's messages, and damaged frames of them: by generated
// methods and as dynamic messages, with the same outcome. The suite itself has
// few unknown fields, extensions and unknown enum numbers.
func TestRandomValues(t *testing.T) {
	var types []protoreflect.MessageType
	for _, pkg := range []protoreflect.FullName{
		"protobuf_test_messages.proto2", "protobuf_test_messages.proto3",
		"protobuf_test_messages.editions", "protobuf_test_messages.editions.proto2", "protobuf_test_messages.editions.proto3",
	} {
		protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
			if mt.Descriptor().ParentFile().Package() == pkg && (protolegacy || !holdsMessageSet(mt.Descriptor(), nil)) {
				types = append(types, mt)
			}
			return true
		})
	}
	s := check.All(check.Checker{
		Codec:      codec.Options{},
		Partial:    codec.Options{AllowPartial: true},
		Resolver:   protoregistry.GlobalTypes,
		Extensions: check.LinkedExtensions(),
		Seed:       1,
	}, types, 60)
	for _, f := range s.Failures {
		t.Error(f)
	}
	t.Logf("%d types, %d values, %d damaged frames of which %d were accepted", s.Types, s.Values, s.Damaged, s.Accepted)
	if s.Types < 30 {
		t.Errorf("%d types, want at least 30", s.Types)
	}
}

// holdsMessageSet reports whether a message can hold a message set, for which
// protobuf-go needs a build tag.
func holdsMessageSet(md protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if seen == nil {
		seen = make(map[protoreflect.FullName]bool)
	}
	if seen[md.FullName()] {
		return false
	}
	seen[md.FullName()] = true
	if set, ok := md.(interface{ IsMessageSet() bool }); ok && set.IsMessageSet() {
		return true
	}
	for i := range md.Fields().Len() {
		if sub := md.Fields().Get(i).Message(); sub != nil && holdsMessageSet(sub, seen) {
			return true
		}
	}
	return false
}
