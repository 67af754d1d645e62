package measure

import (
	"bytes"
	"compress/zlib"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/peers"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Sizes emits what the messages of seed 1 take, and for data sets what is left of
// them after zlib and zstd at their default levels.
func Sizes(o Options) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	peer.Check(err)
	defer enc.Close()
	for _, sc := range scenario.All {
		m := sc.New(1)
		for _, p := range peers.All {
			o.Advance()
			k := Key{Size, sc.Name, "", p.Name, ""}
			if !o.Match(k) {
				continue
			}
			in := p.Setup(m)
			if in == nil || !writes(in) {
				continue
			}
			metrics := map[string]float64{Bytes: float64(len(in.Encoded))}
			if sc.DataSet {
				var z bytes.Buffer
				w := zlib.NewWriter(&z)
				peer.Must(w.Write(in.Encoded))
				peer.Check(w.Close())
				metrics[Zlib] = float64(z.Len())
				metrics[Zstd] = float64(len(enc.EncodeAll(in.Encoded, nil)))
			}
			o.emit(0, k, metrics)
		}
	}
}

func writes(in *peer.Instance) bool {
	return slices.ContainsFunc(in.Cases, func(c peer.Case) bool { return c.Write != nil })
}
