package codec

import (
	"math"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/wire"
)

// The limits where [Options] name none.
const (
	// DefaultMaxSize is the largest message, in bytes without the envelope. It is
	// the largest that the format allows.
	DefaultMaxSize = wire.MaxMessage

	// DefaultMaxDepth is how many levels of messages are taken, counted as
	// protobuf-go does: the root is one, an entry of a map is one.
	DefaultMaxDepth = wire.DefaultDepth

	// DefaultBudget and DefaultBudgetPerByte make the budget of decoding, in
	// bytes: the first plus the second for each byte of the frame.
	DefaultBudget        = 256 << 20
	DefaultBudgetPerByte = 64
)

// Options configure encoding and decoding. The zero value is what [Marshal] and
// [Unmarshal] use. Options may be copied, and used by several goroutines at once.
type Options struct {
	// AllowPartial accepts messages whose required fields are not all set.
	AllowPartial bool

	// DiscardUnknown drops unknown fields and fields of another schema version,
	// when encoding and when decoding. Extensions are kept.
	DiscardUnknown bool

	// StrictSchema refuses frames of another version of the message's schema
	// with [ErrSchema]. Else only another message type is refused.
	StrictSchema bool

	// MaxSize is the largest message to encode or decode, in bytes without the
	// envelope; 0 stands for [DefaultMaxSize].
	MaxSize int

	// MaxDepth is how many levels of messages to encode or decode; 0 stands for
	// [DefaultMaxDepth].
	MaxDepth int

	// Budget is how many bytes decoding one frame may ask the allocator for,
	// about; 0 stands for [DefaultBudget] plus [DefaultBudgetPerByte] for each
	// byte of the frame.
	Budget int64

	// Resolver finds extensions by number; nil stands for
	// protoregistry.GlobalTypes.
	Resolver interface {
		FindExtensionByName(field protoreflect.FullName) (protoreflect.ExtensionType, error)
		FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error)
	}

	// Hook, if set, is called with every failure. Transports flatten errors to
	// text; here they have their type. It must not block and may be called by
	// several goroutines at once.
	Hook func(Event)

	// Counters, if set, count frames.
	Counters *Counters
}

func (o *Options) maxSize() int {
	if o.MaxSize <= 0 || int64(o.MaxSize) > wire.MaxMessage {
		return DefaultMaxSize
	}
	return o.MaxSize
}

func (o *Options) maxDepth() int {
	if o.MaxDepth <= 0 {
		return DefaultMaxDepth
	}
	return o.MaxDepth
}

func (o *Options) budget(frame int) int64 {
	if o.Budget > 0 {
		return o.Budget
	}
	return min(math.MaxInt64, DefaultBudget+DefaultBudgetPerByte*int64(frame))
}
