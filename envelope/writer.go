package envelope

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/graven-rpc/graven/crc32c"
)

// Writer writes frames back to back to a file or stream. It collects them and
// writes many at once. Call Flush at the end. A Writer is not safe for
// concurrent use.
//
// After an error of the destination the bytes that it did not take are kept, and
// the next call tries them again first, so that after a passing failure the
// stream goes on with nothing lost and nothing twice.
type Writer struct {
	dst   io.Writer
	batch int
	buf   []byte
	sent  int64
}

// NewWriter returns a Writer to dst that writes when it has batch bytes or more.
// With a batch of 0 or less each frame is written at once.
func NewWriter(dst io.Writer, batch int) *Writer {
	return &Writer{dst: dst, batch: batch}
}

// WriteMessage seals a copy of message in a frame and writes that. A message
// of more than [MaxMessage] bytes is refused with [ErrSize]; any other error is from
// writing, and the frame is kept for the next try.
func (w *Writer) WriteMessage(schemaID uint64, message []byte) error {
	if int64(len(message)) > MaxMessage {
		return tooLarge(len(message))
	}
	frame := w.extend(len(message) + Overhead)
	PutHeader(frame, Header{SchemaID: schemaID, Size: uint32(len(message))})
	end := HeaderSize + copy(frame[HeaderSize:], message)
	binary.LittleEndian.PutUint32(frame[end:], crc32c.Checksum(frame[:end]))
	return w.flushFull()
}

// WriteFrame writes a copy of a frame that is already sealed. One that [Open] would
// refuse is refused with the same error and not written.
func (w *Writer) WriteFrame(frame []byte) error {
	mark := len(w.buf)
	if _, _, err := OpenCopy(w.extend(len(frame)), frame, 0); err != nil {
		w.buf = w.buf[:mark]
		return err
	}
	return w.flushFull()
}

// Append lets add append one frame or more to the bytes that wait to be written,
// as a codec's MarshalAppend does, which saves a copy. If add returns an error,
// that is returned and nothing of what add appended is written.
func (w *Writer) Append(add func(dst []byte) ([]byte, error)) error {
	mark := len(w.buf)
	buf, err := add(w.buf)
	if err != nil {
		w.buf = w.buf[:mark]
		return err
	}
	w.buf = buf
	return w.flushFull()
}

// Flush writes what was collected.
func (w *Writer) Flush() error {
	if len(w.buf) == 0 {
		return nil
	}
	n, err := w.dst.Write(w.buf)
	if n < 0 || n > len(w.buf) {
		panic("envelope: the destination's Write returned an impossible count")
	}
	w.sent += int64(n)
	if n < len(w.buf) {
		w.buf = w.buf[:copy(w.buf, w.buf[n:])]
		if err == nil {
			err = io.ErrShortWrite
		}
		return fmt.Errorf("envelope: %d bytes from offset %d of the stream are not written yet: %w", len(w.buf), w.sent, err)
	}
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("envelope: after offset %d of the stream: %w", w.sent, err)
	}
	return nil
}

// Offset is where in the stream the next frame will start, in bytes.
func (w *Writer) Offset() int64 { return w.sent + int64(len(w.buf)) }

// Buffered is the number of bytes that wait to be written.
func (w *Writer) Buffered() int { return len(w.buf) }

func (w *Writer) extend(n int) []byte {
	mark := len(w.buf)
	w.buf = slices.Grow(w.buf, n)[:mark+n]
	return w.buf[mark:]
}

func (w *Writer) flushFull() error {
	if len(w.buf) < w.batch {
		return nil
	}
	return w.Flush()
}
