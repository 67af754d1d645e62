package gen

import (
	"fmt"
	"go/build"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/gofeaturespb"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

// manyFields are n fields of a kind, numbered from 1.
func manyFields(kind string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s f%d = %d;", kind, i+1, i+1))
	}
	return list
}

const goFeatures = `import "google/protobuf/go_features.proto"; `

// Messages of a size that somebody has reported to have broken a generator.
func TestLargeMessages(t *testing.T) {
	var mixed []string
	for i := range 281 {
		mixed = append(mixed, fmt.Sprintf("%s f%d = %d;", []string{"int32", "string", "bool", "M", "repeated int64", "map<string, bytes>", "double"}[i%7], i, i+1))
	}
	var arms []string
	for i, number := range []int{15, 16, 18_999, 20_000, 268_435_455, 536_683_137, 536_870_911} {
		arms = append(arms, fmt.Sprintf("sint64 far%d = %d;", i, number))
	}
	schema := func(api string) string {
		return fmt.Sprintf(`edition = "2023"; package p; %s option go_package = "example.com/%[2]s"; option features.(pb.go).api_level = API_%[2]s;
			message M { %s }
			message Bools { %s }
			message Arms { oneof o { %s } }
			message ManyOneofs { %s }
			message Far { %s repeated Far last = 536870910; }
			message Deep { message A { message A { message A { message A { Deep up = 1; } A a = 1; } A a = 1; } A a = 1; } A a = 1; }
			message Nothing {}`, goFeatures, api,
			strings.Join(mixed, " "), strings.Join(manyFields("bool", 130), " "), strings.Join(manyFields("M", 167), " "),
			oneofs(90), strings.Join(arms, " "))
	}
	for _, api := range []string{"OPEN", "HYBRID", "OPAQUE"} {
		mustCompile(t, both(t, request(t, "", map[string]string{"p.proto": schema(api)})))
	}
}

func oneofs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "oneof o%d { string s%d = %d; bool b%d = %d; }\n", i, i, 2*i+1, i, 2*i+2)
	}
	return b.String()
}

// featured uses what editions let a file, message or field choose.
const featured = `edition = "2023"; package p; import "google/protobuf/go_features.proto"; option go_package = "example.com/p";
	option features.enum_type = CLOSED;
	option features.message_encoding = DELIMITED;
	enum Closed { FIRST = 3; SECOND = -1; }
	enum Open { option features.enum_type = OPEN; ZERO = 0; }
	message Opened { option features.(pb.go).api_level = API_OPEN; %s }
	message Mixed { option features.(pb.go).api_level = API_HYBRID; %[1]s
		message Inner { option features.(pb.go).api_level = API_OPEN; %[1]s }
		message Inherits { %[1]s } }
	message Hidden { option features.(pb.go).api_level = API_OPAQUE; %[1]s
		message Inner { option features.(pb.go).api_level = API_HYBRID; %[1]s } }
	message Level { %[1]s }`

const featuredFields = `
	Closed closed = 1; Open open = 2; Closed closed_default = 3 [default = SECOND]; Open open_implicit = 4 [features.field_presence = IMPLICIT];
	string implicit = 5 [features.field_presence = IMPLICIT]; bytes bytes_default = 6 [default = "x"]; bool bool_default = 7 [default = true];
	Opened group = 8; Hidden plain = 9 [features.message_encoding = LENGTH_PREFIXED]; Level lazy = 10 [lazy = true, features.message_encoding = LENGTH_PREFIXED];
	repeated Mixed groups = 11; repeated Closed packed = 12; repeated Closed expanded = 13 [features.repeated_field_encoding = EXPANDED];
	map<int32, Opened> map = 14; string unchecked = 15 [features.utf8_validation = NONE]; int32 must = 16 [features.field_presence = LEGACY_REQUIRED];
	oneof o { Closed one_closed = 17; bool one_bool = 18 [default = true]; Hidden one_group = 19; string one_text = 20 [default = "d"]; }
	extensions 100 to 200;`

