package gen

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/gofeaturespb"
)

// What schemas tell apart can be one name in Go: Foo_bar and FooBar, A.B and A_B. Where
// protoc-gen-go does not evade that, its code does not compile, which the compiler
// reports in a generated file. Here it is said of the schema.

// checkNames looks for two declarations of the files to generate, or of one of them and
// another file of its Go package, that are one in Go.
func checkNames(p *protogen.Plugin) error {
	generated := map[protogen.GoImportPath]bool{}
	for _, f := range p.Files {
		if f.Generate {
			generated[f.GoImportPath] = true
		}
	}
	c := nameChecker{declared: map[protogen.GoIdent]declared{}}
	for _, f := range p.Files {
		if !generated[f.GoImportPath] {
			continue
		}
		c.file = f
		if err := c.declarations(f.Messages, f.Enums, f.Extensions); err != nil {
			return err
		}
	}
	return nil
}

// declared is what stands behind a name of a Go package.
type declared struct {
	what string // how it comes from desc, "" if it is it
	desc protoreflect.Descriptor
	file *protogen.File
}

func (d declared) String() string {
	if d.what == "" {
		return string(d.desc.FullName())
	}
	return d.what + " of " + string(d.desc.FullName())
}

type nameChecker struct {
	file     *protogen.File
	declared map[protogen.GoIdent]declared
}

func (c *nameChecker) declare(name, what string, d protoreflect.Descriptor) error {
	ident := protogen.GoIdent{GoName: name, GoImportPath: c.file.GoImportPath}
	now := declared{what, d, c.file}
	first, taken := c.declared[ident]
	if !taken {
		c.declared[ident] = now
		return nil
	}
	if !first.file.Generate && !now.file.Generate {
		return nil
	}
	return fmt.Errorf("%s: %s and %s (%s) would both be %s in Go package %s: rename one of them",
		position(d), now, first, position(first.desc), name, string(c.file.GoImportPath))
}

func (c *nameChecker) declarations(ms []*protogen.Message, enums []*protogen.Enum, extensions []*protogen.Extension) error {
	for _, e := range enums {
		if err := c.enum(e); err != nil {
			return err
		}
	}
	for _, m := range ms {
		if m.Desc.IsMapEntry() {
			continue
		}
		if err := c.message(m); err != nil {
			return err
		}
		if err := c.declarations(m.Messages, m.Enums, m.Extensions); err != nil {
			return err
		}
	}
	for _, x := range extensions {
		if err := c.declare("E_"+x.GoIdent.GoName, "the extension type", x.Desc); err != nil {
			return err
		}
	}
	return nil
}

func (c *nameChecker) enum(e *protogen.Enum) error {
	name := e.GoIdent.GoName
	if err := c.declare(name, "", e.Desc); err != nil {
		return err
	}
	if err := c.declare(name+"_name", "the map of names", e.Desc); err != nil {
		return err
	}
	if err := c.declare(name+"_value", "the map of values", e.Desc); err != nil {
		return err
	}
	for _, v := range e.Values {
		if err := c.declare(v.GoIdent.GoName, "", v.Desc); err != nil {
			return err
		}
		if alias := v.PrefixedAlias.GoName; alias != "" && alias != v.GoIdent.GoName {
			if err := c.declare(alias, "the prefixed alias", v.Desc); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *nameChecker) message(m *protogen.Message) error {
	name := m.GoIdent.GoName
	if err := c.declare(name, "", m.Desc); err != nil {
		return err
	}
	open := m.APILevel == gofeaturespb.GoFeatures_API_OPEN
	hidden := m.APILevel == gofeaturespb.GoFeatures_API_OPAQUE
	if !open {
		if err := c.declare(name+"_builder", "the builder", m.Desc); err != nil {
			return err
		}
	}
	for _, o := range m.Oneofs {
		if open || o.Desc.IsSynthetic() {
			continue
		}
		if err := c.declare(name+"_"+o.GoName+"_not_set_case", "a case", o.Desc); err != nil {
			return err
		}
	}
	for _, f := range m.Fields {
		if f.Desc.HasDefault() {
			if err := c.declare("Default_"+name+"_"+f.GoName, "the default", f.Desc); err != nil {
				return err
			}
		}
		if !inOneof(f) {
			continue
		}
		if !hidden {
			if err := c.declare(f.GoIdent.GoName, "the wrapper", f.Desc); err != nil {
				return err
			}
		}
		if !open {
			if err := c.declare(name+"_"+f.GoName+"_case", "the case", f.Desc); err != nil {
				return err
			}
		}
	}
	if !c.file.Generate {
		return nil
	}
	return checkMembers(m)
}

// checkMembers looks for two fields and methods of a message's Go type of one name.
func checkMembers(m *protogen.Message) error {
	type member struct {
		what string
		desc protoreflect.Descriptor
	}
	members := map[string]member{}
	add := func(name, what string, d protoreflect.Descriptor) error {
		first, taken := members[name]
		if !taken {
			members[name] = member{what, d}
			return nil
		}
		return fmt.Errorf("%s: %s of %s and %s of %s (%s) would both be %s of Go type %s: rename one of them",
			position(d), what, d.FullName(), first.what, first.desc.FullName(), position(first.desc), name, m.GoIdent.GoName)
	}
	open := m.APILevel == gofeaturespb.GoFeatures_API_OPEN
	fields := m.APILevel != gofeaturespb.GoFeatures_API_OPAQUE
	// Of the methods of every message, protogen evades all but this one.
	if err := add("ProtoReflect", "the method", m.Desc); err != nil {
		return err
	}
	for _, f := range m.Fields {
		if fields && !inOneof(f) {
			if err := add(f.GoName, "the field", f.Desc); err != nil {
				return err
			}
		}
		methods := []string{"Get"}
		if !open {
			methods = append(methods, "Set")
			if f.Desc.HasPresence() {
				methods = append(methods, "Has", "Clear")
			}
		}
		for _, method := range methods {
			name, old := f.MethodName(method)
			if err := add(name, "the method", f.Desc); err != nil {
				return err
			}
			if old != "" && fields {
				if err := add(old, "the older method", f.Desc); err != nil {
					return err
				}
			}
		}
	}
	for _, o := range m.Oneofs {
		if o.Desc.IsSynthetic() {
			continue
		}
		if fields {
			if err := add(o.GoName, "the field", o.Desc); err != nil {
				return err
			}
			if err := add("Get"+o.GoName, "the method", o.Desc); err != nil {
				return err
			}
		}
		if open {
			continue
		}
		for _, method := range []string{"Has", "Clear", "Which"} {
			if err := add(o.MethodName(method), "the method", o.Desc); err != nil {
				return err
			}
		}
	}
	return nil
}

// inOneof reports whether a field is in a oneof of the source.
func inOneof(f *protogen.Field) bool { return f.Oneof != nil && !f.Oneof.Desc.IsSynthetic() }

// position is where the source declares something, as file:line:column, each counted
// from 1; 0:0 where the descriptors came without positions.
func position(d protoreflect.Descriptor) string {
	file := d.ParentFile()
	loc := file.SourceLocations().ByDescriptor(d)
	if len(loc.Path) == 0 {
		return file.Path() + ":0:0"
	}
	return fmt.Sprintf("%s:%d:%d", file.Path(), loc.StartLine+1, loc.StartColumn+1)
}
