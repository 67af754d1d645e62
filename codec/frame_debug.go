//go:build gravendebug

package codec

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
)

// debugFrame is what a Frame notes in programs built with the tag gravendebug.
type debugFrame struct {
	released *place
	guard    *guard
}

// place is a place in the program.
type place struct {
	pcs [16]uintptr
	n   int
}

func here() *place {
	p := new(place)
	p.n = runtime.Callers(4, p.pcs[:])
	return p
}

func (p *place) String() string {
	var s strings.Builder
	frames := runtime.CallersFrames(p.pcs[:p.n])
	for {
		f, more := frames.Next()
		fmt.Fprintf(&s, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		if !more {
			return s.String()
		}
	}
}

// guard lives as long as its Frame holds memory. If the garbage collector finds it first,
// the Frame was not released.
type guard struct {
	held *place
	done atomic.Bool
}

// leaked reports a Frame that was never released; tests listen to it.
var leaked atomic.Pointer[func(string)]

func (g *guard) collected() {
	if g.done.Load() {
		return
	}
	s := "graven: a frame was not released; it took its memory at:" + g.held.String()
	if report := leaked.Load(); report != nil {
		(*report)(s)
		return
	}
	fmt.Fprintln(os.Stderr, s)
}

// check panics if the frame was released.
func (c *frameCore) check(call string) {
	if c.state.Load()&stateReleased != 0 {
		panic("graven: " + call + " on a frame that was released at:" + c.debug.released.String())
	}
}

// holds notes where the frame took memory that is to be released.
func (d *debugFrame) holds(owner Owner) {
	if owner == nil {
		return
	}
	d.guard = &guard{held: here()}
	runtime.SetFinalizer(d.guard, (*guard).collected)
}

// release notes where the frame was released.
func (d *debugFrame) release() {
	d.excuse()
	d.released = here()
}

// drop forgets memory that is left to the garbage collector.
func (d *debugFrame) drop() { d.guard = nil }

// excuse forgets memory that the frame itself gives up and can't free, since views of it
// may be in use.
func (d *debugFrame) excuse() {
	if d.guard != nil {
		d.guard.done.Store(true)
	}
}
