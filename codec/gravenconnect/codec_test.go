package gravenconnect

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

func newCodec(o codec.Options) *Codec {
	return &Codec{options: o, pool: &pool.Pool{Poison: true}}
}

var sizes = []int{0, 1, 200, 2 << 10, 5000, 40 << 10, 300 << 10}

// testBytes returns n bytes that differ from those of another seed.
func testBytes(seed, n int) []byte {
	return bytes.Clone(noise()[seed*61:][:n])
}

var noise = sync.OnceValue(func() []byte {
	b := make([]byte, 1<<19)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
})

func TestEncode(t *testing.T) {
	c := newCodec(codec.Options{})
	if c.Name() != "graven" || !c.IsBinary() {
		t.Errorf("name %q, binary %v", c.Name(), c.IsBinary())
	}
	for _, n := range sizes {
		m := wrapperspb.Bytes(testBytes(1, n))
		want, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := c.Marshal(m)
		if err != nil || !bytes.Equal(plain, want) {
			t.Errorf("%d bytes: Marshal: %d bytes, %v", n, len(plain), err)
		}
		stable, err := c.MarshalStable(m)
		if err != nil || !bytes.Equal(stable, want) {
			t.Errorf("%d bytes: MarshalStable: %d bytes, %v", n, len(stable), err)
		}
		room := append(make([]byte, 0, 10+len(want)), "in front"...)
		appended, err := c.MarshalAppend(room, m)
		if err != nil || string(appended[:8]) != "in front" || !bytes.Equal(appended[8:], want) || &appended[0] != &room[:1][0] {
			t.Errorf("%d bytes: MarshalAppend: %d bytes, %v", n, len(appended), err)
		}
		for _, write := range []func(io.Writer) error{
			func(w io.Writer) error { return c.MarshalWrite(t.Context(), w, m) },
			func(w io.Writer) error { return c.MarshalWriteStable(t.Context(), w, m) },
		} {
			buffer := bytes.NewBufferString("in front")
			if err := write(buffer); err != nil || !bytes.Equal(buffer.Bytes()[8:], want) {
				t.Errorf("%d bytes: to a Buffer: %d bytes, %v", n, buffer.Len(), err)
			}
			var builder strings.Builder
			if err := write(&builder); err != nil || builder.String() != string(want) {
				t.Errorf("%d bytes: to a Writer: %d bytes, %v", n, builder.Len(), err)
			}
		}
	}
}

var errDisk = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write(p []byte) (int, error) { return 0, errDisk }

func TestWriteErrors(t *testing.T) {
	c := newCodec(codec.Options{})
	if err := c.MarshalWrite(t.Context(), fullDisk{}, wrapperspb.String("x")); !errors.Is(err, errDisk) {
		t.Errorf("a failing writer: %v", err)
	}
	for _, w := range []io.Writer{new(bytes.Buffer), new(strings.Builder)} {
		if err := c.MarshalWrite(t.Context(), w, "text"); !errors.Is(err, codec.ErrNotMessage) {
			t.Errorf("no message: %v", err)
		}
	}
	if err := c.UnmarshalRead(t.Context(), iotest.ErrReader(errDisk), new(wrapperspb.StringValue)); !errors.Is(err, errDisk) {
		t.Errorf("a failing reader: %v", err)
	}
}

// withLen is a reader that knows its length.
type withLen struct {
	io.Reader
	n int
}

func (r withLen) Len() int { return r.n }

func TestDecode(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, n := range sizes {
		m := wrapperspb.Bytes(testBytes(2, n))
		frame, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for name, decode := range map[string]func(proto.Message) error{
			"Unmarshal": func(m proto.Message) error {
				b := slices.Clone(frame)
				err := c.Unmarshal(b, m)
				clear(b) // the transport uses it for something else
				return err
			},
			"Buffer": func(m proto.Message) error {
				b := bytes.NewBuffer(slices.Clone(frame))
				held := b.Bytes()
				err := c.UnmarshalRead(t.Context(), b, m)
				if b.Len() != 0 {
					t.Errorf("%d bytes left", b.Len())
				}
				clear(held)
				return err
			},
			"Reader": func(m proto.Message) error {
				return c.UnmarshalRead(t.Context(), iotest.HalfReader(bytes.NewReader(frame)), m)
			},
			"Reader with a length": func(m proto.Message) error {
				return c.UnmarshalRead(t.Context(), withLen{iotest.DataErrReader(bytes.NewReader(frame)), len(frame)}, m)
			},
		} {
			got := wrapperspb.Bytes([]byte("something old"))
			if err := decode(got); err != nil || !proto.Equal(got, m) {
				t.Errorf("%d bytes: %s: %d bytes, %v", n, name, len(got.Value), err)
			}
		}
	}
}

