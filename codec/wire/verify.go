package wire

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/layout"
)

// DefaultDepth is how many levels of messages a reader takes, as in protobuf-go.
const DefaultDepth = 10_000

var le = binary.LittleEndian

// Verify checks a message, a root block, against everything that the format
// says: after it, no reader of the bytes can fail or leave them. It takes time in
// proportion to the bytes and a stack in proportion to their depth. convert reports
// that the message holds something that rows can't be read in place for: a number of
// another width, two members of a oneof, map keys out of order, or known fields
// in a residue. Offsets in errors count from the start of msg.
func Verify(m *layout.Message, msg []byte, maxDepth int) (convert bool, err error) {
	return VerifyWithin(m, msg, maxDepth, 256<<20+64*int64(len(msg)))
}

// VerifyWithin is Verify with a budget: how many bytes it may allocate for shapes that it
// has no plan of, which take more memory to describe than their own bytes.
func VerifyWithin(m *layout.Message, msg []byte, maxDepth int, budget int64) (convert bool, err error) {
	_, convert, err = VerifyRoot(m, msg, maxDepth, budget)
	return convert, err
}

// VerifyRoot is VerifyWithin and gives the plan of the root's rows.
func VerifyRoot(m *layout.Message, msg []byte, maxDepth int, budget int64) (p *layout.Plan, convert bool, err error) {
	v := verifier{msg: msg, maxDepth: maxDepth, budget: budget}
	p, err = v.root(m, 0, len(msg), 1, true)
	return p, v.convert, err
}

type verifier struct {
	msg      []byte
	maxDepth int
	budget   int64
	convert  bool
}

// plan finds or makes the plan for the shape at off.
func (v *verifier) plan(m *layout.Message, off, end int) (*layout.Plan, error) {
	b := v.msg[off:end]
	if len(b) > layout.KeptShape {
		if n := layout.ShapeLen(b); n > layout.KeptShape {
			if v.budget -= layout.PlanCost * int64(n); v.budget < 0 {
				return nil, fault.At(fault.Budget, off, "a shape that takes too much to describe")
			}
		}
	}
	p, err := m.PlanFor(b)
	if err != nil {
		return nil, at(err, off)
	}
	return p, nil
}

func (v *verifier) malformed(off int, detail string) error {
	return fault.At(fault.Malformed, off, detail)
}

// at adds an offset to an error that has none.
func at(err error, off int) error {
	if e, ok := err.(*fault.Error); ok && e.Offset < 0 {
		c := *e
		c.Offset = off
		return &c
	}
	return err
}

// root checks a block without a count. residue says whether it may have field 19000.
func (v *verifier) root(m *layout.Message, off, end, depth int, residue bool) (*layout.Plan, error) {
	if depth > v.maxDepth {
		return nil, fault.At(fault.TooDeep, off, "")
	}
	p, err := v.plan(m, off, end)
	if err != nil {
		return nil, err
	}
	if !residue {
		if p.Residue >= 0 {
			return nil, v.malformed(off, "field 19000 in a field 19001")
		}
		for j, i := range p.Fields {
			if i >= 0 && v.present(off+len(p.Rows.Shape), end, &p.Rows.Fields[j]) {
				v.convert = true
			}
		}
	}
	return p, v.rows(p, 1, off+len(p.Rows.Shape), end, depth)
}

// present looks at a presence bit that may lie outside the block.
func (v *verifier) present(row, end int, f *layout.RowField) bool {
	i := row + int(f.Bit/8)
	return i < end && v.msg[i]>>(f.Bit%8)&1 != 0
}

// block checks a block with a count.
func (v *verifier) block(f *layout.Field, off, end, depth int) error {
	if depth > v.maxDepth {
		return fault.At(fault.TooDeep, off, "")
	}
	m := f.Child
	n, k := layout.Uvarint(v.msg[off:end])
	if k == 0 {
		return v.malformed(off, "a count that is zero, not minimal or cut short")
	}
	if n > 1 && !f.Desc.IsList() && !m.Entry {
		return &fault.Error{Kind: fault.Incompatible, Offset: off, Field: f.Desc.FullName(),
			Detail: "the writer stores a list of messages, this schema has one message"}
	}
	off += k
	p, err := v.plan(m, off, end)
	if err != nil {
		return err
	}
	off += len(p.Rows.Shape)
	if err := v.rows(p, uint64(n), off, end, depth); err != nil {
		return err
	}
	if m.Entry && n > 1 {
		v.keys(p, int(n), off, end)
	}
	return nil
}

