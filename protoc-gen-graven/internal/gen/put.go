package gen

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// put prints the function that writes a block of messages.
func (g *printer) put(m *message) {
	T := g.goType(m.GoIdent)
	wide := m.words > 1
	g.P("func ", name("Put", m.Message), "(e *", g.wire("Encoder"), ", tail uint, xs []*", T, ", root bool) uint {")
	if m.usesInfo() {
		g.P("t := ", g.typeOf(m.Message))
		g.P("u := e.Union(t)")
	} else {
		g.P("u := e.Union(", g.typeOf(m.Message), ")")
	}
	g.P("for _, x := range xs {")
	if wide {
		g.P("var bits [", m.words, "]uint64")
		g.P("if x == nil {")
		g.P("continue")
		g.P("}")
		g.P(name("Bits", m.Message), "(x, &bits)")
		g.P("if u.AddWide(e, bits[:], ", g.residue(m), ") {")
	} else {
		g.P("if x != nil && u.Add(e, ", name("Bits", m.Message), "(x), ", g.residue(m), ") {")
	}
	g.P("break")
	g.P("}")
	g.P("}")
	g.P("b, row, ok := e.Open(&u, tail, len(xs), root, ", m.zero, ")")
	g.P("if !ok {")
	g.P("return e.Close(tail)")
	g.P("}")
	body, slots := g.puts(m)
	names, values := "step, tail", "b.Step(), b.Tail"
	if slices.ContainsFunc(body, func(l string) bool { return strings.Contains(l, "out.") }) {
		names, values = "out, "+names, "b.Out, "+values
	}
	if slots {
		names, values = "o, "+names, fmt.Sprintf("(*[%d]uint32)(b.Offs()), %s", len(m.fields), values)
	}
	g.P(names, " := ", values)
	g.P("for _, x := range xs {")
	g.P("if x == nil {")
	g.P("x = new(", T, ")")
	g.P("}")
	if wide {
		g.P("var bits [", m.words, "]uint64")
		g.P(name("Bits", m.Message), "(x, &bits)")
		g.P("b.BitsWide(row, bits[:])")
	} else {
		g.P("b.Bits(row, ", name("Bits", m.Message), "(x))")
	}
	for _, l := range body {
		g.P(l)
	}
	g.P("row += step")
	g.P("b.Last(row, tail)")
	g.P("}")
	g.P("return e.Close(tail)")
	g.P("}")
	g.P("func ", name("Put1", m.Message), "(e *", g.wire("Encoder"), ", tail uint, m ", g.proto("Message"), ", root bool) uint { ",
		"return ", name("Put", m.Message), "(e, tail, []*", T, "{m.(*", T, ")}, root) }")
}

// puts gives the lines that write one row; slots reports whether they use slots or ends.
func (g *printer) puts(m *message) (lines []string, slots bool) {
	residue := fmt.Sprintf("tail = b.Residue(e, row, tail, %s, x)", g.residue(m))
	placed := false
	for _, f := range m.fields {
		if f.Desc.Number() > layout.ResidueNumber && !placed {
			lines = append(lines, residue)
			placed = true
		}
		l := g.putField(m, f)
		lines = append(lines, l...)
		if f.lay.Variable() {
			lines = append(lines, fmt.Sprintf("out.End(row, o[%d], tail-b.Tail)", f.index))
		}
		slots = slots || f.lay.Code != layout.Bool
	}
	if !placed {
		lines = append(lines, residue)
	}
	return lines, slots
}

// putField gives the lines that write one field of a row.
func (g *printer) putField(m *message, f *field) []string {
	if f.lay.Code == layout.Bool {
		return nil // its bits are written
	}
	v := g.value(m, f)
	if f.real {
		if g.accessors(m.Message) {
			return g.when("if x."+method(f, "Has")+"() {", g.putValue(f, "x."+method(f, "Get")+"()"))
		}
		return g.when(fmt.Sprintf("if v, _ := x.%s.(*%s); v != nil {", f.Oneof.GoName, g.goType(f.GoIdent)), g.putValue(f, "v."+f.GoName))
	}
	switch {
	case pointer(f) && !g.accessors(m.Message):
		if f.lay.Variable() {
			return g.when("if v := "+v+"; v != nil {", g.putValue(f, "*v"))
		}
		v = g.wire("Deref") + "(" + v + ")"
	case pointer(f):
		// The getter gives an absent field's default, or a closed enum's first value.
		if f.Desc.HasDefault() || f.Enum != nil && f.Desc.Default().Enum() != 0 {
			if f.lay.Variable() {
				return g.when("if x."+method(f, "Has")+"() {", g.putValue(f, v))
			}
			return g.whenElse("if x."+method(f, "Has")+"() {", g.putValue(f, v), g.zeroSlot(f))
		}
	case f.Desc.Kind() == protoreflect.BytesKind && f.Desc.HasDefault() && g.accessors(m.Message):
		return g.when("if x."+method(f, "Has")+"() {", g.putValue(f, v))
	case f.lay.Child != nil && !f.lay.Inline && !f.Desc.IsList() && !f.Desc.IsMap():
		if g.accessors(m.Message) {
			return g.when("if x."+method(f, "Has")+"() {", g.putValue(f, v))
		}
		if !g.local(f) {
			return []string{fmt.Sprintf("tail = %s(e, tail, %s)", g.wire("One"), v)}
		}
		return g.when("if v := "+v+"; v != nil {", g.putValue(f, "v"))
	case f.lay.Child != nil && !f.lay.Inline && f.Desc.IsList() && g.local(f):
		// Loaded once: whoever changes the message meanwhile must not make it empty.
		return g.when("if v := "+v+"; len(v) != 0 {", g.putValue(f, "v"))
	}
	return g.putValue(f, v)
}

