// Package pool keeps byte buffers for reuse, in size classes that fit closely,
// and counts the references to those that have several owners.
//
// What is taken out is dirty: it holds whatever its last user left, so that
// taking a buffer costs the same at every size. Who takes one writes all that it
// hands on.
package pool

import (
	"math/bits"
	"sync"
)

const (
	// minShift and maxShift are the logarithms of the smallest and the largest
	// class, 64 bytes and 64 MiB. Smaller buffers are not worth the bookkeeping;
	// larger ones are too rare to be found again before the garbage collector
	// empties the pool, and are allocated and left to it.
	minShift = 6
	maxShift = 26

	// There are four classes to each power of two, so a buffer is at most a
	// quarter larger than what was asked for, and an eighth on average.
	stepShift = 2

	classes = (maxShift-minShift)<<stepShift + 1

	// MaxPooled is the size of the largest buffer that is kept, in bytes.
	MaxPooled = 1 << maxShift
)

// PoisonByte is what a poisoning pool fills buffers with.
const PoisonByte = 0xDB

// Pool is a set of buffers by size. The zero value is an empty pool, ready for use.
// It is safe for concurrent use and must not be copied. It has the methods
// of a BufferPool of package google.golang.org/grpc/mem.
type Pool struct {
	// Poison makes the pool overwrite what is put back, so that tests see who
	// still reads it. It has to be set before the first use.
	Poison bool
	// Make makes the memory of Buffers, for tests that want it to stand where nothing behind it
	// may be touched. It has to be set before the first use.
	Make func(size int) []byte

	slices [classes]sync.Pool // of *[]byte
	blocks [classes]sync.Pool // of *block
}

// Default is the pool that serves where no other was asked for.
var Default = new(Pool)

// classOf is the smallest class that holds n bytes, for n up to MaxPooled.
func classOf(n int) int {
	if n <= 1<<minShift {
		return 0
	}
	shift := bits.Len(uint(n-1)) - 1 // 1<<shift < n <= 2<<shift
	step := shift - stepShift
	return (shift-minShift)<<stepShift + (n-1-1<<shift)>>step + 1
}

// sizeOf is the number of bytes of the buffers of a class.
func sizeOf(class int) int {
	if class == 0 {
		return 1 << minShift
	}
	shift := (class-1)>>stepShift + minShift
	return 1<<shift + ((class-1)&(1<<stepShift-1)+1)<<(shift-stepShift)
}

// Get returns a buffer of length bytes with arbitrary content. Its capacity is
// that of its class, or length if that is above [MaxPooled].
func (p *Pool) Get(length int) *[]byte {
	if length > MaxPooled {
		b := make([]byte, length)
		return &b
	}
	class := classOf(length)
	if b, ok := p.slices[class].Get().(*[]byte); ok {
		*b = (*b)[:length]
		return b
	}
	b := make([]byte, length, sizeOf(class))
	return &b
}

// Put gives back a buffer that Get has returned, or a slice of its start. The
// caller must not use it any more. A buffer whose capacity is not that of a
// class, which append may have made, is left to the garbage collector, so that a
// buffer in use never takes more memory than its class says.
func (p *Pool) Put(b *[]byte) {
	size := cap(*b)
	if p.Poison {
		poison((*b)[:size])
	}
	if size == 0 || size > MaxPooled {
		return
	}
	if class := classOf(size); sizeOf(class) == size {
		p.slices[class].Put(b)
	}
}

func poison(b []byte) {
	if len(b) == 0 {
		return
	}
	b[0] = PoisonByte
	for n := 1; n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}
