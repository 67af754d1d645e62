// Command schemas sends random values of real schemas' messages through the
// codec: Google's APIs, Kubernetes, the test protos of protobuf-go and those of
// the conformance suite. It fetches the schemas and keeps them in a cache folder
// outside of this repository ($GRAVEN_CACHE, or one of the user's).
//
//	go run -tags protolegacy .                     all sets, dynamic messages
//	go run -tags protolegacy . -generate           the same with generated code
//	go run -tags protolegacy . -set kubernetes,google -values 100
//
// It prints a table and fails if any value arrives other than it was sent. The
// tag switches on protobuf-go's support for MessageSet, which its own test
// protos use.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/check"
	"github.com/graven-rpc/graven/interop/schemas/sets"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("schemas: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	names := flag.String("set", "", "names of sets, separated by commas; all if empty")
	values := flag.Int("values", 20, "random values for each message type")
	seed := flag.Uint64("seed", 1, "seed of the first value")
	generate := flag.Bool("generate", false, "generate Go code, build and vet it, and send values through it")
	views := flag.Bool("views", true, "with -generate: views too, which take long to compile for large sets")
	keep := flag.String("keep", "", "with -generate: the folder to generate into and leave behind")
	results := flag.String("results", "", "a file to write the table to, too, as RESULTS.md has it")
	flag.Parse()

	var chosen []*sets.Set
	for i := range sets.All {
		if s := &sets.All[i]; *names == "" || slices.Contains(strings.Split(*names, ","), s.Name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no set named %s", *names)
	}
	run := dynamic // of one set
	if *generate {
		g, err := newGenerator(*keep, *views)
		if err != nil {
			return err
		}
		defer g.close()
		run = g.run
	}
	rows, err := table(chosen, run, *generate, *values, *seed)
	if err == nil && *results != "" {
		err = os.WriteFile(*results, markdown(strings.Join(os.Args[1:], " "), rows), 0o644)
	}
	return err
}

// A result is one line of the table.
type result struct {
	check.Summary
	files int
	took  time.Duration
	code  *code // of a set with generated code
}

// code is what generators wrote: protoc-gen-go, the methods beside its files, and
// the packages of views.
type code struct{ theirs, methods, views cost }

// cost is how many lines were written, and the CPU time of building all packages
// as soon as they were there. Packages that did not change are not built again.
type cost struct {
	lines   int
	compile time.Duration
}

// table runs the sets and prints what came of each. It gives the rows, the header first.
func table(chosen []*sets.Set, run func(*sets.Set, string, int, uint64) (result, error), withCode bool, values int, seed uint64) ([][]string, error) {
	cache, err := sets.Cache()
	if err != nil {
		return nil, err
	}
	header := []string{"set", "files", "messages", "values", "damaged (accepted)", "differences", "frame/protobuf bytes", "time"}
	if withCode {
		header = append(header, "with methods", "fields viewed", "lines: .pb.go", "methods", "views", "compile: .pb.go", "and methods", "views")
	}
	rows := [][]string{header}
	failed := 0
	for _, s := range chosen {
		r, err := run(s, cache, values, seed)
		if err != nil {
			return nil, err
		}
		for _, f := range r.Failures[:min(len(r.Failures), 10)] {
			log.Print(f)
		}
		failed += len(r.Failures)
		log.Printf("%s: %d values, %d differences", s.Name, r.Values, len(r.Failures))
		seconds := func(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
		row := []string{s.Name, fmt.Sprint(r.files), fmt.Sprint(r.Types), fmt.Sprint(r.Values), fmt.Sprintf("%d (%d)", r.Damaged, r.Accepted),
			fmt.Sprint(len(r.Failures)), fmt.Sprintf("%.2f", float64(r.Frames)/float64(max(r.Protobuf, 1))), seconds(r.took)}
		if c := r.code; c != nil {
			row = append(row, fmt.Sprint(r.Methods), fmt.Sprint(r.Viewed), fmt.Sprint(c.theirs.lines), fmt.Sprint(c.methods.lines), fmt.Sprint(c.views.lines),
				seconds(c.theirs.compile), seconds(c.methods.compile), seconds(c.views.compile))
		}
		rows = append(rows, row)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if failed > 0 {
		return nil, fmt.Errorf("%d message types fail", failed)
	}
	return rows, nil
}

// markdown is the table as a file of its own.
func markdown(args string, rows [][]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Results\n\nWritten by `go run -tags protolegacy . %s`; the README says what the columns are. Compile times are CPU seconds.\n\n", args)
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintln(&b, "| --- |"+strings.Repeat(" ---: |", len(row)-1))
		}
	}
	return b.Bytes()
}

// dynamic checks all messages of a set without generated code.
func dynamic(s *sets.Set, cache string, values int, seed uint64) (result, error) {
	files, own, err := s.Load(cache)
	if err != nil {
		return result{}, err
	}
	types, err := sets.NewTypes(files, own)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", s.Name, err)
	}
	if len(types.Messages) == 0 {
		return result{}, errors.New(s.Name + ": no messages")
	}
	start := time.Now()
	summary := check.All(check.Checker{
		Codec:      codec.Options{Resolver: types},
		Partial:    codec.Options{Resolver: types, AllowPartial: true},
		Resolver:   types,
		Extensions: types.Extensions,
		Seed:       seed,
	}, types.Messages, values)
	return result{Summary: summary, files: types.Files, took: time.Since(start)}, nil
}
