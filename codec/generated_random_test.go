package codec_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/codec/internal/corpus"
)

// Random schemas, and some on purpose, become Go code of both plugins in every API, in a
// module of their own that is built once. Its program compares generated methods with
// reflection. GRAVEN_SCHEMAS asks for more schemas than the few of an ordinary
// run, GRAVEN_SEED for others.
func TestGeneratedRandomSchemas(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	schemas, seed := fromEnv(t, "GRAVEN_SCHEMAS", 2), fromEnv(t, "GRAVEN_SEED", 0)
	m := newGeneratedModule(t)
	for i := range uint64(schemas) {
		for _, api := range []string{"OPEN", "HYBRID", "OPAQUE"} {
			pkg := fmt.Sprintf("rnd.%s%d", strings.ToLower(api), i)
			before, after, _ := corpus.Changed(uint64(seed)+i, pkg, true)
			m.add(pkg, api, before.Text())
			m.other(pkg, after.Text())
		}
	}
	for _, api := range []string{"OPEN", "HYBRID", "OPAQUE"} {
		for name, text := range special {
			m.add(fmt.Sprintf("rnd.%s%s", name, strings.ToLower(api)), api, strings.ReplaceAll(text, "API", strings.ToLower(api)))
		}
	}
	for _, tag := range []string{"", "protoopaque"} {
		t.Run(tag, func(t *testing.T) { t.Log(m.run(t, tag)) })
	}
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// special are schemas that random ones seldom are. Of plain, only protoc-gen-go makes
// code: its messages have no methods of ours, which user finds out at run time.
var special = map[string]string{
	"plain": `edition = "2023"; package rnd.plainAPI;
		message Plain { string text = 1; int32 number = 2; Plain self = 3; repeated Plain list = 4; map<string, Plain> map = 5; oneof o { bool b = 6; Plain p = 7; } }
		message Empty {}
		enum Level { LOW = 0; HIGH = 5; }`,
	"with": `edition = "2023"; package rnd.withAPI; import "graven/options.proto";
		message With { string text = 1; int32 number = 2; With self = 3; repeated With list = 4; map<string, With> map = 5; oneof o { bool b = 6; With p = 7; } }
		message Point { option (graven.message).inline = true; int32 x = 1 [features.field_presence = IMPLICIT];
			int32 y = 2 [(graven.field).width = 16, features.field_presence = IMPLICIT]; bool b = 3 [features.field_presence = IMPLICIT]; }
		enum Grade { BAD = 0; GOOD = 1; }`,
	"user": `edition = "2023"; package rnd.userAPI; import "graven/options.proto"; import "rnd.plainAPI.proto"; import "rnd.withAPI.proto";
		import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto"; import "google/protobuf/any.proto"; import "google/protobuf/struct.proto";
		import "google/protobuf/wrappers.proto"; import "google/protobuf/empty.proto"; import "google/protobuf/field_mask.proto"; import "google/protobuf/descriptor.proto";
		message User {
			rnd.plainAPI.Plain plain = 1; repeated rnd.plainAPI.Plain plains = 2; map<int32, rnd.plainAPI.Plain> plain_map = 3; rnd.plainAPI.Empty empty = 4; repeated rnd.plainAPI.Level levels = 5;
			rnd.withAPI.With with = 6; repeated rnd.withAPI.With withs = 7; map<bool, rnd.withAPI.With> with_map = 8; rnd.withAPI.Point point = 9; repeated rnd.withAPI.Point points = 10;
			map<string, rnd.withAPI.Point> point_map = 11; rnd.withAPI.Grade grade = 12 [(graven.field).width = 8];
			oneof o { rnd.plainAPI.Plain one_plain = 13; rnd.withAPI.With one_with = 14; rnd.withAPI.Point one_point = 15; rnd.plainAPI.Level one_level = 16; google.protobuf.Timestamp one_time = 17; Inline one_inline = 18; }
			Inline inline = 19; repeated Inline inlines = 20; map<uint64, Inline> inline_map = 21;
			google.protobuf.Timestamp time = 22; repeated google.protobuf.Duration durations = 23; google.protobuf.Any any = 24; google.protobuf.Struct struct = 25; google.protobuf.Value value = 26;
			map<string, google.protobuf.StringValue> wrappers = 27; google.protobuf.Empty nothing = 28; google.protobuf.FieldMask mask = 29; google.protobuf.EnumDescriptorProto descriptor = 30;
			repeated google.protobuf.EnumValueDescriptorProto descriptors = 31; rnd.withAPI.With delimited = 32 [features.message_encoding = DELIMITED]; rnd.plainAPI.Plain lazy = 33 [lazy = true];
		}
		message Inline { option (graven.message).inline = true; rnd.withAPI.Point from = 1; Own own = 2; }
		message Own { option (graven.message).inline = true; double d = 1 [features.field_presence = IMPLICIT];
			int64 n = 2 [(graven.field).width = 32, features.field_presence = IMPLICIT]; }`,
	"edges": `edition = "2023"; package rnd.edgesAPI;
		enum First { option features.enum_type = CLOSED; THIRTEEN = 13; ZERO = 0; MINUS = -1; }
		message Defaults { First first = 1; First chosen = 2 [default = MINUS]; bool b = 3 [default = true]; string s = 4 [default = "s"]; bytes y = 5 [default = "y"];
			oneof o { First one_first = 6; bool one_bool = 7 [default = true]; string one_text = 8 [default = "t"]; bytes one_bytes = 9 [default = "b"]; double one_double = 10 [default = 2]; } }
		message Far { sint64 a = 15; string b = 16; bool c = 18999; Far d = 20000; repeated Far e = 268435456; fixed32 f = 536683137; bytes g = 536870911; }
		message Wide { WIDE }
		message Arms { oneof o { ARMS } }`,
}

func init() {
	var wide, arms strings.Builder
	for i := range 281 {
		fmt.Fprintf(&wide, "%s f%d = %d; ", []string{"int32", "string", "bool", "Far", "repeated sint64", "map<string, bytes>", "double"}[i%7], i, i+1)
	}
	for i := range 167 {
		fmt.Fprintf(&arms, "%s f%d = %d; ", []string{"Arms", "string", "bool", "uint64"}[i%4], i, i+1)
	}
	special["edges"] = strings.NewReplacer("WIDE", wide.String(), "ARMS", arms.String()).Replace(special["edges"])
}

// generatedModule is a module of generated code. Its path is below this package's, so that
// it may use what is internal here.
type generatedModule struct {
	dir     string
	others  string
	schemas map[string]string // by file
	options []string
}

const generatedPath = "github.com/graven-rpc/graven/codec/generated"

func newGeneratedModule(t *testing.T) *generatedModule {
	t.Helper()
	m := &generatedModule{dir: t.TempDir(), others: t.TempDir(), schemas: map[string]string{}}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requirements, _ := strings.Cut(string(mod), "\n")
	m.write(t, "go.mod", "module "+generatedPath+"\n"+requirements+
		"\nrequire github.com/graven-rpc/graven v0.0.0\nreplace github.com/graven-rpc/graven => "+root+"\n")
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, "go.sum", string(sum))
	return m
}

