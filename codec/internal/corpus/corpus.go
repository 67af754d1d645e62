// Package corpus is what the tests of the codec share: the vectors of the
// format, schemas compiled from text, generators of random schemas, of random
// values and of pairs of schema versions, an encoder written straight from the
// format's text to compare with, and the harness that runs an implementation
// through all of it.
//
// It knows nothing of the codec's packages, so that tests of each of them can
// import it.
package corpus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

// Set is a schema compiled from text: its files and everything they import.
type Set struct {
	// Main is the file that was asked for.
	Main protoreflect.FileDescriptor
	// Files holds Main and its imports.
	Files *protoregistry.Files
	// Types makes dynamic messages, enums and extensions of Files.
	Types *dynamicpb.Types
}

// Dir returns the folder of the vectors, found upwards from the working
// directory, which is where `go test` puts a package's tests.
func Dir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		p := filepath.Join(dir, "codec", "testdata", "vectors")
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no codec/testdata/vectors above the working directory")
		}
		dir = up
	}
}

// Compile compiles the .proto text under the name of its file. The text may
// import graven/options.proto and google/protobuf/*. Options in the result are
// dynamic messages, as protocompile leaves them.
func Compile(name, text string) (*Set, error) {
	return CompileFiles(name, map[string]string{name: text})
}

// CompileFiles is Compile for a file that imports others of the map.
func CompileFiles(name string, texts map[string]string) (*Set, error) {
	own := protocompile.ResolverFunc(func(path string) (protocompile.SearchResult, error) {
		if path == "graven/options.proto" {
			return protocompile.SearchResult{Proto: protodesc.ToFileDescriptorProto(gravenpb.File_graven_options_proto)}, nil
		}
		return protocompile.SearchResult{}, protoregistry.NotFound
	})
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
		&protocompile.SourceResolver{Accessor: protocompile.SourceAccessorFromMap(texts)},
		own,
	})}
	files, err := c.Compile(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return newSet(files[0])
}

func newSet(main protoreflect.FileDescriptor) (*Set, error) {
	s := &Set{Main: main, Files: new(protoregistry.Files)}
	if err := s.register(main); err != nil {
		return nil, err
	}
	s.Types = dynamicpb.NewTypes(s.Files)
	return s, nil
}

func (s *Set) register(fd protoreflect.FileDescriptor) error {
	if _, err := s.Files.FindFileByPath(fd.Path()); err == nil {
		return nil
	}
	for i := range fd.Imports().Len() {
		if err := s.register(fd.Imports().Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return s.Files.RegisterFile(fd)
}

// Message returns the descriptor of the message type with this full name.
func (s *Set) Message(name protoreflect.FullName) (protoreflect.MessageDescriptor, error) {
	d, err := s.Files.FindDescriptorByName(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	md, ok := d.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is no message", name)
	}
	return md, nil
}

// New returns an empty dynamic message of the type with this full name.
func (s *Set) New(name protoreflect.FullName) (proto.Message, error) {
	md, err := s.Message(name)
	if err != nil {
		return nil, err
	}
	return dynamicpb.NewMessage(md), nil
}

// Messages returns the message types that Main declares, nested ones too, but
// not the entries of maps.
func (s *Set) Messages() []protoreflect.MessageDescriptor {
	var all []protoreflect.MessageDescriptor
	var walk func(mds protoreflect.MessageDescriptors)
	walk = func(mds protoreflect.MessageDescriptors) {
		for i := range mds.Len() {
			if md := mds.Get(i); !md.IsMapEntry() {
				all = append(all, md)
				walk(md.Messages())
			}
		}
	}
	walk(s.Main.Messages())
	return all
}

// Extensions returns the extensions that Main declares at its top level.
func (s *Set) Extensions() []protoreflect.ExtensionType {
	var all []protoreflect.ExtensionType
	for i := range s.Main.Extensions().Len() {
		all = append(all, dynamicpb.NewExtensionType(s.Main.Extensions().Get(i)))
	}
	return all
}

// Form says how the options of a descriptor are represented. An implementation
// has to read the format's options in each.
type Form int

const (
	// OptionsGenerated: options are descriptorpb messages with the generated
	// extensions of graven/options.proto.
	OptionsGenerated Form = iota
	// OptionsUnknown: the options were parsed where nothing knew the
	// extensions, so they are unknown fields.
	OptionsUnknown
	// OptionsNewDynamic: the extensions are dynamic messages in descriptorpb
	// messages.
	OptionsNewDynamic
)

// Rebuild returns the set with descriptors made anew from their protobuf
// bytes, as from a buf image.
func (s *Set) Rebuild(form Form) (*Set, error) {
	var resolver interface {
		protoregistry.MessageTypeResolver
		protoregistry.ExtensionTypeResolver
	}
	switch form {
	case OptionsGenerated:
		resolver = protoregistry.GlobalTypes
	case OptionsUnknown:
		resolver = new(protoregistry.Types)
	case OptionsNewDynamic:
		resolver = s.Types
	}
	set := new(descriptorpb.FileDescriptorSet)
	var err error
	s.Files.RangeFiles(func(fd protoreflect.FileDescriptor) bool {
		var b []byte
		if b, err = proto.Marshal(protodesc.ToFileDescriptorProto(fd)); err != nil {
			return false
		}
		p := new(descriptorpb.FileDescriptorProto)
		if err = (proto.UnmarshalOptions{Resolver: resolver}).Unmarshal(b, p); err != nil {
			return false
		}
		set.File = append(set.File, p)
		return true
	})
	if err != nil {
		return nil, err
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	main, err := files.FindFileByPath(s.Main.Path())
	if err != nil {
		return nil, err
	}
	return &Set{Main: main, Files: files, Types: dynamicpb.NewTypes(files)}, nil
}

var schemas struct {
	sync.Mutex
	sets map[string]*Set
}

// Schema returns one of the vectors' schemas by the name of its file.
func Schema(name string) (*Set, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if s, ok := schemas.sets[name]; ok {
		return s, nil
	}
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "schemas", name))
	if err != nil {
		return nil, err
	}
	s, err := Compile(name, string(text))
	if err != nil {
		return nil, err
	}
	if schemas.sets == nil {
		schemas.sets = make(map[string]*Set)
	}
	schemas.sets[name] = s
	return s, nil
}
