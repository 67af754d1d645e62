package corpus

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// SchemaModel is a schema as a tree that can be changed and printed.
type SchemaModel struct {
	Syntax     string // proto2, proto3 or 2023
	Package    string
	Enums      []*EnumModel
	Messages   []*MessageModel
	Extensions []*FieldModel // of the first message that has a range for them
}

// EnumModel is an enum of a schema.
type EnumModel struct {
	Name   string
	Closed bool
	Values []int32
}

// MessageModel is a message type.
type MessageModel struct {
	Name   string // without the package; nested types as Outer.Inner
	Inline bool
	// Extendable: the type has the extension range from FirstExtension.
	Extendable bool
	Fields     []*FieldModel
	Nested     []*MessageModel
}

// FirstExtension is the lowest number of the hundred that extendable messages
// leave to extensions.
const FirstExtension = 100_000

// Card is the cardinality or presence of a field.
type Card int

// The cardinalities. Plain is what no label gives: implicit presence in
// proto3, explicit in editions; proto2 has no such field.
const (
	Plain Card = iota
	Optional
	Required
	Repeated
	Implicit
)

// FieldModel is a field of a message type.
type FieldModel struct {
	Name   string
	Number int
	Kind   string // a scalar's name, enum, message, group or map
	// Type is the full name of an enum or message; of a map's value if that
	// is one. A group's is its name in the enclosing message.
	Type    string
	Key     string // kind of a map's key
	Value   string // kind of a map's value
	Card    Card
	Oneof   string
	Width   int // 8, 16, 32 or 0
	Default string
	Packed  string // true, false or empty
	UTF8    string // VERIFY, NONE or empty; editions only
	Group   *MessageModel
	// ClosedEnum: the field's enum is closed.
	ClosedEnum bool
}

var scalarKinds = []string{
	"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
	"sfixed32", "sfixed64", "float", "double", "bool", "string", "bytes",
}

var keyKinds = []string{
	"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64",
	"sfixed32", "sfixed64", "bool", "string",
}

var inlineKinds = scalarKinds[:13]

// Rand returns a source of the seed's random numbers.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)) }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// RandomSchema makes a schema in the package. Over enough seeds it has all
// there is: the three syntaxes, every kind, presence and cardinality, oneofs,
// maps of every key, groups, recursion, open and closed enums, narrow widths,
// inline messages, extensions, sparse and large field numbers, and up to 100
// fields in a type.
func RandomSchema(seed uint64, pkg string) *SchemaModel {
	r := Rand(seed)
	s := &SchemaModel{Syntax: pick(r, []string{"proto2", "proto3", "proto3", "2023", "2023"}), Package: pkg}
	g := schemaGen{r: r, s: s}
	for i := range 1 + r.IntN(3) {
		g.enum(i)
	}
	if s.Syntax != "proto2" {
		for i := range r.IntN(4) {
			g.inline(i)
		}
	}
	// All names first, so that types can refer to each other.
	n := 1 + r.IntN(4)
	for i := range n {
		m := &MessageModel{Name: "M" + strconv.Itoa(i)}
		s.Messages = append(s.Messages, m)
		g.types = append(g.types, m)
		if r.IntN(4) == 0 {
			in := &MessageModel{Name: m.Name + ".Inner"}
			m.Nested = append(m.Nested, in)
			g.types = append(g.types, in)
		}
	}
	for _, m := range g.types {
		g.fields(m, g.fieldCount())
		if s.Syntax != "proto3" && r.IntN(2) == 0 {
			m.Extendable = true
		}
	}
	for _, m := range g.types {
		if m.Extendable {
			g.extensions(m)
			break
		}
	}
	return s
}

type schemaGen struct {
	r       *rand.Rand
	s       *SchemaModel
	types   []*MessageModel
	inlines []*MessageModel
	oneofs  int
	names   int
}

func (g *schemaGen) full(name string) string { return "." + g.s.Package + "." + name }

func (g *schemaGen) fieldCount() int {
	switch g.r.IntN(8) {
	case 0:
		return g.r.IntN(3)
	case 1:
		return 30 + g.r.IntN(71)
	default:
		return 1 + g.r.IntN(20)
	}
}

func (g *schemaGen) enum(i int) {
	e := &EnumModel{Name: "E" + strconv.Itoa(i), Values: []int32{0, 1}}
	e.Closed = g.s.Syntax == "proto2" || g.s.Syntax == "2023" && g.r.IntN(3) == 0
	if e.Closed && g.r.IntN(2) == 0 {
		e.Values = []int32{3, -4}
	}
	for _, v := range []int32{-1, 127, -128, 1 << 20, 1<<31 - 1, -1 << 31} {
		if g.r.IntN(2) == 0 {
			e.Values = append(e.Values, v)
		}
	}
	g.s.Enums = append(g.s.Enums, e)
}

