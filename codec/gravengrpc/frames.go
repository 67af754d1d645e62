package gravengrpc

import (
	"google.golang.org/grpc/mem"

	"github.com/graven-rpc/graven/codec"
)

// What this package looks for in a message beyond proto.Message. Types that hold
// their own frame have these methods, so that its bytes travel without being decoded
// and encoded.

// owner keeps memory in use: Ref takes a reference, Free gives one up.
type owner interface {
	Ref()
	Free()
}

// appender appends its sealed frame to dst.
type appender interface {
	GravenAppend(dst []byte, o codec.Options) ([]byte, error)
}

// holder hands out its sealed frame as it is. Nobody writes to the bytes as
// long as someone has a reference to their owner; without an owner, never again.
// A nil frame says that there is none to hand out, and that it has to be
// appended.
type holder interface {
	GravenBuffer() (frame []byte, owner interface {
		Ref()
		Free()
	})
}

// unmarshaler takes a frame. It may keep data for as long as it holds a reference to
// the owner that it has taken for itself before it returns; without an owner it
// has to copy. Empty data is the message with nothing set.
type unmarshaler interface {
	GravenUnmarshal(data []byte, owner interface {
		Ref()
		Free()
	}, o codec.Options) error
}

// sendHeld returns the frame that v holds with a reference for gRPC to free, or
// nil if v holds none or one so small that a copy costs less.
func sendHeld(v any) mem.BufferSlice {
	h, ok := v.(holder)
	if !ok {
		return nil
	}
	frame, owner := h.GravenBuffer()
	switch {
	case len(frame) <= maxUnpooled:
		return nil
	case owner == nil:
		return mem.BufferSlice{mem.SliceBuffer(frame)}
	}
	owner.Ref()
	// gRPC gives a small buffer back to no pool and so would not free the
	// reference. It goes by the capacity.
	return mem.BufferSlice{mem.NewBuffer(&frame, freeing{owner})}
}

// freeing is the pool of a buffer that somebody else owns.
type freeing struct{ owner owner }

func (f freeing) Put(*[]byte) { f.owner.Free() }

// Get is there for the interface; a buffer only ever puts.
func (f freeing) Get(n int) *[]byte { b := make([]byte, n); return &b }

// maxCopied is the size in bytes up to which a received frame is handed on to be
// copied. gRPC's buffers are parts of HTTP/2 frames of up to 16 KiB, which may hold
// many messages, and one that is kept would keep all of it. Above this size a
// frame fills a fair share of what it keeps.
const maxCopied = 4 << 10

// receive hands a received frame to u, with the buffer that gRPC received it in
// if it came in one that is worth keeping, else to be copied, or as a copy.
func (c *grpcCodec) receive(data mem.BufferSlice, size int, u unmarshaler) error {
	switch {
	case size == 0:
		return u.GravenUnmarshal(nil, nil, c.options)
	case len(data) == 1 && size <= maxCopied:
		return u.GravenUnmarshal(data[0].ReadOnlyData(), nil, c.options)
	case len(data) == 1:
		return u.GravenUnmarshal(data[0].ReadOnlyData(), data[0], c.options)
	}
	whole := c.pool.NewBuffer(size)
	defer whole.Free()
	data.CopyTo(whole.Bytes())
	return u.GravenUnmarshal(whole.Bytes(), whole, c.options)
}
