package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// This file is an encoder written from the text of the format, section by
// section, with no thought of speed and nothing shared with the codec. What
// both say alike is most likely what the text says.

const residueNumber, carriedNumber = 19000, 19001

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the frame of a message whose unknown fields hold neither
// 19000 nor 19001.
func Encode(m proto.Message) ([]byte, error) {
	r := m.ProtoReflect()
	return encoder{}.frame(r)
}

// EncodeFull is Encode without elision: every block has its full shape, as from
// a writer that fills rows in place.
func EncodeFull(m proto.Message) ([]byte, error) {
	return encoder{full: true}.frame(m.ProtoReflect())
}

// encoder says how to encode.
type encoder struct{ full bool }

func (e encoder) frame(r protoreflect.Message) ([]byte, error) {
	body, err := e.block([]protoreflect.Message{r}, true)
	if err != nil {
		return nil, err
	}
	return Seal(ID(r.Descriptor()), body), nil
}

// Seal puts a message into a frame.
func Seal(id uint64, body []byte) []byte {
	b := []byte("GRVN\x01\x00\x00\x00")
	b = binary.LittleEndian.AppendUint64(b, id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// Reseal returns a copy of a frame of at least 24 bytes with its size and
// checksum made right.
func Reseal(frame []byte) []byte {
	b := slices.Clone(frame)
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-24))
	binary.LittleEndian.PutUint32(b[len(b)-4:], crc32.Checksum(b[:len(b)-4], castagnoli))
	return b
}

// ID returns the schema id of a message type.
func ID(md protoreflect.MessageDescriptor) uint64 {
	name := crc32.Checksum([]byte(md.FullName()), castagnoli)
	return uint64(name)<<32 | uint64(crc32.Checksum([]byte(SchemaText(md)), castagnoli))
}

// SchemaText returns the schema text of a message type.
func SchemaText(md protoreflect.MessageDescriptor) string {
	found := []protoreflect.MessageDescriptor{md}
	index := map[protoreflect.FullName]int{md.FullName(): 0}
	var b strings.Builder
	for i := 0; i < len(found); i++ {
		b.WriteByte('{')
		for j, fd := range ordered(found[i]) {
			if j > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%d:", fd.Number())
			if fd.Cardinality() == protoreflect.Repeated {
				b.WriteByte('*')
			}
			sub := fd.Message()
			if sub == nil {
				b.WriteString(fd.Kind().String())
				if w := Width(fd); w != 0 {
					fmt.Fprintf(&b, "/%d", w)
				}
				continue
			}
			k, ok := index[sub.FullName()]
			if !ok {
				k = len(found)
				index[sub.FullName()] = k
				found = append(found, sub)
			}
			mark := '@'
			if Inline(sub) {
				mark = '='
			}
			fmt.Fprintf(&b, "%c%d", mark, k)
		}
		b.WriteByte('}')
	}
	return b.String()
}

func ordered(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	var list []protoreflect.FieldDescriptor
	for i := range md.Fields().Len() {
		list = append(list, md.Fields().Get(i))
	}
	slices.SortFunc(list, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number() - b.Number()) })
	return list
}

// column is a field in a shape.
type column struct {
	number  int
	code    int
	k, e    int                          // of code 7
	fd      protoreflect.FieldDescriptor // nil for the residue
	residue bool
}

// numberSize returns the bytes of a number, bool or enum.
func numberSize(fd protoreflect.FieldDescriptor) int {
	if w := Width(fd); w != 0 {
		return w / 8
	}
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return 1
	case protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind,
		protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return 8
	}
	return 4
}

func inlineSize(md protoreflect.MessageDescriptor) int {
	n := 0
	for _, fd := range ordered(md) {
		if fd.Message() != nil {
			n += inlineSize(fd.Message())
		} else {
			n += numberSize(fd)
		}
	}
	return n
}

func isText(fd protoreflect.FieldDescriptor) bool {
	return fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind
}