// rows checks n rows and their tail, from off to end.
func (v *verifier) rows(p *layout.Plan, n uint64, off, end, depth int) error {
	r := p.Rows
	fixed := r.Fixed(n)
	if fixed > uint64(end-off) {
		return v.malformed(off, "rows past the end of the block")
	}
	tail := off + int(fixed)
	size := uint32(end - tail)
	if r.Ends == 0 && size != 0 {
		return v.malformed(tail, "bytes behind the rows")
	}
	if p.Small {
		return v.smallRows(p, int(n), off, tail, size, depth)
	}
	return v.wideRows(p, int(n), off, tail, size, depth)
}

// smallRows checks rows whose bits fit in a word: those of nearly all messages.
func (v *verifier) smallRows(p *layout.Plan, n, off, tail int, size uint32, depth int) error {
	r := p.Rows
	ascii := p.Strings && isASCII(v.msg[tail:tail+int(size)])
	plain := len(p.Checks) == 0 && len(p.OneofMasks) == 0
	prev := uint32(0)
	if plain && r.BitBytes == 1 && n > 1 && (len(p.Vars) == 0 || ascii && len(p.Vars) == 1) {
		// All rows but the last, whose end is not stored, in the tightest loop.
		done, end, ok := v.plainRows(p, n-1, off, size)
		off += done * int(r.Stride)
		if !ok {
			return v.badRow(p, off, end, size)
		}
		n, prev = 1, end
	}
	width, stride, bytes := int(r.Fixed(1)), int(r.Stride), int(r.BitBytes)
	spare, fixed, values := p.Spare, p.Fixed, p.Values
	for left := n; left > 0; left-- {
		row := v.msg[off : off+width]
		bits := uint64(row[0])
		if bytes > 1 {
			bits = loadBits(row, bytes)
		}
		if row[bytes-1]&spare != 0 {
			return v.malformed(off, "spare bits")
		}
		if fixed&^bits|bits&values&^(bits<<1) != 0 {
			if err := v.clear(p, row, off); err != nil {
				return err
			}
		}
		if !plain {
			if err := v.checks(p, row, off); err != nil {
				return err
			}
		}
		for i := range p.Vars {
			c := &p.Vars[i]
			e := size
			if left > 1 || i < len(p.Vars)-1 {
				e = le.Uint32(v.msg[off+int(c.Off):])
			}
			if e < prev || e > size {
				return v.malformed(off+int(c.Off), endOutside)
			}
			if bits&c.Mask == 0 {
				if e != prev {
					return v.malformed(off+int(c.Off), behindClear)
				}
				continue
			}
			if !ascii {
				if err := v.value(p, c, tail+int(prev), tail+int(e), depth); err != nil {
					return err
				}
			}
			prev = e
		}
		off += stride
	}
	return nil
}

const (
	endOutside  = "an end outside its block or before the one before it"
	behindClear = "bytes behind a clear bit"
)

// plainRows checks n rows of one byte of bits, of which no field needs a look of its own,
// with at most one variable field, an ASCII string. It gives how many rows it has
// checked and where the last of their values ends; if a row needs a closer look, not ok.
func (v *verifier) plainRows(p *layout.Plan, n, off int, size uint32) (done int, prev uint32, ok bool) {
	stride, spare, fixed, values := int(p.Rows.Stride), p.Spare, byte(p.Fixed), byte(p.Values)
	rows := v.msg[off : off+n*stride]
	if len(p.Vars) == 0 {
		for i := 0; i < len(rows); i += stride {
			if bits := rows[i]; bits&spare != 0 || fixed&^bits|bits&values&^(bits<<1) != 0 && v.clear(p, rows[i:i+stride], 0) != nil {
				return i / stride, 0, false
			}
		}
		return n, 0, true
	}
	mask, at := byte(p.Vars[0].Mask), int(p.Vars[0].Off)
	for i := 0; i < len(rows); i += stride {
		bits, end := rows[i], le.Uint32(rows[i+at:])
		if bits&spare != 0 || end < prev || end > size || bits&mask == 0 && end != prev ||
			fixed&^bits|bits&values&^(bits<<1) != 0 && v.clear(p, rows[i:i+stride], 0) != nil {
			return i / stride, prev, false
		}
		prev = end
	}
	return n, prev, true
}

