package gravengrpc

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/pool"
)

func newCodec(o codec.Options) *grpcCodec {
	return &grpcCodec{options: o, pool: &pool.Pool{Poison: true}}
}

func TestRegistered(t *testing.T) {
	if c := encoding.GetCodecV2(Name); c == nil || c.Name() != "graven" || Name != "graven" {
		t.Errorf("registered: %v", c)
	}
	if c := New(codec.Options{}); c.Name() != Name {
		t.Errorf("New has the name %q", c.Name())
	}
}

// cut makes n buffers of data, as if it had come in n HTTP/2 frames.
func cut(data []byte, n int) mem.BufferSlice {
	var out mem.BufferSlice
	for i := range n {
		part := slices.Clone(data[len(data)*i/n : len(data)*(i+1)/n])
		out = append(out, mem.NewBuffer(&part, mem.NopBufferPool{}))
	}
	return out
}

func TestMarshalAndUnmarshal(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, n := range sizes {
		m := wrapperspb.Bytes(randomBytes(1, n))
		want, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		// Twice, since the first large message does not find room, and then a small
		// one in the room of a large one.
		for range 2 {
			data, err := c.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data.Materialize(), want) {
				t.Fatalf("%d bytes: other bytes than codec.Marshal", n)
			}
			if len(data) != 1 {
				t.Errorf("%d bytes: %d buffers", n, len(data))
			}
			if size := cap(data[0].ReadOnlyData()); size > 2*len(want)+64 {
				t.Errorf("%d bytes are sent in a buffer of %d", n, size)
			}
			data.Free()
		}
		for _, parts := range []int{1, 2, 3, 20} {
			got := wrapperspb.Bytes([]byte("something old"))
			data := cut(want, parts)
			if err := c.Unmarshal(data, got); err != nil {
				t.Fatalf("%d bytes in %d parts: %v", n, parts, err)
			}
			data.Free()
			if !proto.Equal(got, m) {
				t.Errorf("%d bytes in %d parts: got another message", n, parts)
			}
		}
	}
}

func TestMarshalTakesFromThePool(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, n := range []int{2 << 10, 40 << 10, 300 << 10} {
		m := wrapperspb.Bytes(randomBytes(1, n))
		if _, err := c.Marshal(m); err != nil { // learns the size
			t.Fatal(err)
		}
		data, err := c.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		bytesSent := data[0].ReadOnlyData()
		data.Free()
		if bytesSent[0] != pool.PoisonByte || bytesSent[len(bytesSent)-1] != pool.PoisonByte {
			t.Errorf("%d bytes: the buffer did not go back to the pool", n)
		}
	}
	// Small ones after large ones are not kept in large buffers.
	data, err := c.Marshal(wrapperspb.Bytes(randomBytes(1, 3000)))
	if err != nil {
		t.Fatal(err)
	}
	if n := cap(data[0].ReadOnlyData()); n > 4096 {
		t.Errorf("3000 bytes are sent in a buffer of %d", n)
	}
}

func TestGuessForgets(t *testing.T) {
	c := newCodec(codec.Options{})
	c.learn(800_000)
	if g := c.guess.Load(); g != 800_000 {
		t.Fatalf("guess %d", g)
	}
	c.learn(100 << 20)
	if g := c.guess.Load(); g != maxGuess {
		t.Fatalf("guess %d", g)
	}
	for range 1000 {
		c.learn(100)
	}
	if g := c.guess.Load(); g > minGuess {
		t.Errorf("after a thousand small messages the guess is %d", g)
	}
}

func TestZeroBytes(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, data := range []mem.BufferSlice{nil, {}, {mem.SliceBuffer(nil)}, {mem.SliceBuffer{}, mem.SliceBuffer{}}} {
		m := wrapperspb.String("old")
		if err := c.Unmarshal(data, m); err != nil || m.Value != "" {
			t.Errorf("%v: %v, %q", data, err, m.Value)
		}
	}
	// A message with required fields is checked as gRPC's own codec does.
	part := &descriptorpb.UninterpretedOption_NamePart{NamePart: proto.String("old")}
	if err := c.Unmarshal(nil, part); !errors.Is(err, codec.ErrRequired) {
		t.Errorf("required fields: %v", err)
	}
	if err := newCodec(codec.Options{AllowPartial: true}).Unmarshal(nil, part); err != nil || part.NamePart != nil {
		t.Errorf("partial: %v, %v", err, part)
	}
}

