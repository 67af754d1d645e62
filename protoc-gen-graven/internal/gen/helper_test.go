package gen

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/gofeaturespb"
	"google.golang.org/protobuf/types/pluginpb"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

// request compiles schemas, given by path, and asks for code for all of them. The
// parameter is what follows opt: in buf.gen.yaml.
func request(t testing.TB, parameter string, texts map[string]string) *pluginpb.CodeGeneratorRequest {
	t.Helper()
	known := func(name string) (protocompile.SearchResult, error) {
		for _, f := range []protoreflect.FileDescriptor{gravenpb.File_graven_options_proto, gofeaturespb.File_google_protobuf_go_features_proto} {
			if f.Path() == name {
				return protocompile.SearchResult{Proto: protodesc.ToFileDescriptorProto(f)}, nil
			}
		}
		return protocompile.SearchResult{}, os.ErrNotExist
	}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(texts)}, protocompile.ResolverFunc(known),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	names := slices.Sorted(maps.Keys(texts))
	files, err := c.Compile(context.Background(), names...)
	if err != nil {
		t.Fatal(err)
	}
	req := &pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: proto.String(parameter)}
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
	for _, f := range files {
		add(f)
	}
	// As from buf: what the compiler keeps as dynamic messages becomes what it is.
	again := new(pluginpb.CodeGeneratorRequest)
	if err := proto.Unmarshal(encoded(t, req), again); err != nil {
		t.Fatal(err)
	}
	return again
}

func encoded(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// edition2024 makes files of edition 2023 ones of 2024, which the compiler can't read.
func edition2024(req *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorRequest {
	for _, f := range req.ProtoFile {
		if slices.Contains(req.FileToGenerate, f.GetName()) {
			f.Edition = descriptorpb.Edition_EDITION_2024.Enum()
		}
	}
	return req
}

// output is generated files by path.
type output map[string]string

// generate runs this generator.
func generate(t testing.TB, req *pluginpb.CodeGeneratorRequest) (output, error) {
	t.Helper()
	var flags flag.FlagSet
	var o Options
	flags.Func("views", "", o.Views.Set)
	flags.Func("grpc", "", o.Services.SetGRPC)
	flags.Func("connect", "", o.Services.SetConnect)
	p, err := protogen.Options{ParamFunc: flags.Set}.New(req)
	if err != nil {
		return nil, err
	}
	if err := Generate(p, o); err != nil {
		return nil, err
	}
	res := p.Response()
	if res.Error != nil {
		return nil, errors.New(res.GetError())
	}
	return files(res), nil
}

func files(res *pluginpb.CodeGeneratorResponse) output {
	out := output{}
	for _, f := range res.File {
		out[f.GetName()] = f.GetContent()
	}
	return out
}

// goPlugin builds protoc-gen-go once, at the version in go.mod.
var goPlugin = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "protoc-gen-go-")
	if err != nil {
		return "", err
	}
	cleanup = append(cleanup, func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "protoc-gen-go")
	b, err := exec.Command("go", "build", "-o", file, "google.golang.org/protobuf/cmd/protoc-gen-go").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, b)
	}
	return file, nil
})

var cleanup []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range cleanup {
		f()
	}
	os.Exit(code)
}

// protocGenGo runs protoc-gen-go. It does not take our option.
func protocGenGo(t testing.TB, req *pluginpb.CodeGeneratorRequest) output {
	t.Helper()
	plugin, err := goPlugin()
	if err != nil {
		t.Fatal(err)
	}
	req = proto.CloneOf(req)
	req.Parameter = proto.String(strings.Join(slices.DeleteFunc(strings.Split(req.GetParameter(), ","), func(s string) bool {
		return strings.HasPrefix(s, "views=") || strings.HasPrefix(s, "grpc=") || strings.HasPrefix(s, "connect=")
	}), ","))
	cmd := exec.Command(plugin)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(encoded(t, req)), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("protoc-gen-go: %v\n%s", err, stderr.Bytes())
	}
	res := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(stdout.Bytes(), res); err != nil {
		t.Fatal(err)
	}
	if res.Error != nil {
		t.Fatal("protoc-gen-go: ", res.GetError())
	}
	return files(res)
}

