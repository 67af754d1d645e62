package breaking

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

// roots looks for message types that frames may have as their root and whose name is gone.
func (c *comparison) roots() {
	for _, md := range rootsOf(c.old, c.allRoots) {
		if c.new.Message(md.FullName()) != nil {
			continue
		}
		renamed := c.renamed(md)
		if renamed != nil {
			c.report(&ruleRoot, renamed, nil, "Previously present root message %q seems to be renamed to %q. Graven: its frames are refused both ways, since the schema id holds the name. Protobuf: wire compatible.", md.FullName(), renamed.FullName())
			continue
		}
		f := Finding{Rule: ruleRoot.ID}
		if parent, ok := md.Parent().(protoreflect.MessageDescriptor); ok && c.new.Message(parent.FullName()) != nil {
			f = locate(c.new, c.new.Message(parent.FullName()), nil)
		} else if file := c.new.ByPath(md.ParentFile().Path()); file != nil {
			f = Finding{Path: file.External, Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
		}
		f.Rule = ruleRoot.ID
		f.Message = fmt.Sprintf("Previously present root message %q was deleted. Graven: its frames are refused, since the schema id holds the name. Protobuf: does not see names.", md.FullName())
		c.list = append(c.list, f)
	}
}

// renamed finds the type that a missing one has most likely become: a new one of the
// same schema text, if it is the only one.
func (c *comparison) renamed(md protoreflect.MessageDescriptor) protoreflect.MessageDescriptor {
	text := c.layouts[md].Text()
	if text == "{}" {
		return nil // every empty message looks like it
	}
	var found protoreflect.MessageDescriptor
	for _, n := range c.new.Messages(nil) {
		if c.old.Message(n.FullName()) == nil && c.layouts[n].Text() == text {
			if found != nil {
				return nil
			}
			found = n
		}
	}
	return found
}

// rootsOf gives the message types that may be the root of a frame: requests and
// responses of methods, and types at the top level that no field has as its type, since
// they have no other use. Types of files that are only imported are left to their owners.
func rootsOf(s *schema.Schema, all bool) []protoreflect.MessageDescriptor {
	called, used := map[protoreflect.FullName]bool{}, map[protoreflect.FullName]bool{}
	eachMethod(s, func(m protoreflect.MethodDescriptor) {
		called[m.Input().FullName()], called[m.Output().FullName()] = true, true
	})
	use := func(fd protoreflect.FieldDescriptor) {
		if fd.IsMap() {
			fd = fd.MapValue()
		}
		if fd.Message() != nil {
			used[fd.Message().FullName()] = true
		}
	}
	for _, md := range s.Messages(nil) {
		for i := range md.Fields().Len() {
			use(md.Fields().Get(i))
		}
	}
	for _, xd := range s.Extensions() {
		use(xd)
	}
	own := s.Messages(func(f *schema.File) bool { return !f.Import && !strings.HasPrefix(f.Path(), "google/protobuf/") })
	return slices.DeleteFunc(own, func(md protoreflect.MessageDescriptor) bool {
		_, nested := md.Parent().(protoreflect.MessageDescriptor)
		return !all && !called[md.FullName()] && (nested || used[md.FullName()])
	})
}

func eachMethod(s *schema.Schema, f func(protoreflect.MethodDescriptor)) {
	for i := range s.Files {
		services := s.Files[i].Services()
		for j := range services.Len() {
			methods := services.Get(j).Methods()
			for k := range methods.Len() {
				f(methods.Get(k))
			}
		}
	}
}

// methods compares requests and responses of the methods that both schemas have.
func (c *comparison) methods() {
	before := map[protoreflect.FullName]protoreflect.MethodDescriptor{}
	eachMethod(c.old, func(m protoreflect.MethodDescriptor) { before[m.FullName()] = m })
	eachMethod(c.new, func(m protoreflect.MethodDescriptor) {
		was := before[m.FullName()]
		if was == nil {
			return
		}
		for _, part := range []struct {
			what    string
			was, is protoreflect.MessageDescriptor
			path    []int32
		}{
			{"request", was.Input(), m.Input(), partInput},
			{"response", was.Output(), m.Output(), partOutput},
		} {
			if part.was.FullName() != part.is.FullName() {
				c.report(&ruleRPC, m, part.path, "Method %q changed its %s from %q to %q. Graven: refused both ways, since the schema id holds the name. Protobuf: wire compatible as far as their fields are.",
					m.FullName(), part.what, part.was.FullName(), part.is.FullName())
			}
		}
	})
}
