// Package undertest holds package codec up to the harness of package corpus,
// for the tests of all packages that have messages to run through it.
package undertest

import (
	"errors"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// Codec is package codec as the harness takes it.
func Codec() corpus.Codec {
	return corpus.Codec{
		Marshal: codec.Marshal,
		Unmarshal: func(frame []byte, m proto.Message, r corpus.Resolver) error {
			return codec.Options{Resolver: r}.Unmarshal(frame, m)
		},
		SchemaID: codec.SchemaID,
		Class:    Class,
		Field:    Field,
	}
}

// Field returns the field that an error is about.
func Field(err error) protoreflect.FullName {
	var e *codec.Error
	if errors.As(err, &e) {
		return e.Field
	}
	return ""
}

// Class returns the class of an error in the words of the vectors.
func Class(err error) string {
	for _, c := range []struct {
		kind  error
		class string
	}{
		{codec.ErrIncomplete, "incomplete"},
		{codec.ErrMagic, "envelope"},
		{codec.ErrVersion, "envelope"},
		{codec.ErrEnvelope, "envelope"},
		{codec.ErrChecksum, "envelope"},
		{codec.ErrSchema, "schema"},
		{codec.ErrIncompatible, "incompatible"},
		{codec.ErrMalformed, "message"},
	} {
		if errors.Is(err, c.kind) {
			return c.class
		}
	}
	return ""
}
