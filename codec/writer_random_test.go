package codec_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/hybrid"
	"github.com/graven-rpc/graven/codec/internal/testpb/hybrid/hybridgraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque/opaquegraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/internal/testpb/open/opengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy/legacygraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
)

// sealer is a generated writer.
type sealer interface {
	Reset()
	Next() error
	Seal() ([]byte, error)
	Batch() []byte
	Release()
}

// written is a message type with its writer and a view to splice from.
type written struct {
	message proto.Message
	writer  sealer
	view    func(frame []byte) (any, error)
}

func typeWritten[V codec.View[V]](m proto.Message, w sealer) written {
	return written{m, w, func(frame []byte) (any, error) {
		f, err := codec.Open[V](frame)
		if err != nil {
			return nil, err
		}
		return f.View(), nil
	}}
}

func writtenTypes() []written {
	return []written{
		typeWritten[scenariosgraven.Transaction](new(scenarios.Transaction), new(scenariosgraven.TransactionWriter)),
		typeWritten[scenariosgraven.Frame](new(scenarios.Frame), new(scenariosgraven.FrameWriter)),
		typeWritten[scenariosgraven.Vec3](new(scenarios.Vec3), new(scenariosgraven.Vec3Writer)),
		typeWritten[scenariosgraven.Telemetry](new(scenarios.Telemetry), new(scenariosgraven.TelemetryWriter)),
		typeWritten[scenariosgraven.Chunk](new(scenarios.Chunk), new(scenariosgraven.ChunkWriter)),
		typeWritten[kitchengraven.Scalars](new(kitchen.Scalars), new(kitchengraven.ScalarsWriter)),
		typeWritten[kitchengraven.Optionals](new(kitchen.Optionals), new(kitchengraven.OptionalsWriter)),
		typeWritten[kitchengraven.Repeateds](new(kitchen.Repeateds), new(kitchengraven.RepeatedsWriter)),
		typeWritten[kitchengraven.Maps](new(kitchen.Maps), new(kitchengraven.MapsWriter)),
		typeWritten[kitchengraven.Empty](new(kitchen.Empty), new(kitchengraven.EmptyWriter)),
		typeWritten[kitchengraven.Node](new(kitchen.Node), new(kitchengraven.NodeWriter)),
		typeWritten[kitchengraven.Choice](new(kitchen.Choice), new(kitchengraven.ChoiceWriter)),
		typeWritten[kitchengraven.Narrow](new(kitchen.Narrow), new(kitchengraven.NarrowWriter)),
		typeWritten[kitchengraven.Triangle](new(kitchen.Triangle), new(kitchengraven.TriangleWriter)),
		typeWritten[kitchengraven.Mesh](new(kitchen.Mesh), new(kitchengraven.MeshWriter)),
		typeWritten[kitchengraven.Sparse](new(kitchen.Sparse), new(kitchengraven.SparseWriter)),
		typeWritten[kitchengraven.Wide](new(kitchen.Wide), new(kitchengraven.WideWriter)),
		typeWritten[legacygraven.Record](new(legacy.Record), new(legacygraven.RecordWriter)),
		typeWritten[kitchengraven.Point](new(kitchen.Point), new(kitchengraven.PointWriter)),
		typeWritten[opengraven.All2](new(open.All2), new(opengraven.All2Writer)),
		typeWritten[opengraven.All3](new(open.All3), new(opengraven.All3Writer)),
		typeWritten[opengraven.AllE23](new(open.AllE23), new(opengraven.AllE23Writer)),
		typeWritten[opengraven.AllE24](new(open.AllE24), new(opengraven.AllE24Writer)),
		typeWritten[opengraven.HoldsRequired2](new(open.HoldsRequired2), new(opengraven.HoldsRequired2Writer)),
		typeWritten[opengraven.Tree3](new(open.Tree3), new(opengraven.Tree3Writer)),
		typeWritten[opengraven.Box3](new(open.Box3), new(opengraven.Box3Writer)),
		typeWritten[opengraven.Wide3](new(open.Wide3), new(opengraven.Wide3Writer)),
		typeWritten[hybridgraven.All2](new(hybrid.All2), new(hybridgraven.All2Writer)),
		typeWritten[hybridgraven.All3](new(hybrid.All3), new(hybridgraven.All3Writer)),
		typeWritten[hybridgraven.AllE23](new(hybrid.AllE23), new(hybridgraven.AllE23Writer)),
		typeWritten[hybridgraven.AllE24](new(hybrid.AllE24), new(hybridgraven.AllE24Writer)),
		typeWritten[opaquegraven.All2](new(opaque.All2), new(opaquegraven.All2Writer)),
		typeWritten[opaquegraven.All3](new(opaque.All3), new(opaquegraven.All3Writer)),
		typeWritten[opaquegraven.AllE23](new(opaque.AllE23), new(opaquegraven.AllE23Writer)),
		typeWritten[opaquegraven.AllE24](new(opaque.AllE24), new(opaquegraven.AllE24Writer)),
		typeWritten[opaquegraven.NodeE24](new(opaque.NodeE24), new(opaquegraven.NodeE24Writer)),
	}
}

