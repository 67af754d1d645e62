package crc32c

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// guarded returns n bytes, a multiple of the size of a page, with unmapped pages on
// both sides.
func guarded(t *testing.T, n int) []byte {
	page := os.Getpagesize()
	m, err := unix.Mmap(-1, 0, n+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, end := range [][]byte{m[:page], m[page+n:]} {
		if err := unix.Mprotect(end, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return m[page : page+n : page+n]
}

// TestPages checks and copies inputs that start right behind an unmapped page, and ones
// that end right before one.
func TestPages(t *testing.T) {
	page := os.Getpagesize()
	buf, dst := guarded(t, 20*page), guarded(t, 20*page)
	for i := range buf {
		buf[i] = byte(i * 11)
	}
	lengths := []int{3000, 5000, page, 16*page - 1, 16 * page, 20 * page}
	for n := range 1200 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for _, at := range []int{0, len(buf) - n} {
			p := buf[at : at+n]
			want := bitwise(7, p)
			for _, path := range everyPath() {
				if n < path.min {
					continue
				}
				if got := path.call(7, p); got != want {
					t.Fatalf("%s: %d bytes at %d: got %08x, want %08x", path.name, n, at, got, want)
				}
			}
			for _, path := range everyCopy() {
				if n < path.min || n > path.max {
					continue
				}
				for _, to := range []int{0, len(dst) - n} {
					if got := path.call(dst[to:to+n], p, 7); got != want || string(dst[to:to+n]) != string(p) {
						t.Fatalf("%s: %d bytes from %d to %d: got %08x, want %08x", path.name, n, at, to, got, want)
					}
				}
			}
		}
	}
}
