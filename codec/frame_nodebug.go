//go:build !gravendebug

package codec

// debugFrame is what a Frame notes for people who look for misuse, outside of debug
// mode nothing.
//
//lint:ignore U1000 the tag gravendebug uses it
type debugFrame struct{}

func (c *frameCore) check(string) {}
func (c *frameCore) held()        {}
func (c *frameCore) release()     {}
func (c *frameCore) drop()        {}
func (c *frameCore) excuse()      {}