// badRow says what is wrong with a row that plainRows has stopped at.
func (v *verifier) badRow(p *layout.Plan, off int, prev, size uint32) error {
	row := v.msg[off : off+int(p.Rows.Stride)]
	if row[0]&p.Spare != 0 {
		return v.malformed(off, "spare bits")
	}
	if err := v.clear(p, row, off); err != nil {
		return err
	}
	c := &p.Vars[0]
	if end := le.Uint32(row[c.Off:]); end < prev || end > size {
		return v.malformed(off+int(c.Off), endOutside)
	}
	return v.malformed(off+int(c.Off), behindClear)
}

// loadBits reads the bits of a row, at most eight bytes.
func loadBits(row []byte, n int) (bits uint64) {
	if len(row) >= 8 {
		return le.Uint64(row) & (1<<(8*n) - 1)
	}
	for i := n - 1; i >= 0; i-- {
		bits = bits<<8 | uint64(row[i])
	}
	return bits
}

// checks looks at the fields of a row that need more than their bits.
func (v *verifier) checks(p *layout.Plan, row []byte, off int) error {
	for i := range p.Checks {
		c := &p.Checks[i]
		if !has(row, c.Bit) {
			continue
		}
		if err := v.slot(p, c, row, off); err != nil {
			return err
		}
	}
	for i := range p.OneofMasks {
		if p.OneofMasks[i].Many(row) {
			v.convert = true
		}
	}
	return nil
}

// wideRows checks rows of more than 64 bits.
func (v *verifier) wideRows(p *layout.Plan, n, off, tail int, size uint32, depth int) error {
	r := p.Rows
	prev := uint32(0)
	for ; n > 0; n-- {
		row := v.msg[off : off+int(r.Fixed(1))]
		if row[r.BitBytes-1]&p.Spare != 0 {
			return v.malformed(off, "spare bits")
		}
		if !p.AllSet(row) {
			if err := v.clear(p, row, off); err != nil {
				return err
			}
		}
		if err := v.checks(p, row, off); err != nil {
			return err
		}
		for i := range p.Vars {
			c := &p.Vars[i]
			e := size
			if n > 1 || i < len(p.Vars)-1 {
				e = le.Uint32(v.msg[off+int(c.Off):])
			}
			if e < prev || e > size {
				return v.malformed(off+int(c.Off), endOutside)
			}
			if has(row, c.Bit) {
				if err := v.value(p, c, tail+int(prev), tail+int(e), depth); err != nil {
					return err
				}
			} else if e != prev {
				return v.malformed(off+int(c.Off), behindClear)
			}
			prev = e
		}
		off += int(r.Stride)
	}
	return nil
}

func has(row []byte, bit uint32) bool { return row[bit/8]>>(bit%8)&1 != 0 }

// clear checks that there is nothing behind the clear bits of a row.
func (v *verifier) clear(p *layout.Plan, row []byte, off int) error {
	for i := range p.Rows.Fields {
		f := &p.Rows.Fields[i]
		if has(row, f.Bit) || f.Variable() {
			continue
		}
		bad := false
		switch f.Code {
		case layout.Bool:
			bad = has(row, f.Bit+1)
		case layout.Byte:
			bad = row[f.Off] != 0
		case layout.Word:
			bad = le.Uint32(row[f.Off:]) != 0
		case layout.Long:
			bad = le.Uint64(row[f.Off:]) != 0
		default:
			for _, c := range row[f.Off : f.Off+uint32(f.K)] {
				bad = bad || c != 0
			}
		}
		if bad {
			return v.malformed(off+int(f.Off), "a value behind a clear bit")
		}
	}
	return nil
}

