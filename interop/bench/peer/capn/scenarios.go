package capn

import (
	"capnproto.org/go/capnp/v3"

	"github.com/graven-rpc/graven/interop/bench/cp"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeTransaction(seg *capnp.Segment, m *scenario.Transaction) {
	t := peer.Must(cp.NewRootTransaction(seg))
	t.SetId(m.ID)
	t.SetTimestamp(m.Timestamp)
	peer.Check(t.SetReference(m.Reference))
	peer.Check(t.SetCurrency(m.Currency))
	l := peer.Must(t.NewEntries(int32(len(m.Entries))))
	for i := range m.Entries {
		s := &m.Entries[i]
		e := l.At(i)
		e.SetAccount(s.Account)
		e.SetAmount(s.Amount)
		if s.Memo != nil {
			peer.Check(e.SetMemo(*s.Memo))
		}
	}
}

func sumTransaction(msg *capnp.Message) uint64 {
	t := peer.Must(cp.ReadRootTransaction(msg))
	l := peer.Must(t.Entries())
	n := l.Len()
	s := scenario.NewSum().U(t.Id()).U(uint64(t.Timestamp()))
	s = s.Bytes(peer.Must(t.ReferenceBytes())).Bytes(peer.Must(t.CurrencyBytes())).U(uint64(n))
	for i := range n {
		e := l.At(i)
		s = s.U(e.Account()).U(uint64(e.Amount()))
		if e.HasMemo() {
			s = s.U(1).Bytes(peer.Must(e.MemoBytes()))
		} else {
			s = s.U(0)
		}
	}
	return s.Value()
}

func writeFrame(seg *capnp.Segment, m *scenario.Frame) {
	f := peer.Must(cp.NewRootFrame(seg))
	f.SetTick(m.Tick)
	l := peer.Must(f.NewEntities(int32(len(m.Entities))))
	for i := range m.Entities {
		s := &m.Entities[i]
		e := l.At(i)
		e.SetId(s.ID)
		p, v := e.Position(), e.Velocity()
		p.SetX(s.Position.X)
		p.SetY(s.Position.Y)
		p.SetZ(s.Position.Z)
		v.SetX(s.Velocity.X)
		v.SetY(s.Velocity.Y)
		v.SetZ(s.Velocity.Z)
		e.SetHealth(s.Health)
		e.SetFlag(s.Flag)
	}
}

func sumFrame(msg *capnp.Message) uint64 {
	f := peer.Must(cp.ReadRootFrame(msg))
	l := peer.Must(f.Entities())
	n := l.Len()
	s := scenario.NewSum().U(f.Tick()).U(uint64(n))
	for i := range n {
		e := l.At(i)
		p, v := e.Position(), e.Velocity()
		s = s.U(uint64(e.Id())).V3(p.X(), p.Y(), p.Z()).V3(v.X(), v.Y(), v.Z()).U(uint64(e.Health())).B(e.Flag())
	}
	return s.Value()
}

func writeTelemetry(seg *capnp.Segment, m *scenario.Telemetry) {
	t := peer.Must(cp.NewRootTelemetry(seg))
	t.SetDevice(m.Device)
	t.SetTimestamp(m.Timestamp)
	t.SetTemperature(m.Temperature)
	if m.Humidity != nil {
		t.Humidity().SetValue(*m.Humidity)
	}
	t.SetBattery(m.Battery)
}

func sumTelemetry(msg *capnp.Message) uint64 {
	t := peer.Must(cp.ReadRootTelemetry(msg))
	s := scenario.NewSum().U(uint64(t.Device())).U(t.Timestamp()).F32(t.Temperature())
	if h := t.Humidity(); h.Which() == cp.Telemetry_humidity_Which_value {
		s = s.U(1).F32(h.Value())
	} else {
		s = s.U(0)
	}
	return s.U(uint64(t.Battery())).Value()
}

func writeChunk(seg *capnp.Segment, m *scenario.Chunk) {
	c := peer.Must(cp.NewRootChunk(seg))
	c.SetStream(m.Stream)
	c.SetSeq(m.Seq)
	c.SetLast(m.Last)
	peer.Check(c.SetPayload(m.Payload))
}

func sumChunk(msg *capnp.Message) uint64 {
	c := peer.Must(cp.ReadRootChunk(msg))
	return scenario.NewSum().U(uint64(c.Stream())).U(c.Seq()).B(c.Last()).Bytes(peer.Must(c.Payload())).Value()
}

func writeLogs(seg *capnp.Segment, m *scenario.Logs) {
	l := peer.Must(peer.Must(cp.NewRootLogs(seg)).NewLogs(int32(len(m.Logs))))
	for i := range m.Logs {
		s := &m.Logs[i]
		e := l.At(i)
		a := e.Address()
		a.SetX0(s.Address.X0)
		a.SetX1(s.Address.X1)
		a.SetX2(s.Address.X2)
		a.SetX3(s.Address.X3)
		peer.Check(e.SetIdentity(s.Identity))
		peer.Check(e.SetUserid(s.UserID))
		peer.Check(e.SetDate(s.Date))
		peer.Check(e.SetRequest(s.Request))
		e.SetCode(s.Code)
		e.SetSize(s.Size)
	}
}

func sumLogs(msg *capnp.Message) uint64 {
	l := peer.Must(peer.Must(cp.ReadRootLogs(msg)).Logs())
	n := l.Len()
	s := scenario.NewSum().U(uint64(n))
	for i := range n {
		e := l.At(i)
		a := e.Address()
		s = s.U(uint64(a.X0())).U(uint64(a.X1())).U(uint64(a.X2())).U(uint64(a.X3()))
		s = s.Bytes(peer.Must(e.IdentityBytes())).Bytes(peer.Must(e.UseridBytes()))
		s = s.Bytes(peer.Must(e.DateBytes())).Bytes(peer.Must(e.RequestBytes()))
		s = s.U(uint64(e.Code())).U(e.Size())
	}
	return s.Value()
}

func writeMesh(seg *capnp.Segment, m *scenario.Mesh) {
	l := peer.Must(peer.Must(cp.NewRootMesh(seg)).NewTriangles(int32(len(m.Triangles))))
	for i := range m.Triangles {
		s := &m.Triangles[i]
		t := l.At(i)
		a, b, c, n := t.V0(), t.V1(), t.V2(), t.Normal()
		a.SetX(s.V0.X)
		a.SetY(s.V0.Y)
		a.SetZ(s.V0.Z)
		b.SetX(s.V1.X)
		b.SetY(s.V1.Y)
		b.SetZ(s.V1.Z)
		c.SetX(s.V2.X)
		c.SetY(s.V2.Y)
		c.SetZ(s.V2.Z)
		n.SetX(s.Normal.X)
		n.SetY(s.Normal.Y)
		n.SetZ(s.Normal.Z)
	}
}

func sumMesh(msg *capnp.Message) uint64 {
	l := peer.Must(peer.Must(cp.ReadRootMesh(msg)).Triangles())
	n := l.Len()
	s := scenario.NewSum().U(uint64(n))
	for i := range n {
		t := l.At(i)
		a, b, c, d := t.V0(), t.V1(), t.V2(), t.Normal()
		s = s.V3(a.X(), a.Y(), a.Z()).V3(b.X(), b.Y(), b.Z()).V3(c.X(), c.Y(), c.Z()).V3(d.X(), d.Y(), d.Z())
	}
	return s.Value()
}
