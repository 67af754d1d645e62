package envelope

import (
	"errors"
	"fmt"
	"io"
)

// Kind says what is wrong with a frame.
type Kind uint8

// The kinds of errors, in the order in which they are looked for.
const (
	KindMagic      Kind = iota + 1 // the first four bytes are not "GRVN"
	KindVersion                    // a version other than 1
	KindFlags                      // a flag that a reader must not ignore
	KindReserved                   // reserved bytes that are not zero
	KindSize                       // a message above the limit
	KindIncomplete                 // fewer bytes than the frame has
	KindTrailing                   // more bytes than the frame has
	KindChecksum                   // the CRC does not match
)

// What [errors.Is] matches an [*Error] with, by its kind.
var (
	ErrMagic      = errors.New("envelope: bad magic")
	ErrVersion    = errors.New("envelope: unsupported version")
	ErrFlags      = errors.New("envelope: unknown flags")
	ErrReserved   = errors.New("envelope: reserved bytes are not zero")
	ErrSize       = errors.New("envelope: message too large")
	ErrIncomplete = errors.New("envelope: incomplete frame")
	ErrTrailing   = errors.New("envelope: bytes left over")
	ErrChecksum   = errors.New("envelope: checksum mismatch")
)

var sentinels = [...]error{
	KindMagic:      ErrMagic,
	KindVersion:    ErrVersion,
	KindFlags:      ErrFlags,
	KindReserved:   ErrReserved,
	KindSize:       ErrSize,
	KindIncomplete: ErrIncomplete,
	KindTrailing:   ErrTrailing,
	KindChecksum:   ErrChecksum,
}

// Error is what is wrong with a frame.
type Error struct {
	Kind Kind
	// Frame is where the frame starts, in bytes from the start of the stream.
	// It is 0 unless the error is from a [Reader].
	Frame int64
	// Offset is where the fault lies, in bytes from the start of the frame: the
	// first wrong byte of the header, the first byte that is missing or left
	// over, or the CRC.
	Offset int
	// Have and Need are the bytes that are there and that the frame takes in
	// all, for KindIncomplete and KindTrailing. While the header is not complete
	// Need is [Overhead], the least that a frame can take.
	Have int
	Need int64
	// Found and Expected are what is in the frame and what should be, for the
	// other kinds: bytes of the header, the size of the message and the limit,
	// the CRC of the bytes and the CRC that the frame has.
	Found, Expected uint32
}

func (e *Error) Error() string {
	s := e.sentence()
	if e.Frame != 0 {
		return fmt.Sprintf("%s, in the frame at offset %d of the stream", s, e.Frame)
	}
	return s
}

func (e *Error) sentence() string {
	switch e.Kind {
	case KindMagic:
		return fmt.Sprintf("%v: byte %d is 0x%02X, not %q: this is no Graven frame", ErrMagic, e.Offset, e.Found, rune(e.Expected))
	case KindVersion:
		return fmt.Sprintf("%v %d, only %d is known", ErrVersion, e.Found, e.Expected)
	case KindFlags:
		return fmt.Sprintf("%v 0x%02X", ErrFlags, e.Found)
	case KindReserved:
		return fmt.Sprintf("%v: byte %d is 0x%02X", ErrReserved, e.Offset, e.Found)
	case KindSize:
		return fmt.Sprintf("%v: %d bytes, the limit is %d", ErrSize, e.Found, e.Expected)
	case KindIncomplete:
		return fmt.Sprintf("%v: have %d of at least %d bytes", ErrIncomplete, e.Have, e.Need)
	case KindTrailing:
		return fmt.Sprintf("%v: the frame ends at byte %d of %d", ErrTrailing, e.Need, e.Have)
	case KindChecksum:
		return fmt.Sprintf("%v: the bytes give 0x%08X, the frame says 0x%08X", ErrChecksum, e.Found, e.Expected)
	}
	return fmt.Sprintf("envelope: error of unknown kind %d", e.Kind)
}

// Is reports whether target is the sentinel of e's kind. An incomplete frame is
// also an [io.ErrUnexpectedEOF].
func (e *Error) Is(target error) bool {
	if int(e.Kind) < len(sentinels) && target == sentinels[e.Kind] && target != nil {
		return true
	}
	return e.Kind == KindIncomplete && target == io.ErrUnexpectedEOF
}
