package wire

import (
	"iter"
	"slices"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// StringList is a list of strings in a frame. It and the strings are valid as long as
// the frame is.
type StringList blobs

// BlobList is a list of bytes in a frame. It and what it holds are valid as long as the
// frame is, and must not be changed.
type BlobList blobs

type blobs = struct {
	ends mem.Ptr // n-1 of them
	data mem.Ptr
	size size
}

// Strings is the list of strings in field i.
func (v View) Strings(i int) StringList { return StringList(v.blobs(i)) }

// Blobs is the list of bytes in field i.
func (v View) Blobs(i int) BlobList { return BlobList(v.blobs(i)) }

func (v View) blobs(i int) (l blobs) {
	p, size := v.elements(i, 1)
	if size == 0 {
		return l
	}
	n, k := layout.Uvarint(p.Bytes(0, uint(size)))
	head := uint64(k) + 4*uint64(n) - 4
	if k == 0 || head > uint64(size) {
		return l
	}
	l.ends, l.data = p.Add(uint(k)), p.Add(uint(head))
	l.size.n, l.size.tail = n, uint32(uint64(size)-head)
	return l
}

// blobAt is where element i lies, which must be below the count.
func blobAt(l blobs, i uint) (from, n uint) {
	to := l.size.tail
	if i+1 < uint(l.size.n) {
		to = min(to, l.ends.U32(4*i))
	}
	start := uint32(0)
	if i > 0 {
		start = min(to, l.ends.U32(4*i-4))
	}
	return uint(start), uint(to - start)
}

// Len is the number of strings.
func (l StringList) Len() int { return int(l.size.n) }

// At is string i. It panics if there is none.
func (l StringList) At(i int) string {
	if uint(i) >= uint(l.size.n) {
		noElement(i, int(l.size.n))
	}
	from, n := blobAt(blobs(l), uint(i))
	return l.data.String(from, n)
}

// All yields the strings in order.
func (l StringList) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range uint(l.size.n) {
			from, n := blobAt(blobs(l), i)
			if !yield(l.data.String(from, n)) {
				return
			}
		}
	}
}

// AppendTo appends all strings to dst, which then refers to the frame's memory.
func (l StringList) AppendTo(dst []string) []string {
	return slices.AppendSeq(slices.Grow(dst, l.Len()), l.All())
}

// Len is the number of elements.
func (l BlobList) Len() int { return int(l.size.n) }

// At is element i. It panics if there is none.
func (l BlobList) At(i int) []byte {
	if uint(i) >= uint(l.size.n) {
		noElement(i, int(l.size.n))
	}
	from, n := blobAt(blobs(l), uint(i))
	return l.data.Bytes(from, n)
}

// All yields the elements in order.
func (l BlobList) All() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := range uint(l.size.n) {
			from, n := blobAt(blobs(l), i)
			if !yield(l.data.Bytes(from, n)) {
				return
			}
		}
	}
}

// AppendTo appends all elements to dst, which then refers to the frame's memory.
func (l BlobList) AppendTo(dst [][]byte) [][]byte {
	return slices.AppendSeq(slices.Grow(dst, l.Len()), l.All())
}
