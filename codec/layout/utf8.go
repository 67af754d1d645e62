package layout

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// enforceUTF8 reports whether protobuf checks a string field for UTF-8. Descriptors of
// protobuf-go resolve features themselves; those of other libraries are asked for
// their syntax and options.
func enforceUTF8(fd protoreflect.FieldDescriptor) bool {
	if x, ok := fd.(interface{ EnforceUTF8() bool }); ok {
		return x.EnforceUTF8()
	}
	switch fd.Syntax() {
	case protoreflect.Proto2:
		return false
	case protoreflect.Proto3:
		return true
	}
	for d := protoreflect.Descriptor(fd); d != nil; d = d.Parent() {
		switch utf8Feature(d.Options()) {
		case descriptorpb.FeatureSet_VERIFY:
			return true
		case descriptorpb.FeatureSet_NONE:
			return false
		}
	}
	return true // the default of every edition
}

// utf8Feature reads features.utf8_validation of some declaration's options.
func utf8Feature(options proto.Message) descriptorpb.FeatureSet_Utf8Validation {
	if options == nil || !options.ProtoReflect().IsValid() {
		return descriptorpb.FeatureSet_UTF8_VALIDATION_UNKNOWN
	}
	m := options.ProtoReflect()
	fd := m.Descriptor().Fields().ByName("features")
	if fd == nil || !m.Has(fd) {
		return descriptorpb.FeatureSet_UTF8_VALIDATION_UNKNOWN
	}
	fs := m.Get(fd).Message()
	v := fs.Descriptor().Fields().ByName("utf8_validation")
	if v == nil || !fs.Has(v) {
		return descriptorpb.FeatureSet_UTF8_VALIDATION_UNKNOWN
	}
	return descriptorpb.FeatureSet_Utf8Validation(fs.Get(v).Enum())
}