// hand writes messages by the methods of generated writers, at random: fields in any
// order, some of them twice, lists of known and unknown length, rows in any order.
type hand struct {
	r      *rand.Rand
	order  bool // fields in order of number, rows too
	splice bool // takes some values from the view of a frame
}

func (h *hand) chance(n int) bool { return !h.order && h.r.IntN(n) == 0 }

// row writes m to a row; view is of the same message, if there is one.
func (h *hand) row(row reflect.Value, m protoreflect.Message, view reflect.Value) {
	var fds []protoreflect.FieldDescriptor
	m.Range(func(fd protoreflect.FieldDescriptor, _ protoreflect.Value) bool {
		fds = append(fds, fd)
		return true
	})
	if h.order {
		byNumber(fds)
	} else {
		h.r.Shuffle(len(fds), func(i, j int) { fds[i], fds[j] = fds[j], fds[i] })
	}
	for _, fd := range fds {
		if od := fd.ContainingOneof(); od != nil && !od.IsSynthetic() && h.chance(2) {
			other := od.Fields().Get(h.r.IntN(od.Fields().Len()))
			h.field(row, other, h.anything(m, other), reflect.Value{})
		}
		if h.chance(6) {
			h.field(row, fd, h.anything(m, fd), reflect.Value{})
		}
		h.field(row, fd, m.Get(fd), view)
		if fd.IsList() && fd.Message() == nil && fd.Kind() != protoreflect.StringKind && fd.Kind() != protoreflect.BytesKind && h.chance(3) {
			// Once more, in two parts.
			h.parts(row, m, fd)
		}
	}
}

func byNumber(fds []protoreflect.FieldDescriptor) {
	for i := range fds {
		for j := i; j > 0 && fds[j].Number() < fds[j-1].Number(); j-- {
			fds[j], fds[j-1] = fds[j-1], fds[j]
		}
	}
}

// anything is some value for a field.
func (h *hand) anything(m protoreflect.Message, fd protoreflect.FieldDescriptor) protoreflect.Value {
	v := corpus.Values{R: h.r, Depth: 2, Size: 4}
	for {
		x := m.New()
		v.Fill(x)
		// An absent message may lack fields that are required.
		if x.Has(fd) || (fd.IsList() || fd.IsMap() || fd.Message() == nil) && h.r.IntN(20) == 0 {
			return x.Get(fd)
		}
	}
}

// parts sets a list of numbers to its first elements and appends the others.
func (h *hand) parts(row reflect.Value, m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	name, l := goName(fd), m.Get(fd).List()
	set, add := row.MethodByName("Set"+name), row.MethodByName("Append"+name)
	all := goList(l, set.Type().In(0))
	cut := h.r.IntN(l.Len() + 1)
	set.Call([]reflect.Value{all.Slice(0, cut)})
	mid := cut + h.r.IntN(l.Len()-cut+1)
	add.CallSlice([]reflect.Value{all.Slice(cut, mid)})
	if h.chance(2) {
		h.touch(row, m, fd)
	}
	add.CallSlice([]reflect.Value{all.Slice(mid, l.Len())})
}