// slot checks a field in the row that needs more than its bits: one that the
// reader can't take or has to convert, or an inline message with bools.
func (v *verifier) slot(p *layout.Plan, c *layout.Check, row []byte, off int) error {
	switch c.Op {
	case layout.OpMismatch:
		return at(p.Incompatible(int(c.Field)), off)
	case layout.OpConvert:
		v.convert = true
	case layout.OpInline:
		for _, o := range p.Msg.Fields[c.Field].Child.Bools {
			if row[c.Off+uint32(o)] > 1 {
				return v.malformed(off+int(c.Off)+int(o), "a bool that is neither 0 nor 1")
			}
		}
	}
	return nil
}

// value checks a variable value that is present.
func (v *verifier) value(p *layout.Plan, c *layout.Check, off, end, depth int) error {
	b := v.msg[off:end]
	switch c.Op {
	case layout.OpBytes:
	case layout.OpString:
		if !validString(b) {
			return &fault.Error{Kind: fault.UTF8, Offset: off, Field: p.Msg.Fields[c.Field].Desc.FullName()}
		}
	case layout.OpBlock:
		return v.block(&p.Msg.Fields[c.Field], off, end, depth+1)
	case layout.OpList, layout.OpBools, layout.OpConvertList, layout.OpInlineList:
		if len(b) == 0 || len(b)%int(c.Elem) != 0 {
			return v.malformed(off, "a list that is empty or ends inside an element")
		}
		switch c.Op {
		case layout.OpBools:
			for i, x := range b {
				if x > 1 {
					return v.malformed(off+i, "a bool that is neither 0 nor 1")
				}
			}
		case layout.OpConvertList:
			v.convert = true
		case layout.OpInlineList:
			for i := 0; i < len(b); i += int(c.Elem) {
				for _, o := range p.Msg.Fields[c.Field].Child.Bools {
					if b[i+int(o)] > 1 {
						return v.malformed(off+i+int(o), "a bool that is neither 0 nor 1")
					}
				}
			}
		}
	case layout.OpStrings, layout.OpBytesList:
		return v.strings(p, c, off, end)
	case layout.OpResidue:
		return v.residue(p.Msg, off, end, depth)
	case layout.OpMismatch:
		return at(p.Incompatible(int(c.Field)), off)
	}
	return nil
}

// strings checks a list of strings or bytes.
func (v *verifier) strings(p *layout.Plan, c *layout.Check, off, end int) error {
	l, ok := splitStrings(v.msg[off:end])
	if !ok {
		return v.malformed(off, "a list of strings whose count is wrong or whose ends are cut short")
	}
	size, prev := uint32(len(l.data)), uint32(0)
	ascii := c.Op != layout.OpStrings || isASCII(l.data)
	for i := 0; i < l.n; i++ {
		e := size
		if i < l.n-1 {
			e = le.Uint32(l.ends[4*i:])
		}
		if e < prev || e > size {
			return v.malformed(off, "an end of a list of strings outside the list or before the one before it")
		}
		if !ascii && !utf8.Valid(l.data[prev:e]) {
			return &fault.Error{Kind: fault.UTF8, Offset: end - int(size-prev), Field: p.Msg.Fields[c.Field].Desc.FullName()}
		}
		prev = e
	}
	return nil
}

// stringList is a list of strings or bytes: n-1 ends and the bytes of all elements.
type stringList struct {
	n          int
	ends, data []byte
}

func splitStrings(b []byte) (stringList, bool) {
	n, k := layout.Uvarint(b)
	if k == 0 || 4*uint64(n-1) > uint64(len(b)-k) {
		return stringList{}, false
	}
	data := k + 4*int(n-1)
	return stringList{n: int(n), ends: b[k:data], data: b[data:]}, true
}

