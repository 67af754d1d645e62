package sets

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Types are the dynamic types of a set.
type Types struct {
	*dynamicpb.Types // finds extensions by number
	Messages         []protoreflect.MessageType
	Files            int
	extensions       map[protoreflect.FullName][]protoreflect.ExtensionType
}

// NewTypes makes the types of compiled files. Messages has those of the files
// named in own, or of all if own is nil; map entries are not among them. Built
// without the tag protolegacy it leaves out files with message sets, which
// protobuf-go then refuses, and files that import them.
func NewTypes(set *descriptorpb.FileDescriptorSet, own []string) (*Types, error) {
	if !protolegacy {
		set = withoutMessageSets(set)
	}
	files := new(protoregistry.Files)
	options := protodesc.FileOptions{}
	for _, fd := range set.File {
		f, err := options.New(fd, files)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", fd.GetName(), err)
		}
		if err := files.RegisterFile(f); err != nil {
			return nil, fmt.Errorf("%s: %w", fd.GetName(), err)
		}
	}
	t := &Types{Types: dynamicpb.NewTypes(files), extensions: make(map[protoreflect.FullName][]protoreflect.ExtensionType)}
	want := make(map[string]bool)
	for _, name := range own {
		want[name] = true
	}
	for _, fd := range set.File {
		f, err := files.FindFileByPath(fd.GetName())
		if err != nil {
			return nil, err
		}
		t.addExtensions(f.Extensions())
		if own == nil || want[f.Path()] {
			t.Files++
			t.addMessages(f.Messages(), true)
		} else {
			t.addMessages(f.Messages(), false)
		}
	}
	return t, nil
}

func withoutMessageSets(set *descriptorpb.FileDescriptorSet) *descriptorpb.FileDescriptorSet {
	out := make(map[string]bool)
	kept := new(descriptorpb.FileDescriptorSet)
	for _, fd := range set.File {
		if anyMessageSet(fd.MessageType) || slices.ContainsFunc(fd.Dependency, func(s string) bool { return out[s] }) {
			out[fd.GetName()] = true
			continue
		}
		kept.File = append(kept.File, fd)
	}
	return kept
}

func anyMessageSet(all []*descriptorpb.DescriptorProto) bool {
	return slices.ContainsFunc(all, func(md *descriptorpb.DescriptorProto) bool {
		return md.GetOptions().GetMessageSetWireFormat() || anyMessageSet(md.NestedType)
	})
}

func (t *Types) addMessages(all protoreflect.MessageDescriptors, list bool) {
	for i := range all.Len() {
		md := all.Get(i)
		if md.IsMapEntry() {
			continue
		}
		if list {
			t.Messages = append(t.Messages, dynamicpb.NewMessageType(md))
		}
		t.addExtensions(md.Extensions())
		t.addMessages(md.Messages(), list)
	}
}

func (t *Types) addExtensions(all protoreflect.ExtensionDescriptors) {
	for i := range all.Len() {
		// The resolver's type, so that values set and decoded agree.
		x, err := t.FindExtensionByName(all.Get(i).FullName())
		if err != nil {
			continue // not reached: every file is registered
		}
		to := x.TypeDescriptor().ContainingMessage().FullName()
		t.extensions[to] = append(t.extensions[to], x)
	}
}

// Extensions returns the extensions of a message.
func (t *Types) Extensions(name protoreflect.FullName) []protoreflect.ExtensionType {
	return t.extensions[name]
}
