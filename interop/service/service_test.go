package service

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEmptyRepository follows the README in an empty repository: plugins from go.mod, run
// by go run and as tools, options.proto in a folder of its own and among the repository's
// own schemas.
func TestEmptyRepository(t *testing.T) {
	if testing.Short() {
		t.Skip("fetches modules and builds buf, plugins and a service")
	}
	for name, c := range map[string]struct {
		plugin   string // as buf.gen.yaml names it
		folder   string // of options.proto
		strategy string
	}{
		"run":  {`["go", "run", "github.com/graven-rpc/graven/protoc-gen-graven"]`, "third_party/proto", "directory"},
		"tool": {`["go", "tool", "protoc-gen-graven"]`, "proto", "all"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t)
			r.run("go", "mod", "init", "example.com/acme/shop")
			// As go get -tool would, if this module were the published one.
			r.run("go", "mod", "edit", "-require", "github.com/graven-rpc/graven@v0.0.0", "-replace", "github.com/graven-rpc/graven="+r.graven,
				"-tool", "github.com/graven-rpc/graven/protoc-gen-graven")
			r.run("go", "get", "-tool", "google.golang.org/protobuf/cmd/protoc-gen-go", "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2")
			r.run("go", "mod", "tidy")
			r.copy("proto/shop/money/money.proto", "proto/shop/v1/shop.proto", "proto/shop/v1/item.proto")

			lines := r.run("go", "run", "github.com/graven-rpc/graven/protoc-gen-graven", "options", c.folder)
			yaml := replace(bufYAML, c.folder, c.plugin, c.strategy)
			gen := replace(bufGenYAML, c.folder, c.plugin, c.strategy)
			holds(t, lines, yaml+gen)
			r.write("buf.yaml", yaml)
			r.write("buf.gen.yaml", gen)
			for range 2 { // the second time finds everything there
				r.buf("generate")
			}
			for _, want := range []string{"gen/shop/v1/shop.graven.go", "gen/shop/v1/item.graven.go", "gen/shop/money/money.graven.go", "gen/shop/v1/shop.pb.go"} {
				if _, err := os.Stat(filepath.Join(r.dir, want)); err != nil {
					t.Error(err)
				}
			}
			if found := r.run("find", ".", "-name", "options*.go"); found != "" {
				t.Errorf("generated again, which panics at start: %s", found)
			}

			r.copy("server/main.go")
			r.run("go", "mod", "tidy")
			r.run("go", "vet", "./...")
			out := r.run("go", "run", "./server")
			for _, want := range []string{"protobuf: 4 items, 11", "graven: 4 items, 11", "too many items: true"} {
				if !strings.Contains(out, want) {
					t.Errorf("%q is not in what the service printed:\n%s", want, out)
				}
			}
		})
	}
}

func replace(text, folder, plugin, strategy string) string {
	modules := "  - path: proto\n"
	if folder != "proto" {
		modules += "  - path: " + folder + "\n"
	}
	return strings.NewReplacer("MODULES\n", modules, "FOLDER", folder, "PLUGIN", plugin, "STRATEGY", strategy).Replace(text)
}

const bufYAML = `version: v2
modules:
MODULES
`

const bufGenYAML = `version: v2
inputs:
  - directory: .
    exclude_paths:
      - FOLDER/graven
managed:
  enabled: true
  override:
    - file_option: go_package_prefix
      value: example.com/acme/shop/gen
  disable:
    - file_option: go_package
      path: graven/options.proto
plugins:
  - local: ["go", "tool", "protoc-gen-go"]
    out: gen
    opt: paths=source_relative
  - local: ["go", "tool", "protoc-gen-go-grpc"]
    out: gen
    opt: paths=source_relative
  - local: PLUGIN
    out: gen
    opt: paths=source_relative
    strategy: STRATEGY
`

// holds demands that the lines that the options command printed are in the files of buf.
func holds(t *testing.T, printed, files string) {
	t.Helper()
	n := 0
	for _, l := range strings.Split(printed, "\n") {
		if !strings.HasPrefix(l, "    ") {
			continue
		}
		n++
		l, _, _ = strings.Cut(strings.TrimSpace(l), "#")
		if !strings.Contains(files, strings.TrimSpace(l)) {
			t.Errorf("%q is not in\n%s", l, files)
		}
	}
	if n < 5 {
		t.Errorf("the options command printed\n%s", printed)
	}
}

type repository struct {
	t      *testing.T
	dir    string
	graven string // the root of this repository
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	graven, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return &repository{t, t.TempDir(), graven}
}

// run runs a command in the repository and returns what it prints.
func (r *repository) run(name string, args ...string) string {
	r.t.Helper()
	begin := time.Now()
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("%s: %v\n%s%s", cmd, err, &stdout, &stderr)
	}
	r.t.Logf("%s (%.1f s)", cmd, time.Since(begin).Seconds())
	return stdout.String()
}

// buf runs buf, or what the variable BUF names in its place, since buf takes long to
// build.
func (r *repository) buf(args ...string) {
	r.t.Helper()
	if buf := os.Getenv("BUF"); buf != "" {
		r.run(buf, args...)
		return
	}
	r.run("go", append([]string{"run", "github.com/bufbuild/buf/cmd/buf@v1.75.0"}, args...)...)
}

func (r *repository) write(name, text string) {
	r.t.Helper()
	name = filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		r.t.Fatal(err)
	}
}

// copy copies files of testdata/repo; Go files have .txt behind their name there.
func (r *repository) copy(names ...string) {
	r.t.Helper()
	for _, name := range names {
		from := filepath.Join("testdata", "repo", filepath.FromSlash(name))
		if strings.HasSuffix(name, ".go") {
			from += ".txt"
		}
		b, err := os.ReadFile(from)
		if err != nil {
			r.t.Fatal(err)
		}
		r.write(name, string(b))
	}
}
