package viewtest

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
)

// Type is a message type that has views.
type Type struct {
	Name protoreflect.FullName
	New  func() proto.Message // an ordinary message
	Open func(frame []byte, o codec.Options) (Frame, error)
	Make func(m proto.Message) (Frame, error)
}

// Frame is a codec.Frame of some type.
type Frame interface {
	proto.Message
	View() any
	Edit() (any, error)
	Bytes() ([]byte, error)
	Err() error
	Converted() bool
	Release()
	String() string
}

type frame[V codec.View[V]] struct{ *codec.Frame[V] }

func (f frame[V]) View() any { return f.Frame.View() }

func (f frame[V]) Edit() (any, error) { return f.Frame.Edit() }

// Of is the Type whose view is V.
func Of[V codec.View[V]]() Type {
	var v V
	return Type{
		Name: v.Γtype().Layout().Name(),
		New:  v.Γtype().New,
		Open: func(b []byte, o codec.Options) (Frame, error) {
			f := new(codec.Frame[V])
			return frame[V]{f}, f.Open(b, o)
		},
		Make: func(m proto.Message) (Frame, error) {
			f, err := codec.NewFrame[V](m)
			return frame[V]{f}, err
		},
	}
}
