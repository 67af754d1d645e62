package check

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// A Summary is what came of many types.
type Summary struct {
	Types    int
	Methods  int      // types that have generated methods of the codec
	Values   int64    // random values sent, as far as they arrived
	Frames   int64    // bytes of their frames
	Protobuf int64    // bytes that protobuf takes for them
	Viewed   int64    // fields read through views
	Damaged  int64    // damaged frames decoded
	Accepted int64    // of these, how many were accepted
	Failures []string // one a type at most
}

// All sends n random values of each of the types, on all processors, with
// checkers as c.
func All(c Checker, types []protoreflect.MessageType, n int) Summary {
	workers := runtime.GOMAXPROCS(0)
	checkers := make([]Checker, workers)
	s := Summary{Types: len(types)}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range checkers {
		checkers[i] = c
		wg.Go(func() {
			for j := i; j < len(types); j += workers {
				if err := checkers[i].Safely(types[j], n); err != nil {
					mu.Lock()
					s.Failures = append(s.Failures, err.Error())
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for i := range checkers {
		s.Viewed += checkers[i].Viewed - c.Viewed
		s.Damaged += checkers[i].Damaged - c.Damaged
		s.Accepted += checkers[i].Accepted - c.Accepted
		s.Values += checkers[i].Values - c.Values
		s.Frames += checkers[i].Frames - c.Frames
		s.Protobuf += checkers[i].Protobuf - c.Protobuf
	}
	slices.Sort(s.Failures)
	return s
}

// Safely is Type with a panic of the codec as an error.
func (c *Checker) Safely(mt protoreflect.MessageType, n int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			stack := make([]byte, 4096)
			stack = stack[:runtime.Stack(stack, false)]
			err = fmt.Errorf("%s: panic: %v\n%s", mt.Descriptor().FullName(), p, stack)
		}
	}()
	return c.Type(mt, n)
}
