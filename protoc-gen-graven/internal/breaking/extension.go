package breaking

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

// extensionKey is what an extension is known by.
type extensionKey struct {
	message protoreflect.FullName
	number  protoreflect.FieldNumber
}

func extensionsOf(s *schema.Schema) map[extensionKey]protoreflect.ExtensionDescriptor {
	all := map[extensionKey]protoreflect.ExtensionDescriptor{}
	for _, xd := range s.Extensions() {
		if !option(xd) {
			all[extensionKey{xd.ContainingMessage().FullName(), xd.Number()}] = xd
		}
	}
	return all
}

// option reports whether an extension is a custom option, which no frame carries.
func option(xd protoreflect.ExtensionDescriptor) bool {
	name := string(xd.ContainingMessage().FullName())
	return strings.HasPrefix(name, "google.protobuf.") && strings.HasSuffix(name, "Options")
}

// extensions compares extensions with each other and with the fields that they were
// or have become.
func (c *comparison) extensions() {
	before, after := extensionsOf(c.old), extensionsOf(c.new)
	for key, is := range after {
		if was := before[key]; was != nil {
			if v := protobufSays(was, is); !v.compatible {
				c.report(&ruleExtensionType, is, typePart(is), "Extension \"%d\" with name %q of message %q changed from %q to %q. Graven: the same as protobuf, since extensions travel as protobuf. Protobuf: %s.",
					is.Number(), is.FullName(), key.message, scalar(was), scalar(is), v.says)
			}
			continue
		}
		if f := c.fieldOf(c.old, key); f != nil && c.fieldOf(c.new, key) == nil {
			c.report(&ruleExtension, is, nil, "Field \"%d\" with name %q on message %q, %s, turned into extension %q, %q. Graven: a new peer does not see what an old one sets. Protobuf: %s.",
				is.Number(), f.Desc.Name(), key.message, kind(f), is.FullName(), scalar(is), protobufSays(f.Desc, is).says)
		}
	}
	for key, was := range before {
		if after[key] != nil {
			continue
		}
		if f := c.fieldOf(c.new, key); f != nil && c.fieldOf(c.old, key) == nil {
			c.report(&ruleExtension, f.Desc, nil, "Extension \"%d\" with name %q of message %q, %q, turned into a field, %s. Graven: an old peer does not see what a new one sets. Protobuf: %s.",
				was.Number(), was.FullName(), key.message, scalar(was), kind(f), protobufSays(was, f.Desc).says)
		}
	}
}

func (c *comparison) fieldOf(s *schema.Schema, key extensionKey) *layout.Field {
	md := s.Message(key.message)
	if md == nil {
		return nil
	}
	return c.layouts[md].FieldByNumber(int32(key.number))
}

// scalar is the kind of an extension as a .proto names it.
func scalar(fd protoreflect.FieldDescriptor) string {
	name := fd.Kind().String()
	switch {
	case fd.Message() != nil:
		name = string(fd.Message().FullName())
	case fd.Enum() != nil:
		name = "enum " + string(fd.Enum().FullName())
	}
	if fd.IsList() {
		return "repeated " + name
	}
	return name
}

// extensionContent gives the message types that stand in extensions, of both
// schemas, each with an extension that holds it.
func (c *comparison) extensionContent() map[protoreflect.FullName]string {
	found := map[protoreflect.FullName]string{}
	var reach func(md protoreflect.MessageDescriptor, via string)
	reach = func(md protoreflect.MessageDescriptor, via string) {
		if md == nil || found[md.FullName()] != "" {
			return
		}
		found[md.FullName()] = via
		for i := range md.Fields().Len() {
			reach(md.Fields().Get(i).Message(), via)
		}
	}
	for _, s := range []*schema.Schema{c.old, c.new} {
		for _, xd := range s.Extensions() {
			if !option(xd) {
				reach(xd.Message(), string(xd.FullName()))
			}
		}
	}
	return found
}

// content compares two versions of a message type that stands in an extension by
// protobuf's rules, without the fields that Graven's have found faulty.
func (c *comparison) content(was, is protoreflect.MessageDescriptor, via string, faulty map[int32]bool) {
	for i := range is.Fields().Len() {
		f := is.Fields().Get(i)
		before := was.Fields().ByNumber(f.Number())
		if before == nil || faulty[int32(f.Number())] {
			continue
		}
		check := func(what string, before, f protoreflect.FieldDescriptor) {
			if v := protobufSays(before, f); !v.compatible {
				c.report(&ruleExtensionType, is.Fields().Get(i), typePart(f), "%s changed from %q to %q. Graven: safe in a field, but extension %q holds this message, and extensions travel as protobuf. Protobuf: %s.",
					what, scalar(before), scalar(f), via, v.says)
			}
		}
		if f.IsMap() && before.IsMap() {
			check(named("Key of field", is.Fields().Get(i)), before.MapKey(), f.MapKey())
			check(named("Value of field", is.Fields().Get(i)), before.MapValue(), f.MapValue())
			continue
		}
		check(fmt.Sprint(named("Field", f)), before, f)
	}
}
