// Package measure takes the samples of which reports are made. One process takes
// a few passes over everything; a report combines several processes, so that
// what differs from process to process (addresses, the state of the heap) is in
// its spread.
package measure

import (
	"runtime"
	"time"

	"github.com/graven-rpc/graven/interop/bench/cputime"
)

// Key says what a sample is of.
type Key struct {
	Part     Part
	Scenario string // or the message, or a number of bytes
	Op       string
	Peer     string
	Variant  string
}

// Part is a part of the report.
type Part string

// The parts.
const (
	Codec    Part = "codec"
	Checksum Part = "checksum"
	Calls    Part = "calls"
	Size     Part = "size"
)

// Metrics of a sample.
const (
	Time   = "ns"     // nanoseconds an operation takes, of CPU time
	CPU    = "cpu"    // nanoseconds of CPU time a call takes
	Allocs = "allocs" // objects allocated
	Bytes  = "bytes"  // bytes allocated; for sizes, bytes encoded
	Zlib   = "zlib"   // bytes encoded and compressed
	Zstd   = "zstd"
	Rate   = "rate" // calls or messages a second
	P50    = "p50"  // nanoseconds of latency
	P99    = "p99"
	P999   = "p999"
)

// Sample is what one pass found out about one thing.
type Sample struct {
	Key
	Pass    int
	Metrics map[string]float64
}

// cost is what one operation takes.
type cost struct{ ns, allocs, bytes float64 }

func (c cost) metrics() map[string]float64 {
	return map[string]float64{Time: c.ns, Allocs: c.allocs, Bytes: c.bytes}
}

// long is how long an operation may take before it is run only once.
const long = 100 * time.Millisecond

// least is how many times a sample repeats an operation that is not long, so that those that
// allocate much pay for about as many collections in each sample.
const least = 4

// sample runs an operation, which run does n times, for about d. Its time is CPU
// time, which other processes on the machine disturb less than the time of day.
func sample(d time.Duration, run func(n int)) cost {
	n := 1
	for {
		c, took := timed(n, run)
		if n == 1 && took > long {
			return c
		}
		if took >= d/4 {
			n = max(least, int(float64(n)*float64(d)/float64(took)))
			break
		}
		n *= 2
	}
	c, _ := timed(n, run)
	return c
}

func timed(n int, run func(n int)) (cost, time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cputime.Now()
	run(n)
	took := cputime.Now() - start
	runtime.ReadMemStats(&after)
	per := func(v uint64) float64 { return float64(v) / float64(n) }
	return cost{float64(took) / float64(n), per(after.Mallocs - before.Mallocs), per(after.TotalAlloc - before.TotalAlloc)}, took
}
