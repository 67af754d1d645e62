package codec_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/viewtest"
)

// damaged is a frame with some bytes changed and the CRC made right again.
func damaged(r *rand.Rand, frame []byte) []byte {
	b := bytes.Clone(frame)
	for range 1 + r.IntN(3) {
		i := 20 + r.IntN(len(b)-24)
		switch r.IntN(4) {
		case 0:
			b[i] ^= 1 << r.IntN(8)
		case 1:
			b[i] = byte(r.Uint32())
		case 2:
			b[i] = []byte{0, 1, 0x7F, 0x80, 0xFF}[r.IntN(5)]
		default:
			b[i]++
		}
	}
	return corpus.Reseal(b)
}

// room is memory between pages that can't be read.
func room(t testing.TB, size int) []byte {
	t.Helper()
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	return mem[page : page+size : page+size]
}

// Damage behind a right CRC, in frames of the reader's version of the schema and of another: what Open takes, every getter can be called on, gives what
// decoding gives, and reads nothing outside the frame.
func TestViewsOfDamage(t *testing.T) {
	mem := room(t, 1<<16)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	taken, n := 0, rounds(20_000, 1_000_000)
	r := rand.New(rand.NewPCG(1, 7))
	var frame []byte
	var typ *viewtest.Type
	for i := range n {
		if i%20 == 0 {
			for frame = nil; len(frame) < 26 || len(frame) > len(mem); {
				typ = &viewTypes[r.IntN(len(viewTypes))]
				writer := typ
				if other := otherVersion(typ); other != nil && r.IntN(2) == 0 {
					writer = other
				}
				b, err := codec.Options{AllowPartial: true}.Marshal(random(r, writer))
				if err != nil {
					t.Fatal(err)
				}
				frame = resealed(t, b, typ.New())
			}
		}
		bad := damaged(r, frame)
		// At the end of memory, and at its beginning.
		at := mem[:len(bad):len(bad)]
		if i%2 == 0 {
			at = mem[len(mem)-len(bad):]
		}
		copy(at, bad)
		o := codec.Options{AllowPartial: true, Budget: 64 << 20}
		f, err := typ.Open(at, o)
		if err != nil {
			continue
		}
		taken++
		want := typ.New()
		if err := o.Unmarshal(bad, want); errors.Is(err, codec.ErrMalformed) && f.Err() == nil {
			// What extensions hold is looked into when the ordinary message is made.
			if proto.Size(f); f.Err() == nil {
				t.Fatalf("%s: Open takes %x, Unmarshal: %v", typ.Name, bad, err)
			}
			continue
		} else if err != nil {
			t.Fatalf("%s: Open takes %x, Unmarshal: %v", typ.Name, bad, err)
		}
		got := typ.New()
		viewtest.Rebuild(f.View(), got.ProtoReflect())
		want = copyOf(t, want)
		withoutResidue(want.ProtoReflect())
		asInline(want.ProtoReflect())
		viewtest.Quiet(want.ProtoReflect())
		if d := corpus.Diff(want, got); d != "" {
			t.Fatalf("%s: %x\n%s", typ.Name, bad, d)
		}
		_ = f.String()
	}
	t.Logf("%d of %d taken", taken, n)
	if taken < n/10 {
		t.Errorf("%d of %d taken: this tests little", taken, n)
	}
}

// Frames that change after they were opened: getters may give anything, from inside the
// frame.
func TestViewsOfChangedFrames(t *testing.T) {
	mem := room(t, 1<<16)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(2, 8))
	for range rounds(1000, 100_000) {
		typ := &viewTypes[r.IntN(len(viewTypes))]
		frame, err := codec.Options{AllowPartial: true}.Marshal(random(r, typ))
		if err != nil {
			t.Fatal(err)
		}
		if len(frame) < 30 || len(frame) > len(mem) {
			continue
		}
		at := mem[len(mem)-len(frame):]
		copy(at, frame)
		f, err := typ.Open(at, codec.Options{AllowPartial: true})
		if err != nil {
			t.Fatalf("%s: %v\n%x %v", typ.Name, err, frame, codec.Options{AllowPartial: true}.Unmarshal(frame, typ.New()))
		}
		view := f.View()
		for range 1 + len(frame)/8 {
			at[24+r.IntN(len(at)-28)] = byte(r.Uint32() >> r.IntN(8))
		}
		if r.IntN(4) == 0 {
			for i := range at {
				at[i] = []byte{0, 0xDB, 0xFF}[len(frame)%3]
			}
		}
		viewtest.Touch(view, 1500)
		m := typ.New()
		if v, ok := view.(interface{ As(proto.Message) error }); ok {
			_ = v.As(m)
		} else {
			callMessage(view)
		}
	}
}
