package pbmsg

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/proto/graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Walker makes the checksum of messages of one type through reflection. It is
// made once a type, so that walking costs little beside the reflection itself.
type Walker struct{ steps []step }

// step is one field, or one oneof.
type step struct {
	fd      protoreflect.FieldDescriptor
	kind    protoreflect.Kind
	list    bool
	has     bool // has presence that counts
	sub     *Walker
	oneof   protoreflect.OneofDescriptor
	members map[protoreflect.FieldNumber]step
}

// NewWalker makes a walker for messages of type md.
func NewWalker(md protoreflect.MessageDescriptor) *Walker {
	return newWalker(md, map[protoreflect.FullName]*Walker{})
}

func newWalker(md protoreflect.MessageDescriptor, seen map[protoreflect.FullName]*Walker) *Walker {
	if w := seen[md.FullName()]; w != nil {
		return w
	}
	w := new(Walker)
	seen[md.FullName()] = w
	fds := make([]protoreflect.FieldDescriptor, md.Fields().Len())
	for i := range fds {
		fds[i] = md.Fields().Get(i)
	}
	slices.SortFunc(fds, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	for _, fd := range fds {
		o := fd.ContainingOneof()
		if o == nil || o.IsSynthetic() {
			w.steps = append(w.steps, newStep(fd, seen))
			continue
		}
		if o.Fields().Get(0) != fd {
			continue
		}
		s := step{oneof: o, members: map[protoreflect.FieldNumber]step{}}
		for j := range o.Fields().Len() {
			s.members[o.Fields().Get(j).Number()] = newStep(o.Fields().Get(j), seen)
		}
		w.steps = append(w.steps, s)
	}
	return w
}

func newStep(fd protoreflect.FieldDescriptor, seen map[protoreflect.FullName]*Walker) step {
	s := step{fd: fd, kind: fd.Kind(), list: fd.IsList(), has: fd.HasPresence()}
	if md := fd.Message(); md != nil {
		s.sub = newWalker(md, seen)
		// A value type has no presence where the plain structs hold it by value.
		o, _ := proto.GetExtension(md.Options(), graven.E_Message).(*graven.MessageOptions)
		s.has = !o.GetInline() || fd.Name() == "nether_position"
	}
	return s
}

// Sum is the checksum of m.
func (w *Walker) Sum(m protoreflect.Message) uint64 { return w.add(scenario.NewSum(), m).Value() }

func (w *Walker) add(s scenario.Sum, m protoreflect.Message) scenario.Sum {
	for i := range w.steps {
		st := &w.steps[i]
		switch {
		case st.oneof != nil:
			fd := m.WhichOneof(st.oneof)
			if fd == nil {
				s = s.U(0)
				continue
			}
			mem := st.members[fd.Number()]
			s = mem.value(s.U(uint64(fd.Number())), m.Get(mem.fd))
		case st.list:
			l := m.Get(st.fd).List()
			n := l.Len()
			s = s.U(uint64(n))
			for j := range n {
				s = st.value(s, l.Get(j))
			}
		case st.has:
			if !m.Has(st.fd) {
				s = s.U(0)
				continue
			}
			s = st.value(s.U(1), m.Get(st.fd))
		default:
			s = st.value(s, m.Get(st.fd))
		}
	}
	return s
}

func (st *step) value(s scenario.Sum, v protoreflect.Value) scenario.Sum {
	switch st.kind {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return st.sub.add(s, v.Message())
	case protoreflect.StringKind:
		return s.Str(v.String())
	case protoreflect.BytesKind:
		return s.Bytes(v.Bytes())
	case protoreflect.BoolKind:
		return s.B(v.Bool())
	case protoreflect.FloatKind:
		return s.F32(float32(v.Float()))
	case protoreflect.DoubleKind:
		return s.F64(v.Float())
	case protoreflect.EnumKind:
		return s.U(uint64(v.Enum()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind,
		protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return s.U(uint64(v.Int()))
	default:
		return s.U(v.Uint())
	}
}
