package codec_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// hop is a peer that decodes what it gets and encodes it again, in Graven or in protobuf.
type hop struct {
	newest           bool // has the new version
	protoIn, protOut bool
}

// A message of the new version through other peers, back to a new one.
func TestSkewHops(t *testing.T) {
	old, newer := hop{}, hop{newest: true}
	oldProtobuf := hop{protoIn: true, protOut: true}
	const (
		added = `{"a":"new","b":"x","c":true,"d":-7,"e":1.5}`
		known = `{"b":"x","d":-7}` // what the old version has of it
	)
	for _, c := range []struct {
		what string
		hops []hop
		want string
	}{
		{"an old peer", []hop{old}, added},
		{"two old peers", []hop{old, old}, added},
		{"an old and a new peer", []hop{old, newer}, added},
		{"protobuf between old peers", []hop{{protOut: true}, oldProtobuf, {protoIn: true}}, added},
		{"protobuf behind the writer", []hop{oldProtobuf}, added},
		{"protobuf behind the writer, then an old peer", []hop{{newest: true, protOut: true}, {protoIn: true}}, added},
		// The new peer is reached in protobuf: what the old one kept is one opaque
		// field there, and is left out further on.
		{"an old peer, read as protobuf", []hop{{protOut: true}}, known},
		{"an old peer, a new one by protobuf", []hop{{protOut: true}, {newest: true, protoIn: true}}, known},
		{"and then an old one again", []hop{{protOut: true}, {newest: true, protoIn: true}, old}, known},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, depth := range depths {
				for _, path := range skewPaths {
					build := func(json string) proto.Message {
						return depth.build(skewFiles[true], path, parsed(t, path.of(skewFiles[true], "Added"), json), true)
					}
					var m proto.Message = build(added)
					protobuf := c.hops[0].protoIn
					pass := func(newest, protobuf bool) {
						next := path.of(skewFiles[newest], string(m.ProtoReflect().Descriptor().Name()))
						if protobuf {
							if err := proto.Unmarshal(protoBytes(t, m), next); err != nil {
								t.Fatal(err)
							}
						} else if err := codec.Unmarshal(resealed(t, marshal(t, codec.Options{}, m), next), next); err != nil {
							t.Fatal(err)
						}
						m = next
					}
					for _, h := range c.hops {
						pass(h.newest, protobuf)
						protobuf = h.protOut
					}
					pass(true, protobuf)
					if want, got := asJSON(t, build(c.want)), asJSON(t, m); got != want {
						t.Errorf("%s, %s\nwant %s\n got %s", depth.name, path.name, want, got)
					}
					if c.want == added {
						if d := corpus.Diff(build(added), m); d != "" {
							t.Errorf("%s, %s: %s", depth.name, path.name, d)
						}
					}
				}
			}
		})
	}
}
