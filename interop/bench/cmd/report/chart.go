package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/graven"
	"github.com/graven-rpc/graven/interop/bench/rpc"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// chart is groups of horizontal bars, each group to a scale of its own. Bars have
// their values beside them and ours are solid where the others are hatched, so
// no colour needs to be seen.
type chart struct {
	file, title, subtitle string
	groups                []group
}

type group struct {
	label string
	bars  []bar
}

type bar struct {
	label, text string
	value       float64
	ours        bool
}

type theme struct{ name, ground, ink, faint, bar, ours string }

var themes = []theme{
	{"light", "#ffffff", "#1f2328", "#59636e", "#8c959f", "#0b5cad"},
	{"dark", "#0d1117", "#f0f6fc", "#9198a1", "#6e7681", "#79b8ff"},
}

// Measures of a chart, in pixels.
const (
	width     = 760
	labelEnd  = 190
	barStart  = 200
	barsEnd   = 640
	rowHeight = 22
	barHeight = 14
	groupGap  = 34
	top       = 62
)

func (c chart) svg(t theme) string {
	height := top
	for _, g := range c.groups {
		height += groupGap + rowHeight*len(g.bars)
	}
	height += 16
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-label="%s" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="13">`,
		width, height, width, height, escape(c.title))
	p(`<title>%s</title>`, escape(c.title))
	p(`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0v6" stroke="%s" stroke-width="3"/></pattern></defs>`, t.bar)
	p(`<rect width="%d" height="%d" fill="%s"/>`, width, height, t.ground)
	p(`<text x="16" y="28" font-size="17" font-weight="600" fill="%s">%s</text>`, t.ink, escape(c.title))
	p(`<text x="16" y="48" fill="%s">%s</text>`, t.faint, escape(c.subtitle))
	y := top
	for _, g := range c.groups {
		y += groupGap
		p(`<text x="16" y="%d" font-weight="600" fill="%s">%s</text>`, y-10, t.ink, escape(g.label))
		longest := 0.0
		for _, x := range g.bars {
			longest = max(longest, x.value)
		}
		for _, x := range g.bars {
			w := max(1, x.value/longest*(barsEnd-barStart))
			fill, weight := "url(#hatch)", "400"
			edge := t.bar
			if x.ours {
				fill, edge, weight = t.ours, t.ours, "700"
			}
			p(`<text x="%d" y="%d" text-anchor="end" font-weight="%s" fill="%s">%s</text>`, labelEnd, y+12, weight, t.ink, escape(x.label))
			p(`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" stroke="%s"/>`, barStart, y+1, w, barHeight, fill, edge)
			p(`<text x="%.1f" y="%d" font-weight="%s" fill="%s">%s</text>`, barStart+w+7, y+12, weight, t.ink, escape(x.text))
			y += rowHeight
		}
	}
	p(`</svg>`)
	return b.String()
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}

// charted are the peers of the charts; next to the others, bars of reflective
// formats would leave no room to tell these apart.
var charted = []string{graven.Peer.Name, "protobuf-go", "vtprotobuf", "hyperpb", "FlatBuffers", "Cap'n Proto", "msgp", "mus"}

func (d *document) charts() []chart {
	var out []chart
	for _, c := range []struct{ file, scenario string }{
		{"bank", scenario.Bank100}, {"frame", scenario.Frame500}, {"otlp", scenario.OTLP},
	} {
		ch := chart{file: c.file, title: c.scenario + ": time per message", subtitle: "The fastest way of each; shorter is better."}
		for _, g := range []struct {
			label string
			op    peer.Op
		}{{"Write", peer.Write}, {"Open and read every value", peer.ReadAll}, {"Decode into objects", peer.Decode}} {
			bars := d.timeBars(d.fastest(c.scenario, anyway, g.op), "")
			if g.op == peer.ReadAll {
				bars = append(bars, d.timeBars(d.fastest(c.scenario, anyway, peer.VerifyRead), ", verified")...)
			}
			ch.add(g.label, bars)
		}
		if len(ch.groups) > 0 {
			out = append(out, ch)
		}
	}
	sizes := chart{file: "sizes", title: "Bytes per message", subtitle: "Graven with its envelope and checksum; shorter is better."}
	for _, sc := range []string{scenario.Bank100, scenario.Frame500, scenario.Telem, scenario.Log10k, scenario.Savedata500, scenario.OTLP} {
		var bars []bar
		for _, b := range d.sizesOf(sc) {
			if slices.Contains(charted, b.name) && b.name != "vtprotobuf" { // whose bytes are protobuf-go's
				label := b.name
				if label == "protobuf-go" {
					label = "protobuf"
				}
				bars = append(bars, bar{label, thousands(b.value), b.value, b.name == graven.Peer.Name})
			}
		}
		sizes.add(sc, bars)
	}
	calls := chart{file: "calls", title: "CPU time per call, grpc-go over TCP",
		subtitle: "Unary echo, client and server together, 32 callers; shorter is better."}
	for _, m := range rpc.Messages() {
		var bars []bar
		for _, r := range d.rows {
			if r.Part == measure.Calls && r.Scenario == m.Name && r.Op == measure.ManyCallers && r.Peer == rpc.GRPC+", "+rpc.TCP {
				v := r.Median[measure.CPU]
				label := r.Variant
				if label == rpc.Floor {
					label = "floor (no codec)"
				}
				bars = append(bars, bar{label, nanoseconds(v), v, strings.HasPrefix(r.Variant, "Graven")})
			}
		}
		calls.add(m.Name, bars)
	}
	for _, c := range []chart{sizes, calls} {
		if len(c.groups) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// add appends a group, shortest bar first, if there is anything in it.
func (c *chart) add(label string, bars []bar) {
	if len(bars) == 0 {
		return
	}
	slices.SortFunc(bars, func(a, b bar) int {
		return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.label, b.label))
	})
	c.groups = append(c.groups, group{label, bars})
}

func (d *document) timeBars(all []best, suffix string) []bar {
	var out []bar
	for _, b := range all {
		if slices.Contains(charted, b.name) {
			out = append(out, bar{b.name + suffix, nanoseconds(b.value), b.value, b.name == graven.Peer.Name})
		}
	}
	return out
}
