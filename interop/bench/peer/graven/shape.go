package graven

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
	"github.com/graven-rpc/graven/interop/bench/peer"
	meshv1 "github.com/graven-rpc/graven/interop/bench/proto/mesh/v1"
)

// added is the name of the field that a newer schema has in every message but
// inline ones, whose layout is frozen.
const added = "added"

// anotherShape is the frame of m as a peer of a newer schema would write it: each
// message type has got a field that m's schema lacks, and it is set everywhere. It is
// nil for a mesh: all but its one field is inline, so there is no other shape.
func anotherShape(m proto.Message) []byte {
	if _, ok := m.(*meshv1.Mesh); ok {
		return nil
	}
	old := m.ProtoReflect().Descriptor()
	fdp := protodesc.ToFileDescriptorProto(old.ParentFile())
	files := new(protoregistry.Files)
	for i := range old.ParentFile().Imports().Len() {
		register(files, old.ParentFile().Imports().Get(i).FileDescriptor)
	}
	for i, md := range fdp.MessageType {
		if !inline(old.ParentFile().Messages().Get(i)) {
			widen(md)
		}
	}
	fd := peer.Must(protodesc.NewFile(fdp, files))
	newer := dynamicpb.NewMessage(fd.Messages().ByName(old.Name()))
	peer.Check(proto.Unmarshal(peer.Must(proto.Marshal(m)), newer))
	fill(newer)
	return peer.Must(codec.Marshal(newer))
}

func register(files *protoregistry.Files, fd protoreflect.FileDescriptor) {
	for i := range fd.Imports().Len() {
		register(files, fd.Imports().Get(i).FileDescriptor)
	}
	if _, err := files.FindFileByPath(fd.Path()); err != nil {
		peer.Check(files.RegisterFile(fd))
	}
}

func widen(md *descriptorpb.DescriptorProto) {
	number := int32(0)
	for _, f := range md.Field {
		number = max(number, f.GetNumber())
	}
	md.Field = append(md.Field, &descriptorpb.FieldDescriptorProto{
		Name: proto.String(added), Number: proto.Int32(number + 1),
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		Type:  descriptorpb.FieldDescriptorProto_TYPE_UINT32.Enum(),
	})
	for _, n := range md.NestedType {
		widen(n)
	}
}

func fill(m protoreflect.Message) {
	if fd := m.Descriptor().Fields().ByName(added); fd != nil {
		m.Set(fd, protoreflect.ValueOfUint32(7))
	}
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.Message() == nil || inline(fd.Message()):
		case fd.IsList():
			for i := range v.List().Len() {
				fill(v.List().Get(i).Message())
			}
		default:
			fill(v.Message())
		}
		return true
	})
}

func inline(md protoreflect.MessageDescriptor) bool {
	o, _ := proto.GetExtension(md.Options(), gravenpb.E_Message).(*gravenpb.MessageOptions)
	return o.GetInline()
}
