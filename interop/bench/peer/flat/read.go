package flat

import (
	"github.com/graven-rpc/graven/interop/bench/fb"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func sumTransaction(p []byte) uint64 {
	t := fb.GetRootAsTransaction(p, 0)
	n := t.EntriesLength()
	s := scenario.NewSum().U(t.Id()).U(uint64(t.Timestamp())).Bytes(t.Reference()).Bytes(t.Currency()).U(uint64(n))
	var e fb.Entry
	for i := range n {
		t.Entries(&e, i)
		s = s.U(e.Account()).U(uint64(e.Amount()))
		if memo := e.Memo(); memo != nil {
			s = s.U(1).Bytes(memo)
		} else {
			s = s.U(0)
		}
	}
	return s.Value()
}

func sumFrame(buf []byte) uint64 {
	f := fb.GetRootAsFrame(buf, 0)
	n := f.EntitiesLength()
	s := scenario.NewSum().U(f.Tick()).U(uint64(n))
	var e fb.Entity
	var p, v fb.Vec3
	for i := range n {
		f.Entities(&e, i)
		e.Position(&p)
		e.Velocity(&v)
		s = s.U(uint64(e.Id())).V3(p.X(), p.Y(), p.Z()).V3(v.X(), v.Y(), v.Z()).U(uint64(e.Health())).B(e.Flag())
	}
	return s.Value()
}

func sumFrameOfStructs(buf []byte) uint64 {
	f := fb.GetRootAsFrameS(buf, 0)
	n := f.EntitiesLength()
	s := scenario.NewSum().U(f.Tick()).U(uint64(n))
	var e fb.EntityS
	var p, v fb.Vec3
	for i := range n {
		f.Entities(&e, i)
		e.Position(&p)
		e.Velocity(&v)
		s = s.U(uint64(e.Id())).V3(p.X(), p.Y(), p.Z()).V3(v.X(), v.Y(), v.Z()).U(uint64(e.Health())).B(e.Flag())
	}
	return s.Value()
}

func sumTelemetry(p []byte) uint64 {
	t := fb.GetRootAsTelemetry(p, 0)
	s := scenario.NewSum().U(uint64(t.Device())).U(t.Timestamp()).F32(t.Temperature())
	if h := t.Humidity(); h != nil {
		s = s.U(1).F32(*h)
	} else {
		s = s.U(0)
	}
	return s.U(uint64(t.Battery())).Value()
}

func sumChunk(p []byte) uint64 {
	c := fb.GetRootAsChunk(p, 0)
	return scenario.NewSum().U(uint64(c.Stream())).U(c.Seq()).B(c.Last()).Bytes(c.PayloadBytes()).Value()
}

func sumLogs(p []byte) uint64 {
	m := fb.GetRootAsLogs(p, 0)
	n := m.LogsLength()
	s := scenario.NewSum().U(uint64(n))
	var l fb.Log
	var a fb.Address
	for i := range n {
		m.Logs(&l, i)
		l.Address(&a)
		s = s.U(uint64(a.X0())).U(uint64(a.X1())).U(uint64(a.X2())).U(uint64(a.X3()))
		s = s.Bytes(l.Identity()).Bytes(l.Userid()).Bytes(l.Date()).Bytes(l.Request()).U(uint64(l.Code())).U(l.Size())
	}
	return s.Value()
}

func sumMesh(p []byte) uint64 {
	m := fb.GetRootAsMesh(p, 0)
	n := m.TrianglesLength()
	s := scenario.NewSum().U(uint64(n))
	var t fb.Triangle
	var a, b, c, d fb.Vec3
	for i := range n {
		m.Triangles(&t, i)
		t.V0(&a)
		t.V1(&b)
		t.V2(&c)
		t.Normal(&d)
		s = s.V3(a.X(), a.Y(), a.Z()).V3(b.X(), b.Y(), b.Z()).V3(c.X(), c.Y(), c.Z()).V3(d.X(), d.Y(), d.Z())
	}
	return s.Value()
}
