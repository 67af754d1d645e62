package codec_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/legacy"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
)

// sample is a message and its frame.
type sample struct {
	m     proto.Message
	frame []byte
}

// samples are messages that have a bit of everything in few bytes.
func samples(t testing.TB) []sample {
	t.Helper()
	bag := &open.Node2_Bag{Node: &open.Node2{}}
	proto.SetExtension(bag, open.E_BagRaw, []byte{1})
	all := []proto.Message{
		&scenarios.Transaction{
			Id: 1, Timestamp: -2, Reference: "INV", Currency: "EUR",
			Entries: []*scenarios.Entry{{Account: 5, Amount: -6}, {Account: 7, Memo: proto.String("hi")}},
		},
		&scenarios.Telemetry{Device: 1, Battery: 3, Humidity: proto.Float32(0)},
		&kitchen.Maps{F1: map[string]string{"a": "1", "b": ""}, F4: map[uint64]*kitchen.Scalars{7: {F14: "x"}}, F6: map[int64]bool{-1: true}},
		&kitchen.Mesh{Origin: &kitchen.Point{X: 1}, Triangles: []*kitchen.Triangle{{A: &kitchen.Point{}, B: &kitchen.Point{Y: 2}, C: &kitchen.Point{}, Lit: true}}},
		&kitchen.Repeateds{F1: []float64{1}, F13: []bool{true, false}, F14: []string{"", "é"}, F15: [][]byte{{}}, F18: []*kitchen.Empty{{}, {}}},
		&kitchen.Wide{F3: 1, Kids: []*kitchen.Wide{{F6: "a"}, {F13: 9}}},
		&legacy.Record{Key: proto.String("k"), Detail: &legacy.Record_Detail{Text: proto.String("t")}, Packed: []int32{1}},
		&open.Node2{Name: proto.String("n"), Bag: bag},
		&open.Tree3{Kids: []*open.Tree3{tree3("u")}, Pick: &open.Tree3_Leaf{Leaf: &open.Empty3{}}},
		&open.All3{
			FInline: &open.Box3{Low: &open.Vec3{X: 1}, High: &open.Vec3{}, Open: true, Small: -1}, NarrowInt32_16: -2, NarrowUint64_8: 3,
			MapToInline: map[string]*open.Vec3{"k": {}}, Kind: &open.All3_OneInline{OneInline: &open.Box3{Low: &open.Vec3{}, High: &open.Vec3{}}},
		},
		&open.Empty3{},
	}
	var list []sample
	for _, m := range all {
		list = append(list, sample{m, marshal(t, codec.Options{}, m)})
	}
	return list
}

func TestTruncatedAtEveryByte(t *testing.T) {
	for _, s := range samples(t) {
		for n := range s.frame {
			err := codec.Unmarshal(bytes.Clone(s.frame[:n:n]), empty(s.m))
			refused(t, err, codec.ErrIncomplete)
			var e *codec.Error
			errors.As(err, &e)
			if e.Need > len(s.frame) || n >= 20 && e.Need != len(s.frame) || e.Need <= n {
				t.Fatalf("%d of %d bytes: the error asks for %d", n, len(s.frame), e.Need)
			}
		}
	}
}

func TestTooManyBytes(t *testing.T) {
	for _, s := range samples(t) {
		for _, more := range []string{"\x00", "G", string(s.frame)} {
			refused(t, codec.Unmarshal(append(bytes.Clone(s.frame), more...), empty(s.m)), codec.ErrEnvelope)
		}
		refused(t, codec.Unmarshal(append([]byte{0}, s.frame...), empty(s.m)), codec.ErrMagic)
		// Inside of the envelope a byte too many is the message's fault, unless
		// it makes the last value longer.
		if lastIsFixed(s.m) {
			frame := append(bytes.Clone(s.frame[:len(s.frame)-4]), 0, 0, 0, 0, 0)
			refused(t, codec.Unmarshal(corpus.Reseal(frame), empty(s.m)), codec.ErrMalformed)
		}
	}
}

// lastIsFixed says whether no variable value ends the message.
func lastIsFixed(m proto.Message) bool {
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if fd := fields.Get(i); fd.IsList() || fd.IsMap() || fd.Message() != nil || fd.Kind() == protoreflect.StringKind || fd.Kind() == protoreflect.BytesKind {
			return false
		}
	}
	return true
}

