package peers

import (
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/graven"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Sizes without the envelope are no larger than the format's first implementation
// published, where the data can be compared; those of the data sets are below
// what rkyv was published with.
func TestSizes(t *testing.T) {
	published := map[string]struct{ first, rkyv int }{
		scenario.Frame10:     {first: 331},
		scenario.Frame500:    {first: 15521},
		scenario.Telem:       {first: 24},
		scenario.Chunk64:     {first: 64 + 23},
		scenario.Chunk65536:  {first: 65536 + 23},
		scenario.Log10k:      {rkyv: 1_011_488},
		scenario.Mesh125k:    {rkyv: 6_000_008},
		scenario.Savedata500: {rkyv: 596_952},
	}
	for _, sc := range scenario.All {
		p, ok := published[sc.Name]
		if !ok {
			continue
		}
		delete(published, sc.Name)
		size := messageSize(t, sc)
		if p.first > 0 && size > p.first {
			t.Errorf("%s takes %d bytes, the first implementation %d", sc.Name, size, p.first)
		}
		if p.rkyv > 0 && size >= p.rkyv {
			t.Errorf("%s takes %d bytes, rkyv %d", sc.Name, size, p.rkyv)
		}
		t.Logf("%-12s %9d bytes", sc.Name, size)
	}
	for name := range published {
		t.Errorf("%s is no scenario", name)
	}
}

// messageSize is the size of a scenario's message without the envelope.
func messageSize(t *testing.T, sc scenario.Scenario) int {
	t.Helper()
	frame, err := codec.Marshal(pbmsg.Build(sc.New(1)))
	if err != nil {
		t.Fatal(err)
	}
	return len(frame) - graven.Envelope
}

// What the format's text says about the sizes of its own messages.
func TestSizesAreExact(t *testing.T) {
	for name, want := range map[string]int{
		scenario.Telem: 24, scenario.Chunk64: 15 + 64, scenario.Chunk65536: 15 + 65536,
		scenario.Frame10: 327, scenario.Frame500: 15518, scenario.Mesh125k: 6_000_005,
	} {
		for _, sc := range scenario.All {
			if sc.Name != name {
				continue
			}
			if got := messageSize(t, sc); got != want {
				t.Errorf("%s takes %d bytes, want %d", name, got, want)
			}
		}
	}
}

// Every peer has bytes to be measured by, and a name and variants of its own.
func TestPeersAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, p := range All {
		if names[p.Name] {
			t.Errorf("two peers are called %s", p.Name)
		}
		names[p.Name] = true
		covered := 0
		for _, sc := range scenario.All {
			make := sc.Small
			if make == nil {
				make = sc.New
			}
			in := p.Setup(make(1))
			if in == nil {
				continue
			}
			covered++
			variants := map[string]bool{}
			for _, c := range in.Cases {
				key := string(c.Op) + "/" + c.Variant
				if variants[key] {
					t.Errorf("%s, %s: two cases are called %s", sc.Name, p.Name, key)
				}
				variants[key] = true
				if (c.Op == peer.Write) != (c.Write != nil) || (c.Op == peer.Update) != (c.Update != nil) {
					t.Errorf("%s, %s: %s has the wrong function", sc.Name, p.Name, key)
				}
			}
		}
		if covered == 0 {
			t.Errorf("%s covers no scenario", p.Name)
		}
	}
}
