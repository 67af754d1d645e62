package breaking

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

// comparison is one old schema held against the new one.
type comparison struct {
	old, new *schema.Schema
	allRoots bool
	layouts  map[protoreflect.MessageDescriptor]*layout.Message
	list     []Finding
	pairs    map[[2]protoreflect.FullName]bool // message types that were compared
}

// Compare finds the changes from one schema to another that are not safe between
// Graven peers. allRoots says that every message type may be the root of a frame. The
// error is that of a schema whose options break the format's rules.
func Compare(was, is *schema.Schema, allRoots bool) ([]Finding, error) {
	c := &comparison{
		old: was, new: is, allRoots: allRoots,
		layouts: map[protoreflect.MessageDescriptor]*layout.Message{},
		pairs:   map[[2]protoreflect.FullName]bool{},
	}
	for _, side := range []*schema.Schema{was, is} {
		for _, md := range side.Messages(nil) {
			if err := c.layOut(md); err != nil {
				at := locate(side, md, nil)
				return nil, fmt.Errorf("%s:%d:%d: %w", at.Path, max(1, at.Line), max(1, at.Column), err)
			}
		}
	}
	embedded := c.extensionContent()
	for _, md := range is.Messages(nil) {
		before := was.Message(md.FullName())
		if before == nil {
			continue
		}
		faulty := c.message(before, md, "")
		if via := embedded[md.FullName()]; via != "" {
			c.content(before, md, via, faulty)
		}
	}
	c.extensions()
	c.methods()
	c.roots()
	return sorted(c.list), nil
}

// report adds a finding at a descriptor of the new schema, or at the part of it that
// the suffix of a source path names.
func (c *comparison) report(r *Rule, d protoreflect.Descriptor, suffix []int32, format string, args ...any) {
	f := locate(c.new, d, suffix)
	f.Rule, f.Message = r.ID, fmt.Sprintf(format, args...)
	c.list = append(c.list, f)
}

// locate finds the place of a declaration.
func locate(s *schema.Schema, d protoreflect.Descriptor, suffix []int32) Finding {
	f := Finding{Line: 1, Column: 1, EndLine: 1, EndColumn: 1}
	fd := d.ParentFile()
	if fd == nil {
		return f
	}
	f.Path = fd.Path()
	if file := s.File(d); file != nil {
		f.Path = file.External
	}
	all := fd.SourceLocations()
	loc := all.ByDescriptor(d)
	if loc.Path == nil {
		return f
	}
	if len(suffix) > 0 {
		if part := all.ByPath(append(slices.Clone(loc.Path), suffix...)); part.Path != nil {
			loc = part
		}
	}
	f.Line, f.Column, f.EndLine, f.EndColumn = loc.StartLine+1, loc.StartColumn+1, loc.EndLine+1, loc.EndColumn+1
	return f
}

// Parts of declarations in source paths: numbers of fields of FieldDescriptorProto and
// MethodDescriptorProto.
var (
	partLabel    = []int32{4}
	partType     = []int32{5}
	partTypeName = []int32{6}
	partInput    = []int32{2}
	partOutput   = []int32{3}
)

func typePart(fd protoreflect.FieldDescriptor) []int32 {
	if fd.Message() != nil || fd.Enum() != nil {
		return partTypeName
	}
	return partType
}

