package gen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/gofeaturespb"
)

// tempting are names that generated code uses, that Go keeps for itself, or that one of the
// plugins gives to something else.
func tempting() []string {
	names := []string{
		// Methods of messages, and what protobuf-go keeps in them.
		"Reset", "String", "ProtoMessage", "ProtoReflect", "Descriptor", "Marshal", "Unmarshal", "MarshalJSON", "UnmarshalJSON", "MarshalText",
		"ExtensionRangeArray", "ExtensionMap", "Size", "Clone", "Equal", "Merge", "Validate", "Build", "Builder", "Interface", "New", "Type", "Range",
		"state", "sizeCache", "unknownFields", "extensionFields", "weakFields", "XXX_unrecognized", "XXX_NoUnkeyedLiteral", "XXX_presence", "xxx_hidden_state",
		"Error", "Is", "As", "Unwrap", "Format", "GoString", "Scan", "Write", "Read", "Close", "Len", "Less", "Swap", "Key", "Value",
		// Views, frames and writers.
		"View", "Message", "LogValue", "Gtype", "Gview", "Frame", "Edit", "Writer", "Release", "Which", "Has", "Get", "Set", "Clear", "At", "All", "AppendTo",
		"Untyped", "Inline", "ViewType", "ViewList", "Table", "Finish", "Grow", "Add", "Put", "Append", "Begin", "End",
		// What this generator declares.
		"graven", "gravenType", "gravenPut", "gravenPut1", "gravenGet", "gravenGet1", "gravenBits", "gravenPack", "gravenUnpack", "gravenZero",
		"gravenOne", "gravenList", "gravenKey", "gravenMap", "gravenKnown", "gravenalias0", "bind", "typeOf", "init", "main",
		// Packages that generated code imports, and their like.
		"proto", "wire", "math", "protoreflect", "protoimpl", "sync", "reflect", "unsafe", "slog", "fmt", "context", "codec", "io", "iter", "bytes",
		"strings", "errors", "grpc", "connect", "http", "timestamppb", "durationpb", "anypb", "emptypb", "structpb", "wrapperspb",
		// Underscores and digits.
		"_", "__", "_x", "x_", "_x_", "a__b", "a_1", "a1", "_1", "A", "a", "aB", "a_b", "a_B", "X", "X_", "X_x", "x_X", "XX", "not_set", "not_set_case", "case_", "o_not_set",
		"builder", "name_", "value_", "default_", "enum_name", "is_o", "isM_o", "file_names_proto", "File_names_proto", "File_names_proto_rawDesc",
		"E_x", "Default_x", "Foo_builder", "Foo_case", "Foo_name", "Foo_value",
		"message", "enum", "oneof", "repeated", "optional", "required", "group", "extend", "extensions", "reserved", "syntax", "edition", "option", "rpc", "stream",
		"service", "returns", "to", "max", "inf", "nan", "bool", "double", "float", "string", "bytes", "fixed32", "sint64",
		"ID", "Id", "URL", "get_x", "set_x", "has_x", "clear_x", "which_x", "get", "set", "has", "clear", "which", "getGet", "GetGet", "get_get",
		"O_o", "KaTeX", "i18n", "l10n", "SHA_256", "x86_64", "xn__p1ai", strings.Repeat("long", 60),
	}
	for l := range locals {
		names = append(names, l)
	}
	names = append(names, "slab1", "slab", "f", "fs", "g", "h", "j", "l", "q", "y", "z", "err", "buf", "dst", "src", "size", "off", "want", "got")
	for tok := token.BREAK; tok <= token.VAR; tok++ {
		names = append(names, tok.String())
	}
	names = append(names, types.Universe.Names()...)
	for _, n := range names {
		names = append(names, strings.ToUpper(n[:1])+n[1:])
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if testing.Short() {
		some := names[:0]
		for i := 0; i < len(names); i += 4 {
			some = append(some, names[i])
		}
		names = some
	}
	return names
}

// camel is a name's key among those that protogen makes one, in a scope.
func camel(n string) string {
	if strings.HasPrefix(n, "_") {
		n = "X" + n[1:]
	}
	return strings.ToLower(strings.ReplaceAll(n, "_", ""))
}

// batches puts names that Go or JSON would make one, or nearly, into different batches.
func batches(names []string) [][]string {
	var all []map[string]string
	for _, n := range names {
		i := slices.IndexFunc(all, func(b map[string]string) bool { return b[camel(n)] == "" })
		if i < 0 {
			i, all = len(all), append(all, map[string]string{})
		}
		all[i][camel(n)] = n
	}
	var out [][]string
	for _, b := range all {
		var list []string
		for _, n := range names {
			if b[camel(n)] == n {
				list = append(list, n)
			}
		}
		out = append(out, list)
	}
	return out
}

// kinds are what the fields of tempting names are in turn.
var kinds = []string{
	"int32 %s = %d;", "string %s = %d;", "repeated M %s = %d;", "map<string, M> %s = %d;", "bool %s = %d [features.field_presence = IMPLICIT];",
	"bytes %s = %d;", "E %s = %d;", "M %s = %d;", "I %s = %d;", "repeated I %s = %d;", "map<int32, I> %s = %d;", "repeated float %s = %d;",
	"repeated string %s = %d;", "M %s = %d [features.message_encoding = DELIMITED];", "uint64 %s = %d [(graven.field).width = 8];",
	"int64 %s = %d [default = 5];", "map<bool, E> %s = %d;", "double %s = %d [features.field_presence = IMPLICIT];",
}

var plain = []string{
	"int32 %s = %d;", "string %s = %d;", "bool %s = %d;", "bytes %s = %d;", "E %s = %d;", "uint64 %s = %d [(graven.field).width = 8];", "I %s = %d;",
	"sint64 %s = %d [features.field_presence = IMPLICIT];", "float %s = %d;", "double %s = %d [features.field_presence = IMPLICIT];",
	"bool %s = %d [features.field_presence = IMPLICIT];", "string %s = %d [features.field_presence = IMPLICIT];", "bytes %s = %d [features.field_presence = IMPLICIT];",
}

// impossible are field names that protobuf-go has no room for.
func impossible(name, api string) bool {
	switch name {
	case "proto_reflect", "ProtoReflect":
		return api != "API_OPAQUE"
	}
	return false
}

// nameSchema has every name as a field, oneof, member of a oneof, nested enum and type.
func nameSchema(api string) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p(`edition = "2023"; package names; import "graven/options.proto"; import "google/protobuf/go_features.proto";`)
	p(`option go_package = "example.com/%s"; option features.(pb.go).api_level = %s;`, strings.ToLower(api), api)
	p("enum E { E_ZERO = 0; }  message M { int32 v = 1; }")
	p("message I { option (graven.message).inline = true; int32 v = 1 [features.field_presence = IMPLICIT]; }")
	p("message Cases { int32 foo = 1; int32 FOO = 2; int32 Foo_ = 3; string id = 4; string ID = 5; bool aB = 6; bool AB = 7; bytes r = 8; bytes R = 9; E v1 = 10; E V1 = 11; }")
	for i, batch := range batches(tempting()) {
		batch = slices.DeleteFunc(batch, func(n string) bool { return impossible(n, api) })
		p("message Fields%d {", i)
		for j, n := range batch {
			kind := kinds[(i+j)%len(kinds)]
			if n == "_1" {
				kind = kinds[0] // a map's entry would be 1Entry
			}
			p(kind, n, j+1)
		}
		p("}")
		// Messages of few plain fields have a writer that takes all at once.
		for k, some := range slices.Collect(slices.Chunk(batch, 12)) {
			p("message Few%d_%d {", i, k)
			for j, n := range some {
				p(plain[(i+j+k)%len(plain)], n, j+1)
			}
			p("}")
		}
		p("message Members%d {\noneof choice {", i)
		for j, n := range batch {
			p([]string{"int32 %s = %d;", "M %s = %d;", "string %s = %d;", "bool %s = %d;", "I %s = %d;"}[(i+j)%5], n, j+1)
		}
		p("}\n}\nmessage Oneofs%d {", i)
		for j, n := range batch {
			if len(n) > 3 && strings.EqualFold(n[:3], "get") {
				p("}\nmessage Getter%d_%d {", i, j) // beside another oneof there may be no room for it
				p("oneof %s { int32 member = 1; }\n}\nmessage More%d_%d {", n, i, j)
				continue
			}
			p("oneof %s { int32 member_%d = %d; }", n, j, j+1)
		}
		p("}\nmessage Nested%d {", i)
		for j, n := range batch {
			if n != "_" && n != "__" {
				p("enum %s { VALUE_%d = 0; } .names.Nested%d.%[1]s of_%[2]d = %[4]d;", n, j, i, j+1)
			}
		}
		p("}")
	}
	return b.String()
}

