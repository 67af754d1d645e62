package layout

import "google.golang.org/protobuf/reflect/protoreflect"

// Op says what a verifier has to look at in a field that is present.
type Op uint8

const (
	OpMismatch    Op = iota + 1 // the reader can't take the field
	OpConvert                   // a number of another width
	OpInline                    // an inline message with bools
	OpBytes                     // any bytes, or a block that the schema lacks
	OpString                    // UTF-8
	OpBlock                     // a block of the field's message type
	OpList                      // elements of Elem bytes, of any content
	OpBools                     // elements of one byte, 0 or 1
	OpConvertList               // elements of another width
	OpInlineList                // inline messages with bools
	OpStrings                   // list of strings that have to be UTF-8
	OpBytesList                 // list of strings or bytes
	OpResidue                   // protobuf bytes
)

// Check is one step of verifying a row.
type Check struct {
	Mask  uint64 // presence bit, in Plan.Small rows
	Bit   uint32 // presence bit
	Off   uint32 // slot or end in the row
	Field int32  // index in Plan.Msg.Fields, -1 if the type lacks the field
	Op    Op
	Elem  uint8 // bytes of a list's element
}

// BitMask is a set of presence bits.
type BitMask []uint32

// Many reports whether a row has more than one of the bits set.
func (b BitMask) Many(row []byte) bool {
	n := byte(0)
	for _, bit := range b {
		n += row[bit/8] >> (bit % 8) & 1
	}
	return n > 1
}

// AllSet reports whether a row has all presence bits set, so that there is no clear
// bit behind which something could hide.
func (p *Plan) AllSet(row []byte) bool {
	for i, m := range p.Presence {
		if row[i]&m != m {
			return false
		}
	}
	return true
}

// prepare derives the steps of verification from the match.
func (p *Plan) prepare() {
	r := p.Rows
	if used := r.Bits % 8; used != 0 || r.Bits == 0 {
		p.Spare = byte(0xFF << used)
	}
	p.Small = r.Bits <= 64
	p.Presence = make([]byte, r.BitBytes)
	p.Strings = r.Ends > 0
	oneofs := map[int]BitMask{}
	for j := range r.Fields {
		rf := &r.Fields[j]
		p.Presence[rf.Bit/8] |= 1 << (rf.Bit % 8)
		c := Check{Mask: 1 << rf.Bit, Bit: rf.Bit, Off: rf.Off, Field: p.Fields[j], Elem: rf.E}
		switch {
		case !p.Small || rf.Variable():
		case rf.Code == Bool:
			p.Values |= c.Mask << 1
		default:
			p.Fixed |= c.Mask
		}
		var f *Field
		if c.Field >= 0 {
			f = &p.Msg.Fields[c.Field]
			if f.Oneof >= 0 {
				oneofs[f.Oneof] = append(oneofs[f.Oneof], rf.Bit)
			}
		}
		if rf.Variable() {
			c.Op = p.variable(f, j)
			p.Strings = p.Strings && c.Op == OpString
			p.Vars = append(p.Vars, c)
			continue
		}
		if f == nil {
			continue
		}
		switch match := p.Places[c.Field].Match; {
		case match == Mismatch:
			c.Op = OpMismatch
		case match == Convert:
			c.Op = OpConvert
		case f.Inline && len(f.Child.Bools) > 0:
			c.Op = OpInline
		default:
			continue
		}
		p.Checks = append(p.Checks, c)
	}
	for _, mask := range oneofs {
		if len(mask) > 1 {
			p.OneofMasks = append(p.OneofMasks, mask)
		}
	}
}

// variable chooses the step for a variable field of the row.
func (p *Plan) variable(f *Field, j int) Op {
	rf := &p.Rows.Fields[j]
	if int32(j) == p.Residue {
		return OpResidue
	}
	if f == nil {
		switch {
		case rf.Code == Blob, rf.Code == Block:
			return OpBytes // a range, not looked into
		case rf.E == 0:
			return OpBytesList
		}
		return OpList
	}
	switch match := p.Places[p.Fields[j]].Match; {
	case match == Mismatch:
		return OpMismatch
	case match == Convert:
		return OpConvertList
	case rf.Code == Block:
		return OpBlock
	case rf.Code == Blob && f.UTF8:
		return OpString
	case rf.Code == Blob:
		return OpBytes
	case f.UTF8:
		return OpStrings
	case rf.E == 0:
		return OpBytesList
	case f.Kind == protoreflect.BoolKind:
		return OpBools
	case f.Inline && len(f.Child.Bools) > 0:
		return OpInlineList
	}
	return OpList
}
