package corpus

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Resolver finds the extensions and message types of a schema.
type Resolver interface {
	protoregistry.ExtensionTypeResolver
	protoregistry.MessageTypeResolver
}

// Codec is an implementation under test.
type Codec struct {
	Marshal func(proto.Message) ([]byte, error)
	// Unmarshal resets the message, then decodes the frame into it.
	Unmarshal func(frame []byte, m proto.Message, r Resolver) error
	SchemaID  func(protoreflect.MessageDescriptor) (uint64, error)
	// Class returns the class of an error of Unmarshal in the words of
	// malformed.json, "incompatible" for a field that can't be read from the
	// writer's, or "".
	Class func(error) string
	// Field returns the full name of the field that an error is about.
	Field func(error) protoreflect.FullName
}

// Factory makes the messages that vectors run through.
type Factory struct {
	// New returns an empty message of the schema, or nil if this factory has
	// no such type; the vector is then left out. Schema is the name of a file
	// of the vectors' schemas, or random/ and the index of a random schema.
	New func(schema string, set *Set, message protoreflect.FullName) proto.Message
	// Resolver finds the extensions that belong to these types.
	Resolver func(set *Set) Resolver
}

// Dynamic makes dynamicpb messages of every schema.
func Dynamic() Factory {
	return Factory{
		New: func(_ string, set *Set, name protoreflect.FullName) proto.Message {
			m, err := set.New(name)
			if err != nil {
				return nil
			}
			return m
		},
		Resolver: func(set *Set) Resolver { return set.Types },
	}
}

// Generated makes the generated messages that the program is linked with and
// whose schema text is the vectors': the file of a generated type has the same
// base name as the schema.
func Generated() Factory {
	return Factory{
		New: func(schema string, _ *Set, name protoreflect.FullName) proto.Message {
			mt, err := protoregistry.GlobalTypes.FindMessageByName(name)
			if err != nil || !sameFile(mt.Descriptor().ParentFile().Path(), schema) {
				return nil
			}
			return mt.New().Interface()
		},
		Resolver: func(*Set) Resolver { return protoregistry.GlobalTypes },
	}
}

func sameFile(path, schema string) bool {
	return path == schema || len(path) > len(schema) && path[len(path)-len(schema)-1:] == "/"+schema
}

// RunVectors runs all vectors through c with the factory's messages, as
// subtests, and returns how many it ran.
func RunVectors(t *testing.T, c Codec, f Factory) int {
	t.Helper()
	v, err := LoadVectors()
	if err != nil {
		t.Fatal(err)
	}
	r := runner{codec: c, factory: f, vectors: v}
	t.Run("valid", r.valid)
	t.Run("lenient", r.lenient)
	t.Run("malformed", r.malformed)
	t.Run("skew", r.skew)
	t.Run("refused", r.refused)
	t.Run("forward", r.forward)
	t.Run("random", r.random)
	return r.ran
}

type runner struct {
	codec   Codec
	factory Factory
	vectors *Vectors
	ran     int
}

// types are the messages of one schema in a vector.
type types struct {
	t       *testing.T
	factory Factory
	schema  string
	set     *Set
}

func (r *runner) types(t *testing.T, schema string) types {
	t.Helper()
	set, err := Schema(schema)
	if err != nil {
		t.Fatal(err)
	}
	return types{t, r.factory, schema, set}
}

func (s types) new(name string) proto.Message {
	m := s.factory.New(s.schema, s.set, protoreflect.FullName(name))
	return m
}

// parse returns a message read from its JSON.
func (s types) parse(name string, json []byte) proto.Message {
	s.t.Helper()
	m := s.new(name)
	o := protojson.UnmarshalOptions{Resolver: s.factory.Resolver(s.set)}
	if err := o.Unmarshal(json, m); err != nil {
		s.t.Fatalf("the vector's JSON: %v", err)
	}
	return m
}

func (r *runner) marshal(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := r.codec.Marshal(m)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return b
}

func (r *runner) unmarshal(t *testing.T, frame []byte, s types, name string) proto.Message {
	t.Helper()
	m := s.new(name)
	if err := r.codec.Unmarshal(frame, m, r.factory.Resolver(s.set)); err != nil {
		t.Fatalf("unmarshal: %v", err)
	}
	return m
}

func sameFrame(t *testing.T, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		t.Errorf("frame\nwant %s\n got %s", hex.EncodeToString(want), hex.EncodeToString(got))
	}
}

func same(t *testing.T, want, got proto.Message) {
	t.Helper()
	if d := Diff(want, got); d != "" {
		t.Errorf("message\n%s", d)
	}
}

