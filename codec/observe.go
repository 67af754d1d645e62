package codec

import (
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Event is a failure that [Options.Hook] sees.
type Event struct {
	Decoding bool                  // else encoding
	Message  protoreflect.FullName // the message type asked for, "" if there is none
	Frame    int                   // bytes of the frame, 0 when encoding
	Err      error                 // an [*Error]
}

// Counters count frames. The zero value is ready; a Counters must not be copied.
type Counters struct {
	Encoded      atomic.Uint64 // frames made
	EncodeFailed atomic.Uint64 // messages that no frame could be made of
	Native       atomic.Uint64 // frames read whose root has the compiled shape
	OtherShape   atomic.Uint64 // frames read whose root has another shape: elided, or of another version
	OtherVersion atomic.Uint64 // frames read that name another version of the schema, whatever their shape
	Refused      atomic.Uint64 // frames refused
}

func (o *Options) failed(decoding bool, name protoreflect.FullName, frame int, err error) {
	if o.Counters != nil {
		if decoding {
			o.Counters.Refused.Add(1)
		} else {
			o.Counters.EncodeFailed.Add(1)
		}
	}
	if o.Hook != nil {
		o.Hook(Event{Decoding: decoding, Message: name, Frame: frame, Err: err})
	}
}

func (c *Counters) read(native, sameVersion bool) {
	if native {
		c.Native.Add(1)
	} else {
		c.OtherShape.Add(1)
	}
	if !sameVersion {
		c.OtherVersion.Add(1)
	}
}
