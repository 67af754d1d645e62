// Package fault holds the one error type that everything below codec returns;
// package codec exports it under its public names.
package fault

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Kind says what is wrong with a frame or a message.
type Kind uint8

const (
	Incomplete   Kind = iota + 1 // too few bytes; Need says how many the frame takes
	Magic                        // the bytes are no Graven frame
	Version                      // a version of the envelope that this build does not know
	Envelope                     // unknown flags, reserved bytes, or bytes behind the frame
	TooLarge                     // a size over the limit
	Checksum                     // the CRC32C does not match
	Schema                       // another message type, or another version where the caller is strict
	Malformed                    // the checksum is right, the message is not
	Incompatible                 // the writer stores a field in a way the reader's kind can't take
	TooDeep                      // more levels than the limit
	Budget                       // decoding would allocate more than the budget
	Range                        // a value that does not fit its narrow width
	UTF8                         // a string that is not UTF-8 where protobuf checks
	Required                     // a required field is not set
	Unstorable                   // content that the layout has no place for
	NotMessage                   // the value is no proto.Message, or a nil one
	BadSchema                    // graven options that contradict the format's rules
	Residue                      // extensions or unknown fields that can't be parsed as protobuf
	Released                     // a frame or buffer used after its release
	Misuse                       // calls in an order that would corrupt a frame
)

var names = [...]string{
	Incomplete:   "incomplete frame",
	Magic:        "bad magic",
	Version:      "unsupported version",
	Envelope:     "bad envelope",
	TooLarge:     "message too large",
	Checksum:     "checksum mismatch",
	Schema:       "schema mismatch",
	Malformed:    "malformed message",
	Incompatible: "incompatible field",
	TooDeep:      "nested too deep",
	Budget:       "over budget",
	Range:        "value out of range",
	UTF8:         "invalid UTF-8",
	Required:     "required field not set",
	Unstorable:   "nowhere to store",
	NotMessage:   "not a message",
	BadSchema:    "invalid graven options",
	Residue:      "malformed residue",
	Released:     "used after release",
	Misuse:       "misuse",
}

func (k Kind) String() string {
	if int(k) < len(names) && names[k] != "" {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Error is the error of a frame, a message or a schema.
type Error struct {
	Kind   Kind
	Offset int                   // byte offset in the frame, -1 where there is none
	Field  protoreflect.FullName // field or message the error is about, "" if unknown
	Need   int                   // bytes the frame takes (Incomplete)
	Want   uint64                // schema id or checksum expected (Schema, Checksum)
	Got    uint64                // and found
	Detail string                // what exactly is wrong, for people
	Err    error                 // underlying error, if any
}

// New makes an error without a place.
func New(k Kind, detail string) *Error { return &Error{Kind: k, Offset: -1, Detail: detail} }

// Newf is New with a format.
func Newf(k Kind, format string, args ...any) *Error {
	return New(k, fmt.Sprintf(format, args...))
}

// At makes an error at an offset of the frame.
func At(k Kind, offset int, detail string) *Error {
	return &Error{Kind: k, Offset: offset, Detail: detail}
}

// Of makes an error about a field or message type.
func Of(k Kind, name protoreflect.FullName, detail string) *Error {
	return &Error{Kind: k, Offset: -1, Field: name, Detail: detail}
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("graven: ")
	b.WriteString(e.Kind.String())
	if e.Field != "" {
		b.WriteString(": ")
		b.WriteString(string(e.Field))
	}
	if e.Detail != "" {
		b.WriteString(": ")
		b.WriteString(e.Detail)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " (at byte %d)", e.Offset)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap gives the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Is matches the sentinel of the error's kind. Text that is not UTF-8 and a residue
// that is no protobuf are malformed too.
func (e *Error) Is(target error) bool {
	s, ok := target.(*sentinel)
	return ok && (s.kind == e.Kind || s.kind == Malformed && (e.Kind == UTF8 || e.Kind == Residue))
}

type sentinel struct{ kind Kind }

func (s *sentinel) Error() string { return "graven: " + s.kind.String() }

// Sentinel makes the value that errors.Is matches against a kind.
func Sentinel(k Kind) error { return &sentinel{k} }

// KindOf finds the kind of an error, 0 if it is none of ours.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}
