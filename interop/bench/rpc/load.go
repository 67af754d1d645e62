package rpc

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/graven-rpc/graven/interop/bench/cputime"
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

func now() usage {
	var u usage
	runtime.ReadMemStats(&u.memory)
	u.cpu = cputime.Now()
	u.at = time.Now()
	return u
}

func (u usage) since(n int) Load {
	l := Load{N: n, Elapsed: time.Since(u.at), CPU: cputime.Now() - u.cpu}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	l.Allocs, l.Bytes = m.Mallocs-u.memory.Mallocs, m.TotalAlloc-u.memory.TotalAlloc
	return l
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
	u := now()
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
	var err error
	for range callers {
		if e := <-errs; e != nil {
			err = e
		}
	}
	if err != nil {
		return Load{}, err
	}
	return u.since(int(n.Load())), nil
}

// StreamFor has the server send streams of messages for a while.
func (c *Conn) StreamFor(d time.Duration) (Load, error) {
	u := now()
	n := 0
	for batch := 64; time.Since(u.at) < d; batch = min(2*batch, 4096) {
		if err := c.Stream(batch, false); err != nil {
			return Load{}, err
		}
		n += batch
	}
	return u.since(n), nil
}

// maxInFlight is below the 250 streams that an HTTP/2 server of net/http allows on a
// connection, beyond which its client dials another one for every call that waits.
const maxInFlight = 128

// Latencies starts calls at a constant rate for a while, whether or not earlier
// ones have ended, and returns how long each took, in ascending order. A call that can't
// start when it is due, since maxInFlight others have not ended, is counted from then.
func (c *Conn) Latencies(rate float64, d time.Duration) ([]time.Duration, error) {
	n := int(rate * d.Seconds())
	took := make([]time.Duration, n)
	errs := make([]error, n)
	inFlight := make(chan struct{}, maxInFlight)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		due := start.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
			due = time.Now() // the timer's lateness is not the call's
		}
		inFlight <- struct{}{}
		wg.Go(func() {
			errs[i] = c.Call(false)
			took[i] = time.Since(due)
			<-inFlight
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
