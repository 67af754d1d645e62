// Command conformance runs the protobuf conformance suite with every message
// sent through a Graven frame between parsing and answering, and compares the
// outcome with that of protobuf-go alone.
//
//	go run -tags protolegacy .               all hops that must lose nothing
//	go run -tags protolegacy,reflection .    the same without generated methods
//	go run -tags protolegacy . -lossy        also hops that do, to see the suite notice
//	go run -tags protolegacy . -record       also write testdata, which go test replays
//
// setup.sh fetches the runner. The tag protolegacy switches on protobuf-go's
// support for MessageSet, which the suite asks for.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/graven-rpc/graven/interop/conformance/internal/conformancepb"
	"github.com/graven-rpc/graven/interop/conformance/internal/testee"
	"github.com/graven-rpc/graven/interop/conformance/internal/transcript"
)

// Set for the process that the runner starts, which is this program again.
const (
	hopVariable        = "GRAVEN_CONFORMANCE_HOP"
	transcriptVariable = "GRAVEN_CONFORMANCE_TRANSCRIPT"
)

const (
	transcriptFile = "testdata/transcript.gz"
	verdictFile    = "testdata/verdict.txt"
	baseline       = "plain"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("conformance: ")
	if name := os.Getenv(hopVariable); name != "" {
		if err := serve(name, os.Getenv(transcriptVariable)); err != nil {
			log.Fatal(err)
		}
		return
	}
	record := flag.Bool("record", false, "write the transcript and the verdict of protobuf-go alone to testdata")
	lossy := flag.Bool("lossy", false, "also run hops that lose something")
	flag.Parse()
	if err := run(*record, *lossy); err != nil {
		log.Fatal(err)
	}
}

// serve answers the runner on standard input and output, and keeps what was said.
func serve(name, file string) error {
	hop := testee.Hops[name]
	if hop == nil {
		hop = testee.Lossy[name]
	}
	if hop == nil {
		return fmt.Errorf("no hop %q", name)
	}
	var all []transcript.Exchange
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		req := new(conformancepb.ConformanceRequest)
		if err := transcript.ReadMessage(in, req); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		res := testee.Answer(req, hop)
		if err := transcript.WriteMessage(out, res); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		all = append(all, transcript.Exchange{Request: req, Response: res})
	}
	// The runner starts a testee for each of its two suites.
	if before, err := transcript.ReadFile(file); err == nil {
		all = append(before, all...)
	}
	return transcript.WriteFile(file, all)
}

// An outcome is what the runner said of one hop.
type outcome struct {
	suites   []suite
	failed   []string // names of the cases that failed, required and recommended
	exchange []transcript.Exchange
}

// A suite is one of the runner's two: binary and JSON, and text.
type suite struct{ passed, skipped, failed int }

func (s suite) total() int { return s.passed + s.skipped + s.failed }

var (
	summaryLine = regexp.MustCompile(`(?m)^CONFORMANCE SUITE [A-Z]+: (\d+) successes, (\d+) skipped, (\d+) expected failures, (\d+) unexpected failures\.`)
	failureLine = regexp.MustCompile(`(?m)^ERROR, test=([^: ]+)`)
)

func run(record, lossy bool) error {
	setup := exec.Command("./setup.sh")
	setup.Stderr = os.Stderr
	words, err := setup.Output()
	if err != nil {
		return fmt.Errorf("setup.sh (run in the folder of this module): %w", err)
	}
	command := strings.Fields(string(words))

	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	hops := slices.Sorted(maps.Keys(testee.Hops))
	hops = slices.DeleteFunc(hops, func(s string) bool { return s == baseline })
	hops = append([]string{baseline}, hops...)
	if lossy {
		hops = append(hops, slices.Sorted(maps.Keys(testee.Lossy))...)
	}

	fmt.Printf("%-24s %17s %14s %18s\n", "hop", "binary and JSON", "text", "unlike plain")
	var plain outcome
	lost := false
	for _, name := range hops {
		o, err := runOne(command, name, filepath.Join(dir, name+".gz"))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if name == baseline {
			plain = o
		}
		different := differences(o, plain)
		fmt.Printf("%-24s %8d of %5d %6d of %4d %6d of %d\n", name,
			o.suites[0].passed, o.suites[0].total(), o.suites[1].passed, o.suites[1].total(),
			len(different), len(plain.exchange))
		if testee.Hops[name] == nil {
			continue
		}
		for _, d := range different[:min(len(different), 10)] {
			fmt.Println(d)
		}
		for _, f := range o.failed {
			if !slices.Contains(plain.failed, f) {
				fmt.Println("fails here only:", f)
				lost = true
			}
		}
		lost = lost || len(different) > 0
	}
	fmt.Printf("protobuf-go itself fails %d cases, among them %s\n", len(plain.failed), strings.Join(plain.failed[:min(len(plain.failed), 1)], " "))
	if record {
		if err := writeRecord(plain); err != nil {
			return err
		}
	}
	if lost {
		return errors.New("a message arrived other than it was sent")
	}
	return nil
}

