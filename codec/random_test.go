package codec_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/hybrid"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
)

// Random messages of random schemas: the frame that the format's text gives,
// and through a frame nothing that protobuf would carry is lost.
func TestRandomSchemas(t *testing.T) {
	seeds := uint64(tries(120))
	for seed := range seeds {
		text := corpus.RandomSchema(seed, "rnd").Text()
		set := compile(t, text)
		if seed%2 == 1 {
			// Descriptors of protobuf-go's own in place of the compiler's.
			var err error
			if set, err = set.Rebuild(corpus.OptionsGenerated); err != nil {
				t.Fatal(err)
			}
		}
		o := codec.Options{Resolver: set.Types}
		for i, md := range set.Messages() {
			for j := range 4 {
				m := newMessage(t, set, md.FullName())
				v := corpus.Values{
					R:           corpus.Rand(seed<<16 + uint64(i)<<8 + uint64(j)),
					Extensions:  set.Extensions(),
					Unknown:     j%2 == 0,
					InvalidUTF8: j == 3,
				}
				v.Fill(m)
				frame, _ := roundTrip(t, o, m)
				sameAsText(t, m, frame)
				if t.Failed() {
					t.Fatalf("seed %d, %s\n%s", seed, md.FullName(), text)
				}
			}
		}
	}
}

// generatedMessages are types of every syntax and API level.
func generatedMessages() []proto.Message {
	return []proto.Message{
		new(open.All2), new(open.All3), new(open.AllE23), new(open.AllE24),
		new(open.Node2), new(open.Tree3), new(open.Wide3), new(open.Box3), new(open.Required2),
		new(open.NodeE23), new(open.RequiredE24),
		new(hybrid.All2), new(hybrid.All3), new(hybrid.AllE23), new(hybrid.AllE24),
		new(hybrid.Node2), new(hybrid.Tree3), new(hybrid.Wide3), new(hybrid.Required2),
		new(opaque.All2), new(opaque.All3), new(opaque.AllE23), new(opaque.AllE24),
		new(opaque.Node2), new(opaque.Tree3), new(opaque.Wide3), new(opaque.Box3), new(opaque.Required2),
		new(opaque.NodeE24), new(opaque.RequiredE23),
	}
}

func TestRandomGenerated(t *testing.T) {
	for i, like := range generatedMessages() {
		name := like.ProtoReflect().Descriptor().FullName()
		t.Run(string(name), func(t *testing.T) {
			for seed := range tries(40) {
				m := empty(like)
				v := corpus.Values{
					R:           corpus.Rand(uint64(i)<<16 + uint64(seed)),
					Extensions:  extensionsOf(),
					Unknown:     seed%2 == 0,
					InvalidUTF8: seed%3 == 0,
				}
				v.Fill(m.ProtoReflect())
				frame, _ := roundTrip(t, codec.Options{}, m)
				sameAsText(t, m, frame)
			}
		})
	}
}

// All fields are set but one: the full shape, and nothing behind the bit of the
// field that is not set, whatever its getter returns.
func TestAllButOne(t *testing.T) {
	for i, like := range generatedMessages() {
		md := like.ProtoReflect().Descriptor()
		t.Run(string(md.FullName()), func(t *testing.T) {
			m := empty(like)
			v := corpus.Values{R: corpus.Rand(uint64(i)), All: true, Size: 40, Depth: 3}
			v.Fill(m.ProtoReflect())
			frame, _ := roundTrip(t, codec.Options{}, m)
			sameAsText(t, m, frame)
			for j := 0; j < md.Fields().Len(); j += stride(5) {
				fd := md.Fields().Get(j)
				other := proto.Clone(m)
				if other.ProtoReflect().Has(fd) {
					other.ProtoReflect().Clear(fd)
				} else { // another member of its oneof
					v.Set(other.ProtoReflect(), fd)
				}
				frame, _ := roundTrip(t, codec.Options{AllowPartial: true}, other)
				sameAsText(t, other, frame)
			}
		})
	}
}

// The frames of one message are the same, whichever Go type holds it.
func TestRandomAcrossTypes(t *testing.T) {
	pairs := generatedMessages()
	for i, like := range pairs {
		md := like.ProtoReflect().Descriptor()
		for seed := range tries(10) {
			m := empty(like)
			v := corpus.Values{R: corpus.Rand(uint64(i)<<16 + uint64(seed) + 1000), Extensions: extensionsOf(), Unknown: true}
			v.Fill(m.ProtoReflect())
			frame := marshal(t, codec.Options{}, m)

			dynamic := newDynamic(md)
			if err := codec.Unmarshal(frame, dynamic); err != nil {
				t.Fatalf("%s: %v", md.FullName(), err)
			}
			if d := sameBytes(t, m, dynamic); d != "" {
				t.Fatalf("%s: generated and dynamic differ\n%s", md.FullName(), d)
			}
			if again := marshal(t, codec.Options{}, dynamic); string(again) != string(frame) {
				t.Fatalf("%s: dynamic frame\n%x\n%x", md.FullName(), frame, again)
			}
		}
	}
}

// Zero messages, of every type there is here.
func TestZeroMessages(t *testing.T) {
	for _, m := range generatedMessages() {
		o := codec.Options{AllowPartial: true}
		frame, _ := roundTrip(t, o, m)
		sameAsText(t, m, frame)
		want := 24 + 3 // shape and bits, if the full shape is not short enough to be kept
		if len(frame) > want+8 {
			t.Errorf("%s: an empty message takes %d bytes", m.ProtoReflect().Descriptor().FullName(), len(frame))
		}
	}
}
