//go:build !gravendebug

package codec

// debugFrame is what a Frame notes for people who look for misuse, outside of debug
// mode nothing.
//
//lint:ignore U1000 the tag gravendebug uses it
type debugFrame struct{}

func (f *Frame[V]) check(string) {}
func (f *Frame[V]) held()        {}
func (f *Frame[V]) release()     {}
func (f *Frame[V]) drop()        {}
func (f *Frame[V]) excuse()      {}
