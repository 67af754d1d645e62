package envelope

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// frameOf is the format's definition, made without the code under test.
func frameOf(id uint64, message []byte) []byte {
	b := append([]byte("GRVN\x01\x00\x00\x00"), make([]byte, 12)...)
	binary.LittleEndian.PutUint64(b[8:], id)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(message)))
	b = append(b, message...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// reseal makes the CRC right again after a test changed the frame.
func reseal(frame []byte) []byte {
	end := len(frame) - TrailerSize
	binary.LittleEndian.PutUint32(frame[end:], crc32.Checksum(frame[:end], crc32.MakeTable(crc32.Castagnoli)))
	return frame
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func kindOf(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v (%T), want an *Error", err, err)
	}
	if e.Kind == 0 || !errors.Is(err, sentinels[e.Kind]) {
		t.Fatalf("error of kind %d does not match its sentinel: %v", e.Kind, err)
	}
	for kind, sentinel := range sentinels {
		if Kind(kind) != e.Kind && sentinel != nil && errors.Is(err, sentinel) {
			t.Fatalf("error of kind %d also matches %v", e.Kind, sentinel)
		}
	}
	if !strings.HasPrefix(err.Error(), sentinels[e.Kind].Error()) {
		t.Fatalf("error %q does not start with %q", err, sentinels[e.Kind])
	}
	return e
}

func TestSealAndOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 3, 4, 5, 24, 100, 1023, 1024, 70000} {
		message := randomBytes(rng, n)
		id := rng.Uint64()
		want := frameOf(id, message)

		dirty := bytes.Repeat([]byte{0xAA}, HeaderSize+n+TrailerSize)
		copy(dirty[HeaderSize:], message)
		got, err := Seal(dirty[:HeaderSize+n], id)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("size %d: Seal gives % x, want % x", n, got, want)
		}
		if &got[0] != &dirty[0] {
			t.Errorf("size %d: Seal moved a message that had room", n)
		}

		tight := slices.Clip(append(make([]byte, HeaderSize), message...))
		if got, err = Seal(tight, id); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("size %d: without room Seal gives % x, %v", n, got, err)
		}

		gotID, opened, err := Open(want, 0)
		if err != nil || gotID != id || !bytes.Equal(opened, message) {
			t.Fatalf("size %d: Open gives %x, % x, %v", n, gotID, opened, err)
		}
		if n > 0 && &opened[0] != &want[HeaderSize] {
			t.Errorf("size %d: Open copied the message", n)
		}
		if cap(opened) != n {
			t.Errorf("size %d: an append to the message would overwrite the CRC", n)
		}

		dst := bytes.Repeat([]byte{0xAA}, len(want)+3)
		gotID, opened, err = OpenCopy(dst, want, 0)
		if err != nil || gotID != id || !bytes.Equal(opened, message) {
			t.Fatalf("size %d: OpenCopy gives %x, % x, %v", n, gotID, opened, err)
		}
		if !bytes.Equal(dst[:len(want)], want) || !bytes.Equal(dst[len(want):], []byte{0xAA, 0xAA, 0xAA}) {
			t.Errorf("size %d: OpenCopy left % x", n, dst)
		}

		h, err := ParseHeader(want[:HeaderSize])
		if err != nil || h != (Header{SchemaID: id, Size: uint32(n)}) || h.FrameSize() != int64(len(want)) {
			t.Errorf("size %d: ParseHeader gives %+v, %v", n, h, err)
		}
	}
}

func TestSealWithoutRoom(t *testing.T) {
	buf := make([]byte, HeaderSize-1)
	got, err := Seal(buf, 1)
	if e := kindOf(t, err); e.Kind != KindIncomplete || e.Need != HeaderSize || e.Have != len(buf) {
		t.Errorf("got %+v", e)
	}
	if len(got) != len(buf) {
		t.Errorf("buf came back with %d bytes", len(got))
	}
}

func TestSplit(t *testing.T) {
	one, two := frameOf(1, []byte("one")), frameOf(2, nil)
	b := append(slices.Clone(one), two...)
	frame, rest, err := Split(b, 0)
	if err != nil || !bytes.Equal(frame, one) || !bytes.Equal(rest, two) || cap(frame) != len(one) {
		t.Fatalf("first: % x, % x, %v", frame, rest, err)
	}
	frame, rest, err = Split(rest, 0)
	if err != nil || !bytes.Equal(frame, two) || len(rest) != 0 {
		t.Fatalf("second: % x, % x, %v", frame, rest, err)
	}
	if _, _, err = Split(rest, 0); kindOf(t, err).Need != Overhead {
		t.Errorf("at the end: %v", err)
	}
	b[len(one)-1]++
	if _, rest, err = Split(b, 0); kindOf(t, err).Kind != KindChecksum || len(rest) != len(b) {
		t.Errorf("a corrupt frame: %v, %d bytes left", err, len(rest))
	}
	if _, _, err = Split(one, 2); kindOf(t, err).Kind != KindSize {
		t.Errorf("over the limit: %v", err)
	}
}

