package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/rpc"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// The part of the module's README with figures stands between these lines.
const (
	beginFigures = "<!-- Figures: written by interop/bench/cmd/report from its results.json. -->\n"
	endFigures   = "<!-- End of figures. -->\n"
)

// writeFigures writes the part with figures into a README.
func (d *document) writeFigures(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	front, rest, ok := bytes.Cut(b, []byte(beginFigures))
	_, back, ok2 := bytes.Cut(rest, []byte(endFigures))
	if !ok || !ok2 {
		return fmt.Errorf("%s: it has no place for figures, which begins with %q and ends with %q", file, beginFigures, endFigures)
	}
	out := append(append(append([]byte(nil), front...), beginFigures+d.figures()+endFigures...), back...)
	return os.WriteFile(file, out, 0o644)
}

// load reads the results.json of an earlier run.
func load(file string) ([]row, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rows, nil
}

// indexed is results with the rows of an earlier run.
func indexed(rows []row) *results {
	r := &results{rows: rows, index: map[measure.Key]*row{}}
	for i := range rows {
		r.index[rows[i].Key] = &rows[i]
	}
	return r
}

// figures is what README says: the main operations on messages that most resemble what
// services send, beside what most Go services use.
func (d *document) figures() string {
	d.b.Reset()
	shown := []string{scenario.Telem, scenario.Bank100, scenario.Frame500, scenario.OTLP}
	line := func(label string, k measure.Key, metric string, format func(float64) string) {
		cells := []string{label}
		for _, k.Scenario = range shown {
			cell := ""
			if r := d.find(k); r != nil {
				cell = format(r.Median[metric])
			}
			cells = append(cells, cell)
		}
		d.p("| %s |", strings.Join(cells, " | "))
	}
	d.p("| CPU time | telemetry, 5 numbers | bank, 100 entries | game frame, 500 entities | OpenTelemetry, 500 spans |")
	d.p("| --- | ---: | ---: | ---: | ---: |")
	for _, l := range []struct {
		label, peer string
		op          peer.Op
		variant     string
	}{
		{"encode: protobuf-go", "protobuf-go", peer.Write, "message, reused buffer"},
		{"encode: vtprotobuf", "vtprotobuf", peer.Write, "message, reused buffer"},
		{"**encode: Graven**", "Graven", peer.Write, "message, generated, reused buffer"},
		{"**fill with a writer: Graven**", "Graven", peer.Write, "structs, writer, borrowed"},
		{"decode: protobuf-go", "protobuf-go", peer.Decode, "message"},
		{"decode: vtprotobuf", "vtprotobuf", peer.Decode, "message"},
		{"**decode: Graven**", "Graven", peer.Decode, "message, generated"},
		{"**verify and read all in place: Graven**", "Graven", peer.VerifyRead, "view, verified"},
	} {
		line(l.label, measure.Key{Part: measure.Codec, Op: string(l.op), Peer: l.peer, Variant: l.variant}, measure.Time, nanoseconds)
	}
	line("bytes: protobuf", measure.Key{Part: measure.Size, Peer: "protobuf-go"}, measure.Bytes, thousands)
	line("**bytes: Graven**, 24 of them its envelope", measure.Key{Part: measure.Size, Peer: "Graven"}, measure.Bytes, thousands)
	d.p("")
	for _, c := range d.charts() {
		if c.file == "sizes" {
			continue
		}
		d.p(`<picture><source media="(prefers-color-scheme: dark)" srcset="interop/bench/charts/%[1]s-dark.svg"><img alt="%[2]s" src="interop/bench/charts/%[1]s-light.svg"></picture>`+"\n", c.file, c.title)
	}
	if s := d.callFigures(); s != "" {
		d.p("%s\n", s)
	}
	return d.b.String()
}

// callFigures says what calls gain.
func (d *document) callFigures() string {
	var parts []string
	for _, m := range rpc.Messages() {
		base := measure.Key{Part: measure.Calls, Scenario: m.Name, Op: measure.ManyCallers, Peer: rpc.GRPC + ", " + rpc.TCP, Variant: rpc.Protobuf}
		own := base
		own.Variant = rpc.Graven
		frames := base
		frames.Variant = rpc.GravenFrames
		if b, o, f := d.find(base), d.find(own), d.find(frames); b != nil && o != nil && f != nil {
			parts = append(parts, fmt.Sprintf("%s %s, %s and %s", m.Name, nanoseconds(b.Median[measure.CPU]), nanoseconds(o.Median[measure.CPU]), nanoseconds(f.Median[measure.CPU])))
		}
	}
	if parts == nil {
		return ""
	}
	return "CPU time of a whole unary call, client and server, over grpc-go and TCP, in protobuf, in Graven with messages and in Graven with frames: " + strings.Join(parts, "; ") + "."
}
