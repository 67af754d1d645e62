//go:build gravendebug

package pool

import (
	"fmt"
	"runtime"
	"strings"
)

// Debug is whether the use of a buffer after its release panics. The build tag
// gravendebug sets it. Buffers are then not used again, so that each one is known
// to be released for good.
const Debug = true

// trace is a place in the program.
type trace struct {
	pcs [16]uintptr
	n   int
}

// record notes who called the method of Buffer that calls record's caller.
func (t *trace) record() { t.n = runtime.Callers(4, t.pcs[:]) }

func (t *trace) String() string {
	var s strings.Builder
	s.WriteString("at:")
	frames := runtime.CallersFrames(t.pcs[:t.n])
	for {
		f, more := frames.Next()
		fmt.Fprintf(&s, "\n\t%s\n\t\t%s:%d", f.Function, f.File, f.Line)
		if !more {
			return s.String()
		}
	}
}