// inline adds a value type of at most 255 bytes, built on earlier ones.
func (g *schemaGen) inline(i int) {
	m := &MessageModel{Name: "I" + strconv.Itoa(i), Inline: true}
	num := 0
	size := 0
	for range 1 + g.r.IntN(6) {
		num += 1 + g.r.IntN(3)
		f := &FieldModel{Name: "f" + strconv.Itoa(num), Number: num, Card: Plain}
		switch e := g.openEnum(); {
		case len(g.inlines) > 0 && g.r.IntN(4) == 0:
			in := pick(g.r, g.inlines)
			f.Kind, f.Type = "message", g.full(in.Name)
			if n := g.inlineSize(in); size+n <= 255 {
				size += n
			} else {
				continue
			}
		case e != nil && g.r.IntN(6) == 0:
			f.Kind, f.Type = "enum", g.full(e.Name)
			f.Width = pick(g.r, []int{0, 8, 16})
			size += 4
		default:
			f.Kind = pick(g.r, inlineKinds)
			f.Width = g.width(f.Kind)
			size += 8
		}
		if size > 255 {
			break
		}
		if f.Kind != "message" && g.s.Syntax == "2023" {
			f.Card = Implicit
		}
		m.Fields = append(m.Fields, f)
	}
	if len(m.Fields) == 0 {
		return
	}
	g.inlines = append(g.inlines, m)
	g.s.Messages = append(g.s.Messages, m)
}

// inlineSize is an upper bound of the bytes of an inline message.
func (g *schemaGen) inlineSize(m *MessageModel) int {
	n := 0
	for _, f := range m.Fields {
		if f.Kind != "message" {
			n += 8
			continue
		}
		for _, in := range g.inlines {
			if g.full(in.Name) == f.Type {
				n += g.inlineSize(in)
			}
		}
	}
	return n
}

func (g *schemaGen) openEnum() *EnumModel {
	for _, e := range g.s.Enums {
		if !e.Closed {
			return e
		}
	}
	return nil
}

// width returns a narrow width that the kind may have, or 0, mostly.
func (g *schemaGen) width(kind string) int {
	if g.r.IntN(4) > 0 {
		return 0
	}
	switch kind {
	case "int32", "uint32", "sint32", "fixed32", "sfixed32", "enum":
		return pick(g.r, []int{8, 16})
	case "int64", "uint64", "sint64", "fixed64", "sfixed64":
		return pick(g.r, []int{8, 16, 32})
	}
	return 0
}

// numbers returns n ascending field numbers.
func (g *schemaGen) numbers(n int) []int {
	var gap int // the longest gap between two numbers
	switch g.r.IntN(4) {
	case 0:
		gap = 20
	case 1:
		gap = 3
	}
	var list []int
	num := 0
	for range n {
		num++
		if gap > 0 && g.r.IntN(4) == 0 {
			num += g.r.IntN(gap)
		}
		list = append(list, num)
	}
	// Sometimes the last fields are far away.
	if n > 0 && g.r.IntN(4) == 0 {
		list[n-1] = pick(g.r, []int{536_870_911, 18_999, 20_000, 99_999, 200_000 + g.r.IntN(500_000_000)})
		if n > 1 && g.r.IntN(2) == 0 {
			list[n-2] = 1000 + g.r.IntN(17_000)
		}
	}
	return list
}

func (g *schemaGen) fields(m *MessageModel, n int) {
	numbers := g.numbers(n)
	for len(numbers) > 0 {
		if len(numbers) > 1 && g.r.IntN(8) == 0 {
			g.oneofs++
			name := "o" + strconv.Itoa(g.oneofs)
			k := min(len(numbers), 1+g.r.IntN(6))
			for _, num := range numbers[:k] {
				f := g.singular(m, num)
				f.Card, f.Oneof, f.Default = Plain, name, ""
				m.Fields = append(m.Fields, f)
			}
			numbers = numbers[k:]
			continue
		}
		m.Fields = append(m.Fields, g.field(m, numbers[0]))
		numbers = numbers[1:]
	}
	if g.r.IntN(3) == 0 {
		g.r.Shuffle(len(m.Fields), func(i, j int) {
			// Members of a oneof are declared together.
			if m.Fields[i].Oneof == "" && m.Fields[j].Oneof == "" {
				m.Fields[i], m.Fields[j] = m.Fields[j], m.Fields[i]
			}
		})
	}
}

