package gravenconnect

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
)

// What this package looks for in a message beyond proto.Message. Types that hold
// their own frame have these methods, so that its bytes travel without being decoded
// and encoded.

// appender appends its sealed frame to dst.
type appender interface {
	GravenAppend(dst []byte, o codec.Options) ([]byte, error)
}

// unmarshaler takes a frame. Connect uses its buffers again, so the owner is always
// nil and data has to be copied. Empty data is the message with nothing set.
type unmarshaler interface {
	GravenUnmarshal(data []byte, owner interface {
		Ref()
		Free()
	}, o codec.Options) error
}

// inProtobuf is a message that a client which falls back sends in protobuf.
type inProtobuf struct{ proto.Message }