func columnOf(fd protoreflect.FieldDescriptor) column {
	c := column{number: int(fd.Number()), fd: fd}
	inline := fd.Message() != nil && Inline(fd.Message())
	switch {
	case fd.IsMap() || fd.Message() != nil && !inline:
		c.code = 6
	case fd.IsList():
		c.code = 7
		switch {
		case isText(fd):
		case inline:
			c.e = inlineSize(fd.Message())
		default:
			c.e = numberSize(fd)
		}
	case inline:
		c.code, c.k = 7, inlineSize(fd.Message())
	case isText(fd):
		c.code = 5
	case fd.Kind() == protoreflect.BoolKind:
		c.code = 1
	default:
		switch numberSize(fd) {
		case 1:
			c.code = 2
		case 2:
			c.code, c.k = 7, 2
		case 4:
			c.code = 3
		case 8:
			c.code = 4
		}
	}
	return c
}

func (c column) variable() bool { return c.code == 5 || c.code == 6 || c.code == 7 && c.k == 0 }

func (c column) slot() int {
	switch c.code {
	case 2:
		return 1
	case 3:
		return 4
	case 4:
		return 8
	case 7:
		return c.k
	}
	return 0
}

func shape(columns []column) []byte {
	if len(columns) == 0 {
		return []byte{0, 0}
	}
	words := map[int]int{}
	var used []int // words with a code in them, in order
	for _, c := range columns {
		w := (c.number - 1) / 5
		if words[w] == 0 {
			used = append(used, w)
		}
		words[w] |= c.code << (3 * ((c.number - 1) % 5))
	}
	var b []byte
	next := 0
	for i, w := range used {
		if run := w - next; run > 0 {
			b = append(b, 0x00, 0x80)
			b = binary.AppendUvarint(b, uint64(run))
		}
		v := words[w]
		if i < len(used)-1 {
			v |= 0x8000
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
		next = w + 1
	}
	for _, c := range columns {
		if c.code == 7 {
			b = append(b, byte(c.k))
			if c.k == 0 {
				b = append(b, byte(c.e))
			}
		}
	}
	return b
}

func stride(columns []column) int {
	bits, n := 0, 0
	for _, c := range columns {
		bits++
		if c.code == 1 {
			bits++
		}
		n += c.slot()
		if c.variable() {
			n += 4
		}
	}
	return n + max(1, (bits+7)/8)
}

// cell is a field of a row: nil value bytes and false if it is absent.
type cell struct {
	has   bool
	isOn  bool // value of a bool
	bytes []byte
}

// block encodes rows of one message type.
func (e encoder) block(rows []protoreflect.Message, root bool) ([]byte, error) {
	md := rows[0].Descriptor()
	var columns []column
	for _, fd := range ordered(md) {
		columns = append(columns, columnOf(fd))
	}
	residues := make([][]byte, len(rows))
	withResidue := false
	for i, m := range rows {
		var err error
		if residues[i], err = residue(m); err != nil {
			return nil, err
		}
		withResidue = withResidue || len(residues[i]) > 0
	}
	if withResidue {
		at := len(columns)
		for i, c := range columns {
			if c.number > residueNumber {
				at = i
				break
			}
		}
		columns = slices.Insert(columns, at, column{number: residueNumber, code: 5, residue: true})
	}
	table := make([][]cell, len(rows))
	used := make([]bool, len(columns))
	for i, m := range rows {
		table[i] = make([]cell, len(columns))
		for j, c := range columns {
			var err error
			if c.residue {
				table[i][j] = cell{has: len(residues[i]) > 0, bytes: residues[i]}
			} else if table[i][j], err = e.encodeField(m, c.fd); err != nil {
				return nil, err
			}
			used[j] = used[j] || table[i][j].has
		}
	}
	var some []column
	for j, c := range columns {
		if used[j] {
			some = append(some, c)
		}
	}
	s := len(shape(columns)) + stride(columns)
	short := len(shape(some)) + stride(some)
	if s > 8 && 4*short <= 3*s && !e.full {
		for i := range table {
			var short []cell
			for j := range columns {
				if used[j] {
					short = append(short, table[i][j])
				}
			}
			table[i] = short
		}
		columns = some
	}
	return layOut(columns, table, root), nil
}

// layOut writes a block of rows.
func layOut(columns []column, table [][]cell, root bool) []byte {
	var b, tail []byte
	if !root {
		b = binary.AppendUvarint(b, uint64(len(table)))
	}
	b = append(b, shape(columns)...)
	variable := false
	for _, cells := range table {
		bits := make([]byte, stride(columns)) // cut below
		n := 0
		var slots, ends []byte
		for j, c := range columns {
			v := cells[j]
			if v.has {
				bits[n/8] |= 1 << (n % 8)
			}
			n++
			switch {
			case c.code == 1:
				if v.isOn {
					bits[n/8] |= 1 << (n % 8)
				}
				n++
			case c.variable():
				variable = true
				tail = append(tail, v.bytes...)
				ends = binary.LittleEndian.AppendUint32(ends, uint32(len(tail)))
			case v.has:
				slots = append(slots, v.bytes...)
			default:
				slots = append(slots, make([]byte, c.slot())...)
			}
		}
		b = append(b, bits[:max(1, (n+7)/8)]...)
		b = append(b, slots...)
		b = append(b, ends...)
	}
	if variable {
		b = b[:len(b)-4]
	}
	return append(b, tail...)
}

func (e encoder) encodeField(m protoreflect.Message, fd protoreflect.FieldDescriptor) (cell, error) {
	if !m.Has(fd) {
		return cell{}, nil
	}
	v := m.Get(fd)
	switch {
	case fd.IsMap():
		b, err := e.encodeMap(fd, v.Map())
		return cell{has: true, bytes: b}, err
	case fd.IsList():
		b, err := e.encodeList(fd, v.List())
		return cell{has: true, bytes: b}, err
	case fd.Kind() == protoreflect.BoolKind:
		return cell{has: true, isOn: v.Bool()}, nil
	}
	b, err := e.encodeValue(fd, v)
	return cell{has: true, bytes: b}, err
}

func (e encoder) encodeValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	switch {
	case fd.Kind() == protoreflect.StringKind:
		return []byte(v.String()), nil
	case fd.Kind() == protoreflect.BytesKind:
		return v.Bytes(), nil
	case fd.Message() == nil:
		return number(fd, v)
	case Inline(fd.Message()):
		return e.inlineBytes(v.Message())
	}
	return e.block([]protoreflect.Message{v.Message()}, false)
}

