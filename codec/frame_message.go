package codec

import (
	"log/slog"
	"sync"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoiface"
	"google.golang.org/protobuf/types/known/emptypb"
)

// String is the message like prototext, without an ordinary message being made. Of a
// released frame it says so.
func (f *Frame[V]) String() string {
	if f == nil {
		return ""
	}
	if f.state.Load()&stateReleased != 0 {
		return "(released)"
	}
	return stringOf(f.viewNow())
}

func stringOf(v any) string {
	s, _ := v.(interface{ String() string })
	if s == nil {
		return ""
	}
	return s.String()
}

// LogValue is the start of String.
func (f *Frame[V]) LogValue() slog.Value {
	if f == nil || f.state.Load()&stateReleased != 0 {
		return slog.StringValue(f.String())
	}
	if l, ok := any(f.viewNow()).(slog.LogValuer); ok {
		return l.LogValue()
	}
	return slog.StringValue(f.String())
}

// MarshalJSON gives the message as protobuf JSON.
func (f *Frame[V]) MarshalJSON() ([]byte, error) { return protojson.Marshal(f) }

// UnmarshalJSON replaces the message by that of protobuf JSON.
func (f *Frame[V]) UnmarshalJSON(b []byte) error { return protojson.Unmarshal(b, f) }

// ProtoMessage marks a Frame as a protobuf message.
func (f *Frame[V]) ProtoMessage() {}

// ProtoReflect is the message to protobuf. Only what looks at its fields makes an
// ordinary message of the frame.
func (f *Frame[V]) ProtoReflect() protoreflect.Message { return (*reflection[V])(f) }

// decode makes the ordinary message of what f holds.
func (f *Frame[V]) decode(o *Options) (protoreflect.Message, error) {
	if f.read == nil {
		return f.typ().New().ProtoReflect(), nil
	}
	m, err := f.typ().Decode(messageIn(f.read), o.decoding(len(f.read)))
	if err != nil {
		return nil, err
	}
	return m.ProtoReflect(), nil
}

// ordinary is the ordinary message. share says that the caller may change it, or hand
// out what may be changed. Where it can't be made, the frame becomes an empty message,
// for views too, so that whoever validates a message sees what a handler will.
func (f *Frame[V]) ordinary(share bool) (protoreflect.Message, error) {
	f.check("use as a message")
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seal()
	if f.msg == nil {
		m, err := f.decode(&f.opts)
		if err != nil {
			f.opts.failed(true, f.name(), len(f.data), err)
			m = f.typ().New().ProtoReflect()
			f.err = err
			f.state.Or(stateFailed)
		}
		f.msg = m
	}
	if share {
		f.state.Or(stateTruth)
	}
	return f.msg, f.err
}

func (f *Frame[V]) checkInitialized() error {
	m, err := f.ordinary(false)
	if err != nil {
		return err
	}
	if e := proto.CheckInitialized(m.Interface()); e != nil {
		return &Error{Kind: KindRequired, Offset: -1, Field: f.name(), Err: e}
	}
	return nil
}

// reflection is a Frame as a message of protobuf.
type reflection[V View[V]] Frame[V]

func (r *reflection[V]) frame() *Frame[V] { return (*Frame[V])(r) }

// reading is the ordinary message for a look at it, writing for anything else.
func (r *reflection[V]) reading() protoreflect.Message {
	if r == nil {
		return r.zero()
	}
	m, _ := r.frame().ordinary(false) // Err has the error
	return m
}

func (r *reflection[V]) writing() protoreflect.Message {
	m, _ := r.frame().ordinary(true)
	return m
}

func (r *reflection[V]) zero() protoreflect.Message {
	return r.frame().typ().New().ProtoReflect().Type().Zero()
}

func (r *reflection[V]) Descriptor() protoreflect.MessageDescriptor {
	return r.frame().typ().Layout().Desc
}
func (r *reflection[V]) Type() protoreflect.MessageType { return frameType[V]{} }
func (r *reflection[V]) New() protoreflect.Message      { return new(Frame[V]).ProtoReflect() }
func (r *reflection[V]) Interface() protoreflect.ProtoMessage {
	return (*Frame[V])(r)
}
func (r *reflection[V]) IsValid() bool { return r != nil }

func (r *reflection[V]) Has(fd protoreflect.FieldDescriptor) bool { return r.reading().Has(fd) }
func (r *reflection[V]) WhichOneof(od protoreflect.OneofDescriptor) protoreflect.FieldDescriptor {
	return r.reading().WhichOneof(od)
}
func (r *reflection[V]) GetUnknown() protoreflect.RawFields { return r.reading().GetUnknown() }
func (r *reflection[V]) NewField(fd protoreflect.FieldDescriptor) protoreflect.Value {
	return r.reading().NewField(fd)
}

