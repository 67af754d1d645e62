package schema

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files below a folder of the test's own and gives the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const head3 = "syntax = \"proto3\";\npackage t;\n"

func names(s *Schema, keep func(*File) bool) string {
	var all []string
	for _, md := range s.Messages(keep) {
		all = append(all, string(md.FullName()))
	}
	return strings.Join(all, " ")
}

func own(f *File) bool { return !f.Import }

func TestFolder(t *testing.T) {
	dir := tree(t, map[string]string{
		"b/b.proto":            head3 + "import \"a.proto\";\nimport \"graven/options.proto\";\nimport \"google/protobuf/empty.proto\";\nmessage B { A a = 1; message In { int32 x = 1 [(graven.field).width = 8]; } map<string, A> m = 2; }\n",
		"a.proto":              head3 + "message A {}\n",
		".hidden/c.proto":      "no schema",
		"node_modules/d.proto": "no schema",
		"readme.txt":           "no schema",
	})
	s, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(s, own); got != "t.A t.B t.B.In" {
		t.Errorf("messages %s", got)
	}
	var imports []string
	for _, f := range s.Files {
		if f.Import {
			imports = append(imports, f.External)
		}
	}
	if want := []string{"google/protobuf/descriptor.proto", "google/protobuf/empty.proto", "graven/options.proto"}; !slices.Equal(imports, want) {
		t.Errorf("imports %v", imports)
	}
	file := s.ByPath("b/b.proto")
	if file == nil || file.External != filepath.ToSlash(filepath.Join(dir, "b", "b.proto")) {
		t.Errorf("%v", file)
	}
	if s.ByPath("c.proto") != nil || s.Message("t.C") != nil || s.Message("t.B.In") == nil {
		t.Error("finds what is not there, or not what is")
	}
	if s.File(s.Message("t.A")) != s.ByPath("a.proto") {
		t.Error("the file of t.A")
	}
	loc := file.SourceLocations().ByDescriptor(s.Message("t.B.In"))
	if loc.StartLine != 5 {
		t.Errorf("t.B.In at line %d", loc.StartLine+1)
	}
}

// A folder that holds the root of its imports, as a repository does.
func TestRoots(t *testing.T) {
	dir := tree(t, map[string]string{
		"proto/t/a.proto": head3 + "import \"t/b.proto\";\nmessage A { B b = 1; }\n",
		"proto/t/b.proto": head3 + "message B {}\n",
		"dep/t/c.proto":   head3 + "message C {}\n",
	})
	if _, err := Load(dir, Options{}); err == nil || !strings.Contains(err.Error(), "with -I") {
		t.Errorf("without a root: %v", err)
	}
	for _, input := range []string{dir, filepath.Join(dir, "proto")} {
		s, err := Load(input, Options{Roots: []string{filepath.Join(dir, "proto"), filepath.Join(dir, "dep")}})
		if err != nil {
			t.Fatal(err)
		}
		if got := names(s, own); !strings.HasPrefix(got, "t.A t.B") {
			t.Errorf("%s: messages %s", input, got)
		}
	}
	s, err := Load(filepath.Join(dir, "proto", "t", "a.proto"), Options{Roots: []string{filepath.Join(dir, "proto")}})
	if err != nil {
		t.Fatal(err)
	}
	if names(s, own) != "t.A" || names(s, nil) != "t.A t.B" {
		t.Errorf("messages %s of %s", names(s, own), names(s, nil))
	}
}

func TestExtensions(t *testing.T) {
	s, err := Load(tree(t, map[string]string{"a.proto": `syntax = "proto2"; package t;
message A { extensions 100 to 200; extend A { optional int32 in = 100; } }
extend A { optional int32 out = 101; }`}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, xd := range s.Extensions() {
		all = append(all, string(xd.FullName()))
	}
	if got := strings.Join(all, " "); got != "t.out t.A.in" {
		t.Errorf("extensions %s", got)
	}
}
