package wire

import (
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// lazy is something that is made on first use.
type lazy[T any] struct{ atomic.Pointer[T] }

// keep keeps the first of what several goroutines made.
func (l *lazy[T]) keep(made *T) *T {
	l.CompareAndSwap(nil, made)
	return l.Load()
}

// writeInfo is what writing blocks of some kind of rows takes. Writers always write
// the full shape. Lists of strings and of inline messages are blocks to a writer too,
// without a shape.
type writeInfo struct {
	layout   *layout.Message // nil of lists without a shape
	id       uint64
	shape    []byte
	stride   uint
	ends     uint // variable fields
	bits     uint // bytes of the bit area
	counted  bool // a count in front
	flat     bool // rows may be written as a whole
	fields   []writeField
	vars     []uint32     // the variable fields' indices
	required []presence   // what has to be set
	oneofs   [][]presence // of each oneof the members' bits
}

// presence is some presence bits that are in the same byte.
type presence struct {
	byte uint32
	mask uint8
}

// writeField is what writing a field takes.
type writeField struct {
	off   uint32 // of slot or end in the row
	byte  uint32 // of the presence bit
	mask  uint8
	bit   uint32
	k     uint32 // which of the variable fields it is
	oneof int    // -1: none
	lay   *layout.Field
	list  *writeInfo // of maps, and lists of strings and inline messages: their rows
}

func (f *writeField) name(i *writeInfo) protoreflect.FullName {
	if f.lay == nil {
		return i.layout.Name()
	}
	return f.lay.Desc.FullName()
}

// stringRows are those of a list of strings or bytes: an end each.
var stringRows = &writeInfo{stride: 4, ends: 1, counted: true, fields: make([]writeField, 1), vars: make([]uint32, 1)}

func newWriteInfo(md protoreflect.MessageDescriptor) *writeInfo {
	lm, err := layout.Of(md)
	if err != nil {
		panic(err) // the generator refuses such a schema
	}
	return writeInfoOf(lm)
}

func writeInfoOf(lm *layout.Message) *writeInfo {
	rows := lm.Full
	i := &writeInfo{
		layout: lm, shape: rows.Shape, stride: uint(rows.Stride), ends: uint(rows.Ends), bits: uint(rows.BitBytes), counted: true,
	}
	if !lm.Entry {
		i.id = lm.ID()
	}
	i.flat = !lm.Entry
	i.fields = make([]writeField, len(lm.Fields))
	for j := range lm.Fields {
		lf, rf := &lm.Fields[j], &rows.Fields[j]
		f := &i.fields[j]
		*f = writeField{off: rf.Off, bit: rf.Bit, byte: rf.Bit / 8, mask: 1 << (rf.Bit % 8), oneof: lf.Oneof, lay: lf}
		i.flat = i.flat && !lf.Desc.IsList() && !lf.Desc.IsMap() && lf.Code != layout.Block && lf.Oneof < 0
		if lf.Variable() {
			f.k = uint32(len(i.vars))
			i.vars = append(i.vars, uint32(j))
		}
		switch {
		case lf.Desc.IsMap():
			f.list = writeInfoOf(lf.Child)
		case lf.List() && lf.E == 0:
			f.list = stringRows
		case lf.List() && lf.Inline:
			f.list = &writeInfo{layout: lf.Child, stride: uint(lf.E)}
		}
		if lf.Desc.Cardinality() == protoreflect.Required {
			i.required = addPresence(i.required, f)
		}
		if lf.Oneof >= 0 {
			for len(i.oneofs) <= lf.Oneof {
				i.oneofs = append(i.oneofs, nil)
			}
			i.oneofs[lf.Oneof] = addPresence(i.oneofs[lf.Oneof], f)
		}
	}
	return i
}

func addPresence(ps []presence, f *writeField) []presence {
	if n := len(ps); n > 0 && ps[n-1].byte == f.byte {
		ps[n-1].mask |= f.mask
		return ps
	}
	return append(ps, presence{f.byte, f.mask})
}
