package corpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// This file is a verifier written from the text of the format, like the
// encoder beside it: it says what a reader has to refuse, slowly.

const lastNumber = 536_870_911

// Verify says what is wrong with a frame for a reader of this message type,
// or nothing. r resolves the extensions of residues. It counts no levels.
func Verify(md protoreflect.MessageDescriptor, frame []byte, r Resolver) error {
	if len(frame) < 24 || string(frame[:5]) != "GRVN\x01" || frame[5]&0x0F != 0 || frame[6] != 0 || frame[7] != 0 {
		return errors.New("header")
	}
	if n := binary.LittleEndian.Uint32(frame[16:]); n > 1<<31-1 || int(n) != len(frame)-24 {
		return errors.New("size")
	}
	body := frame[20 : len(frame)-4]
	if binary.LittleEndian.Uint32(frame[len(frame)-4:]) != crc32.Checksum(frame[:len(frame)-4], castagnoli) {
		return errors.New("checksum")
	}
	if binary.LittleEndian.Uint32(frame[12:]) != uint32(ID(md)>>32) {
		return errors.New("another type")
	}
	return verifier{r}.rows(md, body, 1, true)
}

type verifier struct{ r Resolver }

// uvarint reads a count or the length of a run.
func uvarint(b []byte) (n uint64, rest []byte, err error) {
	for i := range b {
		if i == 5 {
			break
		}
		n |= uint64(b[i]&0x7F) << (7 * i)
		if b[i]&0x80 != 0 {
			continue
		}
		if i > 0 && b[i] == 0 || n >= 1<<32 || n == 0 {
			break
		}
		return n, b[i+1:], nil
	}
	return 0, nil, errors.New("uvarint")
}

// parseShape reads a shape.
func parseShape(b []byte) (columns []column, rest []byte, err error) {
	words, run := uint64(0), false
	for more := true; more; {
		if len(b) < 2 {
			return nil, nil, errors.New("shape cut short")
		}
		w := binary.LittleEndian.Uint16(b)
		b = b[2:]
		more = w&0x8000 != 0
		if w == 0x8000 {
			if run {
				return nil, nil, errors.New("two runs")
			}
			var n uint64
			if n, b, err = uvarint(b); err != nil {
				return nil, nil, err
			}
			words, run = words+n, true
			if words > lastNumber {
				return nil, nil, errors.New("run past the last number")
			}
			continue
		}
		if w == 0 && words > 0 {
			return nil, nil, errors.New("last word is zero")
		}
		for i := range 5 {
			code := int(w>>(3*i)) & 7
			number := 5*words + uint64(i) + 1
			if code == 0 {
				continue
			}
			if number > lastNumber {
				return nil, nil, errors.New("number too large")
			}
			columns = append(columns, column{number: int(number), code: code})
		}
		words, run = words+1, false
	}
	for i := range columns {
		c := &columns[i]
		if c.code != 7 {
			continue
		}
		if len(b) < 1 {
			return nil, nil, errors.New("size cut short")
		}
		c.k, b = int(b[0]), b[1:]
		if c.k == 0 {
			if len(b) < 1 {
				return nil, nil, errors.New("size cut short")
			}
			c.e, b = int(b[0]), b[1:]
		}
	}
	return columns, b, nil
}

// block checks a block of rows of the message type; single allows but one.
func (v verifier) block(md protoreflect.MessageDescriptor, b []byte, single bool) error {
	n, b, err := uvarint(b)
	if err != nil {
		return err
	}
	if single && n != 1 {
		return errors.New("rows behind a singular message")
	}
	return v.rows(md, b, n, true)
}

