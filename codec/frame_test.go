package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy/legacygraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
)

type transaction = codec.Frame[scenariosgraven.Transaction]

func opened(t testing.TB, m proto.Message) *transaction {
	t.Helper()
	f, err := codec.Open[scenariosgraven.Transaction](marshal(t, codec.Options{}, m))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func sealedBytes(t testing.TB, f interface{ Bytes() ([]byte, error) }) []byte {
	t.Helper()
	b, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The zero Frame and a nil one are messages with nothing set.
func TestZeroFrame(t *testing.T) {
	var f transaction
	v := f.View()
	if v.GetId() != 0 || v.GetReference() != "" || v.GetEntries().Len() != 0 || f.String() != "" || f.Err() != nil || f.Converted() {
		t.Error("not empty")
	}
	for range v.GetEntries().All() {
		t.Error("an entry")
	}
	if b := sealedBytes(t, &f); b != nil {
		t.Errorf("bytes %x", b)
	}
	frame, err := f.Append([]byte("x"))
	if want := marshal(t, codec.Options{}, &scenarios.Transaction{}); err != nil || !bytes.Equal(frame[1:], want) {
		t.Errorf("appended %x, %v, want %x", frame, err, want)
	}
	var b bytes.Buffer
	if n, err := f.WriteTo(&b); err != nil || int(n) != b.Len() || !bytes.Equal(b.Bytes(), frame[1:]) {
		t.Errorf("wrote %d bytes, %v: %x", n, err, b.Bytes())
	}
	if !proto.Equal(&f, &scenarios.Transaction{}) || proto.Size(&f) != 0 {
		t.Error("not an empty message")
	}
	none := (*transaction)(nil)
	if none.ProtoReflect().IsValid() || none.String() != "" || proto.Size(none) != 0 {
		t.Error("a nil frame is not a nil message")
	}
	if c, ok := proto.Clone(none).(*transaction); !ok || c != nil {
		t.Errorf("the clone of a nil frame is %T", c)
	}
	// Views without a frame.
	var entry scenariosgraven.Entry
	var vec scenariosgraven.Vec3
	if entry.GetAccount() != 0 || entry.HasMemo() || entry.GetMemo() != "" || vec.GetX() != 0 || entry.String() != "" || vec.String() != "" {
		t.Error("zero views are not empty")
	}
	if m, err := entry.Message(); err != nil || !proto.Equal(m, &scenarios.Entry{}) {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := vec.Message(); err != nil || !proto.Equal(m, &scenarios.Vec3{}) {
		t.Errorf("%v, %v", m, err)
	}
	if _, err := f.Edit(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("Edit: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	good := marshal(t, codec.Options{}, bank(3))
	other := marshal(t, codec.Options{}, frame(1))
	flip := func(i int) []byte {
		b := bytes.Clone(good)
		b[i] ^= 1
		return b
	}
	for name, x := range map[string]struct {
		frame []byte
		kind  error
	}{
		"nothing":    {nil, codec.ErrIncomplete},
		"cut short":  {good[:40], codec.ErrIncomplete},
		"magic":      {flip(0), codec.ErrMagic},
		"checksum":   {flip(60), codec.ErrChecksum},
		"other type": {other, codec.ErrSchema},
		"malformed":  {corpus.Reseal(flip(22)), codec.ErrMalformed},
		"left over":  {append(bytes.Clone(good), 0), codec.ErrEnvelope},
	} {
		var events []codec.Event
		var counters codec.Counters
		o := codec.Options{Hook: func(e codec.Event) { events = append(events, e) }, Counters: &counters}
		f := opened(t, bank(1))
		err := f.Open(x.frame, o)
		if !errors.Is(err, x.kind) {
			t.Errorf("%s: %v, want %v", name, err, x.kind)
		}
		if len(events) != 1 || events[0].Err != err || !events[0].Decoding || counters.Refused.Load() != 1 {
			t.Errorf("%s: events %v", name, events)
		}
		if f.View().GetReference() != "" || sealedBytes(t, f) != nil {
			t.Errorf("%s: the frame holds what it held before", name)
		}
		if name == "checksum" || name == "malformed" {
			continue // trusted
		}
		if err := f.OpenTrusted(x.frame, codec.Options{}); err == nil {
			t.Errorf("%s: trusted", name)
		}
	}
	f, err := codec.OpenTrusted[scenariosgraven.Transaction](good)
	if err != nil || f.View().GetEntries().Len() != 3 {
		t.Errorf("a good frame is not trusted: %v", err)
	}
	_, err = codec.Open[legacygraven.Record](marshal(t, codec.Options{AllowPartial: true}, &legacy.Record{}))
	if !errors.Is(err, codec.ErrRequired) {
		t.Errorf("a required field is not set: %v", err)
	}
	r := new(codec.Frame[legacygraven.Record])
	if err := r.GravenUnmarshal(nil, nil, codec.Options{}); !errors.Is(err, codec.ErrRequired) {
		t.Errorf("a required field is not set: %v", err)
	}
	if err := r.GravenUnmarshal(nil, nil, codec.Options{AllowPartial: true}); err != nil {
		t.Error(err)
	}
	if err := f.Set(frame(1), codec.Options{}); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("a frame of another type was set: %v", err)
	}
	if err := f.Set(nil, codec.Options{}); !errors.Is(err, codec.ErrNotMessage) {
		t.Errorf("nil was set: %v", err)
	}
}

// Bytes that were trusted wrongly, or that changed, make wrong values and nothing worse.
func TestTrustedDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	good := marshal(t, codec.Options{}, bank(20))
	for range rounds(2000, 200_000) {
		b := damaged(r, good)
		f, err := codec.OpenTrusted[scenariosgraven.Transaction](b)
		if err != nil {
			continue
		}
		readSum += readTransaction(f.View())
		_ = f.String()
	}
}

// A Frame is a message of protobuf.
func TestFrameAsMessage(t *testing.T) {
	m := bank(5)
	m.ProtoReflect().SetUnknown([]byte{0xF8, 0x07, 1})
	plain, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	frame := marshal(t, codec.Options{}, m)

	f := opened(t, m)
	if b, err := (proto.MarshalOptions{Deterministic: true}).Marshal(f); err != nil || !bytes.Equal(b, plain) {
		t.Errorf("protobuf %x, %v", b, err)
	}
	if b := sealedBytes(t, f); !bytes.Equal(b, frame) {
		t.Error("marshalling changed the frame")
	}
	if !proto.Equal(f, m) || !proto.Equal(m, f) || !proto.Equal(f, opened(t, m)) || proto.Equal(f, bank(4)) || proto.Equal(f, opened(t, bank(4))) {
		t.Error("Equal")
	}
	want, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	js, err := protojson.Marshal(opened(t, m))
	if err != nil || compact(t, js) != compact(t, want) {
		t.Errorf("JSON %s, %v", js, err)
	}
	if js, err = json.Marshal(map[string]any{"tx": opened(t, m), "view": opened(t, m).View()}); err != nil || strings.Count(string(js), "INV-2026-000123") != 2 {
		t.Errorf("encoding/json %s, %v", js, err)
	}
	fromJSON := new(transaction)
	if err := protojson.Unmarshal(want, fromJSON); err != nil || fromJSON.View().GetEntries().Len() != 5 {
		t.Errorf("from JSON: %v", err)
	}
	if err := json.Unmarshal(want, fromJSON); err != nil || fromJSON.View().GetReference() != m.Reference {
		t.Errorf("from JSON: %v", err)
	}
	text, err := prototext.Marshal(opened(t, m))
	if err != nil {
		t.Fatal(err)
	}
	fromText := new(transaction)
	if err := prototext.Unmarshal(text, fromText); err != nil || fromText.View().GetId() != m.Id {
		t.Errorf("from text: %v", err)
	}

	// What protobuf decodes into a frame replaces what it held, or is merged.
	g := opened(t, bank(2))
	if err := proto.Unmarshal(plain, g); err != nil || g.View().GetEntries().Len() != 5 {
		t.Errorf("from protobuf: %d entries, %v", g.View().GetEntries().Len(), err)
	}
	if b := sealedBytes(t, g); !bytes.Equal(b, frame) {
		t.Errorf("frame\nwant %x\n got %x", frame, b)
	}
	h := opened(t, bank(2))
	if err := (proto.UnmarshalOptions{Merge: true}).Unmarshal(plain, h); err != nil || h.View().GetEntries().Len() != 7 {
		t.Errorf("merged from protobuf: %d entries, %v", h.View().GetEntries().Len(), err)
	}

	c, ok := proto.Clone(f).(*transaction)
	if !ok || !bytes.Equal(sealedBytes(t, c), frame) || !proto.Equal(c, m) {
		t.Errorf("Clone: %T", c)
	}
	proto.Merge(c, opened(t, bank(1)))
	if c.View().GetEntries().Len() != 6 || f.View().GetEntries().Len() != 5 {
		t.Error("Merge")
	}
	o := new(scenarios.Transaction)
	proto.Merge(o, f)
	if !proto.Equal(o, m) {
		t.Error("Merge into an ordinary message")
	}
	proto.Merge(c, bank(1))
	if c.View().GetEntries().Len() != 7 {
		t.Error("Merge of an ordinary message")
	}
	proto.Reset(c)
	if c.View().GetEntries().Len() != 0 || proto.Size(c) != 0 || sealedBytes(t, c) != nil {
		t.Error("Reset")
	}

	a, err := anypb.New(opened(t, m))
	if err != nil || a.MessageName() != "scenarios.Transaction" {
		t.Fatalf("Any: %v, %v", a, err)
	}
	u := new(transaction)
	if err := a.UnmarshalTo(u); err != nil || u.View().GetId() != m.Id {
		t.Errorf("from Any: %v", err)
	}
	// The codec itself.
	if b := marshal(t, codec.Options{}, opened(t, m)); !bytes.Equal(b, frame) {
		t.Error("codec.Marshal of a frame is another frame")
	}
	into := opened(t, bank(1))
	if err := codec.Unmarshal(frame, into); err != nil || into.View().GetEntries().Len() != 5 {
		t.Errorf("codec.Unmarshal: %v", err)
	}
	if err := codec.Unmarshal(nil, into); !errors.Is(err, codec.ErrIncomplete) {
		t.Errorf("codec.Unmarshal of nothing: %v", err)
	}
	mt := f.ProtoReflect().Type()
	if mt.Descriptor() != m.ProtoReflect().Descriptor() || mt.New().Interface().(*transaction) == nil || mt.Zero().IsValid() {
		t.Error("Type")
	}
}

// Once a part of the message that can be changed was handed out, it is the truth.
func TestFrameMessageIsTheTruth(t *testing.T) {
	m := bank(3)
	f := opened(t, m)
	before := f.View()
	fields := m.ProtoReflect().Descriptor().Fields()
	if id := f.ProtoReflect().Get(fields.ByName("id")).Uint(); id != m.Id {
		t.Fatalf("id %d", id)
	}
	if got := f.ProtoReflect().GetUnknown(); len(got) != 0 {
		t.Errorf("unknown %x", got)
	}
	list := f.ProtoReflect().Get(fields.ByName("entries")).List()
	entry := list.Get(0).Message()
	amount := entry.Descriptor().Fields().ByName("amount")
	for i := range int64(3) {
		entry.Set(amount, protoreflect.ValueOfInt64(i))
		if got := f.View().GetEntries().At(0).GetAmount(); got != i {
			t.Fatalf("the view has %d, the message %d", got, i)
		}
		got := unmarshal(t, codec.Options{}, sealedBytes(t, f), m).(*scenarios.Transaction)
		if got.Entries[0].Amount != i {
			t.Fatalf("the bytes have %d, the message %d", got.Entries[0].Amount, i)
		}
	}
	if before.GetEntries().At(0).GetAmount() != m.Entries[0].Amount {
		t.Error("a view from before has changed")
	}
	c := f.Clone()
	f.ProtoReflect().Set(fields.ByName("reference"), protoreflect.ValueOfString("redacted"))
	if f.View().GetReference() != "redacted" || c.View().GetReference() != m.Reference {
		t.Errorf("reference %q, of the clone %q", f.View().GetReference(), c.View().GetReference())
	}
	// An edit makes the bytes the truth again.
	e, err := f.Edit()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.SetId(7); err != nil {
		t.Fatal(err)
	}
	if got := f.ProtoReflect().Get(fields.ByName("id")).Uint(); got != 7 || f.View().GetReference() != "redacted" {
		t.Errorf("id %d, reference %q", got, f.View().GetReference())
	}
	// What can't be encoded is an error of the frame, not a panic.
	f.ProtoReflect().Set(fields.ByName("currency"), protoreflect.ValueOfString("\xFF"))
	if f.View().GetReference() != "" || !errors.Is(f.Err(), codec.ErrUTF8) || !errors.Is(f.Seal(), codec.ErrUTF8) {
		t.Errorf("reference %q, Err %v", f.View().GetReference(), f.Err())
	}
	if _, err := f.GravenAppend(nil, codec.Options{}); !errors.Is(err, codec.ErrUTF8) {
		t.Errorf("sent: %v", err)
	}
	if _, err := f.Bytes(); err == nil {
		t.Error("bytes")
	}
	f.ProtoReflect().Set(fields.ByName("currency"), protoreflect.ValueOfString("EUR"))
	if f.View().GetReference() != "redacted" || f.Err() != nil {
		t.Errorf("not mended: %v", f.Err())
	}
}

// A frame that would take more than the budget as an ordinary message is an empty message for
// everybody.
func TestFrameBudget(t *testing.T) {
	m := &kitchen.Repeateds{}
	for range 1000 {
		m.F18 = append(m.F18, &kitchen.Empty{})
	}
	f := new(codec.Frame[kitchengraven.Repeateds])
	events := 0
	if err := f.Open(marshal(t, codec.Options{}, m), codec.Options{Budget: 4000, Hook: func(codec.Event) { events++ }}); err != nil {
		t.Fatal(err)
	}
	if f.View().GetF18().Len() != 1000 {
		t.Fatal("the view lacks elements")
	}
	if n := proto.Size(f); n != 0 || f.View().GetF18().Len() != 0 || !errors.Is(f.Err(), codec.ErrBudget) || events != 1 {
		t.Errorf("size %d, %d elements, %v", n, f.View().GetF18().Len(), f.Err())
	}
	if _, err := f.GravenAppend(nil, codec.Options{}); !errors.Is(err, codec.ErrBudget) {
		t.Errorf("sent: %v", err)
	}
	if err := f.Clone().Err(); !errors.Is(err, codec.ErrBudget) {
		t.Errorf("the clone has %v", err)
	}
}

func TestFrameText(t *testing.T) {
	m := bank(2)
	f := opened(t, m)
	back := new(scenarios.Transaction)
	if err := prototext.Unmarshal([]byte(f.String()), back); err != nil || !proto.Equal(back, m) {
		t.Errorf("%v: %s", err, f)
	}
	if s := fmt.Sprint(f); s != f.View().String() {
		t.Errorf("printed as %s", s)
	}
	var b bytes.Buffer
	slog.New(slog.NewTextHandler(&b, nil)).Info("settled", "tx", f, "entry", f.View().GetEntries().At(0))
	if !strings.Contains(b.String(), "reference") || !strings.Contains(b.String(), fmt.Sprint(m.Entries[0].Account)) {
		t.Errorf("logged %s", b.String())
	}
	if !bytes.Equal(sealedBytes(t, f), marshal(t, codec.Options{}, m)) {
		t.Error("logging has made the message the truth")
	}
	long := opened(t, bank(1000))
	if n := len(long.LogValue().String()); n > 5000 {
		t.Errorf("%d bytes in a log", n)
	}
	f.Release()
	if s := f.String(); !strings.Contains(s, "released") || f.LogValue().String() != s {
		t.Errorf("released: %s", s)
	}
	// Everything that prototext prints.
	r := rand.New(rand.NewPCG(8, 8))
	for i := range viewTypes {
		typ := &viewTypes[i]
		if strings.HasPrefix(string(typ.Name), "skew") || typ.Name == "google.protobuf.Any" {
			continue
		}
		for range 5 {
			v := corpus.Values{R: r, Depth: 3, Size: 20}
			m := typ.New()
			v.Fill(m.ProtoReflect())
			f, err := typ.Make(m)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprint(f.View())
			back := typ.New()
			if err := (prototext.UnmarshalOptions{AllowPartial: true}).Unmarshal([]byte(text), back); err != nil {
				t.Fatalf("%s: %v\n%s", typ.Name, err, text)
			}
			if again, err := typ.Make(back); err != nil || fmt.Sprint(again.View()) != text {
				t.Fatalf("%s: %s\nread back as\n%s (%v)", typ.Name, text, again.View(), err)
			}
		}
	}
}

// Many goroutines read one frame, some as a message.
func TestFrameReadAtOnce(t *testing.T) {
	m := bank(50)
	f := opened(t, m)
	want := readTransaction(f.View())
	var workers sync.WaitGroup
	for i := range 64 {
		workers.Go(func() {
			for range 20 {
				if got := readTransaction(f.View()); got != want {
					t.Errorf("sum %d, want %d", got, want)
				}
				switch i % 8 {
				case 0:
					if n := proto.Size(f); n != proto.Size(m) {
						t.Errorf("size %d", n)
					}
				case 1:
					if f.String() == "" {
						t.Error("no text")
					}
				case 2:
					if b, err := f.Append(nil); err != nil || len(b) == 0 {
						t.Error(err)
					}
				case 3:
					c := f.Clone()
					if c.View().GetId() != m.Id {
						t.Error("clone")
					}
					c.Release()
				case 4:
					f.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool { return true })
				case 5:
					if b, err := f.Bytes(); err != nil || len(b) == 0 {
						t.Error(err)
					}
				case 6:
					if !proto.Equal(f, m) {
						t.Error("not equal")
					}
				}
			}
		})
	}
	workers.Wait()
}

func TestFrameRelease(t *testing.T) {
	p := pool.Default
	p.Poison = true
	defer func() { p.Poison = false }()
	m := bank(100)
	frame := marshal(t, codec.Options{}, m)
	f := new(transaction)
	if err := f.GravenUnmarshal(frame, nil, codec.Options{}); err != nil {
		t.Fatal(err)
	}
	v := f.View()
	c := f.Clone()
	f.Release()
	f.Release()
	if readTransaction(v) != readTransaction(c.View()) {
		t.Error("memory was given back while the clone held it")
	}
	c.Release()
	if pool.Debug {
		return
	}
	if f.View().GetId() != 0 || c.View().GetId() != 0 || f.Err() != nil {
		t.Error("a released frame is not empty")
	}
	if _, err := f.GravenAppend(nil, codec.Options{}); !errors.Is(err, codec.ErrReleased) {
		t.Errorf("a released frame was sent: %v", err)
	}
	if _, err := f.Edit(); !errors.Is(err, codec.ErrReleased) {
		t.Errorf("a released frame was edited: %v", err)
	}
	readSum += readTransaction(v)
	_ = v.String() // of poison
	if err := f.Open(frame, codec.Options{}); err != nil || f.View().GetId() != m.Id {
		t.Errorf("opened again: %v", err)
	}
}