// The API level of the file and of each message, with and without the tag that
// makes hybrid files opaque.
func TestEditions(t *testing.T) {
	text := fmt.Sprintf(featured, featuredFields)
	for _, level := range []string{"API_OPEN", "API_HYBRID", "API_OPAQUE"} {
		for _, edition := range []int{2023, 2024} {
			req := request(t, "default_api_level="+level, map[string]string{"p.proto": text})
			if edition == 2024 {
				req = edition2024(req) // where the opaque API is what a message has without being asked
			}
			out := both(t, req)
			for _, tag := range []string{"", "protoopaque"} {
				t.Run(fmt.Sprint(level, edition, tag), func(t *testing.T) { mustCompile(t, out, tag) })
			}
			if _, two := out["example.com/p/p_protoopaque.graven.go"]; two != (out["example.com/p/p_protoopaque.pb.go"] != "") {
				t.Errorf("%s, %d: protoc-gen-go and we do not agree whether there are two forms", level, edition)
			}
		}
	}
}

// Values of enums that lose their enum's name, or have both names.
func TestEnumPrefixes(t *testing.T) {
	for _, strip := range []gofeaturespb.GoFeatures_StripEnumPrefix{
		gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_KEEP, gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_GENERATE_BOTH, gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_STRIP,
	} {
		req := edition2024(request(t, "", map[string]string{"p.proto": `edition = "2023"; package p; option go_package = "example.com/p"; option features.enum_type = CLOSED;
			enum Level { LEVEL_LOW = 5; LEVEL_HIGH = 1; NONE = 0; }
			message M { enum Kind { KIND_A = 1; B = 2; } Level level = 1; Kind kind = 2 [default = B]; repeated Level list = 3; }`}))
		for _, f := range req.ProtoFile {
			if f.GetName() == "p.proto" {
				f.Options.Features = &descriptorpb.FeatureSet{EnumType: descriptorpb.FeatureSet_CLOSED.Enum()}
				proto.SetExtension(f.Options.Features, gofeaturespb.E_Go, &gofeaturespb.GoFeatures{StripEnumPrefix: strip.Enum()})
			}
		}
		mustCompile(t, both(t, req))
	}
}

// beside demands that each file of methods stands beside the .pb.go file of its types, and
// views in a folder below.
func beside(t *testing.T, out output) {
	t.Helper()
	methods := 0
	for name := range out {
		base, ok := strings.CutSuffix(name, ".graven.go")
		if !ok {
			continue
		}
		if strings.HasSuffix(path.Dir(name), "graven") {
			base = path.Join(path.Dir(path.Dir(name)), path.Base(base))
		} else {
			methods++
		}
		if out[base+".pb.go"] == "" {
			t.Errorf("%s: there is no %s.pb.go", name, base)
		}
	}
	if methods == 0 {
		t.Error("no methods were generated")
	}
}

func keys(out output) string { return strings.Join(slices.Sorted(maps.Keys(out)), " ") }

// Go builds a file named x_arm.go for one architecture only, and so x_arm.pb.go and x_arm.graven.go:
// our files are built where protoc-gen-go's are, and a program that compiles without them
// compiles with them.
func TestFilesOfPlatforms(t *testing.T) {
	texts := map[string]string{}
	for i, name := range []string{"a_arm", "a_linux", "a_linux_arm64", "a_linux_test", "a_test", "linux", "arm_a", "_a", "a.arm", "a_arm.v1"} {
		texts[name+".proto"] = fmt.Sprintf(`edition = "2023"; package p; option go_package = "example.com/p"; import "google/protobuf/go_features.proto"; `+
			`option features.(pb.go).api_level = API_HYBRID; message M%d { int32 x = 1; }`, i)
	}
	out := both(t, request(t, "", texts))
	limited := 0
	for _, c := range []build.Context{{GOOS: "linux", GOARCH: "amd64"}, {GOOS: "linux", GOARCH: "arm64"}, {GOOS: "windows", GOARCH: "arm"}, {GOOS: "linux", GOARCH: "arm", BuildTags: []string{"protoopaque"}}} {
		c.Compiler = "gc"
		c.OpenFile = func(file string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(out[filepath.ToSlash(file)])), nil
		}
		built := func(file string) bool {
			t.Helper()
			ok, err := c.MatchFile(path.Split(file))
			if err != nil {
				t.Error(err)
			}
			return ok
		}
		for file := range out {
			base, ours := strings.CutSuffix(file, ".graven.go")
			if !ours || strings.HasSuffix(path.Dir(file), "graven") {
				continue
			}
			if !built(file) {
				limited++
			}
			if got, want := built(file), built(base+".pb.go"); got != want {
				t.Errorf("%s, %s: built: %v, and beside it %v", c.GOARCH, file, got, want)
			}
		}
	}
	if limited == 0 {
		t.Error("all are built everywhere: this tests nothing")
	}
}

