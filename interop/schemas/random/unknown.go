package random

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The numbers that protobuf reserves for implementations; Graven uses two.
const (
	firstReserved = 19000
	lastReserved  = 19999
)

// unknown makes fields as a parser keeps them that does not know them: of
// numbers that md does not have, or of a wire type that its field can't have.
func (s *Source) unknown(md protoreflect.MessageDescriptor) protoreflect.RawFields {
	var b []byte
	for range 1 + s.rand.IntN(3) {
		b = s.unknownField(b, md, 0)
	}
	return b
}

func (s *Source) unknownField(b []byte, md protoreflect.MessageDescriptor, depth int) []byte {
	num, typ := s.unknownTag(md)
	if depth > 3 && typ == protowire.StartGroupType {
		typ = protowire.VarintType
	}
	b = protowire.AppendTag(b, num, typ)
	switch typ {
	case protowire.VarintType:
		b = protowire.AppendVarint(b, s.bits(64))
	case protowire.Fixed32Type:
		b = protowire.AppendFixed32(b, uint32(s.bits(32)))
	case protowire.Fixed64Type:
		b = protowire.AppendFixed64(b, s.bits(64))
	case protowire.BytesType:
		b = protowire.AppendString(b, s.text(false))
	case protowire.StartGroupType:
		for range s.rand.IntN(3) {
			b = s.unknownField(b, nil, depth+1)
		}
		b = protowire.AppendTag(b, num, protowire.EndGroupType)
	}
	return b
}

// unknownTag picks a number and a wire type that md, unless it is nil, has no
// field for.
func (s *Source) unknownTag(md protoreflect.MessageDescriptor) (protowire.Number, protowire.Type) {
	types := [...]protowire.Type{protowire.VarintType, protowire.Fixed32Type, protowire.Fixed64Type, protowire.BytesType, protowire.StartGroupType}
	typ := types[s.rand.IntN(len(types))]
	if md == nil {
		return protowire.Number(s.number()), typ
	}
	if n := md.Fields().Len(); n > 0 && s.rand.IntN(4) == 0 {
		fd := md.Fields().Get(s.rand.IntN(n))
		switch fd.Kind() {
		case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
			return fd.Number(), protowire.VarintType
		}
		return fd.Number(), protowire.Fixed32Type
	}
	return s.unknownNumber(md), typ
}

// unknownNumber is one that neither a field nor an extension of md has.
func (s *Source) unknownNumber(md protoreflect.MessageDescriptor) protowire.Number {
	known := make(map[protowire.Number]bool)
	if s.Extensions != nil {
		for _, x := range s.Extensions(md.FullName()) {
			known[x.TypeDescriptor().Number()] = true
		}
	}
	num := protowire.Number(s.number())
	for md.Fields().ByNumber(num) != nil || known[num] {
		num = protowire.Number(s.number())
	}
	return num
}

// unknownItem makes an item of a message set as protobuf-go keeps one that it
// does not know: as a field of type bytes.
func (s *Source) unknownItem(md protoreflect.MessageDescriptor) protoreflect.RawFields {
	b := protowire.AppendTag(nil, s.unknownNumber(md), protowire.BytesType)
	return protowire.AppendString(b, s.text(false))
}

// number is a field number, mostly a small one, never a reserved one.
func (s *Source) number() int {
	n := 1 + s.rand.IntN(40)
	switch s.rand.IntN(4) {
	case 0:
		n = 1 + s.rand.IntN(3000)
	case 1:
		n = 1 + s.rand.IntN(int(protowire.MaxValidNumber))
	}
	if n >= firstReserved && n <= lastReserved {
		return lastReserved + 1
	}
	return n
}
