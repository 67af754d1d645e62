package rpc

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Load is what a run of calls or of streamed messages took. Client and server are
// one process, so CPU time and allocations are those of both.
type Load struct {
	N       int // calls, or messages
	Elapsed time.Duration
	CPU     time.Duration // user and system time
	Allocs  uint64
	Bytes   uint64 // allocated
}

// usage is a point from which a Load is measured.
type usage struct {
	at     time.Time
	cpu    time.Duration
	memory runtime.MemStats
}

func now() (usage, error) {
	var u usage
	runtime.ReadMemStats(&u.memory)
	var err error
	if u.cpu, err = cpuTime(); err != nil {
		return u, err
	}
	u.at = time.Now()
	return u, nil
}

func (u usage) since(n int) (Load, error) {
	l := Load{N: n, Elapsed: time.Since(u.at)}
	cpu, err := cpuTime()
	if err != nil {
		return l, err
	}
	l.CPU = cpu - u.cpu
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.Allocs, l.Bytes = m.Mallocs-u.memory.Mallocs, m.TotalAlloc-u.memory.TotalAlloc
	return l, nil
}

func cpuTime() (time.Duration, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, err
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), nil
}

// WarmUp calls until a connection has its final window sizes and buffers: young
// TCP connections stall now and then on large messages.
func (c *Conn) WarmUp(d time.Duration) error {
	for t, i := time.Now(), 0; i < 100 || time.Since(t) < d; i++ {
		if err := c.Call(false); err != nil {
			return err
		}
	}
	return nil
}

// Throughput has callers call one after another for a while.
func (c *Conn) Throughput(callers int, d time.Duration) (Load, error) {
	u, err := now()
	if err != nil {
		return Load{}, err
	}
	var n atomic.Int64
	errs := make(chan error)
	end := u.at.Add(d)
	for range callers {
		go func() {
			for time.Now().Before(end) {
				if err := c.Call(false); err != nil {
					errs <- err
					return
				}
				n.Add(1)
			}
			errs <- nil
		}()
	}
	for range callers {
		if e := <-errs; e != nil {
			err = e
		}
	}
	if err != nil {
		return Load{}, err
	}
	return u.since(int(n.Load()))
}

// StreamFor has the server send streams of messages for a while.
func (c *Conn) StreamFor(d time.Duration) (Load, error) {
	u, err := now()
	if err != nil {
		return Load{}, err
	}
	n := 0
	for batch := 64; time.Since(u.at) < d; batch = min(2*batch, 4096) {
		if err := c.Stream(batch, false); err != nil {
			return Load{}, err
		}
		n += batch
	}
	return u.since(n)
}

// Latencies starts calls at a constant rate for a while, whether or not earlier
// ones have ended, and returns how long each took, in ascending order.
func (c *Conn) Latencies(rate float64, d time.Duration) ([]time.Duration, error) {
	n := int(rate * d.Seconds())
	took := make([]time.Duration, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
		}
		wg.Go(func() {
			t := time.Now()
			errs[i] = c.Call(false)
			took[i] = time.Since(t)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(took)
	return took, nil
}

// Percentile is the value that p percent of sorted latencies do not exceed.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	i := int(p / 100 * float64(len(sorted)))
	return sorted[min(i, len(sorted)-1)]
}
