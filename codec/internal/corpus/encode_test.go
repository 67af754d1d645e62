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

// The verifier here takes every frame of the vectors that a reader has to
// take, and refuses the others.
func TestVerifyTakesTheVectors(t *testing.T) {
	v, err := LoadVectors()
	if err != nil {
		t.Fatal(err)
	}
	check := func(schema, message string, frame []byte, good bool) {
		t.Helper()
		set, err := Schema(schema)
		if err != nil {
			t.Fatal(err)
		}
		md, err := set.Message(protoreflect.FullName(message))
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(md, frame, set.Types); good != (err == nil) {
			t.Errorf("%s: %x: %v", message, frame, err)
		}
	}
	for _, e := range v.Valid {
		check(e.Schema, e.Message, e.Frame, true)
	}
	for _, e := range v.Lenient {
		check(e.Schema, e.Message, e.Frame, true)
	}
	for _, e := range v.Malformed {
		check(e.Schema, e.Message, e.Frame, false)
	}
	for _, e := range v.Skew {
		check(e.WriterSchema, e.Message, e.Frame, true)
		check(e.ReaderSchema, e.Message, e.Frame, true)
	}
	for _, e := range v.Refused {
		check(e.ReaderSchema, e.Message, e.Frame, false)
	}
	for _, e := range v.Forward {
		check(e.WriterSchema, e.Message, e.Forwarded, true)
		check(e.PeerSchema, e.Message, e.Forwarded, true)
	}
}
