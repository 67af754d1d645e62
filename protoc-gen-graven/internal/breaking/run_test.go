package breaking

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/schema"
)

// image makes a descriptor set of a folder, with buf's mark on imported files.
func image(t *testing.T, folder string) *descriptorpb.FileDescriptorSet {
	t.Helper()
	s, err := schema.Load(folder, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set := new(descriptorpb.FileDescriptorSet)
	for _, f := range s.Files {
		p := protodesc.ToFileDescriptorProto(f.FileDescriptor)
		if f.Import {
			mark := protowire.AppendTag(nil, 1, protowire.VarintType)
			mark = protowire.AppendVarint(mark, 1)
			ext := protowire.AppendTag(nil, 8042, protowire.BytesType)
			p.ProtoReflect().SetUnknown(protowire.AppendBytes(ext, mark))
		}
		set.File = append(set.File, p)
	}
	return set
}

func write(t *testing.T, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z.Bytes()
}

// rules gives the rules of findings printed as JSON, in order.
func rules(out string) []string {
	var all []string
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		_, rest, _ := strings.Cut(line, `"type":"`)
		id, _, _ := strings.Cut(rest, `"`)
		all = append(all, id)
	}
	return all
}

// The same findings, whatever form the schemas come in.
func TestInputs(t *testing.T) {
	dir := filepath.Join(cases, "number_inline")
	set := image(t, filepath.Join(dir, "new"))
	binary, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	text, err := protojson.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	// buf's own additions to JSON, which protobuf does not know.
	text = bytes.Replace(text, []byte(`"name":"t.proto",`), []byte(`"name":"t.proto","bufExtension":{"isImport":false,"unusedDependency":[]},`), 1)
	want := ""
	for i, args := range [][]string{
		{filepath.Join(dir, "new"), "--against", filepath.Join(dir, "old")},
		{"--against=" + filepath.Join(dir, "old/t.proto"), filepath.Join(dir, "new/t.proto")},
		{"-against", filepath.Join(dir, "old"), write(t, "image.binpb", binary)},
		{"--against", filepath.Join(dir, "old"), write(t, "image.json", text)},
		{"--against", filepath.Join(dir, "old"), write(t, "image.binpb.gz", zipped(t, binary))},
		{"--against", filepath.Join(dir, "old"), write(t, "image.json.gz", zipped(t, text))},
		{"--against", filepath.Join(dir, "old"), "-"},
	} {
		var out, errs bytes.Buffer
		code := Run(append(args, "--error-format", "json"), bytes.NewReader(zipped(t, binary)), &out, &errs)
		if code != 100 {
			t.Errorf("%v: exit code %d, %s", args, code, errs.String())
		}
		got := strings.Join(rules(out.String()), "\n")
		if i == 0 {
			want = got
		}
		if got != want || strings.Count(got, "GRAVEN_FIELD_NUMBER_INLINE") != 6 {
			t.Errorf("%v:\nwant %s\n got %s", args, want, got)
		}
	}
}

// A set without the files that protobuf-go and the format bring along.
func TestSetWithoutImports(t *testing.T) {
	set := image(t, filepath.Join(cases, "number_inline", "old"))
	for i, f := range set.File {
		if f.GetName() == "t.proto" {
			set.File = set.File[i : i+1]
			break
		}
	}
	b, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Run([]string{"--against", write(t, "set.binpb", b), filepath.Join(cases, "number_inline", "old")}, nil, &out, &errs); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

func TestErrors(t *testing.T) {
	pair := filepath.Join(cases, "kinds")
	old := filepath.Join(pair, "old")
	bad := `syntax = "proto3"; package t; import "graven/options.proto"; message M {
  float f = 1 [(graven.field).width = 8];
}`
	lacking := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{Name: proto.String("a.proto"), Dependency: []string{"b.proto"}}}}
	lackingBytes, err := proto.Marshal(lacking)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		args []string
		want string
	}{
		{"no old schema", []string{old}, "--against is missing"},
		{"two inputs", []string{old, old, "--against", old}, "one input is expected, not 2"},
		{"a flag that is none", []string{old, "--nope"}, "flag provided but not defined"},
		{"a format that is none", []string{old, "--against", old, "--error-format", "msvs"}, `"msvs" is none of`},
		{"a rule that is none", []string{old, "--against", old, "--except", "GRAVEN_NOPE"}, `no rule "GRAVEN_NOPE"`},
		{"no such file", []string{old, "--against", "nope.binpb"}, "nope.binpb: no such file"},
		{"a Git input", []string{old, "--against", ".git#branch=main"}, "buf build '.git#branch=main' -o image.binpb"},
		{"an empty folder", []string{t.TempDir(), "--against", old}, "no .proto files"},
		{"no image", []string{write(t, "image.binpb", []byte("no image")), "--against", old}, "neither a .proto file nor a buf image"},
		{"no image in JSON", []string{write(t, "image.json", []byte(`{"file": 1}`)), "--against", old}, "no buf image in JSON"},
		{"an image without files", []string{write(t, "image.json", []byte(`{}`)), "--against", old}, "an image without files"},
		{"half a zip", []string{write(t, "image.gz", []byte{0x1F, 0x8B, 8}), "--against", old}, "unexpected EOF"},
		{"a set that lacks an import", []string{write(t, "set.binpb", lackingBytes), "--against", old}, "a.proto imports b.proto, which the set lacks"},
		{"edition 2024", []string{write(t, "a.proto", []byte("edition = \"2024\";\npackage t;\n")), "--against", old}, "buf build -o image.binpb"},
		{"a dependency from a registry", []string{write(t, "a.proto", []byte("syntax = \"proto3\";\nimport \"buf/validate/validate.proto\";\n")), "--against", old}, "with -I"},
		{"a mistake in a .proto", []string{write(t, "a.proto", []byte("syntax = \"proto3\";\nmessage {\n")), "--against", old}, "a.proto:2:9"},
		{"options that break the rules", []string{write(t, "a.proto", []byte(bad)), "--against", old}, "a.proto:1:62: graven: invalid graven options: t.M.f"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Run(c.args, strings.NewReader(""), &out, &errs); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(errs.String(), c.want) || !strings.HasPrefix(errs.String(), "Failure: ") {
				t.Errorf("want %s\n got %s", c.want, errs.String())
			}
			if out.Len() > 0 {
				t.Errorf("printed %s", out.String())
			}
		})
	}
}