// rows checks shape, rows and tail.
func (v verifier) rows(md protoreflect.MessageDescriptor, b []byte, n uint64, residue bool) error {
	columns, b, err := parseShape(b)
	if err != nil {
		return err
	}
	size, variable := stride(columns), false
	for i := range columns {
		c := &columns[i]
		c.fd = md.Fields().ByNumber(protoreflect.FieldNumber(c.number))
		variable = variable || c.variable()
		switch {
		case c.number == carriedNumber:
			return errors.New("19001 in a shape")
		case c.number == residueNumber && (c.code != 5 || !residue || md.IsMapEntry()):
			return errors.New("19000 in a shape")
		}
		c.residue = c.number == residueNumber
	}
	fixed := n * uint64(size)
	if variable {
		fixed -= 4
	}
	if fixed > uint64(len(b)) {
		return errors.New("rows cut short")
	}
	tail := b[fixed:]
	if !variable && len(tail) > 0 {
		return errors.New("bytes left over")
	}
	start := uint32(0)
	for i := range n {
		row := b[i*uint64(size):]
		if start, err = v.row(md, columns, row, tail, start, i == n-1); err != nil {
			return err
		}
	}
	if variable && int(start) != len(tail) {
		return errors.New("bytes left over")
	}
	return nil
}

func (v verifier) row(md protoreflect.MessageDescriptor, columns []column, row, tail []byte, start uint32, last bool) (uint32, error) {
	bit := 0
	next := func() bool { bit++; return row[(bit-1)/8]>>((bit-1)%8)&1 != 0 }
	var has, on []bool
	for _, c := range columns {
		has = append(has, next())
		on = append(on, c.code == 1 && next())
	}
	area, size := max(1, (bit+7)/8), stride(columns)
	for bit < 8*area {
		if next() {
			return 0, errors.New("spare bits")
		}
	}
	at := area
	slots := make([][]byte, len(columns))
	for i, c := range columns {
		slots[i] = row[at : at+c.slot()]
		at += c.slot()
	}
	for i, c := range columns {
		value := slots[i]
		if c.variable() {
			end := uint32(len(tail)) // of the last row's last value
			if !last || at < size-4 {
				end = binary.LittleEndian.Uint32(row[at:])
			}
			at += 4
			if end < start || uint64(end) > uint64(len(tail)) {
				return 0, errors.New("ends")
			}
			value, start = tail[start:end], end
		}
		if !has[i] {
			if on[i] || c.variable() && len(value) > 0 {
				return 0, errors.New("a value behind a clear bit")
			}
			for _, x := range value {
				if x != 0 {
					return 0, errors.New("a value behind a clear bit")
				}
			}
			continue
		}
		check := v.value
		if c.residue {
			check = func(_ column, b []byte) error { return v.residueOf(md, b) }
		}
		if err := check(c, value); err != nil {
			return 0, fmt.Errorf("field %d: %w", c.number, err)
		}
	}
	return start, nil
}

var errKind = errors.New("another kind of storage")

// value checks a present field.
func (v verifier) value(c column, b []byte) error {
	if c.code == 7 && c.k == 0 {
		if err := list(c.e, b); err != nil {
			return err
		}
	}
	fd := c.fd
	if fd == nil {
		return nil
	}
	isFloat := fd.Kind() == protoreflect.FloatKind
	isDouble := fd.Kind() == protoreflect.DoubleKind
	inline := fd.Message() != nil && !fd.IsMap() && Inline(fd.Message())
	switch {
	case fd.IsMap() || fd.IsList() && fd.Message() != nil && !inline:
		if c.code != 6 {
			return errKind
		}
		return v.block(fd.Message(), b, false)
	case fd.IsList():
		if c.code != 7 || c.k != 0 {
			return errKind
		}
		return elements(c, b)
	case inline:
		if c.code != 7 || c.k != inlineSize(fd.Message()) {
			return errKind
		}
		return inlineBools(fd.Message(), b)
	case fd.Message() != nil:
		if c.code != 6 {
			return errKind
		}
		return v.block(fd.Message(), b, true)
	case isText(fd):
		if c.code != 5 {
			return errKind
		}
		return checkText(fd, b)
	case isFloat && c.code != 3, isDouble && c.code != 4:
		return errKind
	case c.code == 5, c.code == 6, c.code == 7 && c.k != 2:
		return errKind
	}
	return nil
}

