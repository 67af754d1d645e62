package envelope

import (
	"bytes"
	"io"
	"math"
	"math/bits"

	"github.com/graven-rpc/graven/crc32c"
)

// firstBuffer is the size that a Reader's buffer starts with, in bytes.
const firstBuffer = 4096

// maxEmptyReads is how often in a row a source may return neither bytes nor an
// error, as in package bufio.
const maxEmptyReads = 100

// Reader reads frames that stand back to back in a file or stream. It reads
// ahead, so the source should not be used otherwise. A Reader is not safe for
// concurrent use.
//
// Its buffer doubles as bytes arrive, up to the size of the largest frame that
// came, and is kept until the Reader is dropped. A size that a header claims
// costs no memory before the bytes are there.
type Reader struct {
	src    io.Reader
	limit  int
	buf    []byte
	start  int // buf[start:end] is what was read and is not yet used
	end    int
	given  int   // size of the frame that Next returned, still at start
	offset int64 // where in the stream buf[start] is
	err    error // came with the last bytes, to be returned when they are used up
}

// NewReader returns a Reader of the frames in src. limit is the largest message
// to accept in bytes; 0 or less stands for [MaxMessage].
func NewReader(src io.Reader, limit int) *Reader {
	return &Reader{src: src, limit: min(clamp(limit), math.MaxInt-Overhead)}
}

// Next returns the next frame, header and CRC included, after all of it was
// checked. The frame is in the Reader's buffer and valid until the next call of
// Next or Skip.
//
// At the end of the stream the error is [io.EOF], and inside a frame an [*Error]
// that says where the frame starts and how many bytes it needs, which
// matches [ErrIncomplete] and [io.ErrUnexpectedEOF]. Other errors of the source
// are returned as they are. After all of these Next may be called again and goes
// on where it stopped, with nothing lost, if the source has more by then.
//
// A frame that is not as it should be is an [*Error] of another kind. Next
// returns it each time until Skip is called.
func (r *Reader) Next() (frame []byte, err error) {
	r.drop(r.given)
	for {
		need := int64(Overhead)
		if data := r.data(); len(data) < HeaderSize {
			if e := badHeader(data); e != nil {
				return nil, r.locate(e)
			}
		} else {
			h, e := parseHeader(data, r.limit)
			if e != nil {
				return nil, r.locate(e)
			}
			need = h.FrameSize()
			if int64(len(data)) >= need {
				if e := checkSum(data, h); e != nil {
					return nil, r.locate(e)
				}
				r.given = int(need)
				return data[:need:need], nil
			}
		}
		if err := r.fill(need); err != nil {
			if err == io.EOF && r.end > r.start {
				return nil, r.locate(incomplete(r.end-r.start, need))
			}
			return nil, err
		}
	}
}

// Offset is how far the Reader is in the stream, in bytes: where the frame
// starts that the next call of Next looks at. A frame that Next has returned ended
// there, one that it has refused starts there.
func (r *Reader) Offset() int64 { return r.offset + int64(r.given) }

// Skip moves the Reader to the next frame that checks out, if that is not
// where it is already, for Next to return. It returns the number of bytes that it
// has passed over. If no such frame comes before the end of the stream,
// everything is passed over and the error is [io.EOF]; what would be a frame but
// for an early end is none. After another error of the source Skip may be
// called again and goes on.
//
// Bytes that look like a header but are none cost no more than a look-up: the
// time is in proportion to the bytes passed over, whatever sizes they claim.
// During the search the buffer may grow to a small multiple of the largest size
// that was claimed within the limit, if so many bytes arrive.
func (r *Reader) Skip() (skipped int64, err error) {
	r.drop(r.given)
	from := r.offset
	var sums prefixSums
	var ended bool
	for {
		ok, need := r.candidate(&sums)
		if ok {
			return r.offset - from, nil
		}
		if need > 0 && !ended {
			// Rounded up, or claims that grow by one byte each would make the
			// buffer grow as slowly.
			need = 1 << bits.Len64(uint64(need-1))
			err := r.fill(need)
			if err == nil {
				continue
			}
			if err != io.EOF {
				return r.offset - from, err
			}
			ended = true
		}
		if ended && r.start == r.end {
			return r.offset - from, io.EOF
		}
		if need == 0 || ended {
			r.drop(r.nextMagic())
		}
	}
}