// touch writes some other field of the row again.
func (h *hand) touch(row reflect.Value, m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	m.Range(func(other protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if other == fd || other.Message() != nil {
			return true
		}
		h.field(row, other, v, reflect.Value{})
		return h.r.IntN(2) == 0
	})
}

func goList(l protoreflect.List, t reflect.Type) reflect.Value {
	s := reflect.MakeSlice(t, 0, l.Len())
	for i := range l.Len() {
		s = reflect.Append(s, goValue(l.Get(i), t.Elem()))
	}
	return s
}

// goValue is a value as a Go type: a scalar's, or the struct of an inline message.
func goValue(v protoreflect.Value, t reflect.Type) reflect.Value {
	switch x := v.Interface().(type) {
	case protoreflect.EnumNumber:
		return reflect.ValueOf(int32(x)).Convert(t)
	case protoreflect.Message:
		s := reflect.New(t).Elem()
		for i := range x.Descriptor().Fields().Len() {
			fd := x.Descriptor().Fields().Get(i)
			f := s.FieldByName(goName(fd))
			f.Set(goValue(x.Get(fd), f.Type()))
		}
		return s
	default:
		return reflect.ValueOf(x).Convert(t)
	}
}

// goName is what protoc-gen-go makes of a field's name; groups are named after their type.
func goName(fd protoreflect.FieldDescriptor) string {
	name := string(fd.Name())
	if fd.Kind() == protoreflect.GroupKind && strings.ToLower(string(fd.Message().Name())) == name {
		name = string(fd.Message().Name())
	}
	lower := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		switch {
		case name[i] == '_' && lower(i+1):
		case name[i] >= '0' && name[i] <= '9' || name[i] == '_':
			b.WriteByte(name[i])
		default: // a word
			b.WriteString(strings.ToUpper(name[i : i+1]))
			for lower(i + 1) {
				i++
				b.WriteByte(name[i])
			}
		}
	}
	return b.String()
}

func (h *hand) field(row reflect.Value, fd protoreflect.FieldDescriptor, v protoreflect.Value, view reflect.Value) {
	name := goName(fd)
	get := reflect.Value{}
	if view.IsValid() {
		get = view.MethodByName("Get" + name).Call(nil)[0]
	}
	if h.splice && get.IsValid() && h.r.IntN(2) == 0 {
		if m := row.MethodByName("Splice" + name); m.IsValid() {
			m.Call([]reflect.Value{get})
			return
		}
	}
	call := func(prefix string, args ...any) reflect.Value {
		m := row.MethodByName(prefix + name)
		if !m.IsValid() {
			panic(fmt.Sprintf("%s has no method %s%s", row.Type(), prefix, name))
		}
		in := make([]reflect.Value, len(args))
		for i, a := range args {
			in[i] = reflect.ValueOf(a)
		}
		if out := m.Call(in); len(out) > 0 {
			return out[0]
		}
		return reflect.Value{}
	}
	inline := fd.Message() != nil && !fd.IsMap() && corpus.Inline(fd.Message())
	switch {
	case fd.IsMap():
		h.putMap(call("Build"), v.Map(), fd.MapValue())
	case fd.IsList() && (fd.Message() == nil || inline):
		l := v.List()
		m := row.MethodByName("Set" + name)
		elements := fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind || inline
		if !elements || h.r.IntN(3) == 0 {
			m.Call([]reflect.Value{goList(l, m.Type().In(0))})
			return
		}
		h.elements(call, goList(l, m.Type().In(0)))
	case fd.IsList():
		h.rows(call, v.List(), get)
	case inline:
		m := row.MethodByName("Set" + name)
		m.Call([]reflect.Value{goValue(v, m.Type().In(0))})
	case fd.Message() != nil:
		h.row(call("New"), v.Message(), get)
	default:
		m := row.MethodByName("Set" + name)
		if !m.IsValid() {
			panic(fmt.Sprintf("%s has no method Set%s", row.Type(), name))
		}
		m.Call([]reflect.Value{goValue(v, m.Type().In(0))})
	}
}

