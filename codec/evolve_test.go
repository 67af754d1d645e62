package codec_test

import (
	"errors"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// version is one peer's version of a schema.
type version struct {
	set *corpus.Set
	o   codec.Options
}

func versionOf(t testing.TB, m *corpus.SchemaModel) version {
	t.Helper()
	set := compile(t, m.Text())
	return version{set, codec.Options{Resolver: set.Types, AllowPartial: true}}
}

func (v version) has(name protoreflect.FullName) bool {
	_, err := v.set.Message(name)
	return err == nil
}

// decode reads a frame as a peer of this version does.
func (v version) decode(t testing.TB, frame []byte, name protoreflect.FullName) proto.Message {
	t.Helper()
	m := newMessage(t, v.set, name)
	if err := v.o.Unmarshal(frame, m); err != nil {
		t.Fatalf("unmarshal: %v\n%x", err, frame)
	}
	return m
}

// protobufHop passes m through a peer that speaks protobuf.
func (v version) protobufHop(t testing.TB, m proto.Message) proto.Message {
	t.Helper()
	out := empty(m)
	if err := (proto.UnmarshalOptions{AllowPartial: true, Resolver: v.set.Types}).Unmarshal(protoBytes(t, m), out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A message passes through peers of older versions, which decode and encode
// it, and loses nothing.
func TestForwardingIsTheIdentity(t *testing.T) {
	seeds := uint64(tries(80))
	carried := 0
	for seed := range seeds {
		newest := corpus.RandomSchema(seed, "rnd")
		middle := newest.Shrunk(seed)
		oldest := middle.Shrunk(seed + 1)
		n, m, o := versionOf(t, newest), versionOf(t, middle), versionOf(t, oldest)
		for i, md := range n.set.Messages() {
			name := md.FullName()
			if !o.has(name) {
				continue // a group that has come later
			}
			msg := newMessage(t, n.set, name)
			v := corpus.Values{R: corpus.Rand(seed<<8 + uint64(i)), Extensions: n.set.Extensions(), Unknown: i%2 == 0}
			v.Fill(msg)
			frame := marshal(t, n.o, msg)
			check := func(path string, frame []byte) {
				t.Helper()
				if d := corpus.Diff(msg, n.decode(t, frame, name)); d != "" {
					t.Fatalf("seed %d, %s, %s\n%s\nnewest\n%s\nmiddle\n%s\noldest\n%s", seed, name, path, d, newest.Text(), middle.Text(), oldest.Text())
				}
			}
			check("at once", frame)
			old := m.decode(t, frame, name)
			if len(old.ProtoReflect().GetUnknown()) > 0 {
				carried++
			}
			byMiddle := marshal(t, m.o, old)
			check("one peer", byMiddle)
			check("one peer, twice", marshal(t, m.o, m.decode(t, byMiddle, name)))
			check("a protobuf hop", marshal(t, m.o, m.protobufHop(t, old)))
			byOldest := marshal(t, o.o, o.decode(t, frame, name))
			check("the oldest", byOldest)
			check("middle, oldest", marshal(t, o.o, o.decode(t, byMiddle, name)))
			check("oldest, middle", marshal(t, m.o, m.decode(t, byOldest, name)))
			check("oldest, protobuf, middle", marshal(t, m.o, m.decode(t, marshal(t, o.o, o.protobufHop(t, o.decode(t, byMiddle, name))), name)))

			// The other way round: what an old peer says is what a new one hears.
			small := newMessage(t, o.set, name)
			v = corpus.Values{R: corpus.Rand(seed<<8 + uint64(i) + 77), Extensions: o.set.Extensions()}
			v.Fill(small)
			back := o.decode(t, marshal(t, n.o, n.decode(t, marshal(t, o.o, small), name)), name)
			if d := corpus.Diff(small, back); d != "" {
				t.Fatalf("seed %d, %s, from the oldest and back\n%s", seed, name, d)
			}
		}
	}
	if carried < int(seeds) {
		t.Errorf("only %d messages carried anything", carried)
	}
}

// Two versions that differ in any way: what is harmless is read right, what is
// not gives the right value or an error that names the field.
func TestChangedSchemas(t *testing.T) {
	seeds := uint64(tries(200))
	read, refusals, compared := 0, 0, 0
	for seed := range seeds {
		b, a, changes := corpus.Changed(seed, "rnd", seed%2 == 0)
		writer, reader := versionOf(t, b), versionOf(t, a)
		harmless := true
		for _, c := range changes {
			harmless = harmless && c.Harmless
		}
		for i, md := range writer.set.Messages() {
			if !reader.has(md.FullName()) {
				continue
			}
			msg := newMessage(t, writer.set, md.FullName())
			v := corpus.Values{R: corpus.Rand(seed<<8 + uint64(i))}
			v.Fill(msg)
			frame := marshal(t, writer.o, msg)
			got := newMessage(t, reader.set, md.FullName())
			err := reader.o.Unmarshal(frame, got)
			if err != nil {
				if harmless {
					t.Fatalf("seed %d, %s: %v\n%v\n%s\n%s", seed, md.FullName(), err, changes, b.Text(), a.Text())
				}
				if !errors.Is(err, codec.ErrIncompatible) && !errors.Is(err, codec.ErrUTF8) && !errors.Is(err, codec.ErrMalformed) {
					t.Fatalf("seed %d, %s: %v", seed, md.FullName(), err)
				}
				if errors.Is(err, codec.ErrIncompatible) && fieldOf(err) == "" {
					t.Fatalf("seed %d, %s: no field named: %v", seed, md.FullName(), err)
				}
				refusals++
				continue
			}
			read++
			if harmless {
				compared++
				if d := sameValues(msg, got); d != "" {
					t.Fatalf("seed %d, %s: %s\n%v\n%x\n%v\n%v\n%s\n%s", seed, md.FullName(), d, changes, frame, msg, got, b.Text(), a.Text())
				}
			}
			out, err := reader.o.Marshal(got)
			if err != nil {
				t.Fatalf("seed %d, %s: what was read can't be sent: %v", seed, md.FullName(), err)
			}
			if d := corpus.Diff(got, reader.decode(t, out, md.FullName())); d != "" {
				t.Fatalf("seed %d, %s: sent on and read again\n%s", seed, md.FullName(), d)
			}
		}
	}
	if n := int(seeds) / 4; read < n || refusals < n || compared < n {
		t.Errorf("%d read, %d of them compared, %d refused", read, compared, refusals)
	}
}

// sameValues compares the fields that both versions have, by number.
func sameValues(w, r protoreflect.Message) (diff string) {
	w.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		rd := r.Descriptor().Fields().ByNumber(fd.Number())
		if rd == nil {
			return true
		}
		got := r.Get(rd)
		switch {
		case fd.IsMap():
			if v.Map().Len() != got.Map().Len() {
				diff = string(fd.FullName()) + ": entries"
				return false
			}
			v.Map().Range(func(k protoreflect.MapKey, val protoreflect.Value) bool {
				diff = sameValue(fd.MapValue(), val, got.Map().Get(k))
				return diff == ""
			})
		case fd.IsList():
			if v.List().Len() != got.List().Len() {
				diff = string(fd.FullName()) + ": elements"
				return false
			}
			for i := range v.List().Len() {
				if diff = sameValue(fd, v.List().Get(i), got.List().Get(i)); diff != "" {
					return false
				}
			}
		default:
			diff = sameValue(fd, v, got)
		}
		return diff == ""
	})
	return diff
}

func sameValue(fd protoreflect.FieldDescriptor, a, b protoreflect.Value) string {
	if !b.IsValid() {
		return string(fd.FullName()) + " is missing"
	}
	if fd.Message() != nil {
		return sameValues(a.Message(), b.Message())
	}
	if x, y := plain(a), plain(b); x != y {
		return string(fd.FullName()) + " differs"
	}
	return ""
}

// plain makes numbers of unlike width comparable.
func plain(v protoreflect.Value) any {
	switch x := v.Interface().(type) {
	case bool:
		if x {
			return uint64(1)
		}
		return uint64(0)
	case int32:
		return uint64(x)
	case int64:
		return uint64(x)
	case uint32:
		return uint64(x)
	case uint64:
		return x
	case protoreflect.EnumNumber:
		return uint64(x)
	case float32:
		return math.Float32bits(x)
	case float64:
		return math.Float64bits(x)
	case []byte:
		return string(x)
	default:
		return x
	}
}