func (m *generatedModule) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// add adds the schema of a proto package, to be generated in an API.
func (m *generatedModule) add(pkg, api, text string) {
	file := pkg + ".proto"
	m.schemas[file] = text
	m.options = append(m.options, fmt.Sprintf("M%s=%s/%s,apilevelM%[1]s=API_%[4]s", file, generatedPath, strings.ReplaceAll(pkg, ".", ""), api))
}

// other adds another version of a package's schema.
func (m *generatedModule) other(pkg, text string) {
	if err := os.WriteFile(filepath.Join(m.others, pkg+".proto"), []byte(text), 0o666); err != nil {
		panic(err)
	}
}

// request asks for code for the files for which want is true.
func (m *generatedModule) request(t *testing.T, want func(file string) bool) *pluginpb.CodeGeneratorRequest {
	t.Helper()
	req := &pluginpb.CodeGeneratorRequest{Parameter: proto.String(strings.Join(append(m.options, "module="+generatedPath), ","))}
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		req.ProtoFile = append(req.ProtoFile, protodesc.ToFileDescriptorProto(f))
	}
	for _, file := range slices.Sorted(maps.Keys(m.schemas)) {
		if want(file) {
			req.FileToGenerate = append(req.FileToGenerate, file)
		}
		set, err := corpus.CompileFiles(file, m.schemas)
		if err != nil {
			t.Fatalf("%v\n%s", err, m.schemas[file])
		}
		add(set.Main)
	}
	return req
}

// plugin runs a plugin and writes its files.
func (m *generatedModule) plugin(t *testing.T, req *pluginpb.CodeGeneratorRequest, pkg string) {
	t.Helper()
	in, err := proto.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", pkg)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", pkg, err, stderr.Bytes())
	}
	res := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(stdout.Bytes(), res); err != nil {
		t.Fatal(err)
	}
	if res.Error != nil {
		t.Fatalf("%s: %s", pkg, res.GetError())
	}
	for _, f := range res.File {
		m.write(t, f.GetName(), f.GetContent())
	}
}

// run generates, builds and runs the program and returns what it prints.
func (m *generatedModule) run(t *testing.T, tag string) string {
	t.Helper()
	m.plugin(t, m.request(t, func(string) bool { return true }), "google.golang.org/protobuf/cmd/protoc-gen-go")
	ours := m.request(t, func(file string) bool { return !strings.HasPrefix(file, "rnd.plain") })
	ours.Parameter = proto.String(ours.GetParameter() + ",views=none")
	m.plugin(t, ours, "github.com/graven-rpc/graven/protoc-gen-graven")
	var main strings.Builder
	main.WriteString("package main\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\n\t\"" + strings.TrimSuffix(generatedPath, "generated") + "internal/agree\"\n")
	for _, file := range slices.Sorted(maps.Keys(m.schemas)) {
		fmt.Fprintf(&main, "\t_ %q\n", generatedPath+"/"+strings.ReplaceAll(strings.TrimSuffix(file, ".proto"), ".", ""))
	}
	main.WriteString(`)

func main() {
	counts, err := agree.Run("rnd.", os.Args[1], 24)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(counts)
}
`)
	m.write(t, "main.go", main.String())
	program := filepath.Join(m.dir, "program")
	build := exec.Command("go", "build", "-mod=mod", "-tags", tag, "-o", program, ".")
	build.Dir = m.dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, m.others).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
