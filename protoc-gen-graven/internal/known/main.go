// Command known writes codec/wire/known.go: encode and decode of protobuf's well-known
// types, which stand in nearly every schema and have no methods of ours.
package main

import (
	"log"
	"os"

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
		log.Fatal("usage: known FILE")
	}
	b, err := generate()
	if err == nil {
		err = os.WriteFile(os.Args[1], b, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// generate gives the content of the file.
func generate() ([]byte, error) {
	req := &pluginpb.CodeGeneratorRequest{}
	for _, f := range files {
		req.ProtoFile = append(req.ProtoFile, protodesc.ToFileDescriptorProto(f))
		req.FileToGenerate = append(req.FileToGenerate, f.Path())
	}
	p, err := protogen.Options{}.New(req)
	if err != nil {
		return nil, err
	}
	if err := gen.GenerateKnown(p, "known.go", "wire"); err != nil {
		return nil, err
	}
	return []byte(p.Response().File[0].GetContent()), nil
}
