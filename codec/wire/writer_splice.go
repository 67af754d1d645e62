package wire

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec/internal/fault"
	"github.com/graven-rpc/graven/codec/internal/mem"
	"github.com/graven-rpc/graven/codec/layout"
)

// A block is a plain range of bytes: what a view reads is spliced into a message as it
// stands, whatever its shape, without being decoded.

// Splice sets field i to the message of a view. A message that is absent stays so.
func (r RowWriter) Splice(i uint, v View) {
	f := r.field(i)
	if f == nil {
		return
	}
	if v.at == nil {
		r.absent(f)
		return
	}
	rows := v.at.Plan.Rows
	n := 1 + uint(len(rows.Shape)) + uint(rows.Stride) + uint(v.part.to-v.part.from)
	if !r.fits(f, v.at.Plan.Msg) || !r.begin(f, n) {
		return
	}
	w := r.b.w
	start := w.pos
	w.out.Put8(start, 1)
	room := w.out.Bytes(start+1, n-1)
	block := v.AppendRoot(room[:0])
	w.pos += 1 + uint(len(block))
	if r.deep(f, start) {
		r.end(f, start, true)
	}
}

// absent makes a variable field absent.
func (r RowWriter) absent(f *writeField) {
	if r.begin(f, 0) {
		r.end(f, r.b.w.pos, false)
	}
}

// fits reports whether messages of a type may stand in field f.
func (r RowWriter) fits(f *writeField, m *layout.Message) bool {
	if want := f.lay.Child; want != m && want.Name() != m.Name() {
		r.b.misuse(f, "a %s can't be spliced in for a %s", m.Name(), want.Name())
		return false
	}
	return true
}

// minLevel is the least number of bytes that a level of messages takes: count,
// shape and bits. Ends of the last rows are not stored.
const minLevel = 4

// deep makes sure that a block that was spliced in as the value of f is not nested too
// deep where it stands now.
func (r RowWriter) deep(f *writeField, start uint) bool {
	w := r.b.w
	n := w.pos - start
	if uint(w.depth)+n/minLevel+1 <= DefaultDepth {
		return true
	}
	v := verifier{msg: w.out.Bytes(start, n), maxDepth: DefaultDepth}
	if err := v.block(f.lay, 0, int(n), w.depth+1); err != nil {
		e := fault.Of(fault.KindOf(err), f.name(r.b.info), "what was spliced in")
		e.Err = err
		w.fail(e)
		return false
	}
	return true
}

// SpliceViews sets field i to a list of messages from another message.
func SpliceViews[V ~view](r RowWriter, i uint, l ViewList[V]) { r.spliceBlock(i, block(l)) }

// SpliceRowMap sets field i to a map from another message. The others do so for other maps.
func SpliceRowMap[K mapKey, V ~view](r RowWriter, i uint, m ViewMap[K, V]) {
	r.spliceBlock(i, block(m))
}

func SpliceValueMap[K mapKey, V bool | string | []byte](r RowWriter, i uint, m ValueMap[K, V]) {
	r.spliceBlock(i, block(m))
}

func SpliceNumberMap[K mapKey, V number](r RowWriter, i uint, m NumberMap[K, V]) {
	r.spliceBlock(i, block(m))
}

func SpliceInlineMap[K mapKey, V ~inline](r RowWriter, i uint, m InlineMap[K, V]) {
	r.spliceBlock(i, block(m))
}

func (r RowWriter) spliceBlock(i uint, b block) {
	f := r.field(i)
	if f == nil {
		return
	}
	if b.size.n == 0 {
		r.absent(f)
		return
	}
	plan := b.at.Plan
	fixed := uint(plan.Rows.Fixed(uint64(b.size.n)))
	shape := plan.Rows.Shape
	n := 5 + uint(len(shape)) + fixed + uint(b.size.tail)
	if !r.fits(f, plan.Msg) || !r.begin(f, n) {
		return
	}
	w := r.b.w
	start := w.pos
	at := w.putUvarint(start, b.size.n)
	at += uint(copy(w.out.Bytes(at, uint(len(shape))), shape))
	at += uint(copy(w.out.Bytes(at, fixed), b.p.Bytes(0, fixed)))
	at += uint(copy(w.out.Bytes(at, uint(b.size.tail)), b.tail.Bytes(0, uint(b.size.tail))))
	w.pos = at
	if r.deep(f, start) {
		r.end(f, start, true)
	}
}