func number(fd protoreflect.FieldDescriptor, v protoreflect.Value) ([]byte, error) {
	var n uint64
	fits := func(int) bool { return true }
	switch fd.Kind() {
	case protoreflect.BoolKind:
		if v.Bool() {
			n = 1
		}
	case protoreflect.EnumKind:
		n = uint64(v.Enum())
		fits = func(w int) bool { return signed(int64(n), w) == int64(n) }
	case protoreflect.FloatKind:
		n = uint64(math.Float32bits(float32(v.Float())))
	case protoreflect.DoubleKind:
		n = math.Float64bits(v.Float())
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n = v.Uint()
		fits = func(w int) bool { return n>>w == 0 }
	default:
		n = uint64(v.Int())
		fits = func(w int) bool { return signed(int64(n), w) == int64(n) }
	}
	size := numberSize(fd)
	if Width(fd) != 0 && !fits(size*8) {
		return nil, fmt.Errorf("%s: %d does not fit %d bits", fd.FullName(), n, size*8)
	}
	return binary.LittleEndian.AppendUint64(nil, n)[:size], nil
}

func (e encoder) inlineBytes(m protoreflect.Message) ([]byte, error) {
	if len(m.GetUnknown()) > 0 {
		return nil, fmt.Errorf("%s: unknown fields in an inline message", m.Descriptor().FullName())
	}
	var b []byte
	for _, fd := range ordered(m.Descriptor()) {
		v, err := e.encodeValue(fd, m.Get(fd))
		if err != nil {
			return nil, err
		}
		b = append(b, v...)
	}
	return b, nil
}

