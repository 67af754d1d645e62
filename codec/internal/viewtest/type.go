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
type Frame struct {
	proto.Message
	View      func() any
	Edit      func() (any, error)
	Bytes     func() ([]byte, error)
	Err       func() error
	Converted func() bool
	Release   func()
	String    func() string
}

func of[V codec.View[V]](f *codec.Frame[V]) Frame {
	return Frame{
		Message: f, Bytes: f.Bytes, Err: f.Err, Converted: f.Converted, Release: f.Release, String: f.String,
		View: func() any { return f.View() },
		Edit: func() (any, error) { return f.Edit() },
	}
}

// Of is the Type whose view is V.
func Of[V codec.View[V]]() Type {
	var v V
	return Type{
		Name: v.Γtype().Layout().Name(),
		New:  v.Γtype().New,
		Open: func(b []byte, o codec.Options) (Frame, error) {
			f := new(codec.Frame[V])
			return of(f), f.Open(b, o)
		},
		Make: func(m proto.Message) (Frame, error) {
			f, err := codec.NewFrame[V](m)
			if err != nil {
				return Frame{}, err
			}
			return of(f), nil
		},
	}
}