// elements writes a list of strings, bytes or inline messages by way of a handle.
func (h *hand) elements(call func(string, ...any) reflect.Value, s reflect.Value) {
	if h.r.IntN(2) == 0 {
		l := call("Build")
		for i := range s.Len() {
			l.MethodByName("Append").Call([]reflect.Value{s.Index(i)})
		}
		l.MethodByName("Close").Call(nil)
		return
	}
	l := call("New", s.Len())
	for _, i := range h.indices(s.Len()) {
		l.MethodByName("Set").Call([]reflect.Value{reflect.ValueOf(i), s.Index(i)})
	}
}

func (h *hand) indices(n int) []int {
	if h.order || h.r.IntN(2) == 0 {
		s := make([]int, n)
		for i := range s {
			s[i] = i
		}
		return s
	}
	return h.r.Perm(n)
}

func (h *hand) rows(call func(string, ...any) reflect.Value, l protoreflect.List, view reflect.Value) {
	at := func(i int) reflect.Value {
		if !view.IsValid() {
			return view
		}
		return view.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0]
	}
	if h.r.IntN(2) == 0 {
		list := call("Build")
		for i := range l.Len() {
			m := l.Get(i).Message()
			if add := list.MethodByName("Add"); add.IsValid() && h.r.IntN(2) == 0 {
				add.Call(wholeArgs(add.Type(), 0, m))
				continue
			}
			row := list.MethodByName("Append").Call(nil)[0]
			h.row(row, m, at(i))
		}
		if l.Len() > 0 && h.chance(3) {
			// Some row once more, on top of what it has.
			i := h.r.IntN(l.Len())
			row := list.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0]
			h.row(row, l.Get(i).Message(), at(i))
		}
		list.MethodByName("Close").Call(nil)
		return
	}
	list := call("New", l.Len())
	for _, i := range h.indices(l.Len()) {
		m := l.Get(i).Message()
		if set := list.MethodByName("Set"); set.IsValid() && h.r.IntN(2) == 0 {
			set.Call(append([]reflect.Value{reflect.ValueOf(i)}, wholeArgs(set.Type(), 1, m)...))
			continue
		}
		row := list.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0]
		if set := row.MethodByName("Set"); set.IsValid() && h.r.IntN(2) == 0 {
			set.Call(wholeArgs(set.Type(), 0, m))
			continue
		}
		h.row(row, m, at(i))
	}
}

// wholeArgs are the arguments of a method that sets all fields of a message.
func wholeArgs(t reflect.Type, skip int, m protoreflect.Message) []reflect.Value {
	var fds []protoreflect.FieldDescriptor
	for i := range m.Descriptor().Fields().Len() {
		fds = append(fds, m.Descriptor().Fields().Get(i))
	}
	byNumber(fds)
	var args []reflect.Value
	for i, fd := range fds {
		switch in := t.In(i + skip); {
		case in.Kind() == reflect.Pointer && !m.Has(fd), in.Kind() == reflect.Slice && !m.Has(fd):
			args = append(args, reflect.Zero(in))
		case in.Kind() == reflect.Pointer:
			p := reflect.New(in.Elem())
			p.Elem().Set(goValue(m.Get(fd), in.Elem()))
			args = append(args, p)
		case in.Kind() == reflect.Slice && m.Get(fd).Bytes() == nil:
			args = append(args, reflect.ValueOf([]byte{}))
		default:
			args = append(args, goValue(m.Get(fd), in))
		}
	}
	return args
}