func (r *runner) valid(t *testing.T) {
	for _, v := range r.vectors.Valid {
		t.Run(v.Name, func(t *testing.T) {
			s := r.types(t, v.Schema)
			if s.new(v.Message) == nil {
				t.Skip("no such type here")
			}
			r.ran++
			m := s.parse(v.Message, v.JSON)
			frame := r.marshal(t, m)
			sameFrame(t, v.Frame, frame)
			same(t, m, r.unmarshal(t, v.Frame, s, v.Message))
			id, err := r.codec.SchemaID(m.ProtoReflect().Descriptor())
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.ParseUint(v.SchemaID, 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			if id != want {
				t.Errorf("schema id %#016x, want %#016x", id, want)
			}
			if in := binary.LittleEndian.Uint64(v.Frame[8:]); in != want {
				t.Errorf("schema id %#016x in the vector's frame, want %#016x", in, want)
			}
		})
	}
}

func (r *runner) lenient(t *testing.T) {
	for _, v := range r.vectors.Lenient {
		t.Run(v.Name, func(t *testing.T) {
			s := r.types(t, v.Schema)
			if s.new(v.Message) == nil {
				t.Skip("no such type here")
			}
			r.ran++
			m := r.unmarshal(t, v.Frame, s, v.Message)
			same(t, s.parse(v.Message, v.JSON), m)
			same(t, m, r.unmarshal(t, r.marshal(t, m), s, v.Message))
		})
	}
}

func (r *runner) malformed(t *testing.T) {
	for i, v := range r.vectors.Malformed {
		t.Run(fmt.Sprintf("%d %s", i, v.Name), func(t *testing.T) {
			s := r.types(t, v.Schema)
			m := s.new(v.Message)
			if m == nil {
				t.Skip("no such type here")
			}
			r.ran++
			err := r.codec.Unmarshal(v.Frame, m, r.factory.Resolver(s.set))
			if err == nil {
				t.Fatalf("accepted as %v", m)
			}
			class := r.codec.Class(err)
			// What is wrong with a field of the message may be told as a field
			// that can't be read.
			if class == "incompatible" && v.Class == "message" {
				class = "message"
			}
			if class != v.Class {
				t.Errorf("class %q, want %q: %v", class, v.Class, err)
			}
		})
	}
}

func (r *runner) skew(t *testing.T) {
	for _, v := range r.vectors.Skew {
		t.Run(v.Name, func(t *testing.T) {
			w, rd := r.types(t, v.WriterSchema), r.types(t, v.ReaderSchema)
			ran := false
			if w.new(v.Message) != nil {
				sameFrame(t, v.Frame, r.marshal(t, w.parse(v.Message, v.WriterJSON)))
				ran = true
			}
			if rd.new(v.Message) != nil {
				m := r.unmarshal(t, v.Frame, rd, v.Message)
				again := r.unmarshal(t, r.marshal(t, m), rd, v.Message)
				same(t, m, again)
				StripUnknown(m.ProtoReflect())
				same(t, rd.parse(v.Message, v.ReaderJSON), m)
				ran = true
			}
			if !ran {
				t.Skip("no such type here")
			}
			r.ran++
		})
	}
}

func (r *runner) refused(t *testing.T) {
	for _, v := range r.vectors.Refused {
		t.Run(v.Name, func(t *testing.T) {
			s := r.types(t, v.ReaderSchema)
			m := s.new(v.Message)
			if m == nil {
				t.Skip("no such type here")
			}
			r.ran++
			err := r.codec.Unmarshal(v.Frame, m, r.factory.Resolver(s.set))
			if err == nil {
				t.Fatalf("accepted as %v", m)
			}
			if c := r.codec.Class(err); c != "incompatible" {
				t.Errorf("class %q, want incompatible: %v", c, err)
			}
			if f := r.codec.Field(err); f != protoreflect.FullName(v.Field) {
				t.Errorf("field %q, want %q: %v", f, v.Field, err)
			}
			if !bytes.Contains([]byte(err.Error()), []byte(v.Field)) {
				t.Errorf("the text does not name %s: %v", v.Field, err)
			}
		})
	}
}

func (r *runner) forward(t *testing.T) {
	for _, v := range r.vectors.Forward {
		t.Run(v.Name, func(t *testing.T) {
			w, p := r.types(t, v.WriterSchema), r.types(t, v.PeerSchema)
			ran := false
			if p.new(v.Message) != nil {
				sameFrame(t, v.Forwarded, r.marshal(t, r.unmarshal(t, v.Frame, p, v.Message)))
				ran = true
			}
			if w.new(v.Message) != nil {
				m := w.parse(v.Message, v.JSON)
				sameFrame(t, v.Frame, r.marshal(t, m))
				same(t, m, r.unmarshal(t, v.Forwarded, w, v.Message))
				ran = true
			}
			if !ran {
				t.Skip("no such type here")
			}
			r.ran++
		})
	}
}

func (r *runner) random(t *testing.T) {
	for i, v := range r.vectors.Random {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			name := "random/" + strconv.Itoa(i)
			set, err := Compile(name+".proto", v.Schema)
			if err != nil {
				t.Fatal(err)
			}
			s := types{t, r.factory, name, set}
			if s.new(v.Messages[0].Message) == nil {
				t.Skip("no such type here")
			}
			r.ran++
			for _, e := range v.Messages {
				m := s.new(e.Message)
				if err := proto.Unmarshal(e.Proto, m); err != nil {
					t.Fatal(err)
				}
				sameFrame(t, e.Frame, r.marshal(t, m))
				got, err := Bytes(r.unmarshal(t, e.Frame, s, e.Message))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, e.Proto) {
					t.Errorf("decoded\nwant %x\n got %x", []byte(e.Proto), got)
				}
			}
		})
	}
}
