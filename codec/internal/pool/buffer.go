package pool

import (
	"sync/atomic"
)

// Buffer is a reference to bytes that may have several owners. Each owner has one
// reference and frees it once; with the last one the memory goes back to the pool it
// came from. An owner that never calls Free does no harm: the garbage
// collector takes the memory.
//
// A Buffer is a small value. Copying it does not make another reference, Ref
// does. The zero value refers to nothing, and its methods do nothing.
//
// Once all references are freed, what is left of them is void: Bytes is nil,
// Ref and Free do nothing, even if the memory is in use again for another
// Buffer. In programs built with the tag gravendebug these three panic
// instead, and say where the last reference was freed. (A Free too many by one
// owner while others still hold the buffer takes the reference of one of them.)
//
// Ref, Free and Bytes may be called by several goroutines at once, but an owner
// must not use the bytes while it frees its own reference.
type Buffer struct {
	*block
	life uint32
}

// block is the memory behind a Buffer. It is used again with another life, so
// that a Buffer can tell that it is void.
type block struct {
	// state has the number of this life in its upper half and that of the
	// references in the lower one.
	state atomic.Uint64
	pool  *Pool
	class int // in pool, or -1 if it is not to be kept
	data  []byte
	freed trace
}

// NewBuffer returns a Buffer of length bytes with arbitrary content and one
// reference to it. The capacity of its bytes is that of the class.
func (p *Pool) NewBuffer(length int) Buffer {
	class := -1
	size := length
	if length <= MaxPooled {
		class = classOf(length)
		if b, ok := p.blocks[class].Get().(*block); ok {
			b.data = b.data[:length]
			life := b.state.Add(1) >> 32
			return Buffer{b, uint32(life)}
		}
		size = sizeOf(class)
	}
	b := &block{pool: p, class: class}
	if p.Make != nil {
		b.data = p.Make(size)[:length]
	} else {
		b.data = make([]byte, length, size)
	}
	b.state.Store(1)
	return Buffer{block: b}
}

// Bytes is the memory, of the length that was asked for. Only as long as there is
// no other owner may it be written to.
func (b Buffer) Bytes() []byte {
	if b.block == nil {
		return nil
	}
	if s := b.state.Load(); uint32(s>>32) != b.life || uint32(s) == 0 {
		b.misuse("Bytes")
		return nil
	}
	return b.data
}

// Ref makes another reference, to be freed by its own call of Free.
func (b Buffer) Ref() {
	if b.block == nil {
		return
	}
	for {
		s := b.state.Load()
		if uint32(s>>32) != b.life || uint32(s) == 0 {
			b.misuse("Ref")
			return
		}
		if b.state.CompareAndSwap(s, s+1) {
			return
		}
	}
}

// Free gives up one reference.
func (b Buffer) Free() {
	if b.block == nil {
		return
	}
	for {
		s := b.state.Load()
		if uint32(s>>32) != b.life || uint32(s) == 0 {
			b.misuse("Free")
			return
		}
		if uint32(s) > 1 {
			if b.state.CompareAndSwap(s, s-1) {
				return
			}
			continue
		}
		// Nobody else has a reference, so nobody else may use what follows, and
		// the next life begins before the memory can be handed out.
		if b.state.CompareAndSwap(s, uint64(b.life+1)<<32) {
			b.recycle()
			return
		}
	}
}

func (b *block) recycle() {
	b.freed.record()
	if b.pool.Poison {
		poison(b.data[:cap(b.data)])
	}
	if b.class >= 0 && !Debug {
		b.pool.blocks[b.class].Put(b)
	}
}

// misuse panics in debug mode.
func (b *block) misuse(call string) {
	if Debug {
		panic("pool: " + call + " on a buffer that was released " + b.freed.String())
	}
}
