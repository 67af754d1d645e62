package layout

import (
	"encoding/binary"
	"math/bits"

	"github.com/graven-rpc/graven/codec/internal/fault"
)

const (
	// MaxNumber is the highest field number that a shape can hold.
	MaxNumber = 1<<29 - 1

	// ResidueNumber is the field that carries extensions and unknown fields as
	// protobuf bytes.
	ResidueNumber = 19000

	// KeptNumber is the unknown protobuf field in which a reader keeps fields
	// of another version.
	KeptNumber = 19001

	wordFields = 5      // field numbers that a shape word covers
	more       = 0x8000 // another word follows
)

// RowField is one field of a row of some shape.
type RowField struct {
	Number int32
	Storage
	Bit uint32 // index of the presence bit; a bool's value is the next bit
	Off uint32 // offset of the slot, or of the end, in the row
}

// Rows is how the rows of one shape are laid out. It is immutable.
type Rows struct {
	Shape    []byte     // the shape as it stands in a block
	Fields   []RowField // in order of number
	BitBytes uint32     // bytes of the bit area
	Bits     uint32     // bits in use
	Ends     uint32     // number of ends, stored behind the slots
	Stride   uint32     // bytes of a row, all its ends counted
}

// Fixed is the number of bytes that n rows take in front of the tail.
func (r *Rows) Fixed(n uint64) uint64 {
	f := n * uint64(r.Stride)
	if r.Ends > 0 {
		f -= 4
	}
	return f
}

// Head is what a block pays for the shape and one row, the measure of elision.
func (r *Rows) Head() int { return len(r.Shape) + int(r.Stride) }

// Lookup finds a field by number, nil if the shape has none.
func (r *Rows) Lookup(number int32) *RowField {
	lo, hi := 0, len(r.Fields)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if r.Fields[m].Number < number {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo < len(r.Fields) && r.Fields[lo].Number == number {
		return &r.Fields[lo]
	}
	return nil
}

// NewRows lays out rows of the given fields, which are in order of number and
// have Number and Storage set.
func NewRows(fields []RowField) *Rows {
	r := &Rows{Shape: appendShape(nil, fields), Fields: fields}
	if !r.arrange() {
		panic("graven/layout: a row of more than 2^31 bytes") // no schema is that wide
	}
	return r
}

// arrange assigns bits, slots and ends; false if a row can't fit in a message.
func (r *Rows) arrange() bool {
	bit := uint64(0)
	for i := range r.Fields {
		f := &r.Fields[i]
		f.Bit = uint32(bit)
		bit++
		if f.Code == Bool {
			bit++
		}
	}
	r.Bits = uint32(bit)
	off := max(1, (bit+7)/8)
	r.BitBytes = uint32(off)
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Code != Bool && !f.Variable() {
			f.Off = uint32(off)
			off += uint64(f.Size())
		}
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Variable() {
			f.Off = uint32(off)
			off += 4
			r.Ends++
		}
	}
	if off > 1<<31 {
		return false
	}
	r.Stride = uint32(off)
	return true
}

// appendShape writes the one form that a shape has.
func appendShape(dst []byte, fields []RowField) []byte {
	var word uint16
	at := 0 // index of the word being filled
	flush := func(next int) {
		if word != 0 {
			dst = binary.LittleEndian.AppendUint16(dst, word|more)
			at++
		}
		if run := next - at; run > 0 {
			dst = binary.LittleEndian.AppendUint16(dst, more)
			dst = binary.AppendUvarint(dst, uint64(run))
		}
		at, word = next, 0
	}
	for i := range fields {
		n := int(fields[i].Number) - 1
		if w := n / wordFields; w != at {
			flush(w)
		}
		word |= uint16(fields[i].Code) << (3 * (n % wordFields))
	}
	dst = binary.LittleEndian.AppendUint16(dst, word)
	for i := range fields {
		if f := &fields[i]; f.Code == Ext {
			dst = append(dst, f.K)
			if f.K == 0 {
				dst = append(dst, f.E)
			}
		}
	}
	return dst
}