// Options of protogen decide names as they do for protoc-gen-go.
func TestParameters(t *testing.T) {
	texts := map[string]string{
		"acme/a/v1/a.proto": `syntax = "proto3"; package acme.a.v1; option go_package = "example.com/acme/gen/a/v1;av1"; import "acme/b/b.proto"; message A { acme.b.B b = 1; }`,
		"acme/b/b.proto":    `syntax = "proto3"; package acme.b; option go_package = "example.com/acme/gen/b"; message B { string s = 1; }`,
	}
	for parameter, want := range map[string]string{
		"":                            "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/a/v1/av1graven/a.graven.go example.com/acme/gen/b/b.graven.go example.com/acme/gen/b/bgraven/b.graven.go",
		"paths=import":                "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/a/v1/av1graven/a.graven.go example.com/acme/gen/b/b.graven.go example.com/acme/gen/b/bgraven/b.graven.go",
		"paths=source_relative":       "acme/a/v1/a.graven.go acme/a/v1/av1graven/a.graven.go acme/b/b.graven.go acme/b/bgraven/b.graven.go",
		"module=example.com/acme":     "gen/a/v1/a.graven.go gen/a/v1/av1graven/a.graven.go gen/b/b.graven.go gen/b/bgraven/b.graven.go",
		"module=example.com/acme/gen": "a/v1/a.graven.go a/v1/av1graven/a.graven.go b/b.graven.go b/bgraven/b.graven.go",
		"Macme/b/b.proto=example.com/else/bb": "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/a/v1/av1graven/a.graven.go " +
			"example.com/else/bb/b.graven.go example.com/else/bb/bgraven/b.graven.go",
		"views=none":                                    "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/b/b.graven.go",
		"apilevelMacme/b/b.proto=API_OPEN":              "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/a/v1/av1graven/a.graven.go example.com/acme/gen/b/b.graven.go example.com/acme/gen/b/bgraven/b.graven.go",
		"apilevelMacme/b/b.proto=API_HYBRID,views=none": "example.com/acme/gen/a/v1/a.graven.go example.com/acme/gen/b/b.graven.go example.com/acme/gen/b/b_protoopaque.graven.go",
	} {
		t.Run(parameter, func(t *testing.T) {
			req := request(t, parameter, texts)
			out, err := generate(t, req)
			if err != nil {
				t.Fatal(err)
			}
			if got := keys(out); got != want {
				t.Errorf("files\n got %s\nwant %s", got, want)
			}
			all := both(t, req)
			beside(t, all)
			if !strings.Contains(parameter, "paths=source") && !strings.Contains(parameter, "module=") {
				mustCompile(t, all)
			}
		})
	}
	t.Run("opaque", func(t *testing.T) {
		out := both(t, request(t, "apilevelMacme/b/b.proto=API_OPAQUE", texts))
		if b := out["example.com/acme/gen/b/b.graven.go"]; !strings.Contains(b, "x.GetS()") {
			t.Error("apilevelM has no effect")
		}
		mustCompile(t, out)
	})
	t.Run("wrong", func(t *testing.T) {
		for _, parameter := range []string{"module=example.com/other", "nosuch=1", "paths=nowhere"} {
			if out, err := generate(t, request(t, parameter, texts)); err == nil {
				t.Errorf("%s: no error, %s", parameter, keys(out))
			}
		}
	})
}

