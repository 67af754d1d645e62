package breaking

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// verdict is what protobuf makes of a field that has changed.
type verdict struct {
	compatible bool // every value that both kinds can hold is read right
	says       string
}

func compatible(format string, args ...any) verdict {
	return verdict{true, "wire compatible" + fmt.Sprintf(format, args...)}
}

func incompatible(format string, args ...any) verdict {
	return verdict{false, fmt.Sprintf(format, args...)}
}

// protobufSays compares two versions of a field by protobuf's encoding.
func protobufSays(was, is protoreflect.FieldDescriptor) verdict {
	v := kindsSay(was.Kind(), is.Kind())
	wasList, isList := was.Cardinality() == protoreflect.Repeated, is.Cardinality() == protoreflect.Repeated
	if wasList == isList || !v.compatible {
		return v
	}
	switch {
	case was.Kind() == protoreflect.GroupKind, was.Kind() == protoreflect.MessageKind:
		return compatible(", a singular reader merges the messages of a list")
	case wireType(was.Kind()) == protowire.BytesType:
		return compatible(", a singular reader keeps the last of a list")
	}
	list := is
	if wasList {
		list = was
	}
	if list.IsPacked() {
		return incompatible("not wire compatible, a singular reader takes a packed list for an unknown field")
	}
	return compatible(", a singular reader keeps the last of a list that is not packed")
}

// kindsSay compares single values of two kinds.
func kindsSay(was, is protoreflect.Kind) verdict {
	a, b := wireType(was), wireType(is)
	switch {
	case was == is:
		return compatible("")
	case a != b:
		return incompatible("not wire compatible, the wire type changes from %s to %s and the field is taken for an unknown one",
			wireNames[a], wireNames[b])
	case zigzag(was) != zigzag(is):
		return incompatible("same wire type, but values are misread (zigzag)")
	case float(was) != float(is):
		return incompatible("same wire type, but the bits are misread")
	case a == protowire.VarintType && bits(was) != bits(is):
		return compatible(", what does not fit the narrower kind is cut")
	case a != protowire.BytesType:
		return compatible("")
	case was == protoreflect.MessageKind || is == protoreflect.MessageKind:
		other := was
		if other == protoreflect.MessageKind {
			other = is
		}
		if other == protoreflect.BytesKind {
			return compatible(" as long as the bytes hold an encoded message")
		}
		return incompatible("same wire type, but values are misread or refused")
	}
	return compatible(" as long as the bytes are UTF-8")
}

var wireNames = map[protowire.Type]string{
	protowire.VarintType:     "varint",
	protowire.Fixed32Type:    "fixed32",
	protowire.Fixed64Type:    "fixed64",
	protowire.BytesType:      "length-delimited",
	protowire.StartGroupType: "group",
}

// wireType is the wire type of a single value of the kind.
func wireType(k protoreflect.Kind) protowire.Type {
	switch k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return protowire.Fixed64Type
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.GroupKind:
		return protowire.StartGroupType
	}
	return protowire.VarintType
}

func zigzag(k protoreflect.Kind) bool {
	return k == protoreflect.Sint32Kind || k == protoreflect.Sint64Kind
}

func float(k protoreflect.Kind) bool {
	return k == protoreflect.FloatKind || k == protoreflect.DoubleKind
}

// bits is how many bits of a varint the kind keeps.
func bits(k protoreflect.Kind) int {
	switch k {
	case protoreflect.BoolKind:
		return 1
	case protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind:
		return 64
	}
	return 32
}
