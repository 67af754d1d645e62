package codec_test

import (
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
)

// fuzzTypes are the messages that fuzzing decodes into, by the schema ids that
// frames carry.
func fuzzTypes(t testing.TB) []proto.Message {
	t.Helper()
	list := generatedMessages()
	for _, file := range []protoreflect.FileDescriptor{kitchen.File_vectors_kitchen_proto, legacy.File_vectors_legacy_proto, scenarios.File_vectors_scenarios_proto} {
		for i := range file.Messages().Len() {
			list = append(list, newDynamic(file.Messages().Get(i)))
		}
	}
	for _, name := range []string{"skew_old.proto", "skew_new.proto"} {
		s, err := corpus.Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, newMessage(t, s, "skew.Order"))
	}
	list = append(list,
		new(kitchen.Scalars), new(kitchen.Repeateds), new(kitchen.Maps), new(kitchen.Node), new(kitchen.Choice),
		new(kitchen.Narrow), new(kitchen.Mesh), new(kitchen.Sparse), new(kitchen.Wide),
		new(scenarios.Transaction), new(scenarios.Frame), new(scenarios.Telemetry), new(scenarios.Chunk), new(legacy.Record),
	)
	return list
}

// seed adds the vectors and random frames of the types.
func seed(f *testing.F, types []proto.Message) {
	f.Helper()
	v, err := corpus.LoadVectors()
	if err != nil {
		f.Fatal(err)
	}
	byName := make(map[uint32][]int)
	for i, m := range types {
		id, err := codec.SchemaID(m.ProtoReflect().Descriptor())
		if err != nil {
			f.Fatal(err)
		}
		byName[uint32(id>>32)] = append(byName[uint32(id>>32)], i)
	}
	for _, frame := range v.Frames() {
		if len(frame) < 24 {
			f.Add(frame, uint8(0))
			continue
		}
		for _, i := range byName[binary.LittleEndian.Uint32(frame[12:])] {
			f.Add([]byte(frame), uint8(i))
		}
	}
	for i, m := range types {
		full := empty(m)
		v := corpus.Values{R: corpus.Rand(uint64(i)), Extensions: extensionsOf(), Unknown: true, Size: 4, Depth: 3}
		v.Fill(full.ProtoReflect())
		frame, err := codec.Marshal(full)
		if err != nil {
			f.Fatal(err)
		}
		if len(frame) < 4000 {
			f.Add(frame, uint8(i))
		}
	}
}

// FuzzOpenVerifyDecode gives any bytes to Unmarshal: an error, or a message
// that is encoded and decoded again without a difference; never a panic.
func FuzzOpenVerifyDecode(f *testing.F) {
	types := fuzzTypes(f)
	seed(f, types)
	f.Fuzz(func(t *testing.T, frame []byte, which uint8) {
		steady(t, frame, types[int(which)%len(types)])
	})
}

// FuzzMessage is the same with a sound envelope around the bytes, so that all
// of them reach the message.
func FuzzMessage(f *testing.F) {
	types := fuzzTypes(f)
	seed(f, types)
	f.Fuzz(func(t *testing.T, frame []byte, which uint8) {
		if len(frame) < 24 {
			return
		}
		m := types[int(which)%len(types)]
		id, err := codec.SchemaID(m.ProtoReflect().Descriptor())
		if err != nil {
			t.Fatal(err)
		}
		steady(t, corpus.Seal(id, frame[20:len(frame)-4]), m)
	})
}
