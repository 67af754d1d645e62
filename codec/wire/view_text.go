package wire

import (
	"log/slog"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// maxLog is how long a message becomes in a log, in bytes. Logs have a line for each,
// and whoever needs all of a message prints it.
const maxLog = 4 << 10

// Format prints the message on one line like prototext does, without making an ordinary
// message of it. It is safe even if the frame has changed.
func (v View) Format() string {
	p := printer{most: math.MaxInt}
	p.message(v, 0)
	return string(p.out)
}

// LogValue is the start of what Format prints.
func (v View) LogValue() slog.Value {
	p := printer{most: maxLog}
	p.message(v, 0)
	if p.full() {
		p.out = append(p.out, "..."...)
	}
	return slog.StringValue(string(p.out))
}

// FormatInline prints an inline message of the type of t like Format does.
func (t *ViewType) FormatInline(v Inline) string {
	p := printer{most: math.MaxInt}
	p.inline(t.Layout(), v)
	return string(p.out)
}

// LogInline is FormatInline for a log.
func (t *ViewType) LogInline(v Inline) slog.Value { return slog.StringValue(t.FormatInline(v)) }

// printer prints messages.
type printer struct {
	out  []byte
	most int // bytes at which it stops
}

// full reports whether enough was printed.
func (p *printer) full() bool { return len(p.out) >= p.most }

func (p *printer) message(v View, depth int) {
	if v.at == nil || depth > DefaultDepth {
		return
	}
	plan := v.at.Plan
	for j := range plan.Rows.Fields {
		if p.full() {
			return
		}
		switch i := int(plan.Fields[j]); {
		case i >= 0 && v.Has(i):
			p.field(v, i, &plan.Msg.Fields[i], depth)
		case int32(j) == plan.Residue:
			p.unknown(v.rawBlob(j))
		}
	}
}

// rawBlob is variable field j of the row's own shape.
func (v View) rawBlob(j int) []byte {
	prev, off := uint32(0), v.at.Plan.Rows.Fields[j].Off
	for _, f := range v.at.Plan.Rows.Fields[:j] {
		if f.Variable() {
			prev = f.Off
		}
	}
	if off+4 == v.at.Step {
		off = 0
	}
	return mem.Cut(v.p, v.tail, v.part.from, v.part.to, prev, off)
}

func (p *printer) name(name string) {
	if n := len(p.out); n > 0 && p.out[n-1] != '{' {
		p.out = append(p.out, ' ')
	}
	p.out = append(p.out, name...)
	p.out = append(p.out, ':')
}

// field prints a field that is present.
func (p *printer) field(v View, i int, f *layout.Field, depth int) {
	name := f.Desc.TextName()
	switch {
	case f.Code == layout.Block:
		b := v.block(i)
		for j := uint(0); j < uint(b.size.n) && !p.full(); j++ {
			p.name(name)
			p.out = append(p.out, '{')
			p.message(View(rowOf(b, j)), depth+1)
			p.out = append(p.out, '}')
		}
	case f.Inline:
		elems, n := mem.Ptr{}, 1
		if f.Desc.IsList() {
			elems, n = v.elements(i, uint(f.E))
		} else {
			elems = v.Inline(i).p
		}
		for j := 0; j < n && !p.full(); j++ {
			p.name(name)
			p.out = append(p.out, '{')
			p.inline(f.Child, Inline{elems.Add(uint(j) * uint(f.Child.Size))})
			p.out = append(p.out, '}')
		}
	case f.Desc.IsList() && f.E == 0:
		l := v.Blobs(i)
		for j := 0; j < l.Len() && !p.full(); j++ {
			p.name(name)
			p.quote(l.At(j))
		}
	case f.Desc.IsList():
		size := int(f.E)
		elems, n := v.elements(i, uint(size))
		for j := 0; j < n && !p.full(); j++ {
			p.name(name)
			p.number(f.Desc, loadNumber(elems.Bytes(uint(j*size), uint(size)), size), size)
		}
	case f.Code == layout.Blob:
		p.name(name)
		p.quote(v.Bytes(i))
	case f.Code == layout.Bool:
		p.name(name)
		p.number(f.Desc, Bit(v.Bool(i)), 1)
	default:
		size := f.Size()
		p.name(name)
		p.number(f.Desc, loadNumber(v.p.Bytes(uint(v.at.Slot(i).Off), uint(size)), size), size)
	}
}

func (p *printer) inline(m *layout.Message, v Inline) {
	if v.p.Nil() {
		return
	}
	for i := range m.Packed {
		f := &m.Packed[i]
		if f.Child != nil {
			p.name(f.Desc.TextName())
			p.out = append(p.out, '{')
			p.inline(f.Child, v.At(uint(f.Off)))
			p.out = append(p.out, '}')
			continue
		}
		if x := loadNumber(v.p.Bytes(uint(f.Off), uint(f.Size)), f.Size); x != 0 {
			p.name(f.Desc.TextName())
			p.number(f.Desc, x, f.Size)
		}
	}
}

// number prints a number that stands in size bytes.
func (p *printer) number(fd protoreflect.FieldDescriptor, x uint64, size int) {
	kind := fd.Kind()
	if !layout.Float(kind) {
		x = layout.Widen(kind, x, size, false)
	}
	switch kind {
	case protoreflect.BoolKind:
		p.out = strconv.AppendBool(p.out, x != 0)
	case protoreflect.EnumKind:
		n := protoreflect.EnumNumber(int32(uint32(x)))
		if e := fd.Enum().Values().ByNumber(n); e != nil {
			p.out = append(p.out, e.Name()...)
			return
		}
		p.out = strconv.AppendInt(p.out, int64(n), 10)
	case protoreflect.FloatKind:
		p.float(float64(math.Float32frombits(uint32(x))), 32)
	case protoreflect.DoubleKind:
		p.float(math.Float64frombits(x), 64)
	default:
		if !layout.Signed(kind) {
			p.out = strconv.AppendUint(p.out, x, 10)
			return
		}
		if layout.KindSize(kind) == 4 {
			x = uint64(int64(int32(uint32(x))))
		}
		p.out = strconv.AppendInt(p.out, int64(x), 10)
	}
}

func (p *printer) float(x float64, bits int) {
	switch {
	case math.IsNaN(x):
		p.out = append(p.out, "nan"...)
	case math.IsInf(x, 1):
		p.out = append(p.out, "inf"...)
	case math.IsInf(x, -1):
		p.out = append(p.out, "-inf"...)
	default:
		p.out = strconv.AppendFloat(p.out, x, 'g', -1, bits)
	}
}

// quote prints a string or bytes, as far as there is room.
func (p *printer) quote(b []byte) {
	if room := p.most - len(p.out); len(b) > room {
		b = b[:max(room, 0)]
	}
	p.out = strconv.AppendQuote(p.out, string(b))
}

// unknown prints protobuf bytes by number.
func (p *printer) unknown(b []byte) {
	// Of bytes that are no protobuf, as they may be if the frame has changed, what
	// comes before is printed.
	_ = eachField(b, func(num protowire.Number, typ protowire.Type, val []byte, _ int) error {
		if p.full() {
			return nil
		}
		p.name(strconv.Itoa(int(num)))
		switch typ {
		case protowire.BytesType:
			p.quote(payload(val))
		case protowire.StartGroupType:
			p.out = append(p.out, '{')
			group, _ := protowire.ConsumeGroup(num, val)
			p.unknown(group)
			p.out = append(p.out, '}')
		case protowire.Fixed32Type:
			p.out = append(p.out, "0x"...)
			p.out = strconv.AppendUint(p.out, uint64(le.Uint32(val)), 16)
		case protowire.Fixed64Type:
			p.out = append(p.out, "0x"...)
			p.out = strconv.AppendUint(p.out, le.Uint64(val), 16)
		default:
			x, _ := protowire.ConsumeVarint(val)
			p.out = strconv.AppendUint(p.out, x, 10)
		}
		return nil
	})
}
