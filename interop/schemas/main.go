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
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/check"
	"github.com/graven-rpc/graven/interop/schemas/sets"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("schemas: ")
	names := flag.String("set", "", "names of sets, separated by commas; all if empty")
	values := flag.Int("values", 20, "random values for each message type")
	seed := flag.Uint64("seed", 1, "seed of the first value")
	generate := flag.Bool("generate", false, "generate Go code, build and vet it, and send values through it")
	keep := flag.String("keep", "", "with -generate: the folder to generate into and leave behind")
	flag.Parse()

	var chosen []*sets.Set
	for i := range sets.All {
		if s := &sets.All[i]; *names == "" || slices.Contains(strings.Split(*names, ","), s.Name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		log.Fatalf("no set named %s", *names)
	}
	run := dynamic
	if *generate {
		run = func(s *sets.Set, cache string, values int, seed uint64) (result, error) {
			return generated(s, cache, *keep, values, seed)
		}
	}
	if err := table(chosen, run, *values, *seed); err != nil {
		log.Fatal(err)
	}
}

// A result is one line of the table. Of code, only generated sets have any.
type result struct {
	files, messages          int
	values                   int64
	frames, protobuf         int64 // bytes
	failures                 []string
	took                     time.Duration
	code                     bool
	ourLines, theirLines     int
	ourCompile, theirCompile time.Duration // CPU time
}

func table(chosen []*sets.Set, run func(*sets.Set, string, int, uint64) (result, error), values int, seed uint64) error {
	cache, err := sets.Cache()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "set\tfiles\tmessages\tvalues\tdifferences\tframe/protobuf bytes\ttime\tlines ours\tprotoc-gen-go\tcompile ours\tprotoc-gen-go\t")
	failed := 0
	for _, s := range chosen {
		r, err := run(s, cache, values, seed)
		if err != nil {
			return err
		}
		for _, f := range r.failures[:min(len(r.failures), 10)] {
			log.Print(f)
		}
		failed += len(r.failures)
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2f\t%.1fs\t", s.Name, r.files, r.messages, r.values, len(r.failures),
			float64(r.frames)/float64(max(r.protobuf, 1)), r.took.Seconds())
		if r.code {
			fmt.Fprintf(w, "%d\t%d\t%.1fs\t%.1fs\t\n", r.ourLines, r.theirLines, r.ourCompile.Seconds(), r.theirCompile.Seconds())
		} else {
			fmt.Fprint(w, "\t\t\t\t\n")
		}
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
	r := result{files: types.Files, messages: len(types.Messages)}
	start := time.Now()
	workers := runtime.GOMAXPROCS(0)
	checkers := make([]check.Checker, workers)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range checkers {
		c := &checkers[i]
		*c = check.Checker{
			Codec:      codec.Options{Resolver: types},
			Partial:    codec.Options{Resolver: types, AllowPartial: true},
			Resolver:   types,
			Extensions: types.Extensions,
			Seed:       seed,
		}
		wg.Go(func() {
			for j := i; j < len(types.Messages); j += workers {
				if err := safely(c, types.Messages[j], values); err != nil {
					mu.Lock()
					r.failures = append(r.failures, err.Error())
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	r.took = time.Since(start)
	for i := range checkers {
		r.values += checkers[i].Values
		r.frames += checkers[i].Frames
		r.protobuf += checkers[i].Protobuf
	}
	slices.Sort(r.failures)
	return r, nil
}

// safely turns a panic of the codec into a failure of one type.
func safely(c *check.Checker, mt protoreflect.MessageType, values int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic: %v", mt.Descriptor().FullName(), p)
		}
	}()
	return c.Type(mt, values)
}
