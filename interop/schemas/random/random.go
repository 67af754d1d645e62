// Package random fills messages of any type with random values that protobuf
// can carry: all presence states, extensions, unknown fields, odd floats.
package random

import (
	"math"
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxDepth bounds how deep optional messages nest. Required ones may go deeper.
const maxDepth = 8

// Source makes random messages. The same seeds make the same messages.
type Source struct {
	// Extensions returns the extensions of a message that may be set; nil
	// stands for none.
	Extensions func(protoreflect.FullName) []protoreflect.ExtensionType

	rand *rand.Rand
	left int // fields that may still be set in the present message
}

// New returns a source for two seeds.
func New(a, b uint64) *Source { return &Source{rand: rand.New(rand.NewPCG(a, b))} }

// Fill sets random fields of m, which is empty. How many is random as well:
// from next to none to all. All required fields are set, save in messages that
// require themselves, which nothing can complete.
func (s *Source) Fill(m protoreflect.Message) {
	s.left = 1 + s.rand.IntN(400)
	density := [...]float64{0.05, 0.3, 0.6, 0.95}[s.rand.IntN(4)]
	s.fill(m, density, 0)
}

func (s *Source) fill(m protoreflect.Message, density float64, depth int) {
	md := m.Descriptor()
	if messageSet(md) {
		s.fillExtensions(m, density, depth)
		if s.left > 0 && s.rand.IntN(6) == 0 {
			m.SetUnknown(s.unknownItem(md))
		}
		return
	}
	fields := md.Fields()
	// Fields are visited in random order, so that what is set when the number
	// of fields runs out is not always the first ones.
	for _, i := range s.rand.Perm(fields.Len()) {
		fd := fields.Get(i)
		switch {
		case fd.Cardinality() == protoreflect.Required:
			if fd.Message() == nil || s.left > 0 || completable(fd.Message(), nil) {
				s.set(m, fd, density, depth)
			}
		case s.take(density, fd, depth):
			s.set(m, fd, density, depth)
		}
	}
	s.fillExtensions(m, density, depth)
	if s.left > 0 && s.rand.IntN(6) == 0 {
		m.SetUnknown(s.unknown(md))
	}
}

// completable reports whether a message's required fields end somewhere, given
// those above it.
func completable(md protoreflect.MessageDescriptor, above []protoreflect.FullName) bool {
	if slices.Contains(above, md.FullName()) {
		return false
	}
	above = append(above, md.FullName())
	numbers := md.RequiredNumbers()
	for i := range numbers.Len() {
		sub := md.Fields().ByNumber(numbers.Get(i)).Message()
		if sub != nil && !completable(sub, above) {
			return false
		}
	}
	return true
}

// take decides whether an optional field is set.
func (s *Source) take(density float64, fd protoreflect.FieldDescriptor, depth int) bool {
	if s.left <= 0 || s.rand.Float64() >= density {
		return false
	}
	if fd.Message() == nil {
		return true
	}
	// Messages get rarer with depth, so that the numbers do not explode.
	return depth < maxDepth && s.rand.IntN(1+depth) == 0
}

func (s *Source) fillExtensions(m protoreflect.Message, density float64, depth int) {
	if s.Extensions == nil || m.Descriptor().ExtensionRanges().Len() == 0 {
		return
	}
	for _, x := range s.Extensions(m.Descriptor().FullName()) {
		if fd := x.TypeDescriptor(); s.take(density/4, fd, depth) {
			s.set(m, fd, density, depth)
		}
	}
}

func (s *Source) set(m protoreflect.Message, fd protoreflect.FieldDescriptor, density float64, depth int) {
	s.left--
	switch {
	case fd.IsMap():
		mp := m.Mutable(fd).Map()
		for range s.length() {
			k := s.scalar(fd.MapKey()).MapKey()
			if fd.MapValue().Message() == nil {
				mp.Set(k, s.scalar(fd.MapValue()))
				continue
			}
			v := mp.NewValue()
			s.fill(v.Message(), density, depth+1)
			mp.Set(k, v)
		}
	case fd.IsList():
		l := m.Mutable(fd).List()
		for range s.length() {
			if fd.Message() == nil {
				l.Append(s.scalar(fd))
				continue
			}
			v := l.NewElement()
			s.fill(v.Message(), density, depth+1)
			l.Append(v)
		}
	case fd.Message() != nil:
		v := m.NewField(fd)
		if s.rand.IntN(5) != 0 || fd.Message().RequiredNumbers().Len() > 0 {
			s.fill(v.Message(), density, depth+1)
		}
		m.Set(fd, v)
	case fd.HasPresence() && s.rand.IntN(6) == 0:
		m.Set(fd, fd.Default())
		if fd.Kind() == protoreflect.BytesKind {
			m.Set(fd, protoreflect.ValueOfBytes(append([]byte{}, fd.Default().Bytes()...)))
		}
	default:
		m.Set(fd, s.scalar(fd))
	}
}

// length is that of a list or map: mostly short, now and then a long one, and
// never more than the fields that are left.
func (s *Source) length() int {
	n := s.rand.IntN(4)
	if s.rand.IntN(20) == 0 {
		n = s.rand.IntN(40)
	}
	n = min(n, max(s.left, 0))
	s.left -= n
	return n
}

func (s *Source) scalar(fd protoreflect.FieldDescriptor) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(s.rand.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(s.enum(fd.Enum()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(s.bits(32)))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(s.bits(32)))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(s.bits(64)))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(s.bits(64))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(s.float32())
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(s.float64())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(s.text(enforceUTF8(fd)))
	case protoreflect.BytesKind:
		b := make([]byte, s.size())
		for i := range b {
			b[i] = byte(s.rand.Uint32())
		}
		return protoreflect.ValueOfBytes(b)
	}
	panic("random: no scalar of kind " + fd.Kind().String())
}