func (g *schemaGen) field(m *MessageModel, num int) *FieldModel {
	switch g.r.IntN(8) {
	case 0:
		return g.mapField(num)
	case 1, 2:
		f := g.singular(m, num)
		f.Card, f.Default = Repeated, ""
		if g.packable(f) && g.r.IntN(3) == 0 {
			f.Packed = pick(g.r, []string{"true", "false"})
		}
		return f
	default:
		return g.singular(m, num)
	}
}

func (g *schemaGen) packable(f *FieldModel) bool {
	switch f.Kind {
	case "string", "bytes", "message", "group", "map":
		return false
	}
	return true
}

func (g *schemaGen) mapField(num int) *FieldModel {
	f := &FieldModel{Name: g.name(), Number: num, Kind: "map", Key: pick(g.r, keyKinds)}
	switch {
	case g.r.IntN(4) == 0:
		f.Value, f.Type = "message", g.full(g.messageType().Name)
	case g.r.IntN(6) == 0:
		e := pick(g.r, g.s.Enums)
		// A closed enum with no zero can't be a map's value.
		if e.Values[0] == 0 {
			f.Value, f.Type, f.ClosedEnum = "enum", g.full(e.Name), e.Closed
			break
		}
		fallthrough
	default:
		f.Value = pick(g.r, scalarKinds)
	}
	return f
}

func (g *schemaGen) messageType() *MessageModel {
	if len(g.inlines) > 0 && g.r.IntN(3) == 0 {
		return pick(g.r, g.inlines)
	}
	return pick(g.r, g.types)
}

func (g *schemaGen) name() string {
	g.names++
	return "f" + strconv.Itoa(g.names)
}

// singular returns a field that is neither list nor map.
func (g *schemaGen) singular(m *MessageModel, num int) *FieldModel {
	f := &FieldModel{Name: g.name(), Number: num}
	switch {
	case g.r.IntN(6) == 0:
		f.Kind, f.Type = "message", g.full(g.messageType().Name)
	case g.s.Syntax != "proto3" && g.r.IntN(12) == 0:
		f.Kind = "group"
		if g.s.Syntax == "proto2" {
			f.Type = "G" + f.Name[1:]
			f.Name = strings.ToLower(f.Type)
			f.Group = &MessageModel{Name: m.Name + "." + f.Type}
			g.fields(f.Group, g.r.IntN(5))
		} else {
			f.Type = g.full(pick(g.r, g.types).Name)
		}
	case g.r.IntN(8) == 0:
		e := pick(g.r, g.s.Enums)
		f.Kind, f.Type, f.ClosedEnum = "enum", g.full(e.Name), e.Closed
		f.Width = g.width("enum")
	default:
		f.Kind = pick(g.r, scalarKinds)
		f.Width = g.width(f.Kind)
	}
	g.presence(f)
	if f.Kind == "string" && g.s.Syntax == "2023" && g.r.IntN(3) == 0 {
		f.UTF8 = pick(g.r, []string{"VERIFY", "NONE"})
	}
	return f
}

func (g *schemaGen) presence(f *FieldModel) {
	isMessage := f.Kind == "message" || f.Kind == "group"
	switch g.s.Syntax {
	case "proto2":
		f.Card = Optional
		if !isMessage && g.r.IntN(10) == 0 {
			f.Card = Required
		}
	case "proto3":
		if g.r.IntN(3) == 0 {
			f.Card = Optional
		}
	case "2023":
		if !isMessage && !f.ClosedEnum && g.r.IntN(3) == 0 {
			f.Card = Implicit
		} else if !isMessage && g.r.IntN(10) == 0 {
			f.Card = Required
		}
	}
	if g.s.Syntax != "proto3" && f.Card != Implicit && g.r.IntN(5) == 0 {
		f.Default = g.defaultOf(f)
	}
}

func (g *schemaGen) defaultOf(f *FieldModel) string {
	switch f.Kind {
	case "bool":
		return "true"
	case "string", "bytes":
		return `"default \" value"`
	case "float", "double":
		return pick(g.r, []string{"-1.5", "inf", "nan", "-0.0"})
	case "message", "group", "enum":
		return ""
	case "uint32", "uint64", "fixed32", "fixed64":
		return "7"
	default:
		return "-7"
	}
}

func (g *schemaGen) extensions(m *MessageModel) {
	for i := range 1 + g.r.IntN(8) {
		f := g.singular(m, FirstExtension+i*(1+g.r.IntN(3)))
		for f.Kind == "group" {
			f = g.singular(m, f.Number)
		}
		f.Name = "x" + strconv.Itoa(i)
		f.Number = FirstExtension + i*7
		f.Width = 0
		switch {
		case g.r.IntN(3) == 0:
			f.Card, f.Default = Repeated, ""
		case g.s.Syntax == "proto2":
			f.Card = Optional
		default:
			f.Card = Plain
		}
		g.s.Extensions = append(g.s.Extensions, f)
	}
}

