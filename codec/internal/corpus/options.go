package corpus

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// optionNumber is the field of both of the format's options.
const optionNumber = 51320

// Width returns the bits of a field that graven/options.proto makes narrow,
// or 0.
func Width(fd protoreflect.FieldDescriptor) int { return int(option(fd.Options())) }

// Inline says whether messages of this type are stored inline.
func Inline(md protoreflect.MessageDescriptor) bool { return option(md.Options()) != 0 }

// option returns the number in field 1 of the format's option, read from the
// options' bytes, in which all representations of options are alike.
func option(options proto.Message) uint64 {
	b, err := proto.Marshal(options)
	if err != nil {
		return 0
	}
	var v uint64
	eachField(b, func(num protowire.Number, typ protowire.Type, raw []byte) {
		if num != optionNumber || typ != protowire.BytesType {
			return
		}
		in, _ := protowire.ConsumeBytes(raw)
		eachField(in, func(num protowire.Number, typ protowire.Type, raw []byte) {
			if num == 1 && typ == protowire.VarintType {
				v, _ = protowire.ConsumeVarint(raw)
			}
		})
	})
	return v
}

// eachField calls f with each field of b, which is valid protobuf: its number,
// type and value as encoded, without the tag.
func eachField(b []byte, f func(protowire.Number, protowire.Type, []byte)) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		v := protowire.ConsumeFieldValue(num, typ, b[n:])
		if v < 0 {
			return
		}
		f(num, typ, b[n:n+v])
		b = b[n+v:]
	}
}
