package codec

import (
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
)

// Writer is the part of a generated writer that has the buffer: it makes frames of the
// messages that are written. V is the generated view of the message.
//
//	var w bankv1graven.TransactionWriter
//	for order := range orders {
//		w.Reset()
//		w.SetId(order.ID)
//		entries := w.NewEntries(len(order.Lines))
//		for i, l := range order.Lines {
//			entries.Set(i, l.Account, l.Amount, nil)
//		}
//		frame, err := w.Seal()
//		...
//	}
//
// Fields may be set in any order; in order of number, row by row, nothing has to be
// moved. A field that is set twice has the last value. Strings, bytes and slices
// are copied when they are set. What would corrupt the message (a list that was never
// closed, a row past its count, a write to a row whose block is closed) does nothing, and
// sealing gives it as an error of kind [KindMisuse]; so it does with a value that does
// not fit its narrow field ([KindRange]), a string that is not UTF-8 ([KindUTF8]) or a
// required field that is not set ([KindRequired]). The first error is kept until Reset.
//
// A message or list of known length ends by itself when something behind it is
// written. A list or map that was opened by a method Build ends with Close.
//
// The writer keeps its buffer, so that one that is used again allocates nothing. A
// Writer must not be copied, nor used by two goroutines at once.
type Writer[V View[V]] struct {
	w   wire.Writer
	end int // of the batch
}

// Γbegin and Γnext are for generated writers.
func (w *Writer[V]) Γbegin(t *wire.WriteType) wire.RowWriter {
	w.end = 0
	return w.w.Begin(t)
}

func (w *Writer[V]) Γnext(t *wire.WriteType) (wire.RowWriter, error) {
	frame, err := w.Seal()
	if err == nil {
		w.end += len(frame)
	}
	return w.w.BeginAt(t, w.end), err
}

// Seal completes the message and gives its frame, which is borrowed: it is valid until the
// writer is used again, and must not be changed by anyone else.
func (w *Writer[V]) Seal() ([]byte, error) {
	frame, err := w.w.End()
	if err != nil {
		return nil, err
	}
	end := len(frame) - envelope.TrailerSize
	envelope.PutHeader(frame, envelope.Header{SchemaID: w.w.ID(), Size: uint32(end - envelope.HeaderSize)})
	le.PutUint32(frame[end:], crc32c.Checksum(frame[:end]))
	return frame, nil
}

// SealFrame completes the message and gives a Frame that owns its bytes, in memory
// from the pool, whatever becomes of the writer.
func (w *Writer[V]) SealFrame() (*Frame[V], error) {
	f := new(Frame[V])
	if err := w.SealInto(f); err != nil {
		return nil, err
	}
	return f, nil
}

// keptSize is the size of a frame in bytes up to which SealInto copies it, so that the
// writer keeps its buffer.
const keptSize = 2 << 10

// SealInto is SealFrame into a Frame that was released, or has nothing to release. After an
// error f is empty.
func (w *Writer[V]) SealInto(f *Frame[V]) error {
	f.Reset()
	frame, err := w.w.End()
	if err != nil {
		return err
	}
	end := len(frame) - envelope.TrailerSize
	envelope.PutHeader(frame, envelope.Header{SchemaID: w.w.ID(), Size: uint32(end - envelope.HeaderSize)})
	var owner pool.Shared
	if len(frame) > keptSize && w.w.Fills(len(frame)) {
		le.PutUint32(frame[end:], crc32c.Checksum(frame[:end]))
		owner = w.w.Take(len(frame))
	} else {
		owner = pool.Default.NewShared(len(frame))
		b := owner.Bytes()
		le.PutUint32(b[end:], crc32c.Copy(b[:end], frame[:end]))
		frame = b
	}
	f.hold(owner)
	return f.adopt(frame, frame, new(Options))
}

// Release gives the writer's buffer back to the pool, with what Seal and Batch have lent of
// it. Reset takes another one. Never calling Release is safe, the garbage collector takes over.
func (w *Writer[V]) Release() {
	w.end = 0
	w.w.Drop()
}

// Batch gives the frames that Next has completed since Reset, back to back: what
// a file or a stream of frames holds. It is borrowed, as what Seal gives.
func (w *Writer[V]) Batch() []byte { return w.w.Frames(w.end) }
