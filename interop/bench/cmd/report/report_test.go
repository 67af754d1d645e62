package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
)

func sampled(pass int, k measure.Key, ns float64) measure.Sample {
	return measure.Sample{Key: k, Pass: pass, Metrics: map[string]float64{measure.Time: ns}}
}

// Ratios are taken pass by pass, so that a pass in which everything is slow does
// not change them.
func TestRatios(t *testing.T) {
	base := measure.Key{Part: measure.Codec, Scenario: "bank/100", Op: string(peer.Write), Peer: "protobuf-go", Variant: "message, reused buffer"}
	ours := base
	ours.Peer = "Graven"
	var samples []measure.Sample
	for pass, slow := range []float64{1, 3, 1} {
		samples = append(samples, sampled(pass, base, 1000*slow), sampled(pass, ours, 100*slow))
	}
	r := summarize(samples).find(ours)
	if r.Median[measure.Time] != 100 || math.Abs(r.Ratio-0.1) > 1e-12 || r.Spread != resolution {
		t.Errorf("%+v", r)
	}
	samples = append(samples, sampled(3, base, 1000), sampled(3, ours, 140))
	r = summarize(samples).find(ours)
	if math.Abs(r.Spread-0.2) > 1e-12 { // from 0.10 to 0.14, around 0.10
		t.Errorf("spread %v", r.Spread)
	}
}

func TestCompareRuns(t *testing.T) {
	k := measure.Key{Part: measure.Codec, Scenario: "bank/100", Op: "write", Peer: "Graven", Variant: "x"}
	var b bytes.Buffer
	compareRuns(&b, []row{{Key: k, Ratio: 0.10, Spread: 0.05}}, []row{{Key: k, Ratio: 0.104, Spread: 0.05}})
	if !strings.HasPrefix(b.String(), "1 ratios compared, 0 differ") {
		t.Error(b.String())
	}
	b.Reset()
	compareRuns(&b, []row{{Key: k, Ratio: 0.10, Spread: 0.05}}, []row{{Key: k, Ratio: 0.12, Spread: 0.50}})
	if !strings.HasPrefix(b.String(), "1 ratios compared, 1 differ") {
		t.Error(b.String())
	}
}

// A report of a few samples says who is ahead, and its charts are XML.
func TestDocument(t *testing.T) {
	var samples []measure.Sample
	for pass := range 3 {
		for name, ns := range map[string]float64{"Graven": 300, "protobuf-go": 1000, "msgp": 200, "hyperpb": 5000, "Cap'n Proto": 290} {
			k := measure.Key{Part: measure.Codec, Scenario: "bank/100", Op: string(peer.ReadAll), Peer: name, Variant: "decode"}
			samples = append(samples, sampled(pass, k, ns))
		}
	}
	d := document{results: summarize(samples), begin: time.Unix(0, 0)}
	charts := d.charts()
	d.text(charts)
	text := d.b.String()
	for _, want := range []string{
		"| bank/100 | read all, decoded | 300 ns | msgp (decode): 200 ns, 0.67; Cap'n Proto (decode): 290 ns, 0.97 |",
		"| **Graven**: decode |  |  | 300 ns (0.30) |",
		"charts/bank-dark.svg",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if len(charts) != 1 {
		t.Fatalf("%d charts, want that of bank/100", len(charts))
	}
	for _, th := range themes {
		dec := xml.NewDecoder(strings.NewReader(charts[0].svg(th)))
		for {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestUnits(t *testing.T) {
	for v, want := range map[float64]string{1.234: "1.23 ns", 56.78: "56.8 ns", 999.4: "999 ns", 1500: "1.50 µs", 2.5e6: "2.50 ms", 3e9: "3.00 s"} {
		if got := nanoseconds(v); got != want {
			t.Errorf("%v ns is %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{7: "7", 999: "999", 1000: "1,000", 6000005: "6,000,005"} {
		if got := thousands(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

// README's figures are those of results.json.
func TestReadme(t *testing.T) {
	rows, err := load("../../results.json")
	if err != nil {
		t.Fatal(err)
	}
	d := document{results: indexed(rows)}
	want := beginFigures + d.figures() + endFigures
	readme, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), want) {
		t.Errorf("README.md does not have these figures; go run ./cmd/report -figures ../../README.md writes them:\n%s", want)
	}
}
