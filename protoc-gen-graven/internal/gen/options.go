package gen

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// checkOptions refuses options of graven/options.proto that would have no effect: those
// of extensions, and any that a later version may have and this plugin does not know.
func checkOptions(f *protogen.File) error {
	for _, x := range f.Extensions {
		if err := checkExtension(x); err != nil {
			return err
		}
	}
	var walk func(ms []*protogen.Message) error
	walk = func(ms []*protogen.Message) error {
		for _, m := range ms {
			if err := checkOption(m.Desc, "(graven.message)"); err != nil {
				return err
			}
			for _, x := range m.Extensions {
				if err := checkExtension(x); err != nil {
					return err
				}
			}
			for _, fd := range m.Fields {
				if err := checkOption(fd.Desc, "(graven.field)"); err != nil {
					return err
				}
			}
			if err := walk(m.Messages); err != nil {
				return err
			}
		}
		return nil
	}
	return walk(f.Messages)
}

func checkExtension(x *protogen.Extension) error {
	if len(ownOption(x.Desc)) > 0 {
		return fmt.Errorf("%s: %s: (graven.field): an extension travels as protobuf bytes and takes no option", position(x.Desc), x.Desc.FullName())
	}
	return nil
}

// optionNumber is that of both extensions in graven/options.proto; knownOption that of the
// only field of each.
const optionNumber, knownOption = 51320, 1

func checkOption(d protoreflect.Descriptor, name string) error {
	for b := ownOption(d); len(b) > 0; {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%s: %s: %s: %v", position(d), d.FullName(), name, protowire.ParseError(n))
		}
		if number != knownOption || typ != protowire.VarintType {
			return fmt.Errorf("%s: %s: %s has field %d, which this version of protoc-gen-graven does not know: update it", position(d), d.FullName(), name, number)
		}
		m := protowire.ConsumeFieldValue(number, typ, b[n:])
		if m < 0 {
			return fmt.Errorf("%s: %s: %s: %v", position(d), d.FullName(), name, protowire.ParseError(m))
		}
		b = b[n+m:]
	}
	return nil
}

// ownOption gives the bytes of the option of ours that a field or message has.
func ownOption(d protoreflect.Descriptor) (own []byte) {
	b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(d.Options())
	if err != nil {
		return nil // layout reports it
	}
	for len(b) > 0 {
		number, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return own
		}
		m := protowire.ConsumeFieldValue(number, typ, b[n:])
		if m < 0 {
			return own
		}
		if number == optionNumber && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[n:])
			own = append(own, v...)
		}
		b = b[n+m:]
	}
	return own
}
