package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/interop/schemas/sets"
)

// scratch is the module that code is generated into, one for each set. It is
// below this module's path so that it may be replaced like it.
const scratch = "github.com/graven-rpc/graven/interop/schemas/generated/"

// The two generators. Both are built with protolegacy, without which they
// refuse message sets.
const (
	theirPlugin = "google.golang.org/protobuf/cmd/protoc-gen-go"
	ourPlugin   = "github.com/graven-rpc/graven/protoc-gen-graven"
)

// A generator turns sets into programs, each with a build cache of its own, so
// that compile times are those of compiling.
type generator struct {
	dir    string // scratch modules, plugins, build cache
	keep   bool
	views  bool   // generate views and read through them
	module string // folder of this module
	root   string // folder of the module github.com/graven-rpc/graven
}

func newGenerator(keep string, views bool) (*generator, error) {
	g := &generator{dir: keep, keep: keep != "", views: views}
	for path, dir := range map[string]*string{
		"github.com/graven-rpc/graven":                 &g.root,
		"github.com/graven-rpc/graven/interop/schemas": &g.module,
	} {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
		if err != nil {
			return nil, fmt.Errorf("go list -m %s (run in the folder of this module): %w", path, err)
		}
		*dir = strings.TrimSpace(string(out))
	}
	var err error
	if g.keep {
		if g.dir, err = filepath.Abs(g.dir); err == nil {
			err = os.MkdirAll(g.dir, 0o755)
		}
	} else {
		g.dir, err = os.MkdirTemp("", "schemas")
	}
	if err != nil {
		return nil, err
	}
	// Times are those of compiling only with a cache that knows none of it yet.
	if err := os.RemoveAll(g.cache()); err != nil {
		return nil, err
	}
	for _, plugin := range []string{theirPlugin, ourPlugin} {
		cmd := exec.Command("go", "build", "-tags", "protolegacy", "-o", g.plugin(plugin), plugin)
		cmd.Dir = g.module
		if out, err := cmd.CombinedOutput(); err != nil {
			g.close()
			return nil, fmt.Errorf("go build %s: %w\n%s", plugin, err, out)
		}
	}
	return g, nil
}

func (g *generator) cache() string { return filepath.Join(g.dir, "cache") }

func (g *generator) plugin(name string) string {
	return filepath.Join(g.dir, "bin", path.Base(name))
}

func (g *generator) close() {
	if !g.keep {
		os.RemoveAll(g.dir)
	}
}

// run generates, builds, vets and runs the program for one set.
func (g *generator) run(s *sets.Set, cache string, values int, seed uint64) (result, error) {
	r, err := g.generate(s, cache, values, seed)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.Name, err)
	}
	return r, err
}

func (g *generator) generate(s *sets.Set, cache string, values int, seed uint64) (result, error) {
	set, own, err := s.Load(cache)
	if err != nil {
		return result{}, err
	}
	module := scratch + s.Name
	req, packages, err := request(s, set, own, module)
	if err != nil {
		return result{}, err
	}

	dir := filepath.Join(g.dir, s.Name)
	if err := os.RemoveAll(dir); err != nil {
		return result{}, err
	}
	if err := g.writeModule(dir, module); err != nil {
		return result{}, err
	}
	r := result{files: len(req.FileToGenerate), code: new(code)}
	// What the generated code rests on is compiled before anything is measured.
	if _, err := g.goCommand(dir, "build", driverPackage, "google.golang.org/protobuf/types/..."); err != nil {
		return result{}, err
	}
	theirs, err := g.generateWith(theirPlugin, req)
	if err != nil {
		return result{}, err
	}
	parameter := req.GetParameter()
	if !g.views {
		req.Parameter = proto.String(parameter + ",views=none")
	}
	ours, err := g.generateWith(ourPlugin, req)
	if err != nil {
		return result{}, err
	}
	req.Parameter = proto.String(parameter)
	// Views are packages of their own.
	var methods, views []*pluginpb.CodeGeneratorResponse_File
	for _, f := range ours {
		if strings.HasSuffix(path.Dir(f.GetName()), "graven") {
			views = append(views, f)
		} else {
			methods = append(methods, f)
		}
	}
	for _, step := range []struct {
		files []*pluginpb.CodeGeneratorResponse_File
		cost  *cost
	}{{theirs, &r.code.theirs}, {methods, &r.code.methods}, {views, &r.code.views}} {
		if step.cost.lines, err = writeAll(dir, step.files); err != nil {
			return result{}, err
		}
		if step.cost.compile, err = g.goCommand(dir, "build", "./..."); err != nil {
			return result{}, err
		}
	}
	if err := g.writeMain(dir, module, packages, req); err != nil {
		return result{}, err
	}
	if _, err := g.goCommand(dir, "vet", "./..."); err != nil {
		return result{}, err
	}
	if _, err := g.goCommand(dir, "build", "-o", "values", "."); err != nil {
		return result{}, err
	}

	start := time.Now()
	cmd := exec.Command(filepath.Join(dir, "values"), "-values", strconv.Itoa(values), "-seed", strconv.FormatUint(seed, 10))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("the generated program: %w\n%s", err, stderr.Bytes())
	}
	r.took = time.Since(start)
	if err := json.Unmarshal(out, &r.Summary); err != nil {
		return result{}, fmt.Errorf("what the generated program says: %w", err)
	}
	if r.Types == 0 {
		return result{}, errors.New("the generated program has no types")
	}
	return r, nil
}

