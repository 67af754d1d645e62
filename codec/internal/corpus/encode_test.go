package corpus

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The encoder here and the vectors were made by different hands.
func TestEncodeMakesTheVectors(t *testing.T) {
	v, err := LoadVectors()
	if err != nil {
		t.Fatal(err)
	}
	r := runner{
		codec: Codec{
			Marshal:   Encode,
			Unmarshal: func([]byte, proto.Message, Resolver) error { return nil },
			SchemaID:  func(md protoreflect.MessageDescriptor) (uint64, error) { return ID(md), nil },
		},
		factory: Dynamic(),
		vectors: v,
	}
	for _, e := range v.Valid {
		s := r.types(t, e.Schema)
		m := s.parse(e.Message, e.JSON)
		sameFrame(t, e.Frame, r.marshal(t, m))
	}
	for _, e := range v.Skew {
		s := r.types(t, e.WriterSchema)
		sameFrame(t, e.Frame, r.marshal(t, s.parse(e.Message, e.WriterJSON)))
	}
	for i, e := range v.Random {
		set, err := Compile("random.proto", e.Schema)
		if err != nil {
			t.Fatal(err)
		}
		for _, vec := range e.Messages {
			m, err := set.New(protoreflect.FullName(vec.Message))
			if err != nil {
				t.Fatal(err)
			}
			if err := proto.Unmarshal(vec.Proto, m); err != nil {
				t.Fatal(err)
			}
			sameFrame(t, vec.Frame, r.marshal(t, m))
		}
		if t.Failed() {
			t.Fatalf("random schema %d", i)
		}
	}
}
