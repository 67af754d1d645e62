// Package arch holds the lines between the packages of this module: what may
// import what, and what the module may depend on.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/graven-rpc/graven"

type pkg struct {
	ImportPath string
	Imports    []string // direct, without those of tests
	Deps       []string // all, without those of tests
}

// in says whether path is one of the packages or below one of them.
func in(path string, packages ...string) bool {
	return slices.ContainsFunc(packages, func(p string) bool {
		return path == p || strings.HasPrefix(path, p+"/")
	})
}

// local returns the path within the module, "" for the module itself.
func local(path string) (string, bool) {
	if !in(path, module) {
		return "", false
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), true
}

// packages returns all packages of this module by their path in it.
func packages(t *testing.T) map[string]pkg {
	t.Helper()
	out, err := goList("-json=ImportPath,Imports,Deps", module+"/...")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]pkg)
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		path, _ := local(p.ImportPath)
		all[path] = p
	}
	for _, path := range []string{"crc32c", "envelope", "codec", "codec/layout", "codec/wire"} {
		if _, ok := all[path]; !ok {
			t.Fatalf("package %s is not there, so this test would hold nothing", path)
		}
	}
	return all
}

func goList(args ...string) (string, error) {
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = errors.New(string(failed.Stderr))
	}
	return string(out), err
}

// The parts of the module that a package of the left may import, the package's
// own subtree aside. What is not named here may import everything.
var mayImport = map[string][]string{
	"crc32c":         {},
	"envelope":       {"crc32c", "codec/internal"},
	"codec/proto":    {},
	"codec/internal": {"crc32c", "envelope", "codec/proto", "codec/layout", "codec/wire", "codec"},
	"codec/layout":   {"crc32c", "codec/internal", "codec/proto"},
	"codec/wire":     {"crc32c", "envelope", "codec/internal", "codec/proto", "codec/layout"},
	// codec itself, which is not above gravengrpc and gravenconnect.
	"codec":               {"crc32c", "envelope", "codec/internal", "codec/proto", "codec/layout", "codec/wire"},
	"codec/gravengrpc":    {"crc32c", "envelope", "codec/internal", "codec/proto", "codec/layout", "codec/wire", "codec"},
	"codec/gravenconnect": {"crc32c", "envelope", "codec/internal", "codec/proto", "codec/layout", "codec/wire", "codec"},
	"protoc-gen-graven":   {"crc32c", "envelope", "codec/internal", "codec/proto", "codec/layout", "codec/wire", "codec"},
}

// part returns the most specific key of mayImport that path is in.
func part(path string) (string, bool) {
	found, ok := "", false
	for key := range mayImport {
		if in(path, key) && (!ok || len(key) > len(found)) {
			found, ok = key, true
		}
	}
	return found, ok
}

func TestImportsPointOneWay(t *testing.T) {
	for path, p := range packages(t) {
		from, ok := part(path)
		if !ok {
			continue
		}
		for _, imported := range p.Imports {
			to, ok := local(imported)
			if !ok {
				continue
			}
			target, known := part(to)
			if known && target == from {
				continue
			}
			if !known || !slices.Contains(mayImport[from], target) {
				t.Errorf("%s imports %s; %s may import only %v", path, to, from, mayImport[from])
			}
		}
	}
}

// Who uses one transport does not link the other, and who uses neither links
// none.
func TestTransportsStayApart(t *testing.T) {
	const (
		grpc    = "google.golang.org/grpc"
		connect = "connectrpc.com/connect"
		http    = "net/http"
	)
	for path, p := range packages(t) {
		var refused []string
		switch {
		case in(path, "codec/internal"):
			continue // counts where a package that users import links it
		case in(path, "codec/gravengrpc"):
			refused = []string{connect}
		case in(path, "codec/gravenconnect"):
			refused = []string{grpc}
		case in(path, "crc32c", "envelope", "codec"):
			refused = []string{grpc, connect, http}
		}
		if i := slices.IndexFunc(p.Deps, func(dep string) bool { return in(dep, refused...) }); i >= 0 {
			t.Errorf("%s links %s", path, p.Deps[i])
		}
	}
}

// crc32c can be taken alone.
func TestChecksumStandsAlone(t *testing.T) {
	for _, dep := range packages(t)["crc32c"].Deps {
		name, _, _ := strings.Cut(dep, "/")
		if strings.Contains(name, ".") && !in(dep, "golang.org/x/sys/cpu") {
			t.Errorf("crc32c links %s; only golang.org/x/sys/cpu is allowed", dep)
		}
	}
}

// Code that users link does not bring a test library along.
func TestNoTestCodeInProduction(t *testing.T) {
	for path, p := range packages(t) {
		_, known := part(path)
		if !known || in(path, "codec/internal") {
			continue
		}
		for _, dep := range p.Deps {
			if in(dep, "testing", module+"/codec/internal/corpus", module+"/codec/internal/testpb") {
				t.Errorf("%s links %s", path, dep)
			}
		}
	}
}

func TestDirectDependencies(t *testing.T) {
	want := []string{
		"connectrpc.com/connect",
		"github.com/bufbuild/protocompile",
		"golang.org/x/sys",
		"google.golang.org/grpc",
		"google.golang.org/protobuf",
	}
	// Modules that give a package of this module or of its tests something that
	// it imports itself.
	out, err := goList("-test", "-f", `{{range .Imports}}{{println .}}{{end}}{{range .TestImports}}{{println .}}{{end}}{{range .XTestImports}}{{println .}}{{end}}`, module+"/...")
	if err != nil {
		t.Fatal(err)
	}
	imports := make(map[string]bool)
	for path := range strings.FieldsSeq(out) {
		name, _, _ := strings.Cut(path, "/")
		if strings.Contains(name, ".") && !in(path, module) && !strings.HasSuffix(path, "]") {
			imports[path] = true
		}
	}
	out, err = goList(append([]string{"-f", "{{with .Module}}{{.Path}}{{end}}"}, slices.Sorted(maps.Keys(imports))...)...)
	if err != nil {
		t.Fatal(err)
	}
	direct := make(map[string]bool)
	for path := range strings.FieldsSeq(out) {
		direct[path] = true
	}
	for path := range direct {
		if !slices.Contains(want, path) {
			t.Errorf("the module uses %s directly; it may depend on %v", path, want)
		}
	}
}