func TestEveryBitFlipped(t *testing.T) {
	for _, s := range samples(t) {
		for i := range len(s.frame) * 8 {
			frame := bytes.Clone(s.frame)
			frame[i/8] ^= 1 << (i % 8)
			err := codec.Unmarshal(frame, empty(s.m))
			if err == nil {
				t.Fatalf("bit %d of %x", i, s.frame)
			}
			var want error
			switch at := i / 8; {
			case at < 4:
				want = codec.ErrMagic
			case at == 4:
				want = codec.ErrVersion
			case at == 5 && i%8 < 4, at == 6, at == 7:
				want = codec.ErrEnvelope
			case at >= 16 && at < 20:
				continue // too large, too short or too long
			default:
				want = codec.ErrChecksum
			}
			refused(t, err, want)
		}
	}
}

// steady demands of a frame that nobody vouches for: an error where the
// verifier written from the format's text has one, or a message that is encoded
// and decoded again without a difference.
func steady(t testing.TB, frame []byte, like proto.Message) {
	t.Helper()
	steadyIn(t, frame, like, protoregistry.GlobalTypes)
}

// steadyIn is steady with the extensions of a schema.
func steadyIn(t testing.TB, frame []byte, like proto.Message, r corpus.Resolver) {
	t.Helper()
	lent := bytes.Clone(frame)
	m := empty(like)
	o := codec.Options{AllowPartial: true, Budget: 64 << 20, Resolver: r}
	err := o.Unmarshal(lent[:len(lent):len(lent)], m)
	if !bytes.Equal(lent, frame) {
		t.Fatalf("Unmarshal changed the frame\n%x\n%x", frame, lent)
	}
	limited := errors.Is(err, codec.ErrBudget) || errors.Is(err, codec.ErrTooDeep)
	if fault := corpus.Verify(like.ProtoReflect().Descriptor(), frame, r); (fault != nil) != (err != nil) && !limited {
		t.Fatalf("%s: by the format's text: %v; Unmarshal: %v\n%x", like.ProtoReflect().Descriptor().FullName(), fault, err, frame)
	}
	if err != nil {
		var e *codec.Error
		if !errors.As(err, &e) || e.Kind == 0 {
			t.Fatalf("error %T without a kind: %v", err, err)
		}
		if e.Offset > len(frame) {
			t.Fatalf("offset %d in a frame of %d bytes: %v", e.Offset, len(frame), err)
		}
		return
	}
	out, err := o.Marshal(m)
	if err != nil {
		// A narrow value that this schema can't take, kept whole, or residue
		// that put unknown fields into an inline message.
		if errors.Is(err, codec.ErrRange) || errors.Is(err, codec.ErrUnstorable) || errors.Is(err, codec.ErrTooDeep) || errors.Is(err, codec.ErrUTF8) {
			return
		}
		t.Fatalf("decoded, but can't be encoded: %v\n%x", err, frame)
	}
	// The budget was for the frame that came: what is made of it may be longer.
	o.Budget = 0
	again := empty(like)
	if err := o.Unmarshal(out, again); err != nil {
		t.Fatalf("its own frame is refused: %v\n%x\n%x", err, frame, out)
	}
	if d := corpus.Diff(m, again); d != "" {
		t.Fatalf("changed by another frame\n%s\nfirst %x\nthen  %x", d, frame, out)
	}
	stable, err := o.Marshal(again)
	if err != nil {
		t.Fatalf("encoding once more: %v", err)
	}
	if !bytes.Equal(out, stable) {
		t.Fatalf("frames differ\nfirst %x\nthen  %x\nlast  %x", frame, out, stable)
	}
}

