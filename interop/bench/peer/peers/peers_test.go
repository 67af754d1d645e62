package peers

import (
	"bytes"
	"slices"
	"testing"

	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Every implementation reads the same values that were written, in every way
// that is measured, for 20 seeds a scenario and with every byte counted. Cases
// run twice, so that state left in a reused buffer would show.
func TestEquivalence(t *testing.T) {
	scenario.CountEveryByte(true)
	defer scenario.CountEveryByte(false)
	checks := 0
	for _, sc := range scenario.All {
		make := sc.Small
		if make == nil {
			make = sc.New
		}
		for seed := uint64(1); seed <= 20; seed++ {
			m, changed := make(seed), make(seed)
			changed.Update()
			sum, one, updated := m.Sum(), m.One(), changed.Sum()
			if sum == updated {
				t.Fatalf("%s, seed %d: Update changes nothing", sc.Name, seed)
			}
			for _, p := range All {
				in := p.Setup(m)
				if in == nil {
					continue
				}
				sums := readers(in, peer.ReadAll)
				inputs := [][]byte{in.Encoded}
				for _, c := range in.Cases {
					if c.Write != nil {
						for range 2 {
							// Bytes that are there already would be read as before.
							if p := completed(c, append([]byte{}, c.Write()...)); !slices.ContainsFunc(inputs, func(q []byte) bool { return bytes.Equal(p, q) }) {
								inputs = append(inputs, p)
							}
						}
					}
				}
				for _, c := range in.Cases {
					in := inputs
					if c.Input != nil {
						in = [][]byte{c.Input}
					}
					want := one
					if c.Op == peer.ReadAll || c.Op == peer.VerifyRead {
						want = sum
					}
					for i, buf := range in {
						if c.Update != nil {
							buf = append([]byte{}, buf...)
							c.Update(buf)
							if got := sums[0].Read(completed(c, buf)); got != updated {
								t.Errorf("%s, seed %d, %s, %s (%s), bytes %d: %#x after the update, want %#x", sc.Name, seed, p.Name, c.Op, c.Variant, i, got, updated)
							}
							checks++
						}
						if c.Read == nil {
							continue
						}
						for range 2 {
							if got := c.Read(buf); got != want {
								t.Errorf("%s, seed %d, %s, %s (%s), bytes %d: %#x, want %#x", sc.Name, seed, p.Name, c.Op, c.Variant, i, got, want)
							}
							checks++
						}
					}
				}
			}
		}
	}
	t.Logf("%d checks", checks)
}

func completed(c peer.Case, p []byte) []byte {
	if c.Complete != nil {
		return c.Complete(p)
	}
	return p
}

func readers(in *peer.Instance, op peer.Op) []peer.Case {
	var out []peer.Case
	for _, c := range in.Cases {
		if c.Op == op && c.Input == nil {
			out = append(out, c)
		}
	}
	return out
}
