package sets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// edition2024 is what the compiler in this process does not take; buf does.
var edition2024 = regexp.MustCompile(`(?m)^edition = "2024";`)

// ProtobufGo compiles the test protos of the protobuf-go module that this module
// is built with, without buf and without fetching anything. Left out are files
// of edition 2024, those that import them, and one whose extensions clash with
// another's.
func ProtobufGo(ctx context.Context) (*descriptorpb.FileDescriptorSet, []string, error) {
	out, err := command(".", "go", "list", "-m", "-f", "{{.Dir}}", protobufGo)
	if err != nil {
		return nil, nil, err
	}
	root := strings.TrimSpace(string(out))
	var names []string
	skip := make(map[string]bool)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".proto") {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if hasPrefix(name, []string{"src/", conflicting}) {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		names = append(names, name)
		skip[name] = edition2024.Match(b)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}

	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
	}
	set := new(descriptorpb.FileDescriptorSet)
	var own []string
	done := make(map[string]bool)
	var add func(protoreflect.FileDescriptor) error
	add = func(f protoreflect.FileDescriptor) error {
		if done[f.Path()] {
			return nil
		}
		done[f.Path()] = true
		for i := range f.Imports().Len() {
			if err := add(f.Imports().Get(i).FileDescriptor); err != nil {
				return err
			}
		}
		// Options are dynamic messages here: by way of their bytes they become
		// what descriptorpb knows, or unknown fields.
		b, err := proto.MarshalOptions{AllowPartial: true}.Marshal(protodesc.ToFileDescriptorProto(f))
		if err != nil {
			return err
		}
		fd := new(descriptorpb.FileDescriptorProto)
		if err := proto.Unmarshal(b, fd); err != nil {
			return err
		}
		set.File = append(set.File, fd)
		return nil
	}
	for _, name := range names {
		if skip[name] {
			continue
		}
		files, err := compiler.Compile(ctx, name)
		if err != nil {
			if strings.Contains(err.Error(), "edition value \"2024\"") {
				continue // it imports one
			}
			return nil, nil, err
		}
		if err := add(files.FindFileByPath(name)); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		own = append(own, name)
	}
	return set, own, nil
}
