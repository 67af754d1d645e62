package corpus

import (
	"math"
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Values fills messages with random values. Over enough messages it has what
// is easy to lose: the ends of every range, NaN payloads, -0.0, empty strings
// and bytes that are set, unknown enum numbers, unknown fields, extensions,
// empty messages and deep ones.
//
// What it makes is canonical: inline messages inside inline messages are set,
// as a decoder leaves them, and narrow fields hold values that fit.
type Values struct {
	R *rand.Rand
	// Extensions to set in the messages that they extend.
	Extensions []protoreflect.ExtensionType
	// Unknown adds unknown fields, with numbers that neither the message type
	// nor a range for extensions has.
	Unknown bool
	// Partial leaves out required fields at times.
	Partial bool
	// InvalidUTF8 puts strings that are no UTF-8 where protobuf-go lets them
	// pass.
	InvalidUTF8 bool
	// All sets every field that there is, but of a oneof the last.
	All bool
	// Depth is the number of levels below the message; 0 means 5.
	Depth int
	// Size bounds the messages that one message holds; 0 means 60.
	Size int

	left int
}

// Fill sets fields of m, which is empty and to be sent as a message of its
// own.
func (v *Values) Fill(m protoreflect.Message) {
	if v.Depth == 0 {
		v.Depth = 5
	}
	v.left = v.Size
	if v.left == 0 {
		v.left = 60
	}
	v.message(m, v.Depth, false)
}

// Set sets one field of m, which is to be sent as a message of its own.
func (v *Values) Set(m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	v.left = 10
	v.field(m, fd, 3)
}

// Canonical sets, at every depth, the inline messages that an inline message
// holds and lacks, which on the wire is the same.
func Canonical(m protoreflect.Message) { canonical(m, false) }

func canonical(m protoreflect.Message, stored bool) {
	if stored {
		for i := range m.Descriptor().Fields().Len() {
			if fd := m.Descriptor().Fields().Get(i); fd.Message() != nil && !m.Has(fd) {
				m.Set(fd, m.NewField(fd))
			}
		}
	}
	eachMessage(m, func(fd protoreflect.FieldDescriptor, sub protoreflect.Message) {
		canonical(sub, !fd.IsExtension() && Inline(sub.Descriptor()))
	})
}

// message fills m; stored says that m is an inline message in its parent's
// row.
func (v *Values) message(m protoreflect.Message, depth int, stored bool) {
	v.left--
	md := m.Descriptor()
	density := pick(v.R, []float64{0, 0.05, 0.3, 0.3, 0.7, 1})
	if v.All {
		density = 1
	}
	fields := md.Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		switch {
		case stored && fd.Message() != nil:
			v.message(m.Mutable(fd).Message(), depth, true)
			continue
		case fd.Cardinality() == protoreflect.Required:
			if v.Partial && v.R.IntN(3) == 0 {
				continue
			}
		case v.R.Float64() >= density:
			continue
		}
		v.field(m, fd, depth)
	}
	if stored {
		return
	}
	if md.ExtensionRanges().Len() > 0 {
		for _, xt := range v.Extensions {
			xd := xt.TypeDescriptor()
			if xd.ContainingMessage().FullName() == md.FullName() && v.R.IntN(3) == 0 {
				v.field(m, xd, depth)
			}
		}
	}
	if v.Unknown && v.R.IntN(4) == 0 {
		if u := v.unknown(md, 3); len(u) > 0 {
			m.SetUnknown(u)
		}
	}
}

func (v *Values) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, depth int) {
	if fd.Cardinality() == protoreflect.Required {
		depth = max(depth, 2)
	} else if fd.Message() != nil && (depth <= 1 || v.left <= 0) && (fd.IsList() || !fd.IsMap() || fd.MapValue().Message() != nil) {
		return
	}
	switch {
	case fd.IsList():
		list := m.Mutable(fd).List()
		for range v.count() {
			if fd.Message() != nil && v.left <= 0 {
				break
			}
			list.Append(v.value(fd, list.NewElement, depth))
		}
	case fd.IsMap():
		mp := m.Mutable(fd).Map()
		for range v.count() {
			if fd.MapValue().Message() != nil && v.left <= 0 {
				break
			}
			key := v.value(fd.MapKey(), nil, depth).MapKey()
			mp.Set(key, v.value(fd.MapValue(), mp.NewValue, depth))
		}
	default:
		m.Set(fd, v.value(fd, func() protoreflect.Value { return m.NewField(fd) }, depth))
	}
}

// count is the length of a list: now and then long.
func (v *Values) count() int {
	if v.R.IntN(12) == 0 {
		return 1 + v.R.IntN(300)
	}
	return 1 + v.R.IntN(4)
}

func (v *Values) value(fd protoreflect.FieldDescriptor, message func() protoreflect.Value, depth int) protoreflect.Value {
	width := Width(fd)
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(v.R.IntN(2) == 1)
	case protoreflect.EnumKind:
		n := v.enum(fd.Enum())
		if width != 0 {
			n = protoreflect.EnumNumber(signed(int64(n), width))
		}
		return protoreflect.ValueOfEnum(n)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(v.signed(width, 32)))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(v.signed(width, 64))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(v.unsigned(width, 32)))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(v.unsigned(width, 64))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.Float32frombits(v.float32()))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(math.Float64frombits(v.float64()))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(v.text(fd))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(v.bytes())
	default:
		val := message()
		v.message(val.Message(), depth-1, Inline(val.Message().Descriptor()) && !fd.IsExtension())
		return val
	}
}

func signed(n int64, width int) int64 { return n << (64 - width) >> (64 - width) }

