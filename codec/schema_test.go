package codec_test

import (
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// Options that break the format's rules are errors that name what has them.
func TestBadSchemas(t *testing.T) {
	const inline = "option (graven.message).inline = true; "
	for name, c := range map[string]struct {
		text string // declarations
		at   string // name that the error has
	}{
		"width 7":              {"message M { uint32 f = 1 [(graven.field).width = 7]; }", "M.f"},
		"width 64":             {"message M { uint64 f = 1 [(graven.field).width = 64]; }", "M.f"},
		"width 32 of 32 bits":  {"message M { uint32 f = 1 [(graven.field).width = 32]; }", "M.f"},
		"width 32 of an enum":  {"enum E { E0 = 0; } message M { E f = 1 [(graven.field).width = 32]; }", "M.f"},
		"width of a float":     {"message M { float f = 1 [(graven.field).width = 16]; }", "M.f"},
		"width of a double":    {"message M { double f = 1 [(graven.field).width = 32]; }", "M.f"},
		"width of a bool":      {"message M { bool f = 1 [(graven.field).width = 8]; }", "M.f"},
		"width of a string":    {"message M { string f = 1 [(graven.field).width = 8]; }", "M.f"},
		"width of bytes":       {"message M { repeated bytes f = 1 [(graven.field).width = 8]; }", "M.f"},
		"width of a message":   {"message M { M f = 1 [(graven.field).width = 8]; }", "M.f"},
		"width of a map":       {"message M { map<int32, int32> f = 1 [(graven.field).width = 8]; }", "M.f"},
		"inline with a string": {"message M { I i = 1; } message I { " + inline + "string f = 1; }", "I"},
		"inline with a list":   {"message M { I i = 1; } message I { " + inline + "repeated int32 f = 1; }", "I"},
		"inline with a map":    {"message M { I i = 1; } message I { " + inline + "map<int32, int32> f = 1; }", "I"},
		"inline, optional":     {"message M { I i = 1; } message I { " + inline + "optional int32 f = 1; }", "I"},
		"inline with a oneof":  {"message M { I i = 1; } message I { " + inline + "oneof o { int32 f = 1; } }", "I"},
		"inline with others":   {"message M { I i = 1; } message I { " + inline + "M f = 1; }", "I"},
		"inline, recursive":    {"message M { I i = 1; } message I { " + inline + "int32 a = 1; I f = 2; }", "I"},
		"inline, in a circle":  {"message M { I i = 1; } message I { " + inline + "J f = 1; } message J { " + inline + "I f = 1; }", ""},
		"inline and empty":     {"message M { I i = 1; } message I { " + inline + "}", "I"},
		"inline of 256 bytes":  {"message M { I i = 1; } message I { " + inline + doubles32() + "}", "I"},
		"below":                {"message M { N n = 1; } message N { repeated O o = 1; } message O { bool f = 1 [(graven.field).width = 8]; }", "O.f"},
	} {
		set := compile(t, "syntax = \"proto3\";\npackage bad;\nimport \"graven/options.proto\";\n"+c.text)
		m := newMessage(t, set, "bad.M")
		_, err := codec.SchemaID(m.Descriptor())
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		refused(t, err, codec.ErrBadSchema)
		if !strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: the error does not name %s: %v", name, c.at, err)
		}
		_, err = codec.Marshal(m)
		refused(t, err, codec.ErrBadSchema)
		refused(t, codec.Unmarshal(corpus.Seal(0, []byte{0, 0, 0}), m), codec.ErrBadSchema)
	}
	for name, text := range map[string]string{
		"required":        "edition = \"2023\"; message I { " + inline + "int32 f = 1 [features.field_presence = LEGACY_REQUIRED]; } message M { I i = 1; }",
		"explicit":        "edition = \"2023\"; message I { " + inline + "int32 f = 1; } message M { I i = 1; }",
		"proto2":          "syntax = \"proto2\"; message I { " + inline + "optional int32 f = 1; } message M { optional I i = 1; }",
		"extension range": "edition = \"2023\"; message I { " + inline + "int32 f = 1 [features.field_presence = IMPLICIT]; extensions 10 to 20; } message M { I i = 1; }",
	} {
		head, rest, _ := strings.Cut(text, ";")
		set := compile(t, head+";\npackage bad;\nimport \"graven/options.proto\";\n"+rest)
		if _, err := codec.SchemaID(newMessage(t, set, "bad.M").Descriptor()); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			refused(t, err, codec.ErrBadSchema)
		}
	}
}

// doubles32 declares 32 fields of eight bytes, one byte more than an inline
// message may have.
func doubles32() string {
	var b strings.Builder
	for i := range 32 {
		b.WriteString("double f" + string(rune('a'+i%26)) + string(rune('a'+i/26)) + " = " + strconv.Itoa(i+1) + "; ")
	}
	return b.String()
}

// The largest and the smallest inline messages that there may be, at every
// place that one can stand.
func TestInlineSizes(t *testing.T) {
	for _, fields := range []string{"bool f = 1;", doubles32()[:strings.LastIndex(doubles32(), "double")] + "uint32 x = 40; uint32 y = 41 [(graven.field).width = 16]; bool z = 42;"} {
		set := compile(t, `syntax = "proto3"; package inl; import "graven/options.proto";
			message I { option (graven.message).inline = true; `+fields+` }
			message M { I a = 1; repeated I b = 2; map<int32, I> c = 3; oneof o { I d = 4; string e = 5; } optional I f = 6; }`)
		for seed := range uint64(40) {
			for _, name := range []string{"inl.M", "inl.I"} {
				m := newMessage(t, set, protoreflect.FullName(name))
				v := corpus.Values{R: corpus.Rand(seed), Unknown: true}
				v.Fill(m)
				frame, _ := roundTrip(t, codec.Options{}, m)
				sameAsText(t, m, frame)
			}
		}
	}
}
