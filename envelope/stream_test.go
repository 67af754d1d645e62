package envelope

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// trickle returns its bytes in reads of the sizes that step gives, an error of
// its own now and then, and the last bytes together with io.EOF.
type trickle struct {
	data  []byte
	step  func() int
	fail  func() error
	reads int
}

func (s *trickle) Read(p []byte) (int, error) {
	s.reads++
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return 0, err
		}
	}
	n := copy(p[:min(len(p), s.step())], s.data)
	s.data = s.data[n:]
	if len(s.data) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// iotest is a source of one byte at a time.
func iotest(b []byte) io.Reader {
	return &trickle{data: b, step: func() int { return 1 }}
}

func makeFrames(rng *rand.Rand, sizes ...int) (frames [][]byte, stream []byte) {
	for _, n := range sizes {
		f := frameOf(rng.Uint64(), randomBytes(rng, n))
		frames = append(frames, f)
		stream = append(stream, f...)
	}
	return frames, stream
}

func TestReaderOfEveryStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	frames, stream := makeFrames(rng, 0, 1, 5000, 17, 100000, 0, 4096-Overhead, 4096-Overhead, 1500, 3000, 2, 60000, 60000)
	errFlaky := errors.New("flaky")
	for _, step := range []int{1, 2, 3, 7, 23, 24, 25, 1000, 4096, 1 << 20} {
		flaky := 0
		src := &trickle{
			data: slices.Clone(stream),
			step: func() int { return rng.IntN(step) + 1 },
			fail: func() error {
				if rng.IntN(10) == 0 {
					flaky++
					return errFlaky
				}
				return nil
			},
		}
		r := NewReader(src, 0)
		var at int64
		for i, want := range frames {
			got, err := r.Next()
			for err == errFlaky {
				if r.Offset() != at {
					t.Fatalf("step %d, frame %d: offset %d after an error, want %d", step, i, r.Offset(), at)
				}
				got, err = r.Next()
			}
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("step %d, frame %d: got %d bytes, %v, want %d bytes", step, i, len(got), err, len(want))
			}
			at += int64(len(want))
			if r.Offset() != at {
				t.Fatalf("step %d, frame %d: offset %d, want %d", step, i, r.Offset(), at)
			}
		}
		for range 2 {
			_, err := r.Next()
			for err == errFlaky {
				_, err = r.Next()
			}
			if err != io.EOF {
				t.Fatalf("step %d: at the end: %v", step, err)
			}
		}
		if step < 100 && flaky == 0 {
			t.Errorf("step %d: no error on the way", step)
		}
	}
}

func TestReaderCutAtEveryByte(t *testing.T) {
	frames, stream := makeFrames(rand.New(rand.NewPCG(4, 4)), 10, 30)
	first := len(frames[0])
	for n := range len(stream) {
		r := NewReader(bytes.NewReader(stream[:n]), 0)
		start := 0
		if n >= first {
			if _, err := r.Next(); err != nil {
				t.Fatalf("%d bytes: %v", n, err)
			}
			start = first
		}
		_, err := r.Next()
		if n == start {
			if err != io.EOF {
				t.Errorf("%d bytes: got %v, want io.EOF", n, err)
			}
			continue
		}
		e := kindOf(t, err)
		want := Error{Kind: KindIncomplete, Frame: int64(start), Offset: n - start, Have: n - start, Need: Overhead}
		if n-start >= HeaderSize {
			want.Need = int64(len(frames[min(start, 1)]))
		}
		if *e != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: got %+v, want %+v", n, *e, want)
		}
	}
}

// A file that grows: what was incomplete is read on when the rest is there.
func TestReaderResumesAfterTheEnd(t *testing.T) {
	_, stream := makeFrames(rand.New(rand.NewPCG(5, 5)), 100)
	var file bytes.Buffer
	r := NewReader(&file, 0)
	for i, b := range stream {
		if _, err := r.Next(); i == 0 && err != io.EOF || i > 0 && !errors.Is(err, ErrIncomplete) {
			t.Fatalf("after %d bytes: %v", i, err)
		}
		file.WriteByte(b)
	}
	if got, err := r.Next(); err != nil || !bytes.Equal(got, stream) {
		t.Fatalf("got % x, %v", got, err)
	}
}

func TestReaderReportsCorruptFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	frames, stream := makeFrames(rng, 50, 60, 70)
	second := len(frames[0])
	for at, want := range map[int]Kind{0: KindMagic, 4: KindVersion, 5: KindFlags, 6: KindReserved, 19: KindSize, 30: KindChecksum, 83: KindChecksum} {
		b := slices.Clone(stream)
		b[second+at] ^= 0x85
		r := NewReader(bytes.NewReader(b), 1000)
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := r.Next()
			if e := kindOf(t, err); e.Kind != want || e.Frame != int64(second) || r.Offset() != int64(second) {
				t.Errorf("byte %d: got %+v at %d", at, e, r.Offset())
			}
		}
		n, err := r.Skip()
		if err != nil || n != int64(len(frames[1])) {
			t.Errorf("byte %d: skipped %d, %v, want %d", at, n, err, len(frames[1]))
		}
		if got, err := r.Next(); err != nil || !bytes.Equal(got, frames[2]) {
			t.Errorf("byte %d: after Skip: %v", at, err)
		}
	}
}

func TestReaderNoProgress(t *testing.T) {
	src := &trickle{data: make([]byte, 1), step: func() int { return 0 }}
	if _, err := NewReader(src, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v", err)
	}
}

// A header that claims 2 GiB, with little behind it, must not cost memory.
func TestClaimedSizeIsNotAllocated(t *testing.T) {
	b := frameOf(1, make([]byte, 10000))
	const claimed = MaxMessage - Overhead // where int has 32 bits, the most that can be read
	binary.LittleEndian.PutUint32(b[16:], claimed)
	var before, after runtime.MemStats
	for name, read := range map[string]func(*Reader) error{
		"Next": func(r *Reader) error { _, err := r.Next(); return err },
		"Skip": func(r *Reader) error {
			if n, err := r.Skip(); err != io.EOF || n != int64(len(b)) {
				t.Errorf("Skip: %d, %v", n, err)
			}
			return nil
		},
	} {
		r := NewReader(iotest(b), 0)
		runtime.ReadMemStats(&before)
		err := read(r)
		runtime.ReadMemStats(&after)
		if name == "Next" {
			if e := kindOf(t, err); e.Kind != KindIncomplete || e.Need != claimed+Overhead {
				t.Errorf("got %+v", e)
			}
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 100_000 {
			t.Errorf("%s: %d bytes allocated for a stream of %d", name, n, len(b))
		}
	}
}

// isFrame is what Skip looks for, by the definition.
func isFrame(b []byte, limit int) int {
	if len(b) < Overhead {
		return 0
	}
	n := int64(binary.LittleEndian.Uint32(b[16:])) + Overhead
	if n > int64(len(b)) {
		return 0
	}
	if _, _, err := Open(b[:n], limit); err != nil {
		return 0
	}
	return int(n)
}

// Skip against a search that tries every byte, on streams full of magics,
// false headers and frames cut short, from sources of any step.
func TestSkipAgainstSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const limit = 20000
	found, junk := 0, 0
	for round := range 300 {
		var stream []byte
		for range rng.IntN(20) + 1 {
			switch rng.IntN(7) {
			case 0:
				stream = append(stream, randomBytes(rng, rng.IntN(100))...)
			case 1:
				stream = append(stream, "GRVN"[:rng.IntN(4)+1]...)
			case 2: // a header and nothing, or too little, behind it
				f := frameOf(1, randomBytes(rng, rng.IntN(15000)))
				stream = append(stream, f[:rng.IntN(len(f))]...)
			case 3: // a header that claims the frames behind it
				b := frameOf(2, nil)[:HeaderSize]
				binary.LittleEndian.PutUint32(b[16:], uint32(rng.IntN(limit*2)))
				stream = append(stream, b...)
			case 4: // a frame inside a corrupt frame
				f := frameOf(3, slices.Concat(randomBytes(rng, rng.IntN(5000)), frameOf(4, []byte("inner")), randomBytes(rng, rng.IntN(9000))))
				f[len(f)-1]++
				stream = append(stream, f...)
			case 5:
				stream = append(stream, frameOf(5, randomBytes(rng, rng.IntN(15000)))...)
			case 6:
				stream = append(stream, frameOf(6, randomBytes(rng, rng.IntN(50)))...)
			}
		}
		var want [][]byte
		for i := 0; i < len(stream); {
			if n := isFrame(stream[i:], limit); n > 0 {
				want = append(want, stream[i:i+n])
				i += n
			} else {
				i++
				junk++
			}
		}
		step := 1 << rng.IntN(16)
		r := NewReader(&trickle{data: slices.Clone(stream), step: func() int { return rng.IntN(step) + 1 }}, limit)
		for i, frame := range want {
			if _, err := r.Skip(); err != nil {
				t.Fatalf("round %d, frame %d: %v", round, i, err)
			}
			got, err := r.Next()
			if err != nil || !bytes.Equal(got, frame) {
				t.Fatalf("round %d, frame %d: got %d bytes, %v, want %d bytes", round, i, len(got), err, len(frame))
			}
			found++
		}
		if _, err := r.Skip(); err != io.EOF || r.Offset() != int64(len(stream)) {
			t.Fatalf("round %d: at the end: %v at %d of %d", round, err, r.Offset(), len(stream))
		}
		if max := 4*len(stream) + 2*firstBuffer; len(r.buf) > max {
			t.Errorf("round %d: a buffer of %d bytes for a stream of %d", round, len(r.buf), len(stream))
		}
	}
	if found < 300 || junk < 10000 {
		t.Errorf("only %d frames and %d bytes of junk", found, junk)
	}
}

func TestSkipAfterErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	errFlaky := errors.New("flaky")
	stream := append(randomBytes(rng, 10000), frameOf(1, []byte("here"))...)
	src := &trickle{data: stream, step: func() int { return 100 }}
	src.fail = func() error {
		if src.reads%2 == 1 {
			return errFlaky
		}
		return nil
	}
	r := NewReader(src, 0)
	var total int64
	for {
		n, err := r.Skip()
		total += n
		if err == nil {
			break
		}
		if err != errFlaky {
			t.Fatal(err)
		}
	}
	if total != 10000 {
		t.Errorf("skipped %d bytes", total)
	}
	for {
		got, err := r.Next()
		if err == errFlaky {
			continue
		}
		if err != nil || string(got[HeaderSize:len(got)-TrailerSize]) != "here" {
			t.Errorf("got %q, %v", got, err)
		}
		break
	}
}

// Headers at every 20 bytes that all claim the rest of a large stream: if each
// were checked by itself this would take the CRC of 100 GB.
func TestSkipTakesLinearTime(t *testing.T) {
	const headers = 100_000
	var stream []byte
	for i := range headers {
		h := make([]byte, HeaderSize)
		PutHeader(h, Header{Size: uint32((headers-i)*HeaderSize - Overhead - i%7)})
		stream = append(stream, h...)
	}
	last := frameOf(1, []byte("end"))
	stream = append(stream, last...)
	r := NewReader(bytes.NewReader(stream), 0)
	n, err := r.Skip()
	if err != nil || n != int64(headers*HeaderSize) {
		t.Fatalf("skipped %d, %v", n, err)
	}
	if got, err := r.Next(); err != nil || !bytes.Equal(got, last) {
		t.Fatalf("got % x, %v", got, err)
	}
}

func TestPrefixSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	data := randomBytes(rng, 200_000)
	var sums prefixSums
	base := int64(rng.IntN(5000))
	for at := 0; at < len(data); at += rng.IntN(6000) {
		n := rng.IntN(len(data) - at + 1)
		frame := reseal(append(slices.Clone(data[at:at+n]), 0, 0, 0, 0))
		want := binary.LittleEndian.Uint32(frame[n:])
		if got := sums.sum(data[at:], base+int64(at), n); got != want {
			t.Fatalf("%d bytes at %d: got %08x, want %08x", n, at, got, want)
		}
		if len(sums.sums) > len(data)/sumStep+2 {
			t.Fatalf("%d sums kept", len(sums.sums))
		}
	}
}

// sink takes as many bytes of each write as take says.
type sink struct {
	bytes.Buffer
	take   func(n int) (int, error)
	writes int
}

func (s *sink) Write(p []byte) (int, error) {
	s.writes++
	n, err := s.take(len(p))
	s.Buffer.Write(p[:n])
	return n, err
}

func whole(n int) (int, error) { return n, nil }

func TestWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	frames, stream := makeFrames(rng, 0, 10, 5000, 1, 2, 70000, 3)
	for _, batch := range []int{0, 1, 100, 6000, 1 << 20} {
		dst := &sink{take: whole}
		w := NewWriter(dst, batch)
		var at int64
		for i, f := range frames {
			h, _ := ParseHeader(f)
			var err error
			switch i % 3 {
			case 0:
				err = w.WriteMessage(h.SchemaID, f[HeaderSize:len(f)-TrailerSize])
			case 1:
				err = w.WriteFrame(f)
			case 2:
				err = w.Append(func(b []byte) ([]byte, error) { return append(b, f...), nil })
			}
			if err != nil {
				t.Fatal(err)
			}
			at += int64(len(f))
			if w.Offset() != at {
				t.Errorf("batch %d: offset %d, want %d", batch, w.Offset(), at)
			}
			if w.Buffered() >= max(batch, 1) {
				t.Errorf("batch %d: %d bytes wait", batch, w.Buffered())
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.Bytes(), stream) {
			t.Errorf("batch %d: other bytes came out", batch)
		}
		if want := map[int]int{0: 7, 1: 7, 100: 3, 6000: 2, 1 << 20: 1}[batch]; dst.writes != want {
			t.Errorf("batch %d: %d writes, want %d", batch, dst.writes, want)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	dst := &sink{take: whole}
	w := NewWriter(dst, 1000)
	good := frameOf(1, []byte("good"))
	bad := slices.Clone(good)
	bad[22]++
	errAdd := errors.New("no")
	if err := w.WriteFrame(good); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFrame(bad); !errors.Is(err, ErrChecksum) {
		t.Errorf("a corrupt frame: %v", err)
	}
	if err := w.WriteFrame(good[:10]); !errors.Is(err, ErrIncomplete) {
		t.Errorf("a part of a frame: %v", err)
	}
	if err := w.Append(func(b []byte) ([]byte, error) { return append(b, bad...), errAdd }); err != errAdd {
		t.Errorf("Append: %v", err)
	}
	if err := w.WriteFrame(good); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil || !bytes.Equal(dst.Bytes(), slices.Concat(good, good)) {
		t.Errorf("% x, %v", dst.Bytes(), err)
	}
}

func TestWriterTriesAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	frames, stream := makeFrames(rng, 100, 200, 300, 400, 0, 10)
	errDisk := errors.New("disk full")
	short, failed := 0, 0
	dst := &sink{take: func(n int) (int, error) {
		switch rng.IntN(3) {
		case 0:
			return rng.IntN(n), nil
		case 1:
			return rng.IntN(n + 1), errDisk
		}
		return n, nil
	}}
	w := NewWriter(dst, 0)
	check := func(err error) {
		switch {
		case errors.Is(err, io.ErrShortWrite):
			short++
		case errors.Is(err, errDisk):
			failed++
		case err != nil:
			t.Fatal(err)
		}
		if int64(dst.Len()+w.Buffered()) != w.Offset() {
			t.Fatalf("%d bytes written, %d wait, offset %d", dst.Len(), w.Buffered(), w.Offset())
		}
	}
	for _, f := range frames {
		check(w.WriteFrame(f))
	}
	for w.Buffered() > 0 {
		check(w.Flush())
	}
	if !bytes.Equal(dst.Bytes(), stream) {
		t.Error("bytes were lost or came twice")
	}
	if short == 0 || failed == 0 {
		t.Errorf("%d short writes and %d failures", short, failed)
	}
}

func FuzzSkip(f *testing.F) {
	good := frameOf(1, []byte("good"))
	f.Add(slices.Concat([]byte("GRVN"), good, good[:21], good), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		const limit = 1000
		r := NewReader(&trickle{data: slices.Clone(b), step: func() int { return int(step) + 1 }}, limit)
		for i := 0; ; {
			n := 0
			for i < len(b) {
				if n = isFrame(b[i:], limit); n > 0 {
					break
				}
				i++
			}
			_, err := r.Skip()
			if n == 0 {
				if err != io.EOF {
					t.Fatalf("at the end: %v", err)
				}
				return
			}
			got, err2 := r.Next()
			if err != nil || err2 != nil || !bytes.Equal(got, b[i:i+n]) {
				t.Fatalf("frame at %d: %v, %v, % x", i, err, err2, got)
			}
			i += n
		}
	})
}
