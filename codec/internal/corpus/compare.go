package corpus

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Bytes returns protobuf's deterministic bytes of m: every bit that protobuf
// would carry, those of floats and of unknown fields included.
func Bytes(m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true, AllowPartial: true}.Marshal(m)
}

// Diff says how two messages of one type differ, or nothing if protobuf's
// deterministic bytes of both are the same.
func Diff(want, got proto.Message) string {
	w, err := Bytes(want)
	if err != nil {
		return fmt.Sprintf("protobuf can't encode what is wanted: %v", err)
	}
	g, err := Bytes(got)
	if err != nil {
		return fmt.Sprintf("protobuf can't encode what came: %v", err)
	}
	if bytes.Equal(w, g) {
		return ""
	}
	return fmt.Sprintf("want %s\n got %s\nwant %s\n got %s", hex.EncodeToString(w), hex.EncodeToString(g), text(want), text(got))
}

func text(m proto.Message) string {
	const most = 4000
	s := prototext.MarshalOptions{EmitUnknown: true, AllowPartial: true}.Format(m)
	if len(s) > most {
		s = s[:most] + "..."
	}
	return s
}

// StripUnknown removes the unknown fields of m at every depth.
func StripUnknown(m protoreflect.Message) {
	if len(m.GetUnknown()) > 0 {
		m.SetUnknown(nil)
	}
	eachMessage(m, func(_ protoreflect.FieldDescriptor, sub protoreflect.Message) { StripUnknown(sub) })
}

// eachMessage calls f for each message that m holds directly.
func eachMessage(m protoreflect.Message, f func(protoreflect.FieldDescriptor, protoreflect.Message)) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			if fd.MapValue().Message() != nil {
				v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
					f(fd, v.Message())
					return true
				})
			}
		case fd.Message() == nil:
		case fd.IsList():
			for i := range v.List().Len() {
				f(fd, v.List().Get(i).Message())
			}
		default:
			f(fd, v.Message())
		}
		return true
	})
}