// The packages that generated programs import.
const (
	driverPackage = "github.com/graven-rpc/graven/interop/schemas/driver"
	checkPackage  = "github.com/graven-rpc/graven/interop/schemas/check"
)

// writeModule writes go.mod and go.sum of a scratch module.
func (g *generator) writeModule(dir, module string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(g.module, "go.mod"))
	if err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(g.module, "go.sum"))
	if err != nil {
		return err
	}
	own, _, _ := strings.Cut(module, "/generated/")
	b := bytes.Replace(mod, []byte("module "+own+"\n"), []byte("module "+module+"\n"), 1)
	b = bytes.Replace(b, []byte("=> ../..\n"), []byte("=> "+g.root+"\n"), 1)
	b = fmt.Appendf(b, "\nrequire %s v0.0.0\n\nreplace %s => %s\n", own, own, g.module)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), b, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o644); err != nil {
		return err
	}
	return nil
}

// writeMain writes the program: it links in all packages, and the view of each
// message that has one.
func (g *generator) writeMain(dir, module string, packages []string, req *pluginpb.CodeGeneratorRequest) error {
	plugin, err := protogen.Options{}.New(req)
	if err != nil {
		return err
	}
	var imports, views bytes.Buffer
	seen := make(map[protogen.GoImportPath]string)
	var add func(*protogen.Message)
	add = func(m *protogen.Message) {
		if m.Desc.IsMapEntry() {
			return
		}
		path := m.GoIdent.GoImportPath
		name, ok := seen[path]
		if !ok {
			name = fmt.Sprintf("views%d", len(seen))
			seen[path] = name
			fmt.Fprintf(&imports, "\t%s %q\n", name, viewPackage(plugin, path))
		}
		fmt.Fprintf(&views, "\tdriver.Views[%q] = check.Open[%s.%s]\n", m.Desc.FullName(), name, m.GoIdent.GoName)
		for _, sub := range m.Messages {
			add(sub)
		}
	}
	for _, f := range plugin.Files {
		for _, m := range f.Messages {
			// Not of files whose code is protobuf-go's own.
			if f.Generate && g.views {
				add(m)
			}
		}
	}
	for _, p := range packages {
		fmt.Fprintf(&imports, "\t_ %q\n", p)
	}
	if g.views {
		fmt.Fprintf(&imports, "\t%q\n", checkPackage)
	}
	main := fmt.Sprintf("// Program of random values of a set of schemas.\npackage main\n\nimport (\n\t%q\n\n%s)\n\nfunc main() {\n%s\tdriver.Main(%q)\n}\n",
		driverPackage, imports.Bytes(), views.Bytes(), module)
	return os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644)
}

// viewPackage is where protoc-gen-graven puts the views of a package's messages.
func viewPackage(plugin *protogen.Plugin, path protogen.GoImportPath) string {
	for _, f := range plugin.Files {
		if f.GoImportPath == path {
			return string(path) + "/" + string(f.GoPackageName) + "graven"
		}
	}
	return string(path) // not reached: every message is of a file
}