// when wraps lines in a condition.
func (g *printer) when(cond string, lines []string) []string {
	return append(append([]string{cond}, lines...), "}")
}

func (g *printer) whenElse(cond string, lines, other []string) []string {
	lines = append(append([]string{cond}, lines...), "} else {")
	return append(append(lines, other...), "}")
}

func (g *printer) zeroSlot(f *field) []string {
	return []string{fmt.Sprintf("out.U%d(row, o[%d], 0)", 8*f.lay.Size(), f.index)}
}

// putValue gives the lines that write a value, v, to its slot or the tail.
func (g *printer) putValue(f *field, v string) []string {
	kind, o := f.Desc.Kind(), fmt.Sprintf("o[%d]", f.index)
	switch {
	case f.Desc.IsMap():
		return []string{"tail = " + g.putMap(f, v)}
	case f.lay.Inline && f.Desc.IsList():
		if g.local(f) {
			return []string{fmt.Sprintf("tail = %s(e, tail, %s, %d, %s)", g.wire("PackAll"), v, f.lay.E, name("Pack", f.Message))}
		}
		return []string{fmt.Sprintf("tail = %s(e, tail, %s, %d)", g.wire("PackMessages"), v, f.lay.E)}
	case f.lay.Inline:
		call := fmt.Sprintf("e.Pack(row+uint(%s), %s, %d)", o, v, f.lay.K)
		if g.local(f) {
			call = fmt.Sprintf("%s(e, row+uint(%s), %s)", name("Pack", f.Message), o, v)
		}
		return g.when("if "+o+" != 0 {", []string{call})
	case f.lay.Child != nil && f.Desc.IsList():
		if g.local(f) {
			return []string{fmt.Sprintf("tail = %s(e, tail, %s, false)", name("Put", f.Message), v)}
		}
		return []string{fmt.Sprintf("tail = %s(e, tail, %s)", g.wire("Messages"), v)}
	case f.lay.Child != nil:
		if g.local(f) {
			return []string{fmt.Sprintf("tail = %s(e, tail, []*%s{%s}, false)", name("Put", f.Message), g.goType(f.Message.GoIdent), v)}
		}
		return []string{fmt.Sprintf("tail = e.Message(tail, %s)", v)}
	case f.Desc.IsList():
		return []string{"tail = " + g.putList(f, v)}
	case kind == protoreflect.StringKind && f.lay.UTF8:
		return []string{fmt.Sprintf("tail = e.String(tail, %s)", v)}
	case kind == protoreflect.StringKind:
		return []string{fmt.Sprintf("tail = e.Text(tail, %s)", v)}
	case kind == protoreflect.BytesKind:
		return []string{fmt.Sprintf("tail = e.Bytes(tail, %s)", v)}
	case kind == protoreflect.FloatKind:
		return []string{fmt.Sprintf("out.F32(row, %s, %s)", o, v)}
	case kind == protoreflect.DoubleKind:
		return []string{fmt.Sprintf("out.F64(row, %s, %s)", o, v)}
	}
	lines := []string{}
	if f.lay.Width != 0 {
		lines = append(lines, g.narrow(f, v, f.lay.Width))
	}
	size := f.lay.Size()
	return append(lines, fmt.Sprintf("out.U%d(row, %s, uint%d(%s))", 8*size, o, 8*size, v))
}

// narrow is a statement that checks the range of a narrow value.
func (g *printer) narrow(f *field, v string, width int) string {
	check := "WideU"
	if layout.Signed(f.Desc.Kind()) {
		check = "WideS"
	}
	return fmt.Sprintf("e.Fail(%s(%s, %d))", g.wire(check), v, width)
}

