package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/graven"
	"github.com/graven-rpc/graven/interop/bench/peer/peers"
	"github.com/graven-rpc/graven/interop/bench/rpc"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// document is the report.
type document struct {
	*results
	machine machine
	plan    plan
	begin   time.Time
	took    time.Duration
	b       strings.Builder
}

// write makes RESULTS.md, results.json and the charts in a folder.
func (d *document) write(dir string) error {
	charts := d.charts()
	d.text(charts)
	if err := os.WriteFile(filepath.Join(dir, "RESULTS.md"), []byte(d.b.String()), 0o644); err != nil {
		return err
	}
	j, err := json.MarshalIndent(d.rows, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "results.json"), append(j, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "charts"), 0o755); err != nil {
		return err
	}
	for _, c := range charts {
		for _, th := range themes {
			if err := os.WriteFile(filepath.Join(dir, "charts", c.file+"-"+th.name+".svg"), []byte(c.svg(th)), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *document) p(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

func (d *document) text(charts []chart) {
	d.p("# Results\n")
	how := "go run ./cmd/report"
	if d.plan.quick {
		how += " -quick"
	}
	if d.plan.only != "" {
		how += " -only '" + d.plan.only + "'"
	}
	d.p("Made by `%s` on %s in %v, at commit %s, on %s (%d processors), %s, %s, load %s.\n", how, d.begin.UTC().Format("2006-01-02"),
		d.took.Round(time.Second), d.machine.commit, d.machine.cpu, d.machine.cores, d.machine.system, d.machine.goVersion, d.machine.load)
	d.p("%s\n", strings.TrimSpace(explanation))
	for _, c := range charts {
		d.p(`<picture><source media="(prefers-color-scheme: dark)" srcset="charts/%[1]s-dark.svg"><img alt="%[2]s" src="charts/%[1]s-light.svg"></picture>`+"\n", c.file, c.title)
	}
	d.losses()
	d.sizes()
	for _, op := range peer.Ops {
		d.codec(op)
	}
	d.checksums()
	d.calls()
	d.details()
	d.p("## Versions\n")
	d.p("| module | version |\n| --- | --- |")
	measured := map[string]bool{"google.golang.org/grpc": true, "connectrpc.com/connect": true, "github.com/klauspost/crc32": true, "github.com/klauspost/compress": true}
	for _, p := range peers.All {
		measured[p.Module] = true
	}
	for _, m := range d.machine.modules {
		if measured[m[0]] {
			d.p("| %s | %s |", m[0], m[1])
		}
	}
}

const explanation = `
How to read this. Each time is CPU time, the median of the passes, which are
made in several processes, in each of which the implementations take turns in an
order of its own. Behind a time stands its ratio to protobuf-go's time for the same work
(update in place: to FlatBuffers'), the median of the passes' ratios: 0.25 is a
quarter of the time. The spread, in the details, is half of the distance between
the smallest and the largest of these ratios, and no less than 3 %: a
difference within it is none.

Codecs run on one processor, so that collecting garbage is paid for, with GOGC
100 and 64 MiB of other memory in use. Graven's frames have their envelope and
its checksum everywhere unless a row says otherwise; no other format here has a
checksum. "message" means from or to protoc-gen-go's structs, "structs" means
from plain Go structs, which for protobuf's implementations includes making the
message. Graven's writers write those straight into a frame, which is "borrowed" from
the writer, "owned" by a Frame that is released before the next one, or one of a
"batched" row of up to 64; they are told the lengths of lists except where a row says
otherwise. Rows with "no envelope" show what the envelope and its checksum cost; package
codec does not offer them. "trusted" reads look at no more than they must; "verified" means that
the whole message was checked first. Cap'n Proto checks each access instead.
FlatBuffers has no verifier in Go; C++ has one. Reading all means that each
value goes into a checksum of a few instructions, whose own cost the row "plain
structs" shows.

Before anything is measured, tests have every implementation read the same
values from 20 messages a scenario, every byte counted. What is left out did not
pass: hyperpb's profiled types on savedata (repeated strings come out empty),
gob on savedata (a pointer to false comes out nil). Integers in otlp are below
2^31, since hyperpb reads 32 bits of a oneof's 64-bit member.
`

func (d *document) sizes() {
	d.p("## Sizes\n")
	d.p("Bytes of the message of seed 1. Graven's first row is the whole frame, %d bytes more than the message.\n", graven.Envelope)
	for _, part := range [][]scenario.Scenario{scenarios(false), scenarios(true)} {
		t := newTable(part)
		for _, p := range peers.All {
			d.sizeRow(t, p.Name, p.Name, func(r *row) float64 { return r.Median[measure.Bytes] })
			if p.Name == graven.Peer.Name {
				d.sizeRow(t, p.Name+", message only", p.Name, func(r *row) float64 { return r.Median[measure.Bytes] - graven.Envelope })
			}
		}
		t.write(d)
	}
	for _, c := range []struct{ metric, name string }{{measure.Zlib, "zlib"}, {measure.Zstd, "zstd"}} {
		d.p("Data sets after %s at its default level:\n", c.name)
		t := newTable(scenarios(true))
		for _, p := range peers.All {
			d.sizeRow(t, p.Name, p.Name, func(r *row) float64 { return r.Median[c.metric] })
		}
		t.write(d)
	}
}

func (d *document) sizeRow(t *table, label, name string, get func(*row) float64) {
	t.row(bold(label, name), func(sc string) string {
		if r := d.find(measure.Key{Part: measure.Size, Scenario: sc, Peer: name}); r != nil {
			return thousands(get(r))
		}
		return ""
	})
}

// table has a column for each scenario; rows without any value are left out, and
// so is a table without any row.
type table struct {
	part []scenario.Scenario
	rows strings.Builder
}

func newTable(part []scenario.Scenario) *table { return &table{part: part} }

func (t *table) row(label string, cell func(scenario string) string) {
	cells, any := []string{}, false
	for _, sc := range t.part {
		c := cell(sc.Name)
		any = any || c != ""
		cells = append(cells, c)
	}
	if any {
		fmt.Fprintf(&t.rows, "| %s | %s |\n", label, strings.Join(cells, " | "))
	}
}

func (t *table) write(d *document) {
	if t.rows.Len() == 0 {
		return
	}
	names := []string{}
	for _, sc := range t.part {
		names = append(names, sc.Name)
	}
	d.p("| | %s |\n| --- |%s\n%s", strings.Join(names, " | "), strings.Repeat(" ---: |", len(names)), t.rows.String())
}

func scenarios(dataSets bool) []scenario.Scenario {
	var out []scenario.Scenario
	for _, sc := range scenario.All {
		if sc.DataSet == dataSets {
			out = append(out, sc)
		}
	}
	return out
}

// codec writes the tables of one operation: a row for each way of each peer.
func (d *document) codec(op peer.Op) {
	type way struct{ peer, variant string }
	var ways []way
	seen := map[way]bool{}
	for _, r := range d.rows {
		w := way{r.Peer, r.Variant}
		if r.Part == measure.Codec && r.Op == string(op) && !seen[w] {
			seen[w] = true
			ways = append(ways, w)
		}
	}
	if len(ways) == 0 {
		return
	}
	title := string(op)
	d.p("## %s\n", strings.ToUpper(title[:1])+title[1:])
	names := []string{}
	for _, p := range peers.All {
		names = append(names, p.Name)
	}
	names = append(names, nativePeers...)
	for _, part := range [][]scenario.Scenario{scenarios(false), scenarios(true)} {
		t := newTable(part)
		for _, name := range names {
			for _, w := range ways {
				if w.peer != name {
					continue
				}
				t.row(bold(name, name)+": "+w.variant, func(sc string) string {
					k := measure.Key{Part: measure.Codec, Scenario: sc, Op: string(op), Peer: w.peer, Variant: w.variant}
					if r := d.find(k); r != nil {
						return nanoseconds(r.Median[measure.Time]) + ratio(r)
					}
					return ""
				})
			}
		}
		t.write(d)
	}
}

func (d *document) checksums() {
	d.p("## Checksums and envelopes\n")
	d.p("CRC32C of messages of so many bytes, and what the envelope costs with it. Ratios are to the standard library.\n")
	d.p("| | | %s |\n| --- | --- |%s", strings.Join(sizeNames(), " | "), strings.Repeat(" ---: |", len(measure.ChecksumSizes)))
	seen := map[[3]string]bool{}
	for _, r := range d.rows {
		k := [3]string{r.Op, r.Peer, r.Variant}
		if r.Part != measure.Checksum || seen[k] {
			continue
		}
		seen[k] = true
		var cells []string
		for _, n := range measure.ChecksumSizes {
			if r := d.find(measure.Key{Part: measure.Checksum, Scenario: fmt.Sprint(n), Op: r.Op, Peer: r.Peer, Variant: r.Variant}); r != nil {
				cells = append(cells, nanoseconds(r.Median[measure.Time])+ratio(r))
			} else {
				cells = append(cells, "")
			}
		}
		d.p("| %s | %s: %s | %s |", r.Op, bold(r.Peer, r.Peer), r.Variant, strings.Join(cells, " | "))
	}
	d.p("")
}

func sizeNames() []string {
	var out []string
	for _, n := range measure.ChecksumSizes {
		out = append(out, thousands(float64(n)))
	}
	return out
}

// calls writes the tables of remote calls, one a message.
func (d *document) calls() {
	d.p("## Remote calls\n")
	d.p("Unary calls that echo a message, client and server in one process: calls a second, then CPU time and allocations " +
		"of both sides together for a call. \"messages\" encodes and decodes on both sides; \"frames\" sends a frame that is there, and " +
		"verifies and keeps the one that comes. \"floor\" keeps the received bytes and encodes nothing: it is what everything but the codec costs. " +
		"Ratios of calls a second are to protobuf on the same stack, so more is better.\n")
	for _, m := range rpc.Messages() {
		d.p("### %s\n", m.Name)
		d.p("| | 1 caller | CPU | 32 callers | CPU | allocations | bytes allocated | streamed messages | CPU |\n| --- |%s", strings.Repeat(" ---: |", 8))
		d.eachCodec(m.Name, func(peer, codec string) {
			var cells []string
			for _, op := range []string{measure.OneCaller, measure.ManyCallers, measure.Streaming} {
				r := d.find(measure.Key{Part: measure.Calls, Scenario: m.Name, Op: op, Peer: peer, Variant: codec})
				if r == nil {
					return
				}
				cells = append(cells, thousands(r.Median[measure.Rate])+"/s"+ratio(r), nanoseconds(r.Median[measure.CPU]))
				if op == measure.ManyCallers {
					cells = append(cells, fmt.Sprintf("%.0f", r.Median[measure.Allocs]), thousands(r.Median[measure.Bytes]))
				}
			}
			d.p("| %s: %s | %s |", peer, bold(codec, codec), strings.Join(cells, " | "))
		})
		d.p("")
	}
	d.p("### Latency\n")
	d.p("Over TCP at a constant rate, about a third of what protobuf over grpc-go manages with 32 callers. Ratios are of the 99th percentile.\n")
	d.p("| message | calls a second | | p50 | p99 | p99.9 |\n| --- | ---: | --- | ---: | ---: | ---: |")
	for _, m := range rpc.Messages() {
		d.eachCodec(m.Name, func(peer, codec string) {
			r := d.find(measure.Key{Part: measure.Calls, Scenario: m.Name, Op: measure.Latency, Peer: peer, Variant: codec})
			if r == nil {
				return
			}
			d.p("| %s | %s | %s: %s | %s | %s%s | %s |", m.Name, thousands(r.Median[measure.Rate]), peer, bold(codec, codec),
				nanoseconds(r.Median[measure.P50]), nanoseconds(r.Median[measure.P99]), ratio(r), nanoseconds(r.Median[measure.P999]))
		})
	}
	d.p("")
}

func (d *document) eachCodec(message string, f func(peer, codec string)) {
	for _, cfg := range rpc.Configs() {
		if cfg.Message.Name == message {
			f(cfg.Stack+", "+cfg.Transport, cfg.Codec)
		}
	}
}

// details writes everything about codecs: spreads and allocations too.
func (d *document) details() {
	d.p("## Details\n")
	for _, sc := range scenario.All {
		d.p("<details><summary>%s</summary>\n", sc.Name)
		d.p("| | | | time | ratio | spread | allocations | bytes allocated |\n| --- | --- | --- |%s", strings.Repeat(" ---: |", 5))
		for _, op := range peer.Ops {
			for _, r := range d.rows {
				if r.Part != measure.Codec || r.Scenario != sc.Name || r.Op != string(op) {
					continue
				}
				rat, spread := "", ""
				if r.Ratio > 0 {
					rat, spread = fmt.Sprintf("%.3g", r.Ratio), fmt.Sprintf("±%.0f %%", 100*r.Spread)
				}
				d.p("| %s | %s | %s | %s | %s | %s | %.0f | %s |", op, bold(r.Peer, r.Peer), r.Variant, nanoseconds(r.Median[measure.Time]),
					rat, spread, r.Median[measure.Allocs], thousands(r.Median[measure.Bytes]))
			}
		}
		d.p("\n</details>\n")
	}
}

// bold marks Graven's rows.
func bold(label, name string) string {
	if strings.HasPrefix(name, "Graven") {
		return "**" + label + "**"
	}
	return label
}

func ratio(r *row) string {
	if r.Ratio == 0 {
		return ""
	}
	switch {
	case r.Ratio < 0.1:
		return fmt.Sprintf(" (%.2g)", r.Ratio)
	case r.Ratio < 10:
		return fmt.Sprintf(" (%.2f)", r.Ratio)
	}
	return fmt.Sprintf(" (%.0f)", r.Ratio)
}

func nanoseconds(v float64) string {
	unit := "ns"
	for _, u := range []string{"µs", "ms", "s"} {
		if v < 1000 {
			break
		}
		v, unit = v/1000, u
	}
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f %s", v, unit)
	case v < 100:
		return fmt.Sprintf("%.1f %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
