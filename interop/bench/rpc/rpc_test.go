package rpc

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Every codec's echo equals what was sent, called once after another, by several
// callers at once, and in streams.
func TestEcho(t *testing.T) {
	for _, cfg := range Configs() {
		conn, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := conn.Call(true); err != nil {
				t.Fatalf("%s, %s, %s, %s: %v", cfg.Stack, cfg.Transport, cfg.Codec, cfg.Message.Name, err)
			}
		}
		errs := make(chan error)
		const callers = 8
		for range callers {
			go func() {
				for range 10 {
					if err := conn.Call(true); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		for range callers {
			if err := <-errs; err != nil {
				t.Errorf("%s, %s, %s, %s, at once: %v", cfg.Stack, cfg.Transport, cfg.Codec, cfg.Message.Name, err)
			}
		}
		if err := conn.Stream(30, true); err != nil {
			t.Errorf("%s, %s, %s, %s, stream: %v", cfg.Stack, cfg.Transport, cfg.Codec, cfg.Message.Name, err)
		}
		conn.Close()
	}
}

func TestClasses(t *testing.T) {
	last, lastSize := -1, 0
	for n := 0; n <= 1<<20; n++ {
		c, size := class(n)
		if size < n || c < last || (size > 64 && size-n > size/4) {
			t.Fatalf("%d bytes get class %d of %d bytes", n, c, size)
		}
		if c != last && (c != last+1 || size <= lastSize) {
			t.Fatalf("class %d of %d bytes follows class %d of %d", c, size, last, lastSize)
		}
		last, lastSize = c, size
	}
}

// The loads count what they did.
func TestLoads(t *testing.T) {
	cfg := Config{GRPC, Bufconn, Protobuf, Messages()[0]}
	conn, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.WarmUp(0); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() (Load, error){
		"throughput": func() (Load, error) { return conn.Throughput(4, 20*time.Millisecond) },
		"stream":     func() (Load, error) { return conn.StreamFor(20 * time.Millisecond) },
	} {
		l, err := f()
		if err != nil {
			t.Fatal(err)
		}
		if l.N == 0 || l.Elapsed < 20*time.Millisecond || l.CPU <= 0 || l.Allocs == 0 || l.Bytes == 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	took, err := conn.Latencies(1000, 50*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(took) != 50 || took[0] <= 0 || !slices.IsSorted(took) {
		t.Errorf("latencies: %v", took)
	}
	if p := Percentile(took, 50); p != took[25] {
		t.Errorf("p50 is %v, want %v", p, took[25])
	}
	if p := Percentile(took, 99.9); p != took[49] {
		t.Errorf("p99.9 is %v, want %v", p, took[49])
	}
}

// TestOverload holds that calls that are due faster than they end don't pile up.
func TestOverload(t *testing.T) {
	var now, most atomic.Int64
	conn := &Conn{Call: func(bool) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return nil
	}}
	took, err := conn.Latencies(1e6, 2*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(took) != 2000 || most.Load() > maxInFlight {
		t.Errorf("%d calls, at most %d at a time", len(took), most.Load())
	}
	// The last ones were due 15 turns of a millisecond before they ended.
	if took[len(took)-1] < 10*time.Millisecond {
		t.Errorf("the slowest took %v, as if it had not waited", took[len(took)-1])
	}
}
