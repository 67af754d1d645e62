package main

import (
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// Linked in for TestLinkedTypes.
	_ "google.golang.org/protobuf/types/gofeaturespb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/apipb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/sourcecontextpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/typepb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
	_ "google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/check"
	"github.com/graven-rpc/graven/interop/schemas/sets"
)

func newChecker() *check.Checker {
	return &check.Checker{
		Codec:      codec.Options{},
		Partial:    codec.Options{AllowPartial: true},
		Resolver:   protoregistry.GlobalTypes,
		Extensions: check.LinkedExtensions(),
		Seed:       1,
	}
}

// Types with generated code of protobuf-go: the well-known ones and descriptors.
func TestLinkedTypes(t *testing.T) {
	c := newChecker()
	types := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		types++
		if err := c.Safely(mt, 60); err != nil {
			t.Error(err)
		}
		return true
	})
	t.Logf("%d types, %d values, %d bytes of frames, %d of protobuf", types, c.Values, c.Frames, c.Protobuf)
	if types < 60 {
		t.Errorf("%d types, want at least 60", types)
	}
}

// The test protos of protobuf-go, as dynamic messages.
func TestProtobufGo(t *testing.T) {
	files, own, err := sets.ProtobufGo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	types, err := sets.NewTypes(files, own)
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker()
	c.Codec, c.Partial = codec.Options{Resolver: types}, codec.Options{Resolver: types, AllowPartial: true}
	c.Resolver, c.Extensions = types, types.Extensions
	for _, mt := range types.Messages {
		if err := c.Safely(mt, 20); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files, %d types, %d values, %d bytes of frames, %d of protobuf", types.Files, len(types.Messages), c.Values, c.Frames, c.Protobuf)
	if len(types.Messages) < 400 {
		t.Errorf("%d types, want at least 400", len(types.Messages))
	}
}

// teeth has one of everything that can get lost.
const teeth = `
syntax = "proto2";
message Everything {
  optional int32 number = 1 [default = 7];
  optional double real = 2;
  optional Kind kind = 3;
  optional Everything message = 4;
  map<string, int64> counts = 5;
  oneof choice {
    string text = 6;
    uint64 count = 7;
  }
  extensions 100 to 199;
}
enum Kind {
  NONE = 0;
  SOME = 1;
}
extend Everything {
  optional string more = 100;
}
`

// lossy is a codec that loses something on the way.
type lossy struct {
	codec.Options
	lose func(protoreflect.Message)
}

func (l lossy) Unmarshal(frame []byte, m proto.Message) error {
	err := l.Options.Unmarshal(frame, m)
	l.lose(m.ProtoReflect())
	return err
}

// The checker must notice whatever gets lost, and values must have all of it.
func TestCheckerHasTeeth(t *testing.T) {
	files, err := (&protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"teeth.proto": teeth}),
	}}).Compile(t.Context(), "teeth.proto")
	if err != nil {
		t.Fatal(err)
	}
	types, err := sets.NewTypes(&descriptorpb.FileDescriptorSet{
		File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	clearIf := func(cond func(protoreflect.FieldDescriptor, protoreflect.Value) bool) func(protoreflect.Message) {
		return func(m protoreflect.Message) {
			m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
				if cond(fd, v) {
					m.Clear(fd)
				}
				return true
			})
		}
	}
	losses := map[string]func(protoreflect.Message){
		"nothing":        func(protoreflect.Message) {},
		"unknown fields": func(m protoreflect.Message) { m.SetUnknown(nil) },
		"extensions": clearIf(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
			return fd.IsExtension()
		}),
		"explicit defaults": clearIf(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			return fd.HasPresence() && fd.Message() == nil && fd.ContainingOneof() == nil && v.Equal(fd.Default())
		}),
		"zero members of oneofs": clearIf(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			return fd.ContainingOneof() != nil && fd.Message() == nil && v.Equal(fd.Default())
		}),
		"empty messages": clearIf(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			return fd.Message() != nil && !fd.IsList() && !fd.IsMap() && proto.Size(v.Message().Interface()) == 0
		}),
		"unknown enum numbers": clearIf(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			return fd.Enum() != nil && !fd.IsList() && fd.Enum().Values().ByNumber(v.Enum()) == nil
		}),
		"maps": clearIf(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool { return fd.IsMap() }),
		"the sign of zero": func(m protoreflect.Message) {
			m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
				if fd.Kind() == protoreflect.DoubleKind && v.Float() == 0 {
					m.Set(fd, protoreflect.ValueOfFloat64(0))
				}
				return true
			})
		},
	}
	for name, lose := range losses {
		c := newChecker()
		c.Codec, c.Partial = lossy{codec.Options{Resolver: types}, lose}, lossy{codec.Options{Resolver: types, AllowPartial: true}, lose}
		c.Resolver, c.Extensions = types, types.Extensions
		var failed error
		for _, mt := range types.Messages {
			if err := c.Type(mt, 400); err != nil {
				failed = err
			}
		}
		if (failed != nil) != (name != "nothing") {
			t.Errorf("a codec that loses %s: %v", name, failed)
		}
	}
}
