package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/graven-rpc/graven/interop/bench/measure"
	"github.com/graven-rpc/graven/interop/bench/peer"
	"github.com/graven-rpc/graven/interop/bench/peer/flat"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// nativePeers are measured where their compilers are installed.
var nativePeers = []string{"FlatBuffers in C++", "FlatBuffers structs in C++", "Cap'n Proto in C++"}

// measureNative builds and runs the C++ yardstick of the folder native, once for
// each of the processes that measured Go, or does nothing where a tool is missing.
func measureNative(p plan) ([]measure.Sample, error) {
	match, err := p.match()
	if err != nil {
		return nil, err
	}
	for _, tool := range []string{"g++", "flatc", "capnp"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Fprintf(os.Stderr, "no C++ yardstick: %v\n", err)
			return nil, nil
		}
	}
	dir, err := os.MkdirTemp("", "bench-native")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// The C++ side reads the messages from FlatBuffers' bytes and compares its
	// checksums with ours.
	for _, sc := range scenario.All {
		if sc.Name != scenario.Bank100 && sc.Name != scenario.Frame500 {
			continue
		}
		m := sc.New(1)
		file := filepath.Join(dir, strings.ReplaceAll(sc.Name, "/", "_"))
		if err := os.WriteFile(file+".fb", flat.Peer.Setup(m).Encoded, 0o644); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file+".sum", []byte(fmt.Sprint(m.Sum())), 0o644); err != nil {
			return nil, err
		}
	}
	if out, err := exec.Command("native/build.sh", dir).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "no C++ yardstick: %v\n%s", err, out)
		return nil, nil
	}
	var samples []measure.Sample
	for pass := range p.processes() * p.passes(codecs) {
		cmd := exec.Command(filepath.Join(dir, "native"), dir, strconv.FormatInt(p.sample().Nanoseconds(), 10))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("yardstick: %w", err)
		}
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			f := strings.Split(s.Text(), "\t")
			if len(f) != 5 {
				return nil, fmt.Errorf("yardstick: %q", s.Text())
			}
			ns, err := strconv.ParseFloat(f[4], 64)
			if err != nil {
				return nil, fmt.Errorf("yardstick: %w", err)
			}
			k := measure.Key{Part: measure.Codec, Scenario: f[0], Op: string(peer.Op(f[1])), Peer: f[2], Variant: f[3]}
			if match(k) {
				samples = append(samples, measure.Sample{Key: k, Pass: pass, Metrics: map[string]float64{measure.Time: ns}})
			}
		}
	}
	return samples, nil
}
