package graven

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
	"github.com/graven-rpc/graven/interop/bench/peer"
)

// Bare ends the variants that leave out the envelope or its checksum, which package codec
// does not offer: they show what these cost.
const Bare = ", no envelope"

// Limits are those of codec.Options by default.
const (
	maxDepth = 10_000
	budget   = 256 << 20
)

// bareMessages adds the cases of ordinary messages without the envelope.
func bareMessages(b *peer.Builder, m proto.Message, decode func([]byte) uint64) {
	_, t, lm, _, err := wire.Bound(m)
	peer.Check(err)
	o := wire.EncodeOptions{MaxDepth: maxDepth, MaxSize: envelope.MaxMessage}
	buf := make([]byte, 4<<10)
	b.WriteIncomplete("message, generated, reused buffer"+Bare, func() []byte {
		for {
			switch end, result := wire.Encode(buf[:len(buf)-envelope.TrailerSize], 0, t, m, o); result {
			case wire.Done:
				return buf[:end]
			case wire.Small:
				buf = make([]byte, max(2*len(buf), end+envelope.TrailerSize))
			default:
				panic("graven: a message that can't be encoded by generated methods")
			}
		}
	}, func(p []byte) []byte {
		frame := append(make([]byte, envelope.HeaderSize, envelope.Overhead+len(p)), p...)
		return peer.Must(envelope.Seal(frame, lm.ID()))
	})
	b.Read(peer.ReadAll, "decode, generated"+Bare, decode)
}

// decodeBare decodes the message of a frame, which it does not look at otherwise.
func decodeBare(p []byte, m proto.Message) error {
	_, t, lm, _, err := wire.Bound(m)
	if err != nil {
		return err
	}
	p = message(p)
	plan, _, err := wire.VerifyRoot(lm, p, maxDepth, budget)
	if err != nil {
		return err
	}
	return wire.DecodeRoot(t, m, plan, p, wire.DecodeOptions{MaxDepth: maxDepth, Budget: budget + 64*int64(len(p))})
}

// bareViews adds the cases of views without the envelope.
func bareViews[V codec.View[V]](b *peer.Builder, sum func(V) uint64) {
	var none V
	t := none.Γtype()
	root := func(p []byte) V {
		v, ok := t.Root(p, false)
		if !ok {
			panic("graven: not a message")
		}
		return none.Γview(v)
	}
	b.Read(peer.ReadAll, "view, trusted"+Bare, func(p []byte) uint64 { return sum(root(message(p))) })
	b.Read(peer.VerifyRead, "view, verified"+Bare, func(p []byte) uint64 {
		p = message(p)
		_, err := wire.VerifyWithin(t.Layout(), p, maxDepth, budget)
		peer.Check(err)
		return sum(root(p))
	})
}

// message is the message in a frame.
func message(frame []byte) []byte {
	return frame[envelope.HeaderSize : len(frame)-envelope.TrailerSize]
}

// reseal makes the checksum of a frame anew.
func reseal(frame []byte) []byte {
	end := len(frame) - envelope.TrailerSize
	binary.LittleEndian.PutUint32(frame[end:], crc32c.Checksum(frame[:end]))
	return frame
}
