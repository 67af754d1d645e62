package testee

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
)

// A Hop carries a message to a peer and returns what arrived there. It may
// change the message that it is given.
type Hop func(proto.Message) (proto.Message, error)

// Hops are those that must not lose anything, by name.
var Hops = map[string]Hop{
	"plain":   func(m proto.Message) (proto.Message, error) { return m, nil },
	"graven":  graven,
	"dynamic": dynamic,
}

// Lossy are hops that lose one kind of thing each, as a codec might that has a
// bug. They show what the suite would see of such a bug.
var Lossy = map[string]Hop{
	"lossy-oneof-zero":       lossy(dropOneofZero),
	"lossy-explicit-default": lossy(dropExplicitDefault),
	"lossy-empty-message":    lossy(dropEmptyMessage),
	"lossy-extensions":       lossy(dropExtensions),
	"lossy-unknown-enums":    lossy(dropUnknownEnums),
	"lossy-unknown-fields":   dropUnknown,
}

// graven sends a message through a frame, by the generated methods of its type
// if it has any.
func graven(m proto.Message) (proto.Message, error) {
	frame, err := codec.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("marshal: %w", err)
	}
	got := m.ProtoReflect().New().Interface()
	if err := codec.Unmarshal(frame, got); err != nil {
		return nil, fmt.Errorf("unmarshal: %w", err)
	}
	return got, nil
}

// dynamic has a peer without generated types on the way: the frame is decoded
// into a dynamic message, and this one's frame into the type that was sent. The
// two frames must have the same bytes, unless protobuf's own dynamic messages
// can't hold the value: they quiet signaling NaNs.
func dynamic(m proto.Message) (proto.Message, error) {
	frame, err := codec.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("marshal: %w", err)
	}
	peer := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	if err := codec.Unmarshal(frame, peer); err != nil {
		return nil, fmt.Errorf("unmarshal into a dynamic message: %w", err)
	}
	again, err := codec.Marshal(peer)
	if err != nil {
		return nil, fmt.Errorf("marshal of a dynamic message: %w", err)
	}
	if string(again) != string(frame) {
		holds, err := dynamicHolds(m)
		if err != nil {
			return nil, err
		}
		if holds {
			return nil, fmt.Errorf("a dynamic message has another frame:\n%x\n%x", again, frame)
		}
	}
	got := m.ProtoReflect().New().Interface()
	if err := codec.Unmarshal(again, got); err != nil {
		return nil, fmt.Errorf("unmarshal: %w", err)
	}
	return got, nil
}

// dynamicHolds reports whether protobuf can carry m into a dynamic message and
// out again without a change.
func dynamicHolds(m proto.Message) (bool, error) {
	o := proto.MarshalOptions{Deterministic: true}
	sent, err := o.Marshal(m)
	if err != nil {
		return false, err
	}
	d := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	if err := proto.Unmarshal(sent, d); err != nil {
		return false, err
	}
	arrived, err := o.Marshal(d)
	return string(arrived) == string(sent), err
}

// lossy makes a hop of a function that says which fields get lost.
func lossy(lose func(protoreflect.FieldDescriptor, protoreflect.Value) bool) Hop {
	return func(m proto.Message) (proto.Message, error) {
		m, err := graven(m)
		if err == nil {
			walk(m.ProtoReflect(), lose)
		}
		return m, err
	}
}

func walk(m protoreflect.Message, lose func(protoreflect.FieldDescriptor, protoreflect.Value) bool) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				walk(v.Message(), lose)
				return true
			})
		case fd.IsMap():
		case fd.IsList() && fd.Message() != nil:
			for i := range v.List().Len() {
				walk(v.List().Get(i).Message(), lose)
			}
		case fd.IsList():
		case fd.Message() != nil:
			walk(v.Message(), lose)
		}
		if lose(fd, v) {
			m.Clear(fd)
		}
		return true
	})
}

func isZero(v protoreflect.Value) bool {
	switch v := v.Interface().(type) {
	case bool:
		return !v
	case int32:
		return v == 0
	case int64:
		return v == 0
	case uint32:
		return v == 0
	case uint64:
		return v == 0
	case float32:
		return v == 0
	case float64:
		return v == 0
	case string:
		return v == ""
	case []byte:
		return len(v) == 0
	case protoreflect.EnumNumber:
		return v == 0
	}
	return false
}

func dropOneofZero(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	oneof := fd.ContainingOneof()
	return oneof != nil && !oneof.IsSynthetic() && isZero(v)
}

func dropExplicitDefault(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	oneof := fd.ContainingOneof()
	return fd.HasPresence() && fd.Message() == nil && (oneof == nil || oneof.IsSynthetic()) && v.Equal(fd.Default())
}

func dropEmptyMessage(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	if fd.Message() == nil || fd.IsList() || fd.IsMap() {
		return false
	}
	return proto.Size(v.Message().Interface()) == 0
}

func dropExtensions(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
	return fd.IsExtension()
}

func dropUnknownEnums(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	return fd.Enum() != nil && !fd.IsList() && !fd.IsMap() && fd.Enum().Values().ByNumber(v.Enum()) == nil
}

// dropUnknown takes the unknown fields from the message itself, as a codec
// would that forgets them.
func dropUnknown(m proto.Message) (proto.Message, error) {
	m, err := graven(m)
	if err != nil {
		return nil, err
	}
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	got := m.ProtoReflect().New().Interface()
	err = proto.UnmarshalOptions{DiscardUnknown: true, Resolver: protoregistry.GlobalTypes}.Unmarshal(b, got)
	return got, err
}
