// Package check sends random values of a message type through the codec and
// compares what arrives with what was sent.
package check

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/random"
)

// A Codec is what is checked: the codec's Options, or in tests something worse.
type Codec interface {
	Marshal(proto.Message) ([]byte, error)
	MarshalAppend([]byte, proto.Message) ([]byte, error)
	Unmarshal([]byte, proto.Message) error
}

// A Checker checks message types of one set of schemas.
type Checker struct {
	Codec Codec
	// Partial is the same codec, told to allow messages without their required
	// fields. Codec must refuse these.
	Partial Codec
	// Resolver finds the extensions of the set.
	Resolver protoregistry.ExtensionTypeResolver
	// Extensions are those that random values may have.
	Extensions func(protoreflect.FullName) []protoreflect.ExtensionType
	// Views are the views of types, for those that have one.
	Views map[protoreflect.FullName]OpenView
	// Seed decides the values, together with the name of the type.
	Seed uint64

	// What was sent so far: values, and the bytes of their frames and of
	// protobuf.
	Values, Frames, Protobuf int64
	// Damaged frames that were decoded, and how many of them were accepted.
	Damaged, Accepted int64
	// Viewed are the fields that were read through views.
	Viewed int64
}

// Type sends n random values of a type. If the type has generated code, each
// value is also sent as a dynamic message, and the two must have the same frame
// and arrive the same. The first error ends it.
func (c *Checker) Type(mt protoreflect.MessageType, n int) error {
	for i := range n {
		source := random.New(c.Seed+uint64(i), hash(mt.Descriptor().FullName()))
		source.Extensions = c.Extensions
		m := mt.New()
		source.Fill(m)
		frame, err := c.value(m.Interface())
		if err == nil {
			r := rand.New(rand.NewPCG(c.Seed+uint64(i), ^hash(mt.Descriptor().FullName())))
			for range damages {
				if err = c.damaged(m.Interface(), damage(frame, r)); err != nil {
					break
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s, value %d: %w", mt.Descriptor().FullName(), i, err)
		}
	}
	return nil
}

// damages is how many damaged frames are made of each value's.
const damages = 3

// hash is FNV-1a, so that every type gets other values.
func hash(name protoreflect.FullName) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h
}

// value sends one value and returns its frame.
func (c *Checker) value(m proto.Message) ([]byte, error) {
	want, err := protobuf(m)
	if err != nil {
		return nil, fmt.Errorf("protobuf can't encode the value: %w", err)
	}
	way := c.Codec
	if proto.CheckInitialized(m) != nil {
		if _, err := way.Marshal(m); err == nil {
			return nil, fmt.Errorf("marshal: no error for a message without its required fields\n%s", text(m))
		}
		way = c.Partial
	}
	frame, err := trip(way, m, m, want)
	if err != nil {
		return nil, err
	}
	c.Values++
	c.Frames += int64(len(frame))
	c.Protobuf += int64(len(want))
	if err := c.view(frame, m, nil); err != nil {
		return nil, err
	}
	if _, ok := m.(*dynamicpb.Message); ok {
		return frame, nil
	}

	// The same as a dynamic message. It has got to come from the value's
	// protobuf bytes, since dynamic and generated messages do not mix.
	dynamic := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: c.Resolver}).Unmarshal(want, dynamic); err != nil {
		return nil, fmt.Errorf("protobuf can't decode its own bytes: %w", err)
	}
	other, err := trip(way, dynamic, m, want)
	if err != nil {
		return nil, fmt.Errorf("as a dynamic message: %w", err)
	}
	if !bytes.Equal(frame, other) {
		return nil, fmt.Errorf("frames differ\ngenerated %s\ndynamic   %s\n%s", hex(frame), hex(other), text(m))
	}
	if _, err := trip(way, m, dynamic, want); err != nil {
		return nil, fmt.Errorf("into a dynamic message: %w", err)
	}
	return frame, nil
}

// view reads a frame through the view of m's type, if it has one. Opened, it must
// show what m holds; refused is the error with which the frame can't be decoded,
// and then it can't be opened either.
func (c *Checker) view(frame []byte, m proto.Message, refused error) error {
	open := c.Views[m.ProtoReflect().Descriptor().FullName()]
	if open == nil {
		return nil
	}
	v, err := open(frame, codec.Options{AllowPartial: true})
	// Views do not look into extensions. Only decoding finds what is wrong in one.
	var e *codec.Error
	if err == nil && errors.As(refused, &e) && e.Kind == codec.KindResidue {
		return nil
	}
	if (err == nil) != (refused == nil) {
		return fmt.Errorf("view of frame %s: %v; decoded: %v", hex(frame), err, refused)
	}
	if err != nil {
		return nil
	}
	n, err := View(v, m.ProtoReflect())
	c.Viewed += int64(n)
	if err != nil {
		return fmt.Errorf("%w\nframe %s\n%s", err, hex(frame), text(m))
	}
	return nil
}

// trip encodes m twice and decodes it into a message of the type of into, which
// must then have the protobuf bytes want and, encoded again, the same frame.
func trip(way Codec, m, into proto.Message, want []byte) ([]byte, error) {
	frame, err := way.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("marshal: %w\n%s", err, text(m))
	}
	again, err := way.MarshalAppend([]byte("prefix"), m)
	if err != nil {
		return nil, fmt.Errorf("marshal again: %w\n%s", err, text(m))
	}
	if !bytes.Equal(again[len("prefix"):], frame) {
		return nil, fmt.Errorf("two frames of one message:\n%s\n%s\n%s", hex(frame), hex(again[len("prefix"):]), text(m))
	}
	got := into.ProtoReflect().New().Interface()
	if err := way.Unmarshal(frame, got); err != nil {
		return nil, fmt.Errorf("unmarshal: %w\nframe %s\n%s", err, hex(frame), text(m))
	}
	arrived, err := protobuf(got)
	if err != nil {
		return nil, fmt.Errorf("protobuf can't encode what arrived: %w\n%s", err, text(m))
	}
	if !bytes.Equal(arrived, want) {
		return nil, fmt.Errorf("another message arrived\nframe   %s\nsent    %s\narrived %s\nsent    %s\narrived %s", hex(frame), hex(want), hex(arrived), text(m), text(got))
	}
	back, err := way.Marshal(got)
	if err != nil {
		return nil, fmt.Errorf("marshal of what arrived: %w\n%s", err, text(m))
	}
	if !bytes.Equal(back, frame) {
		return nil, fmt.Errorf("what arrived has another frame\nsent    %s\narrived %s\n%s", hex(frame), hex(back), text(m))
	}
	return frame, nil
}

// protobuf is protobuf's encoding of a message: what it holds down to the bits
// of floats and the bytes of unknown fields.
func protobuf(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
}

// text is a message for a person, cut to what one can read.
func text(m proto.Message) string {
	const most = 3000
	s := prototext.MarshalOptions{EmitUnknown: true, AllowPartial: true}.Format(m)
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}

// hex is bytes for a person.
func hex(b []byte) string {
	const most = 1500
	if len(b) > most {
		return fmt.Sprintf("%x... (%d bytes)", b[:most], len(b))
	}
	return fmt.Sprintf("%x", b)
}
