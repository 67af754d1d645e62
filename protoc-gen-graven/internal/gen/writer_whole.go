package gen

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// setWhole prints the method that sets all fields of a row: in one go where rows come one
// after the other, else field by field.
func (g *writerPrinter) setWhole(m *message, names writerNames, w wholeRow) {
	rows := m.layout.Full
	slowly := func(cond string) {
		g.P("if ", cond, " {")
		g.P("r.setSlowly(", w.args(), ")")
		g.P("return")
		g.P("}")
	}
	g.P("// Set sets all fields; nil leaves one absent.")
	g.P("func (r ", names.row, ") Set(", w.params(), ") {")
	g.P("o, ok := ", g.wire("RowWriter"), "(r).Whole(", rows.Stride, ")")
	slowly("!ok" + g.tooWide(w))
	g.P("bits := uint64(0)")
	for _, p := range w {
		g.putFixed(p, rows.Fields[p.index].Off)
	}
	for b := range rows.BitBytes {
		if b == 0 {
			g.P("o.Put8(0, uint8(bits))")
		} else {
			g.P("o.Put8(", b, ", uint8(bits>>", 8*b, "))")
		}
	}
	end := ""
	for _, p := range w {
		if !p.lay.Variable() {
			continue
		}
		if end != "" {
			g.P("o.PutEnd(", end, ")")
		}
		end = fmt.Sprint(rows.Fields[p.index].Off)
		v, put := p.name, "Text"
		switch kind := p.Desc.Kind(); {
		case kind == protoreflect.BytesKind:
			put = "Bytes"
		case p.lay.UTF8:
			put = "String"
		}
		if p.pointer {
			g.P("if ", v, " != nil {")
			if put != "Bytes" {
				v = "*" + v
			}
		}
		slowly(fmt.Sprintf("o, ok = o.%s(%s); !ok", put, v))
		if p.pointer {
			g.P("}")
		}
	}
	if end == "" {
		g.P("o.End()")
	} else {
		g.P("if o.LastEnd(", end, ") {")
		g.P("o.Stop(", end, ")")
		g.P("}")
	}
	g.P("}")
	g.P()
	g.P("func (r ", names.row, ") setSlowly(", w.params(), ") {")
	g.P("r = ", names.row, "(", g.wire("RowWriter"), "(r).Blank())")
	for _, p := range w {
		g.setOne(p)
	}
	g.P(g.wire("RowWriter"), "(r).Filled()")
	g.P("}")
	g.P()
}

// tooWide is a condition, behind another one, that holds if a value does not fit its narrow
// field.
func (g *writerPrinter) tooWide(w wholeRow) string {
	cond := ""
	for _, p := range w {
		if p.lay.Width == 0 {
			continue
		}
		v, f := p.name, "WideU"
		if p.pointer {
			v = g.wire("Deref") + "(" + v + ")"
		}
		if layout.Signed(p.Desc.Kind()) {
			f = "WideS"
		}
		cond += fmt.Sprintf(" || %s(%s, %d)", g.wire(f), v, p.lay.Width)
	}
	return cond
}

// setOne prints how a field is set by its own method.
func (g *writerPrinter) setOne(p wholeParam) {
	if !p.pointer {
		g.P("r.Set", p.GoName, "(", p.name, ")")
		return
	}
	v := p.name
	if p.Desc.Kind() != protoreflect.BytesKind {
		v = "*" + v
	}
	g.P("if ", p.name, " != nil {")
	g.P("r.Set", p.GoName, "(", v, ")")
	g.P("}")
}

// putFixed prints how the bits and the slot of a field of a whole row are written.
func (g *writerPrinter) putFixed(p wholeParam, off uint32) {
	v, kind := p.name, p.Desc.Kind()
	or := func(bit uint32, cond string) { g.P("bits |= ", g.wire("Bit"), "(", cond, ") << ", bit) }
	// present says when the field is, which is implied by its value.
	present := func(cond string) {
		switch {
		case p.pointer:
			or(p.bit, v+" != nil")
		case p.lay.Presence:
			g.P("bits |= 1 << ", p.bit)
		default:
			or(p.bit, cond)
		}
	}
	x := v
	if p.pointer && !p.lay.Variable() && !p.lay.Inline {
		x = g.wire("Deref") + "(" + v + ")"
	}
	switch size := 8 * p.lay.Size(); {
	case p.lay.Variable():
		present("len(" + v + ") != 0")
	case p.lay.Inline:
		present("")
		if !p.pointer {
			g.P(v, ".Γput(o.Inline(", off, "))")
			break
		}
		g.P("if ", v, " != nil {")
		g.P(v, ".Γput(o.Inline(", off, "))")
		g.P("} else {")
		g.P("o.Zero(", off, ", ", p.lay.Size(), ")")
		g.P("}")
	case p.lay.Code == layout.Bool:
		present(v)
		or(p.bit+1, x)
	case kind == protoreflect.FloatKind:
		g.P("o.PutF32(", off, ", ", x, ")")
		present(g.QualifiedGoIdent(mathPackage.Ident("Float32bits")) + "(" + v + ") != 0")
	case kind == protoreflect.DoubleKind:
		g.P("o.PutF64(", off, ", ", x, ")")
		present(g.QualifiedGoIdent(mathPackage.Ident("Float64bits")) + "(" + v + ") != 0")
	default:
		g.P("o.Put", size, "(", off, ", ", convert(kind, size, x), ")")
		present(v + " != 0")
	}
}
