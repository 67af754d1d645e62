package graven

import (
	"github.com/graven-rpc/graven/interop/bench/proto/log/v1/logv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/mesh/v1/meshv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func sumTransaction(v scenariosv1graven.Transaction) uint64 {
	l := v.GetEntries()
	s := scenario.NewSum().U(v.GetId()).U(uint64(v.GetTimestamp())).Str(v.GetReference()).Str(v.GetCurrency()).U(uint64(l.Len()))
	for e := range l.All() {
		s = s.U(e.GetAccount()).U(uint64(e.GetAmount()))
		if e.HasMemo() {
			s = s.U(1).Str(e.GetMemo())
		} else {
			s = s.U(0)
		}
	}
	return s.Value()
}

func sumFrame(v scenariosv1graven.Frame) uint64 {
	l := v.GetEntities()
	s := scenario.NewSum().U(v.GetTick()).U(uint64(l.Len()))
	for e := range l.All() {
		p, w := e.GetPosition(), e.GetVelocity()
		s = s.U(uint64(e.GetId())).V3(p.GetX(), p.GetY(), p.GetZ()).V3(w.GetX(), w.GetY(), w.GetZ())
		s = s.U(uint64(e.GetHealth())).B(e.GetFlag())
	}
	return s.Value()
}

func sumTelemetry(v scenariosv1graven.Telemetry) uint64 {
	s := scenario.NewSum().U(uint64(v.GetDevice())).U(v.GetTimestamp()).F32(v.GetTemperature())
	if v.HasHumidity() {
		s = s.U(1).F32(v.GetHumidity())
	} else {
		s = s.U(0)
	}
	return s.U(uint64(v.GetBattery())).Value()
}

func sumChunk(v scenariosv1graven.Chunk) uint64 {
	return scenario.NewSum().U(uint64(v.GetStream())).U(v.GetSeq()).B(v.GetLast()).Bytes(v.GetPayload()).Value()
}

func sumLogs(v logv1graven.Logs) uint64 {
	l := v.GetLogs()
	s := scenario.NewSum().U(uint64(l.Len()))
	for e := range l.All() {
		a := e.GetAddress()
		s = s.U(uint64(a.GetX0())).U(uint64(a.GetX1())).U(uint64(a.GetX2())).U(uint64(a.GetX3()))
		s = s.Str(e.GetIdentity()).Str(e.GetUserid()).Str(e.GetDate()).Str(e.GetRequest())
		s = s.U(uint64(e.GetCode())).U(e.GetSize())
	}
	return s.Value()
}

func sumMesh(v meshv1graven.Mesh) uint64 {
	l := v.GetTriangles()
	s := scenario.NewSum().U(uint64(l.Len()))
	for t := range l.All() {
		a, b, c, n := t.GetV0(), t.GetV1(), t.GetV2(), t.GetNormal()
		s = s.V3(a.GetX(), a.GetY(), a.GetZ()).V3(b.GetX(), b.GetY(), b.GetZ())
		s = s.V3(c.GetX(), c.GetY(), c.GetZ()).V3(n.GetX(), n.GetY(), n.GetZ())
	}
	return s.Value()
}
