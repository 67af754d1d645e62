// Command knownviews writes the views of protobuf's well-known types to the folder that
// it is given, codec/views.
package main

import (
	"log"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/gen"
)

var files = []protoreflect.FileDescriptor{
	anypb.File_google_protobuf_any_proto,
	durationpb.File_google_protobuf_duration_proto,
	emptypb.File_google_protobuf_empty_proto,
	fieldmaskpb.File_google_protobuf_field_mask_proto,
	structpb.File_google_protobuf_struct_proto,
	timestamppb.File_google_protobuf_timestamp_proto,
	wrapperspb.File_google_protobuf_wrappers_proto,
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: knownviews FOLDER")
	}
	contents, err := generate()
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range contents {
		file := filepath.Join(os.Args[1], filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
			log.Fatal(err)
		}
	}
}

// generate gives the files by their names in the folder.
func generate() (map[string]string, error) {
	req := &pluginpb.CodeGeneratorRequest{}
	for _, f := range files {
		req.ProtoFile = append(req.ProtoFile, protodesc.ToFileDescriptorProto(f))
		req.FileToGenerate = append(req.FileToGenerate, f.Path())
	}
	p, err := protogen.Options{}.New(req)
	if err != nil {
		return nil, err
	}
	if err := gen.GenerateKnownViews(p); err != nil {
		return nil, err
	}
	contents := map[string]string{}
	for _, f := range p.Response().File {
		contents[f.GetName()] = f.GetContent()
	}
	return contents, nil
}
