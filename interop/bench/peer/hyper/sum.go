package hyper

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// sums makes the checksum: by hand for the format's own messages, so that the
// visit costs no more than the library's getters, and by a walker for the others.
func sums(m scenario.Message) func(protoreflect.MessageDescriptor) get {
	switch m.(type) {
	case *scenario.Transaction:
		return transaction
	case *scenario.Frame:
		return frame
	case *scenario.Telemetry:
		return telemetry
	case *scenario.Chunk:
		return chunk
	case *scenario.Logs:
		return logs
	case *scenario.Mesh:
		return mesh
	}
	return func(md protoreflect.MessageDescriptor) get { return pbmsg.NewWalker(md).Sum }
}

// fields lists a message type's fields by number; there is none of number 0.
func fields(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	fds := md.Fields()
	out := make([]protoreflect.FieldDescriptor, fds.Len()+1)
	for i := range fds.Len() {
		out[fds.Get(i).Number()] = fds.Get(i)
	}
	return out
}

func transaction(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	g := fields(f[5].Message())
	return func(m protoreflect.Message) uint64 {
		l := m.Get(f[5]).List()
		n := l.Len()
		s := scenario.NewSum().U(m.Get(f[1]).Uint()).U(uint64(m.Get(f[2]).Int())).Str(m.Get(f[3]).String()).Str(m.Get(f[4]).String()).U(uint64(n))
		for i := range n {
			e := l.Get(i).Message()
			s = s.U(e.Get(g[1]).Uint()).U(uint64(e.Get(g[2]).Int()))
			if e.Has(g[3]) {
				s = s.U(1).Str(e.Get(g[3]).String())
			} else {
				s = s.U(0)
			}
		}
		return s.Value()
	}
}

func addVec3(s scenario.Sum, m protoreflect.Message, v []protoreflect.FieldDescriptor) scenario.Sum {
	return s.V3(float32(m.Get(v[1]).Float()), float32(m.Get(v[2]).Float()), float32(m.Get(v[3]).Float()))
}

func frame(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	g := fields(f[2].Message())
	v := fields(g[2].Message())
	return func(m protoreflect.Message) uint64 {
		l := m.Get(f[2]).List()
		n := l.Len()
		s := scenario.NewSum().U(m.Get(f[1]).Uint()).U(uint64(n))
		for i := range n {
			e := l.Get(i).Message()
			s = s.U(e.Get(g[1]).Uint())
			s = addVec3(addVec3(s, e.Get(g[2]).Message(), v), e.Get(g[3]).Message(), v)
			s = s.U(e.Get(g[4]).Uint()).B(e.Get(g[5]).Bool())
		}
		return s.Value()
	}
}

func telemetry(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	return func(m protoreflect.Message) uint64 {
		s := scenario.NewSum().U(m.Get(f[1]).Uint()).U(m.Get(f[2]).Uint()).F32(float32(m.Get(f[3]).Float()))
		if m.Has(f[4]) {
			s = s.U(1).F32(float32(m.Get(f[4]).Float()))
		} else {
			s = s.U(0)
		}
		return s.U(m.Get(f[5]).Uint()).Value()
	}
}

func chunk(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	return func(m protoreflect.Message) uint64 {
		return scenario.NewSum().U(m.Get(f[1]).Uint()).U(m.Get(f[2]).Uint()).B(m.Get(f[3]).Bool()).Bytes(m.Get(f[4]).Bytes()).Value()
	}
}

func logs(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	g := fields(f[1].Message())
	a := fields(g[1].Message())
	return func(m protoreflect.Message) uint64 {
		l := m.Get(f[1]).List()
		n := l.Len()
		s := scenario.NewSum().U(uint64(n))
		for i := range n {
			e := l.Get(i).Message()
			ad := e.Get(g[1]).Message()
			s = s.U(ad.Get(a[1]).Uint()).U(ad.Get(a[2]).Uint()).U(ad.Get(a[3]).Uint()).U(ad.Get(a[4]).Uint())
			s = s.Str(e.Get(g[2]).String()).Str(e.Get(g[3]).String()).Str(e.Get(g[4]).String()).Str(e.Get(g[5]).String())
			s = s.U(e.Get(g[6]).Uint()).U(e.Get(g[7]).Uint())
		}
		return s.Value()
	}
}

func mesh(md protoreflect.MessageDescriptor) get {
	f := fields(md)
	g := fields(f[1].Message())
	v := fields(g[1].Message())
	return func(m protoreflect.Message) uint64 {
		l := m.Get(f[1]).List()
		n := l.Len()
		s := scenario.NewSum().U(uint64(n))
		for i := range n {
			t := l.Get(i).Message()
			for j := 1; j <= 4; j++ {
				s = addVec3(s, t.Get(g[j]).Message(), v)
			}
		}
		return s.Value()
	}
}
