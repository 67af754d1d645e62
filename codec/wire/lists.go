package wire

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/mem"
)

// number is what a list that is not narrow holds.
type number interface {
	~int32 | ~uint32 | ~int64 | ~uint64 | ~float32 | ~float64
}

// Numbers writes a list of numbers or enums in their full width.
func Numbers[T number](e *Encoder, tail uint, xs []T) uint {
	if len(xs) == 0 {
		return tail
	}
	return e.Bytes(tail, mem.Raw(xs))
}

// Bools writes a list of bools.
func Bools(e *Encoder, tail uint, xs []bool) uint {
	if len(xs) == 0 {
		return tail
	}
	return e.Bytes(tail, mem.Raw(xs))
}

// integer is what can be narrow.
type integer interface {
	~int32 | ~uint32 | ~int64 | ~uint64
}

// Narrow writes a list of integers or enums of width bits. Whether they fit is checked.
func Narrow[T integer](e *Encoder, tail uint, xs []T, width uint) uint {
	size := width / 8
	if uint(len(xs)) > (e.lim-tail)/size {
		e.over = true
		return tail
	}
	signed := ^T(0) < 0
	for _, x := range xs {
		if signed && WideS(int64(x), width) || !signed && WideU(uint64(x), width) {
			e.failed = true
		}
		switch size {
		case 1:
			e.out.Put8(tail, uint8(x))
		case 2:
			e.out.Put16(tail, uint16(x))
		default:
			e.out.Put32(tail, uint32(x))
		}
		tail += size
	}
	return tail
}

// Strings writes a list of strings; check says whether they have to be UTF-8.
func Strings(e *Encoder, tail uint, xs []string, check bool) uint {
	ends, tail, ok := e.stringList(tail, len(xs))
	if !ok {
		return tail
	}
	data := tail
	for i, s := range xs {
		if check {
			tail = e.String(tail, s)
		} else {
			tail = e.Text(tail, s)
		}
		if i < len(xs)-1 {
			e.out.Put32(ends+4*uint(i), uint32(tail-data))
		}
	}
	return tail
}

// BytesList writes a list of bytes.
func BytesList(e *Encoder, tail uint, xs [][]byte) uint {
	ends, tail, ok := e.stringList(tail, len(xs))
	if !ok {
		return tail
	}
	data := tail
	for i, s := range xs {
		tail = e.Bytes(tail, s)
		if i < len(xs)-1 {
			e.out.Put32(ends+4*uint(i), uint32(tail-data))
		}
	}
	return tail
}

// stringList writes the count of a list and reserves its ends.
func (e *Encoder) stringList(tail uint, n int) (ends, data uint, ok bool) {
	if n == 0 {
		return tail, tail, false
	}
	if uint64(5+4*n) > uint64(e.lim-tail) {
		if uint64(uvarintLen(uint32(n)))+4*uint64(n-1) > uint64(e.lim-tail) {
			e.over = true
			return tail, tail, false
		}
	}
	ends = e.putUvarint(tail, uint32(n))
	return ends, ends + 4*uint(n-1), true
}

// PackList reserves a list of n inline messages of size bytes at tail.
func (e *Encoder) PackList(tail uint, n int, size uint) (end uint, ok bool) {
	if uint(n) > (e.lim-tail)/size {
		e.over = true
		return tail, false
	}
	return tail + uint(n)*size, true
}

// PackAll writes a list of inline messages of the same package.
func PackAll[T any](e *Encoder, tail uint, xs []*T, size uint, pack func(*Encoder, uint, *T)) uint {
	end, ok := e.PackList(tail, len(xs), size)
	if ok {
		for _, x := range xs {
			pack(e, tail, x)
			tail += size
		}
	}
	return end
}

// PackMessages writes a list of inline messages of another package.
func PackMessages[T any, M interface {
	*T
	proto.Message
}](e *Encoder, tail uint, xs []M, size uint) uint {
	end, ok := e.PackList(tail, len(xs), size)
	if !ok {
		return tail
	}
	for _, x := range xs {
		e.Pack(tail, x, size)
		tail += size
	}
	return end
}

// elements is the number of elements of size bytes in a list.
func elements(b []byte, size int) int { return len(b) / size }

// GetNumbers decodes a present list of numbers or enums in their full width.
func GetNumbers[T number](d *Decoder, r Row, s *Slot) []T {
	b := r.Bytes(s)
	size := mem.SizeOf[T]()
	n := elements(b, size)
	d.take(n * size)
	xs := make([]T, n)
	mem.Load(xs, b)
	return xs
}

// GetBools decodes a present list of bools.
func GetBools(d *Decoder, r Row, s *Slot) []bool {
	b := r.Bytes(s)
	d.take(len(b))
	xs := make([]bool, len(b))
	for i, c := range b {
		xs[i] = c != 0
	}
	return xs
}

// GetNarrow decodes a present list of integers or enums of width bits.
func GetNarrow[T integer](d *Decoder, r Row, s *Slot, width int) []T {
	b := r.Bytes(s)
	n := elements(b, width/8)
	d.take(n * mem.SizeOf[T]())
	xs := make([]T, n)
	signed := ^T(0) < 0
	for i := range xs {
		switch {
		case width == 8 && signed:
			xs[i] = T(int8(b[i]))
		case width == 8:
			xs[i] = T(b[i])
		case width == 16 && signed:
			xs[i] = T(int16(le.Uint16(b[2*i:])))
		case width == 16:
			xs[i] = T(le.Uint16(b[2*i:]))
		case signed:
			xs[i] = T(int32(le.Uint32(b[4*i:])))
		default:
			xs[i] = T(le.Uint32(b[4*i:]))
		}
	}
	return xs
}

// GetStrings decodes a present list of strings.
func GetStrings(d *Decoder, r Row, s *Slot) []string {
	l, _ := splitStrings(r.Bytes(s))
	d.take(16 * l.n)
	xs := make([]string, l.n)
	start := uint32(0)
	for i := range xs {
		var b []byte
		b, start = l.at(i, start)
		xs[i] = d.str(b)
	}
	return xs
}

// GetBytesList decodes a present list of bytes.
func GetBytesList(d *Decoder, r Row, s *Slot) [][]byte {
	l, _ := splitStrings(r.Bytes(s))
	d.take(24 * l.n)
	xs := make([][]byte, l.n)
	start := uint32(0)
	for i := range xs {
		var b []byte
		b, start = l.at(i, start)
		xs[i] = d.bytes(b)
	}
	return xs
}

// UnpackList decodes a present list of inline messages of the same package.
func UnpackList[P any](d *Decoder, r Row, s *Slot, k *Key, size uint, unpack func(*Decoder, Packed, P) P) []P {
	b := r.Bytes(s)
	xs := valuesOf[P](d, k, elements(b, int(size)))
	p := mem.Of(b)
	for i, x := range xs {
		unpack(d, Packed{p.Add(uint(i) * size)}, x)
	}
	return xs
}

// UnpackForeign decodes a present list of inline messages of another package.
func UnpackForeign[T any, M interface {
	*T
	proto.Message
}](d *Decoder, r Row, s *Slot, size uint) []M {
	b := r.Bytes(s)
	n := elements(b, int(size))
	d.take(n * (8 + mem.SizeOf[T]()))
	xs := make([]M, n)
	p := mem.Of(b)
	for i := range xs {
		xs[i] = M(new(T))
		d.Unpack(Packed{p.Add(uint(i) * size)}, xs[i], size)
	}
	return xs
}