// SpliceNumbers sets field i to a list from another message. The others do so for other
// lists.
func SpliceNumbers[T number](r RowWriter, i uint, l NumberList[T]) {
	r.spliceBytes(i, l.p, uint(l.n)*uint(mem.SizeOf[T]()))
}

func SpliceNarrow[T integer](r RowWriter, i uint, l NarrowList[T]) {
	if f := r.field(i); f == nil || l.n > 0 && uint(f.lay.Width) != l.width {
		if f != nil {
			r.b.misuse(f, "a list of integers of %d bits can't be spliced in for one of %d", l.width, f.lay.Width)
		}
		return
	}
	r.spliceBytes(i, l.p, uint(l.n)*(l.width/8))
}

func SpliceBools(r RowWriter, i uint, l BoolList) { r.spliceBytes(i, l.p, uint(l.n)) }

func SpliceInlines[V ~inline](r RowWriter, i uint, l InlineList[V]) {
	if f := r.field(i); f == nil || l.n > 0 && uint(f.lay.E) != l.size {
		if f != nil {
			r.b.misuse(f, "inline messages of %d bytes can't be spliced in for ones of %d", l.size, f.lay.E)
		}
		return
	}
	r.spliceBytes(i, l.p, uint(l.n)*l.size)
}

func (r RowWriter) spliceBytes(i uint, p mem.Ptr, n uint) {
	if n == 0 {
		putBlob(r, i, "", false)
		return
	}
	putBlob(r, i, p.Bytes(0, n), true)
}

// SpliceStrings and SpliceBlobs set field i to a list of strings or bytes.
func SpliceStrings(r RowWriter, i uint, l StringList) { r.spliceBlobs(i, blobs(l)) }

func SpliceBlobs(r RowWriter, i uint, l BlobList) { r.spliceBlobs(i, blobs(l)) }

func (r RowWriter) spliceBlobs(i uint, l blobs) {
	f := r.field(i)
	if f == nil {
		return
	}
	if l.size.n == 0 {
		r.absent(f)
		return
	}
	ends := 4 * uint(l.size.n-1)
	if !r.begin(f, 5+ends+uint(l.size.tail)) {
		return
	}
	w := r.b.w
	start := w.pos
	at := w.putUvarint(start, l.size.n)
	at += uint(copy(w.out.Bytes(at, ends), l.ends.Bytes(0, ends)))
	at += uint(copy(w.out.Bytes(at, uint(l.size.tail)), l.data.Bytes(0, uint(l.size.tail))))
	w.pos = at
	r.end(f, start, true)
}

// SpliceInline sets field i to the inline message of a view.
func (r RowWriter) SpliceInline(i uint, v Inline) {
	f := r.field(i)
	if f == nil {
		return
	}
	if v.p.Nil() {
		r.clear(f)
		return
	}
	stride := r.b.info.stride
	if p, ok := r.Inline(stride, uint(f.off), uint(f.bit)); ok {
		size := uint(f.lay.K)
		copy(p.p.Bytes(0, size), v.p.Bytes(0, size))
	}
}

// Encode sets field i to an ordinary message, of a package that has no writers. A nil
// message is absent. What is wrong with it is found when it is encoded by itself.
func (r RowWriter) Encode(i uint, m proto.Message) {
	f := r.field(i)
	if f == nil {
		return
	}
	if m == nil || !m.ProtoReflect().IsValid() {
		if f.lay.Inline {
			r.clear(f)
		} else {
			r.absent(f)
		}
		return
	}
	m, _, lm, init, err := Bound(m)
	if err == nil && init {
		err = proto.CheckInitialized(m)
	}
	switch {
	case err != nil:
		r.refuse(f, err)
	case !r.fits(f, lm):
	case f.lay.Inline:
		r.encodeInline(f, m)
	default:
		r.encode(f, m, func(e *Encoder, at uint) uint { return e.Message(at, m) })
	}
}

