package codec_test

import (
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/apipb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/sourcecontextpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/typepb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// wellKnown are the types that protobuf-go ships.
func wellKnown() []proto.Message {
	return []proto.Message{
		new(anypb.Any), new(apipb.Api), new(durationpb.Duration), new(emptypb.Empty), new(fieldmaskpb.FieldMask),
		new(sourcecontextpb.SourceContext), new(structpb.Struct), new(structpb.Value), new(structpb.ListValue),
		new(timestamppb.Timestamp), new(typepb.Type), new(typepb.Enum),
		new(wrapperspb.BoolValue), new(wrapperspb.BytesValue), new(wrapperspb.DoubleValue), new(wrapperspb.FloatValue),
		new(wrapperspb.Int32Value), new(wrapperspb.Int64Value), new(wrapperspb.StringValue), new(wrapperspb.UInt32Value), new(wrapperspb.UInt64Value),
		new(descriptorpb.FileDescriptorSet), new(descriptorpb.DescriptorProto), new(descriptorpb.FieldOptions),
		new(pluginpb.CodeGeneratorRequest), new(pluginpb.CodeGeneratorResponse),
	}
}

func TestWellKnownTypes(t *testing.T) {
	for i, like := range wellKnown() {
		for seed := range 20 {
			m := empty(like)
			v := corpus.Values{R: corpus.Rand(uint64(i)<<16 + uint64(seed)), Unknown: true, Size: 30}
			v.Fill(m.ProtoReflect())
			frame, _ := roundTrip(t, codec.Options{AllowPartial: true}, m)
			sameAsText(t, m, frame)
		}
	}
	st, err := structpb.NewStruct(map[string]any{"a": 1.5, "b": nil, "c": []any{true, "x", map[string]any{}}, "": ""})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := anypb.New(st)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []proto.Message{st, packed, timestamppb.New(time.Unix(-1, 999)), durationpb.New(-1), wrapperspb.Bool(false)} {
		frame, _ := roundTrip(t, codec.Options{}, m)
		sameAsText(t, m, frame)
	}
}

// Every descriptor that this program is linked with, as a message: large,
// sparse, with options that are extensions.
func TestDescriptors(t *testing.T) {
	set := new(descriptorpb.FileDescriptorSet)
	protoregistry.GlobalFiles.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(fd))
		return true
	})
	for _, f := range set.File {
		frame, _ := roundTrip(t, codec.Options{}, f)
		sameAsText(t, f, frame)
	}
	req := &pluginpb.CodeGeneratorRequest{ProtoFile: set.File, FileToGenerate: []string{"a.proto"}}
	frame, _ := roundTrip(t, codec.Options{}, req)
	raw, err := proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files: %d bytes of protobuf, a frame of %d", len(set.File), len(raw), len(frame))
}

// All goroutines meet a type for the first time at once.
func TestConcurrentFirstUse(t *testing.T) {
	for seed := range uint64(10) {
		set := compile(t, corpus.RandomSchema(1000+seed, "rnd").Text())
		o := codec.Options{Resolver: set.Types}
		name := set.Messages()[0].FullName()
		m := newMessage(t, set, name)
		v := corpus.Values{R: corpus.Rand(seed), Extensions: set.Extensions()}
		v.Fill(m)
		frame, err := corpus.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					got := m.New().Interface()
					if err := o.Unmarshal(frame, got); err != nil {
						t.Errorf("unmarshal: %v", err)
						return
					}
					out, err := o.Marshal(got)
					if err != nil || string(out) != string(frame) {
						t.Errorf("marshal: %v", err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
