package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/rpc"
)

// Kinds of things that a process measures.
const (
	sizes     = "sizes"
	codecs    = "codecs"
	checksums = "checksums"
	calls     = "calls"
	latencies = "latencies"
)

// line is what a child prints: a sample, or a step that is done.
type line struct {
	Sample *measure.Sample `json:",omitempty"`
	Step   bool            `json:",omitempty"`
}

// runChild measures one kind of thing and prints lines.
func runChild(kind string, first int, rates string, p plan) error {
	match, err := p.match()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(os.Stdout)
	enc := json.NewEncoder(w)
	var broken error
	say := func(l line) {
		if err := enc.Encode(l); err != nil {
			broken = err
		}
	}
	o := measure.Options{
		First: first, Passes: p.passes(kind), Sample: p.sample(), Call: p.call(), Latency: p.latency(), Match: match,
		Emit: func(s measure.Sample) { say(line{Sample: &s}) },
		Advance: func() {
			say(line{Step: true})
			if err := w.Flush(); err != nil {
				broken = err
			}
		},
	}
	if err := json.Unmarshal([]byte(rates), &o.Rates); err != nil {
		return err
	}
	switch kind {
	case codecs:
		measure.Codecs(o)
	case sizes:
		measure.Sizes(o)
	case checksums:
		measure.Checksums(o)
	case calls:
		err = measure.RPCs(o)
	case latencies:
		err = measure.Latencies(o)
	default:
		err = fmt.Errorf("no kind %q", kind)
	}
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = broken
	}
	return err
}

// job is one process to be started.
type job struct {
	kind  string
	first int // number of its first pass
}

// steps is how many steps the process will say it has done.
func (j job) steps(p plan) int {
	n := measure.CodecSteps()
	switch j.kind {
	case checksums:
		n = len(measure.ChecksumSizes)
	case calls, latencies:
		n = measure.CallSteps()
	}
	return n * p.passes(j.kind)
}

// collect starts the processes one after another and returns their samples.
func collect(p plan) ([]measure.Sample, error) {
	jobs := []job{{sizes, 0}}
	for i := range p.processes() {
		for _, kind := range []string{codecs, checksums, calls} {
			jobs = append(jobs, job{kind, i * p.passes(kind)})
		}
	}
	for i := range p.processes() {
		jobs = append(jobs, job{latencies, i * p.passes(latencies)})
	}
	pr := newProgress()
	for _, j := range jobs {
		pr.total += j.steps(p)
	}
	var out []measure.Sample
	for _, j := range jobs {
		got, err := j.run(p, callRates(out), pr)
		if err != nil {
			return nil, fmt.Errorf("measuring %s: %w", j.kind, err)
		}
		out = append(out, got...)
	}
	pr.done()
	native, err := measureNative(p)
	if err != nil {
		return nil, err
	}
	return append(out, native...), nil
}

func (j job) run(p plan, rates map[string]float64, pr *progress) ([]measure.Sample, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, err := json.Marshal(rates)
	if err != nil {
		return nil, err
	}
	args := []string{"-child", j.kind, "-first", strconv.Itoa(j.first), "-rates", string(r), "-only", p.only}
	if p.quick {
		args = append(args, "-quick")
	}
	cmd := exec.Command(exe, args...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var out []measure.Sample
	dec := json.NewDecoder(stdout)
	for dec.More() {
		var l line
		if err := dec.Decode(&l); err != nil {
			break // the process failed, and Wait says how
		}
		if l.Sample != nil {
			out = append(out, *l.Sample)
		}
		if l.Step {
			pr.step(j.kind)
		}
	}
	return out, cmd.Wait()
}

// callRates is a third of what protobuf over grpc-go managed with 32 callers, for
// each message, to two digits: a load that no codec of the table is swamped by.
func callRates(samples []measure.Sample) map[string]float64 {
	all := map[string][]float64{}
	for _, s := range samples {
		if s.Part == measure.Calls && s.Op == measure.ManyCallers && s.Peer == rpc.GRPC+", "+rpc.TCP && s.Variant == rpc.Protobuf {
			all[s.Scenario] = append(all[s.Scenario], s.Metrics[measure.Rate])
		}
	}
	out := map[string]float64{}
	for m, v := range all {
		slices.Sort(v)
		third := v[len(v)/2] / 3
		digit := math.Pow(10, math.Floor(math.Log10(third))-1)
		out[m] = math.Round(third/digit) * digit
	}
	return out
}

// progress is a line on standard error that says how far the work is.
type progress struct {
	start    time.Time
	n, total int
	shown    time.Time
	terminal bool
}

// Standard error that is no terminal gets a line now and then.
func newProgress() *progress {
	fi, err := os.Stderr.Stat()
	return &progress{start: time.Now(), terminal: err == nil && fi.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) step(kind string) {
	p.n++
	every, format := 200*time.Millisecond, "\r%3d%%  %-10s %v "
	if !p.terminal {
		every, format = 10*time.Second, "%3d%%  %-10s %v\n"
	}
	if time.Since(p.shown) < every && p.n < p.total {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(os.Stderr, format, 100*p.n/p.total, kind, time.Since(p.start).Round(time.Second))
}

func (p *progress) done() {
	if p.terminal {
		fmt.Fprintln(os.Stderr)
	}
}
