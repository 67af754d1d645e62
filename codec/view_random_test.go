package codec_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/viewtest"
)

// rounds is short, or long where the environment asks for the long runs.
func rounds(short, long int) int {
	if os.Getenv("GRAVEN_LONG") != "" {
		return long
	}
	if testing.Short() {
		return short/4 + 1
	}
	return short
}

// random fills an ordinary message of a type.
func random(r *rand.Rand, typ *viewtest.Type) proto.Message {
	v := corpus.Values{R: r, Extensions: viewExtensions, Unknown: true, Partial: true, InvalidUTF8: true, Depth: 4, Size: 30}
	m := typ.New()
	v.Fill(m.ProtoReflect())
	return m
}

var viewExtensions = extensionsOf()

// Views of random messages, of those that NewFrame makes and of those that came.
func TestViewsOfRandomMessages(t *testing.T) {
	for i := range viewTypes {
		typ := &viewTypes[i]
		r := rand.New(rand.NewPCG(uint64(i), 5))
		for range rounds(12, 500) {
			m := random(r, typ)
			o := codec.Options{AllowPartial: true}
			frame, err := o.Marshal(m)
			if err != nil {
				t.Fatalf("%s: %v", typ.Name, err)
			}
			f, err := typ.Open(frame, o)
			if err != nil {
				t.Fatalf("%s: %v", typ.Name, err)
			}
			if f.Converted() {
				t.Fatalf("%s: converted a frame of its own version", typ.Name)
			}
			readBack(t, f, m)
		}
	}
}

// otherVersion is the same message in the other version of the skew schema, nil if typ is of
// no version.
func otherVersion(typ *viewtest.Type) *viewtest.Type {
	name, ok := strings.CutPrefix(string(typ.Name), "skew.before.")
	if ok {
		return viewType(protoreflect.FullName("skew.after." + name))
	}
	if name, ok = strings.CutPrefix(string(typ.Name), "skew.after."); ok {
		return viewType(protoreflect.FullName("skew.before." + name))
	}
	return nil
}

// Views of frames of the other version of a schema give what decoding gives, in place where
// that is possible, and are refused where decoding is.
func TestViewsOfSkew(t *testing.T) {
	opened, converted, refusedOnes := 0, 0, 0
	for i := range viewTypes {
		typ := &viewTypes[i]
		writer := otherVersion(typ)
		if writer == nil {
			continue
		}
		r := rand.New(rand.NewPCG(uint64(i), 6))
		for range rounds(30, 3000) {
			m := random(r, writer)
			o := codec.Options{AllowPartial: true}
			b, err := o.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			frame := resealed(t, b, typ.New())
			want := typ.New()
			decodeErr := o.Unmarshal(frame, want)
			f, err := typ.Open(frame, o)
			if err != nil {
				if decodeErr == nil && codec.KindRange != err.(*codec.Error).Kind {
					t.Fatalf("%s: Open: %v, Unmarshal takes it\n%v", typ.Name, err, want)
				}
				refusedOnes++
				continue
			}
			if decodeErr != nil {
				t.Fatalf("%s: Open takes it, Unmarshal: %v", typ.Name, decodeErr)
			}
			opened++
			if f.Converted() {
				converted++
			}
			readBack(t, f, want)
			if b, err := f.Bytes(); err != nil || !bytes.Equal(b, frame) {
				t.Fatalf("%s: not the bytes that came", typ.Name)
			}
		}
	}
	t.Logf("%d opened, %d of them converted, %d refused", opened, converted, refusedOnes)
	if opened < 500 || converted < 50 || refusedOnes < 50 || converted > opened*3/4 {
		t.Errorf("%d opened, %d converted, %d refused: this tests little", opened, converted, refusedOnes)
	}
}