func TestZeroBytes(t *testing.T) {
	c := newCodec(codec.Options{})
	for name, decode := range map[string]func(proto.Message) error{
		"nil":    func(m proto.Message) error { return c.Unmarshal(nil, m) },
		"empty":  func(m proto.Message) error { return c.Unmarshal([]byte{}, m) },
		"Buffer": func(m proto.Message) error { return c.UnmarshalRead(t.Context(), new(bytes.Buffer), m) },
		"Reader": func(m proto.Message) error { return c.UnmarshalRead(t.Context(), strings.NewReader(""), m) },
	} {
		m := wrapperspb.String("old")
		if err := decode(m); err != nil || m.Value != "" {
			t.Errorf("%s: %q, %v", name, m.Value, err)
		}
		part := &descriptorpb.UninterpretedOption_NamePart{NamePart: proto.String("old")}
		if err := decode(part); !errors.Is(err, codec.ErrRequired) {
			t.Errorf("%s: required fields: %v", name, err)
		}
	}
	if err := newCodec(codec.Options{AllowPartial: true}).Unmarshal(nil, new(descriptorpb.UninterpretedOption_NamePart)); err != nil {
		t.Errorf("partial: %v", err)
	}
}

func TestNotAMessage(t *testing.T) {
	var events []codec.Event
	var n codec.Counters
	c := newCodec(codec.Options{Hook: func(e codec.Event) { events = append(events, e) }, Counters: &n})
	if b, err := c.Marshal("text"); !errors.Is(err, codec.ErrNotMessage) || b != nil {
		t.Errorf("Marshal: %q, %v", b, err)
	}
	if b, err := c.MarshalAppend([]byte("x"), 5); !errors.Is(err, codec.ErrNotMessage) || string(b) != "x" {
		t.Errorf("MarshalAppend: %q, %v", b, err)
	}
	if err := c.Unmarshal([]byte("x"), new(int)); !errors.Is(err, codec.ErrNotMessage) || !strings.Contains(err.Error(), "*int") {
		t.Errorf("Unmarshal: %v", err)
	}
	if err := c.Unmarshal(nil, (*wrapperspb.BytesValue)(nil)); !errors.Is(err, codec.ErrNotMessage) || !strings.Contains(err.Error(), "nil") {
		t.Errorf("into a nil pointer: %v", err)
	}
	if len(events) != 4 || n.EncodeFailed.Load() != 2 || n.Refused.Load() != 2 {
		t.Errorf("events %+v, %d and %d counted", events, n.EncodeFailed.Load(), n.Refused.Load())
	}
}

func TestTypedNil(t *testing.T) {
	c := newCodec(codec.Options{})
	b, err := c.Marshal((*structpb.Struct)(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := &structpb.Struct{Fields: map[string]*structpb.Value{"old": nil}}
	if err := c.Unmarshal(b, m); err != nil || len(m.Fields) != 0 {
		t.Errorf("%v, %v", m, err)
	}
}

// oldMessage is a message of the first protobuf API.
type oldMessage struct{}

func (*oldMessage) Reset()         {}
func (*oldMessage) String() string { return "" }
func (*oldMessage) ProtoMessage()  {}

func TestFirstAPI(t *testing.T) {
	if messageOf(new(oldMessage)) == nil {
		t.Error("a message of the first API is not taken")
	}
}

func TestErrorsHaveTheirType(t *testing.T) {
	c := newCodec(codec.Options{})
	frame, err := codec.Marshal(durationpb.New(5))
	if err != nil {
		t.Fatal(err)
	}
	wrong := slices.Clone(frame)
	wrong[len(wrong)-1]++
	for _, test := range []struct {
		data []byte
		want error
	}{
		{[]byte("\x0a\x03abc"), codec.ErrMagic},
		{frame[:10], codec.ErrIncomplete},
		{append(slices.Clone(frame), 0), codec.ErrEnvelope},
		{wrong, codec.ErrChecksum},
		{frame, codec.ErrSchema},
	} {
		if err := c.Unmarshal(test.data, new(wrapperspb.BytesValue)); !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), errorPrefix) {
			t.Errorf("% x: got %v, want %v", test.data, err, test.want)
		}
	}
}

