package gen

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

const codecPackage = protogen.GoImportPath("github.com/graven-rpc/graven/codec")

// writerPrinter prints the writers of one file.
type writerPrinter struct {
	viewPrinter
}

// writerNames are the names of the Go types for writing a message.
type writerNames struct{ writer, row, rows, value string }

// writerNamesOf names the types for writing a message after it. Where that is the name of
// something else in the package, an underscore and a small letter follow the message's
// name, which no name that protoc-gen-go makes of a schema's has.
func (g *writerPrinter) writerNamesOf(m *protogen.Message) writerNames {
	at := m.GoIdent.GoImportPath
	n := m.GoIdent.GoName
	pretty := writerNames{n + "Writer", n + "Row", n + "Rows", n + "Value"}
	for _, f := range g.plugin.Files {
		if f.GoImportPath == at && clashes(f.Messages, n, pretty) {
			return writerNames{n + "_writer", n + "_row", n + "_rows", n + "_value"}
		}
	}
	return pretty
}

// clashes reports whether messages, or the types for writing others than the one
// called self, have one of the names.
func clashes(ms []*protogen.Message, self string, names writerNames) bool {
	for _, m := range ms {
		n := m.GoIdent.GoName
		for _, s := range []string{names.writer, names.row, names.rows, names.value} {
			if n == s {
				return true
			}
			for _, end := range []string{"Writer", "Row", "Rows", "Value"} {
				if n != self && n+end == s {
					return true
				}
			}
		}
		if clashes(m.Messages, self, names) {
			return true
		}
	}
	return false
}

// hasWriters reports whether there are writers for a message's Go package.
func (g *writerPrinter) hasWriters(m *protogen.Message) bool { return g.writersAt(m) != "" }

func (g *writerPrinter) writersAt(m *protogen.Message) protogen.GoImportPath {
	return g.views.viewsOf(m.GoIdent.GoImportPath, g.file.GoImportPath, g.packageName(m))
}

// rowType, rowsType and valueType are types for writing some message.
func (g *writerPrinter) rowType(m *protogen.Message) string {
	return g.goType(protogen.GoIdent{GoName: g.writerNamesOf(m).row, GoImportPath: g.writersAt(m)})
}

func (g *writerPrinter) rowsType(m *protogen.Message) string {
	return g.goType(protogen.GoIdent{GoName: g.writerNamesOf(m).rows, GoImportPath: g.writersAt(m)})
}

func (g *writerPrinter) valueType(m *protogen.Message) string {
	return g.goType(protogen.GoIdent{GoName: g.writerNamesOf(m).value, GoImportPath: g.writersAt(m)})
}

// writeType is an expression for what the runtime keeps for writing a message.
func (g *writerPrinter) writeType(m *protogen.Message) string { return g.rowType(m) + "{}.Γwrites()" }

