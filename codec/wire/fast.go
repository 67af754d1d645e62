package wire

import (
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// Result says how an encoding by generated methods went.
type Result uint8

const (
	Done    Result = iota // the message is there
	Small                 // the buffer is too small
	Reflect               // something is to be found and reported by reflection
)

// Bound gives a message's layout, and its functions if it has some, generated or ours; and
// the message itself, which is another one where m embeds it.
func Bound(m proto.Message) (own proto.Message, t *Type, lm *layout.Message, init bool, err error) {
	t = typeOf(m)
	if t != nil && !t.methods.Load().own(m) {
		m = m.ProtoReflect().Interface()
		if t = typeOf(m); t != nil && !t.methods.Load().own(m) {
			t = nil
		}
	}
	if t != nil {
		i := t.info.Load()
		return m, t, i.Layout, i.needsInit, nil
	}
	lm, err = layout.Of(m.ProtoReflect().Descriptor())
	return m, nil, lm, true, err
}

var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// Encode writes the root block of m at position at of buf, by the functions of its type,
// and returns where it ends; if that is Small, how long buf has to be at least. It never
// writes past len(buf), but there have to be bytes behind it in its array.
func Encode(buf []byte, at int, t *Type, m proto.Message, o EncodeOptions) (int, Result) {
	e := encoders.Get().(*Encoder)
	e.begin(mem.Of(buf), uint(at+min(len(buf)-at, o.MaxSize)), o)
	put := t.methods.Load().put
	end := put(e, uint(at), m, true)
	if e.seen && !e.over && e.flags == 0 && !e.failed {
		e.state = state{careful: true}
		end = put(e, uint(at), m, true)
	}
	result := Done
	switch {
	case e.failed || e.seen || e.flags&mem.Invalid != 0 || e.Unstorable != 0 && !o.DiscardUnknown:
		result = Reflect
	case e.over || e.flags&mem.Over != 0:
		result = Small
		end = e.want
		if len(buf)-at >= o.MaxSize {
			result = Reflect // too large, which is to be reported
		}
	}
	e.out, e.strings, e.numbers = mem.Ptr{}, e.strings[:0], e.numbers[:0]
	encoders.Put(e)
	return int(end), result
}

var decoders = sync.Pool{New: func() any { return new(Decoder) }}

// Decode sets the fields of an empty message from a verified root block, by the functions
// of its type. The block must hold nothing that Verify said to convert.
func Decode(t *Type, m proto.Message, block []byte, o DecodeOptions) error {
	p, err := t.info.Load().Layout.PlanFor(block)
	if err != nil {
		return err
	}
	return DecodeRoot(t, m, p, block, o)
}

// DecodeRoot is Decode where the plan of the root's rows is known.
func DecodeRoot(t *Type, m proto.Message, p *layout.Plan, block []byte, o DecodeOptions) (err error) {
	d := decoders.Get().(*Decoder)
	defer d.end(&err)
	d.DecodeOptions, d.left = o, o.Budget
	d.depth, d.next = 1, 1
	d.root.open(p, 1, block[len(p.Rows.Shape):])
	t.methods.Load().get(d, &d.root, m)
	return nil
}

// end drops what must not be shared by messages, and gives the decoder back. It turns what
// was thrown back into an error.
func (d *Decoder) end(err *error) {
	thrown := recover()
	for _, s := range d.used {
		s.drop()
	}
	d.used, d.stack = d.used[:0], d.stack[:0]
	d.strs, d.lists, d.nextList, d.Resolver = ones[string]{}, mem.Lists{}, 0, nil
	d.root.p, d.root.tail = mem.Ptr{}, mem.Ptr{}
	decoders.Put(d)
	if thrown != nil {
		x, ok := thrown.(*fault.Error)
		if !ok {
			panic(thrown)
		}
		*err = x
	}
}