func TestTruncatedAtEveryByte(t *testing.T) {
	frame := frameOf(0x1122334455667788, []byte("a message of some bytes"))
	for n := range frame {
		cut := slices.Clip(slices.Clone(frame[:n]))
		_, _, err := Open(cut, 0)
		e := kindOf(t, err)
		want := Error{Kind: KindIncomplete, Offset: n, Have: n, Need: int64(len(frame))}
		if n < HeaderSize {
			want.Need = Overhead
		}
		if *e != want {
			t.Errorf("%d bytes: got %+v, want %+v", n, *e, want)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: %v is no io.ErrUnexpectedEOF", n, err)
		}
		if _, err := ParseHeader(cut); (err == nil) != (n >= HeaderSize) {
			t.Errorf("%d bytes: ParseHeader: %v", n, err)
		}
		if _, _, err := OpenCopy(make([]byte, n), cut, 0); kindOf(t, err).Kind != KindIncomplete {
			t.Errorf("%d bytes: OpenCopy: %v", n, err)
		}
	}
}

func TestEveryFlippedBit(t *testing.T) {
	frame := frameOf(0xFEDCBA9876543210, []byte("another message"))
	for bit := range len(frame) * 8 {
		b := slices.Clone(frame)
		b[bit/8] ^= 1 << (bit % 8)
		_, _, err := Open(b, 0)
		got := kindOf(t, err).Kind
		want := KindChecksum
		switch at := bit / 8; {
		case at < 4:
			want = KindMagic
		case at == 4:
			want = KindVersion
		case at == 5 && bit%8 < 4:
			want = KindFlags
		case at == 6 || at == 7:
			want = KindReserved
		case at >= 16 && at < 20 && b[at] > frame[at]:
			want = KindIncomplete
			if at == 19 && bit%8 == 7 {
				want = KindSize
			}
		case at >= 16 && at < 20:
			want = KindTrailing
		}
		if got != want {
			t.Errorf("bit %d of byte %d: kind %d, want %d: %v", bit%8, bit/8, got, want, err)
		}
		if _, _, err := OpenCopy(make([]byte, len(b)), b, 0); kindOf(t, err).Kind != want {
			t.Errorf("bit %d of byte %d: OpenCopy: %v", bit%8, bit/8, err)
		}
	}
}

func TestUpperFlagsAreIgnored(t *testing.T) {
	frame := frameOf(7, []byte("m"))
	frame[5] = 0xF0
	if _, m, err := Open(reseal(frame), 0); err != nil || string(m) != "m" {
		t.Errorf("got %q, %v", m, err)
	}
}

// Each step undoes one fault of a frame that has all of them, so that the next
// one in the format's order comes to light.
func TestOrderOfChecks(t *testing.T) {
	frame := append(frameOf(1, []byte("0123456789")), "left over"...)
	frame[3], frame[4], frame[5], frame[7] = 'X', 2, 0x01, 1
	frame[16] = 200
	frame[25] ^= 1
	for _, step := range []struct {
		want  error
		limit int
		undo  func()
	}{
		{ErrMagic, 100, func() { frame[3] = 'N' }},
		{ErrVersion, 100, func() { frame[4] = 1 }},
		{ErrFlags, 100, func() { frame[5] = 0 }},
		{ErrReserved, 100, func() { frame[7] = 0 }},
		{ErrSize, 100, func() {}},
		{ErrIncomplete, 200, func() { frame[16] = 10 }},
		{ErrTrailing, 200, func() { frame = frame[:34] }},
		{ErrChecksum, 200, func() { frame[25] ^= 1 }},
		{nil, 10, func() {}},
		{ErrSize, 9, func() {}},
	} {
		if _, _, err := Open(frame, step.limit); !errors.Is(err, step.want) {
			t.Errorf("got %v, want %v", err, step.want)
		}
		step.undo()
	}
	// A limit above what the format allows is the format's.
	binary.LittleEndian.PutUint32(frame[16:], 1<<31)
	if _, _, err := Open(frame, 1<<31-1); !errors.Is(err, ErrSize) {
		t.Errorf("2^31 bytes: %v", err)
	}
	// What is there of a header is checked before it is called incomplete.
	if _, _, err := Open([]byte("GX"), 0); kindOf(t, err).Kind != KindMagic {
		t.Errorf("two wrong bytes: %v", err)
	}
	if _, _, err := Open([]byte("GRVN\x02"), 0); kindOf(t, err).Kind != KindVersion {
		t.Errorf("another version: %v", err)
	}
	if _, _, err := Open([]byte("GRVN\x01\x00\x01"), 0); kindOf(t, err).Kind != KindReserved {
		t.Errorf("a reserved byte: %v", err)
	}
}

