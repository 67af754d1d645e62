package layout

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/fault"
)

// Match says how a compiled field is read from a row of some shape.
type Match uint8

const (
	Nowhere  Match = iota // the shape lacks the field
	Same                  // stored as the reader stores it
	Convert               // a number, or a list of numbers, of another width
	Mismatch              // present, it is an error
)

// Place is where a plan finds a compiled field.
type Place struct {
	Row   int32 // index in Plan.Rows.Fields, -1 if nowhere
	Match Match
}

// Plan says for each field of a message type where it is in rows of one shape, or
// nowhere. It is immutable.
type Plan struct {
	Msg     *Message
	Rows    *Rows
	Places  []Place // one for each of Msg.Fields
	Fields  []int32 // for each of Rows.Fields its index in Msg.Fields, -1 if the type lacks it
	Unknown []int32 // indices in Rows.Fields that the type lacks, the residue aside
	Residue int32   // index of the residue in Rows.Fields, -1 if there is none
	Native  bool    // the shape is Msg.Full's

	Slots   []Slot // one for each of Msg.Fields, what decoding needs
	Convert bool   // some field is stored in another width
	Extra   bool   // rows may hold a residue or fields of another version
	Kept    *Rows  // a root block of the Unknown fields, nil if there are none
	Carry   *Carry // how rows that have all of them carry them on, nil if some are variable

	word uint64 // the shape as a number, if it has at most eight bytes
	size int    // bytes of the shape

	// What one pass of verification needs, beside the stride.
	Small      bool      // the bits of a row fit in 64
	Fixed      uint64    // in small rows, the presence bits of slots
	Values     uint64    // and the value bits of bools
	Spare      byte      // bits that no field uses, in the last byte of the bit area
	Presence   []byte    // the presence bits, as they stand in a row
	Checks     []Check   // fields in the row that need more than a look at their bits
	Vars       []Check   // variable fields, in order
	Strings    bool      // all variable fields are strings to be checked for UTF-8
	OneofMasks []BitMask // members of one oneof, where the shape has two or more

	view atomic.Pointer[View] // made on first use
}

// NewPlan matches a message type with the rows of some shape in time proportional
// to both. Shapes that no message may have (field 19001, field 19000 that is no
// blob or in an entry of a map) are refused.
func NewPlan(m *Message, r *Rows) (*Plan, error) {
	p := &Plan{Msg: m, Rows: r, Places: make([]Place, len(m.Fields)), Fields: make([]int32, len(r.Fields)), Residue: -1}
	i := 0
	for j := range r.Fields {
		rf := &r.Fields[j]
		for i < len(m.Fields) && m.Fields[i].Number < rf.Number {
			p.Places[i].Row = -1
			i++
		}
		p.Fields[j] = -1
		switch {
		case rf.Number == ResidueNumber:
			if rf.Storage != (Storage{Code: Blob}) {
				return nil, fault.New(fault.Malformed, "shape: field 19000 is not a blob")
			}
			if m.Entry {
				return nil, fault.Of(fault.Malformed, m.Name(), "shape: field 19000 in an entry of a map")
			}
			p.Residue = int32(j)
		case rf.Number == KeptNumber:
			return nil, fault.New(fault.Malformed, "shape: field 19001")
		case i < len(m.Fields) && m.Fields[i].Number == rf.Number:
			p.Places[i] = Place{Row: int32(j), Match: match(&m.Fields[i], rf.Storage)}
			p.Fields[j] = int32(i)
			i++
		default:
			p.Unknown = append(p.Unknown, int32(j))
		}
	}
	for ; i < len(m.Fields); i++ {
		p.Places[i].Row = -1
	}
	if p.size = len(r.Shape); p.size <= 8 {
		p.word = shapeWord(r.Shape, p.size)
	}
	p.place()
	p.prepare()
	return p, nil
}

// Slot is where a getter finds a compiled field. Of a field that is nowhere, or stored
// in another width, all is 0.
type Slot struct {
	Off  uint32 // of the slot, or of the end; of the row's last variable field 0: its end is the row's
	Prev uint32 // of the end before a variable field; 0: it starts where the row does
	// Of a bool, Off and Prev are the byte and the mask of the value's bit.
	Byte uint32 // byte of the presence bit in the row
	Mask uint32 // the presence bit in that byte; 0: the field is nowhere
}