// writer prints the types for writing a message.
func (g *writerPrinter) writer(m *message) {
	names := g.writerNamesOf(m.Message)
	typ, view := name("Writes", m.Message), g.goType(protogen.GoIdent{GoName: m.GoIdent.GoName, GoImportPath: g.writersAt(m.Message)})
	g.P("var ", typ, " = ", g.wire("WriteType"), "{New: func() ", g.proto("Message"), " { return new(", g.ordinary(m.GoIdent), ") }}")
	g.P()
	g.P("// ", names.writer, " writes frames of ", m.Desc.FullName(), ". Reset begins one; see [", g.codec("Writer"), "].")
	g.P("type ", names.writer, " struct {")
	g.P(names.row)
	g.P(g.codec("Writer"), "[", view, "]")
	g.P("}")
	g.P()
	g.P("// Reset begins a message. It drops what was written before, and takes back what Seal and Batch gave.")
	g.P("func (w *", names.writer, ") Reset() { w.", names.row, " = ", names.row, "(w.Writer.Γbegin(&", typ, ")) }")
	g.P()
	g.P("// Next completes the message, as a frame of the batch, and begins the next one. After an error the")
	g.P("// message is left out of the batch.")
	g.P("func (w *", names.writer, ") Next() error {")
	g.P("r, err := w.Writer.Γnext(&", typ, ")")
	g.P("w.", names.row, " = ", names.row, "(r)")
	g.P("return err")
	g.P("}")
	g.P()
	g.P("// ", names.row, " is a ", m.Desc.FullName(), " that is being written.")
	g.P("type ", names.row, " ", g.wire("RowWriter"))
	g.P()
	g.P("// Γwrites is for the runtime.")
	g.P("func (", names.row, ") Γwrites() *", g.wire("WriteType"), " { return &", typ, " }")
	g.P()
	whole := g.whole(m)
	if whole != nil {
		g.setWhole(m, names, whole)
	}
	for _, f := range m.fields {
		g.setters(m, f, names)
	}
	if m.layout.Inline {
		g.value(m, names)
		return
	}
	g.P("// ", names.rows, " is a list of ", m.Desc.FullName(), " that is being written.")
	g.P("type ", names.rows, " ", g.wire("RowsWriter"))
	g.P()
	g.P("// Len is how many messages the list has so far.")
	g.P("func (l ", names.rows, ") Len() int { return ", g.wire("RowsWriter"), "(l).Len() }")
	g.P()
	g.P("// At is message i of the list.")
	g.P("func (l ", names.rows, ") At(i int) ", names.row, " { return ", names.row, "(", g.wire("RowsWriter"), "(l).At(i)) }")
	g.P()
	g.P("// Append adds a message to a list that is built.")
	g.P("func (l ", names.rows, ") Append() ", names.row, " { return ", names.row, "(", g.wire("RowsWriter"), "(l).Append()) }")
	g.P()
	g.P("// Close ends a list that is built. One of known length ends by itself.")
	g.P("func (l ", names.rows, ") Close() { ", g.wire("RowsWriter"), "(l).Close() }")
	g.P()
	if whole == nil {
		return
	}
	params, args := whole.params(), whole.args()
	g.P("// Set sets all fields of message i; nil leaves one absent.")
	g.P("func (l ", names.rows, ") Set(i int, ", params, ") {")
	g.P(names.row, "(", g.wire("RowsWriter"), "(l).Row(i)).Set(", args, ")")
	g.P("}")
	g.P()
	g.P("// Add adds a message to a list that is built, with all its fields.")
	g.P("func (l ", names.rows, ") Add(", params, ") {")
	g.P(names.row, "(", g.wire("RowsWriter"), "(l).Next()).Set(", args, ")")
	g.P("}")
	g.P()
}

func (g *writerPrinter) codec(name string) string {
	return g.QualifiedGoIdent(codecPackage.Ident(name))
}

