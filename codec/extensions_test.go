package codec_test

import (
	"math"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
)

// node2 is a message with extensions, one of them a message with some.
func node2(name string, depth int) *open.Node2 {
	m := &open.Node2{Name: proto.String(name)}
	proto.SetExtension(m, open.E_NodeText, "text of "+name)
	proto.SetExtension(m, open.E_NodeNumbers, []uint64{0, 1, math.MaxUint64})
	proto.SetExtension(m, open.E_Scope2_Scope, &open.Scope2{N: proto.Int32(-1)})
	if depth > 0 {
		proto.SetExtension(m, open.E_NodeNode, node2(name+" in", depth-1))
	}
	return m
}

func TestExtensionsAtEveryDepth(t *testing.T) {
	m := node2("root", 3)
	m.Child = node2("child", 1)
	m.Kids = []*open.Node2{node2("kid", 0), {}, node2("other kid", 2)}
	m.ByName = map[string]*open.Node2{"": node2("map", 1), "k": node2("map too", 0)}
	m.Pick = &open.Node2_Left{Left: node2("oneof", 1)}
	m.Bag = &open.Node2_Bag{Node: node2("group", 1)}
	proto.SetExtension(m.Bag, open.E_BagRaw, []byte{})
	m.Kids[2].Bag = &open.Node2_Bag{}
	proto.SetExtension(m.Kids[2].Bag, open.E_BagRaw, []byte{0xFF})
	m.ProtoReflect().SetUnknown(unknownAt(999, "beside extensions"))
	frame, got := roundTrip(t, codec.Options{}, m)
	sameAsText(t, m, frame)
	in := proto.GetExtension(got.(*open.Node2).Kids[2], open.E_NodeNode).(*open.Node2)
	if text := proto.GetExtension(in, open.E_NodeText); text != "text of other kid in" {
		t.Errorf("extension of an extension: %q", text)
	}
}

func TestExtensionsOfEveryKind(t *testing.T) {
	m := new(open.All2)
	for _, seed := range []uint64{1, 2, 3, 4, 5, 6, 7, 8} {
		v := corpus.Values{R: corpus.Rand(seed), Extensions: extensionsOf()}
		filled := new(open.All2)
		v.Fill(filled.ProtoReflect())
		for _, xt := range extensionsOf() {
			if proto.HasExtension(filled, xt) {
				proto.SetExtension(m, xt, proto.GetExtension(filled, xt))
			}
		}
	}
	n := 0
	proto.RangeExtensions(m, func(protoreflect.ExtensionType, any) bool { n++; return true })
	if n < 30 {
		t.Fatalf("only %d extensions", n)
	}
	frame, _ := roundTrip(t, codec.Options{}, m)
	sameAsText(t, m, frame)
	if proto.GetExtension(new(open.All2), open.E_XDefault).(int32) != 41 {
		t.Error("default of an extension")
	}
}

// Extensions set to zero values are set.
func TestExtensionsSetToZero(t *testing.T) {
	m := new(open.All2)
	proto.SetExtension(m, open.E_XInt32, int32(0))
	proto.SetExtension(m, open.E_XString, "")
	proto.SetExtension(m, open.E_XBytes, []byte{})
	proto.SetExtension(m, open.E_XDouble, math.Copysign(0, -1))
	proto.SetExtension(m, open.E_XFloat, math.Float32frombits(0x7FC0_1234))
	proto.SetExtension(m, open.E_XDefault, int32(0))
	proto.SetExtension(m, open.E_XMessage, &open.Node2{})
	proto.SetExtension(m, open.E_Xgroup, &open.XGroup{})
	_, got := roundTrip(t, codec.Options{}, m)
	for _, xt := range []protoreflect.ExtensionType{open.E_XInt32, open.E_XString, open.E_XBytes, open.E_XDefault, open.E_XMessage, open.E_Xgroup} {
		if !proto.HasExtension(got, xt) {
			t.Errorf("%s came unset", xt.TypeDescriptor().FullName())
		}
	}
	// Empty lists are not set.
	empties := new(open.All2)
	proto.SetExtension(empties, open.E_XRepInt32, []int32{})
	if a, b := marshal(t, codec.Options{}, empties), marshal(t, codec.Options{}, new(open.All2)); string(a) != string(b) {
		t.Errorf("an empty list of an extension\n%x\n%x", a, b)
	}
}

// A peer that lacks the extensions keeps them as unknown fields and passes the
// same bytes on.
func TestExtensionsThroughPeerWithout(t *testing.T) {
	m := node2("root", 2)
	m.Kids = []*open.Node2{node2("kid", 1)}
	m.Bag = &open.Node2_Bag{}
	proto.SetExtension(m.Bag, open.E_BagRaw, []byte{1})
	without := codec.Options{Resolver: new(protoregistry.Types)}
	frame := marshal(t, codec.Options{}, m)
	peer := unmarshal(t, without, frame, m)
	if proto.HasExtension(peer, open.E_NodeText) {
		t.Fatal("the peer knows the extension")
	}
	if len(peer.ProtoReflect().GetUnknown()) == 0 {
		t.Fatal("the peer has lost the extension")
	}
	again := marshal(t, without, peer)
	if string(again) != string(frame) {
		t.Fatalf("the peer changed the frame\n%x\n%x", frame, again)
	}
	if d := corpus.Diff(m, unmarshal(t, codec.Options{}, again, m)); d != "" {
		t.Fatal(d)
	}
}

// What protobuf has parsed lazily encodes as if it had been parsed at once.
func TestExtensionsThatNobodyHasLookedAt(t *testing.T) {
	m := node2("root", 3)
	want := marshal(t, codec.Options{}, m)
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	lazy := new(open.Node2)
	if err := proto.Unmarshal(b, lazy); err != nil {
		t.Fatal(err)
	}
	if got := marshal(t, codec.Options{}, lazy); string(got) != string(want) {
		t.Errorf("frame\n%x\n%x", want, got)
	}
}

func TestExtensionsOfEditions(t *testing.T) {
	m := new(open.AllE23)
	proto.SetExtension(m, open.E_X23Text, "")
	proto.SetExtension(m, open.E_X23Numbers, []int64{1, -1})
	proto.SetExtension(m, open.E_X23Closed, open.ClosedE23(77))
	in := new(open.NodeE23)
	proto.SetExtension(in, open.E_X23Raw, []byte{})
	proto.SetExtension(m, open.E_X23Delimited, in)
	proto.SetExtension(m, open.E_X23Message, &open.NodeE23{Kids: []*open.NodeE23{in}})
	frame, _ := roundTrip(t, codec.Options{}, m)
	sameAsText(t, m, frame)

	o := new(opaque.AllE24)
	proto.SetExtension(o, opaque.E_X24Text, "t")
	proto.SetExtension(o, opaque.E_X24Delimited, new(opaque.NodeE24))
	roundTrip(t, codec.Options{}, o)
}