// place fills in Slots.
func (p *Plan) place() {
	p.Slots = make([]Slot, len(p.Places))
	p.Extra = p.Residue >= 0 || len(p.Unknown) > 0
	if len(p.Unknown) > 0 {
		kept := make([]RowField, len(p.Unknown))
		for k, j := range p.Unknown {
			kept[k] = RowField{Number: p.Rows.Fields[j].Number, Storage: p.Rows.Fields[j].Storage}
		}
		p.Kept = NewRows(kept)
		if p.Rows.Bits <= 64 && p.Kept.Ends == 0 {
			p.Carry = newCarry(p)
		}
	}
	prev := uint32(0)
	for j := range p.Rows.Fields {
		rf := &p.Rows.Fields[j]
		s := Slot{Off: rf.Off, Byte: rf.Bit / 8, Mask: 1 << (rf.Bit % 8)}
		if rf.Code == Bool {
			s.Off, s.Prev = (rf.Bit+1)/8, 1<<((rf.Bit+1)%8)
		}
		if rf.Variable() {
			s.Prev, prev = prev, rf.Off
			if rf.Off+4 == p.Rows.Stride {
				s.Off = 0
			}
		}
		if i := p.Fields[j]; i >= 0 {
			switch p.Places[i].Match {
			case Same:
				p.Slots[i] = s
			case Convert:
				p.Convert = true
			}
		}
	}
}

func match(f *Field, row Storage) Match {
	if row == f.Storage {
		return Same
	}
	number := f.Child == nil && KindSize(f.Kind) > 0 && !Float(f.Kind)
	switch {
	case number && !f.Desc.IsList() && row.numeric():
		return Convert
	case number && f.Desc.IsList() && row.numericList():
		return Convert
	}
	return Mismatch
}

// Incompatible is the error of a present field that the reader can't take; it
// names the field and both kinds.
func (p *Plan) Incompatible(field int) error {
	f := &p.Msg.Fields[field]
	row := p.Rows.Fields[p.Places[field].Row].Storage
	return fault.Of(fault.Incompatible, f.Desc.FullName(),
		fmt.Sprintf("the writer stores %s, this schema has %s (%s)", row, f.Storage, describe(f)))
}

func describe(f *Field) string {
	s := f.Kind.String()
	switch {
	case f.Desc.IsMap():
		return "map"
	case f.Inline:
		s = "inline " + s
	case f.Width != 0:
		s = fmt.Sprintf("%s of width %d", s, f.Width)
	}
	if f.Desc.IsList() {
		return "repeated " + s
	}
	return s
}

// Widen turns the bits of a number stored in size bytes (a bool: 1 byte of 0 or 1) into the bits
// of a value of the kind: widened by the kind's sign, narrowed to its width. Of a
// bool it is 0 or 1. It is not for floats, which have one width.
func Widen(k protoreflect.Kind, raw uint64, size int, isBool bool) uint64 {
	if k == protoreflect.BoolKind {
		if raw != 0 {
			return 1
		}
		return 0
	}
	if Signed(k) && !isBool {
		shift := uint(64 - 8*size)
		raw = uint64(int64(raw<<shift) >> shift)
	}
	if KindSize(k) == 4 {
		return uint64(uint32(raw))
	}
	return raw
}

// Fits reports whether a value of the kind, given as its bits, can be stored in width bits.
func Fits(k protoreflect.Kind, v uint64, width int) bool {
	if Signed(k) {
		if KindSize(k) == 4 {
			v = uint64(int64(int32(uint32(v))))
		}
		shift := uint(64 - width)
		return int64(v<<shift)>>shift == int64(v)
	}
	return v>>uint(width) == 0
}

// Peers send shapes; what is kept of them is bounded in number and in size, by hash: a
// newer plan takes the place of an older one.
const (
	keptPlans  = 128  // plans a message type, of shapes of at most shortShape bytes
	keptLong   = 8    // of longer ones
	shortShape = 64   // bytes
	KeptShape  = 1024 // bytes of the longest shape whose plan is kept

	// PlanCost is about how many bytes a plan takes for each byte of its shape.
	PlanCost = 176
)

// planTable keeps plans by the hash of their shape, each in one of two places.
type planTable [keptPlans + keptLong]atomic.Pointer[Plan]