func (v *Values) signed(width, bits int) int64 {
	if width == 0 {
		width = bits
	}
	low, high := int64(-1)<<(width-1), int64(1)<<(width-1)-1
	switch v.R.IntN(8) {
	case 0:
		return 0
	case 1:
		return low
	case 2:
		return high
	case 3:
		return -1
	case 4:
		return int64(v.R.IntN(100))
	}
	return signed(int64(v.R.Uint64())>>v.R.IntN(64), width)
}

func (v *Values) unsigned(width, bits int) uint64 {
	if width == 0 {
		width = bits
	}
	high := uint64(math.MaxUint64) >> (64 - width)
	switch v.R.IntN(6) {
	case 0:
		return 0
	case 1:
		return high
	case 2:
		return high/2 + 1
	case 3:
		return uint64(v.R.IntN(100))
	}
	return v.R.Uint64() >> v.R.IntN(64) & high
}

func (v *Values) float32() uint32 {
	switch v.R.IntN(10) {
	case 0:
		return 0
	case 1:
		return 0x8000_0000 // -0.0
	case 2:
		return 0x7F80_0000 | 0x40_0000 | v.R.Uint32N(0x40_0000) // quiet NaN with a payload
	case 3:
		return 0xFF80_0000 | 0x40_0000 | v.R.Uint32N(0x40_0000)
	case 4:
		return 0x7F80_0000 // +Inf
	case 5:
		return 1 // the smallest
	case 6:
		// A signaling NaN: dynamicpb keeps the bits of a float in a float64,
		// which quiets it, before any codec sees it; still a NaN with a
		// payload.
		return 0x7F80_0001 + v.R.Uint32N(0x3F_FFFF)
	}
	return v.R.Uint32()
}

func (v *Values) float64() uint64 {
	switch v.R.IntN(10) {
	case 0:
		return 0
	case 1:
		return 1 << 63
	case 2:
		return 0x7FF0_0000_0000_0000 | 1 + v.R.Uint64N(1<<52-1) // NaN, quiet or signaling
	case 3:
		return 0xFFF0_0000_0000_0000 | 1 + v.R.Uint64N(1<<52-1)
	case 4:
		return 0xFFF0_0000_0000_0000 // -Inf
	case 5:
		return 1
	}
	return v.R.Uint64()
}

func (v *Values) enum(ed protoreflect.EnumDescriptor) protoreflect.EnumNumber {
	if v.R.IntN(4) == 0 {
		return protoreflect.EnumNumber(v.signed(0, 32)) // most likely unknown
	}
	return ed.Values().Get(v.R.IntN(ed.Values().Len())).Number()
}

var texts = []string{
	"", "", "a", "zwölf", "日本語", "\x00", "\U0010FFFF", "0123456789abcdef",
	strings.Repeat("x", 127), strings.Repeat("é", 65), strings.Repeat("long ", 100),
}

func (v *Values) text(fd protoreflect.FieldDescriptor) string {
	if v.InvalidUTF8 && !checksUTF8(fd) && v.R.IntN(4) == 0 {
		return string([]byte{'a', 0xFF, 0xC0, byte(v.R.Uint32())})
	}
	if v.R.IntN(3) == 0 {
		b := make([]byte, v.R.IntN(40))
		for i := range b {
			b[i] = byte(' ' + v.R.IntN(95))
		}
		return string(b)
	}
	return pick(v.R, texts)
}

// checksUTF8 says whether protobuf-go checks a string field.
func checksUTF8(fd protoreflect.FieldDescriptor) bool {
	if x, ok := fd.(protoreflect.ExtensionTypeDescriptor); ok {
		fd = x.Descriptor()
	}
	if f, ok := fd.(interface{ EnforceUTF8() bool }); ok {
		return f.EnforceUTF8()
	}
	return fd.ParentFile().Syntax() != protoreflect.Proto2
}

func (v *Values) bytes() []byte {
	n := v.R.IntN(6)
	if v.R.IntN(10) == 0 {
		n = v.R.IntN(2000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(v.R.Uint32())
	}
	return b
}

// unknown returns some fields that md has not, as protobuf bytes.
func (v *Values) unknown(md protoreflect.MessageDescriptor, depth int) []byte {
	var b []byte
	for range 1 + v.R.IntN(4) {
		num := pick(v.R, []protowire.Number{
			536_870_911, 536_870_910, 18_999, 19_002, 19_999, 20_000,
			protowire.Number(1 + v.R.IntN(200)), protowire.Number(1 + v.R.IntN(1<<29-1)),
		})
		if num == 19_000 || num == 19_001 || md != nil && (md.Fields().ByNumber(num) != nil || md.ExtensionRanges().Has(num)) {
			continue
		}
		switch v.R.IntN(5) {
		case 0:
			b = protowire.AppendTag(b, num, protowire.VarintType)
			b = protowire.AppendVarint(b, v.R.Uint64()>>v.R.IntN(64))
		case 1:
			b = protowire.AppendTag(b, num, protowire.Fixed32Type)
			b = protowire.AppendFixed32(b, v.R.Uint32())
		case 2:
			b = protowire.AppendTag(b, num, protowire.Fixed64Type)
			b = protowire.AppendFixed64(b, v.R.Uint64())
		case 3:
			b = protowire.AppendTag(b, num, protowire.BytesType)
			b = protowire.AppendBytes(b, v.bytes())
		case 4:
			b = protowire.AppendTag(b, num, protowire.StartGroupType)
			if depth > 0 {
				b = append(b, v.unknown(nil, depth-1)...)
			}
			b = protowire.AppendTag(b, num, protowire.EndGroupType)
		}
	}
	return b
}
