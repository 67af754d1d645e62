// Package envelope wraps messages for the wire: a header that says what
// follows and how long it is, the message, and a CRC32C of both.
//
//	offset   size
//	0        4      magic "GRVN"
//	4        1      version, 1
//	5        1      flags, 0
//	6        2      reserved, 0
//	8        8      schema id, little-endian
//	16       4      size of the message in bytes, little-endian
//	20       size   the message
//	20+size  4      CRC32C of everything before it, little-endian
//
// [Seal] and [Open] work on one frame in memory, [Reader] and [Writer] on
// frames that stand back to back in a file or stream. The package knows nothing
// about what a message looks like inside.
package envelope

import (
	"encoding/binary"

	"github.com/graven-rpc/graven/crc32c"
)

const (
	// HeaderSize is the number of bytes in front of a message.
	HeaderSize = 20
	// TrailerSize is the number of bytes behind a message: its CRC32C.
	TrailerSize = 4
	// Overhead is what a frame has on top of its message, in bytes.
	Overhead = HeaderSize + TrailerSize
	// MaxMessage is the size of the largest message a frame can hold, in bytes.
	MaxMessage = 1<<31 - 1
)

const (
	magic   = "GRVN"
	version = 1

	// criticalFlags are the flags that a reader has to know to make sense of a
	// frame. None is defined. The upper four bits may be ignored.
	criticalFlags = 0x0F

	// firstWord is the first eight bytes of a frame as Seal writes them, and
	// ignoredBits are those of them that a reader does not look at.
	firstWord   = uint64('G') | 'R'<<8 | 'V'<<16 | 'N'<<24 | version<<32
	ignoredBits = uint64(0xFF&^criticalFlags) << 40
)

// Header is what the first [HeaderSize] bytes of a frame say.
type Header struct {
	// SchemaID identifies the message type (high half) and the version of its
	// schema (low half).
	SchemaID uint64
	// Size is the size of the message in bytes. It is not to be trusted before
	// the CRC was checked.
	Size uint32
}

// FrameSize is the size of the whole frame in bytes.
func (h Header) FrameSize() int64 { return int64(h.Size) + Overhead }

// ParseHeader reads the header at the start of b. It reports, as an [*Error],
// a wrong magic, version, flags or reserved bytes as far as there are bytes to
// look at, then a size above [MaxMessage], then [ErrIncomplete] if b ends
// before the header does. It does not look at what follows the header.
func ParseHeader(b []byte) (Header, error) {
	h, err := parseHeader(b, MaxMessage)
	if err != nil {
		return Header{}, err
	}
	return h, nil
}

// parseHeader is ParseHeader with a limit for the size of the message. It
// returns the error as its own type, so that a nil costs its callers nothing.
func parseHeader(b []byte, limit int) (Header, *Error) {
	if len(b) < HeaderSize {
		return Header{}, shortHeader(b)
	}
	if binary.LittleEndian.Uint64(b)&^ignoredBits != firstWord {
		return Header{}, badHeader(b)
	}
	h := Header{
		SchemaID: binary.LittleEndian.Uint64(b[8:]),
		Size:     binary.LittleEndian.Uint32(b[16:]),
	}
	if int64(h.Size) > int64(limit) {
		return Header{}, &Error{Kind: KindSize, Offset: 16, Found: h.Size, Expected: uint32(limit)}
	}
	return h, nil
}

// badHeader says what is wrong with the header at the start of b, as far as
// there are bytes to look at, or returns nil.
func badHeader(b []byte) *Error {
	for i := 0; i < len(magic) && i < len(b); i++ {
		if b[i] != magic[i] {
			return &Error{Kind: KindMagic, Offset: i, Found: uint32(b[i]), Expected: uint32(magic[i])}
		}
	}
	if len(b) > 4 && b[4] != version {
		return &Error{Kind: KindVersion, Offset: 4, Found: uint32(b[4]), Expected: version}
	}
	if len(b) > 5 && b[5]&criticalFlags != 0 {
		return &Error{Kind: KindFlags, Offset: 5, Found: uint32(b[5])}
	}
	for i := 6; i < 8 && i < len(b); i++ {
		if b[i] != 0 {
			return &Error{Kind: KindReserved, Offset: i, Found: uint32(b[i])}
		}
	}
	return nil
}

// shortHeader says what is wrong with a header of which only the start is here.
func shortHeader(b []byte) *Error {
	if err := badHeader(b); err != nil {
		return err
	}
	// An empty message makes the smallest frame, so this many bytes are needed
	// whatever the missing part of the header says.
	return incomplete(len(b), Overhead)
}

func incomplete(have int, need int64) *Error {
	return &Error{Kind: KindIncomplete, Offset: have, Have: have, Need: need}
}

// clamp turns a caller's limit into one that a frame can have.
func clamp(limit int) int {
	if limit <= 0 || int64(limit) > MaxMessage {
		return MaxMessage
	}
	return limit
}