// setters prints the methods of a row that write a field.
func (g *writerPrinter) setters(m *message, f *field, names writerNames) {
	row, r := names.row, g.wire("RowWriter")+"(r)"
	rows := m.layout.Full
	stride, off := rows.Stride, rows.Fields[f.index].Off
	first := "" // what a member of a oneof does first
	if f.real {
		first = fmt.Sprintf("%s.Oneof(%d)", r, f.index)
	}
	method := func(doc, sig string, body ...string) {
		g.P("// ", doc)
		if first == "" && len(body) == 1 {
			g.P("func (r ", row, ") ", sig, " { ", body[0], " }")
		} else {
			g.P("func (r ", row, ") ", sig, " {")
			if first != "" {
				g.P(first)
			}
			for _, b := range body {
				g.P(b)
			}
			g.P("}")
		}
		g.P()
	}
	name, N, kind := f.Desc.Name(), f.GoName, f.Desc.Kind()
	simple := func(function, list, view, elem string) {
		method(fmt.Sprintf("Set%s sets %s. The elements are copied.", N, name), fmt.Sprintf("Set%s(xs []%s)", N, elem),
			fmt.Sprintf("%s(%s, %d, xs%s)", g.wire("Set"+function), r, f.index, list))
		if function == "Numbers" || function == "Narrow" || function == "Bools" {
			method(fmt.Sprintf("Append%s appends to %s.", N, name), fmt.Sprintf("Append%s(xs ...%s)", N, elem),
				fmt.Sprintf("%s(%s, %d, xs%s)", g.wire("Append"+function), r, f.index, list))
		}
		if view != "" {
			method(fmt.Sprintf("Splice%s sets %s to a list of another message.", N, name), fmt.Sprintf("Splice%s(l %s)", N, view),
				fmt.Sprintf("%s(%s, %d, l)", g.wire("Splice"+function), r, f.index))
		}
	}
	switch {
	case f.Desc.IsMap():
		g.mapSetters(f, method)
	case f.lay.Inline && f.Desc.IsList():
		view, _ := g.getter(f)
		if !g.hasWriters(f.Message) {
			method(fmt.Sprintf("Splice%s sets %s to a list of another message.", N, name), fmt.Sprintf("Splice%s(l %s)", N, view),
				fmt.Sprintf("%s(%s, %d, l)", g.wire("SpliceInlines"), r, f.index))
			return
		}
		v := g.valueType(f.Message)
		simple("Inlines", "", view, v)
		g.lists(f, method, g.wire("InlinesWriter")+"["+v+"]", g.wire("NewInlines")+"["+v+"]", g.wire("BuildInlines")+"["+v+"]")
	case f.lay.Inline:
		view, _ := g.getter(f)
		if g.hasWriters(f.Message) {
			method(fmt.Sprintf("Set%s sets %s.", N, name), fmt.Sprintf("Set%s(v %s)", N, g.valueType(f.Message)),
				fmt.Sprintf("if p, ok := %s.Inline(%d, %d, %d); ok {", r, stride, off, f.bit), "v.Γput(p)", "}")
		} else {
			method(fmt.Sprintf("Encode%s sets %s to an ordinary message.", N, name), fmt.Sprintf("Encode%s(m *%s)", N, g.ordinary(f.Message.GoIdent)),
				fmt.Sprintf("%s.Encode(%d, m)", r, f.index))
		}
		method(fmt.Sprintf("Splice%s sets %s to that of another message.", N, name), fmt.Sprintf("Splice%s(v %s)", N, view),
			fmt.Sprintf("%s.SpliceInline(%d, %s(v))", r, f.index, g.wire("Inline")))
	case f.Message != nil && f.Desc.IsList():
		view, _ := g.getter(f)
		if g.hasWriters(f.Message) {
			t := g.rowsType(f.Message)
			method(fmt.Sprintf("New%s opens %s as a list of n messages.", N, name), fmt.Sprintf("New%s(n int) %s", N, t),
				fmt.Sprintf("return %s(%s.NewRows(%s, %d, n))", t, r, g.writeType(f.Message), f.index))
			method(fmt.Sprintf("Build%s opens %s to be appended to and closed.", N, name), fmt.Sprintf("Build%s() %s", N, t),
				fmt.Sprintf("return %s(%s.BuildRows(%s, %d))", t, r, g.writeType(f.Message), f.index))
		} else {
			method(fmt.Sprintf("Encode%s sets %s to ordinary messages.", N, name), fmt.Sprintf("Encode%s(ms []*%s)", N, g.ordinary(f.Message.GoIdent)),
				fmt.Sprintf("%s(%s, %d, ms)", g.wire("EncodeAll"), r, f.index))
		}
		method(fmt.Sprintf("Splice%s sets %s to a list of another message, which is not decoded.", N, name), fmt.Sprintf("Splice%s(l %s)", N, view),
			fmt.Sprintf("%s(%s, %d, l)", g.wire("SpliceViews"), r, f.index))
	case f.Message != nil:
		view, _ := g.getter(f)
		if g.hasWriters(f.Message) {
			t := g.rowType(f.Message)
			method(fmt.Sprintf("New%s opens %s, with nothing set in it.", N, name), fmt.Sprintf("New%s() %s", N, t),
				fmt.Sprintf("return %s(%s.NewRow(%s, %d))", t, r, g.writeType(f.Message), f.index))
		} else {
			method(fmt.Sprintf("Encode%s sets %s to an ordinary message.", N, name), fmt.Sprintf("Encode%s(m *%s)", N, g.ordinary(f.Message.GoIdent)),
				fmt.Sprintf("%s.Encode(%d, m)", r, f.index))
		}
		method(fmt.Sprintf("Splice%s sets %s to a message of another one, which is not decoded.", N, name), fmt.Sprintf("Splice%s(v %s)", N, view),
			fmt.Sprintf("%s.Splice(%d, %s(v))", r, f.index, g.wire("View")))
	case f.Desc.IsList():
		view, _ := g.getter(f)
		switch {
		case kind == protoreflect.StringKind || kind == protoreflect.BytesKind:
			elem, splice := "string", "SpliceStrings"
			if kind == protoreflect.BytesKind {
				elem, splice = "[]byte", "SpliceBlobs"
			}
			simple("Strings", "", "", elem)
			g.lists(f, method, g.wire("StringsWriter")+"["+elem+"]", g.wire("NewStrings")+"["+elem+"]", g.wire("BuildStrings")+"["+elem+"]")
			method(fmt.Sprintf("Splice%s sets %s to a list of another message.", N, name), fmt.Sprintf("Splice%s(l %s)", N, view),
				fmt.Sprintf("%s(%s, %d, l)", g.wire(splice), r, f.index))
		case kind == protoreflect.BoolKind:
			simple("Bools", "", view, "bool")
		case f.lay.Width != 0:
			simple("Narrow", fmt.Sprintf(", %d", f.lay.Width), view, g.scalarType(f.Field))
		default:
			simple("Numbers", "", view, g.scalarType(f.Field))
		}
	default:
		method(fmt.Sprintf("Set%s sets %s.", N, name), fmt.Sprintf("Set%s(v %s)", N, g.paramType(f.Field)), g.setScalar(f, stride, off, "v")...)
	}
}