func (g *printer) putList(f *field, v string) string {
	switch kind := f.Desc.Kind(); {
	case kind == protoreflect.StringKind:
		return fmt.Sprintf("%s(e, tail, %s, %v)", g.wire("Strings"), v, f.lay.UTF8)
	case kind == protoreflect.BytesKind:
		return fmt.Sprintf("%s(e, tail, %s)", g.wire("BytesList"), v)
	case kind == protoreflect.BoolKind:
		return fmt.Sprintf("%s(e, tail, %s)", g.wire("Bools"), v)
	case f.lay.Width != 0:
		return fmt.Sprintf("%s(e, tail, %s, %d)", g.wire("Narrow"), v, f.lay.Width)
	}
	return fmt.Sprintf("%s(e, tail, %s)", g.wire("Numbers"), v)
}

func (g *printer) putMap(f *field, v string) string {
	key, value := f.Message.Fields[0], f.Message.Fields[1]
	parent := fmt.Sprintf("&%s, t, %d", g.mapName(&message{Message: f.Parent}, f), f.Desc.Number())
	var put string
	switch kind := value.Desc.Kind(); {
	case value.Message != nil && f.lay.Child.Fields[1].Inline:
		put = g.wire("PutInline") + "[*" + g.goType(value.Message.GoIdent) + "]"
	case value.Message != nil:
		put = g.wire("PutMessage") + "[*" + g.goType(value.Message.GoIdent) + "]"
	default:
		put = g.wire("Put"+valueFunc(kind, f.lay.Child.Fields[1].UTF8)) + g.instance(value)
	}
	switch kind := key.Desc.Kind(); kind {
	case protoreflect.StringKind:
		return fmt.Sprintf("%s(e, tail, %s, %s, %v, %s)", g.wire("StringMap"), parent, v, f.lay.Child.Fields[0].UTF8, put)
	case protoreflect.BoolKind:
		return fmt.Sprintf("%s(e, tail, %s, %s, %s)", g.wire("BoolMap"), parent, v, put)
	}
	return fmt.Sprintf("%s(e, tail, %s, %s, %s)", g.wire("IntMap"), parent, v, put)
}

// valueFunc is the end of the names of the runtime's functions for a kind.
func valueFunc(k protoreflect.Kind, utf8 bool) string {
	switch k {
	case protoreflect.BoolKind:
		return "Bool"
	case protoreflect.FloatKind:
		return "F32"
	case protoreflect.DoubleKind:
		return "F64"
	case protoreflect.BytesKind:
		return "Bytes"
	case protoreflect.StringKind:
		if utf8 {
			return "String"
		}
		return "Text"
	}
	if layout.KindSize(k) == 4 {
		return "U32"
	}
	return "U64"
}

// pack prints the function that writes an inline message into its parent's row.
func (g *printer) pack(m *message) {
	T := g.goType(m.GoIdent)
	g.P("func ", name("Pack", m.Message), "(e *", g.wire("Encoder"), ", at uint, x *", T, ") {")
	g.P("if x == nil {")
	g.P("x = &", name("Zero", m.Message))
	g.P("}")
	for i := range m.layout.Packed {
		if m.layout.Packed[i].Child == nil {
			g.P("out := e.Packer()")
			break
		}
	}
	for i := range m.layout.Packed {
		p := &m.layout.Packed[i]
		f := m.byNumber(p.Desc.Number())
		v := g.value(m, f)
		at := "at"
		if p.Off > 0 {
			at = fmt.Sprintf("at+%d", p.Off)
		}
		switch {
		case p.Child != nil && g.local(f):
			g.P(name("Pack", f.Message), "(e, ", at, ", ", v, ")")
		case p.Child != nil:
			g.P("e.Pack(", at, ", ", v, ", ", p.Size, ")")
		case p.Kind == protoreflect.BoolKind:
			g.P("out.PutBool(", at, ", ", v, ")")
		case p.Kind == protoreflect.FloatKind:
			g.P("out.PutF32(", at, ", ", v, ")")
		case p.Kind == protoreflect.DoubleKind:
			g.P("out.PutF64(", at, ", ", v, ")")
		default:
			if p.Width != 0 {
				g.P(g.narrow(f, v, p.Width))
			}
			g.P("out.Put", 8*p.Size, "(", at, ", uint", 8*p.Size, "(", v, "))")
		}
	}
	if g.accessors(m.Message) {
		g.P("e.Unstorable |= int(", g.wire("Bit"), "(", g.residue(m), "))")
	} else {
		g.P("e.Unstorable |= len(x.unknownFields)")
	}
	g.P("}")
}

func (m *message) byNumber(n protoreflect.FieldNumber) *field {
	for _, f := range m.fields {
		if f.Desc.Number() == n {
			return f
		}
	}
	return nil
}