// With the checksum made right again, damage reaches the message.
func TestDamageBehindTheChecksum(t *testing.T) {
	for _, s := range samples(t) {
		for i := 20 * 8; i < (len(s.frame)-4)*8; i += stride(5) {
			frame := bytes.Clone(s.frame)
			frame[i/8] ^= 1 << (i % 8)
			steady(t, corpus.Reseal(frame), s.m)
		}
		for i := 20; i < len(s.frame)-4; i += stride(5) {
			for _, b := range []byte{0, 1, 0x7F, 0x80, 0xFF} {
				frame := bytes.Clone(s.frame)
				frame[i] = b
				steady(t, corpus.Reseal(frame), s.m)
			}
			cut := bytes.Clone(s.frame[:i+4])
			steady(t, corpus.Reseal(cut), s.m)
			without := append(bytes.Clone(s.frame[:i]), s.frame[i+1:]...)
			steady(t, corpus.Reseal(without), s.m)
			doubled := append(bytes.Clone(s.frame[:i+1]), s.frame[i:]...)
			steady(t, corpus.Reseal(doubled), s.m)
			if i+4 <= len(s.frame)-4 {
				for _, v := range []uint32{0xFFFF_FFFF, 0x8000_0000, 0x7FFF_FFFF, uint32(len(s.frame))} {
					frame := bytes.Clone(s.frame)
					binary.LittleEndian.PutUint32(frame[i:], v)
					steady(t, corpus.Reseal(frame), s.m)
				}
			}
		}
	}
}

// Damage to random messages of random schemas, read by the same and by another
// version of the schema.
func TestDamageToRandomFrames(t *testing.T) {
	seeds := uint64(tries(60))
	for seed := range seeds {
		model := corpus.RandomSchema(seed+5000, "rnd")
		_, changed, _ := corpus.Changed(seed+5000, "rnd", true)
		sets := []*corpus.Set{compile(t, model.Text()), compile(t, changed.Text())}
		for i, s := range sets {
			var err error
			if sets[i], err = s.Rebuild(corpus.OptionsGenerated); err != nil {
				t.Fatal(err)
			}
		}
		r := corpus.Rand(seed)
		for _, md := range sets[0].Messages() {
			m := newMessage(t, sets[0], md.FullName())
			v := corpus.Values{R: r, Extensions: sets[0].Extensions(), Unknown: true, Size: 3, Depth: 3}
			v.Fill(m)
			frame := marshal(t, codec.Options{Resolver: sets[0].Types}, m)
			if len(frame) > 3000 {
				continue
			}
			for range 40 {
				bad := damage(r, frame)
				for _, s := range sets {
					if _, err := s.Message(md.FullName()); err == nil {
						steadyIn(t, bad, newMessage(t, s, md.FullName()), s.Types)
					}
				}
			}
		}
	}
}

// damage returns a copy of a frame with a few changes to its message.
func damage(r *rand.Rand, frame []byte) []byte {
	b := bytes.Clone(frame[:len(frame)-4])
	for range r.IntN(3) {
		if len(b) == 20 {
			break
		}
		at := 20 + r.IntN(len(b)-20)
		switch r.IntN(6) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		case 2:
			b[at] += byte(r.IntN(3)) - 1
		case 3:
			b = append(b[:at], b[at+1:]...)
		case 4:
			b = append(b[:at+1], b[at:]...)
		case 5:
			n := copy(b[at:], b[20+r.IntN(len(b)-20):])
			b = b[:max(at+n, len(b)-r.IntN(2))]
		}
	}
	return corpus.Reseal(append(b, 0, 0, 0, 0))
}

// Inputs of every length from 0 to 64 bytes, in memory that ends with them.
func TestShortInputs(t *testing.T) {
	r := corpus.Rand(1)
	list := samples(t)
	for n := range 65 {
		for range tries(60) {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			steady(t, b, list[0].m)
			if n < 24 {
				continue
			}
			for _, s := range list {
				copy(b, s.frame[:20])
				if r.IntN(2) == 0 {
					copy(b, s.frame[:min(n*2/3, len(s.frame))])
				}
				steady(t, corpus.Reseal(b), s.m)
			}
		}
	}
}

// Every message of up to two bytes, for a few types.
func TestTinyMessages(t *testing.T) {
	for i, s := range samples(t) {
		id := binary.LittleEndian.Uint64(s.frame[8:])
		steady(t, corpus.Seal(id, nil), s.m)
		if i%4 > 0 || i > 0 && testing.Short() {
			continue // enough of this
		}
		for a := range 256 {
			steady(t, corpus.Seal(id, []byte{byte(a)}), s.m)
			for b := 0; b < 256; b += stride(5) {
				steady(t, corpus.Seal(id, []byte{byte(a), byte(b)}), s.m)
				steady(t, corpus.Seal(id, []byte{byte(a), byte(b), 0xFF}), s.m)
			}
		}
	}
}

