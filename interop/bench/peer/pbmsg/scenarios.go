package pbmsg

import (
	pb "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func transaction(m *scenario.Transaction) *pb.Transaction {
	t := &pb.Transaction{Id: m.ID, Timestamp: m.Timestamp, Reference: m.Reference, Currency: m.Currency,
		Entries: make([]*pb.Entry, len(m.Entries))}
	for i := range m.Entries {
		e := &m.Entries[i]
		t.Entries[i] = &pb.Entry{Account: e.Account, Amount: e.Amount, Memo: e.Memo}
	}
	return t
}

func sumTransaction(m *pb.Transaction) uint64 {
	s := scenario.NewSum().U(m.Id).U(uint64(m.Timestamp)).Str(m.Reference).Str(m.Currency).U(uint64(len(m.Entries)))
	for _, e := range m.Entries {
		s = s.U(e.Account).U(uint64(e.Amount))
		if e.Memo != nil {
			s = s.U(1).Str(*e.Memo)
		} else {
			s = s.U(0)
		}
	}
	return s.Value()
}

func frame(m *scenario.Frame) *pb.Frame {
	f := &pb.Frame{Tick: m.Tick, Entities: make([]*pb.Entity, len(m.Entities))}
	for i := range m.Entities {
		e := &m.Entities[i]
		f.Entities[i] = &pb.Entity{Id: e.ID, Position: vec3(e.Position), Velocity: vec3(e.Velocity),
			Health: uint32(e.Health), Flag: e.Flag}
	}
	return f
}

func vec3(v scenario.Vec3) *pb.Vec3 { return &pb.Vec3{X: v.X, Y: v.Y, Z: v.Z} }

func sumFrame(m *pb.Frame) uint64 {
	s := scenario.NewSum().U(m.Tick).U(uint64(len(m.Entities)))
	for _, e := range m.Entities {
		p, v := e.Position, e.Velocity
		s = s.U(uint64(e.Id)).V3(p.X, p.Y, p.Z).V3(v.X, v.Y, v.Z).U(uint64(e.Health)).B(e.Flag)
	}
	return s.Value()
}

func telemetry(m *scenario.Telemetry) *pb.Telemetry {
	return &pb.Telemetry{Device: m.Device, Timestamp: m.Timestamp, Temperature: m.Temperature,
		Humidity: m.Humidity, Battery: uint32(m.Battery)}
}

func sumTelemetry(m *pb.Telemetry) uint64 {
	s := scenario.NewSum().U(uint64(m.Device)).U(m.Timestamp).F32(m.Temperature)
	if m.Humidity != nil {
		s = s.U(1).F32(*m.Humidity)
	} else {
		s = s.U(0)
	}
	return s.U(uint64(m.Battery)).Value()
}

func chunk(m *scenario.Chunk) *pb.Chunk {
	return &pb.Chunk{Stream: m.Stream, Seq: m.Seq, Last: m.Last, Payload: m.Payload}
}

func sumChunk(m *pb.Chunk) uint64 {
	return scenario.NewSum().U(uint64(m.Stream)).U(m.Seq).B(m.Last).Bytes(m.Payload).Value()
}