// ParseShape reads the shape at the start of b and lays out its rows. The rows
// keep a copy of the shape. It takes time and memory in proportion to the shape.
func ParseShape(b []byte) (*Rows, error) {
	n, fields, err := scanShape(b)
	if err != nil {
		return nil, err
	}
	r := &Rows{Shape: append([]byte(nil), b[:n]...), Fields: make([]RowField, 0, fields)}
	word, pos := uint64(0), 0
	for {
		w := binary.LittleEndian.Uint16(b[pos:])
		pos += 2
		if w == more {
			run, k := Uvarint(b[pos:])
			pos += k
			word += uint64(run)
			continue
		}
		for i := uint64(0); i < wordFields; i++ {
			if c := Code(w >> (3 * i) & 7); c != None {
				r.Fields = append(r.Fields, RowField{Number: int32(word*wordFields + i + 1), Storage: Storage{Code: c}})
			}
		}
		word++
		if w&more == 0 {
			break
		}
	}
	for i := range r.Fields {
		if f := &r.Fields[i]; f.Code == Ext {
			f.K = b[pos]
			pos++
			if f.K == 0 {
				f.E = b[pos]
				pos++
			}
		}
	}
	if !r.arrange() {
		return nil, fault.New(fault.Malformed, "a row longer than any message")
	}
	return r, nil
}

// scanShape checks a shape and counts its bytes and fields.
func scanShape(b []byte) (n, fields int, err error) {
	word := uint64(0) // index of the next word
	exts, last, run, first := 0, uint64(0), false, true
	for {
		if len(b)-n < 2 {
			return 0, 0, shapeCut
		}
		w := binary.LittleEndian.Uint16(b[n:])
		n += 2
		if w == more {
			c, k := Uvarint(b[n:])
			switch {
			case k == 0:
				return 0, 0, fault.New(fault.Malformed, "shape: length of a run is cut short, not minimal or zero")
			case run:
				return 0, 0, fault.New(fault.Malformed, "shape: two runs in a row")
			}
			n += k
			word += uint64(c)
			run, first = true, false
			if word*wordFields >= MaxNumber {
				return 0, 0, shapeHigh
			}
			continue
		}
		codes := w &^ more
		if codes == 0 && (w&more != 0 || !first) {
			return 0, 0, fault.New(fault.Malformed, "shape: an empty word that is not part of a run")
		}
		for i := uint64(0); i < wordFields; i++ {
			switch Code(codes >> (3 * i) & 7) {
			case None:
				continue
			case Ext:
				exts++
			}
			fields++
			last = word*wordFields + i + 1
		}
		if last > MaxNumber {
			return 0, 0, shapeHigh
		}
		word++
		run, first = false, false
		if w&more == 0 {
			break
		}
	}
	for ; exts > 0; exts-- {
		if n >= len(b) {
			return 0, 0, shapeCut
		}
		n++
		if b[n-1] == 0 {
			if n >= len(b) {
				return 0, 0, shapeCut
			}
			n++
		}
	}
	return n, fields, nil
}

var (
	shapeCut  = fault.New(fault.Malformed, "shape: cut short")
	shapeHigh = fault.New(fault.Malformed, "shape: a field number above 536,870,911")
)

// ShapeLen is the length of the shape at the start of b, 0 if there is none.
// It does not check the shape's form.
func ShapeLen(b []byte) int {
	if len(b) >= 2 {
		// Most shapes are one word, without a code 7.
		if w := binary.LittleEndian.Uint16(b); w&more == 0 && w&(w>>1)&(w>>2)&0x1249 == 0 {
			return 2
		}
	}
	n, exts := 0, 0
	for {
		if len(b)-n < 2 {
			return 0
		}
		w := binary.LittleEndian.Uint16(b[n:])
		n += 2
		if w == more {
			_, k := Uvarint(b[n:])
			if k == 0 {
				return 0
			}
			n += k
			continue
		}
		// A code is 7 where all three of its bits are set.
		exts += bits.OnesCount16(w & (w >> 1) & (w >> 2) & 0x1249)
		if w&more == 0 {
			break
		}
	}
	for ; exts > 0; exts-- {
		if n >= len(b) {
			return 0
		}
		n++
		if b[n-1] == 0 {
			n++
		}
	}
	if n > len(b) {
		return 0
	}
	return n
}

// Uvarint reads a count: unsigned LEB128 of at most 32 bits in its shortest
// form, at least 1. n is 0 if there is none.
func Uvarint(b []byte) (v uint32, n int) {
	for i, c := range b {
		if i == 4 && c > 0x0F || i == 5 {
			return 0, 0
		}
		v |= uint32(c&0x7F) << (7 * i)
		if c < 0x80 {
			if c == 0 { // zero, or longer than need be
				return 0, 0
			}
			return v, i + 1
		}
	}
	return 0, 0
}
