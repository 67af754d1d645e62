package gen

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// What can't be done is refused with the place, the field and the reason.
func TestErrors(t *testing.T) {
	const head = "syntax = \"proto3\";\npackage p;\nimport \"graven/options.proto\";\noption go_package = \"example.com/p\";\n"
	const head2 = "syntax = \"proto2\";\npackage p;\nimport \"graven/options.proto\";\noption go_package = \"example.com/p\";\n"
	const head23 = "edition = \"2023\";\npackage p;\nimport \"graven/options.proto\";\noption go_package = \"example.com/p\";\n"
	const inline = "option (graven.message).inline = true; "
	const field = "a.proto:6:3: p.M.x: "
	const message = "a.proto:5:1: p.M: "
	for name, c := range map[string]struct{ text, want string }{
		"width 7":           {head + "message M {\n  int32 x = 1 [(graven.field).width = 7];\n}", field + "(graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"width 32 of 32":    {head + "message M {\n  sfixed32 x = 1 [(graven.field).width = 32];\n}", field + "(graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"width 64":          {head + "message M {\n  uint64 x = 1 [(graven.field).width = 64];\n}", field + "(graven.field).width: a 64-bit kind takes 8, 16 or 32"},
		"width of an enum":  {head + "message M {\n  E x = 1 [(graven.field).width = 32];\n}\nenum E { Z = 0; }", field + "(graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"width of a list":   {head + "message M {\n  repeated int64 x = 1 [(graven.field).width = 1];\n}", field + "(graven.field).width: a 64-bit kind takes 8, 16 or 32"},
		"width of a float":  {head + "message M {\n  float x = 1 [(graven.field).width = 16];\n}", field + "(graven.field).width: only integers and enums can be narrow, not float"},
		"width of a bool":   {head + "message M {\n  bool x = 1 [(graven.field).width = 8];\n}", field + "(graven.field).width: only integers and enums can be narrow, not bool"},
		"width of a string": {head + "message M {\n  string x = 1 [(graven.field).width = 8];\n}", field + "(graven.field).width: only integers and enums can be narrow, not string"},
		"width of a map":    {head + "message M {\n  map<int32, int32> x = 1 [(graven.field).width = 8];\n}", field + "(graven.field).width: a map can't be narrow"},
		"width of a message": {head + "message M {\n  M x = 1 [(graven.field).width = 8];\n}",
			field + "(graven.field).width: only integers and enums can be narrow, not message"},
		"width in a oneof": {head + "message M {\n oneof o {\n  int32 x = 1 [(graven.field).width = 9];\n }\n}",
			"a.proto:7:3: p.M.x: (graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"width in a nested message": {head + "message A { message M {\n  int32 x = 1 [(graven.field).width = 9];\n} }",
			"a.proto:6:3: p.A.M.x: (graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"width of an extension": {head2 + "message M {\n  extensions 1; }\nextend M {\n  optional int32 x = 1 [(graven.field).width = 8]; }",
			"a.proto:8:3: p.x: (graven.field): an extension travels as protobuf bytes and takes no option"},
		"width of a nested extension": {head2 + "message M {\n  extensions 1;\nextend M {\n  optional int32 x = 1 [(graven.field).width = 8]; } }",
			"a.proto:8:3: p.M.x: (graven.field): an extension travels as protobuf bytes and takes no option"},

		"inline without fields":  {head + "message M { " + inline + "}", message + "(graven.message).inline: an inline message needs a field"},
		"inline with a string":   {head + "message M { " + inline + "\n  string x = 1;\n}", field + "(graven.message).inline: a field of an inline message can't be a string or bytes"},
		"inline with bytes":      {head + "message M { " + inline + "\n  bytes x = 1;\n}", field + "(graven.message).inline: a field of an inline message can't be a string or bytes"},
		"inline with a list":     {head + "message M { " + inline + "\n  repeated int32 x = 1;\n}", field + "(graven.message).inline: a field of an inline message must be singular"},
		"inline with a map":      {head + "message M { " + inline + "\n  map<int32, int32> x = 1;\n}", field + "(graven.message).inline: a field of an inline message must be singular"},
		"inline with optional":   {head + "message M { " + inline + "\n  optional int32 x = 1;\n}", field + "(graven.message).inline: a field of an inline message can't be optional or in a oneof"},
		"inline with a oneof":    {head + "message M { " + inline + "oneof o {\n  int32 x = 1;\n} }", field + "(graven.message).inline: a field of an inline message can't be optional or in a oneof"},
		"inline with a message":  {head + "message M { " + inline + "\n  N x = 1;\n}\nmessage N {}", field + "(graven.message).inline: a message in an inline message must be inline itself"},
		"inline of itself":       {head + "message M { " + inline + "\n  M x = 1;\n}", field + "(graven.message).inline: an inline message can't hold itself"},
		"inline of each other":   {head + "message A { " + inline + "M m = 1; } message M { " + inline + "\n  A x = 1;\n}", field + "(graven.message).inline: an inline message can't hold itself"},
		"inline in proto2":       {head2 + "message M { " + inline + "\n  optional int32 x = 1;\n}", field + "(graven.message).inline: a field of an inline message can't have presence of its own (optional, proto2, or features.field_presence = EXPLICIT)"},
		"inline in 2023":         {head23 + "message M { " + inline + "\n  int32 x = 1;\n}", field + "(graven.message).inline: a field of an inline message can't have presence of its own (optional, proto2, or features.field_presence = EXPLICIT)"},
		"inline with extensions": {head23 + "message M { " + inline + "extensions 5; }", message + "(graven.message).inline: an inline message can't be extended"},
		"inline of a bad width":  {head + "message M { " + inline + "\n  int32 x = 1 [(graven.field).width = 5];\n}", field + "(graven.field).width: a 32-bit kind or enum takes 8 or 16"},
		"inline of 256 bytes": {head + "message M { " + inline + "fixed64 a = 1; N n = 2; } message N {" + inline + strings.Join(manyFields("fixed64", 31), " ") + "}",
			message + "(graven.message).inline: an inline message takes at most 255 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := generate(t, request(t, "", map[string]string{"a.proto": c.text}))
			if err == nil || err.Error() != c.want {
				t.Errorf("error\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

// Options of the plugin that contradict each other are told of the service that they are about,
// options that can't be read of the field.
func TestErrorsOfServicesAndOptions(t *testing.T) {
	req := request(t, "grpc=true,views=none", map[string]string{"a.proto": "syntax = \"proto3\"; package p; option go_package = \"example.com/p\";\nmessage M {}\n service S { rpc Do(M) returns (M); }"})
	const want = "a.proto:3:2: p.S: services on frames need views: leave out views=none, or grpc and connect"
	if _, err := generate(t, req); err == nil || err.Error() != want {
		t.Errorf("error\n got %v\nwant %s", err, want)
	}
	for name, raw := range map[string][]byte{
		"no tag":   protowire.AppendBytes(protowire.AppendTag(nil, optionNumber, protowire.BytesType), []byte{0x80}),
		"no value": protowire.AppendBytes(protowire.AppendTag(nil, optionNumber, protowire.BytesType), []byte{8}),
	} {
		req := request(t, "", map[string]string{"a.proto": "syntax = \"proto3\"; package p; option go_package = \"example.com/p\";\nmessage M {\n  int32 x = 1;\n}"})
		f := req.ProtoFile[0].MessageType[0].Field[0]
		f.Options = new(descriptorpb.FieldOptions)
		f.Options.ProtoReflect().SetUnknown(raw)
		if _, err := generate(t, req); err == nil || !strings.HasPrefix(err.Error(), "a.proto:3:3: p.M.x: (graven.field): ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// An error in an imported file is told of that file.
func TestErrorInImport(t *testing.T) {
	req := request(t, "", map[string]string{
		"a/a.proto": `syntax = "proto3"; package a; option go_package = "example.com/a"; import "b/b.proto"; message A { b.B b = 1; }`,
		"b/b.proto": "syntax = \"proto3\"; package b; option go_package = \"example.com/b\"; import \"graven/options.proto\";\nmessage B {\n\n int32 x = 1 [(graven.field).width = 3]; }",
	})
	req.FileToGenerate = []string{"a/a.proto"}
	_, err := generate(t, req)
	const want = "b/b.proto:4:2: b.B.x: (graven.field).width: a 32-bit kind or enum takes 8 or 16"
	if err == nil || err.Error() != want {
		t.Errorf("error\n got %v\nwant %s", err, want)
	}
}

// Descriptors without positions still give the file and the field.
func TestErrorWithoutPositions(t *testing.T) {
	req := request(t, "", map[string]string{
		"a.proto": `syntax = "proto3"; package a; option go_package = "example.com/a"; import "graven/options.proto"; message A { bool b = 1 [(graven.field).width = 8]; }`,
	})
	for _, f := range req.ProtoFile {
		f.SourceCodeInfo = nil
	}
	_, err := generate(t, req)
	const want = "a.proto:0:0: a.A.b: (graven.field).width: only integers and enums can be narrow, not bool"
	if err == nil || err.Error() != want {
		t.Errorf("error\n got %v\nwant %s", err, want)
	}
}

// An option of a later options.proto is not dropped.
func TestUnknownOption(t *testing.T) {
	later := protowire.AppendTag(nil, 2, protowire.VarintType)
	later = protowire.AppendVarint(later, 1)
	raw := protowire.AppendTag(nil, optionNumber, protowire.BytesType)
	raw = protowire.AppendBytes(raw, later)
	for what, set := range map[string]func(m *descriptorpb.DescriptorProto){
		"a.proto:2:1: a.A: (graven.message)": func(m *descriptorpb.DescriptorProto) {
			m.Options = new(descriptorpb.MessageOptions)
			m.Options.ProtoReflect().SetUnknown(protoreflect.RawFields(raw))
		},
		"a.proto:2:13: a.A.b: (graven.field)": func(m *descriptorpb.DescriptorProto) {
			m.Field[0].Options = new(descriptorpb.FieldOptions)
			m.Field[0].Options.ProtoReflect().SetUnknown(protoreflect.RawFields(raw))
		},
	} {
		req := request(t, "", map[string]string{"a.proto": "syntax = \"proto3\"; package a; option go_package = \"example.com/a\";\nmessage A { bool b = 1; }"})
		set(req.ProtoFile[0].MessageType[0])
		_, err := generate(t, req)
		want := what + " has field 2, which this version of protoc-gen-graven does not know: update it"
		if err == nil || err.Error() != want {
			t.Errorf("error\n got %v\nwant %s", err, want)
		}
	}
}

// Go packages that import each other are told of before Go does.
func TestImportCycles(t *testing.T) {
	req := request(t, "", map[string]string{
		"a1.proto": "syntax = \"proto3\"; package a; option go_package = \"example.com/a\";\nimport \"b1.proto\"; message A1 { b.B1 b = 1; }",
		"a2.proto": "syntax = \"proto3\"; package a; option go_package = \"example.com/a\"; message A2 {}",
		"b1.proto": "syntax = \"proto3\"; package b; option go_package = \"example.com/b\"; message B1 {}",
		"b2.proto": "syntax = \"proto3\"; package b; option go_package = \"example.com/b\";\n\n  import \"c1.proto\"; message B2 { c.C1 c = 1; }",
		"c1.proto": "syntax = \"proto3\"; package c; option go_package = \"example.com/c\";\n import \"a2.proto\"; message C1 { a.A2 c = 1; }",
		"d1.proto": "syntax = \"proto3\"; package d; option go_package = \"example.com/d\"; import \"b2.proto\"; message D1 { b.B2 c = 1; }",
	})
	const want = "a1.proto:2:1: Go packages would import each other: example.com/a imports example.com/b (a1.proto:2:1) imports example.com/c (b2.proto:3:3) " +
		"imports example.com/a (c1.proto:2:2): move messages, or give the files one go_package"
	if _, err := generate(t, req); err == nil || err.Error() != want {
		t.Errorf("error\n got %v\nwant %s", err, want)
	}
	if errs := compileErrors(t, protocGenGo(t, req)); len(errs) == 0 {
		t.Error("without us it compiles")
	}
	// Who only imports the packages is not to blame.
	req.FileToGenerate = []string{"d1.proto"}
	if _, err := generate(t, req); err != nil {
		t.Error(err)
	}
}
