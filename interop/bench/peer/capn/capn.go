// Package capn measures capnproto.org/go/capnp/v3. Its accessors check bounds and
// pointers as they go, so that reading needs no verification and is none.
package capn

import (
	"encoding/binary"
	"errors"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/packed"

	"github.com/graven-rpc/graven/interop/bench/cp"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

const module = "capnproto.org/go/capnp/v3"

// format says how a scenario's message is handled.
type format struct {
	build    func(*capnp.Segment)
	sum, one func(*capnp.Message) uint64
	update   func(*capnp.Message)
}

// Plain is Cap'n Proto as it is.
var Plain = peer.Peer{Name: "Cap'n Proto", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	f, ok := formatOf(m)
	if !ok {
		return nil
	}
	var b peer.Builder
	b.Write("structs, reused arena", writer(f.build))
	b.Write("structs, stock arena", func() []byte {
		m, seg, err := capnp.NewMessage(capnp.SingleSegment(nil))
		peer.Check(err)
		f.build(seg)
		p := peer.Must(m.Marshal())
		m.Release()
		return p
	})
	for _, r := range []struct {
		op  peer.Op
		get func(*capnp.Message) uint64
	}{{peer.ReadAll, f.sum}, {peer.ReadOne, f.one}} {
		b.Read(r.op, "view, checked access", func(p []byte) uint64 { return r.get(peer.Must(capnp.Unmarshal(p))) })
		var rd reader
		b.Read(r.op, "view, checked access, reused", func(p []byte) uint64 { return r.get(rd.open(p)) })
	}
	var rd reader
	b.Update("view, reused", func(p []byte) { f.update(rd.open(p)) })
	return b.Instance()
}}

// Packed squeezes zero bytes out, which has to be undone before reading.
var Packed = peer.Peer{Name: "Cap'n Proto packed", Module: module, Setup: func(m scenario.Message) *peer.Instance {
	f, ok := formatOf(m)
	if !ok {
		return nil
	}
	var b peer.Builder
	var buf, out []byte
	write := writer(f.build)
	b.Write("structs, reused arena", func() []byte {
		buf = packed.Pack(buf[:0], write())
		return buf
	})
	var rd reader
	for _, r := range []struct {
		op  peer.Op
		get func(*capnp.Message) uint64
	}{{peer.ReadAll, f.sum}, {peer.ReadOne, f.one}} {
		b.Read(r.op, "unpack, reused", func(p []byte) uint64 {
			out = peer.Must(packed.Unpack(out[:0], p))
			return r.get(rd.open(out))
		})
	}
	return b.Instance()
}}

const header = 8 // of a stream of one segment: count less one, and size in words

var (
	errFull     = errors.New("the arena is full")
	errReadOnly = errors.New("the arena is for reading")
)

// arena is one segment in one reused buffer, which leaves room for the header in
// front so that finishing a message copies nothing.
type arena struct{ buf []byte }

func (a *arena) NumSegments() int64                   { return 1 }
func (a *arena) Data(capnp.SegmentID) ([]byte, error) { return a.buf[header:header], nil }
func (a *arena) Release()                             {}
func (a *arena) Allocate(capnp.Size, map[capnp.SegmentID]*capnp.Segment) (capnp.SegmentID, []byte, error) {
	return 0, nil, errFull
}

// writer makes messages in an arena that is as large as the message needs.
func writer(build func(*capnp.Segment)) func() []byte {
	m, seg, err := capnp.NewMessage(capnp.SingleSegment(nil))
	peer.Check(err)
	build(seg)
	a := &arena{make([]byte, len(peer.Must(m.Marshal()))+header)}
	msg := new(capnp.Message)
	return func() []byte {
		seg := peer.Must(msg.Reset(a))
		build(seg)
		n := len(seg.Data())
		binary.LittleEndian.PutUint32(a.buf, 0)
		binary.LittleEndian.PutUint32(a.buf[4:], uint32(n/8))
		return a.buf[:header+n]
	}
}

// reader reads messages of one segment with one reused Message.
type reader struct {
	seg []byte
	msg capnp.Message
}

func (r *reader) open(p []byte) *capnp.Message {
	if len(p) < header || binary.LittleEndian.Uint32(p) != 0 || uint64(binary.LittleEndian.Uint32(p[4:]))*8 > uint64(len(p)-header) {
		panic("capn: not a message of one segment")
	}
	peer.Must(r.msg.Reset(nil))
	r.seg = p[header : header+8*int(binary.LittleEndian.Uint32(p[4:]))]
	r.msg.Arena = r
	return &r.msg
}

