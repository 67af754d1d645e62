package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func fmtRange[T int64 | uint64](x T, width int) string {
	return fmt.Sprintf("%d does not fit in %d bits", x, width)
}

// protoreflect passes a float32 as a float64, which turns a signalling NaN into a
// quiet one. Where bits matter and the value is a NaN, they are taken from and
// given to protobuf's own encoding instead, which copies them.

const quiet = 1 << 22 // the bit that tells a quiet NaN in a float32

func isSignalling(bits uint32) bool {
	return bits&0x7F800000 == 0x7F800000 && bits&0x7FFFFF != 0 && bits&quiet == 0
}

// rawFloats gives the bits of a float field of m, a list's elements in order, from its
// protobuf encoding. Of a map, entries holds for each value the bytes of its key field.
func rawFloats(m protoreflect.Message, fd protoreflect.FieldDescriptor) (values []uint32, entries []string) {
	raw, err := proto.MarshalOptions{AllowPartial: true}.Marshal(m.Interface())
	if err != nil {
		return nil, nil
	}
	_ = eachField(raw, func(num protowire.Number, typ protowire.Type, val []byte, _ int) error {
		switch {
		case num != fd.Number():
		case fd.IsMap():
			var key string
			var bits uint32
			_ = eachField(payload(val), func(num protowire.Number, _ protowire.Type, val []byte, _ int) error {
				if num == 1 {
					key = string(val)
				} else if len(val) == 4 {
					bits = le.Uint32(val)
				}
				return nil
			})
			values, entries = append(values, bits), append(entries, key)
		case typ == protowire.Fixed32Type:
			values = append(values, le.Uint32(val))
		case typ == protowire.BytesType:
			for b := payload(val); len(b) >= 4; b = b[4:] {
				values = append(values, le.Uint32(b))
			}
		}
		return nil
	})
	return values, entries
}

// floatBits gives the bits of element i of a float field, which is v.
func floatBits(m protoreflect.Message, fd protoreflect.FieldDescriptor, i int, v protoreflect.Value) uint32 {
	if x := v.Float(); !math.IsNaN(x) || m == nil {
		return math.Float32bits(float32(x))
	}
	if raw, _ := rawFloats(m, fd); i < len(raw) {
		return raw[i]
	}
	return math.Float32bits(float32(v.Float()))
}

// mapFloatBits gives the bits of the value at a key of a map of floats.
func mapFloatBits(m protoreflect.Message, fd protoreflect.FieldDescriptor, key, v protoreflect.Value) uint32 {
	x := v.Float()
	if math.IsNaN(x) {
		want := string(appendScalar(nil, fd.MapKey().Kind(), key))
		raw, keys := rawFloats(m, fd)
		for i := range keys {
			if keys[i] == want {
				return raw[i]
			}
		}
	}
	return math.Float32bits(float32(x))
}

// appendScalar appends a map key as protobuf does, without its tag.
func appendScalar(b []byte, k protoreflect.Kind, v protoreflect.Value) []byte {
	switch k {
	case protoreflect.BoolKind:
		return protowire.AppendVarint(b, protowire.EncodeBool(v.Bool()))
	case protoreflect.Int32Kind, protoreflect.Int64Kind:
		return protowire.AppendVarint(b, uint64(v.Int()))
	case protoreflect.Sint32Kind, protoreflect.Sint64Kind:
		return protowire.AppendVarint(b, protowire.EncodeZigZag(v.Int()))
	case protoreflect.Uint32Kind, protoreflect.Uint64Kind:
		return protowire.AppendVarint(b, v.Uint())
	case protoreflect.Fixed32Kind:
		return protowire.AppendFixed32(b, uint32(v.Uint()))
	case protoreflect.Sfixed32Kind:
		return protowire.AppendFixed32(b, uint32(v.Int()))
	case protoreflect.Fixed64Kind:
		return protowire.AppendFixed64(b, v.Uint())
	case protoreflect.Sfixed64Kind:
		return protowire.AppendFixed64(b, uint64(v.Int()))
	}
	return protowire.AppendString(b, v.String())
}

// appendFloat appends a float field with its tag: a protobuf message to be merged.
func appendFloat(b []byte, num protowire.Number, bits uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, num, protowire.Fixed32Type), bits)
}

// mergeRaw merges protobuf bytes made here into m.
func mergeRaw(m protoreflect.Message, b []byte) {
	// The bytes hold known fields of known types: nothing that Unmarshal could refuse.
	_ = proto.UnmarshalOptions{Merge: true, AllowPartial: true}.Unmarshal(b, m.Interface())
}

// numberBits gives the bits of a number, bool or enum other than a float in the
// width of its kind.
func numberBits(k protoreflect.Kind, v protoreflect.Value) uint64 {
	switch k {
	case protoreflect.BoolKind:
		if v.Bool() {
			return 1
		}
		return 0
	case protoreflect.EnumKind:
		return uint64(uint32(v.Enum()))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return uint64(uint32(v.Int()))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return uint64(v.Int())
	case protoreflect.DoubleKind:
		return math.Float64bits(v.Float())
	}
	return v.Uint()
}

// numberValue is the value that bits, in the width of the kind, stand for.
func numberValue(k protoreflect.Kind, bits uint64) protoreflect.Value {
	switch k {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(bits != 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(uint32(bits))))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(uint32(bits)))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(bits))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(bits))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(bits)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.Float32frombits(uint32(bits)))
	}
	return protoreflect.ValueOfFloat64(math.Float64frombits(bits))
}

// loadNumber reads size little-endian bytes.
func loadNumber(b []byte, size int) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(le.Uint16(b))
	case 4:
		return uint64(le.Uint32(b))
	}
	return le.Uint64(b)
}

// storeNumber writes a number of size bytes.
func storeNumber(b []byte, size int, x uint64) {
	switch size {
	case 1:
		b[0] = byte(x)
	case 2:
		le.PutUint16(b, uint16(x))
	case 4:
		le.PutUint32(b, uint32(x))
	default:
		le.PutUint64(b, x)
	}
}