// message compares two versions of a message type. via names the field that leads
// to them where they are two types of different names, "" otherwise. It gives the numbers
// of the fields that have findings.
func (c *comparison) message(was, is protoreflect.MessageDescriptor, via string) (faulty map[int32]bool) {
	key := [2]protoreflect.FullName{was.FullName(), is.FullName()}
	if c.pairs[key] {
		return nil
	}
	c.pairs[key] = true
	o, n := c.layouts[was], c.layouts[is]
	if messageSet(was) != messageSet(is) {
		c.report(&ruleMessageSet, is, nil, "%sMessage %q changed option message_set_wire_format. Graven: its extensions are misread or refused both ways. Protobuf: not wire compatible.", via, is.FullName())
	}
	switch {
	case o.Inline != n.Inline && via == "":
		word := map[bool]string{true: "inline", false: "no longer inline"}[n.Inline]
		c.report(&ruleInline, is, nil, "%sMessage %q is %s. Graven: fields of this type are refused both ways. Protobuf: wire compatible.", via, is.FullName(), word)
	case o.Inline && n.Inline:
		c.frozen(o, n, via)
		return nil
	}
	faulty = map[int32]bool{}
	toNew, toOld := plans(o, n)
	for i := range n.Fields {
		f := &n.Fields[i]
		s := subject{desc: f.Desc, text: via + named("Field", f.Desc)}
		before := o.FieldByNumber(f.Number)
		if before == nil {
			c.added(s, was, f)
			continue
		}
		if before.Desc.Name() != f.Desc.Name() {
			s.text += fmt.Sprintf(" (was %q)", before.Desc.Name())
		}
		found := len(c.list)
		c.field(s, before, f, toNew, toOld)
		faulty[f.Number] = len(c.list) > found
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		if n.FieldByNumber(f.Number) == nil && f.Desc.Cardinality() == protoreflect.Required {
			c.report(&ruleRequired, is, nil, "%sRequired field \"%d\" with name %q was deleted from message %q. Graven: old peers refuse messages without it. Protobuf: the same.",
				via, f.Number, f.Desc.Name(), is.FullName())
		}
	}
	c.oneofs(o, n, via)
	return faulty
}

// layOut lays out a message type and all that it reaches. Package layout remembers a bounded
// number of types, a schema may have more.
func (c *comparison) layOut(md protoreflect.MessageDescriptor) error {
	if c.layouts[md] != nil {
		return nil
	}
	m, err := layout.Of(md)
	if err != nil {
		return err
	}
	for reached := []*layout.Message{m}; len(reached) > 0; {
		m, reached = reached[len(reached)-1], reached[:len(reached)-1]
		if c.layouts[m.Desc] != nil {
			continue
		}
		c.layouts[m.Desc] = m
		for i := range m.Fields {
			if child := m.Fields[i].Child; child != nil {
				reached = append(reached, child)
			}
		}
	}
	return nil
}

// plans match each side with the rows of the other.
func plans(o, n *layout.Message) (toNew, toOld *layout.Plan) {
	var err error
	if toNew, err = layout.NewPlan(n, o.Full); err == nil {
		toOld, err = layout.NewPlan(o, n.Full)
	}
	if err != nil {
		panic(err) // shapes of schemas have neither 19000 nor 19001
	}
	return toNew, toOld
}

// messageSet reads an option from whatever message holds it: descriptors from
// a compiler do not tell otherwise.
func messageSet(md protoreflect.MessageDescriptor) bool {
	o, ok := md.Options().(*descriptorpb.MessageOptions)
	return ok && o.GetMessageSetWireFormat()
}

// subject is the field that a finding is about.
type subject struct {
	desc protoreflect.Descriptor // where it stands in the new schema
	text string
}

func named(what string, fd protoreflect.FieldDescriptor) string {
	return fmt.Sprintf("%s \"%d\" with name %q on message %q", what, fd.Number(), fd.Name(), fd.ContainingMessage().FullName())
}

// added looks at a field that the old version lacks.
func (c *comparison) added(s subject, was protoreflect.MessageDescriptor, f *layout.Field) {
	number := protoreflect.FieldNumber(f.Number)
	if was.ReservedRanges().Has(number) {
		c.report(&ruleReuse, s.desc, nil, "%s, %s, uses a number that was reserved. Graven: values that peers of older versions still send are misread or refused. Protobuf: the same.", s.text, kind(f))
	}
	if f.Desc.Cardinality() == protoreflect.Required {
		c.report(&ruleRequired, s.desc, partLabel, "%s, %s, is new and required. Graven: messages of old peers are refused. Protobuf: the same.", s.text, kind(f))
	}
}

