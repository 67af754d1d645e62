package codec_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/internal/testpb/open/opengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
	"github.com/graven-rpc/graven/codec/internal/viewtest"
)

func TestEdit(t *testing.T) {
	m := bank(4)
	f, err := codec.NewFrame[scenariosgraven.Transaction](m)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.View().SetId(1); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("a view that is no edit's was changed: %v", err)
	}
	for round := range 3 {
		v, err := f.Edit()
		if err != nil {
			t.Fatal(err)
		}
		m.Id, m.Timestamp = uint64(round), 0 // an implicit zero is absent
		m.Entries[2].Amount = int64(-round)
		for _, err := range []error{v.SetId(m.Id), v.SetTimestamp(0), v.GetEntries().At(2).SetAmount(m.Entries[2].Amount)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for e := range v.GetEntries().All() {
			if err := e.SetAccount(9); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range m.Entries {
			e.Account = 9
		}
		if round == 1 {
			if f.View().GetId() != m.Id {
				t.Error("the frame's view does not show the edit")
			}
			if err := f.Seal(); err != nil {
				t.Error(err)
			}
		}
		if got := unmarshal(t, codec.Options{}, sealedBytes(t, f), m); !proto.Equal(got, m) {
			t.Fatalf("want %v\n got %v", m, got)
		}
		if !proto.Equal(f, m) {
			t.Error("as a message")
		}
	}
	// What gRPC still sends, and what a clone reads, stays as it is.
	_, owner := f.GravenBuffer()
	owner.Ref()
	if _, err := f.Edit(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("edited while it is sent: %v", err)
	}
	owner.Free()
	c := f.Clone()
	if _, err := f.Edit(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("edited while a clone reads: %v", err)
	}
	if _, err := c.Edit(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("the clone was edited: %v", err)
	}
	c.Release()
	if _, err := f.Edit(); err != nil {
		t.Errorf("nobody shares it any more: %v", err)
	}
	// Clones of memory that somebody else has are on their own.
	o := opened(t, m)
	if _, err := o.Clone().Edit(); err != nil {
		t.Error(err)
	}
	foreign := new(transaction)
	own := &countingOwner{}
	if err := foreign.GravenUnmarshal(marshal(t, codec.Options{}, m), own, codec.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Edit(); err != nil {
		t.Errorf("nobody shares it: %v", err)
	}
	foreign.Clone()
	if _, err := foreign.Edit(); !errors.Is(err, codec.ErrMisuse) {
		t.Errorf("a clone shares it: %v", err)
	}
	inline, err := codec.NewFrame[kitchengraven.Point](&kitchen.Point{X: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inline.Edit(); !errors.Is(err, codec.ErrMisuse) || inline.View().GetX() != 1 {
		t.Errorf("an inline message as a frame: %v", err)
	}
}

type countingOwner struct{ refs, freed int }

func (o *countingOwner) Ref()  { o.refs++ }
func (o *countingOwner) Free() { o.freed++ }

// The rules of oneofs, presence, widths and shapes.
func TestEditRules(t *testing.T) {
	edit := func(m *open.All3) (*codec.Frame[opengraven.All3], opengraven.All3) {
		t.Helper()
		f, err := codec.NewFrame[opengraven.All3](m)
		if err != nil {
			t.Fatal(err)
		}
		v, err := f.Edit()
		if err != nil {
			t.Fatal(err)
		}
		return f, v
	}
	full := &open.All3{
		FInt32: -5, FBool: true, FString: "text", FInline: &open.Box3{Low: &open.Vec3{X: 1}, High: &open.Vec3{}},
		OptUint64: proto.Uint64(0), OptBool: proto.Bool(false), NarrowInt32_8: 3, FDouble: 2, OptInline: &open.Vec3{Z: 3},
		Kind: &open.All3_OneInt64{OneInt64: 5},
	}
	f, v := edit(full)
	for i, err := range []error{
		v.SetFInt32(7), v.SetFBool(false), v.SetOptUint64(12), v.ClearOptBool(), v.SetNarrowInt32_8(-128), v.SetFDouble(-2.5),
		v.SetFInline(&open.Box3{High: &open.Vec3{Y: 4}, Tag: 9}), v.SetOptInline(nil), v.SetOneInt64(-1), v.SetFFloat(0),
	} {
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	want := &open.All3{
		FInt32: 7, FString: "text", FInline: &open.Box3{Low: &open.Vec3{}, High: &open.Vec3{Y: 4}, Tag: 9},
		OptUint64: proto.Uint64(12), NarrowInt32_8: -128, FDouble: -2.5, Kind: &open.All3_OneInt64{OneInt64: -1},
	}
	if got := unmarshal(t, codec.Options{}, sealedBytes(t, f), want); !proto.Equal(got, want) {
		t.Errorf("want %v\n got %v", want, got)
	}

	_, v = edit(full)
	for name, x := range map[string]struct{ err, kind error }{
		"too wide":             {v.SetNarrowInt32_8(128), codec.ErrRange},
		"too small":            {v.SetNarrowInt32_8(-129), codec.ErrRange},
		"no slot":              {v.SetFUint32(1), codec.ErrMisuse},
		"no slot of a oneof":   {v.SetOneBool(true), codec.ErrMisuse},
		"no slot of an inline": {v.SetOneInline(&open.Box3{}), codec.ErrMisuse},
		"inline too wide":      {v.SetFInline(&open.Box3{Tag: 1 << 16}), codec.ErrRange},
		"inside a nil message": {v.GetFMessage().SetWeight(1), codec.ErrMisuse},
	} {
		if !errors.Is(x.err, x.kind) {
			t.Errorf("%s: %v, want %v", name, x.err, x.kind)
		}
	}
}

// Random edits of random messages: afterwards the frame is what encoding the changed
// message gives, or at least it is valid and means the same.
func TestRandomEdits(t *testing.T) {
	edits := 0
	for i := range viewTypes {
		typ := &viewTypes[i]
		r := rand.New(rand.NewPCG(uint64(i), 77))
		for range rounds(12, 200) {
			m := random(r, typ)
			if corpus.Inline(m.ProtoReflect().Descriptor()) {
				continue
			}
			o := codec.Options{AllowPartial: true}
			frame, err := o.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			f, err := typ.Open(frame, o)
			if err != nil {
				t.Fatal(err)
			}
			v, err := f.Edit()
			if err != nil {
				t.Fatal(err)
			}
			model := empty(m)
			if err := o.Unmarshal(bytes.Clone(frame), model); err != nil {
				t.Fatal(err)
			}
			edits += editAtRandom(t, r, v, model.ProtoReflect())
			got := typ.New()
			sealed, err := f.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if err := o.Unmarshal(sealed, got); err != nil {
				t.Fatalf("%s: after edits: %v", typ.Name, err)
			}
			if d := corpus.Diff(model, got); d != "" {
				t.Fatalf("%s: %s", typ.Name, d)
			}
		}
	}
	if edits < 1000 {
		t.Errorf("%d edits: this tests little", edits)
	}
}

// editAtRandom sets and clears some fields of a view, and, where that is no error, of a message.
func editAtRandom(t *testing.T, r *rand.Rand, view any, m protoreflect.Message) (edits int) {
	v := reflect.ValueOf(view)
	values := corpus.Values{R: r}
	for i := range m.Descriptor().Fields().Len() {
		fd := m.Descriptor().Fields().Get(i)
		name := viewtest.GoName(string(fd.Name()))
		set, clr := v.MethodByName("Set"+name), v.MethodByName("Clear"+name)
		if !set.IsValid() || r.IntN(2) == 0 {
			continue
		}
		if clr.IsValid() && r.IntN(3) == 0 {
			if err, _ := clr.Call(nil)[0].Interface().(error); err != nil {
				t.Fatalf("%s: %v", fd.FullName(), err)
			}
			m.Clear(fd)
			edits++
			continue
		}
		if fd.Message() != nil {
			continue // inline; see TestEditRules
		}
		other := m.New()
		values.Fill(other)
		x := other.Get(fd)
		if fd.Kind() == protoreflect.FloatKind {
			x = protoreflect.ValueOfFloat32(1.5)
		}
		in := reflect.ValueOf(x.Interface()).Convert(set.Type().In(0))
		err, _ := set.Call([]reflect.Value{in})[0].Interface().(error)
		if errors.Is(err, codec.ErrMisuse) {
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", fd.FullName(), err)
		}
		edits++
		if fd.HasPresence() || !viewtest.IsZero(fd, x) {
			m.Set(fd, x)
		} else {
			m.Clear(fd)
		}
	}
	return edits
}

func TestEditAllocatesNothing(t *testing.T) {
	f, err := codec.NewFrame[scenariosgraven.Transaction](bank(100))
	if err != nil {
		t.Fatal(err)
	}
	editAllocatesNothing(t, f, func(v scenariosgraven.Transaction) error {
		err := v.SetTimestamp(5)
		for e := range v.GetEntries().All() {
			if err == nil {
				err = e.SetAmount(e.GetAmount() + 1)
			}
		}
		return err
	})
}

// Inline messages are packed by generated functions, into memory that is used again.
func TestEditOfInlineAllocatesNothing(t *testing.T) {
	f, err := codec.NewFrame[scenariosgraven.Frame](frame(10))
	if err != nil {
		t.Fatal(err)
	}
	to := &scenarios.Vec3{X: 1, Y: 2, Z: 3}
	editAllocatesNothing(t, f, func(v scenariosgraven.Frame) error { return v.GetEntities().At(4).SetPosition(to) })
	if p := f.View().GetEntities().At(4).GetPosition(); p.GetX() != 1 || p.GetY() != 2 || p.GetZ() != 3 {
		t.Errorf("the position is %v", p)
	}
}

// editAllocatesNothing edits a frame and seals it again.
func editAllocatesNothing[V codec.View[V]](t *testing.T, f *codec.Frame[V], edit func(V) error) {
	t.Helper()
	n := allocations(t, func() {
		v, err := f.Edit()
		if err == nil {
			err = edit(v)
		}
		if err == nil {
			err = f.Seal()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A frame keeps no more memory than its size asks for.
func TestFrameMemory(t *testing.T) {
	if pool.Debug {
		t.Skip("buffers are not used again")
	}
	small := marshal(t, codec.Options{}, bank(3))
	for _, room := range []int{len(small), 2 * len(small), 4096, 1 << 20} {
		owner := &countingOwner{}
		b := append(make([]byte, 0, room), small...)
		f := new(transaction)
		if err := f.GravenUnmarshal(b, owner, codec.Options{}); err != nil {
			t.Fatal(err)
		}
		kept := owner.refs == 1
		if fits := room <= 2*len(small); kept != fits {
			t.Errorf("a frame of %d bytes in a buffer of %d: kept %v", len(small), room, kept)
		}
		if got := cap(sealedBytes(t, f)); got > 2*len(small) {
			t.Errorf("a frame of %d bytes keeps %d", len(small), got)
		}
		f.Release()
		if owner.freed != owner.refs {
			t.Errorf("%d references, %d freed", owner.refs, owner.freed)
		}
		// What is refused is not kept either.
		b[len(b)-1]++
		if err := f.GravenUnmarshal(b, owner, codec.Options{}); !errors.Is(err, codec.ErrChecksum) || owner.freed != owner.refs {
			t.Errorf("%v: %d references, %d freed", err, owner.refs, owner.freed)
		}
	}
	f := new(transaction)
	n := allocations(t, func() {
		if err := f.GravenUnmarshal(small, nil, codec.Options{}); err != nil {
			t.Fatal(err)
		}
		readSum += readTransaction(f.View())
		f.Release()
	})
	if n > 0.05 {
		t.Errorf("%v allocations to receive a copy", n)
	}
}