// Every tempting name compiles wherever a name stands.
func TestNames(t *testing.T) {
	for _, api := range []string{"API_OPEN", "API_HYBRID", "API_OPAQUE"} {
		t.Run(api, func(t *testing.T) {
			out := both(t, request(t, "", map[string]string{"names.proto": nameSchema(api)}))
			mustCompile(t, out)
			if api == "API_HYBRID" {
				maps.DeleteFunc(out, func(file, _ string) bool { return strings.HasSuffix(path.Dir(file), "graven") })
				mustCompile(t, out, "protoopaque")
			}
		})
	}
}

// Messages, and enums, of every name at the top level of a Go package.
func TestTopLevelNames(t *testing.T) {
	texts := map[string]string{}
	for i, batch := range batches(tempting()) {
		var b strings.Builder
		fmt.Fprintf(&b, "syntax = \"proto3\"; package p%d; option go_package = \"example.com/p%d\";\n", i, i)
		for j, n := range batch {
			if j%2 == i%2 {
				fmt.Fprintf(&b, "message %[1]s { .p%[2]d.%[1]s own = 1; oneof o { string text = 2; int32 number = 3; } map<string, .p%[2]d.%[1]s> by = 4; }\n", n, i)
			} else {
				fmt.Fprintf(&b, "enum %[1]s { V%[2]d = 0; } message Of%[2]d { repeated .p%[3]d.%[1]s list = 1; }\n", n, j, i)
			}
		}
		texts[fmt.Sprintf("p%d.proto", i)] = b.String()
	}
	mustCompile(t, both(t, request(t, "", texts)))
}