// field compares two versions of a field.
func (c *comparison) field(s subject, was, is *layout.Field, toNew, toOld *layout.Plan) {
	if a, b := was.Desc.Cardinality(), is.Desc.Cardinality(); a != b && (a == protoreflect.Required || b == protoreflect.Required) {
		c.required(s, is, b == protoreflect.Required)
	}
	if was.Inline != is.Inline && was.Child != nil && is.Child != nil && was.Child.Name() == is.Child.Name() {
		return // told once, of the message
	}
	there, back := read(was, is, toNew), read(is, was, toOld)
	if r := judge(was, is, there, back); r != nil {
		part := typePart(is.Desc)
		if r == &ruleCardinality && is.Desc.IsList() {
			part = partLabel
		}
		if is.Desc.IsMap() {
			part = nil
		}
		if r == &ruleUTF8 {
			c.report(r, s.desc, part, "%s, %s, is now checked for UTF-8. Graven: %s. Protobuf: the same, parsers that check refuse it.", s.text, kind(is), effect(there, back))
		} else {
			c.report(r, s.desc, part, "%s changed from %s to %s. Graven: %s. Protobuf: %s.", s.text, kind(was), kind(is), effect(there, back), protobufSays(was.Desc, is.Desc).says)
		}
		return
	}
	c.enumWidth(s, was, is)
	switch {
	case was.Desc.IsMap() && is.Desc.IsMap():
		c.entry(s, was.Child, is.Child)
	case was.Child == nil || is.Child == nil || was.Child.Name() == is.Child.Name():
	case was.Inline && is.Inline:
		if d := difference(was.Child, is.Child); d != "" {
			c.report(&ruleInlineType, s.desc, partTypeName, "%s changed from %s to %s, which differ: %s. Graven: misread without an error both ways. Protobuf: %s.",
				s.text, kind(was), kind(is), d, protobufSays(was.Desc, is.Desc).says)
		}
	default:
		c.message(was.Child.Desc, is.Child.Desc, fmt.Sprintf("%s changed from %s to %s: ", s.text, kind(was), kind(is)))
	}
}

// entry compares the entries of two versions of a map.
func (c *comparison) entry(s subject, was, is *layout.Message) {
	toNew, toOld := plans(was, is)
	for i, what := range []string{"Key of field", "Value of field"} {
		part := s
		part.text = strings.Replace(s.text, "Field", what, 1)
		c.field(part, &was.Fields[i], &is.Fields[i], toNew, toOld)
	}
}

func (c *comparison) required(s subject, f *layout.Field, now bool) {
	if now {
		c.report(&ruleRequired, s.desc, partLabel, "%s, %s, is now required. Graven: messages of old peers that lack it are refused. Protobuf: the same.", s.text, kind(f))
		return
	}
	c.report(&ruleRequired, s.desc, partLabel, "%s, %s, is no longer required. Graven: old peers refuse messages that lack it. Protobuf: the same.", s.text, kind(f))
}

// enumWidth looks for values of an enum that a narrow field can't hold, other than
// those it never could.
func (c *comparison) enumWidth(s subject, was, is *layout.Field) {
	if is.Width == 0 || is.Kind != protoreflect.EnumKind {
		return
	}
	values := is.Desc.Enum().Values()
	for i := range values.Len() {
		v := values.Get(i)
		fits := func(width int) bool { return width == 0 || layout.Fits(is.Kind, uint64(v.Number()), width) }
		if fits(is.Width) || was.Kind == protoreflect.EnumKind && !fits(was.Width) && was.Desc.Enum().Values().ByNumber(v.Number()) != nil {
			continue
		}
		c.report(&ruleEnumWidth, s.desc, partTypeName, "%s, %s, can't hold the value %s = %d. Graven: a message with it can't be encoded. Protobuf: wire compatible.", s.text, kind(is), v.Name(), v.Number())
	}
}

// frozen compares two versions of an inline message.
func (c *comparison) frozen(o, n *layout.Message, via string) {
	d := difference(o, n)
	if d == "" {
		return
	}
	at := protoreflect.Descriptor(n.Desc)
	for i := range n.Packed {
		if i >= len(o.Packed) || packedDifference(&o.Packed[i], &n.Packed[i]) != "" {
			at = n.Packed[i].Desc
			break
		}
	}
	does := "values are misread without an error both ways"
	if o.Size != n.Size {
		does = fmt.Sprintf("fields of this type are refused both ways, since its size changed from %d to %d bytes", o.Size, n.Size)
	}
	c.report(&ruleInlineFrozen, at, nil, "%sInline message %q changed: %s. Graven: %s. Protobuf: as for the fields of any message.", via, n.Name(), d, does)
}