// A client that falls back decodes protobuf too, and the two can't be confused.
func TestBoth(t *testing.T) {
	c := newCodec(codec.Options{})
	c.both = true
	for _, n := range sizes {
		m := wrapperspb.Bytes(testBytes(3, n))
		for _, sent := range []any{m, inProtobuf{m}} {
			data, err := c.Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			stable, err := c.MarshalStable(sent)
			if err != nil || !bytes.Equal(stable, data) {
				t.Errorf("%d bytes: MarshalStable: %v", n, err)
			}
			got := wrapperspb.Bytes([]byte("old"))
			if err := c.Unmarshal(data, got); err != nil || !proto.Equal(got, m) {
				t.Errorf("%T of %d bytes: %v", sent, n, err)
			}
		}
	}
	if data, err := c.Marshal(inProtobuf{wrapperspb.String("x")}); err != nil || string(data) != "\n\x01x" {
		t.Errorf("in protobuf: % x, %v", data, err)
	}
	if err := c.Unmarshal([]byte("Gx"), new(wrapperspb.BytesValue)); !errors.Is(err, codec.ErrMagic) {
		t.Errorf("neither: %v", err)
	}
}

// heldFrame is what a type that keeps its frame looks like from here.
type heldFrame struct{ data []byte }

func (f *heldFrame) GravenUnmarshal(data []byte, owner interface {
	Ref()
	Free()
}, _ codec.Options) error {
	if owner != nil {
		panic("Connect's memory has no owner")
	}
	f.data = bytes.Clone(data)
	return nil
}

func (f *heldFrame) GravenAppend(dst []byte, _ codec.Options) ([]byte, error) {
	return append(dst, f.data...), nil
}

func TestHeldFrames(t *testing.T) {
	c := newCodec(codec.Options{})
	want, err := codec.Marshal(wrapperspb.Bytes(testBytes(4, 5000)))
	if err != nil {
		t.Fatal(err)
	}
	var f heldFrame
	b := slices.Clone(want)
	if err := c.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	clear(b)
	got, err := c.Marshal(&f)
	if err != nil || !bytes.Equal(got, want) || &got[0] == &f.data[0] {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestAllocations(t *testing.T) {
	c := &Codec{pool: new(pool.Pool)}
	m := wrapperspb.Bytes(testBytes(5, 3000))
	var frame []byte
	var err error
	encode := testing.AllocsPerRun(100, func() {
		if frame, err = codec.MarshalAppend(frame[:0], m); err != nil {
			t.Fatal(err)
		}
	})
	var dst []byte
	if n := testing.AllocsPerRun(100, func() {
		if dst, err = c.MarshalAppend(dst[:0], m); err != nil {
			t.Fatal(err)
		}
	}); n > encode {
		t.Errorf("MarshalAppend: %v allocations, %v to encode", n, encode)
	}
	decode := testing.AllocsPerRun(100, func() {
		if err := codec.Unmarshal(frame, m); err != nil {
			t.Fatal(err)
		}
	})
	if n := testing.AllocsPerRun(100, func() {
		if err := c.Unmarshal(frame, m); err != nil {
			t.Fatal(err)
		}
	}); n > decode {
		t.Errorf("Unmarshal: %v allocations, %v to decode", n, decode)
	}
	buffer := bytes.NewBuffer(make([]byte, 0, 5000))
	if n := testing.AllocsPerRun(100, func() {
		buffer.Reset()
		if err := c.MarshalWrite(t.Context(), buffer, m); err != nil {
			t.Fatal(err)
		}
	}); n > encode {
		t.Errorf("MarshalWrite: %v allocations, %v to encode", n, encode)
	}
}
