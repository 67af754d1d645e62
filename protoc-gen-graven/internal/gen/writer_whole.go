package gen

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// setWhole prints the method that sets all fields of a row: in one go where the row is
// new and comes in order, else field by field.
func (g *writerPrinter) setWhole(m *message, names writerNames, w wholeRow) {
	rows := m.layout.Full
	g.P("// Set sets all fields; nil leaves one absent.")
	g.P("func (r ", names.row, ") Set(", w.params(), ") {")
	for _, p := range w {
		if p.lay.Width != 0 {
			v, cond := p.name, ""
			if p.pointer {
				v, cond = "*"+p.name, p.name+" != nil && "
			}
			g.P("if ", cond, "!", g.fits(p.field, v), " {")
			g.P("return")
			g.P("}")
		}
	}
	n := "0"
	vars := 0
	for _, p := range w {
		if p.lay.Variable() {
			v := p.name
			if p.pointer && p.Desc.Kind() != protoreflect.BytesKind {
				v = g.wire("Deref") + "(" + v + ")"
			}
			if vars++; vars == 1 {
				n = "uint(len(" + v + "))"
			} else {
				n += "+uint(len(" + v + "))"
			}
		}
	}
	g.P("o, ok := ", g.wire("RowWriter"), "(r).Begin(", n, ")")
	g.P("if !ok {")
	g.P(g.wire("RowWriter"), "(r).Clear()")
	for _, p := range w {
		g.setOne(p)
	}
	g.P("return")
	g.P("}")
	g.P("bits := uint64(0)")
	last := 0
	for _, p := range w {
		if p.lay.Variable() {
			last++
		}
		g.putOne(m, p, last == vars)
	}
	for b := uint32(0); b < rows.BitBytes; b++ {
		if b == 0 {
			g.P("o.Put8(0, uint8(bits))")
		} else {
			g.P("o.Put8(", b, ", uint8(bits>>", 8*b, "))")
		}
	}
	g.P("o.Done(", vars, ")")
	g.P("}")
	g.P()
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

// putOne prints how a field of a whole row is written.
func (g *writerPrinter) putOne(m *message, p wholeParam, last bool) {
	rf := &m.layout.Full.Fields[p.index]
	v, kind := p.name, p.Desc.Kind()
	or := func(bit uint32, cond string) { g.P("bits |= ", g.wire("Bit"), "(", cond, ") << ", bit) }
	switch {
	case p.lay.Variable():
		deref := v
		if p.pointer && kind != protoreflect.BytesKind {
			deref = "*" + v
		}
		switch {
		case p.pointer:
			or(p.bit, v+" != nil")
			g.P("if ", v, " != nil {")
		case p.lay.Presence:
			g.P("bits |= 1 << ", p.bit)
		default:
			or(p.bit, "len("+v+") != 0")
		}
		switch {
		case kind == protoreflect.BytesKind:
			g.P("o.Bytes(", deref, ")")
		case p.lay.UTF8:
			g.P("o.String(", p.index, ", ", deref, ")")
		default:
			g.P("o.Text(", deref, ")")
		}
		if p.pointer {
			g.P("}")
		}
		if last {
			g.P("o.LastEnd(", rf.Off, ")")
		} else {
			g.P("o.End(", rf.Off, ")")
		}
		return
	case p.lay.Inline:
		or(p.bit, v+" != nil")
		g.P("if ", v, " != nil {")
		g.P(v, ".Γput(o.Inline(", rf.Off, "))")
		g.P("} else {")
		g.P("o.Zero(", rf.Off, ", ", p.lay.Size(), ")")
		g.P("}")
		return
	}
	x := v
	if p.pointer {
		x = g.wire("Deref") + "(" + v + ")"
		or(p.bit, v+" != nil")
	} else if p.lay.Presence {
		g.P("bits |= 1 << ", p.bit)
	}
	implicit := func(cond string) {
		if !p.lay.Presence {
			or(p.bit, cond)
		}
	}
	switch size := 8 * p.lay.Size(); {
	case p.lay.Code == layout.Bool:
		implicit(v)
		or(p.bit+1, x)
	case kind == protoreflect.FloatKind:
		g.P("o.PutF32(", rf.Off, ", ", x, ")")
		implicit(g.QualifiedGoIdent(mathPackage.Ident("Float32bits")) + "(" + v + ") != 0")
	case kind == protoreflect.DoubleKind:
		g.P("o.PutF64(", rf.Off, ", ", x, ")")
		implicit(g.QualifiedGoIdent(mathPackage.Ident("Float64bits")) + "(" + v + ") != 0")
	default:
		g.P("o.Put", size, "(", rf.Off, ", ", convert(kind, size, x), ")")
		implicit(v + " != 0")
	}
}