// list checks a list of e bytes an element, or of strings.
func list(e int, b []byte) error {
	if e > 0 {
		if len(b) == 0 || len(b)%e != 0 {
			return errors.New("list")
		}
		return nil
	}
	_, err := stringsOf(b)
	return err
}

// stringsOf returns the elements of a list of strings.
func stringsOf(b []byte) ([][]byte, error) {
	n, b, err := uvarint(b)
	if err != nil {
		return nil, err
	}
	if 4*(n-1) > uint64(len(b)) {
		return nil, errors.New("ends cut short")
	}
	ends, data := b[:4*(n-1)], b[4*(n-1):]
	var all [][]byte
	start := uint32(0)
	for i := range n {
		end := uint32(len(data))
		if i < n-1 {
			end = binary.LittleEndian.Uint32(ends[4*i:])
		}
		if end < start || uint64(end) > uint64(len(data)) {
			return nil, errors.New("ends of strings")
		}
		all = append(all, data[start:end])
		start = end
	}
	return all, nil
}

// elements checks a list against the reader's field.
func elements(c column, b []byte) error {
	fd := c.fd
	switch {
	case isText(fd):
		if c.e != 0 {
			return errKind
		}
		all, err := stringsOf(b)
		for _, s := range all {
			if err == nil {
				err = checkText(fd, s)
			}
		}
		return err
	case fd.Message() != nil:
		size := inlineSize(fd.Message())
		if c.e != size {
			return errKind
		}
		for ; len(b) > 0; b = b[size:] {
			if err := inlineBools(fd.Message(), b[:size]); err != nil {
				return err
			}
		}
		return nil
	case fd.Kind() == protoreflect.FloatKind && c.e != 4, fd.Kind() == protoreflect.DoubleKind && c.e != 8:
		return errKind
	case c.e != 1 && c.e != 2 && c.e != 4 && c.e != 8:
		return errKind
	case fd.Kind() == protoreflect.BoolKind && c.e == 1:
		for _, x := range b {
			if x > 1 {
				return errors.New("bool")
			}
		}
	}
	return nil
}

func inlineBools(md protoreflect.MessageDescriptor, b []byte) error {
	for _, fd := range ordered(md) {
		n := 0
		switch {
		case fd.Message() != nil:
			n = inlineSize(fd.Message())
			if err := inlineBools(fd.Message(), b[:n]); err != nil {
				return err
			}
		default:
			n = numberSize(fd)
			if fd.Kind() == protoreflect.BoolKind && b[0] > 1 {
				return errors.New("bool in an inline message")
			}
		}
		b = b[n:]
	}
	return nil
}

func checkText(fd protoreflect.FieldDescriptor, b []byte) error {
	if fd.Kind() == protoreflect.StringKind && checksUTF8(fd) && !utf8.Valid(b) {
		return errors.New("UTF-8")
	}
	return nil
}

// residueOf checks a residue of a message of this type.
func (v verifier) residueOf(md protoreflect.MessageDescriptor, b []byte) error {
	var rest []byte
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		field := b[:n]
		b = b[n:]
		switch {
		case num == residueNumber:
			return errors.New("19000 in a residue")
		case num != carriedNumber:
			rest = append(rest, field...)
			continue
		case typ != protowire.BytesType:
			return errors.New("19001 that is not bytes")
		}
		_, _, tag := protowire.ConsumeTag(field)
		in, _ := protowire.ConsumeBytes(field[tag:])
		if err := v.rows(md, in, 1, false); err != nil {
			return fmt.Errorf("19001: %w", err)
		}
	}
	o := proto.UnmarshalOptions{AllowPartial: true, Resolver: v.r}
	return o.Unmarshal(rest, dynamicpb.NewMessage(md))
}