// lists prints the methods that open a list of strings, bytes or inline messages.
func (g *writerPrinter) lists(f *field, method func(doc, sig string, body ...string), typ, open, build string) {
	name, N := f.Desc.Name(), f.GoName
	method(fmt.Sprintf("New%s opens %s as a list of n elements.", N, name), fmt.Sprintf("New%s(n int) %s", N, typ),
		fmt.Sprintf("return %s(%s(r), %d, n)", open, g.wire("RowWriter"), f.index))
	method(fmt.Sprintf("Build%s opens %s to be appended to and closed.", N, name), fmt.Sprintf("Build%s() %s", N, typ),
		fmt.Sprintf("return %s(%s(r), %d)", build, g.wire("RowWriter"), f.index))
}

// mapSetters prints the methods that write a map.
func (g *writerPrinter) mapSetters(f *field, method func(doc, sig string, body ...string)) {
	name, N := f.Desc.Name(), f.GoName
	key, value := f.Message.Fields[0], f.Message.Fields[1]
	view, _ := g.getter(f)
	k := g.mapKey(key)
	kind := "Number"
	var v, args string
	inline := f.lay.Child.Fields[1].Inline
	switch {
	case value.Message != nil && !g.hasWriters(value.Message):
		kind = map[bool]string{true: "Inline", false: "Row"}[inline]
		method(fmt.Sprintf("Splice%s sets %s to a map of another message.", N, name), fmt.Sprintf("Splice%s(m %s)", N, view),
			fmt.Sprintf("%s(%s(r), %d, m)", g.wire("Splice"+kind+"Map"), g.wire("RowWriter"), f.index))
		return
	case inline:
		kind, v = "Inline", g.valueType(value.Message)
	case value.Message != nil:
		kind, v, args = "Row", g.rowType(value.Message), g.writeType(value.Message)+", "
	case value.Desc.Kind() == protoreflect.BoolKind:
		kind, v = "Value", "bool"
	case value.Desc.Kind() == protoreflect.StringKind:
		kind, v = "Value", "string"
	case value.Desc.Kind() == protoreflect.BytesKind:
		kind, v = "Value", "[]byte"
	default:
		v = g.scalarType(value)
	}
	typ := fmt.Sprintf("%s[%s, %s]", g.wire(kind+"MapWriter"), k, v)
	method(fmt.Sprintf("Build%s opens %s, to be put into and closed.", N, name), fmt.Sprintf("Build%s() %s", N, typ),
		fmt.Sprintf("return %s[%s, %s](%s(r), %s%d)", g.wire("Build"+kind+"Map"), k, v, g.wire("RowWriter"), args, f.index))
	method(fmt.Sprintf("Splice%s sets %s to a map of another message.", N, name), fmt.Sprintf("Splice%s(m %s)", N, view),
		fmt.Sprintf("%s(%s(r), %d, m)", g.wire("Splice"+kind+"Map"), g.wire("RowWriter"), f.index))
}

