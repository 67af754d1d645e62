package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/peers"
	"github.com/graven-rpc/graven/interop/bench/rpc"
)

// row is the summary of all samples of one thing.
type row struct {
	measure.Key
	// Median of every metric.
	Median map[string]float64
	// Ratio is the median, over the passes, of this row's main metric divided by
	// that of the row it is compared with; 0 where there is none.
	Ratio float64 `json:",omitempty"`
	// Spread is half of the distance between the smallest and the largest ratio
	// of the passes, divided by the ratio, but no less than resolution.
	Spread float64 `json:",omitempty"`
}

// resolution is the smallest difference between two ratios that is taken for one.
const resolution = 0.03

// mainMetric is the metric that rows of a part are compared by.
func mainMetric(k measure.Key) string {
	switch {
	case k.Part == measure.Calls && k.Op == measure.Latency:
		return measure.P99
	case k.Part == measure.Calls:
		return measure.Rate
	case k.Part == measure.Size:
		return measure.Bytes
	}
	return measure.Time
}

// baseline is the row that k is compared with.
func baseline(k measure.Key) measure.Key {
	b := k
	switch k.Part {
	case measure.Codec:
		b.Peer = "protobuf-go"
		switch peer.Op(k.Op) {
		case peer.Write:
			b.Variant = "message, reused buffer"
		case peer.ReadAll, peer.VerifyRead:
			b.Op, b.Variant = string(peer.ReadAll), "decode"
		case peer.Decode, peer.ReadOne, peer.VerifyOne:
			b.Op, b.Variant = string(peer.Decode), "message"
		case peer.Update:
			b.Peer, b.Variant = "FlatBuffers", "view"
		}
	case measure.Size:
		b.Peer = "protobuf-go"
	case measure.Checksum:
		b.Peer, b.Variant = "Go", "hash/crc32"
		if k.Op == "copy and checksum" {
			b.Variant = "copy, hash/crc32"
		}
	case measure.Calls:
		b.Variant = rpc.Protobuf
	}
	return b
}

// results is everything that was found out, in the order of measuring.
type results struct {
	rows  []row
	index map[measure.Key]*row
}

func (r *results) find(k measure.Key) *row { return r.index[k] }

// summarize combines the samples of all passes.
func summarize(samples []measure.Sample) *results {
	values := map[measure.Key]map[int]map[string]float64{}
	var order []measure.Key
	for _, s := range samples {
		if values[s.Key] == nil {
			values[s.Key] = map[int]map[string]float64{}
			order = append(order, s.Key)
		}
		values[s.Key][s.Pass] = s.Metrics
	}
	res := &results{index: map[measure.Key]*row{}}
	for _, k := range order {
		r := row{Key: k, Median: map[string]float64{}}
		all := map[string][]float64{}
		var ratios []float64
		m, base := mainMetric(k), values[baseline(k)]
		for pass, metrics := range values[k] {
			for name, v := range metrics {
				all[name] = append(all[name], v)
			}
			if b := base[pass]; b != nil && b[m] > 0 {
				ratios = append(ratios, metrics[m]/b[m])
			}
		}
		for name, v := range all {
			r.Median[name] = median(v)
		}
		if len(ratios) > 0 {
			r.Ratio = median(ratios)
			r.Spread = max(resolution, (slices.Max(ratios)-slices.Min(ratios))/2/r.Ratio)
		}
		res.rows = append(res.rows, r)
	}
	slices.SortStableFunc(res.rows, func(a, b row) int { return cmp.Compare(peerOrder(a.Key), peerOrder(b.Key)) })
	for i := range res.rows {
		res.index[res.rows[i].Key] = &res.rows[i]
	}
	return res
}

// peerOrder is the place of a key's peer in the tables of codecs; passes take peers in
// another order each.
func peerOrder(k measure.Key) int {
	if k.Part != measure.Codec {
		return 0
	}
	if i := slices.IndexFunc(peers.All, func(p peer.Peer) bool { return p.Name == k.Peer }); i >= 0 {
		return i
	}
	return len(peers.All)
}

func median(v []float64) float64 {
	v = slices.Clone(v)
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

// compareRuns says which ratios of two runs differ by more than the spread that
// each of them reported.
func compareRuns(w io.Writer, earlier, later []row) {
	before := map[measure.Key]row{}
	for _, r := range earlier {
		before[r.Key] = r
	}
	type difference struct {
		row
		before row
		by     float64
	}
	var apart []difference
	compared := 0
	for _, r := range later {
		b, ok := before[r.Key]
		if !ok || b.Ratio == 0 || r.Ratio == 0 {
			continue
		}
		compared++
		by := math.Abs(r.Ratio-b.Ratio) / math.Min(r.Ratio, b.Ratio)
		if by > math.Min(r.Spread, b.Spread) {
			apart = append(apart, difference{r, b, by})
		}
	}
	slices.SortFunc(apart, func(a, b difference) int { return cmp.Compare(b.by, a.by) })
	fmt.Fprintf(w, "%d ratios compared, %d differ by more than the smaller spread of the two\n", compared, len(apart))
	for _, d := range apart {
		fmt.Fprintf(w, "%-9s %-12s %-24s %-20s %-40s %.3g ±%.1f%% was %.3g ±%.1f%%\n", d.Part, d.Scenario, d.Op, d.Peer, d.Variant,
			d.Ratio, 100*d.Spread, d.before.Ratio, 100*d.before.Spread)
	}
}