// What is wrong with an envelope is told in a fixed order.
func TestOrderOfFaults(t *testing.T) {
	m := &scenarios.Telemetry{Device: 1}
	good := marshal(t, codec.Options{}, m)
	// Each step repairs the fault that has to be told first.
	bad := bytes.Clone(good)
	bad[0], bad[4], bad[5], bad[6] = 'X', 2, 1, 1
	binary.LittleEndian.PutUint32(bad[16:], 0x8000_0000)
	bad[8] ^= 1  // another version of the schema, the checksum is wrong
	bad[12] ^= 1 // another message type
	bad[20] = 0xFF
	steps := []struct {
		want   error
		repair func()
	}{
		{codec.ErrMagic, func() { bad[0] = 'G' }},
		{codec.ErrVersion, func() { bad[4] = 1 }},
		{codec.ErrEnvelope, func() { bad[5] = 0 }},
		{codec.ErrEnvelope, func() { bad[6] = 0 }},
		{codec.ErrTooLarge, func() { binary.LittleEndian.PutUint32(bad[16:], uint32(len(good))) }},
		{codec.ErrIncomplete, func() { binary.LittleEndian.PutUint32(bad[16:], uint32(len(good)-24-1)) }},
		{codec.ErrEnvelope, func() { binary.LittleEndian.PutUint32(bad[16:], uint32(len(good)-24)) }},
		{codec.ErrChecksum, func() { bad = corpus.Reseal(bad) }},
		{codec.ErrSchema, func() { bad[12] ^= 1; bad = corpus.Reseal(bad) }},
		{codec.ErrMalformed, func() { bad[20] = good[20]; bad = corpus.Reseal(bad) }},
	}
	for i, s := range steps {
		err := codec.Unmarshal(bad, new(scenarios.Telemetry))
		if err == nil || !errors.Is(err, s.want) {
			t.Fatalf("step %d: %v, want %v", i, err, s.want)
		}
		s.repair()
	}
	if err := codec.Unmarshal(bad, new(scenarios.Telemetry)); err != nil {
		t.Fatalf("all repaired: %v", err)
	}
	refused(t, codec.Options{StrictSchema: true}.Unmarshal(bad, new(scenarios.Telemetry)), codec.ErrSchema)
	if err := (codec.Options{StrictSchema: true}).Unmarshal(good, new(scenarios.Telemetry)); err != nil {
		t.Fatal(err)
	}
	// The magic is compared as far as there are bytes.
	for _, b := range []string{"X", "GX", "GRX", "GRVX", "GRV\x00"} {
		refused(t, codec.Unmarshal([]byte(b), new(scenarios.Telemetry)), codec.ErrMagic)
	}
	// Flags that a reader ignores, and those that it refuses.
	for bit := range 8 {
		f := bytes.Clone(good)
		f[5] = 1 << bit
		err := codec.Unmarshal(corpus.Reseal(f), new(scenarios.Telemetry))
		if bit < 4 {
			refused(t, err, codec.ErrEnvelope)
		} else if err != nil {
			t.Errorf("flag %d: %v", bit, err)
		}
	}
	refused(t, codec.Unmarshal(good, new(scenarios.Chunk)), codec.ErrSchema)
}

func TestMaxSize(t *testing.T) {
	m := &scenarios.Chunk{Payload: make([]byte, 1000)}
	frame := marshal(t, codec.Options{}, m)
	size := len(frame) - 24
	for limit, fits := range map[int]bool{size: true, size + 1: true, size - 1: false, 1: false} {
		o := codec.Options{MaxSize: limit}
		dst := []byte("kept")
		out, err := o.MarshalAppend(dst, m)
		if fits != (err == nil) {
			t.Errorf("limit %d: encoding %d bytes gives %v", limit, size, err)
		}
		if err != nil {
			refused(t, err, codec.ErrTooLarge)
			if string(out) != "kept" {
				t.Errorf("limit %d: MarshalAppend gave %q", limit, out)
			}
		}
		err = o.Unmarshal(frame, new(scenarios.Chunk))
		if fits != (err == nil) {
			t.Errorf("limit %d: decoding %d bytes gives %v", limit, size, err)
		}
		if err != nil {
			refused(t, err, codec.ErrTooLarge)
		}
	}
}