// goCommand runs the go command in a scratch module and returns the CPU time
// that it and what it started took.
func (g *generator) goCommand(dir, verb string, args ...string) (time.Duration, error) {
	cmd := exec.Command("go", append([]string{verb, "-tags", "protolegacy"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOCACHE="+g.cache(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		const most = 6000
		return 0, fmt.Errorf("go %s %s in %s: %w\n%s", verb, strings.Join(args, " "), dir, err, out[:min(len(out), most)])
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// generateWith runs a plugin.
func (g *generator) generateWith(plugin string, req *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	name := path.Base(plugin)
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(g.plugin(plugin))
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, stderr.Bytes())
	}
	res := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out, res); err != nil {
		return nil, fmt.Errorf("%s: its answer: %w", name, err)
	}
	if res.Error != nil {
		return nil, fmt.Errorf("%s: %s", name, res.GetError())
	}
	return res.File, nil
}

// writeAll writes generated files and counts their lines.
func writeAll(dir string, files []*pluginpb.CodeGeneratorResponse_File) (int, error) {
	n := 0
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.GetName()))
		if _, err := os.Stat(name); err == nil {
			return n, fmt.Errorf("a second %s is generated", f.GetName())
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return n, err
		}
		if err := writeGo(name, f.GetContent()); err != nil {
			return n, err
		}
		n += strings.Count(f.GetContent(), "\n")
	}
	return n, nil
}

// writeGo writes a file of Go, and under another name if go build would take this
// one for a file of another platform: Google has an experiment_arm.proto.
func writeGo(name, content string) error {
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		return err
	}
	dir, base := filepath.Split(name)
	if ok, err := build.Default.MatchFile(dir, base); err != nil || ok {
		return err
	}
	first, rest, _ := strings.Cut(base, ".")
	return os.Rename(name, filepath.Join(dir, first+"_."+rest))
}

// request asks for the code of the chosen files of a set and of all that they
// import, save what protobuf-go has itself, in packages below module. It also
// returns these packages.
func request(s *sets.Set, set *descriptorpb.FileDescriptorSet, own []string, module string) (*pluginpb.CodeGeneratorRequest, []string, error) {
	files := make(map[string]*descriptorpb.FileDescriptorProto)
	for _, f := range set.File {
		files[f.GetName()] = f
	}
	wanted := make(map[string]bool)
	var want func(string)
	want = func(name string) {
		if wanted[name] {
			return
		}
		wanted[name] = true
		for _, dep := range files[name].GetDependency() {
			want(dep)
		}
	}
	for _, name := range own {
		if s.Generates(name) {
			want(name)
		}
	}

	parameters := append([]string{"module=" + module}, s.Options...)
	req := &pluginpb.CodeGeneratorRequest{}
	var packages []string
	seen := make(map[string]bool)
	for _, f := range set.File {
		if !wanted[f.GetName()] {
			continue
		}
		req.ProtoFile = append(req.ProtoFile, f)
		if strings.HasPrefix(f.GetOptions().GetGoPackage(), protobufGoPackages) && strings.HasPrefix(f.GetName(), "google/protobuf/") {
			continue
		}
		path, name := goPackage(f)
		path = module + "/" + path
		parameters = append(parameters, "M"+f.GetName()+"="+path+";"+name)
		req.FileToGenerate = append(req.FileToGenerate, f.GetName())
		if !seen[path] {
			seen[path] = true
			packages = append(packages, path)
		}
	}
	if len(req.FileToGenerate) == 0 {
		return nil, nil, errors.New("no files to generate from")
	}
	req.Parameter = proto.String(strings.Join(parameters, ","))
	return req, packages, nil
}

// protobufGoPackages is where protobuf-go has the code of the files that every
// compiler brings along.
const protobufGoPackages = "google.golang.org/protobuf/types/"

// goPackage decides the path of a file's Go package, below a module, and its
// name: those of its go_package, or a package for the file alone.
func goPackage(f *descriptorpb.FileDescriptorProto) (path, name string) {
	path, name, _ = strings.Cut(f.GetOptions().GetGoPackage(), ";")
	if path == "" {
		path = strings.TrimSuffix(f.GetName(), ".proto")
	}
	if name == "" {
		name = strings.Map(func(r rune) rune {
			if r == '-' || r == '.' {
				return '_'
			}
			return r
		}, path[strings.LastIndex(path, "/")+1:])
	}
	if name == "main" {
		name = "main_" // can't be imported
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		// Folders that the go command treats in its own way.
		if p == "internal" || p == "testdata" || p == "vendor" {
			parts[i] = p + "_"
		}
	}
	return strings.Join(parts, "/"), name
}
