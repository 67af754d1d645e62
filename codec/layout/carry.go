package layout

import "google.golang.org/protobuf/encoding/protowire"

// Carry is the unknown field 19001 of rows that have all fields that the schema lacks,
// where these are slots and bools: its bytes are the same for every row, but for the values.
type Carry struct {
	Mask   uint64 // the presence bits of the fields
	Bytes  []byte // the field, with its tag and length; values are zero
	Slots  []CarrySlot
	Values []CarryBit
}

// CarrySlot takes a slot from the row to its place in the bytes.
type CarrySlot struct{ From, To, Size uint32 }

// CarryBit takes a bool's value from a bit of the row to a bit of the bytes.
type CarryBit struct{ From, To uint32 }

func newCarry(p *Plan) *Carry {
	c := &Carry{}
	c.Bytes = protowire.AppendTag(nil, KeptNumber, protowire.BytesType)
	c.Bytes = protowire.AppendVarint(c.Bytes, uint64(p.Kept.Head()))
	c.Bytes = append(c.Bytes, p.Kept.Shape...)
	row := uint32(len(c.Bytes))
	c.Bytes = append(c.Bytes, make([]byte, p.Kept.Stride)...)
	for k, j := range p.Unknown {
		from, to := &p.Rows.Fields[j], &p.Kept.Fields[k]
		c.Mask |= 1 << from.Bit
		c.Bytes[row+to.Bit/8] |= 1 << (to.Bit % 8)
		if from.Code == Bool {
			c.Values = append(c.Values, CarryBit{from.Bit + 1, 8*row + to.Bit + 1})
			continue
		}
		c.Slots = append(c.Slots, CarrySlot{from.Off, row + to.Off, uint32(from.Size())})
	}
	return c
}
