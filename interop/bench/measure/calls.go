package measure

import (
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/graven-rpc/graven/interop/bench/rpc"
)

// Operations of calls.
const (
	OneCaller   = "1 caller"
	ManyCallers = "32 callers"
	Streaming   = "server stream"
	Latency     = "latency at a constant rate"
)

func callKey(c rpc.Config, op string) Key {
	return Key{Calls, c.Message.Name, op, c.Stack + ", " + c.Transport, c.Codec}
}

func loadMetrics(l rpc.Load) map[string]float64 {
	n := float64(max(l.N, 1))
	return map[string]float64{
		Rate: float64(l.N) / l.Elapsed.Seconds(), CPU: float64(l.CPU) / n,
		Allocs: float64(l.Allocs) / n, Bytes: float64(l.Bytes) / n,
	}
}

// CallSteps is how many times RPCs advances in one pass.
func CallSteps() int { return len(rpc.Configs()) }

// RPCs measures throughput and streams of all stacks and codecs.
func RPCs(o Options) error {
	cfgs := rpc.Configs()
	for pass := o.First; pass < o.First+o.Passes; pass++ {
		for _, i := range rand.New(rand.NewPCG(uint64(pass), 2)).Perm(len(cfgs)) {
			if err := calls(o, pass, cfgs[i]); err != nil {
				return err
			}
			o.Advance()
		}
	}
	return nil
}

func calls(o Options, pass int, cfg rpc.Config) error {
	if !o.Match(callKey(cfg, "")) {
		return nil
	}
	runtime.GC()
	conn, err := rpc.Open(cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.WarmUp(o.Call / 2); err != nil {
		return err
	}
	for _, l := range []struct {
		op  string
		run func() (rpc.Load, error)
	}{
		{OneCaller, func() (rpc.Load, error) { return conn.Throughput(1, o.Call) }},
		{ManyCallers, func() (rpc.Load, error) { return conn.Throughput(32, o.Call) }},
		{Streaming, func() (rpc.Load, error) { return conn.StreamFor(o.Call) }},
	} {
		load, err := l.run()
		if err != nil {
			return err
		}
		o.emit(pass, callKey(cfg, l.op), loadMetrics(load))
	}
	return nil
}

// Latencies measures latency over TCP at the rates that o has.
func Latencies(o Options) error {
	cfgs := rpc.Configs()
	for pass := o.First; pass < o.First+o.Passes; pass++ {
		for _, i := range rand.New(rand.NewPCG(uint64(pass), 3)).Perm(len(cfgs)) {
			o.Advance()
			if err := latency(o, pass, cfgs[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func latency(o Options, pass int, cfg rpc.Config) error {
	rate := o.Rates[cfg.Message.Name]
	if cfg.Transport != rpc.TCP || rate == 0 || !o.Match(callKey(cfg, "")) {
		return nil
	}
	runtime.GC()
	conn, err := rpc.Open(cfg)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.WarmUp(o.Call / 2); err != nil {
		return err
	}
	took, err := conn.Latencies(rate, o.Latency)
	if err != nil {
		return err
	}
	at := func(p float64) float64 { return float64(rpc.Percentile(took, p) / time.Nanosecond) }
	o.emit(pass, callKey(cfg, Latency), map[string]float64{Rate: rate, P50: at(50), P99: at(99), P999: at(99.9)})
	return nil
}
