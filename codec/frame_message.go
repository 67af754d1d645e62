package codec

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/runtime/protoiface"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/graven-rpc/graven/codec/wire"
)

// decode makes the ordinary message of what f holds.
func (c *frameCore) decode(t *wire.ViewType, o *Options) (protoreflect.Message, error) {
	if c.read == nil {
		return t.New().ProtoReflect(), nil
	}
	m, err := t.Decode(messageIn(c.read), o.decoding(len(c.read)))
	if err != nil {
		return nil, err
	}
	return m.ProtoReflect(), nil
}

// ordinary is the ordinary message. share says that the caller may change it, or hand
// out what may be changed. Where it can't be made, the frame becomes an empty message,
// for views too, so that whoever validates a message sees what a handler will.
func (c *frameCore) ordinary(t *wire.ViewType, share bool) (protoreflect.Message, error) {
	c.check("use as a message")
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seal()
	if c.msg == nil {
		m, err := c.decode(t, &c.opts)
		if err != nil {
			c.opts.failed(true, t.Layout().Name(), len(c.data), err)
			m = t.New().ProtoReflect()
			c.err = err
			c.state.Or(stateFailed)
		}
		c.msg = m
	}
	if share {
		c.state.Or(stateTruth)
	}
	return c.msg, c.err
}

// reflection is a Frame as a message of protobuf.
type reflection struct {
	c     *frameCore // nil of a nil Frame
	t     *wire.ViewType
	self  proto.Message        // the Frame
	fresh func() proto.Message // an empty one
}

// reading is the ordinary message for a look at it, writing for anything else.
func (r *reflection) reading() protoreflect.Message {
	if r.c == nil {
		return r.t.New().ProtoReflect().Type().Zero()
	}
	m, _ := r.c.ordinary(r.t, false) // Err has the error
	return m
}

func (r *reflection) writing() protoreflect.Message {
	if r.c == nil {
		return r.t.New().ProtoReflect().Type().Zero() // which panics
	}
	m, _ := r.c.ordinary(r.t, true)
	return m
}

func (r *reflection) Descriptor() protoreflect.MessageDescriptor { return r.t.Layout().Desc }
func (r *reflection) Type() protoreflect.MessageType             { return frameType{r} }
func (r *reflection) New() protoreflect.Message                  { return r.fresh().ProtoReflect() }
func (r *reflection) Interface() protoreflect.ProtoMessage       { return r.self }
func (r *reflection) IsValid() bool                              { return r.c != nil }

func (r *reflection) Has(fd protoreflect.FieldDescriptor) bool { return r.reading().Has(fd) }
func (r *reflection) WhichOneof(od protoreflect.OneofDescriptor) protoreflect.FieldDescriptor {
	return r.reading().WhichOneof(od)
}
func (r *reflection) GetUnknown() protoreflect.RawFields { return r.reading().GetUnknown() }
func (r *reflection) NewField(fd protoreflect.FieldDescriptor) protoreflect.Value {
	return r.reading().NewField(fd)
}

// changeable reports whether a value of the field, once handed out, can be changed.
func changeable(fd protoreflect.FieldDescriptor) bool {
	return fd.IsList() || fd.IsMap() || fd.Message() != nil
}

func (r *reflection) Get(fd protoreflect.FieldDescriptor) protoreflect.Value {
	m := r.reading()
	if changeable(fd) && m.Has(fd) {
		m = r.writing()
	}
	return m.Get(fd)
}

func (r *reflection) Range(yield func(protoreflect.FieldDescriptor, protoreflect.Value) bool) {
	r.reading().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if changeable(fd) {
			r.writing()
		}
		return yield(fd, v)
	})
}

func (r *reflection) Clear(fd protoreflect.FieldDescriptor) { r.writing().Clear(fd) }
func (r *reflection) Set(fd protoreflect.FieldDescriptor, v protoreflect.Value) {
	r.writing().Set(fd, v)
}
func (r *reflection) SetUnknown(b protoreflect.RawFields) { r.writing().SetUnknown(b) }
func (r *reflection) Mutable(fd protoreflect.FieldDescriptor) protoreflect.Value {
	return r.writing().Mutable(fd)
}

// frameType is the type of a Frame as a message.
type frameType struct{ r *reflection }

func (t frameType) New() protoreflect.Message { return t.r.New() }
func (t frameType) Zero() protoreflect.Message {
	none := *t.r
	none.c, none.self = nil, nilOf(t.r.self)
	return &none
}
func (t frameType) Descriptor() protoreflect.MessageDescriptor { return t.r.Descriptor() }

// nilOf is a nil pointer of m's type.
func nilOf(m proto.Message) proto.Message {
	return reflect.Zero(reflect.TypeOf(m)).Interface().(proto.Message)
}

func read(m protoreflect.Message) protoreflect.Message {
	if r, ok := m.(*reflection); ok {
		return r.reading()
	}
	return m
}

func write(m protoreflect.Message) protoreflect.Message {
	if r, ok := m.(*reflection); ok {
		return r.writing()
	}
	return m
}

// mergeFrame makes an empty Frame a clone of another one.
func (r *reflection) mergeFrame(src protoreflect.Message) bool {
	s, ok := src.(*reflection)
	if !ok || r.c == nil || s.c == nil || r.t != s.t || r.c.state.Load() != 0 || r.c.data != nil || r.c.msg != nil {
		return false
	}
	s.c.cloneTo(r.t, r.c)
	return true
}

// ProtoMethods are protobuf's fast paths. They are given the Frame and work on the ordinary
// message.
func (r *reflection) ProtoMethods() *protoiface.Methods { return frameMethods() }

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
			if r, ok := in.Destination.(*reflection); ok && r.mergeFrame(in.Source) {
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