// Go packages of every name, from which another one has messages, enums and inline
// messages.
func TestPackageNames(t *testing.T) {
	texts := map[string]string{}
	var user strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&user, format+"\n", args...) }
	p(`syntax = "proto3"; package user; option go_package = "example.com/user"; message Own { int32 v = 1; }`)
	var fields strings.Builder
	number := 0
	for i, n := range tempting() {
		if !token.IsIdentifier(n) || n == "_" || strings.ToLower(n) != n || len(n) > 5 && !strings.HasSuffix(n, "pb") {
			continue // protobuf-go takes a package's name as it is
		}
		texts[fmt.Sprintf("dep%d.proto", i)] = fmt.Sprintf(`syntax = "proto3"; package dep%[1]d.%[2]s; option go_package = "example.com/dep%[1]d;%[2]s";
			import "graven/options.proto";
			message M { int32 v = 1; }  enum E { ZERO = 0; }  message I { option (.graven.message).inline = true; int32 v = 1; }`, i, n)
		p("import %q;", fmt.Sprintf("dep%d.proto", i))
		dep := fmt.Sprintf("dep%d.%s", i, n)
		for _, f := range []string{"M", "repeated M", "map<string, M>", "E", "repeated E", "map<int32, E>", "I", "repeated I", "map<bool, I>"} {
			number++
			prefix, name, _ := strings.Cut(f+" ", " ")
			switch {
			case strings.HasPrefix(f, "map"):
				k, v, _ := strings.Cut(strings.Trim(strings.TrimPrefix(f, "map"), "<>"), ", ")
				fmt.Fprintf(&fields, "map<%s, .%s.%s> f%d = %d;\n", k, dep, v, number, number)
			case prefix == "repeated":
				fmt.Fprintf(&fields, "repeated .%s.%s f%d = %d;\n", dep, strings.TrimSpace(name), number, number)
			default:
				fmt.Fprintf(&fields, ".%s.%s f%d = %d;\n", dep, f, number, number)
			}
		}
		number++
		fmt.Fprintf(&fields, "oneof o%d { .%s.M m%d = %d;", i, dep, i, number)
		number++
		fmt.Fprintf(&fields, ".%s.I i%d = %d; }\n", dep, i, number)
	}
	p("message All { repeated Own own = 10000;\n%s}", fields.String())
	texts["user.proto"] = user.String()
	// The second file of the package has its own aliases of the same names.
	texts["user2.proto"] = strings.NewReplacer("message All", "message Others", "message Own { int32 v = 1; }", "", "repeated Own", "repeated int32").Replace(user.String())
	mustCompile(t, both(t, request(t, "", texts)))
}

