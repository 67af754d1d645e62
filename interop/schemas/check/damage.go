package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Where a frame has the size of its message, the message, and the checksum.
const (
	sizeOffset = 16
	headerSize = 20
	crcSize    = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// damage returns a frame with another message: some bytes changed, cut out or
// put in, under a valid envelope.
func damage(frame []byte, r *rand.Rand) []byte {
	msg := bytes.Clone(frame[headerSize : len(frame)-crcSize])
	for range 1 + r.IntN(3) {
		i := r.IntN(len(msg) + 1)
		if r.IntN(2) == 0 {
			i = r.IntN(min(len(msg)+1, 12)) // shapes stand in front
		}
		switch {
		case i == len(msg) || r.IntN(8) == 0:
			msg = append(msg[:i:i], append([]byte{byte(r.Uint32())}, msg[i:]...)...)
		case r.IntN(8) == 0 && len(msg) > 1:
			msg = append(msg[:i], msg[i+1:]...)
		case r.IntN(2) == 0:
			msg[i] ^= 1 << r.IntN(8)
		case r.IntN(2) == 0:
			msg[i] += byte(r.IntN(5)) - 2
		default:
			msg[i] = byte(r.Uint32())
		}
	}
	out := append(bytes.Clone(frame[:headerSize]), msg...)
	binary.LittleEndian.PutUint32(out[sizeOffset:], uint32(len(msg)))
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// damaged decodes a damaged frame of m's type, by generated code too if the
// type has any: both ways refuse it, or both take it for the same message. What
// is taken can be sent on.
func (c *Checker) damaged(m proto.Message, frame []byte) error {
	c.Damaged++
	d := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	err := c.Partial.Unmarshal(frame, d)
	if _, ok := m.(*dynamicpb.Message); !ok {
		got := m.ProtoReflect().New().Interface()
		generated := c.Partial.Unmarshal(frame, got)
		if (generated == nil) != (err == nil) {
			return fmt.Errorf("damaged frame %s: generated: %v; dynamic: %v", hex(frame), generated, err)
		}
		if err == nil {
			if err := c.same(got, d); err != nil {
				return fmt.Errorf("damaged frame %s: %w", hex(frame), err)
			}
		}
		if err := c.view(frame, got, generated); err != nil {
			return fmt.Errorf("damaged frame: %w", err)
		}
	}
	if err != nil {
		return nil
	}
	c.Accepted++
	want, err := protobuf(d)
	if err != nil {
		return fmt.Errorf("damaged frame %s: protobuf can't encode what it decodes to: %w", hex(frame), err)
	}
	again, err := c.Partial.Marshal(d)
	if err != nil {
		return fmt.Errorf("damaged frame %s: can't be encoded again: %w\n%s", hex(frame), err, text(d))
	}
	back := dynamicpb.NewMessage(d.Descriptor())
	if err := c.Partial.Unmarshal(again, back); err != nil {
		return fmt.Errorf("damaged frame %s: encoded again as %s: %w\n%s", hex(frame), hex(again), err, text(d))
	}
	got, err := protobuf(back)
	if err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("damaged frame %s: encoded again as %s: another message (%v)\n%s\n%s", hex(frame), hex(again), err, text(d), text(back))
	}
	return nil
}

// same compares a generated message with a dynamic one. Each goes through what
// the other one is first, since protobuf's dynamic messages quiet signaling NaNs
// and its generated ones shorten the tags of unknown fields.
func (c *Checker) same(generated, dynamic proto.Message) error {
	d := dynamicpb.NewMessage(dynamic.ProtoReflect().Descriptor())
	if err := c.copy(d, generated); err != nil {
		return err
	}
	var all [2][]byte
	for i, m := range []proto.Message{d, dynamic} {
		g := generated.ProtoReflect().New().Interface()
		if err := c.copy(g, m); err != nil {
			return err
		}
		var err error
		if all[i], err = protobuf(g); err != nil {
			return err
		}
	}
	if !bytes.Equal(all[0], all[1]) {
		return fmt.Errorf("generated and dynamic messages differ\n%s\n%s", text(generated), text(dynamic))
	}
	return nil
}

// copy sets one message from another by way of protobuf's bytes.
func (c *Checker) copy(to, from proto.Message) error {
	b, err := protobuf(from)
	if err != nil {
		return err
	}
	return proto.UnmarshalOptions{AllowPartial: true, Resolver: c.Resolver}.Unmarshal(b, to)
}
