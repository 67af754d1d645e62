package codec_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/viewtest"
	"github.com/graven-rpc/graven/codec/wire"
)

func viewType(name protoreflect.FullName) *viewtest.Type {
	for i := range viewTypes {
		if viewTypes[i].Name == name {
			return &viewTypes[i]
		}
	}
	return nil
}

// readBack demands that the view of a frame gives m through its getters, in every way in which
// a view can be read; what m has in unknown fields and extensions aside.
func readBack(t testing.TB, f viewtest.Frame, m proto.Message) {
	t.Helper()
	got := empty(m)
	viewtest.Rebuild(f.View(), got.ProtoReflect())
	want := copyOf(t, m)
	withoutResidue(want.ProtoReflect())
	asInline(want.ProtoReflect())
	viewtest.Quiet(want.ProtoReflect())
	if d := corpus.Diff(want, got); d != "" {
		t.Fatalf("through getters\n%s", d)
	}
	// The conversions.
	whole := empty(m)
	if v, ok := f.View().(interface{ As(proto.Message) error }); ok {
		if err := v.As(whole); err != nil {
			t.Fatal(err)
		}
	} else {
		whole = messageOf(t, f.View())
	}
	if d := corpus.Diff(m, whole); d != "" && !corpus.Inline(m.ProtoReflect().Descriptor()) {
		t.Fatalf("as a message\n%s", d)
	}
	_ = f.String()
	wantJSON, err := protojson.MarshalOptions{AllowPartial: true}.Marshal(whole)
	if err != nil {
		return // of strings that are not UTF-8 there is no JSON
	}
	js, err := f.View().(interface{ MarshalJSON() ([]byte, error) }).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if w, g := compact(t, wantJSON), compact(t, js); w != g {
		t.Fatalf("JSON\nwant %s\n got %s", w, g)
	}
}

// asInline sets what a root that is an inline message can't show as absent: the inline
// messages that it holds, in which a nil and a zero one are the same.
func asInline(m protoreflect.Message) {
	if !corpus.Inline(m.Descriptor()) {
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		if fd := m.Descriptor().Fields().Get(i); fd.Message() != nil {
			asInline(m.Mutable(fd).Message())
		}
	}
}

// withoutResidue removes what views do not show: unknown fields and extensions.
func withoutResidue(m protoreflect.Message) {
	m.SetUnknown(nil)
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsExtension():
			m.Clear(fd)
		case fd.IsMap() && fd.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				withoutResidue(v.Message())
				return true
			})
		case fd.Message() == nil || fd.IsMap():
		case fd.IsList():
			for i := range v.List().Len() {
				withoutResidue(v.List().Get(i).Message())
			}
		default:
			withoutResidue(v.Message())
		}
		return true
	})
}

func TestViewVectors(t *testing.T) {
	vectors, err := corpus.LoadVectors()
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	run := func(kind string, list []corpus.Vector) {
		for _, v := range list {
			typ := viewType(protoreflect.FullName(v.Message))
			if typ == nil {
				continue
			}
			ran++
			t.Run(kind+"/"+v.Name, func(t *testing.T) {
				m := typ.New()
				if err := protojson.Unmarshal(v.JSON, m); err != nil {
					t.Fatal(err)
				}
				f, err := typ.Open(v.Frame, codec.Options{})
				if err != nil {
					t.Fatal(err)
				}
				readBack(t, f, m)
				if b, err := f.Bytes(); err != nil || string(b) != string(v.Frame) {
					t.Fatalf("the frame is sent on as %x, %v", b, err)
				}
				if kind != "valid" {
					return
				}
				made, err := typ.Make(m)
				if err != nil {
					t.Fatal(err)
				}
				readBack(t, made, m)
				made.Release()
			})
		}
	}
	run("valid", vectors.Valid)
	run("lenient", vectors.Lenient)
	if ran < 40 {
		t.Errorf("ran %d vectors", ran)
	}
}

// dynamic is a view of a message type that is only known at run time: the two versions of the
// skew vectors' schemas have the same names, so that no program can have both as Go types.
type dynamic struct{ wire.View }

var dynamicType *wire.ViewType

func (dynamic) Γtype() *wire.ViewType     { return dynamicType }
func (dynamic) Γview(v wire.View) dynamic { return dynamic{v} }

// residueText is what a view prints of fields that the reader's version has not.
var residueText = regexp.MustCompile(` ?19001:"([^"\\]|\\.)*"`)

// Frames of another version give what the reader's version of the message has, through
// views by plan and as a message, and stay as they came.
func TestViewsOfSkewVectors(t *testing.T) {
	vectors, err := corpus.LoadVectors()
	if err != nil {
		t.Fatal(err)
	}
	inPlace, converted := 0, 0
	for _, v := range vectors.Skew {
		t.Run(v.Name, func(t *testing.T) {
			set, err := corpus.Schema(v.ReaderSchema)
			if err != nil {
				t.Fatal(err)
			}
			empty, err := set.New(protoreflect.FullName(v.Message))
			if err != nil {
				t.Fatal(err)
			}
			md := empty.ProtoReflect().Descriptor()
			dynamicType = &wire.ViewType{New: func() proto.Message { return dynamicpb.NewMessage(md) }}
			want := dynamicType.New()
			if err := protojson.Unmarshal(v.ReaderJSON, want); err != nil {
				t.Fatal(err)
			}
			own, err := codec.NewFrame[dynamic](want)
			if err != nil {
				t.Fatal(err)
			}

			f, err := codec.Open[dynamic](v.Frame)
			if err != nil {
				t.Fatal(err)
			}
			if f.Converted() {
				converted++
			} else {
				inPlace++
			}
			if got, want := residueText.ReplaceAllString(f.String(), ""), own.String(); got != want {
				t.Errorf("through views\nwant %s\n got %s", want, got)
			}
			js, err := wire.JSON(f.View(), dynamicType.New())
			if err != nil {
				t.Fatal(err)
			}
			got := dynamicType.New()
			if err := protojson.Unmarshal(js, got); err != nil || !proto.Equal(got, want) {
				t.Errorf("JSON %s, %v, want %v", js, err, want)
			}
			if b, err := f.Bytes(); err != nil || !bytes.Equal(b, v.Frame) {
				t.Errorf("the frame is sent on as %x, %v", b, err)
			}
		})
	}
	t.Logf("%d read in place, %d converted", inPlace, converted)
	if inPlace < 3 || inPlace+converted < 10 {
		t.Errorf("%d read in place, %d converted", inPlace, converted)
	}
}

// messageOf is what the Message method of a view gives.
func messageOf(t testing.TB, view any) proto.Message {
	t.Helper()
	out := reflect.ValueOf(view).MethodByName("Message").Call(nil)
	if err, _ := out[1].Interface().(error); err != nil {
		t.Fatal(err)
	}
	return out[0].Interface().(proto.Message)
}

// copyOf copies m by its bytes: proto.Clone loses -0.
func copyOf(t testing.TB, m proto.Message) proto.Message {
	t.Helper()
	b, err := corpus.Bytes(m)
	if err != nil {
		t.Fatal(err)
	}
	c := empty(m)
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(b, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// callMessage calls the Message method of a view, which may fail.
func callMessage(view any) { reflect.ValueOf(view).MethodByName("Message").Call(nil) }

// compact takes the spaces out of JSON, which protobuf puts in at random.
func compact(t testing.TB, js []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, js); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