func TestEdition2024FromImage(t *testing.T) {
	file := func(kind descriptorpb.FieldDescriptorProto_Type) string {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
			Name: proto.String("a.proto"), Package: proto.String("t"),
			Syntax: proto.String("editions"), Edition: descriptorpb.Edition_EDITION_2024.Enum(),
			MessageType: []*descriptorpb.DescriptorProto{{
				Name: proto.String("M"),
				Field: []*descriptorpb.FieldDescriptorProto{{
					Name: proto.String("x"), Number: proto.Int32(1), Type: kind.Enum(),
					Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
				}},
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return write(t, "image.binpb", b)
	}
	var out, errs bytes.Buffer
	code := Run([]string{"--against", file(descriptorpb.FieldDescriptorProto_TYPE_STRING), file(descriptorpb.FieldDescriptorProto_TYPE_BYTES)}, nil, &out, &errs)
	if code != 100 || !strings.Contains(out.String(), `a.proto:1:1:Field "1" with name "x" on message "t.M" changed from "string" to "bytes"`) {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}

func TestFilters(t *testing.T) {
	dir := filepath.Join(cases, "kinds")
	older, newer := filepath.Join(dir, "old"), filepath.Join(dir, "new")
	moved := filepath.Join(cases, "moved_between_files")
	for _, c := range []struct {
		what string
		args []string
		want int // findings
	}{
		{"none", []string{newer, "--against", older}, 6},
		{"a rule, in lower case", []string{newer, "--against", older, "--except", "graven_field_same_storage"}, 0},
		{"several rules", []string{newer, "--against", older, "--except", "GRAVEN_FIELD_UTF8_ADDED,GRAVEN_FIELD_NO_REUSE"}, 6},
		{"several old schemas", []string{newer, "--against", older, "--against", newer}, 6},
		{"twice the same", []string{newer, "--against", older, "--against", older}, 6},
		{"a path", []string{newer, "--against", older, "--path", filepath.ToSlash(newer)}, 6},
		{"another path", []string{newer, "--against", older, "--path", "elsewhere"}, 0},
		{"a path left out", []string{newer, "--against", older, "--exclude-path", filepath.ToSlash(filepath.Join(newer, "t.proto"))}, 0},
		{"an imported file", []string{filepath.Join(moved, "new", "a.proto"), "--against", filepath.Join(moved, "old")}, 1},
		{"no imported files", []string{filepath.Join(moved, "new", "a.proto"), "--against", filepath.Join(moved, "old"), "--exclude-imports"}, 0},
		{"a folder of imports", []string{filepath.Join(moved, "new", "dir", "b.proto"), "-I", filepath.Join(moved, "new"), "--against", filepath.Join(moved, "new")}, 1},
		{"few roots", []string{filepath.Join(cases, "root_deleted", "new"), "--against", filepath.Join(cases, "root_deleted", "old")}, 3},
		{"all roots", []string{filepath.Join(cases, "root_deleted", "new"), "--against", filepath.Join(cases, "root_deleted", "old"), "--all-roots"}, 5},
	} {
		t.Run(c.what, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Run(c.args, nil, &out, &errs)
			if want := map[bool]int{true: 100, false: 0}[c.want > 0]; code != want {
				t.Errorf("exit code %d, want %d: %s", code, want, errs.String())
			}
			if got := strings.Count(out.String(), "\n"); got != c.want {
				t.Errorf("%d findings, want %d\n%s", got, c.want, out.String())
			}
		})
	}
}

// A number that was given up without being reserved, and a schema from before that.
func TestHistory(t *testing.T) {
	file := func(body string) string {
		return write(t, "a.proto", []byte("syntax = \"proto3\";\npackage t;\nmessage M {\n"+body+"\n}\n"))
	}
	first, second, third := file("string a = 1;\nint32 b = 2;"), file("int32 b = 2;"), file("float c = 1;\nint32 b = 2;")
	var out bytes.Buffer
	if code := Run([]string{third, "--against", second}, nil, &out, &out); code != 0 {
		t.Errorf("against the last version: %s", out.String())
	}
	if code := Run([]string{third, "--against", second, "--against", first}, nil, &out, &out); code != 100 {
		t.Errorf("against both: %s", out.String())
	}
	if !strings.Contains(out.String(), `(was "a") changed from "string" to "float"`) {
		t.Errorf("printed %s", out.String())
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Run([]string{"--help"}, nil, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
	for _, r := range Rules {
		if !strings.Contains(out.String(), r.ID+"\n") {
			t.Errorf("--help does not name %s", r.ID)
		}
	}
}

// The page for authors of schemas names every rule.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/schema-changes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Rules {
		if !strings.Contains(string(page), "`"+strings.TrimPrefix(r.ID, "GRAVEN_")+"`") {
			t.Errorf("docs/schema-changes.md does not name %s", r.ID)
		}
	}
}

// The changes that the codec's tests put through all paths: these are found, and
// all others are read right by both sides there.
func TestMatrix(t *testing.T) {
	const protos = "../../../codec/testdata/proto/skew"
	version := func(name string) string {
		b, err := os.ReadFile(filepath.Join(protos, name+".proto"))
		if err != nil {
			t.Fatal(err)
		}
		return write(t, "skew.proto", bytes.Replace(b, []byte("package skew."+name+";"), []byte("package skew;"), 1))
	}
	var out, errs bytes.Buffer
	Run([]string{version("after"), "--against", version("before"), "--error-format", "json"}, nil, &out, &errs)
	if errs.Len() > 0 {
		t.Fatal(errs.String())
	}
	got := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		_, rest, ok := strings.Cut(line, `message \"skew.`)
		if !ok {
			t.Fatalf("no message in %s", line)
		}
		message, _, _ := strings.Cut(rest, `\"`)
		got[message] = strings.TrimPrefix(rules(line)[0], "GRAVEN_")
	}
	want := map[string]string{
		"Narrowed": "FIELD_NARROWED", "SignWidened": "FIELD_SIGN_WIDENED", "NumberToBool": "FIELD_NARROWED",
		"NarrowAdded": "FIELD_NARROWED", "NarrowSign": "FIELD_SIGN_WIDENED", "ListNarrowed": "FIELD_NARROWED",
		"ListNumberToBool": "FIELD_NARROWED", "ListByteToBool": "FIELD_BOOL_LIST", "ListNarrowAdded": "FIELD_NARROWED",
		"FloatToNumber": "FIELD_FLOAT_INTEGER", "FloatToDouble": "FIELD_SAME_STORAGE", "DoubleToNumber": "FIELD_FLOAT_INTEGER",
		"ListFloatToNumber": "FIELD_FLOAT_INTEGER", "StringToBytes": "FIELD_STRING_BYTES", "ListStringToBytes": "FIELD_STRING_BYTES",
		"StringToNumber": "FIELD_SAME_STORAGE", "StringToList": "FIELD_SAME_CARDINALITY", "NumberToList": "FIELD_SAME_CARDINALITY",
		"BytesListToNumbers": "FIELD_SAME_STORAGE", "MessageToString": "FIELD_SAME_STORAGE", "MessageToList": "FIELD_SAME_CARDINALITY",
		"MessageToInline": "FIELD_SAME_STORAGE", "ListToMap": "FIELD_MAP_LIST", "MapKeyKind": "FIELD_SAME_STORAGE",
		"MapKeyNarrowed": "FIELD_NARROWED", "MapValueKind": "FIELD_SAME_STORAGE", "IntoOneof": "FIELD_SAME_ONEOF",
		"InlineSameSize": "FIELD_SAME_INLINE", "InlineGrown": "FIELD_SAME_INLINE", "NumberToInline": "FIELD_NUMBER_INLINE",
		"ListNumberToInline": "FIELD_NUMBER_INLINE", "ToExtension": "FIELD_EXTENSION", "RequiredAdded": "FIELD_SAME_REQUIRED",
		"UTF8Added": "FIELD_UTF8_ADDED", "Reused": "FIELD_SAME_CARDINALITY",
	}
	for m, r := range want {
		if got[m] != r {
			t.Errorf("%s: %q, want %s", m, got[m], r)
		}
	}
	for m, r := range got {
		if want[m] == "" {
			t.Errorf("%s: %s, want nothing", m, r)
		}
	}
}
