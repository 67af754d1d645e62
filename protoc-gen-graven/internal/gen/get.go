package gen

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// get prints the function that sets messages from a block.
func (g *printer) get(m *message) {
	T := m.GoIdent.GoName
	g.P("func ", name("Get", m.Message), "(d *", g.wire("Decoder"), ", b *", g.wire("Rows"), ", xs []*", T, ") {")
	var body []string
	for _, f := range m.fields {
		body = append(body, g.getField(m, f)...)
	}
	if len(m.fields) > 0 {
		g.P("s := (*[", len(m.fields), "]", g.wire("Slot"), ")(b.Slots)")
	}
	if m.usesInfo() {
		g.P("t := ", g.typeOf(m.Message))
	}
	g.P("for i, x := range xs {")
	if len(m.fields) > 0 {
		g.P("r := b.Row(i)")
	}
	for _, l := range body {
		g.P(l)
	}
	if g.accessors(m.Message) {
		g.P("if b.Extra {")
	} else {
		g.P("if b.Extra && !d.Kept(b, i, &x.unknownFields) {")
	}
	g.P("d.Merge(b, i, x)")
	g.P("}")
	g.P("}")
	g.P("}")
	g.P()
}

// usesInfo reports whether decoding needs the type's layout: maps find their entries'
// through it.
func (m *message) usesInfo() bool {
	for _, f := range m.fields {
		if f.Desc.IsMap() {
			return true
		}
	}
	return false
}

// slot is an expression for a field's place in the row.
func slot(f *field) string { return fmt.Sprintf("&s[%d]", f.index) }

// getField gives the lines that set one field.
func (g *printer) getField(m *message, f *field) []string {
	s := slot(f)
	v := g.getValue(m, f)
	switch {
	case f.real && g.accessors(m.Message):
		return g.when("if r.Has("+s+") {", []string{g.set(m, f, v)})
	case f.real:
		return g.when("if r.Has("+s+") {", []string{
			fmt.Sprintf("v := %s[%s](d, &%s)", g.wire("New"), f.GoIdent.GoName, g.keyName(f)),
			"v." + f.GoName + " = " + v,
			"x." + f.Oneof.GoName + " = v",
		})
	case f.Desc.IsList() || f.Desc.IsMap() || f.lay.Child != nil:
		return g.when("if r.Has("+s+") {", []string{g.set(m, f, v)})
	case f.lay.Presence && !g.accessors(m.Message) && pointer(f):
		if f.Desc.Kind() == protoreflect.StringKind {
			v = "d.StringPtr(r, " + s + ")"
		} else {
			v = g.pointerTo(f, v)
		}
		return g.when("if r.Has("+s+") {", []string{g.set(m, f, v)})
	case f.lay.Presence || f.Desc.Kind() == protoreflect.BytesKind:
		return g.when("if r.Has("+s+") {", []string{g.set(m, f, v)})
	}
	return []string{g.set(m, f, v)}
}

// pointerTo is an expression for a pointer to a number's value from a small slab.
func (g *printer) pointerTo(f *field, v string) string {
	switch kind := f.Desc.Kind(); kind {
	case protoreflect.BoolKind:
		return "d.Bool(" + v + ")"
	case protoreflect.EnumKind:
		return g.wire("Enum") + "(d, " + v + ")"
	case protoreflect.FloatKind:
		return "d.F32(" + v + ")"
	case protoreflect.DoubleKind:
		return "d.F64(" + v + ")"
	default:
		return fmt.Sprintf("d.%s%d(%s)", map[bool]string{true: "I", false: "U"}[layout.Signed(kind)], 8*layout.KindSize(kind), v)
	}
}

// getValue is an expression for a field's value in the row.
func (g *printer) getValue(m *message, f *field) string {
	s := slot(f)
	kind := f.Desc.Kind()
	switch {
	case f.Desc.IsMap():
		return g.getMap(m, f)
	case f.lay.Inline && f.Desc.IsList():
		if g.local(f) {
			return fmt.Sprintf("%s(d, r, %s, &%s.Key, %d, %s)", g.wire("UnpackList"), s, g.typeOf(f.Message), f.lay.E, name("Unpack", f.Message))
		}
		return fmt.Sprintf("%s[%s](d, r, %s, %d)", g.wire("UnpackForeign"), g.goType(f.Message.GoIdent), s, f.lay.E)
	case f.lay.Inline:
		if g.local(f) {
			return fmt.Sprintf("%s(d, r.Unpack(%s), &%s.Key, %s)", g.wire("UnpackOne"), s, g.typeOf(f.Message), name("Unpack", f.Message))
		}
		return fmt.Sprintf("%s[%s](d, r.Unpack(%s), %d)", g.wire("UnpackNew"), g.goType(f.Message.GoIdent), s, f.lay.K)
	case f.lay.Child != nil && f.Desc.IsList():
		if g.local(f) {
			return fmt.Sprintf("%s(d, r, %s, %s, %s)", g.wire("List"), s, g.typeOf(f.Message), name("Get", f.Message))
		}
		return fmt.Sprintf("%s[%s](d, r, %s)", g.wire("Foreign"), g.goType(f.Message.GoIdent), s)
	case f.lay.Child != nil:
		if g.local(f) {
			return fmt.Sprintf("%s(d, r, %s, %s, %s)", g.wire("One"), s, g.typeOf(f.Message), name("Get", f.Message))
		}
		return fmt.Sprintf("%s[%s](d, r, %s)", g.wire("ForeignOne"), g.goType(f.Message.GoIdent), s)
	case f.Desc.IsList():
		return g.getList(f)
	case kind == protoreflect.StringKind:
		return "d.String(r, " + s + ")"
	case kind == protoreflect.BytesKind:
		return "d.Bytes(r, " + s + ")"
	case kind == protoreflect.BoolKind:
		return "r.Bool(" + s + ")"
	case kind == protoreflect.FloatKind:
		return "r.F32(" + s + ")"
	case kind == protoreflect.DoubleKind:
		return "r.F64(" + s + ")"
	}
	return g.number(f.Field, f.lay.Size(), fmt.Sprintf("r.U%d(%s)", 8*f.lay.Size(), s))
}