// paramType is the Go type of a number, bool, enum, string or bytes.
func (g *writerPrinter) paramType(f *protogen.Field) string {
	switch f.Desc.Kind() {
	case protoreflect.StringKind:
		return "string"
	case protoreflect.BytesKind:
		return "[]byte"
	}
	return g.scalar(f)
}

// setScalar gives the lines that set a field to v.
func (g *writerPrinter) setScalar(f *field, stride, off uint32, v string) []string {
	r := g.wire("RowWriter") + "(r)"
	implicit := ""
	if !f.lay.Presence {
		implicit = "Implicit"
	}
	kind := f.Desc.Kind()
	var call string
	switch {
	case kind == protoreflect.StringKind && f.lay.UTF8:
		call = fmt.Sprintf("%s.%sString(%d, %s)", r, implicit, f.index, v)
	case kind == protoreflect.StringKind:
		call = fmt.Sprintf("%s.%sText(%d, %s)", r, implicit, f.index, v)
	case kind == protoreflect.BytesKind:
		call = fmt.Sprintf("%s.%sBytes(%d, %s)", r, implicit, f.index, v)
	case kind == protoreflect.BoolKind:
		call = fmt.Sprintf("%s.%sBool(%d, %d, %s)", r, implicit, stride, f.bit, v)
	case kind == protoreflect.FloatKind:
		call = fmt.Sprintf("%s.%sF32(%d, %d, %d, %s)", r, implicit, stride, off, f.bit, v)
	case kind == protoreflect.DoubleKind:
		call = fmt.Sprintf("%s.%sF64(%d, %d, %d, %s)", r, implicit, stride, off, f.bit, v)
	default:
		size := 8 * f.lay.Size()
		if implicit == "" {
			implicit = "U"
		}
		call = fmt.Sprintf("%s.%s%d(%d, %d, %d, %s)", r, implicit, size, stride, off, f.bit, convert(f.Desc.Kind(), size, v))
	}
	if f.lay.Width != 0 {
		return []string{fmt.Sprintf("if %s {", g.fits(f, v)), call, "}"}
	}
	return []string{call}
}

// convert turns a number or enum into what a slot of some bits holds.
func convert(k protoreflect.Kind, size int, v string) string {
	to := fmt.Sprintf("uint%d", size)
	if k != protoreflect.EnumKind && !layout.Signed(k) && 8*layout.KindSize(k) == size {
		return v
	}
	return to + "(" + v + ")"
}

// fits is a condition that holds if a value fits its narrow width.
func (g *writerPrinter) fits(f *field, v string) string {
	r := g.wire("RowWriter") + "(r)"
	if layout.Signed(f.Desc.Kind()) {
		return fmt.Sprintf("%s.FitsS(%d, int64(%s), %d)", r, f.index, v, f.lay.Width)
	}
	return fmt.Sprintf("%s.FitsU(%d, uint64(%s), %d)", r, f.index, v, f.lay.Width)
}

