package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/graven"
	"github.com/graven-rpc/graven/interop/bench/peer/plain"
	"github.com/graven-rpc/graven/interop/bench/rpc"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// best is the best row of an implementation for some work.
type best struct {
	name, how string
	value     float64
}

// losses writes where another implementation beats Graven: for each scenario and
// operation, its fastest way against Graven's fastest.
func (d *document) losses() {
	d.p("## Where Graven loses\n")
	d.p("The fastest way of each implementation against Graven's fastest, where it is ahead by more than 3 %%; the three furthest ahead of each row.\n")
	d.p("| | | Graven | ahead of it |\n| --- | --- | ---: | --- |")
	n := 0
	for _, sc := range scenario.All {
		n += d.loss("size", sc.Name, d.sizesOf(sc.Name), func(v float64) string { return thousands(v) + " B" })
		for _, op := range peer.Ops {
			n += d.loss(string(op), sc.Name, d.fastest(sc.Name, op), nanoseconds)
		}
	}
	for _, m := range rpc.Messages() {
		for _, stack := range []string{rpc.GRPC + ", " + rpc.TCP, rpc.GRPC + ", " + rpc.Bufconn, rpc.Connect + ", " + rpc.TCP} {
			for _, op := range []string{measure.OneCaller, measure.ManyCallers, measure.Streaming} {
				n += d.loss("CPU time, "+op+", "+stack, m.Name, d.codecs(m.Name, stack, op, measure.CPU), nanoseconds)
			}
			n += d.loss("p99, "+stack, m.Name, d.codecs(m.Name, stack, measure.Latency, measure.P99), nanoseconds)
		}
	}
	if n == 0 {
		d.p("| nowhere | | | |")
	}
	d.p("")
}

func (d *document) loss(what, on string, all []best, text func(float64) string) int {
	slices.SortFunc(all, func(a, b best) int {
		return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.name, b.name))
	})
	ours := func(b best) bool { return strings.HasPrefix(b.name, graven.Peer.Name) }
	i := slices.IndexFunc(all, ours)
	if i < 0 {
		return 0
	}
	mine := all[i]
	var ahead []string
	for _, b := range all {
		if len(ahead) < 3 && !ours(b) && b.value < mine.value*(1-resolution) {
			how := b.name
			if b.how != "" {
				how += " (" + b.how + ")"
			}
			ahead = append(ahead, fmt.Sprintf("%s: %s, %.2f", how, text(b.value), b.value/mine.value))
		}
	}
	if len(ahead) == 0 {
		return 0
	}
	d.p("| %s | %s | %s | %s |", on, what, text(mine.value), strings.Join(ahead, "; "))
	return 1
}

// fastest lists each peer's fastest way. Reading one field competes with decoding
// where a format can do no less.
func (d *document) fastest(sc string, op peer.Op) []best {
	by := map[string]best{}
	for _, r := range d.rows {
		same := r.Op == string(op) || op == peer.ReadOne && r.Op == string(peer.Decode)
		if r.Part != measure.Codec || r.Scenario != sc || !same || r.Peer == plain.Peer.Name {
			continue
		}
		if b, ok := by[r.Peer]; !ok || r.Median[measure.Time] < b.value {
			by[r.Peer] = best{r.Peer, r.Variant, r.Median[measure.Time]}
		}
	}
	return values(by)
}

func (d *document) sizesOf(sc string) []best {
	by := map[string]best{}
	for _, r := range d.rows {
		if r.Part == measure.Size && r.Scenario == sc {
			by[r.Peer] = best{r.Peer, "", r.Median[measure.Bytes]}
		}
	}
	return values(by)
}

func (d *document) codecs(message, stack, op, metric string) []best {
	by := map[string]best{}
	for _, r := range d.rows {
		if r.Part == measure.Calls && r.Scenario == message && r.Peer == stack && r.Op == op && r.Variant != rpc.Floor {
			by[r.Variant] = best{r.Variant, "", r.Median[metric]}
		}
	}
	return values(by)
}

func values(m map[string]best) []best {
	var out []best
	for _, b := range m {
		out = append(out, b)
	}
	return out
}
