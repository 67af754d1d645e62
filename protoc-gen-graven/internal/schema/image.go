package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	// The options, and the files of protobuf-go that descriptor sets without
	// their imports are likely to lack.
	_ "google.golang.org/protobuf/types/gofeaturespb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/apipb"
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/emptypb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/sourcecontextpb"
	_ "google.golang.org/protobuf/types/known/structpb"
	_ "google.golang.org/protobuf/types/known/timestamppb"
	_ "google.golang.org/protobuf/types/known/typepb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"
	_ "google.golang.org/protobuf/types/pluginpb"

	_ "github.com/graven-rpc/graven/codec/proto/graven"
)

// An image is a descriptor set in which buf adds a message of its own to each file: field
// bufExtension, whose isImport marks files that the module only imports.
const (
	bufExtensionNumber = 8042
	isImportNumber     = 1
)

// fromImage reads a buf image or a FileDescriptorSet.
func fromImage(b []byte) (*Schema, error) {
	set := new(descriptorpb.FileDescriptorSet)
	imports := map[string]bool{}
	if text := bytes.TrimLeft(b, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, set); err != nil {
			return nil, fmt.Errorf("no buf image in JSON: %w", err)
		}
		var marks struct {
			File []struct {
				Name         string
				BufExtension struct{ IsImport bool }
			}
		}
		if err := json.Unmarshal(text, &marks); err != nil {
			return nil, fmt.Errorf("no buf image in JSON: %w", err)
		}
		for _, f := range marks.File {
			imports[f.Name] = f.BufExtension.IsImport
		}
	} else {
		if err := proto.Unmarshal(b, set); err != nil {
			return nil, fmt.Errorf("neither a .proto file nor a buf image or FileDescriptorSet, binary or in JSON: %w", err)
		}
		for _, f := range set.File {
			imports[f.GetName()] = isImport(f.ProtoReflect().GetUnknown())
		}
	}
	if len(set.File) == 0 {
		return nil, errors.New("an image without files")
	}
	if err := complete(set, imports); err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	s := &Schema{set: files}
	files.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		s.Files = append(s.Files, File{FileDescriptor: fd, External: fd.Path(), Import: imports[fd.Path()]})
		return true
	})
	return s, nil
}

// isImport reads buf's mark from the unknown fields of a FileDescriptorProto.
func isImport(unknown []byte) bool {
	mark := uint64(0)
	for len(unknown) > 0 {
		num, typ, n := protowire.ConsumeField(unknown)
		if n < 0 {
			return false
		}
		if num == bufExtensionNumber && typ == protowire.BytesType {
			_, _, k := protowire.ConsumeTag(unknown)
			ext, _ := protowire.ConsumeBytes(unknown[k:])
			for len(ext) > 0 {
				num, typ, n := protowire.ConsumeField(ext)
				if n < 0 {
					return false
				}
				if num == isImportNumber && typ == protowire.VarintType {
					_, _, k := protowire.ConsumeTag(ext)
					mark, _ = protowire.ConsumeVarint(ext[k:])
				}
				ext = ext[n:]
			}
		}
		unknown = unknown[n:]
	}
	return mark != 0
}

// complete adds the files that others import and the set lacks, if they are
// protobuf's own or graven/options.proto.
func complete(set *descriptorpb.FileDescriptorSet, imports map[string]bool) error {
	have := map[string]bool{}
	for _, f := range set.File {
		have[f.GetName()] = true
	}
	for i := 0; i < len(set.File); i++ {
		f := set.File[i]
		for _, path := range f.Dependency {
			if have[path] {
				continue
			}
			fd, err := protoregistry.GlobalFiles.FindFileByPath(path)
			if err != nil {
				return fmt.Errorf("%s imports %s, which the set lacks: build it with its imports (buf does; protoc with --include_imports)", f.GetName(), path)
			}
			have[path], imports[path] = true, true
			set.File = append(set.File, protodesc.ToFileDescriptorProto(fd))
		}
	}
	return nil
}