func TestShortInputsInExactCapacity(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for n := range 65 {
		for range 200 {
			b := make([]byte, n)
			copy(b, "GRVN\x01\x00\x00\x00")
			if n > 8 {
				copy(b[8:], randomBytes(rng, n-8))
			}
			if n > 16 {
				b[16] = byte(rng.IntN(64))
				clear(b[17:min(n, 20)])
			}
			_, m, err := Open(b, 0)
			if err == nil {
				t.Fatalf("random bytes % x passed as %x", b, m)
			}
			kindOf(t, err)
		}
	}
}

func TestAllocations(t *testing.T) {
	buf := make([]byte, HeaderSize+1000, Overhead+1000)
	frame := frameOf(1, make([]byte, 1000))
	dst := make([]byte, len(frame))
	var r *Reader
	var src bytes.Reader
	two := append(slices.Clone(frame), frame...)
	for name, f := range map[string]func() error{
		"Seal":     func() error { _, err := Seal(buf, 1); return err },
		"Open":     func() error { _, _, err := Open(frame, 0); return err },
		"OpenCopy": func() error { _, _, err := OpenCopy(dst, frame, 0); return err },
		"Split":    func() error { _, _, err := Split(two, 0); return err },
		"Next": func() error {
			src.Reset(two)
			if r == nil {
				r = NewReader(&src, 0)
			}
			if _, err := r.Next(); err != nil {
				return err
			}
			_, err := r.Next()
			return err
		},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestMalformedVectors(t *testing.T) {
	text, err := os.ReadFile("../codec/testdata/vectors/malformed.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Name, Class, Frame string }
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, c := range cases {
		frame, err := hex.DecodeString(c.Frame)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = Open(frame, 0)
		class := "other"
		if err != nil {
			class = "envelope"
			if kindOf(t, err).Kind == KindIncomplete {
				class = "incomplete"
			}
		}
		want := c.Class
		if want == "schema" || want == "message" {
			want = "other" // the envelope is fine
		}
		if class != want {
			t.Errorf("%s: class %s, want %s: %v", c.Name, class, want, err)
		}
		seen[class]++
	}
	if seen["envelope"] == 0 || seen["incomplete"] == 0 || seen["other"] == 0 {
		t.Errorf("vectors of each class: %v", seen)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(frameOf(1, []byte("message")), 0)
	f.Add(frameOf(1, nil), 100)
	f.Add([]byte("GRVN\x01\x10\x00\x00"), 5)
	f.Fuzz(func(t *testing.T, b []byte, limit int) {
		id, m, err := Open(b, limit)
		dst := make([]byte, len(b))
		id2, m2, err2 := OpenCopy(dst, b, limit)
		if (err == nil) != (err2 == nil) || id != id2 || !bytes.Equal(m, m2) {
			t.Fatalf("Open gives %x, % x, %v; OpenCopy %x, % x, %v", id, m, err, id2, m2, err2)
		}
		frame, rest, err3 := Split(b, limit)
		r := NewReader(iotest(b), limit)
		got, err4 := r.Next()
		if len(b) > 0 && (err3 == nil) != (err4 == nil) || !bytes.Equal(frame, got) {
			t.Fatalf("Split gives % x, %v; Next % x, %v", frame, err3, got, err4)
		}
		if err == nil && (err3 != nil || len(rest) != 0) {
			t.Fatalf("Open accepts what Split cuts to % x, % x, %v", frame, rest, err3)
		}
		if err != nil {
			kindOf(t, err)
			return
		}
		again, err := Seal(append(make([]byte, HeaderSize), m...), id)
		if err != nil {
			t.Fatal(err)
		}
		b[5] = 0 // flags that may be ignored are not written again
		if !bytes.Equal(again, reseal(b)) {
			t.Fatalf("sealed again: % x, was % x", again, b)
		}
	})
}