// number converts loaded bits of size bytes to a field's Go type.
func (g *printer) number(f *protogen.Field, size int, v string) string {
	kind := f.Desc.Kind()
	full := layout.KindSize(kind)
	if layout.Signed(kind) {
		if size == full && kind != protoreflect.EnumKind {
			return fmt.Sprintf("int%d(%s)", 8*full, v)
		}
		v = fmt.Sprintf("int%d(%s)", 8*size, v)
		if kind == protoreflect.EnumKind {
			return g.goType(f.Enum.GoIdent) + "(" + v + ")"
		}
		return fmt.Sprintf("int%d(%s)", 8*full, v)
	}
	if size == full {
		return v
	}
	return fmt.Sprintf("uint%d(%s)", 8*full, v)
}

// scalarType is the Go type of a number.
func (g *printer) scalarType(f *protogen.Field) string {
	switch kind := f.Desc.Kind(); {
	case kind == protoreflect.EnumKind:
		return g.goType(f.Enum.GoIdent)
	case kind == protoreflect.FloatKind:
		return "float32"
	case kind == protoreflect.DoubleKind:
		return "float64"
	case layout.Signed(kind):
		return fmt.Sprintf("int%d", 8*layout.KindSize(kind))
	default:
		return fmt.Sprintf("uint%d", 8*layout.KindSize(kind))
	}
}

func (g *printer) getList(f *field) string {
	s := slot(f)
	switch kind := f.Desc.Kind(); {
	case kind == protoreflect.StringKind:
		return fmt.Sprintf("%s(d, r, %s)", g.wire("GetStrings"), s)
	case kind == protoreflect.BytesKind:
		return fmt.Sprintf("%s(d, r, %s)", g.wire("GetBytesList"), s)
	case kind == protoreflect.BoolKind:
		return fmt.Sprintf("%s(d, r, %s)", g.wire("GetBools"), s)
	case f.lay.Width != 0:
		return fmt.Sprintf("%s[%s](d, r, %s, %d)", g.wire("GetNarrow"), g.scalarType(f.Field), s, f.lay.Width)
	}
	return fmt.Sprintf("%s[%s](d, r, %s)", g.wire("GetNumbers"), g.scalarType(f.Field), s)
}

// instance is the type argument of a runtime function for numbers.
func (g *printer) instance(f *protogen.Field) string {
	switch f.Desc.Kind() {
	case protoreflect.BoolKind, protoreflect.StringKind, protoreflect.BytesKind, protoreflect.FloatKind, protoreflect.DoubleKind:
		return ""
	}
	return "[" + g.scalarType(f) + "]"
}

func (g *printer) getMap(m *message, f *field) string {
	key, value := f.Message.Fields[0], f.Message.Fields[1]
	get := func(f *protogen.Field, inline bool) string {
		switch {
		case f.Message != nil && inline:
			return g.wire("GetInline") + "[" + g.goType(f.Message.GoIdent) + "]"
		case f.Message != nil:
			return g.wire("GetMessage") + "[" + g.goType(f.Message.GoIdent) + "]"
		}
		return g.wire("Get"+valueFunc(f.Desc.Kind(), true)) + g.instance(f)
	}
	return fmt.Sprintf("%s(d, r, %s, &%s, t, %d, %s, %s)", g.wire("Map"), slot(f), g.mapName(m, f), f.Desc.Number(),
		get(key, false), get(value, f.lay.Child.Fields[1].Inline))
}

// unpack prints the function that sets an inline message from its bytes in a row.
func (g *printer) unpack(m *message) {
	T := m.GoIdent.GoName
	g.P("func ", name("Unpack", m.Message), "(d *", g.wire("Decoder"), ", p ", g.wire("Packed"), ", x *", T, ") {")
	for i := range m.layout.Packed {
		p := &m.layout.Packed[i]
		f := m.byNumber(p.Desc.Number())
		var v string
		switch {
		case p.Child != nil && g.local(f):
			v = fmt.Sprintf("%s(d, p.At(%d), &%s.Key, %s)", g.wire("UnpackOne"), p.Off, g.typeOf(f.Message), name("Unpack", f.Message))
		case p.Child != nil:
			v = fmt.Sprintf("%s[%s](d, p.At(%d), %d)", g.wire("UnpackNew"), g.goType(f.Message.GoIdent), p.Off, p.Size)
		case p.Kind == protoreflect.BoolKind:
			v = fmt.Sprintf("p.Bool(%d)", p.Off)
		case p.Kind == protoreflect.FloatKind:
			v = fmt.Sprintf("p.F32(%d)", p.Off)
		case p.Kind == protoreflect.DoubleKind:
			v = fmt.Sprintf("p.F64(%d)", p.Off)
		default:
			v = g.number(f.Field, p.Size, fmt.Sprintf("p.U%d(%d)", 8*p.Size, p.Off))
		}
		g.P(g.set(m, f, v))
	}
	g.P("}")
	g.P()
}
