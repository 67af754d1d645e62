package rpc

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/mem"
)

// classPool hands out buffers of sizes a quarter of a power of two apart, as they
// were left. grpc-go's own pool knows five sizes and clears every buffer, which
// for a message a little larger than 32 KiB means a whole 1 MiB.
type classPool struct{ classes [128]sync.Pool }

var _ mem.BufferPool = (*classPool)(nil)

// class is the index of the smallest class that holds n bytes, and its size.
func class(n int) (int, int) {
	if n <= 64 {
		return 0, 64
	}
	shift := bits.Len(uint(n-1)) - 3
	steps := (n - 1) >> shift // 4 to 7
	return (shift-4)*4 + steps - 3, (steps + 1) << shift
}

func (p *classPool) Get(n int) *[]byte {
	c, size := class(n)
	if b, ok := p.classes[c].Get().(*[]byte); ok {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n, size)
	return &b
}

func (p *classPool) Put(b *[]byte) {
	if c, size := class(cap(*b)); size == cap(*b) {
		p.classes[c].Put(b)
	}
}
