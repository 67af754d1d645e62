package wire

import (
	"iter"
	"strconv"
)

// ViewList is a list of messages in a frame. It is valid as long as the frame is.
type ViewList[V ~view] block

// Views is the list of messages in field i.
func Views[V ~view](v View, i int) ViewList[V] { return ViewList[V](v.block(i)) }

// Len is the number of messages.
func (l ViewList[V]) Len() int { return int(l.size.n) }

// At is message i. It panics if there is none.
func (l ViewList[V]) At(i int) V {
	if uint(i) >= uint(l.size.n) {
		noElement(i, int(l.size.n))
	}
	return V(rowOf(block(l), uint(i)))
}

// All yields the messages in order.
func (l ViewList[V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		v := view{p: l.p, tail: l.tail, at: l.at}
		for n := l.size.n; n > 0; n-- {
			step := uint(v.at.Step)
			if v.at.Ends {
				v.part.to = l.size.tail
				if n > 1 {
					v.part.to = min(v.part.to, v.p.U32(step-4))
				}
			}
			if !yield(V(v)) {
				return
			}
			if n > 1 {
				v.p = v.p.Add(step)
				v.part.from = v.part.to
			}
		}
	}
}
func noElement(i, n int) {
	panic("graven: element " + strconv.Itoa(i) + " of a list of " + strconv.Itoa(n))
}
