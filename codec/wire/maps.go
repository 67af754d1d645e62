package wire

import (
	"math"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Entry is an entry of a map being written: its row and where its value goes.
type Entry struct {
	b   *Block
	row uint
	o   uint32 // of the value: slot or end
	bit uint32 // of a bool value
}

// PutValue writes the value of an entry and returns where the tail ends.
type PutValue[V any] func(e *Encoder, at Entry, tail uint, v V) uint

// MapInfo is the layout of a map's entries, made on first use.
type MapInfo struct{ t Type }

// of gives the layout, found through the message type that has the map.
func (m *MapInfo) of(parent *Info, number int32) *Info {
	if i := m.t.info.Load(); i != nil {
		return i
	}
	return m.t.make(parent.Layout.FieldByNumber(number).Child.Desc)
}

// beginMap opens the block of n entries.
func (e *Encoder) beginMap(i *Info, tail uint, n int) (Block, uint, bool) {
	return e.open(i.full, tail, n, false, false)
}

// entry starts a row with both bits set.
func (e *Encoder) entry(i *Info, b *Block, row uint, bits uint64) Entry {
	b.Bits(row, bits)
	return Entry{b: b, row: row, o: b.Offs()[1], bit: i.Layout.Full.Fields[1].Bit}
}

// StringMap writes a map with string keys; check says whether they have to be UTF-8.
func StringMap[V any](e *Encoder, tail uint, m *MapInfo, parent *Info, number int32, xs map[string]V, check bool, put PutValue[V]) uint {
	if len(xs) == 0 {
		return tail
	}
	i := m.of(parent, number)
	mark := len(e.strings)
	for k := range xs {
		e.strings = append(e.strings, k)
	}
	keys := e.strings[mark:]
	slices.Sort(keys)
	b, row, ok := e.beginMap(i, tail, len(keys))
	if ok {
		tail = b.Tail
		for _, k := range keys {
			at := e.entry(i, &b, row, 3)
			if check {
				tail = e.String(tail, k)
			} else {
				tail = e.Text(tail, k)
			}
			b.Out.End(row, b.Offs()[0], tail-b.Tail)
			tail = put(e, at, tail, xs[k])
			row += b.Step()
			b.Last(row, tail)
		}
	}
	clear(keys)
	e.strings = e.strings[:mark]
	return e.Close(tail)
}

// IntMap writes a map with integer keys.
func IntMap[K integer, V any](e *Encoder, tail uint, m *MapInfo, parent *Info, number int32, xs map[K]V, put PutValue[V]) uint {
	if len(xs) == 0 {
		return tail
	}
	i := m.of(parent, number)
	mark := len(e.numbers)
	four := mem.SizeOf[K]() == 4
	for k := range xs {
		x := uint64(k)
		if four {
			x = uint64(uint32(k))
		}
		e.numbers = append(e.numbers, x)
	}
	keys := e.numbers[mark:]
	slices.Sort(keys)
	b, row, ok := e.beginMap(i, tail, len(keys))
	if ok {
		tail = b.Tail
		for _, k := range keys {
			at := e.entry(i, &b, row, 3)
			if four {
				b.Out.U32(row, b.Offs()[0], uint32(k))
			} else {
				b.Out.U64(row, b.Offs()[0], k)
			}
			tail = put(e, at, tail, xs[K(k)])
			row += b.Step()
			b.Last(row, tail)
		}
	}
	e.numbers = e.numbers[:mark]
	return e.Close(tail)
}

// BoolMap writes a map with bool keys.
func BoolMap[V any](e *Encoder, tail uint, m *MapInfo, parent *Info, number int32, xs map[bool]V, put PutValue[V]) uint {
	// Looked up once: whoever changes the map meanwhile must not add a row.
	keys, n := [2]bool{false, true}, 0
	var values [2]V
	for _, k := range keys {
		if v, has := xs[k]; has {
			keys[n], values[n] = k, v
			n++
		}
	}
	if n == 0 {
		return tail
	}
	i := m.of(parent, number)
	b, row, ok := e.beginMap(i, tail, n)
	if ok {
		tail = b.Tail
		for j, k := range keys[:n] {
			at := e.entry(i, &b, row, 1|Bit(k)<<1|4)
			tail = put(e, at, tail, values[j])
			row += b.Step()
			b.Last(row, tail)
		}
	}
	return e.Close(tail)
}

// The functions that put the values of maps.

func PutU32[V ~int32 | ~uint32](e *Encoder, at Entry, tail uint, v V) uint {
	at.b.Out.U32(at.row, at.o, uint32(v))
	return tail
}

func PutU64[V ~int64 | ~uint64](e *Encoder, at Entry, tail uint, v V) uint {
	at.b.Out.U64(at.row, at.o, uint64(v))
	return tail
}

func PutF32(e *Encoder, at Entry, tail uint, v float32) uint {
	at.b.Out.U32(at.row, at.o, math.Float32bits(v))
	return tail
}

func PutF64(e *Encoder, at Entry, tail uint, v float64) uint {
	at.b.Out.U64(at.row, at.o, math.Float64bits(v))
	return tail
}

func PutBool(e *Encoder, at Entry, tail uint, v bool) uint {
	if v {
		i := at.row + uint((at.bit+1)/8)
		at.b.Out.p.Put8(i, at.b.Out.p.U8(i)|1<<((at.bit+1)%8))
	}
	return tail
}

// The ends of variable values: an entry's value is its row's last variable field.

func PutString(e *Encoder, at Entry, tail uint, v string) uint { return e.String(tail, v) }
func PutText(e *Encoder, at Entry, tail uint, v string) uint   { return e.Text(tail, v) }
func PutBytes(e *Encoder, at Entry, tail uint, v []byte) uint  { return e.Bytes(tail, v) }

// PutMessage puts messages of any package.
func PutMessage[V proto.Message](e *Encoder, at Entry, tail uint, v V) uint {
	return e.Message(tail, v)
}

// PutInline puts inline messages of any package.
func PutInline[V proto.Message](e *Encoder, at Entry, tail uint, v V) uint {
	size := uint(at.b.form.stride) - uint(at.o)
	if at.b.form.ends {
		size -= 4 // of the key
	}
	e.Pack(at.row+uint(at.o), v, size)
	return tail
}

// GetKey and GetValue read the key and the value of an entry; the zero value if it is absent.
type (
	GetKey[K any]   func(d *Decoder, r Row, s *Slot) K
	GetValue[V any] func(d *Decoder, r Row, s *Slot) V
)

// Map decodes a present map.
func Map[K comparable, V any](d *Decoder, r Row, s *Slot, m *MapInfo, parent *Info, number int32, key GetKey[K], value GetValue[V]) map[K]V {
	var b Rows
	d.open(m.of(parent, number), r.Bytes(s), &b)
	d.take(b.N * (mem.SizeOf[K]() + mem.SizeOf[V]() + 16))
	xs := make(map[K]V, b.N)
	d.depth++
	for i := range b.N {
		row := b.Row(i)
		xs[key(d, row, &b.Slots[0])] = value(d, row, &b.Slots[1])
	}
	d.depth--
	return xs
}

// The functions that get the keys and values of maps.

func GetU32[V ~int32 | ~uint32](d *Decoder, r Row, s *Slot) V { return V(r.U32(s)) }
func GetU64[V ~int64 | ~uint64](d *Decoder, r Row, s *Slot) V { return V(r.U64(s)) }
func GetF32(d *Decoder, r Row, s *Slot) float32               { return r.F32(s) }
func GetF64(d *Decoder, r Row, s *Slot) float64               { return r.F64(s) }
func GetBool(d *Decoder, r Row, s *Slot) bool                 { return r.Bool(s) }
func GetString(d *Decoder, r Row, s *Slot) string             { return d.String(r, s) }
func GetText(d *Decoder, r Row, s *Slot) string               { return d.String(r, s) }
func GetBytes(d *Decoder, r Row, s *Slot) []byte              { return d.Bytes(r, s) }

// GetMessage gets messages of any package.
func GetMessage[T any, M interface {
	*T
	proto.Message
}](d *Decoder, r Row, s *Slot) M {
	m := M(new(T))
	d.take(mem.SizeOf[T]())
	if r.Has(s) {
		d.Message(r, s, m)
	}
	return m
}

// GetInline gets inline messages of any package.
func GetInline[T any, M interface {
	*T
	proto.Message
}](d *Decoder, r Row, s *Slot) M {
	m := M(new(T))
	d.take(mem.SizeOf[T]())
	if r.Has(s) {
		lm, err := layout.Of(m.ProtoReflect().Descriptor())
		if err != nil {
			panic(err)
		}
		d.Unpack(r.Unpack(s), m, uint(lm.Size))
	}
	return m
}
