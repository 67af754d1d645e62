package pool

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestClasses(t *testing.T) {
	last := 0
	for class := range classes {
		size := sizeOf(class)
		if size <= last {
			t.Fatalf("class %d has %d bytes, the one before it %d", class, size, last)
		}
		for _, n := range []int{last + 1, (last + size + 1) / 2, size} {
			if got := classOf(n); got != class {
				t.Errorf("%d bytes: class %d (%d bytes), want %d (%d)", n, got, sizeOf(got), class, size)
			}
			if n > 64 && size > n+n/4 {
				t.Errorf("%d bytes get %d", n, size)
			}
		}
		last = size
	}
	if last != MaxPooled || classOf(0) != 0 {
		t.Errorf("largest class %d bytes, class of nothing %d", last, classOf(0))
	}
}

func TestGetAndPut(t *testing.T) {
	var p Pool
	for _, n := range []int{0, 1, 64, 65, 1000, 1024, 1025, 33000, 300_000, MaxPooled, MaxPooled + 1} {
		b := p.Get(n)
		if len(*b) != n {
			t.Errorf("%d bytes: got %d", n, len(*b))
		}
		want := n
		if n <= MaxPooled {
			want = sizeOf(classOf(n))
		}
		if cap(*b) != want {
			t.Errorf("%d bytes: a capacity of %d, want %d", n, cap(*b), want)
		}
		p.Put(b)
		p.Put(&[]byte{})
	}
}

// A buffer that another use has grown must not come back as one of a smaller class.
func TestPutOfForeignBuffers(t *testing.T) {
	var p Pool
	for range 100 {
		b := make([]byte, 10, 1000)
		p.Put(&b)
		if got := p.Get(700); cap(*got) != 768 {
			t.Fatalf("a buffer of %d bytes for 700", cap(*got))
		}
		if got := p.Get(1000); cap(*got) != 1024 {
			t.Fatalf("a buffer of %d bytes for 1000", cap(*got))
		}
	}
}

func TestPoison(t *testing.T) {
	p := Pool{Poison: true}
	s := p.Get(5000)
	kept := (*s)[:cap(*s)]
	p.Put(s)
	b := p.NewBuffer(5000)
	held := b.Bytes()[:cap(b.Bytes())]
	b.Free()
	for _, got := range [][]byte{kept, held} {
		if want := bytes.Repeat([]byte{PoisonByte}, 5120); !bytes.Equal(got, want) {
			t.Error("a freed buffer was not overwritten")
		}
	}
}

func TestBuffer(t *testing.T) {
	p := Pool{Poison: true}
	b := p.NewBuffer(100)
	if len(b.Bytes()) != 100 || cap(b.Bytes()) != 112 {
		t.Fatalf("%d bytes of %d", len(b.Bytes()), cap(b.Bytes()))
	}
	held := b.Bytes()
	copy(held, "content")
	b.Ref()
	b.Free()
	if string(b.Bytes()[:7]) != "content" {
		t.Fatalf("freed while there was another reference: %q", b.Bytes())
	}
	b.Free()
	if held[0] != PoisonByte {
		t.Error("the last Free did not give the memory back")
	}

	var none Buffer
	none.Ref()
	none.Free()
	if none.Bytes() != nil {
		t.Error("the zero Buffer has bytes")
	}

	large := p.NewBuffer(MaxPooled + 1)
	if len(large.Bytes()) != MaxPooled+1 {
		t.Errorf("%d bytes", len(large.Bytes()))
	}
	large.Free()
}

// Whatever the holder of a void Buffer does, the memory's next user is safe.
func TestVoidBuffer(t *testing.T) {
	if Debug {
		t.Skip("panics in debug mode")
	}
	p := Pool{Poison: true}
	again := 0
	for range 1000 {
		old := p.NewBuffer(100)
		old.Free()
		b := p.NewBuffer(100)
		if b.block == old.block {
			again++
		}
		old.Free()
		old.Ref()
		old.Free()
		old.Free()
		if old.Bytes() != nil {
			t.Fatal("a void buffer has bytes")
		}
		copy(b.Bytes(), "mine")
		other := p.NewBuffer(100)
		if other.block == b.block {
			t.Fatal("one block was handed out twice")
		}
		if string(b.Bytes()[:4]) != "mine" {
			t.Fatalf("overwritten: %q", b.Bytes())
		}
		b.Free()
		other.Free()
	}
	if again == 0 {
		t.Error("no memory was used again")
	}
}

func TestDebugPanics(t *testing.T) {
	if !Debug {
		t.Skip("needs the build tag gravendebug")
	}
	for name, use := range map[string]func(Buffer){
		"Bytes": func(b Buffer) { b.Bytes() },
		"Ref":   Buffer.Ref,
		"Free":  Buffer.Free,
	} {
		b := Default.NewBuffer(100)
		b.Free()
		func() {
			defer func() {
				s, _ := recover().(string)
				if !strings.Contains(s, name) || !strings.Contains(s, "TestDebugPanics") || !strings.Contains(s, "pool_test.go") {
					t.Errorf("%s: panic says %q", name, s)
				}
			}()
			use(b)
			t.Errorf("%s on a void buffer did not panic", name)
		}()
	}
}

func TestConcurrentUse(t *testing.T) {
	p := Pool{Poison: true}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 1))
			for range 500 {
				n := rng.IntN(5000) + 1
				b := p.NewBuffer(n)
				for i := range b.Bytes() {
					b.Bytes()[i] = byte(w)
				}
				var readers sync.WaitGroup
				for range 3 {
					b.Ref()
					readers.Go(func() {
						if bytes.Count(b.Bytes(), []byte{byte(w)}) != n {
							t.Error("bytes changed while they were held")
						}
						b.Free()
					})
				}
				b.Free()
				s := p.Get(n)
				for i := range *s {
					(*s)[i] = byte(w)
				}
				runtime.Gosched()
				if bytes.Count(*s, []byte{byte(w)}) != n {
					t.Error("a slice has two users")
				}
				p.Put(s)
				readers.Wait()
			}
		})
	}
	workers.Wait()
}

func TestAllocations(t *testing.T) {
	if Debug {
		t.Skip("buffers are not used again in debug mode")
	}
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop some of what is put back")
	}
	var p Pool
	if n := testing.AllocsPerRun(1000, func() { p.Put(p.Get(5000)) }); n > 0.05 {
		t.Errorf("Get and Put: %v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() {
		b := [4]Buffer{p.NewBuffer(100), p.NewBuffer(100), p.NewBuffer(100), p.NewBuffer(100)}
		for _, b := range b {
			b.Ref()
			b.Free()
			b.Free()
		}
	}); n > 0.05 {
		t.Errorf("four buffers: %v allocations", n)
	}
}

func BenchmarkGetPut(b *testing.B) {
	var p Pool
	for b.Loop() {
		p.Put(p.Get(33000))
	}
}

func BenchmarkNewBufferFree(b *testing.B) {
	var p Pool
	for b.Loop() {
		p.NewBuffer(33000).Free()
	}
}
