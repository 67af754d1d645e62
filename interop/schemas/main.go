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
	return table(chosen, run, *generate, *values, *seed)
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

func table(chosen []*sets.Set, run func(*sets.Set, string, int, uint64) (result, error), withCode bool, values int, seed uint64) error {
	cache, err := sets.Cache()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := "set\tfiles\tmessages\tvalues\tdamaged (accepted)\tdifferences\tframe/protobuf bytes\ttime\t"
	if withCode {
		header += "with methods\tfields viewed\tlines: .pb.go\tmethods\tviews\tcompile: .pb.go\tand methods\tviews\t"
	}
	fmt.Fprintln(w, header)
	failed := 0
	for _, s := range chosen {
		r, err := run(s, cache, values, seed)
		if err != nil {
			return err
		}
		for _, f := range r.Failures[:min(len(r.Failures), 10)] {
			log.Print(f)
		}
		failed += len(r.Failures)
		log.Printf("%s: %d values, %d differences", s.Name, r.Values, len(r.Failures))
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d (%d)\t%d\t%.2f\t%.1fs\t", s.Name, r.files, r.Types, r.Values, r.Damaged, r.Accepted, len(r.Failures),
			float64(r.Frames)/float64(max(r.Protobuf, 1)), r.took.Seconds())
		if c := r.code; c != nil {
			fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%.1fs\t%.1fs\t%.1fs\t", r.Methods, r.Viewed,
				c.theirs.lines, c.methods.lines, c.views.lines,
				c.theirs.compile.Seconds(), c.methods.compile.Seconds(), c.views.compile.Seconds())
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d message types fail", failed)
	}
	return nil
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