// putMap puts the entries of a map, in any order and some of them twice.
func (h *hand) putMap(w reflect.Value, m protoreflect.Map, value protoreflect.FieldDescriptor) {
	var keys []protoreflect.MapKey
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k)
		return true
	})
	put := w.MethodByName("Put")
	entry := func(k, v protoreflect.MapKey) {
		key := goValue(k.Value(), put.Type().In(0))
		x := m.Get(v)
		if put.Type().NumIn() == 1 {
			h.row(put.Call([]reflect.Value{key})[0], x.Message(), reflect.Value{})
			return
		}
		put.Call([]reflect.Value{key, goValue(x, put.Type().In(1))})
	}
	for i, k := range keys {
		if h.r.IntN(3) == 0 {
			entry(k, keys[h.r.IntN(len(keys))])
		}
		entry(k, k)
		if i > 0 && h.r.IntN(4) == 0 {
			entry(keys[i-1], keys[i-1])
		}
	}
	w.MethodByName("Close").Call(nil)
}

// quieten makes NaNs quiet: a float32 that goes through protoreflect is.
func quieten(m protoreflect.Message) {
	nan := protoreflect.ValueOfFloat32(float32(math.NaN()))
	isNaN := func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		return fd.Kind() == protoreflect.FloatKind && math.IsNaN(v.Float())
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, x protoreflect.Value) bool {
				if fd.MapValue().Message() != nil {
					quieten(x.Message())
				} else if isNaN(fd.MapValue(), x) {
					v.Map().Set(k, nan)
				}
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				if fd.Message() != nil {
					quieten(v.List().Get(i).Message())
				} else if isNaN(fd, v.List().Get(i)) {
					v.List().Set(i, nan)
				}
			}
		case fd.Message() != nil:
			quieten(v.Message())
		case isNaN(fd, v):
			m.Set(fd, nan)
		}
		return true
	})
}

// toWrite is a random message like one and its bytes by the format's text, with all fields in all rows.
func toWrite(t *testing.T, like proto.Message, r *rand.Rand, size int) (proto.Message, []byte) {
	t.Helper()
	m := empty(like)
	v := corpus.Values{R: r, Depth: 4, Size: size}
	v.Fill(m.ProtoReflect())
	quieten(m.ProtoReflect())
	want, err := corpus.EncodeFull(m)
	if err != nil {
		t.Fatal(err)
	}
	return m, want
}

// Writers and the format's text give the same bytes for the same message, whatever the
// order in which it is written, and so does Marshal where it leaves nothing out.
func TestWritersAgreeWithMarshal(t *testing.T) {
	seeds := tries(60)
	same := 0
	for n, typ := range writtenTypes() {
		name := typ.message.ProtoReflect().Descriptor().FullName()
		t.Run(string(name), func(t *testing.T) {
			for seed := range seeds {
				r := corpus.Rand(uint64(n)<<32 + uint64(seed))
				m, want := toWrite(t, typ.message, r, 30)
				marshalled := marshal(t, codec.Options{}, m)
				if bytes.Equal(marshalled, want) {
					same++
				}
				for mode := range 3 {
					h := &hand{r: r, order: mode == 0, splice: mode == 2}
					var view reflect.Value
					if h.splice {
						x, err := typ.view(marshalled)
						if err != nil {
							t.Fatal(err)
						}
						view = reflect.ValueOf(x)
					}
					typ.writer.Release()
					dirty()
					typ.writer.Reset()
					row := reflect.ValueOf(typ.writer).Elem().Field(0)
					h.row(row, m.ProtoReflect(), view)
					got, err := typ.writer.Seal()
					if err != nil {
						t.Fatalf("seed %d, mode %d: %v\n%v", seed, mode, err, m)
					}
					if !h.splice && !bytes.Equal(got, want) {
						t.Fatalf("seed %d, mode %d: the writer gives\n%x\nwant\n%x\n%v", seed, mode, got, want, m)
					}
					if err := corpus.Verify(m.ProtoReflect().Descriptor(), got, nil); err != nil {
						t.Fatalf("seed %d, mode %d: %v\n%x\n%v", seed, mode, err, got, m)
					}
					back := unmarshal(t, codec.Options{}, got, m)
					if d := corpus.Diff(m, back); d != "" {
						t.Fatalf("seed %d, mode %d: %s", seed, mode, d)
					}
				}
			}
		})
	}
	if same < seeds {
		t.Errorf("Marshal left out nothing of only %d messages", same)
	}
}
