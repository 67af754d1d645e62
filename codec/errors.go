package codec

import (
	"errors"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/envelope"
)

// Error is the one type of this package's errors: a kind, the byte offset in the
// frame (-1 if there is none) and, where known, the full name of the field. Match
// kinds with [errors.Is] and the sentinels below.
type Error = fault.Error

// Kind says what is wrong.
type Kind = fault.Kind

// The kinds of errors.
const (
	KindIncomplete   = fault.Incomplete   // too few bytes; Error.Need says how many the frame takes
	KindMagic        = fault.Magic        // the first bytes are no Graven frame's
	KindVersion      = fault.Version      // an unknown version of the envelope
	KindEnvelope     = fault.Envelope     // unknown flags, reserved bytes, or bytes left over
	KindTooLarge     = fault.TooLarge     // a message over the size limit
	KindChecksum     = fault.Checksum     // the CRC32C does not match
	KindSchema       = fault.Schema       // another message type, or another version where Options are strict
	KindMalformed    = fault.Malformed    // the checksum is right, the message is not
	KindIncompatible = fault.Incompatible // a field that the writer stores in a way this schema can't take
	KindTooDeep      = fault.TooDeep      // more levels of messages than the limit
	KindBudget       = fault.Budget       // decoding would allocate more than the budget
	KindRange        = fault.Range        // a value that does not fit its narrow width
	KindUTF8         = fault.UTF8         // a string that is not UTF-8 where protobuf checks
	KindRequired     = fault.Required     // a required field is not set
	KindUnstorable   = fault.Unstorable   // unknown fields of an inline message
	KindNotMessage   = fault.NotMessage   // no proto.Message, or a nil one to decode into
	KindBadSchema    = fault.BadSchema    // graven options that break the format's rules
	KindResidue      = fault.Residue      // extensions or unknown fields that are no valid protobuf
	KindReleased     = fault.Released     // a frame used after its release
	KindMisuse       = fault.Misuse       // calls of a writer or an edit that would corrupt a frame
)

// Sentinels for [errors.Is]. [ErrMalformed] also matches the kinds UTF8 and Residue.
var (
	ErrIncomplete   = fault.Sentinel(KindIncomplete)
	ErrMagic        = fault.Sentinel(KindMagic)
	ErrVersion      = fault.Sentinel(KindVersion)
	ErrEnvelope     = fault.Sentinel(KindEnvelope)
	ErrTooLarge     = fault.Sentinel(KindTooLarge)
	ErrChecksum     = fault.Sentinel(KindChecksum)
	ErrSchema       = fault.Sentinel(KindSchema)
	ErrMalformed    = fault.Sentinel(KindMalformed)
	ErrIncompatible = fault.Sentinel(KindIncompatible)
	ErrTooDeep      = fault.Sentinel(KindTooDeep)
	ErrBudget       = fault.Sentinel(KindBudget)
	ErrRange        = fault.Sentinel(KindRange)
	ErrUTF8         = fault.Sentinel(KindUTF8)
	ErrRequired     = fault.Sentinel(KindRequired)
	ErrUnstorable   = fault.Sentinel(KindUnstorable)
	ErrNotMessage   = fault.Sentinel(KindNotMessage)
	ErrBadSchema    = fault.Sentinel(KindBadSchema)
	ErrReleased     = fault.Sentinel(KindReleased)
	ErrMisuse       = fault.Sentinel(KindMisuse)
)

var envelopeKinds = [...]Kind{
	envelope.KindMagic:      KindMagic,
	envelope.KindVersion:    KindVersion,
	envelope.KindFlags:      KindEnvelope,
	envelope.KindReserved:   KindEnvelope,
	envelope.KindSize:       KindTooLarge,
	envelope.KindIncomplete: KindIncomplete,
	envelope.KindTrailing:   KindEnvelope,
	envelope.KindChecksum:   KindChecksum,
}

// envelopeError gives an error of package envelope our kind.
func envelopeError(err error) error {
	var e *envelope.Error
	if !errors.As(err, &e) {
		return err
	}
	c := &Error{Kind: envelopeKinds[e.Kind], Offset: e.Offset, Err: err}
	switch e.Kind {
	case envelope.KindIncomplete:
		c.Need = int(e.Need)
	case envelope.KindChecksum:
		c.Want, c.Got = uint64(e.Expected), uint64(e.Found)
	}
	return c
}