func (r *reader) NumSegments() int64                   { return 1 }
func (r *reader) Data(capnp.SegmentID) ([]byte, error) { return r.seg, nil }
func (r *reader) Release()                             {}
func (r *reader) Allocate(capnp.Size, map[capnp.SegmentID]*capnp.Segment) (capnp.SegmentID, []byte, error) {
	return 0, nil, errReadOnly
}

func formatOf(m scenario.Message) (format, bool) {
	switch m := m.(type) {
	case *scenario.Transaction:
		return format{func(s *capnp.Segment) { writeTransaction(s, m) }, sumTransaction,
			func(m *capnp.Message) uint64 { return peer.Must(cp.ReadRootTransaction(m)).Id() },
			func(m *capnp.Message) { peer.Must(cp.ReadRootTransaction(m)).SetId(7) }}, true
	case *scenario.Frame:
		return format{func(s *capnp.Segment) { writeFrame(s, m) }, sumFrame,
			func(m *capnp.Message) uint64 {
				l := peer.Must(peer.Must(cp.ReadRootFrame(m)).Entities())
				return uint64(l.At(l.Len() / 2).Health())
			},
			func(m *capnp.Message) {
				l := peer.Must(peer.Must(cp.ReadRootFrame(m)).Entities())
				for i := range l.Len() {
					l.At(i).Position().SetX(1)
					l.At(i).SetHealth(100)
				}
			}}, true
	case *scenario.Telemetry:
		return format{func(s *capnp.Segment) { writeTelemetry(s, m) }, sumTelemetry,
			func(m *capnp.Message) uint64 {
				return scenario.Bits(peer.Must(cp.ReadRootTelemetry(m)).Temperature())
			},
			func(m *capnp.Message) { peer.Must(cp.ReadRootTelemetry(m)).SetTemperature(21.5) }}, true
	case *scenario.Chunk:
		return format{func(s *capnp.Segment) { writeChunk(s, m) }, sumChunk,
			func(m *capnp.Message) uint64 { return peer.Must(cp.ReadRootChunk(m)).Seq() },
			func(m *capnp.Message) { peer.Must(cp.ReadRootChunk(m)).SetSeq(7) }}, true
	case *scenario.Logs:
		return format{func(s *capnp.Segment) { writeLogs(s, m) }, sumLogs,
			func(m *capnp.Message) uint64 {
				l := peer.Must(peer.Must(cp.ReadRootLogs(m)).Logs())
				return uint64(l.At(l.Len() / 2).Code())
			},
			func(m *capnp.Message) {
				l := peer.Must(peer.Must(cp.ReadRootLogs(m)).Logs())
				for i := range l.Len() {
					l.At(i).SetCode(200)
					l.At(i).SetSize(1000)
				}
			}}, true
	case *scenario.Mesh:
		return format{func(s *capnp.Segment) { writeMesh(s, m) }, sumMesh,
			func(m *capnp.Message) uint64 {
				l := peer.Must(peer.Must(cp.ReadRootMesh(m)).Triangles())
				return scenario.Bits(l.At(l.Len() / 2).Normal().X())
			},
			func(m *capnp.Message) {
				l := peer.Must(peer.Must(cp.ReadRootMesh(m)).Triangles())
				for i := range l.Len() {
					n := l.At(i).Normal()
					n.SetX(0)
					n.SetY(0)
					n.SetZ(1)
				}
			}}, true
	case *scenario.Savedata:
		return format{func(s *capnp.Segment) { writeSavedata(s, m) }, sumSavedata,
			func(m *capnp.Message) uint64 {
				l := peer.Must(peer.Must(cp.ReadRootSavedata(m)).Players())
				return uint64(l.At(l.Len() / 2).Score())
			},
			func(m *capnp.Message) {
				l := peer.Must(peer.Must(cp.ReadRootSavedata(m)).Players())
				for i := range l.Len() {
					p := l.At(i)
					p.SetScore(1)
					p.SetSpawnX(1)
					p.SetSpawnY(2)
					p.SetSpawnZ(3)
				}
			}}, true
	}
	return format{}, false
}