// Services of every name, and one with methods of every name, on frames for both
// transports.
func TestServiceNames(t *testing.T) {
	texts := map[string]string{}
	for i, batch := range batches(tempting()) {
		var b strings.Builder
		fmt.Fprintf(&b, "syntax = \"proto3\"; package p%d; option go_package = \"example.com/p%[1]d\"; message Own%[1]d { int32 v = 1; }\n", i)
		for j, n := range batch {
			fmt.Fprintf(&b, "service %s { rpc Call(.p%d.Own%[2]d) returns (%[3]s.p%[2]d.Own%[2]d); }\n", n, i, []string{"", "stream "}[j%2])
		}
		fmt.Fprintf(&b, "service Methods%d {\n", i)
		for j, n := range batch {
			fmt.Fprintf(&b, "rpc %s(%s.p%d.Own%[3]d) returns (%[4]s.p%[3]d.Own%[3]d);\n", n, []string{"", "stream "}[j%2], i, []string{"", "stream "}[j/2%2])
		}
		b.WriteString("}\n")
		texts[fmt.Sprintf("p%d.proto", i)] = b.String()
	}
	out := both(t, request(t, "grpc=true,connect=true", texts))
	if !strings.Contains(out["example.com/p0/p0gravengrpc/p0.graven.go"], "grpc.ServiceDesc") {
		t.Error("no services are generated")
	}
	mustCompile(t, out)
}