// difference tells the first difference of two inline messages, "" if there is none.
func difference(o, n *layout.Message) string {
	for i := range max(len(o.Packed), len(n.Packed)) {
		switch {
		case i >= len(o.Packed):
			return fmt.Sprintf("field \"%d\" with name %q was added", n.Packed[i].Desc.Number(), n.Packed[i].Desc.Name())
		case i >= len(n.Packed):
			return fmt.Sprintf("field \"%d\" with name %q was deleted", o.Packed[i].Desc.Number(), o.Packed[i].Desc.Name())
		}
		if d := packedDifference(&o.Packed[i], &n.Packed[i]); d != "" {
			return d
		}
	}
	return ""
}

func packedDifference(o, n *layout.Packed) string {
	a, b := packedKind(o), packedKind(n)
	switch {
	case o.Desc.Number() != n.Desc.Number():
		return fmt.Sprintf("field \"%d\" with name %q (%s) stands where field \"%d\" with name %q (%s) stood",
			n.Desc.Number(), n.Desc.Name(), b, o.Desc.Number(), o.Desc.Name(), a)
	case o.Child != nil && n.Child != nil:
		if d := difference(o.Child, n.Child); d != "" {
			return fmt.Sprintf("in field \"%d\" with name %q, %s", n.Desc.Number(), n.Desc.Name(), d)
		}
	case o.Kind != n.Kind || o.Width != n.Width || o.Size != n.Size:
		return fmt.Sprintf("field \"%d\" with name %q from %q to %q", n.Desc.Number(), n.Desc.Name(), a, b)
	}
	return ""
}

func packedKind(p *layout.Packed) string {
	switch {
	case p.Child != nil:
		return string(p.Child.Name())
	case p.Width != 0:
		return fmt.Sprintf("%s of width %d", p.Kind, p.Width)
	}
	return p.Kind.String()
}

// oneofs looks for fields of both versions that one version has in a oneof together
// and the other has not.
func (c *comparison) oneofs(o, n *layout.Message, via string) {
	for i := range n.Fields {
		f := &n.Fields[i]
		before := o.FieldByNumber(f.Number)
		if before == nil || oneofName(o, before) == oneofName(n, f) {
			continue
		}
		var joined, parted []string
		for j := range n.Fields {
			g := &n.Fields[j]
			with := o.FieldByNumber(g.Number)
			if with == nil || g == f {
				continue
			}
			was := before.Oneof >= 0 && before.Oneof == with.Oneof
			is := f.Oneof >= 0 && f.Oneof == g.Oneof
			switch {
			case is && !was:
				joined = append(joined, fmt.Sprintf("%q", g.Desc.Name()))
			case was && !is:
				parted = append(parted, fmt.Sprintf("%q", g.Desc.Name()))
			}
		}
		text := via + named("Field", f.Desc)
		if joined != nil {
			c.report(&ruleOneof, f.Desc, nil, "%s moved into oneof %q with %s. Graven: where an old peer has set more than one, a new one keeps the one with the highest number. Protobuf: wire compatible, the last one on the wire is kept.",
				text, oneofName(n, f), strings.Join(joined, ", "))
		}
		if parted != nil {
			c.report(&ruleOneof, f.Desc, nil, "%s moved out of oneof %q, where it stood with %s. Graven: where a new peer sets more than one, an old one keeps the one with the highest number. Protobuf: wire compatible, the last one on the wire is kept.",
				text, oneofName(o, before), strings.Join(parted, ", "))
		}
	}
}

// oneofName is the name of the oneof that holds a field, "" if none does.
func oneofName(m *layout.Message, f *layout.Field) protoreflect.Name {
	if f.Oneof < 0 {
		return ""
	}
	return m.Desc.Oneofs().Get(f.Oneof).Name()
}
