//go:build !gravendebug

package codec

// debugFrame is what a Frame notes for people who look for misuse, outside of debug
// mode nothing.
type debugFrame struct{}

func (*frameCore) check(string) {}
func (*debugFrame) holds(Owner) {}
func (*debugFrame) release()    {}
func (*debugFrame) drop()       {}
func (*debugFrame) excuse()     {}
