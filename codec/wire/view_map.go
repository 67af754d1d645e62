package wire

import (
	"cmp"
	"iter"
	"strings"

	"github.com/graven-rpc/graven/codec/internal/mem"
)

// mapKey is what keys of maps are.
type mapKey interface {
	bool | int32 | int64 | uint32 | uint64 | string
}

// The fields of an entry.
const (
	keyField   = 0
	valueField = 1
)

// ViewMap is a map of messages in a frame. It is valid as long as the frame is.
type ViewMap[K mapKey, V ~view] block

// ViewsBy is the map of messages in field i.
func ViewsBy[K mapKey, V ~view](v View, i int) ViewMap[K, V] { return ViewMap[K, V](v.block(i)) }

// Len is the number of entries.
func (m ViewMap[K, V]) Len() int { return int(m.size.n) }

// Get finds a value by its key, by binary search.
func (m ViewMap[K, V]) Get(key K) (value V, ok bool) {
	e, ok := find(block(m), key)
	return V(e.Message(valueField)), ok
}

// All yields keys and values in the order of the format: false before true, numbers by
// their bits taken as unsigned, strings by bytes.
func (m ViewMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range uint(m.size.n) {
			e := View(rowOf(block(m), i))
			if !yield(keyOf[K](e), V(e.Message(valueField))) {
				return
			}
		}
	}
}

// InlineMap is a map of inline messages in a frame. It is valid as long as the frame is.
type InlineMap[K mapKey, V ~inline] block

// InlinesBy is the map of inline messages in field i.
func InlinesBy[K mapKey, V ~inline](v View, i int) InlineMap[K, V] {
	return InlineMap[K, V](v.block(i))
}

// Len is the number of entries.
func (m InlineMap[K, V]) Len() int { return int(m.size.n) }

// Get finds a value by its key, by binary search.
func (m InlineMap[K, V]) Get(key K) (value V, ok bool) {
	e, ok := find(block(m), key)
	return V(e.Inline(valueField)), ok
}

// All yields keys and values in the order of the format, as [ViewMap.All] does.
func (m InlineMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range uint(m.size.n) {
			e := View(rowOf(block(m), i))
			if !yield(keyOf[K](e), V(e.Inline(valueField))) {
				return
			}
		}
	}
}

// NumberMap is a map of numbers or enums in a frame. It is valid as long as the frame is.
type NumberMap[K mapKey, V number] block

// NumbersBy is the map of numbers in field i.
func NumbersBy[K mapKey, V number](v View, i int) NumberMap[K, V] {
	return NumberMap[K, V](v.block(i))
}

// Len is the number of entries.
func (m NumberMap[K, V]) Len() int { return int(m.size.n) }

// Get finds a value by its key, by binary search.
func (m NumberMap[K, V]) Get(key K) (value V, ok bool) {
	e, ok := find(block(m), key)
	return numberOf[V](e), ok
}

// All yields keys and values in the order of the format, as [ViewMap.All] does.
func (m NumberMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range uint(m.size.n) {
			e := View(rowOf(block(m), i))
			if !yield(keyOf[K](e), numberOf[V](e)) {
				return
			}
		}
	}
}

// numberOf is the value of an entry.
func numberOf[V number](e View) (x V) {
	if s := e.slot(valueField); s.Off != 0 {
		x = mem.At[V](e.p, uint(s.Off))
	}
	return x
}

// ValueMap is a map of bools, strings or bytes in a frame. It and what it holds are valid
// as long as the frame is.
type ValueMap[K mapKey, V bool | string | []byte] block

// ValuesBy is the map of bools, strings or bytes in field i.
func ValuesBy[K mapKey, V bool | string | []byte](v View, i int) ValueMap[K, V] {
	return ValueMap[K, V](v.block(i))
}

// Len is the number of entries.
func (m ValueMap[K, V]) Len() int { return int(m.size.n) }

// Get finds a value by its key, by binary search.
func (m ValueMap[K, V]) Get(key K) (value V, ok bool) {
	e, ok := find(block(m), key)
	return valueOf[V](e), ok
}

// All yields keys and values in the order of the format, as [ViewMap.All] does.
func (m ValueMap[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range uint(m.size.n) {
			e := View(rowOf(block(m), i))
			if !yield(keyOf[K](e), valueOf[V](e)) {
				return
			}
		}
	}
}

func valueOf[V bool | string | []byte](e View) (x V) {
	switch p := any(&x).(type) {
	case *bool:
		*p = e.Bool(valueField)
	case *string:
		*p = e.Text(valueField)
	case *[]byte:
		*p = e.Bytes(valueField)
	}
	return x
}

func keyOf[K mapKey](e View) (k K) {
	switch p := any(&k).(type) {
	case *bool:
		*p = e.Bool(keyField)
	case *int32:
		*p = int32(e.U32(keyField))
	case *uint32:
		*p = e.U32(keyField)
	case *int64:
		*p = int64(e.U64(keyField))
	case *uint64:
		*p = e.U64(keyField)
	case *string:
		*p = e.Text(keyField)
	}
	return k
}

// find looks for an entry in a block whose rows ascend, as Verify has found.
func find[K mapKey](b block, key K) (View, bool) {
	lo, hi := uint(0), uint(b.size.n)
	for lo < hi {
		i := (lo + hi) / 2
		e := View(rowOf(b, i))
		c := 0
		switch k := any(key).(type) {
		case bool:
			c = cmp.Compare(Bit(e.Bool(keyField)), Bit(k))
		case int32:
			c = cmp.Compare(uint64(e.U32(keyField)), uint64(uint32(k)))
		case uint32:
			c = cmp.Compare(uint64(e.U32(keyField)), uint64(k))
		case int64:
			c = cmp.Compare(e.U64(keyField), uint64(k))
		case uint64:
			c = cmp.Compare(e.U64(keyField), k)
		case string:
			c = strings.Compare(e.Text(keyField), k)
		}
		switch {
		case c == 0:
			return e, true
		case c < 0:
			lo = i + 1
		default:
			hi = i
		}
	}
	return View{}, false
}