// candidate reports whether a frame that checks out is at the start of the
// buffered bytes. If it takes more bytes to tell, need is how many in all; if
// none would help, need is 0.
func (r *Reader) candidate(sums *prefixSums) (ok bool, need int64) {
	data := r.data()
	if string(data[:min(len(data), len(magic))]) != magic[:min(len(data), len(magic))] {
		return false, 0 // the usual case, told without making an error
	}
	if len(data) < HeaderSize {
		if badHeader(data) != nil {
			return false, 0
		}
		return false, Overhead
	}
	h, err := parseHeader(data, r.limit)
	if err != nil {
		return false, 0
	}
	if int64(len(data)) < h.FrameSize() {
		return false, h.FrameSize()
	}
	end := HeaderSize + int(h.Size)
	return compareSum(data, end, sums.sum(data, r.offset, end)) == nil, 0
}

// nextMagic is the distance from the start of the buffered bytes to the next
// place behind it where a frame may start.
func (r *Reader) nextMagic() int {
	data := r.data()[1:]
	if i := bytes.Index(data, []byte(magic)); i >= 0 {
		return 1 + i
	}
	for n := min(len(magic)-1, len(data)); n > 0; n-- {
		if bytes.HasSuffix(data, []byte(magic[:n])) {
			return 1 + len(data) - n
		}
	}
	return 1 + len(data)
}

func (r *Reader) data() []byte { return r.buf[r.start:r.end] }

func (r *Reader) locate(e *Error) *Error {
	e.Frame = r.offset
	return e
}

func (r *Reader) drop(n int) {
	r.start += n
	r.offset += int64(n)
	r.given = 0
	if r.start == r.end {
		r.start, r.end = 0, 0
	}
}

// fill reads at least one byte more, for a frame that needs so many in all.
func (r *Reader) fill(need int64) error {
	if err := r.err; err != nil {
		r.err = nil
		return err
	}
	r.room(need)
	for range maxEmptyReads {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			panic("envelope: the source's Read returned an impossible count")
		}
		r.end += n
		if n > 0 {
			r.err = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// room makes room for at least one byte more.
func (r *Reader) room(need int64) {
	size := len(r.buf)
	switch have := r.end - r.start; {
	case size == 0:
		r.grow(firstBuffer)
	case int64(r.start)+need <= int64(size):
		// The frame fits where it is.
	case r.start > size/2 || have < size && r.start > 0 && need > int64(size):
		// Half of the buffer at least was used up since the last move, or the
		// next move is to a larger buffer.
		copy(r.buf, r.data())
		r.start, r.end = 0, have
	case have == size || r.start > 0:
		grown := int64(2 * size)
		if need > int64(size) {
			grown = min(grown, need)
		}
		r.grow(int(min(grown, math.MaxInt)))
	}
}

func (r *Reader) grow(size int) {
	buf := make([]byte, size)
	r.end = copy(buf, r.data())
	r.start = 0
	r.buf = buf
}

// prefixSums answers what the CRC of a part of a stream is without reading all
// of it again. It keeps the CRCs of the bytes from some fixed place on to every
// place that is a multiple of sumStep, and uses that the CRC of a part is the
// difference of two of them (Combine in package crc32c tells how).
type prefixSums struct {
	first int64 // where in the stream sums[0] is
	sums  []uint32
}

const sumStep = 1024

// sum is the CRC of data[:n], where data is at offset in the stream. Calls
// have to come with ascending offsets.
func (p *prefixSums) sum(data []byte, offset int64, n int) uint32 {
	if n < 4*sumStep {
		return crc32c.Checksum(data[:n])
	}
	head := int(-offset & (sumStep - 1)) // up to the first place that is kept
	tail := (n - head) / sumStep         // places from there on
	p.extend(data[head:], offset+int64(head), tail)
	i := int((offset + int64(head) - p.first) / sumStep)
	last := head + tail*sumStep
	middle := crc32c.Combine(p.sums[i], p.sums[i+tail], int64(last-head))
	sum := crc32c.Combine(crc32c.Checksum(data[:head]), middle, int64(last-head))
	return crc32c.Update(sum, data[last:n])
}

// extend makes sure that the sums from the place of data up to n steps further
// are there.
func (p *prefixSums) extend(data []byte, offset int64, n int) {
	if i := (offset - p.first) / sumStep; len(p.sums) == 0 || i >= int64(len(p.sums)) {
		p.first, p.sums = offset, append(p.sums[:0], 0)
	} else if i > int64(len(p.sums)/2) {
		p.sums = append(p.sums[:0], p.sums[i:]...)
		p.first = offset
	}
	have := len(p.sums) - 1 - int((offset-p.first)/sumStep)
	for ; have < n; have++ {
		last := p.sums[len(p.sums)-1]
		p.sums = append(p.sums, crc32c.Update(last, data[have*sumStep:(have+1)*sumStep]))
	}
}
