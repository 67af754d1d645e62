package codec_test

import (
	"bytes"
	"os"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// Frames that end where memory ends, and begin where it begins: one byte read
// outside is a fault.
func TestNothingIsReadOutside(t *testing.T) {
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	}()
	for _, guard := range [][]byte{mem[:page], mem[3*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	room := mem[page : 3*page]
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	try := func(frame []byte, s sample) {
		t.Helper()
		if len(frame) > len(room) {
			t.Fatalf("a frame of %d bytes", len(frame))
		}
		for _, at := range []int{0, len(room) - len(frame)} {
			in := room[at : at+len(frame) : at+len(frame)]
			copy(in, frame)
			m := empty(s.m)
			_ = codec.Options{AllowPartial: true, Budget: 16 << 20}.Unmarshal(in, m)
			if !bytes.Equal(in, frame) {
				t.Fatal("Unmarshal changed the frame")
			}
		}
	}
	for _, s := range samples(t) {
		try(s.frame, s)
		for n := range s.frame {
			try(s.frame[:n], s)
			if n >= 24 {
				try(corpus.Reseal(s.frame[:n]), s)
			}
		}
		for i := 20; i < len(s.frame)-4; i++ {
			for _, b := range []byte{0, 1, 3, 0x7F, 0x80, 0xFF} {
				frame := bytes.Clone(s.frame)
				frame[i] = b
				try(corpus.Reseal(frame), s)
			}
		}
	}
}