// Files of several folders and packages, as users put them together.
func TestPackages(t *testing.T) {
	inline := ` message In { option (graven.message).inline = true; int32 v = 1; }`
	for name, texts := range map[string]map[string]string{
		"several packages in one Go package": {
			"a/a.proto": `syntax = "proto3"; package a; option go_package = "example.com/p"; import "b/b.proto"; import "graven/options.proto"; message A { b.B b = 1; repeated b.B list = 2; map<string, b.B> map = 3; b.In in = 4; repeated b.In ins = 5; }`,
			"b/b.proto": `syntax = "proto3"; package b; option go_package = "example.com/p"; import "graven/options.proto"; message B { int32 x = 1; }` + inline,
		},
		"one package in several Go packages": {
			"a.proto": `syntax = "proto3"; package p; option go_package = "example.com/p/a"; import "b.proto"; message A { B b = 1; repeated B list = 2; map<string, B> map = 3; In in = 4; repeated In ins = 5; oneof o { B ob = 6; In oin = 7; } }`,
			"b.proto": `syntax = "proto3"; package p; option go_package = "example.com/p/b"; import "graven/options.proto"; message B { int32 x = 1; }` + inline,
		},
		"Go packages of one name": {
			"a.proto": `syntax = "proto3"; package a; option go_package = "example.com/a/v1"; import "b.proto"; import "c.proto"; message M { b.M b = 1; c.M c = 2; M m = 3; repeated b.E e = 4; }`,
			"b.proto": `syntax = "proto3"; package b; option go_package = "example.com/b/v1"; message M { int32 x = 1; } enum E { Z = 0; }`,
			"c.proto": `syntax = "proto3"; package c; option go_package = "example.com/c/v1"; message M { int32 x = 1; }`,
		},
		"messages that hold each other across files": {
			"a.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; import "b.proto"; import "c.proto"; message A { B b = 1; C c = 2; }`,
			"b.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; import "c.proto"; message B { C c = 1; repeated B list = 2; } message D { E e = 1; }  message E { D d = 1; }`,
			"c.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; message C { map<string, C> map = 1; }`,
		},
		"names that differ in an underscore": {
			"a.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; message FooBar { int32 a = 1; } message Foo_Bar { int32 a = 1; } message Foo_bar_ { int32 a = 1; } message Foo___bar { FooBar a = 1; Foo_Bar b = 2; }`,
		},
		"files whose names differ in a sign": {
			"a-b.proto":   `syntax = "proto3"; package p1; option go_package = "example.com/p1"; message A { int32 a = 1; }`,
			"a.b.proto":   `syntax = "proto3"; package p2; option go_package = "example.com/p2"; message A { int32 a = 1; }`,
			"a b.proto":   `syntax = "proto3"; package p3; option go_package = "example.com/p3"; message A { int32 a = 1; }`,
			"1.proto":     `syntax = "proto3"; package p4; option go_package = "example.com/p4"; message A { int32 a = 1; }`,
			"x.graven":    `syntax = "proto3"; package p5; option go_package = "example.com/p5"; message A { int32 a = 1; }`,
			"go/go.proto": `syntax = "proto3"; package go; option go_package = "example.com/go/type"; message A { int32 a = 1; }`,
		},
		"imported in public": {
			"a.proto": `syntax = "proto3"; package a; option go_package = "example.com/a"; import "b.proto"; message A { c.C c = 1; repeated c.C list = 2; c.E e = 3; }`,
			"b.proto": `syntax = "proto3"; package b; option go_package = "example.com/b"; import public "c.proto"; message B { c.C c = 1; }`,
			"c.proto": `syntax = "proto3"; package c; option go_package = "example.com/c"; message C { int32 x = 1; } enum E { Z = 0; }`,
		},
		"packages of names that are ours": {
			"graven/a/options.proto": `syntax = "proto3"; package graven; option go_package = "example.com/graven"; message FieldOptions { uint32 width = 1; } message View { View graven = 1; }`,
			"wire.proto":             `syntax = "proto3"; package wire; option go_package = "example.com/wire"; message Encoder { Encoder e = 1; } message Type { int32 x = 1; }`,
			"proto.proto":            `syntax = "proto3"; package proto; option go_package = "example.com/proto"; import "wire.proto"; message Message { wire.Type t = 1; repeated wire.Encoder e = 2; }`,
		},
		"no package": {
			"a.proto": `syntax = "proto3"; option go_package = "example.com/p"; message A { A a = 1; }`,
		},
		"no messages": {
			"a.proto": `syntax = "proto3"; package a; option go_package = "example.com/p"; enum E { Z = 0; }`,
			"b.proto": `syntax = "proto2"; package b; option go_package = "example.com/p"; import "google/protobuf/descriptor.proto"; extend google.protobuf.FieldOptions { optional int32 x = 50000; }`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := both(t, request(t, "", texts))
			mustCompile(t, out)
			for file, text := range texts {
				if strings.Contains(text, "message ") && !slices.ContainsFunc(slices.Collect(maps.Values(out)), func(s string) bool {
					return strings.HasPrefix(s, "// Code generated by protoc-gen-graven. DO NOT EDIT.\n// source: "+file+"\n")
				}) {
					t.Errorf("nothing is generated for %s", file)
				}
			}
		})
	}
}

