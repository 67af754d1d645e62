package codec_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"

	_ "github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	_ "github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy"
	_ "github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
)

// marshal encodes m, twice, by both entry points, and demands that all give
// the same frame and leave what stood before it alone.
func marshal(t testing.TB, o codec.Options, m proto.Message) []byte {
	t.Helper()
	frame, err := o.Marshal(m)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	prefix := bytes.Repeat([]byte{0xAA}, 7)
	dirty := append(make([]byte, 0, 16+len(frame)), prefix...)
	full := dirty[:cap(dirty)]
	for i := range full {
		full[i] = 0xAA
	}
	again, err := o.MarshalAppend(dirty, m)
	if err != nil {
		t.Fatalf("marshal again: %v", err)
	}
	if !bytes.Equal(again[:7], prefix) {
		t.Fatalf("MarshalAppend changed what stood before: %x", again[:7])
	}
	if !bytes.Equal(again[7:], frame) {
		t.Fatalf("two encodings differ\n%x\n%x", frame, again[7:])
	}
	return frame
}

// empty returns a new message of m's type.
func empty(m proto.Message) proto.Message { return m.ProtoReflect().New().Interface() }

// unmarshal decodes a frame from memory that is overwritten right after.
func unmarshal(t testing.TB, o codec.Options, frame []byte, like proto.Message) proto.Message {
	t.Helper()
	m := empty(like)
	lent := bytes.Clone(frame)
	if err := o.Unmarshal(lent, m); err != nil {
		t.Fatalf("unmarshal: %v\n%x", err, frame)
	}
	if !bytes.Equal(lent, frame) {
		t.Fatal("Unmarshal changed the frame")
	}
	for i := range lent {
		lent[i] = 0xAA
	}
	return m
}

// roundTrip encodes m and decodes it, demands that protobuf sees no difference
// and that encoding once more gives the same frame, and returns the frame and
// the decoded message.
func roundTrip(t testing.TB, o codec.Options, m proto.Message) ([]byte, proto.Message) {
	t.Helper()
	frame := marshal(t, o, m)
	got := unmarshal(t, o, frame, m)
	if d := corpus.Diff(m, got); d != "" {
		t.Fatalf("decoded message differs\n%s\nframe %x", d, frame)
	}
	if again := marshal(t, o, got); !bytes.Equal(again, frame) {
		t.Fatalf("the decoded message encodes differently\n%x\n%x", frame, again)
	}
	return frame, got
}

// sameAsText demands the frame that the encoder written from the format's text
// gives.
func sameAsText(t testing.TB, m proto.Message, frame []byte) {
	t.Helper()
	want, err := corpus.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, frame) {
		t.Fatalf("frame\nwant %x\n got %x", want, frame)
	}
}

// refused demands an error of the kind.
func refused(t testing.TB, err, kind error) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %v", kind)
	}
	if !errors.Is(err, kind) {
		t.Fatalf("error %q, want kind %q", err, kind)
	}
	var e *codec.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %T is no *codec.Error", err)
	}
}

// compile returns a schema from text.
func compile(t testing.TB, text string) *corpus.Set {
	t.Helper()
	s, err := corpus.Compile("test.proto", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// newMessage returns an empty dynamic message of a schema.
func newMessage(t testing.TB, s *corpus.Set, name protoreflect.FullName) *dynamicpb.Message {
	t.Helper()
	md, err := s.Message(name)
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(md)
}

// unhex reads hexadecimal digits with spaces between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tries is how often something random is tried: n times, or a sixth of that in short runs,
// which are those by the race detector, by emulators and by build tags.
func tries(n int) int {
	if testing.Short() {
		return (n + 5) / 6
	}
	return n
}

// stride is the step of a loop over everything of a kind: one, or n in short runs.
func stride(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}