// PutHeader writes the header of a message into the first [HeaderSize] bytes of
// b. It panics if b is shorter.
func PutHeader(b []byte, h Header) {
	_ = b[HeaderSize-1]
	binary.LittleEndian.PutUint64(b, firstWord)
	binary.LittleEndian.PutUint64(b[8:], h.SchemaID)
	binary.LittleEndian.PutUint32(b[16:], h.Size)
}

// Seal makes a frame of the message in buf[HeaderSize:]. The first [HeaderSize]
// bytes of buf are room for the header, whatever they held before. Seal fills
// in the header and appends the CRC, so the message is neither copied nor moved
// if buf has a capacity of [TrailerSize] more than its length; else the whole
// frame is moved to a larger array as append does. The frame has the memory of
// buf.
//
// A message of more than [MaxMessage] bytes is refused with [ErrSize], a buf
// without room for the header with [ErrIncomplete]; buf is returned as it was.
func Seal(buf []byte, schemaID uint64) ([]byte, error) {
	if len(buf) < HeaderSize {
		return buf, incomplete(len(buf), HeaderSize)
	}
	size := len(buf) - HeaderSize
	if int64(size) > MaxMessage {
		return buf, tooLarge(size)
	}
	PutHeader(buf, Header{SchemaID: schemaID, Size: uint32(size)})
	return binary.LittleEndian.AppendUint32(buf, crc32c.Checksum(buf)), nil
}

func tooLarge(size int) *Error {
	return &Error{Kind: KindSize, Offset: 16, Found: uint32(min(int64(size), 1<<32-1)), Expected: MaxMessage}
}

// Open checks the frame and returns its schema id and its message, which
// is a part of frame and not a copy. The frame has to be there as a whole and
// nothing behind it.
//
// limit is the largest message to accept in bytes; 0 or less stands for
// [MaxMessage]. The error is an [*Error]. What is wrong is found in this order:
// [ErrMagic], [ErrVersion], [ErrFlags], [ErrReserved], [ErrSize],
// [ErrIncomplete], [ErrTrailing], [ErrChecksum]. Of a frame that is cut short
// the bytes that are there are checked first.
func Open(frame []byte, limit int) (schemaID uint64, message []byte, err error) {
	h, e := checkWhole(frame, limit)
	if e == nil {
		e = checkSum(frame, h)
	}
	if e != nil {
		return 0, nil, e
	}
	end := HeaderSize + int(h.Size)
	return h.SchemaID, frame[HeaderSize:end:end], nil
}

// checkWhole checks all of a frame but its CRC.
func checkWhole(frame []byte, limit int) (Header, *Error) {
	h, err := parseHeader(frame, clamp(limit))
	if err != nil {
		return h, err
	}
	switch n := h.FrameSize(); {
	case int64(len(frame)) < n:
		return h, incomplete(len(frame), n)
	case int64(len(frame)) > n:
		return h, &Error{Kind: KindTrailing, Offset: int(n), Have: len(frame), Need: n}
	}
	return h, nil
}

// checkSum compares the CRC of a frame that is complete.
func checkSum(frame []byte, h Header) *Error {
	end := HeaderSize + int(h.Size)
	return compareSum(frame, end, crc32c.Checksum(frame[:end]))
}

func compareSum(frame []byte, end int, sum uint32) *Error {
	if want := binary.LittleEndian.Uint32(frame[end:]); want != sum {
		return &Error{Kind: KindChecksum, Offset: end, Found: sum, Expected: want}
	}
	return nil
}

// OpenCopy is [Open] for a frame whose memory is about to be used for something
// else: it copies the frame to dst while it computes the CRC, and the message
// that it returns is a part of dst. dst has to be at least as long as frame,
// else OpenCopy panics, and must not overlap it. After an error dst holds
// nothing of use.
func OpenCopy(dst, frame []byte, limit int) (schemaID uint64, message []byte, err error) {
	h, e := checkWhole(frame, limit)
	if e != nil {
		return 0, nil, e
	}
	end := HeaderSize + int(h.Size)
	dst = dst[:len(frame)]
	sum := crc32c.Copy(dst[:end], frame[:end])
	copy(dst[end:], frame[end:])
	// What is compared is the copy: the frame's own bytes may change under us.
	if e := compareSum(dst, end, sum); e != nil {
		return 0, nil, e
	}
	return h.SchemaID, dst[HeaderSize:end:end], nil
}

// Split checks the frame at the start of b as [Open] does and returns it and
// what follows it. Both are parts of b. At the end, where b is empty, it
// reports [ErrIncomplete] like for any other frame that is cut short.
func Split(b []byte, limit int) (frame, rest []byte, err error) {
	h, e := parseHeader(b, clamp(limit))
	if e == nil && int64(len(b)) < h.FrameSize() {
		e = incomplete(len(b), h.FrameSize())
	}
	if e == nil {
		e = checkSum(b, h)
	}
	if e != nil {
		return nil, b, e
	}
	n := int(h.FrameSize())
	return b[:n:n], b[n:], nil
}