// Only our own options.proto gets no methods, wherever a user has put it.
func TestOwnOptions(t *testing.T) {
	out, err := generate(t, request(t, "", map[string]string{"proto/vendor/options.proto": gravenpb.Source}))
	if err != nil || len(out) != 0 {
		t.Errorf("%v, %s", err, keys(out))
	}
}

// buf's strategy directory runs the plugin for each folder by itself: what it writes is the
// same.
func TestStrategies(t *testing.T) {
	req := request(t, "", map[string]string{
		"a/a.proto": `syntax = "proto3"; package a; option go_package = "example.com/p"; import "b/b.proto"; import "c/c.proto"; message A { b.B b = 1; repeated c.C list = 2; }`,
		"b/b.proto": `syntax = "proto3"; package b; option go_package = "example.com/p"; message B { int32 x = 1; }`,
		"c/c.proto": `syntax = "proto3"; package c; option go_package = "example.com/c"; message C { int32 x = 1; }`,
	})
	all, err := generate(t, req)
	if err != nil {
		t.Fatal(err)
	}
	each := output{}
	for _, f := range req.FileToGenerate {
		one := request(t, "", map[string]string{})
		one.ProtoFile, one.FileToGenerate = req.ProtoFile, []string{f}
		out, err := generate(t, one)
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range out {
			if each[name] != "" {
				t.Errorf("%s is written by two runs", name)
			}
			each[name] = text
		}
	}
	if !maps.Equal(all, each) {
		t.Errorf("one run writes\n%s\na run for each folder\n%s", keys(all), keys(each))
	}
}

// Go leaves files out by their names. It does so with ours exactly where it does with
// protoc-gen-go's, so methods are never without types nor types without methods.
func TestFileNames(t *testing.T) {
	texts := map[string]string{}
	for i, base := range []string{"foo_linux", "foo_windows", "foo_test", "foo_windows_test", "foo_wasm", "foo_js_wasm", "foo_amd64", "foo_unix", "windows", "_foo", ".foo", "foo_protoopaque"} {
		texts[base+".proto"] = fmt.Sprintf(`edition = "2023"; package p%d; option go_package = "example.com/p"; message M%[1]d { int32 v = 1; }`, i)
	}
	for _, level := range []string{"API_OPEN", "API_HYBRID"} {
		out := both(t, request(t, "default_api_level="+level, texts))
		beside(t, out)
		for _, tag := range []string{"", "protoopaque"} {
			mustCompile(t, out, tag)
		}
		for _, goos := range []string{"linux", "windows", "js"} {
			c := build.Default
			c.GOOS, c.OpenFile = goos, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p")), nil }
			for name := range out {
				if base, ok := strings.CutSuffix(name, ".graven.go"); ok {
					ours, err := c.MatchFile(path.Split(name))
					if err != nil {
						t.Fatal(err)
					}
					if theirs, _ := c.MatchFile(path.Split(base + ".pb.go")); ours != theirs {
						t.Errorf("%s, %s: in the build: %v; .pb.go: %v", goos, name, ours, theirs)
					}
				}
			}
		}
	}
}

// The header is what tools look for, and the whole output stays the same from run to run.
func TestDeterministic(t *testing.T) {
	text := nameSchema("API_OPEN")
	var first output
	for range 3 {
		out, err := generate(t, request(t, "", map[string]string{"names.proto": text}))
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range out {
			if !strings.HasPrefix(text, "// Code generated by protoc-gen-graven. DO NOT EDIT.\n// source: names.proto\n") {
				t.Errorf("%s begins %.80q", name, text)
			}
		}
		if first == nil {
			first = out
		}
		if !maps.Equal(first, out) {
			t.Fatal("two runs differ")
		}
	}
}