// bits is a number of at most n bits: small ones, powers of two and their
// neighbours, and any.
func (s *Source) bits(n int) uint64 {
	var v uint64
	switch s.rand.IntN(5) {
	case 0:
		v = uint64(s.rand.IntN(3)) - 1
	case 1:
		v = uint64(s.rand.IntN(300))
	case 2:
		v = uint64(1)<<s.rand.IntN(n) - uint64(s.rand.IntN(2))
	case 3:
		v = -uint64(s.rand.IntN(300))
	default:
		v = s.rand.Uint64()
	}
	return v & (math.MaxUint64 >> (64 - n))
}

func (s *Source) enum(ed protoreflect.EnumDescriptor) protoreflect.EnumNumber {
	if s.rand.IntN(8) == 0 {
		return protoreflect.EnumNumber(int32(s.bits(32)))
	}
	return ed.Values().Get(s.rand.IntN(ed.Values().Len())).Number()
}

// float32 includes negative zero, infinities and NaNs of any bits, but no
// signaling ones: moving a float32 through a float64 register may quiet them.
func (s *Source) float32() float32 {
	switch s.rand.IntN(4) {
	case 0:
		odd := [...]uint32{0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7FFFFFFF, 1, 0x7F7FFFFF}
		return math.Float32frombits(odd[s.rand.IntN(len(odd))])
	case 1:
		return float32(s.rand.IntN(2000)-1000) / 8
	}
	f := math.Float32frombits(s.rand.Uint32())
	if f != f {
		return math.Float32frombits(math.Float32bits(f) | 0x00400000)
	}
	return f
}

func (s *Source) float64() float64 {
	switch s.rand.IntN(4) {
	case 0:
		odd := [...]uint64{0, 1 << 63, 0x7FF0 << 48, 0xFFF0 << 48, 0x7FF8 << 48, 0xFFF8<<48 | 1, math.MaxUint64 >> 1, 1, 0x7FEF << 48}
		return math.Float64frombits(odd[s.rand.IntN(len(odd))])
	case 1:
		return float64(s.rand.IntN(2000)-1000) / 8
	}
	return math.Float64frombits(s.rand.Uint64())
}

// size is that of a string or bytes: mostly short, and some past the sizes of
// one-byte counts and of slabs.
func (s *Source) size() int {
	switch s.rand.IntN(40) {
	case 0:
		return 100 + s.rand.IntN(200)
	case 1:
		return s.rand.IntN(5000)
	}
	return s.rand.IntN(20)
}

func (s *Source) text(valid bool) string {
	n := s.size()
	if !valid && s.rand.IntN(4) == 0 {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(s.rand.Uint32())
		}
		return string(b)
	}
	runes := [...]rune{'a', 'z', ' ', 0, '\n', 'é', 0x7FF, 0x800, '中', 0xFFFD, 0xFFFF, 0x10000, '😀', 0x10FFFF}
	var b []rune
	ascii := s.rand.IntN(2) == 0
	for range n {
		if ascii {
			b = append(b, rune(' '+s.rand.IntN(95)))
		} else {
			b = append(b, runes[s.rand.IntN(len(runes))])
		}
	}
	return string(b)
}

// enforceUTF8 reports whether protobuf checks the strings of a field.
func enforceUTF8(fd protoreflect.FieldDescriptor) bool {
	if fd, ok := fd.(interface{ EnforceUTF8() bool }); ok {
		return fd.EnforceUTF8()
	}
	return true // valid text is right everywhere
}

// messageSet reports whether a message has the legacy wire format of message
// sets, which has no place for anything but extensions.
func messageSet(md protoreflect.MessageDescriptor) bool {
	md2, ok := md.(interface{ IsMessageSet() bool })
	return ok && md2.IsMessageSet()
}