func TestNotAMessage(t *testing.T) {
	var events []codec.Event
	var n codec.Counters
	c := newCodec(codec.Options{Hook: func(e codec.Event) { events = append(events, e) }, Counters: &n})
	if _, err := c.Marshal("text"); !errors.Is(err, codec.ErrNotMessage) || !strings.Contains(err.Error(), "string") {
		t.Errorf("Marshal: %v", err)
	}
	if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer("x")}, new(int)); !errors.Is(err, codec.ErrNotMessage) || !strings.Contains(err.Error(), "*int") {
		t.Errorf("Unmarshal: %v", err)
	}
	if err := c.Unmarshal(nil, (*wrapperspb.BytesValue)(nil)); !errors.Is(err, codec.ErrNotMessage) || !strings.Contains(err.Error(), "nil") {
		t.Errorf("into a nil pointer: %v", err)
	}
	if len(events) != 3 || events[0].Decoding || !events[1].Decoding || n.EncodeFailed.Load() != 1 || n.Refused.Load() != 2 {
		t.Errorf("events %+v, %d and %d counted", events, n.EncodeFailed.Load(), n.Refused.Load())
	}
}

func TestTypedNil(t *testing.T) {
	c := newCodec(codec.Options{})
	data, err := c.Marshal((*wrapperspb.BytesValue)(nil))
	if err != nil {
		t.Fatal(err)
	}
	m := wrapperspb.Bytes([]byte("old"))
	if err := c.Unmarshal(data, m); err != nil || m.Value != nil {
		t.Errorf("%v, %q", err, m.Value)
	}
}

// oldMessage is a message of the first protobuf API.
type oldMessage struct{ inner *wrapperspb.BytesValue }

func (m *oldMessage) Reset()         { m.inner = new(wrapperspb.BytesValue) }
func (m *oldMessage) String() string { return m.inner.String() }
func (m *oldMessage) ProtoMessage()  {}

func TestFirstAPI(t *testing.T) {
	if messageOf(new(oldMessage)) == nil {
		t.Error("a message of the first API is not taken")
	}
}

