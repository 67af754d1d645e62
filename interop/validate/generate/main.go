// Command generate writes the Go code of orders.proto below a folder. The file that it imports
// for the rules is in no folder: its descriptor is taken from the Go package of the rules.
//
//	go run ./generate DIR
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const source = "orders/orders.proto"

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: generate DIR")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(dir string) error {
	rules := protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
		if path != validate.File_buf_validate_validate_proto.Path() {
			return protocompile.SearchResult{}, os.ErrNotExist
		}
		return protocompile.SearchResult{Desc: validate.File_buf_validate_validate_proto}, nil
	})
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(protocompile.CompositeResolver{rules, &protocompile.SourceResolver{}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), source)
	if err != nil {
		return err
	}
	req := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{source}, Parameter: proto.String("module=github.com/graven-rpc/graven/interop/validate")}
	req.ProtoFile = withImports(nil, files[0], map[string]bool{})
	return errors.Join(
		run(dir, "google.golang.org/protobuf/cmd/protoc-gen-go", req),
		run(dir, "github.com/graven-rpc/graven/protoc-gen-graven", grpc(req)),
	)
}

// grpc asks for services too.
func grpc(req *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorRequest {
	req = proto.CloneOf(req)
	req.Parameter = proto.String(req.GetParameter() + ",grpc")
	return req
}

// withImports appends a file and before it what it imports.
func withImports(to []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, done map[string]bool) []*descriptorpb.FileDescriptorProto {
	if done[f.Path()] {
		return to
	}
	done[f.Path()] = true
	for i := range f.Imports().Len() {
		to = withImports(to, f.Imports().Get(i).FileDescriptor, done)
	}
	return append(to, protoutil.ProtoFromFileDescriptor(f))
}

// run has a plugin generate below dir.
func run(dir, plugin string, req *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(req)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "run", plugin)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", plugin, err)
	}
	var resp pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &resp); err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("%s: %s", plugin, resp.GetError())
	}
	for _, f := range resp.File {
		name := filepath.Join(dir, f.GetName())
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(f.GetContent()), 0o666); err != nil {
			return err
		}
	}
	return nil
}