// Text returns the schema as .proto text.
func (s *SchemaModel) Text() string {
	p := &printer{s: s}
	if s.Syntax == "2023" {
		p.line("edition = \"2023\";")
	} else {
		p.line("syntax = %q;", s.Syntax)
	}
	p.line("package %s;", s.Package)
	p.line("import \"graven/options.proto\";")
	for _, e := range s.Enums {
		p.line("enum %s {", e.Name)
		if s.Syntax == "2023" && e.Closed {
			p.line("option features.enum_type = CLOSED;")
		}
		for i, v := range e.Values {
			p.line("%s_V%d = %d;", e.Name, i, v)
		}
		p.line("}")
	}
	for _, m := range s.Messages {
		p.message(m)
	}
	if len(s.Extensions) > 0 {
		p.line("extend .%s.%s {", s.Package, s.extendee().Name)
		for _, f := range s.Extensions {
			p.field(f)
		}
		p.line("}")
	}
	return p.b.String()
}

// extendee is the message type that the schema's extensions extend.
func (s *SchemaModel) extendee() *MessageModel {
	var find func(list []*MessageModel) *MessageModel
	find = func(list []*MessageModel) *MessageModel {
		for _, m := range list {
			if m.Extendable {
				return m
			}
			if in := find(m.Nested); in != nil {
				return in
			}
		}
		return nil
	}
	return find(s.Messages)
}

type printer struct {
	s      *SchemaModel
	b      strings.Builder
	indent int
}

func (p *printer) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if strings.HasPrefix(text, "}") {
		p.indent--
	}
	p.b.WriteString(strings.Repeat("  ", p.indent) + text + "\n")
	if strings.HasSuffix(text, "{") {
		p.indent++
	}
}

func (p *printer) message(m *MessageModel) {
	p.line("message %s {", m.Name[strings.LastIndexByte(m.Name, '.')+1:])
	p.body(m)
	p.line("}")
}

func (p *printer) body(m *MessageModel) {
	if m.Inline {
		p.line("option (graven.message).inline = true;")
	}
	if m.Extendable {
		p.line("extensions %d to %d;", FirstExtension, FirstExtension+99)
	}
	for _, in := range m.Nested {
		p.message(in)
	}
	open := ""
	for _, f := range m.Fields {
		if f.Oneof != open {
			if open != "" {
				p.line("}")
			}
			if f.Oneof != "" {
				p.line("oneof %s {", f.Oneof)
			}
			open = f.Oneof
		}
		p.field(f)
	}
	if open != "" {
		p.line("}")
	}
}

func (p *printer) field(f *FieldModel) {
	var options []string
	add := func(format string, args ...any) { options = append(options, fmt.Sprintf(format, args...)) }
	label := ""
	switch f.Card {
	case Optional:
		label = "optional "
		if p.s.Syntax == "2023" {
			label = "" // what an edition's field is anyway
		}
	case Required:
		label = "required "
		if p.s.Syntax == "2023" {
			label = ""
			add("features.field_presence = LEGACY_REQUIRED")
		}
	case Repeated:
		label = "repeated "
	case Implicit:
		add("features.field_presence = IMPLICIT")
	}
	if f.Width != 0 {
		add("(graven.field).width = %d", f.Width)
	}
	if f.Default != "" {
		add("default = %s", f.Default)
	}
	if f.UTF8 != "" {
		add("features.utf8_validation = %s", f.UTF8)
	}
	switch {
	case f.Packed == "":
	case p.s.Syntax != "2023":
		add("packed = %s", f.Packed)
	case f.Packed == "true":
		add("features.repeated_field_encoding = PACKED")
	default:
		add("features.repeated_field_encoding = EXPANDED")
	}
	kind := f.Kind
	switch f.Kind {
	case "enum", "message":
		kind = f.Type
	case "map":
		value := f.Value
		if f.Type != "" {
			value = f.Type
		}
		kind = fmt.Sprintf("map<%s, %s>", f.Key, value)
		label = ""
	case "group":
		if f.Group == nil {
			kind = f.Type
			add("features.message_encoding = DELIMITED")
		}
	}
	tail := ""
	if len(options) > 0 {
		tail = " [" + strings.Join(options, ", ") + "]"
	}
	if f.Group != nil {
		p.line("%sgroup %s = %d%s {", label, f.Type, f.Number, tail)
		p.body(f.Group)
		p.line("}")
		return
	}
	p.line("%s%s %s = %d%s;", label, kind, f.Name, f.Number, tail)
}