// runOne runs both suites with one hop. The runner stops after the first suite
// if a case failed that it was not told to expect, so it is then run again with
// the list of these.
func runOne(command []string, hop, file string) (outcome, error) {
	self, err := os.Executable()
	if err != nil {
		return outcome{}, err
	}
	dir := strings.TrimSuffix(file, ".gz")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return outcome{}, err
	}
	var o outcome
	var list string
	args := append(slices.Clone(command[1:]), "--enforce_recommended", "--maximum_edition", "2023", "--output_dir", dir+"/")
	// More than two rounds are needed only if answers change from one to the next.
	for range 6 {
		os.Remove(file)
		cmd := exec.Command(command[0], append(slices.Clone(args), self)...)
		cmd.Env = append(os.Environ(), hopVariable+"="+hop, transcriptVariable+"="+file)
		// The exit status is that of the verdict, which is read from the output.
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			return outcome{}, err
		}
		for _, m := range failureLine.FindAllStringSubmatch(string(out), -1) {
			o.failed = append(o.failed, m[1])
		}
		o.suites = o.suites[:0]
		for _, m := range summaryLine.FindAllStringSubmatch(string(out), -1) {
			var n [4]int
			for i := range n {
				fmt.Sscan(m[i+1], &n[i])
			}
			o.suites = append(o.suites, suite{n[0], n[1], n[2] + n[3]})
		}
		switch {
		case len(o.suites) == 2:
			o.exchange, err = transcript.ReadFile(file)
			return o, err
		case len(o.suites) == 0:
			return outcome{}, fmt.Errorf("no summary from the runner (%v):\n%s", err, out)
		}
		if list == "" {
			list = filepath.Join(dir, "expected.txt")
			args = append(args, "--failure_list", list)
		}
		if err := os.WriteFile(list, []byte(strings.Join(o.failed, "\n")+"\n"), 0o644); err != nil {
			return outcome{}, err
		}
	}
	return outcome{}, fmt.Errorf("the runner never came to its second suite: %d cases failed, among them %v", len(o.failed), o.failed[:min(len(o.failed), 5)])
}

// differences compares the answers of two runs, request by request.
func differences(got, want outcome) []string {
	answers := make(map[string]*conformancepb.ConformanceResponse, len(want.exchange))
	for _, e := range want.exchange {
		answers[e.Request.String()] = e.Response
	}
	var all []string
	for _, e := range got.exchange {
		w := answers[e.Request.String()]
		if w == nil {
			all = append(all, fmt.Sprintf("%v: asked in one run only", e.Request))
		} else if d := transcript.Diff(e.Response, w); d != "" {
			all = append(all, fmt.Sprintf("%v:\n%s", e.Request, d))
		}
	}
	return all
}

func writeRecord(o outcome) error {
	if err := os.MkdirAll(filepath.Dir(transcriptFile), 0o755); err != nil {
		return err
	}
	if err := transcript.WriteFile(transcriptFile, o.exchange); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "binary and JSON: %d of %d\n", o.suites[0].passed, o.suites[0].total())
	fmt.Fprintf(&b, "text: %d of %d\n", o.suites[1].passed, o.suites[1].total())
	for _, f := range o.failed {
		fmt.Fprintf(&b, "failed: %s\n", f)
	}
	return os.WriteFile(verdictFile, []byte(b.String()), 0o644)
}