func TestUnmarshalReplaces(t *testing.T) {
	c := newCodec(codec.Options{})
	first, err := structpb.NewStruct(map[string]any{"a": 1, "b": []any{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := structpb.NewStruct(map[string]any{"c": true})
	if err != nil {
		t.Fatal(err)
	}
	got := new(structpb.Struct)
	for _, m := range []*structpb.Struct{first, second, first} {
		data, err := c.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Unmarshal(data, got); err != nil || !proto.Equal(got, m) {
			t.Errorf("got %v, %v, want %v", got, err, m)
		}
		data.Free()
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
		for _, parts := range []int{1, 3} {
			if err := c.Unmarshal(cut(test.data, parts), new(wrapperspb.BytesValue)); !errors.Is(err, test.want) || !strings.HasPrefix(err.Error(), errorPrefix) {
				t.Errorf("% x: got %v, want %v", test.data, err, test.want)
			}
		}
	}
	small := newCodec(codec.Options{MaxSize: 10})
	if _, err := small.Marshal(wrapperspb.Bytes(make([]byte, 100))); !errors.Is(err, codec.ErrTooLarge) {
		t.Errorf("over the limit: %v", err)
	}
}

// heldFrame is what a type that keeps its frame looks like from here.
type heldFrame struct {
	data  []byte
	owner owner
}

func (f *heldFrame) GravenUnmarshal(data []byte, owner interface {
	Ref()
	Free()
}, _ codec.Options) error {
	if owner == nil {
		f.data = bytes.Clone(data)
		return nil
	}
	owner.Ref()
	f.data, f.owner = data, owner
	return nil
}

func (f *heldFrame) release() {
	if f.owner != nil {
		f.owner.Free()
	}
}

func (f *heldFrame) GravenBuffer() ([]byte, interface {
	Ref()
	Free()
}) {
	return f.data, f.owner
}

func (f *heldFrame) GravenAppend(dst []byte, _ codec.Options) ([]byte, error) {
	return append(dst, f.data...), nil
}

// counted is an owner that tells how many references there are.
type counted struct{ refs atomic.Int32 }

func (c *counted) Ref()  { c.refs.Add(1) }
func (c *counted) Free() { c.refs.Add(-1) }

func TestHeldFrames(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, n := range []int{0, 10, 1024, 2 << 10, 40 << 10} {
		want, err := codec.Marshal(wrapperspb.Bytes(randomBytes(2, n)))
		if err != nil {
			t.Fatal(err)
		}
		for _, parts := range []int{1, 4} {
			var f heldFrame
			var data mem.BufferSlice
			for i := range parts {
				b := poisoned.Get(len(want)*(i+1)/parts - len(want)*i/parts)
				copy(*b, want[len(want)*i/parts:])
				data = append(data, mem.NewBuffer(b, poisoned))
			}
			if err := c.Unmarshal(data, &f); err != nil {
				t.Fatal(err)
			}
			data.Free() // as gRPC does when Unmarshal has returned
			if !bytes.Equal(f.data, want) {
				t.Errorf("%d bytes in %d parts: the frame was overwritten", n, parts)
			}

			sent, err := c.Marshal(&f)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) > maxUnpooled && &sent[0].ReadOnlyData()[0] != &f.data[0] {
				t.Errorf("%d bytes in %d parts: the frame was copied to be sent", n, parts)
			}
			if kept := f.owner != nil; kept != (parts > 1 || len(want) > maxCopied) {
				t.Errorf("%d bytes in %d parts: keeps gRPC's buffer: %v", n, parts, kept)
			}
			f.release() // its holder releases it before it was sent
			if !bytes.Equal(sent.Materialize(), want) {
				t.Errorf("%d bytes in %d parts: overwritten before it was sent", n, parts)
			}
			sent.Free()
		}
	}
	// A frame without an owner is garbage collected.
	f := &heldFrame{data: randomBytes(3, 5000)}
	sent, err := c.Marshal(f)
	if err != nil || &sent[0].ReadOnlyData()[0] != &f.data[0] {
		t.Errorf("no owner: %v", err)
	}
	sent.Free()
	// References are given back to the last one.
	var o counted
	f.owner = &o
	if sent, err = c.Marshal(f); err != nil || o.refs.Load() != 1 {
		t.Errorf("while it is sent: %v, %d references", err, o.refs.Load())
	}
	sent.Free()
	if o.refs.Load() != 0 {
		t.Errorf("when it was sent: %d references", o.refs.Load())
	}
	f.data = f.data[:100:100]
	if sent, err = c.Marshal(f); err != nil || o.refs.Load() != 0 {
		t.Errorf("a small one: %v, %d references", err, o.refs.Load())
	}
	sent.Free()
	// Zero bytes are passed on.
	if err := c.Unmarshal(nil, f); err != nil || len(f.data) != 0 {
		t.Errorf("zero bytes: %v, %d bytes", err, len(f.data))
	}
}

// Every message of protobuf's own descriptors, through the codec.
func TestDescriptors(t *testing.T) {
	c := newCodec(codec.Options{})
	for _, m := range []proto.Message{
		protodesc.ToFileDescriptorProto(descriptorpb.File_google_protobuf_descriptor_proto),
		protodesc.ToFileDescriptorProto(structpb.File_google_protobuf_struct_proto),
	} {
		data, err := c.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		got := m.ProtoReflect().New().Interface()
		if err := c.Unmarshal(data, got); err != nil || !proto.Equal(got, m) {
			t.Errorf("%s: %v", m.ProtoReflect().Descriptor().FullName(), err)
		}
		data.Free()
	}
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop some of what is put back")
	}
	c := &grpcCodec{pool: new(pool.Pool)}
	m := wrapperspb.Bytes(randomBytes(1, 10_000))
	var frame []byte
	var err error
	encode := testing.AllocsPerRun(100, func() {
		if frame, err = codec.MarshalAppend(frame[:0], m); err != nil {
			t.Fatal(err)
		}
	})
	send := testing.AllocsPerRun(100, func() {
		data, err := c.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		data.Free()
	})
	// One for the slice of buffers.
	if send > encode+1.1 {
		t.Errorf("%v allocations to send, %v to encode", send, encode)
	}
	data := mem.BufferSlice{mem.SliceBuffer(frame)}
	decode := testing.AllocsPerRun(100, func() {
		if err := codec.Unmarshal(frame, m); err != nil {
			t.Fatal(err)
		}
	})
	receive := testing.AllocsPerRun(100, func() {
		if err := c.Unmarshal(data, m); err != nil {
			t.Fatal(err)
		}
	})
	if receive > decode {
		t.Errorf("%v allocations to receive, %v to decode", receive, decode)
	}
}
