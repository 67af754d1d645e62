package wire

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
)

// keptField is a present field of another version: its storage and its value as it
// stood, the bytes of the slot or of the variable value. A bool's is one byte.
type keptField struct {
	number  int32
	storage layout.Storage
	value   []byte
}

var bools = []byte{0, 1}

// kept is fields of another version of one message.
type kept []keptField

// joined puts the fields in order of number, each once: of one number, the first wins.
func (k kept) joined() kept {
	slices.SortStableFunc(k, func(x, y keptField) int { return int(x.number - y.number) })
	return slices.CompactFunc(k, func(x, y keptField) bool { return x.number == y.number })
}

// fieldValue cuts a present field out of a row. start and end are the row's part of
// the tail for a variable field, else unused.
func fieldValue(f *layout.RowField, row, value []byte) keptField {
	k := keptField{number: f.Number, storage: f.Storage, value: value}
	switch {
	case f.Variable():
	case f.Code == layout.Bool:
		k.value = bools[0:1]
		if has(row, f.Bit+1) {
			k.value = bools[1:2]
		}
	default:
		k.value = row[f.Off : int(f.Off)+f.Size()]
	}
	return k
}

// rootFields cuts a root block into its present fields. It checks only what the cut
// needs: the shape, the rows and the ends, nothing behind clear bits, lists of whole elements.
func rootFields(block []byte) (kept, error) {
	r, err := layout.ParseShape(block)
	if err != nil {
		return nil, err
	}
	p, err := layout.NewPlan(anyMessage, r)
	if err != nil {
		return nil, err
	}
	if p.Residue >= 0 {
		return nil, fault.New(fault.Malformed, "field 19000 in a field 19001")
	}
	v := verifier{msg: block, maxDepth: DefaultDepth, budget: 1 << 62}
	if err := v.rows(p, 1, len(r.Shape), len(block), 1); err != nil {
		return nil, err
	}
	row := block[len(r.Shape):]
	tail := row[r.Fixed(1):]
	return presentIn(p, row, tail, 0, uint32(len(tail))), nil
}

// anyMessage is a message type without fields: to it, all fields are of another version.
var anyMessage = &layout.Message{}

// appendTo writes joined fields as an unknown protobuf field 19001; nothing if there
// are none.
func (k kept) appendTo(dst []byte) []byte {
	if len(k) == 0 {
		return dst
	}
	fields := make([]layout.RowField, len(k))
	for i, f := range k {
		fields[i] = layout.RowField{Number: f.number, Storage: f.storage}
	}
	r := layout.NewRows(fields)
	size := len(r.Shape) + int(r.Fixed(1))
	for _, f := range k {
		if f.storage.Variable() {
			size += len(f.value)
		}
	}
	dst = protowire.AppendTag(dst, layout.KeptNumber, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = append(dst, r.Shape...)
	row := len(dst)
	dst = append(dst, make([]byte, r.Fixed(1))...)
	tail := len(dst)
	for i, f := range k {
		rf := &r.Fields[i]
		setBit(dst[row:], rf.Bit)
		switch {
		case rf.Variable():
			dst = append(dst, f.value...)
			if rf.Off+4 != r.Stride {
				le.PutUint32(dst[row+int(rf.Off):], uint32(len(dst)-tail))
			}
		case rf.Code == layout.Bool:
			if f.value[0] != 0 {
				setBit(dst[row:], rf.Bit+1)
			}
		default:
			copy(dst[row+int(rf.Off):], f.value)
		}
	}
	return dst
}

func setBit(row []byte, bit uint32) { row[bit/8] |= 1 << (bit % 8) }

// joinUnknown gives the unknown bytes that an encoder sends of a message: without
// 19000, with all 19001 joined into one behind the rest, without fields that the schema
// has. Mostly that is unknown itself.
func joinUnknown(m *layout.Message, unknown []byte) ([]byte, error) {
	ours := false
	err := eachField(unknown, func(num protowire.Number, _ protowire.Type, _ []byte, _ int) error {
		ours = ours || num == layout.ResidueNumber || num == layout.KeptNumber
		return nil
	})
	if err != nil || !ours {
		return unknown, err
	}
	var rest []byte
	var k kept
	begin := 0
	_ = eachField(unknown, func(num protowire.Number, typ protowire.Type, val []byte, pos int) error {
		switch {
		case num == layout.ResidueNumber:
		case num == layout.KeptNumber:
			if typ == protowire.BytesType {
				k.join(m, payload(val))
			}
		default:
			rest = append(rest, unknown[begin:pos+len(val)]...)
		}
		begin = pos + len(val)
		return nil
	})
	return k.joined().appendTo(rest), nil
}

// join adds the fields of a root block that the schema lacks; of a block that is not
// valid, none.
func (k *kept) join(m *layout.Message, block []byte) {
	fields, err := rootFields(block)
	if err != nil {
		return
	}
	for _, f := range fields {
		if m.FieldByNumber(f.number) == nil {
			*k = append(*k, f)
		}
	}
}
