// Package schema loads protobuf schemas for the commands that a person runs by
// hand: buf images, descriptor sets, .proto files and folders of them.
package schema

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Schema is a set of files and everything that they import.
type Schema struct {
	Input string // as it was given
	Files []File // in order of path
	set   *protoregistry.Files
}

// File is one file of a schema.
type File struct {
	protoreflect.FileDescriptor
	// External is the path to show to people: the path inside an image, and
	// for a .proto on disk the path under which it was found.
	External string
	// Import is set on files that the input holds, or that were found, only because others import
	// them.
	Import bool
}

// Options say where to look.
type Options struct {
	Roots []string  // folders to resolve the imports of .proto files in, before the input's own
	Stdin io.Reader // what the input "-" is
}

// maxInput bounds what is read and unpacked from one input, in bytes. The largest
// public sets of schemas have images of some 50 MB.
const maxInput = 1 << 30

// Load reads a schema. What an input is follows from what it holds: a folder is
// searched for .proto files, a .proto file is compiled, anything else is a buf image
// or a FileDescriptorSet, in protobuf's bytes or in JSON, compressed with gzip or
// not. "-" is the standard input.
func Load(input string, o Options) (*Schema, error) {
	s, err := load(input, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", input, err)
	}
	s.Input = input
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path(), b.Path()) })
	return s, nil
}

func load(input string, o Options) (*Schema, error) {
	if input == "-" {
		b, err := readAll(o.Stdin)
		if err != nil {
			return nil, err
		}
		return fromImage(b)
	}
	info, err := os.Stat(input)
	switch {
	case err != nil && strings.Contains(input, "#"):
		return nil, fmt.Errorf("no such file; build inputs of buf's with options, such as Git repositories, with `buf build '%s' -o image.binpb`", input)
	case err != nil:
		return nil, errNoFile(err)
	case info.IsDir():
		return fromFolder(input, o)
	case filepath.Ext(input) == ".proto":
		return fromSource(input, o)
	}
	f, err := os.Open(input)
	if err != nil {
		return nil, errNoFile(err)
	}
	defer f.Close()
	b, err := readAll(f)
	if err != nil {
		return nil, err
	}
	return fromImage(b)
}

// errNoFile drops the path, which the error names already.
func errNoFile(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}

// readAll reads an input of bounded size and unpacks it.
func readAll(r io.Reader) ([]byte, error) {
	b, err := limited(r)
	if err != nil || !bytes.HasPrefix(b, []byte{0x1F, 0x8B}) {
		return b, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return limited(z)
}

func limited(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err == nil && len(b) > maxInput {
		err = fmt.Errorf("more than %d bytes", maxInput)
	}
	return b, err
}

// Message finds a message type by its full name, nil if there is none.
func (s *Schema) Message(name protoreflect.FullName) protoreflect.MessageDescriptor {
	d, err := s.set.FindDescriptorByName(name)
	if err != nil {
		return nil
	}
	md, _ := d.(protoreflect.MessageDescriptor)
	return md
}

// Messages gives all message types of the files that keep allows (nil: all), nested
// ones behind those that hold them, without the entries of maps.
func (s *Schema) Messages(keep func(*File) bool) []protoreflect.MessageDescriptor {
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
	for i := range s.Files {
		if keep == nil || keep(&s.Files[i]) {
			walk(s.Files[i].Messages())
		}
	}
	return all
}

// File finds the file that declares something.
func (s *Schema) File(d protoreflect.Descriptor) *File {
	fd := d.ParentFile()
	if fd == nil {
		return nil
	}
	return s.ByPath(fd.Path())
}

// ByPath finds a file by the path under which it is imported.
func (s *Schema) ByPath(path string) *File {
	i, ok := slices.BinarySearchFunc(s.Files, path, func(f File, path string) int { return strings.Compare(f.Path(), path) })
	if !ok {
		return nil
	}
	return &s.Files[i]
}

// Extensions gives all extensions of the schema.
func (s *Schema) Extensions() []protoreflect.ExtensionDescriptor {
	var all []protoreflect.ExtensionDescriptor
	add := func(xs protoreflect.ExtensionDescriptors) {
		for i := range xs.Len() {
			all = append(all, xs.Get(i))
		}
	}
	for i := range s.Files {
		add(s.Files[i].Extensions())
	}
	for _, md := range s.Messages(nil) {
		add(md.Extensions())
	}
	return all
}