func (e encoder) encodeList(fd protoreflect.FieldDescriptor, list protoreflect.List) ([]byte, error) {
	if fd.Message() != nil && !Inline(fd.Message()) {
		var rows []protoreflect.Message
		for i := range list.Len() {
			rows = append(rows, list.Get(i).Message())
		}
		return e.block(rows, false)
	}
	var elements, ends []byte
	for i := range list.Len() {
		b, err := e.encodeValue(fd, list.Get(i))
		if err != nil {
			return nil, err
		}
		elements = append(elements, b...)
		if i < list.Len()-1 {
			ends = binary.LittleEndian.AppendUint32(ends, uint32(len(elements)))
		}
	}
	if !isText(fd) {
		return elements, nil
	}
	return append(append(binary.AppendUvarint(nil, uint64(list.Len())), ends...), elements...), nil
}

func (e encoder) encodeMap(fd protoreflect.FieldDescriptor, mp protoreflect.Map) ([]byte, error) {
	columns := []column{columnOf(fd.MapKey()), columnOf(fd.MapValue())}
	var table [][]cell
	var err error
	mp.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		row := make([]cell, 2)
		for i, v := range []protoreflect.Value{k.Value(), v} {
			row[i].has = true
			if columns[i].code == 1 {
				row[i].isOn = v.Bool()
				continue
			}
			if row[i].bytes, err = e.encodeValue(columns[i].fd, v); err != nil {
				return false
			}
		}
		table = append(table, row)
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(table, func(a, b []cell) int {
		x, y := a[0], b[0]
		if columns[0].code == 1 {
			if x.isOn == y.isOn {
				return 0
			} else if y.isOn {
				return -1
			}
			return 1
		}
		if columns[0].code != 5 { // by the stored bits, which are little-endian
			slices.Reverse(x.bytes)
			slices.Reverse(y.bytes)
			defer slices.Reverse(x.bytes)
			defer slices.Reverse(y.bytes)
		}
		return bytes.Compare(x.bytes, y.bytes)
	})
	return layOut(columns, table, false), nil
}

// residue returns the extensions of m and its unknown fields.
func residue(m protoreflect.Message) ([]byte, error) {
	var bad bool
	eachField(m.GetUnknown(), func(num protowire.Number, _ protowire.Type, _ []byte) {
		bad = bad || num == residueNumber || num == carriedNumber
	})
	if bad {
		return nil, fmt.Errorf("%s: unknown fields that the format gives a meaning", m.Descriptor().FullName())
	}
	only := m.New()
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.IsExtension() {
			only.Set(fd, v)
		}
		return true
	})
	b, err := Bytes(only.Interface())
	return append(b, m.GetUnknown()...), err
}

// Cell is a present field of a block written by hand.
type Cell struct {
	Number int
	Code   int
	K, E   int    // of code 7
	On     bool   // of code 1
	Bytes  []byte // of all others
}

// Root returns a root block of these fields, which are in order of number.
func Root(cells ...Cell) []byte {
	columns, row := cellsOf(cells)
	return layOut(columns, [][]cell{row}, true)
}

// Block returns a block of rows that all have the same fields.
func Block(rows ...[]Cell) []byte {
	var columns []column
	var table [][]cell
	for _, cells := range rows {
		var row []cell
		columns, row = cellsOf(cells)
		table = append(table, row)
	}
	return layOut(columns, table, false)
}

func cellsOf(cells []Cell) ([]column, []cell) {
	var columns []column
	var row []cell
	for _, c := range cells {
		columns = append(columns, column{number: c.Number, code: c.Code, k: c.K, e: c.E})
		row = append(row, cell{has: true, isOn: c.On, bytes: c.Bytes})
	}
	return columns, row
}