// What schemas tell apart and Go does not is refused with both sides.
func TestSameNames(t *testing.T) {
	const open = `edition = "2023"; package p; option go_package = "example.com/p"; import "google/protobuf/go_features.proto"; option features.(pb.go).api_level = API_OPEN;` + "\n"
	const opaque = `edition = "2023"; package p; option go_package = "example.com/p"; import "google/protobuf/go_features.proto"; option features.(pb.go).api_level = API_OPAQUE;` + "\n"
	const hybrid = `edition = "2023"; package p; option go_package = "example.com/p"; import "google/protobuf/go_features.proto"; option features.(pb.go).api_level = API_HYBRID;` + "\n"
	for name, c := range map[string]struct {
		texts map[string]string
		want  string
	}{
		"messages": {map[string]string{"a.proto": open + "message Foo_bar {}\n  message FooBar {}"},
			"a.proto:3:3: p.FooBar and p.Foo_bar (a.proto:2:1) would both be FooBar in Go package example.com/p: rename one of them"},
		"of two files": {map[string]string{"a.proto": open + "message Foo_bar {}", "b.proto": strings.Replace(open, "package p", "package q", 1) + "message FooBar {}"},
			"b.proto:2:1: q.FooBar and p.Foo_bar (a.proto:2:1) would both be FooBar in Go package example.com/p: rename one of them"},
		"nested": {map[string]string{"a.proto": open + "message A { message B {} }\nenum A_B { Z = 0; }"},
			"a.proto:2:13: p.A.B and p.A_B (a.proto:3:1) would both be A_B in Go package example.com/p: rename one of them"},
		"leading underscore": {map[string]string{"a.proto": open + "message _x {}\nmessage XX {}"},
			"a.proto:3:1: p.XX and p._x (a.proto:2:1) would both be XX in Go package example.com/p: rename one of them"},
		"an enum's value": {map[string]string{"a.proto": open + "enum E { Z = 0; }\nmessage E_Z {}"},
			"a.proto:3:1: p.E_Z and p.Z (a.proto:2:10) would both be E_Z in Go package example.com/p: rename one of them"},
		"an enum's map": {map[string]string{"a.proto": open + "enum E {\n  name = 0;\n}"},
			"a.proto:3:3: p.name and the map of names of p.E (a.proto:2:1) would both be E_name in Go package example.com/p: rename one of them"},
		"a oneof's wrapper": {map[string]string{"a.proto": open + "message M {\n oneof o { int32 x = 1; }\n}\nmessage M_X {}"},
			"a.proto:5:1: p.M_X and the wrapper of p.M.x (a.proto:3:12) would both be M_X in Go package example.com/p: rename one of them"},
		"a builder": {map[string]string{"a.proto": opaque + "message M {\n  enum E { builder = 0; }\n}"},
			"a.proto:3:12: p.M.builder and the builder of p.M (a.proto:2:1) would both be M_builder in Go package example.com/p: rename one of them"},
		"a default": {map[string]string{"a.proto": open + "message M { int32 x = 1 [default = 1]; }\nmessage Default_M_X {}"},
			"a.proto:3:1: p.Default_M_X and the default of p.M.x (a.proto:2:13) would both be Default_M_X in Go package example.com/p: rename one of them"},
		"an extension": {map[string]string{"a.proto": open + "message M { extensions 5; }\nextend M { int32 x = 5; }\nmessage E_X {}"},
			"a.proto:3:12: the extension type of p.x and p.E_X (a.proto:4:1) would both be E_X in Go package example.com/p: rename one of them"},
		"a method": {map[string]string{"a.proto": open + "message M {\n  int32 proto_reflect = 1;\n}"},
			"a.proto:3:3: the field of p.M.proto_reflect and the method of p.M (a.proto:2:1) would both be ProtoReflect of Go type M: rename one of them"},
		"a oneof's getter": {map[string]string{"a.proto": open + "message M {\n  int32 get_o = 1;\n  oneof o { int32 y = 2; }\n}"},
			"a.proto:4:3: the method of p.M.o and the field of p.M.get_o (a.proto:3:3) would both be GetO of Go type M: rename one of them"},
		"a oneof's method": {map[string]string{"a.proto": hybrid + "message M {\n  int32 a_b = 1;\n  oneof A_b { int32 y = 2; }\n}"},
			"a.proto:4:3: the method of p.M.A_b and the method of p.M.a_b (a.proto:3:3) would both be HasAB of Go type M: rename one of them"},
		"three fields": {map[string]string{"opaque.proto": "syntax = \"proto2\"; package p; option go_package = \"example.com/p\";\nmessage M {\n  optional int32 a_b = 1;\n  optional int32 A_b = 2;\n  optional int32 AB = 3;\n}"},
			""},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(t, "apilevelMopaque.proto=API_OPAQUE", c.texts)
			out, err := generate(t, req)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error\n got %s\nwant %s", got, c.want)
			}
			// protoc-gen-go does not notice, so the compiler would have to.
			all := protocGenGo(t, req)
			for name, text := range out {
				all[name] = text
			}
			if errs := compileErrors(t, all); (len(errs) == 0) != (c.want == "") {
				t.Errorf("without us: %v", errs)
			}
		})
	}
}