// A few bytes can stand for objects of a thousand bytes each; decoding stops
// at its budget.
func TestBudget(t *testing.T) {
	m := &open.Wide3{Kids: make([]*open.Wide3, 10_000)}
	frame := marshal(t, codec.Options{}, m)
	if len(frame) > 20_000 {
		t.Fatalf("10,000 empty elements take %d bytes", len(frame))
	}
	if err := codec.Unmarshal(frame, new(open.Wide3)); err != nil {
		t.Fatal(err)
	}
	refused(t, codec.Options{Budget: 100_000}.Unmarshal(frame, new(open.Wide3)), codec.ErrBudget)

	bytesOf := func(b int) proto.Message { return &scenarios.Chunk{Payload: make([]byte, b)} }
	o := codec.Options{Budget: 4096}
	for n, fits := range map[int]bool{100: true, 100_000: false} {
		err := o.Unmarshal(marshal(t, codec.Options{}, bytesOf(n)), new(scenarios.Chunk))
		if fits != (err == nil) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err != nil {
			refused(t, err, codec.ErrBudget)
		}
	}
	for name, m := range map[string]proto.Message{
		"strings": &open.All3{RepString: make([]string, 5000)},
		"bytes":   &open.All3{RepBytes: make([][]byte, 5000)},
		"numbers": &open.All3{RepInt64: make([]int64, 5000)},
		"inline":  &open.All3{RepInline: make([]*open.Box3, 5000)},
		"empties": &open.All3{RepEmpty: make([]*open.Empty3, 5000)},
		"map": &open.All3{MapToMessage: func() map[string]*open.Tree3 {
			mp := make(map[string]*open.Tree3)
			for i := range 3000 {
				mp[fmt.Sprint(i)] = nil
			}
			return mp
		}()},
	} {
		frame := marshal(t, codec.Options{}, m)
		refused(t, codec.Options{Budget: 4096}.Unmarshal(frame, new(open.All3)), codec.ErrBudget)
		if err := codec.Unmarshal(frame, new(open.All3)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Counts and ends that promise more than there is.
func TestHostileCounts(t *testing.T) {
	repeateds := binary.LittleEndian.Uint64(marshal(t, codec.Options{}, new(kitchen.Repeateds))[8:])
	node := binary.LittleEndian.Uint64(marshal(t, codec.Options{}, new(kitchen.Node))[8:])
	cases := []struct {
		name string
		id   uint64
		m    proto.Message
		hex  string
	}{
		// Shape of field 14 alone is three words: a run of two, then code 7 at
		// its fourth place.
		{"strings: a count of 2^32-1", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 ffffffff0f"},
		{"strings: a count of 0", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 00"},
		{"strings: a count and no ends", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 02"},
		{"strings: an end past the bytes", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 02 05000000 6161"},
		{"strings: ends that descend", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 03 02000000 01000000 6161"},
		{"strings: an end of 2^32-1", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 02 ffffffff 6161"},
		{"strings: ends whose sizes wrap", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 808080800c 6161"},
		{"strings: ends whose sizes wrap to nothing", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01 8180808004 6161"},
		{"strings: present and empty", repeateds, new(kitchen.Repeateds), "008002 000e 0000 01"},
		{"list: rows of one byte, 2^32-1 of them", repeateds, new(kitchen.Repeateds), "008003 8001 01 ffffffff0f 0000 00"},
		{"block: 2^31 rows of nothing", node, new(kitchen.Node), "000c 01 8080808008 0000 00"},
		{"block: no rows", node, new(kitchen.Node), "000c 01 00 0000"},
		{"block: nothing", node, new(kitchen.Node), "000c 01"},
		{"block: a count and no shape", node, new(kitchen.Node), "000c 01 01"},
		{"block: half a shape", node, new(kitchen.Node), "000c 01 01 00"},
		{"block: a shape and no row", node, new(kitchen.Node), "000c 01 01 0000"},
		{"root: half a shape", node, new(kitchen.Node), "00"},
		{"root: no end of shape", node, new(kitchen.Node), "05800580"},
		{"root: a run with no length", node, new(kitchen.Node), "0080"},
		{"root: a run of 2^32-1 words", node, new(kitchen.Node), "0080ffffffff0f0500"},
		{"root: a run that wraps 32 bits", node, new(kitchen.Node), "0080ffffffff0f 0080ffffffff0f 0500"},
		{"root: code 7 with no size", node, new(kitchen.Node), "0700"},
		{"root: a list of unknown element size", node, new(kitchen.Node), "070000"},
	}
	for _, c := range cases {
		err := codec.Unmarshal(corpus.Seal(c.id, unhex(t, c.hex)), c.m)
		if err == nil {
			t.Errorf("%s: accepted", c.name)
			continue
		}
		if !errors.Is(err, codec.ErrMalformed) && !errors.Is(err, codec.ErrIncompatible) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The shapes of TestHostileCounts with counts and ends that are right.
func TestHarmlessCounts(t *testing.T) {
	m := new(kitchen.Repeateds)
	id := binary.LittleEndian.Uint64(marshal(t, codec.Options{}, m)[8:])
	if err := codec.Unmarshal(corpus.Seal(id, unhex(t, "008002 000e 0000 01 03 01000000 01000000 6162")), m); err != nil {
		t.Fatal(err)
	}
	if len(m.F14) != 3 || m.F14[0] != "a" || m.F14[1] != "" || m.F14[2] != "b" {
		t.Errorf("strings %q", m.F14)
	}
	if err := codec.Unmarshal(corpus.Seal(id, unhex(t, "008003 8001 01 03 0000 000000")), m); err != nil {
		t.Fatal(err)
	}
	if len(m.F18) != 3 {
		t.Errorf("%d messages", len(m.F18))
	}
	node := new(kitchen.Node)
	id = binary.LittleEndian.Uint64(marshal(t, codec.Options{}, node)[8:])
	if err := codec.Unmarshal(corpus.Seal(id, unhex(t, "000c 01 02 0000 0000")), node); err != nil {
		t.Fatal(err)
	}
	if len(node.Children) != 2 {
		t.Errorf("%d children", len(node.Children))
	}
}

func TestHookAndCounters(t *testing.T) {
	var events []codec.Event
	var n codec.Counters
	o := codec.Options{Hook: func(e codec.Event) { events = append(events, e) }, Counters: &n}
	m := &scenarios.Telemetry{Device: 1, Timestamp: 2, Temperature: 3, Humidity: proto.Float32(1), Battery: 4}
	frame := marshal(t, o, m) // twice
	if err := o.Unmarshal(frame, new(scenarios.Telemetry)); err != nil {
		t.Fatal(err)
	}
	if err := o.Unmarshal(marshal(t, o, new(scenarios.Telemetry)), new(scenarios.Telemetry)); err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(frame)
	other[8] ^= 1
	if err := o.Unmarshal(corpus.Reseal(other), new(scenarios.Telemetry)); err != nil {
		t.Fatal(err)
	}
	if len(events) != 0 {
		t.Errorf("events without a failure: %v", events)
	}
	if n.Encoded.Load() != 4 || n.Native.Load() != 2 || n.OtherShape.Load() != 1 || n.OtherVersion.Load() != 1 || n.Refused.Load() != 0 {
		t.Errorf("encoded %d, native %d, other shape %d, other version %d, refused %d", n.Encoded.Load(), n.Native.Load(), n.OtherShape.Load(), n.OtherVersion.Load(), n.Refused.Load())
	}
	frame[len(frame)-1] ^= 1
	err := o.Unmarshal(frame, new(scenarios.Telemetry))
	if len(events) != 1 || n.Refused.Load() != 1 {
		t.Fatalf("%d events, %d refused", len(events), n.Refused.Load())
	}
	if e := events[0]; !e.Decoding || e.Message != "scenarios.Telemetry" || e.Frame != len(frame) || e.Err != err || !errors.Is(e.Err, codec.ErrChecksum) {
		t.Errorf("event %+v", e)
	}
	_, err = o.Marshal(&scenarios.Telemetry{Battery: 256})
	if len(events) != 2 || n.EncodeFailed.Load() != 1 {
		t.Fatalf("%d events, %d failed", len(events), n.EncodeFailed.Load())
	}
	if e := events[1]; e.Decoding || e.Message != "scenarios.Telemetry" || e.Err != err || !errors.Is(e.Err, codec.ErrRange) {
		t.Errorf("event %+v", e)
	}
	if _, err := o.Marshal(nil); err == nil || len(events) != 3 {
		t.Errorf("%d events", len(events))
	}
}
