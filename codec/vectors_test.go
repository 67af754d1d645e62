package codec_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/corpus/undertest"
)

func TestVectorsDynamic(t *testing.T) {
	if n := corpus.RunVectors(t, undertest.Codec(), corpus.Dynamic()); n < 139 {
		t.Errorf("ran %d vectors", n)
	}
}

func TestVectorsGenerated(t *testing.T) {
	if n := corpus.RunVectors(t, undertest.Codec(), corpus.Generated()); n < 90 {
		t.Errorf("ran %d vectors", n)
	}
}

// The format's options have to be read however a descriptor holds them.
func TestVectorsRebuiltDescriptors(t *testing.T) {
	for name, form := range map[string]corpus.Form{
		"generated options":   corpus.OptionsGenerated,
		"unknown options":     corpus.OptionsUnknown,
		"new dynamic options": corpus.OptionsNewDynamic,
	} {
		t.Run(name, func(t *testing.T) {
			sets := make(map[*corpus.Set]*corpus.Set)
			rebuilt := func(s *corpus.Set) *corpus.Set {
				if sets[s] == nil {
					r, err := s.Rebuild(form)
					if err != nil {
						t.Fatal(err)
					}
					sets[s] = r
				}
				return sets[s]
			}
			n := corpus.RunVectors(t, undertest.Codec(), corpus.Factory{
				New: func(_ string, set *corpus.Set, name protoreflect.FullName) proto.Message {
					return newMessage(t, rebuilt(set), name)
				},
				Resolver: func(set *corpus.Set) corpus.Resolver { return rebuilt(set).Types },
			})
			if n < 139 {
				t.Errorf("ran %d vectors", n)
			}
		})
	}
}

// A schema id depends on what a message type is and not on where it came from.
func TestSchemaID(t *testing.T) {
	for seed := range uint64(60) {
		set := compile(t, corpus.RandomSchema(seed, "rnd").Text())
		for _, md := range set.Messages() {
			id, err := codec.SchemaID(md)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if want := corpus.ID(md); id != want {
				t.Fatalf("seed %d: %s: id %#x, want %#x\n%s", seed, md.FullName(), id, want, corpus.SchemaText(md))
			}
		}
	}
}
