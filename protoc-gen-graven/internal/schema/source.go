package schema

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

// optionsPath is what schemas import to use Graven's options.
const optionsPath = "graven/options.proto"

// fromFolder compiles all .proto files below a folder, which is also where their
// imports are found.
func fromFolder(folder string, o Options) (*Schema, error) {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		// Folders like .git or node_modules hold no schemas of this module.
		if d.IsDir() && path != folder && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !d.IsDir() && filepath.Ext(path) == ".proto" {
			rel, err := filepath.Rel(folder, path)
			if err != nil {
				return err
			}
			paths = append(paths, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errors.New("no .proto files in this folder")
	}
	// A folder may hold the roots that it is searched from: name each file below the root
	// that is nearest.
	roots := append(slices.Clone(o.Roots), folder)
	for i, path := range paths {
		if name, ok := below(o.Roots, filepath.Join(folder, path)); ok {
			paths[i] = name
		}
	}
	return compile(roots, paths)
}

// below names a file relative to the first of the roots that holds it.
func below(roots []string, path string) (string, bool) {
	for _, root := range roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// fromSource compiles one .proto file. Its imports are found in the roots, and
// without any in the file's own folder.
func fromSource(file string, o Options) (*Schema, error) {
	roots := o.Roots
	name, ok := below(roots, file)
	if !ok {
		roots = append(slices.Clone(roots), filepath.Dir(file))
		name = filepath.Base(file)
	}
	return compile(roots, []string{name})
}

func compile(roots, paths []string) (*Schema, error) {
	locate := func(path string) (string, bool) {
		for _, root := range roots {
			full := filepath.Join(root, filepath.FromSlash(path))
			if _, err := os.Stat(full); err == nil {
				return full, true
			}
		}
		return "", false
	}
	sources := protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
		full, ok := locate(path)
		if !ok {
			return protocompile.SearchResult{}, protoregistry.NotFound
		}
		f, err := os.Open(full)
		return protocompile.SearchResult{Source: f}, err
	})
	own := protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
		if path == optionsPath {
			return protocompile.SearchResult{Proto: protodesc.ToFileDescriptorProto(gravenpb.File_graven_options_proto)}, nil
		}
		return protocompile.SearchResult{}, protoregistry.NotFound
	})
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(protocompile.CompositeResolver{sources, own}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(context.Background(), paths...)
	if err != nil {
		return nil, advise(err, paths, locate)
	}
	s := &Schema{set: new(protoregistry.Files)}
	var add func(fd protoreflect.FileDescriptor) error
	add = func(fd protoreflect.FileDescriptor) error {
		if _, err := s.set.FindFileByPath(fd.Path()); err == nil {
			return nil
		}
		for i := range fd.Imports().Len() {
			if err := add(fd.Imports().Get(i).FileDescriptor); err != nil {
				return err
			}
		}
		external, ok := locate(fd.Path())
		if !ok {
			external = fd.Path()
		}
		s.Files = append(s.Files, File{
			FileDescriptor: fd,
			External:       filepath.ToSlash(external),
			Import:         !slices.Contains(paths, fd.Path()),
		})
		return s.set.RegisterFile(fd)
	}
	for _, fd := range files {
		if err := add(fd); err != nil {
			return nil, err
		}
	}
	return s, nil
}

var editionLine = regexp.MustCompile(`(?m)^\s*edition\s*=\s*["'](\w+)["']`)

// advise adds the way out to errors of the compiler that have one.
func advise(err error, paths []string, locate func(string) (string, bool)) error {
	const build = "`buf build -o image.binpb` and give the image instead"
	for _, path := range paths {
		full, _ := locate(path)
		if m := editionLine.FindStringSubmatch(head(full)); m != nil && m[1] > "2023" && strings.Contains(err.Error(), "edition") {
			return fmt.Errorf("%w: the compiler in here knows editions up to 2023, buf knows more; run %s", err, build)
		}
	}
	if strings.Contains(err.Error(), "could not resolve path") {
		return fmt.Errorf("%w: name the folder of the import with -I, or, where it is a dependency from a registry, run %s", err, build)
	}
	return err
}

// head is the start of a file, where its edition stands; "" if it can't be read.
func head(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return ""
	}
	return string(b)
}