// at gives element i of a list that was verified, given where it starts.
func (l *stringList) at(i int, start uint32) (value []byte, end uint32) {
	end = uint32(len(l.data))
	if i < l.n-1 {
		end = le.Uint32(l.ends[4*i:])
	}
	return l.data[start:end], end
}

// residue checks the protobuf bytes of extensions and unknown fields.
func (v *verifier) residue(m *layout.Message, off, end, depth int) error {
	return eachField(v.msg[off:end], func(num protowire.Number, typ protowire.Type, val []byte, pos int) error {
		pos += off
		switch {
		case num == layout.ResidueNumber:
			return v.malformed(pos, "field 19000 in a residue")
		case num == layout.KeptNumber:
			if typ != protowire.BytesType {
				return v.malformed(pos, "a field 19001 that is not bytes")
			}
			_, err := v.root(m, pos+len(val)-len(payload(val)), pos+len(val), depth+1, false)
			return err
		case m.FieldByNumber(int32(num)) != nil:
			v.convert = true
		}
		return nil
	})
}

// payload is the content of a length-delimited value.
func payload(val []byte) []byte {
	b, _ := protowire.ConsumeBytes(val)
	return b
}

// eachField calls f for each field of protobuf bytes; val is the value, a group with
// its end tag, at pos. The bytes may hold anything: what is no protobuf is an error.
func eachField(b []byte, f func(num protowire.Number, typ protowire.Type, val []byte, pos int) error) error {
	for pos := 0; pos < len(b); {
		num, typ, n := protowire.ConsumeTag(b[pos:])
		if n >= 0 {
			pos += n
			n = protowire.ConsumeFieldValue(num, typ, b[pos:])
		}
		if n < 0 {
			return &fault.Error{Kind: fault.Residue, Offset: -1, Detail: "not protobuf", Err: protowire.ParseError(n)}
		}
		if err := f(num, typ, b[pos:pos+n], pos); err != nil {
			return err
		}
		pos += n
	}
	return nil
}

// keys finds out whether the keys of a verified map ascend, as a binary search needs.
func (v *verifier) keys(p *layout.Plan, n, off, end int) {
	key := p.Rows.Lookup(1)
	if v.convert || key == nil {
		v.convert = true // of no map that an encoder writes
		return
	}
	rows := off
	tail := v.msg[off+int(p.Rows.Fixed(uint64(n))) : end]
	var before []byte
	start := uint32(0)
	for i := 0; i < n; i++ {
		row := v.msg[rows:]
		var k []byte
		switch {
		case key.Code == layout.Bool:
			k = []byte{row[0] & 2} // the first field of the row
		case key.Variable():
			stop := uint32(len(tail))
			if i < n-1 || p.Rows.Ends > 1 {
				stop = le.Uint32(row[key.Off:])
			}
			k = tail[start:stop]
		default:
			k = row[key.Off : int(key.Off)+key.Size()]
		}
		if i > 0 && !ascends(before, k, key.Variable()) {
			v.convert = true
			return
		}
		before = k
		if p.Rows.Ends > 0 && i < n-1 {
			start = le.Uint32(v.msg[rows+int(p.Rows.Stride)-4:])
		}
		rows += int(p.Rows.Stride)
	}
}

// ascends compares keys: strings by bytes, numbers as little-endian unsigned.
func ascends(x, y []byte, text bool) bool {
	if text {
		return bytes.Compare(x, y) < 0
	}
	return keyBits(x) < keyBits(y)
}

func keyBits(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func validString(b []byte) bool { return isASCII(b) || utf8.Valid(b) }

const high = 0x8080808080808080

func isASCII(b []byte) bool {
	for len(b) >= 32 {
		if (le.Uint64(b)|le.Uint64(b[8:])|le.Uint64(b[16:])|le.Uint64(b[24:]))&high != 0 {
			return false
		}
		b = b[32:]
	}
	for len(b) >= 8 {
		if le.Uint64(b)&high != 0 {
			return false
		}
		b = b[8:]
	}
	if len(b) >= 4 {
		if le.Uint32(b)&uint32(high&0xFFFFFFFF) != 0 {
			return false
		}
		b = b[4:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