// value prints the struct with the fields of an inline message.
func (g *writerPrinter) value(m *message, names writerNames) {
	g.P("// ", names.value, " is a ", m.Desc.FullName(), " as a value, to be set in a message.")
	g.P("type ", names.value, " struct {")
	for i := range m.layout.Packed {
		f := m.byNumber(m.layout.Packed[i].Desc.Number())
		typ := ""
		switch p := &m.layout.Packed[i]; {
		case p.Child != nil && g.hasWriters(f.Message):
			typ = g.valueType(f.Message)
		case p.Child != nil:
			typ = "*" + g.ordinary(f.Message.GoIdent)
		default:
			typ = g.paramType(f.Field)
		}
		g.P(f.GoName, " ", typ)
	}
	g.P("}")
	g.P()
	g.P("// Γput is for the runtime.")
	g.P("func (v ", names.value, ") Γput(o ", g.wire("InlineWriter"), ") {")
	for i := range m.layout.Packed {
		p := &m.layout.Packed[i]
		f := m.byNumber(p.Desc.Number())
		v := "v." + f.GoName
		switch {
		case p.Child != nil && g.hasWriters(f.Message):
			g.P(v, ".Γput(o.Of(", p.Off, "))")
		case p.Child != nil:
			g.P("o.Encode(", p.Off, ", ", v, ", ", p.Size, ")")
		case p.Kind == protoreflect.BoolKind:
			g.P("o.PutBool(", p.Off, ", ", v, ")")
		case p.Kind == protoreflect.FloatKind:
			g.P("o.PutF32(", p.Off, ", ", v, ")")
		case p.Kind == protoreflect.DoubleKind:
			g.P("o.PutF64(", p.Off, ", ", v, ")")
		default:
			put := fmt.Sprintf("o.Put%d(%d, %s)", 8*p.Size, p.Off, convert(p.Kind, 8*p.Size, v))
			if p.Width == 0 {
				g.P(put)
				continue
			}
			fits := fmt.Sprintf("o.FitsU(uint64(%s), %d, %q)", v, p.Width, p.Desc.FullName())
			if layout.Signed(p.Kind) {
				fits = fmt.Sprintf("o.FitsS(int64(%s), %d, %q)", v, p.Width, p.Desc.FullName())
			}
			g.P("if ", fits, " {")
			g.P(put)
			g.P("}")
		}
	}
	g.P("}")
	g.P()
}

// A row is set as a whole by one call if that has few enough parameters.
const maxWhole = 16

// wholeRow is how all fields of a row are set by one call.
type wholeRow []wholeParam

type wholeParam struct {
	*field
	name, typ string
	pointer   bool // nil: absent
}

// whole plans the call that sets all fields of a row, nil if there is none: of rows with
// lists, messages or oneofs, which are not set by a value.
func (g *writerPrinter) whole(m *message) wholeRow {
	if len(m.fields) == 0 || len(m.fields) > maxWhole {
		return nil
	}
	var w wholeRow
	for _, f := range m.fields {
		if f.Desc.IsList() || f.real || f.Message != nil && (!f.lay.Inline || !g.hasWriters(f.Message)) {
			return nil
		}
		p := wholeParam{field: f, name: paramName(f.GoName)}
		for slices.ContainsFunc(w, func(q wholeParam) bool { return q.name == p.name }) {
			p.name += "_" // id and ID
		}
		if f.Message != nil {
			p.typ = g.valueType(f.Message)
		} else {
			p.typ = g.paramType(f.Field)
		}
		if p.pointer = f.lay.Presence && f.Desc.Cardinality() != protoreflect.Required; p.pointer && f.Desc.Kind() != protoreflect.BytesKind {
			p.typ = "*" + p.typ
		}
		w = append(w, p)
	}
	return w
}

// taken are names that a parameter can't have: keywords, types that are used where it is
// in scope, names of packages and variables there.
var taken = map[string]bool{
	"break": true, "case": true, "chan": true, "const": true, "continue": true, "default": true, "defer": true, "else": true,
	"fallthrough": true, "for": true, "func": true, "go": true, "goto": true, "if": true, "import": true, "interface": true,
	"map": true, "package": true, "range": true, "return": true, "select": true, "struct": true, "switch": true, "type": true, "var": true,
	"uint8": true, "uint16": true, "uint32": true, "uint64": true, "int64": true, "uint": true, "len": true, "nil": true,
	"wire": true, "math": true, "r": true, "o": true, "ok": true, "n": true, "bits": true, "l": true, "i": true,
}

// paramName is the name of the parameter for a field.
func paramName(goName string) string {
	n := 1 // letters to make small: all but the last of a run of capitals
	for n < len(goName) && isUpper(goName[n]) && (n+1 == len(goName) || isUpper(goName[n+1])) {
		n++
	}
	name := strings.ToLower(goName[:n]) + goName[n:]
	if taken[name] || name[0] == '_' {
		name += "_"
	}
	return name
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func (w wholeRow) params() string {
	var s []string
	for _, p := range w {
		s = append(s, p.name+" "+p.typ)
	}
	return strings.Join(s, ", ")
}

func (w wholeRow) args() string {
	var s []string
	for _, p := range w {
		s = append(s, p.name)
	}
	return strings.Join(s, ", ")
}
