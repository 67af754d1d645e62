// Command report measures every implementation and writes RESULTS.md, charts and
// results.json beside the module's go.mod:
//
//	go run ./cmd/report          # about 25 minutes
//	go run ./cmd/report -quick   # under five
//
// It starts itself several times and measures in these processes, one after
// another, so that the spread it reports has in it what differs from process to
// process. With -against it also compares the ratios of two runs. A whole run also writes
// the figures of the project's README, which -figures does from the results.json that is there.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/graven-rpc/graven/interop/bench/measure"
)

func main() {
	var (
		quick   = flag.Bool("quick", false, "measure less, in under five minutes")
		out     = flag.String("out", ".", "`folder` to write to")
		only    = flag.String("only", "", "measure only what matches the `expression`, as in 'codec/bank/100/Graven'")
		against = flag.String("against", "", "compare with this results.json of an earlier run")
		figures = flag.String("figures", "", "write the figures of this README from results.json, and measure nothing")
		child   = flag.String("child", "", "for the command's own use")
		rates   = flag.String("rates", "{}", "for the command's own use")
		first   = flag.Int("first", 0, "for the command's own use")
	)
	flag.Parse()
	p := plan{quick: *quick, only: *only}
	var err error
	if *figures != "" {
		err = rewrite(*figures, *out)
	} else if *child != "" {
		err = runChild(*child, *first, *rates, p)
	} else {
		err = run(p, *out, *against)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// plan says how much is measured.
type plan struct {
	quick bool
	only  string
}

func (p plan) processes() int {
	if p.quick {
		return 3
	}
	return 4
}

// passes is how many passes a process makes over one kind of thing.
func (p plan) passes(kind string) int {
	switch {
	case p.quick || kind == latencies:
		return 1
	case kind == calls:
		return 2
	}
	return 3
}

// sample is how long an operation is repeated.
func (p plan) sample() time.Duration {
	if p.quick {
		return 6 * time.Millisecond
	}
	return 25 * time.Millisecond
}

// call is how long callers call, or a stream lasts.
func (p plan) call() time.Duration {
	if p.quick {
		return 100 * time.Millisecond
	}
	return 250 * time.Millisecond
}

// latency is how long calls are made at a constant rate.
func (p plan) latency() time.Duration {
	if p.quick {
		return 300 * time.Millisecond
	}
	return 2 * time.Second
}

func (p plan) match() (func(measure.Key) bool, error) {
	re, err := regexp.Compile(p.only)
	if err != nil {
		return nil, err
	}
	return func(k measure.Key) bool {
		return re.MatchString(fmt.Sprintf("%s/%s/%s", k.Part, k.Scenario, k.Peer))
	}, nil
}

func run(p plan, out, against string) error {
	if _, err := p.match(); err != nil {
		return err
	}
	// What can fail fails before anything is measured.
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var earlier []row
	if against != "" {
		rows, err := load(against)
		if err != nil {
			return err
		}
		earlier = rows
	}
	begin := time.Now()
	r, err := collect(p)
	if err != nil {
		return err
	}
	res := summarize(r)
	doc := document{results: res, machine: describeMachine(), plan: p, begin: begin, took: time.Since(begin)}
	if err := doc.write(out); err != nil {
		return err
	}
	if !p.quick && p.only == "" && out == "." {
		if err := doc.writeFigures(filepath.Join("..", "..", "README.md")); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "wrote %s in %v\n", filepath.Join(out, "RESULTS.md"), time.Since(begin).Round(time.Second))
	if against != "" {
		compareRuns(os.Stdout, earlier, res.rows)
	}
	return nil
}

// rewrite writes the figures of a README from the results of an earlier run.
func rewrite(readme, dir string) error {
	rows, err := load(filepath.Join(dir, "results.json"))
	if err != nil {
		return err
	}
	d := document{results: indexed(rows)}
	return d.writeFigures(readme)
}