func (r RowWriter) refuse(f *writeField, err error) {
	if init, ok := err.(*fault.Error); ok {
		r.b.w.fail(init)
		return
	}
	r.b.w.fail(&fault.Error{Kind: fault.Required, Offset: -1, Field: f.name(r.b.info), Err: err})
}

// encoder is an Encoder that writes to the writer's buffer.
func (w *Writer) encoder(e *Encoder, careful bool) {
	e.begin(w.out, w.lim, EncodeOptions{MaxDepth: DefaultDepth, MaxSize: MaxMessage})
	e.depth, e.careful = w.depth, careful
	e.strings, e.numbers = e.strings[:0], e.numbers[:0]
}

// EncodeAll sets field i to a list of ordinary messages.
func EncodeAll[T any, M interface {
	*T
	proto.Message
}](r RowWriter, i uint, ms []M) {
	f := r.field(i)
	if f == nil {
		return
	}
	if len(ms) == 0 {
		r.absent(f)
		return
	}
	_, _, lm, init, err := Bound(ms[0])
	for j := 0; err == nil && init && j < len(ms); j++ {
		err = proto.CheckInitialized(ms[j])
	}
	switch {
	case err != nil:
		r.refuse(f, err)
	case r.fits(f, lm):
		r.encode(f, ms[0], func(e *Encoder, at uint) uint { return Messages(e, at, ms) })
	}
}

// encode writes messages, the first of which is m, by a call of put.
func (r RowWriter) encode(f *writeField, m proto.Message, put func(e *Encoder, at uint) uint) {
	w := r.b.w
	if !r.begin(f, 64) {
		return
	}
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	for careful := false; ; {
		w.encoder(e, careful)
		end := put(e, w.pos)
		e.out = mem.Ptr{}
		switch {
		case e.over || e.flags&mem.Over != 0:
			if !w.grow(w.lim - w.pos + 1) {
				return
			}
		case e.failed || e.flags != 0 || e.Unstorable != 0 || careful && e.seen:
			w.fail(r.why(f, m))
			return
		case e.seen:
			careful = true
		default:
			start := w.pos
			w.pos = end
			r.end(f, start, true)
			return
		}
	}
}

// why finds out what is wrong with a message by reflection.
func (r RowWriter) why(f *writeField, m proto.Message) error {
	lm := f.lay.Child
	_, err := AppendReflect(nil, lm, m.ProtoReflect(), EncodeOptions{MaxDepth: DefaultDepth - r.b.w.depth, MaxSize: MaxMessage})
	if err == nil {
		err = fault.Of(fault.Unstorable, f.name(r.b.info), "a message that can't be encoded; encoding it by itself tells why")
	}
	return err
}

func (r RowWriter) encodeInline(f *writeField, m proto.Message) {
	w := r.b.w
	p, _ := r.Inline(r.b.info.stride, uint(f.off), uint(f.bit))
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	w.encoder(e, false)
	e.out = p.p
	e.Pack(0, m, uint(f.lay.K))
	e.out = mem.Ptr{}
	if e.failed || e.Unstorable != 0 {
		w.fail(r.why(f, m))
	}
}

// Encode writes an ordinary message of size bytes at offset off of the inline message.
func (o InlineWriter) Encode(off uint, m proto.Message, size uint) {
	e := encoders.Get().(*Encoder)
	defer encoders.Put(e)
	o.w.encoder(e, false)
	e.out = o.p.Add(off)
	e.Pack(0, m, size)
	e.out = mem.Ptr{}
	if e.failed || e.Unstorable != 0 {
		o.w.fail(fault.Of(fault.Unstorable, m.ProtoReflect().Descriptor().FullName(),
			"a message that can't be stored inline; encoding it by itself tells why"))
	}
}
