//go:build !gravendebug

package pool

// Debug is whether the use of a buffer after its release panics. The build tag
// gravendebug sets it.
const Debug = false

// trace is a place in the program, of which nothing is noted outside of debug
// mode.
type trace struct{}

func (trace) record()        {}
func (trace) String() string { return "" }
