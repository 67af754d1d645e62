package measure

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/peers"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Options say how much to measure.
type Options struct {
	First   int           // number of the first pass
	Passes  int           // how many passes
	Sample  time.Duration // how long a sample runs, about
	Call    time.Duration // how long a run of calls takes
	Latency time.Duration // how long calls are made at a constant rate
	Match   func(Key) bool
	Rates   map[string]float64 // calls a second for latencies, by message
	Emit    func(Sample)
	Advance func() // called after each of Steps
}

func (o Options) emit(pass int, k Key, m map[string]float64) {
	o.Emit(Sample{k, pass, m})
}

// liveHeap is how much memory is in use besides what is measured, as in a program
// of some size: a tiny heap would be collected every few megabytes, and its
// collections would decide what decoding costs. It holds no pointers, so a
// collection costs little more than with none.
const liveHeap = 64 << 20

// CodecSteps is how many times Codecs advances in one pass.
func CodecSteps() int { return len(scenario.All) * len(peers.All) }

// Codecs measures every case of every peer on every scenario. It runs on one
// processor, so that collecting garbage is paid for and not done beside.
func Codecs(o Options) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	heap := make([]byte, liveHeap)
	defer runtime.KeepAlive(heap)
	for pass := o.First; pass < o.First+o.Passes; pass++ {
		order := rand.New(rand.NewPCG(uint64(pass), 1)).Perm(len(peers.All))
		for _, sc := range scenario.All {
			m := sc.New(1)
			for _, i := range order {
				measurePeer(o, pass, sc, m, peers.All[i])
				o.Advance()
			}
		}
	}
}

func measurePeer(o Options, pass int, sc scenario.Scenario, m scenario.Message, p peer.Peer) {
	if !o.Match(Key{Codec, sc.Name, "", p.Name, ""}) {
		return
	}
	in := p.Setup(m)
	if in == nil {
		return
	}
	runtime.GC()
	for _, c := range in.Cases {
		buf := in.Encoded
		if c.Input != nil {
			buf = c.Input
		}
		o.emit(pass, Key{Codec, sc.Name, string(c.Op), p.Name, c.Variant}, sample(o.Sample, runner(c, buf)).metrics())
	}
}

func runner(c peer.Case, buf []byte) func(int) {
	switch {
	case c.Write != nil:
		return func(n int) {
			var p []byte
			for range n {
				p = c.Write()
			}
			runtime.KeepAlive(p)
		}
	case c.Update != nil:
		buf = append([]byte{}, buf...)
		return func(n int) {
			for range n {
				c.Update(buf)
			}
		}
	default:
		return func(n int) {
			var sum uint64
			for range n {
				sum += c.Read(buf)
			}
			runtime.KeepAlive(sum)
		}
	}
}