// Enum values of edition 2024 can lose their enum's name and keep it as an alias, which is the same
// name where there is nothing to lose.
func TestStrippedEnumPrefixes(t *testing.T) {
	const head = `edition = "2023"; package p; option go_package = "example.com/p"; import "google/protobuf/go_features.proto";` + "\n"
	const strip, both, keep = gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_STRIP, gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_GENERATE_BOTH, gofeaturespb.GoFeatures_STRIP_ENUM_PREFIX_KEEP
	type prefixes map[string]gofeaturespb.GoFeatures_StripEnumPrefix // of the enum E and its values
	for name, c := range map[string]struct {
		text string
		set  prefixes
		want string
	}{
		"strip": {"enum E { E_A = 0; E_B = 1; C = 2; E_ = 3; }", prefixes{"E": strip}, ""},
		"both":  {"enum E { E_A = 0; C = 1; E_B = 2; E_D = 3; }", prefixes{"E": both, "E_B": keep, "E_D": strip}, ""},
		"used":  {"enum E { E_A = 0; C = 1; } message M { E e = 1; repeated E es = 2; map<int32, E> m = 3; oneof o { E f = 4; } E g = 5 [default = C]; }", prefixes{"E": both}, ""},
		"one an alias": {"enum E {\n E_A = 0;\n E_E_A = 1; }", prefixes{"E_A": both, "E_E_A": strip},
			"a.proto:4:2: p.E_E_A and the prefixed alias of p.E_A (a.proto:3:2) would both be E_E_A in Go package example.com/p: rename one of them"},
		"and a message": {"enum E {\n E_A = 0; }\nmessage E_E_A {}", prefixes{"E": both},
			"a.proto:4:1: p.E_E_A and the prefixed alias of p.E_A (a.proto:3:2) would both be E_E_A in Go package example.com/p: rename one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			req := edition2024(request(t, "", map[string]string{"a.proto": head + c.text}))
			enum := req.ProtoFile[len(req.ProtoFile)-1].EnumType[0]
			features := func(name string) *descriptorpb.FeatureSet {
				v, ok := c.set[name]
				if !ok {
					return nil
				}
				fs := new(descriptorpb.FeatureSet)
				proto.SetExtension(fs, gofeaturespb.E_Go, &gofeaturespb.GoFeatures{StripEnumPrefix: &v})
				return fs
			}
			enum.Options = &descriptorpb.EnumOptions{Features: features(enum.GetName())}
			for _, v := range enum.Value {
				v.Options = &descriptorpb.EnumValueOptions{Features: features(v.GetName())}
			}
			out, err := generate(t, req)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("error\n got %s\nwant %s", got, c.want)
			}
			all := protocGenGo(t, req)
			maps.Copy(all, out)
			if errs := compileErrors(t, all); (len(errs) == 0) != (c.want == "") {
				t.Errorf("without the check: %v", errs)
			}
		})
	}
}

// What names the generator gives can't be those of others: they differ in their kind or in
// what protogen makes unique.
func TestOwnNamesDiffer(t *testing.T) {
	kinds := []string{"Type", "Bits", "Put", "Put1", "Get", "Get1", "One", "List", "Pack", "Unpack", "Zero", "Known", "Map", "Key"}
	owner := map[string]string{}
	for _, message := range []string{"M", "M_1", "A_M", "X1", "X_1", "One", "OneM", "PutM", "M_Map_1", "Put1M"} {
		for _, kind := range kinds {
			n := name(kind, &protogen.Message{GoIdent: protogen.GoIdent{GoName: message}})
			if first := owner[n]; first != "" {
				t.Errorf("%s: of %s %s and %s", n, kind, message, first)
			}
			owner[n] = kind + " " + message
		}
	}
}

// Whatever a printed function calls its parameters and variables is known as a name that
// would hide a package.
func TestLocals(t *testing.T) {
	for _, api := range []string{"API_OPEN", "API_HYBRID", "API_OPAQUE"} {
		out, err := generate(t, request(t, "", map[string]string{"names.proto": nameSchema(api)}))
		if err != nil {
			t.Fatal(err)
		}
		for file, text := range out {
			if strings.HasSuffix(path.Dir(file), "graven") {
				continue // writers name parameters after fields, in functions that use no other package's types
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			known := func(id *ast.Ident) {
				if n := id.Name; n != "_" && !locals[n] && !strings.HasPrefix(n, slabPrefix) {
					t.Errorf("%s: %s is not among the locals", file, n)
				}
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Recv != nil {
						for _, f := range n.Recv.List {
							for _, id := range f.Names {
								known(id)
							}
						}
					}
				case *ast.FuncType:
					for _, list := range []*ast.FieldList{n.Params, n.Results} {
						if list == nil {
							continue
						}
						for _, f := range list.List {
							for _, id := range f.Names {
								known(id)
							}
						}
					}
				case *ast.AssignStmt:
					for _, x := range n.Lhs {
						if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
							known(id)
						}
					}
				case *ast.RangeStmt:
					for _, x := range []ast.Expr{n.Key, n.Value} {
						if id, ok := x.(*ast.Ident); ok {
							known(id)
						}
					}
				}
				return !t.Failed()
			})
		}
	}
}