// changeable reports whether a value of the field, once handed out, can be changed.
func changeable(fd protoreflect.FieldDescriptor) bool {
	return fd.IsList() || fd.IsMap() || fd.Message() != nil
}

func (r *reflection[V]) Get(fd protoreflect.FieldDescriptor) protoreflect.Value {
	m := r.reading()
	if r != nil && changeable(fd) && m.Has(fd) {
		m = r.writing()
	}
	return m.Get(fd)
}

func (r *reflection[V]) Range(yield func(protoreflect.FieldDescriptor, protoreflect.Value) bool) {
	r.reading().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if r != nil && changeable(fd) {
			r.writing()
		}
		return yield(fd, v)
	})
}

func (r *reflection[V]) Clear(fd protoreflect.FieldDescriptor) { r.writing().Clear(fd) }
func (r *reflection[V]) Set(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	r.writing().Set(fd, v)
}
func (r *reflection[V]) SetUnknown(b protoreflect.RawFields) { r.writing().SetUnknown(b) }
func (r *reflection[V]) Mutable(fd protoreflect.FieldDescriptor) protoreflect.Value {
	return r.writing().Mutable(fd)
}

// frameType is the type of a Frame as a message.
type frameType[V View[V]] struct{}

func (frameType[V]) New() protoreflect.Message  { return new(Frame[V]).ProtoReflect() }
func (frameType[V]) Zero() protoreflect.Message { return (*Frame[V])(nil).ProtoReflect() }
func (frameType[V]) Descriptor() protoreflect.MessageDescriptor {
	return (*reflection[V])(nil).Descriptor()
}

// wrapped is the reflection of a Frame.
type wrapped interface {
	reading() protoreflect.Message
	writing() protoreflect.Message
	mergeFrame(src protoreflect.Message) bool
}

func read(m protoreflect.Message) protoreflect.Message {
	if w, ok := m.(wrapped); ok {
		return w.reading()
	}
	return m
}

func write(m protoreflect.Message) protoreflect.Message {
	if w, ok := m.(wrapped); ok {
		return w.writing()
	}
	return m
}

// mergeFrame makes an empty Frame a clone of another one.
func (r *reflection[V]) mergeFrame(src protoreflect.Message) bool {
	s, ok := src.(*reflection[V])
	if !ok || r == nil || s == nil || r.state.Load() != 0 || r.data != nil || r.msg != nil {
		return false
	}
	s.frame().cloneTo(r.frame())
	return true
}

// ProtoMethods are protobuf's fast paths. They are given the Frame and work on the ordinary
// message.
func (r *reflection[V]) ProtoMethods() *protoiface.Methods { return frameMethods() }

var frameMethods = sync.OnceValue(func() *protoiface.Methods {
	// Protobuf has none in some builds, and not all of them in all versions.
	theirs := (*emptypb.Empty)(nil).ProtoReflect().ProtoMethods()
	if theirs == nil {
		return nil
	}
	ours := &protoiface.Methods{Flags: theirs.Flags}
	if theirs.Size != nil {
		ours.Size = func(in protoiface.SizeInput) protoiface.SizeOutput {
			in.Message = read(in.Message)
			return in.Message.ProtoMethods().Size(in)
		}
	}
	if theirs.Marshal != nil {
		ours.Marshal = func(in protoiface.MarshalInput) (protoiface.MarshalOutput, error) {
			in.Message = read(in.Message)
			return in.Message.ProtoMethods().Marshal(in)
		}
	}
	if theirs.Unmarshal != nil {
		ours.Unmarshal = func(in protoiface.UnmarshalInput) (protoiface.UnmarshalOutput, error) {
			in.Message = write(in.Message)
			return in.Message.ProtoMethods().Unmarshal(in)
		}
	}
	if theirs.Merge != nil {
		ours.Merge = func(in protoiface.MergeInput) protoiface.MergeOutput {
			if w, ok := in.Destination.(wrapped); ok && w.mergeFrame(in.Source) {
				return protoiface.MergeOutput{Flags: protoiface.MergeComplete}
			}
			in.Destination, in.Source = write(in.Destination), read(in.Source)
			return in.Destination.ProtoMethods().Merge(in)
		}
	}
	if theirs.CheckInitialized != nil {
		ours.CheckInitialized = func(in protoiface.CheckInitializedInput) (protoiface.CheckInitializedOutput, error) {
			in.Message = read(in.Message)
			return in.Message.ProtoMethods().CheckInitialized(in)
		}
	}
	if theirs.Equal != nil {
		ours.Equal = func(in protoiface.EqualInput) protoiface.EqualOutput {
			in.MessageA, in.MessageB = read(in.MessageA), read(in.MessageB)
			return protoiface.EqualOutput{Equal: proto.Equal(in.MessageA.Interface(), in.MessageB.Interface())}
		}
	}
	return ours
})
