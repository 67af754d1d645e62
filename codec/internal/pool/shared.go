package pool

// Shared is a Buffer for owners that are known to give up each reference once: it
// is one word, so that an interface holds it without an allocation, and tells how many
// references there are. After its last reference is freed it must not be used;
// only in programs built with the tag gravendebug that panics.
type Shared struct{ *block }

// NewShared is NewBuffer for a Shared.
func (p *Pool) NewShared(length int) Shared { return Shared{p.NewBuffer(length).block} }

func (s Shared) buffer() Buffer { return Buffer{s.block, uint32(s.state.Load() >> 32)} }

// Ref makes another reference, to be freed by its own call of Free.
func (s Shared) Ref() { s.buffer().Ref() }

// Free gives up one reference.
func (s Shared) Free() { s.buffer().Free() }

// Bytes is the memory, of the length that was asked for. Only as long as there is no other
// owner may it be written to.
func (s Shared) Bytes() []byte { return s.buffer().Bytes() }

// Refs is how many references there are.
func (s Shared) Refs() int { return int(uint32(s.state.Load())) }