type planCache struct {
	full  atomic.Pointer[Plan]
	table atomic.Pointer[planTable]
}

// FullPlan is the plan of the compiled shape.
func (m *Message) FullPlan() *Plan {
	if p := m.shapes.full.Load(); p != nil {
		return p
	}
	p, err := NewPlan(m, m.Full)
	if err != nil {
		panic(err) // the compiled shape holds neither 19000 nor 19001
	}
	p.Native = true
	m.shapes.full.CompareAndSwap(nil, p)
	return m.shapes.full.Load()
}

// PlanFor reads the shape at the start of b and gives the plan for its rows. Plans
// are kept by shape in bounded number: a peer that sends ever new shapes costs time,
// not memory.
func (m *Message) PlanFor(b []byte) (*Plan, error) {
	full := m.shapes.full.Load()
	if full == nil {
		full = m.FullPlan()
	}
	t := m.shapes.table.Load()
	// No shape is the start of another one, so a long one need not be measured where a plan
	// for its first eight bytes fits.
	if t != nil && len(b) >= 8 && binary.LittleEndian.Uint16(b)&more != 0 {
		if p := t[hashWord(binary.LittleEndian.Uint64(b))].Load(); p != nil && p.size > 8 && len(b) >= p.size && string(b[:p.size]) == string(p.Rows.Shape) {
			return p, nil
		}
	}
	n := ShapeLen(b)
	if n == 0 {
		return nil, shapeCut
	}
	shape := b[:n]
	var at uint64
	if n <= 8 {
		word := shapeWord(b, n)
		if word == full.word && n == full.size {
			return full, nil
		}
		at = hashWord(word)
		if t != nil {
			if p := t[at].Load(); p != nil && p.word == word && p.size == n {
				return p, nil
			}
			if p := t[at^1].Load(); p != nil && p.word == word && p.size == n {
				return p, nil
			}
		}
	} else {
		if string(shape) == string(m.Full.Shape) {
			return full, nil
		}
		at = hashShape(shape)
		if t != nil {
			for _, at := range [2]uint64{at, at ^ 1} {
				if p := t[at].Load(); p != nil && string(p.Rows.Shape) == string(shape) {
					return p, nil
				}
			}
		}
	}
	r, err := ParseShape(shape)
	if err != nil {
		return nil, err
	}
	p, err := NewPlan(m, r)
	if err != nil || n > KeptShape {
		return p, err
	}
	if t == nil {
		m.shapes.table.CompareAndSwap(nil, new(planTable))
		t = m.shapes.table.Load()
	}
	if t[at].Load() != nil && t[at^1].Load() == nil {
		at ^= 1
	}
	t[at].Store(p)
	if n > 8 && n <= shortShape {
		t[hashWord(binary.LittleEndian.Uint64(b))].CompareAndSwap(nil, p)
	}
	return p, nil
}

// shapeWord is a shape of at most eight bytes as a number.
func shapeWord(b []byte, n int) (w uint64) {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b) & (1<<(8*n) - 1)
	}
	for i := n - 1; i >= 0; i-- {
		w = w<<8 | uint64(b[i])
	}
	return w
}

// hashWord and hashShape are indices into a table of plans. Multiplicative hashing, as in
// Knuth, The Art of Computer Programming, volume 3, 6.4.
func hashWord(w uint64) uint64 { return w * 0x9E3779B97F4A7C15 >> (64 - 7) }

func hashShape(shape []byte) uint64 {
	n := len(shape)
	h := uint64(n)
	for len(shape) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(shape)) * 0x9E3779B97F4A7C15
		h ^= h >> 32
		shape = shape[8:]
	}
	for i, c := range shape {
		h ^= uint64(c) << (8 * i)
	}
	h *= 0x9E3779B97F4A7C15
	if n > shortShape {
		return keptPlans + h>>(64-3)
	}
	return h >> (64 - 7)
}

// PlanOf gives the plan for rows that were laid out here.
func (m *Message) PlanOf(r *Rows) (*Plan, error) {
	if r == m.Full {
		return m.FullPlan(), nil
	}
	return m.PlanFor(r.Shape)
}

// IsFull reports whether a root block has the compiled shape.
func (m *Message) IsFull(block []byte) bool {
	s := m.Full.Shape
	return len(block) >= len(s) && string(block[:len(s)]) == string(s)
}