// both runs both plugins.
func both(t testing.TB, req *pluginpb.CodeGeneratorRequest) output {
	t.Helper()
	ours, err := generate(t, req)
	if err != nil {
		t.Fatal(err)
	}
	all := protocGenGo(t, req)
	for name, text := range ours {
		if _, ok := all[name]; ok {
			t.Fatalf("protoc-gen-go writes %s too", name)
		}
		all[name] = text
	}
	return all
}

// exports are files of export data of the packages that generated code imports.
var exports = sync.OnceValues(func() (map[string]string, error) {
	b, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}} {{.Export}}{{end}}",
		"github.com/graven-rpc/graven/codec/gravengrpc", "github.com/graven-rpc/graven/codec/gravenconnect", "github.com/graven-rpc/graven/codec/views/...", "google.golang.org/protobuf/types/known/...",
		"github.com/graven-rpc/graven/codec/proto/graven", "google.golang.org/protobuf/types/gofeaturespb").Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w\n%s", err, e.Stderr)
		}
		return nil, err
	}
	all := map[string]string{}
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		name, file, _ := strings.Cut(l, " ")
		all[name] = file
	}
	return all, nil
})

// checker finds what the Go compiler would find in generated packages. A package's
// import path is its folder's path.
type checker struct {
	t        testing.TB
	out      output
	context  build.Context
	fset     *token.FileSet
	dirs     map[string][]string // files by folder
	packages map[string]*types.Package
	others   types.Importer
	errs     []error
}

// compileErrors type-checks all packages of the output as Go would build them with the
// tags, and gives the errors.
func compileErrors(t testing.TB, out output, tags ...string) []error {
	t.Helper()
	known, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{t: t, out: out, context: build.Default, fset: token.NewFileSet(), dirs: map[string][]string{}, packages: map[string]*types.Package{}}
	c.context.BuildTags = tags
	c.context.OpenFile = func(file string) (io.ReadCloser, error) {
		text, ok := out[filepath.ToSlash(file)]
		if !ok {
			return nil, os.ErrNotExist
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
	c.others = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		file, ok := known[path]
		if !ok {
			return nil, fmt.Errorf("no package %s", path)
		}
		return os.Open(file)
	})
	for name := range out {
		c.dirs[path.Dir(name)] = append(c.dirs[path.Dir(name)], path.Base(name))
	}
	for _, dir := range slices.Sorted(maps.Keys(c.dirs)) {
		if _, err := c.Import(dir); err != nil {
			c.errs = append(c.errs, err)
		}
	}
	return c.errs
}

// Import checks a generated package once.
func (c *checker) Import(name string) (*types.Package, error) {
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	if p, ok := c.packages[name]; ok {
		if p == nil {
			return nil, fmt.Errorf("import cycle through %s", name)
		}
		return p, nil
	}
	names, ok := c.dirs[name]
	if !ok {
		return c.others.Import(name)
	}
	c.packages[name] = nil
	slices.Sort(names)
	var asts []*ast.File
	for _, base := range names {
		if match, err := c.context.MatchFile(name, base); err != nil || !match {
			if err != nil {
				c.errs = append(c.errs, err)
			}
			continue
		}
		file := path.Join(name, base)
		f, err := parser.ParseFile(c.fset, file, c.out[file], parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		asts = append(asts, f)
	}
	conf := types.Config{Importer: c, Error: func(err error) { c.errs = append(c.errs, err) }, Sizes: types.SizesFor("gc", runtime.GOARCH)}
	p, _ := conf.Check(name, c.fset, asts, nil)
	c.packages[name] = p
	return p, nil
}

// mustCompile fails with the first few errors.
func mustCompile(t testing.TB, out output, tags ...string) {
	t.Helper()
	errs := compileErrors(t, out, tags...)
	for _, err := range errs[:min(20, len(errs))] {
		t.Error(err)
	}
	if len(errs) > 20 {
		t.Errorf("and %d errors more", len(errs)-20)
	}
}
