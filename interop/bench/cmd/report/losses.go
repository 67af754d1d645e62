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

// contest is some work that implementations are compared in, by rows that begin
// from, or end in, the same thing.
type contest struct {
	name string
	ops  []peer.Op
	has  func(variant string) bool
}

// contests are what losses looks at.
var contests = []contest{
	{"write messages", []peer.Op{peer.Write}, fromMessages},
	{"write structs", []peer.Op{peer.Write}, func(v string) bool { return !fromMessages(v) }},
	{"read all, in place", []peer.Op{peer.ReadAll}, inPlace},
	{"read all, decoded", []peer.Op{peer.ReadAll}, func(v string) bool { return !inPlace(v) }},
	{"verify and read all, in place", []peer.Op{peer.VerifyRead}, inPlace},
	{"decode", []peer.Op{peer.Decode}, anyway},
	// Decoding is no less than what some formats have to do for one field.
	{"read one field", []peer.Op{peer.ReadOne, peer.Decode}, anyway},
	{"update in place", []peer.Op{peer.Update}, anyway},
}

func fromMessages(variant string) bool { return strings.HasPrefix(variant, "message") }

// inPlace says that a way to read makes no objects of its own. Cap'n Proto's packed form has
// to be unpacked first, which is its only way.
func inPlace(variant string) bool {
	return strings.HasPrefix(variant, "view") || strings.HasPrefix(variant, "unpack")
}

func anyway(string) bool { return true }

// losses writes where another implementation beats Graven: for each scenario and
// contest, its fastest way against Graven's fastest.
func (d *document) losses() {
	d.p("## Where Graven loses\n")
	d.p("The fastest way of each implementation against Graven's fastest, where it is ahead by more than 3 %%; the three furthest ahead of each row. " +
		"Like is compared with like: writing from protobuf's structs with that, writers with what other formats write plain structs with, views with what others read in place, " +
		"decoding with decoding. Graven always has its envelope and checksum here.\n")
	d.p("| | | Graven | ahead of it |\n| --- | --- | ---: | --- |")
	n := 0
	for _, sc := range scenario.All {
		n += d.loss("size", sc.Name, d.sizesOf(sc.Name), func(v float64) string { return thousands(v) + " B" })
		for _, c := range contests {
			n += d.loss(c.name, sc.Name, d.fastest(sc.Name, c.has, c.ops...), nanoseconds)
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

// fastest lists each peer's fastest way among those that has takes. Graven's ways without
// its envelope are not offered to users and do not count.
func (d *document) fastest(sc string, has func(variant string) bool, ops ...peer.Op) []best {
	by := map[string]best{}
	for _, r := range d.rows {
		if r.Part != measure.Codec || r.Scenario != sc || !slices.Contains(ops, peer.Op(r.Op)) || !has(r.Variant) ||
			r.Peer == plain.Peer.Name || r.Peer == graven.Peer.Name && strings.HasSuffix(r.Variant, graven.Bare) {
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
