package codec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"text/tabwriter"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/skew/after"
	"github.com/graven-rpc/graven/codec/internal/testpb/skew/before"
	"github.com/graven-rpc/graven/codec/wire"
)

// skewPath is a way to encode and decode: the same messages as other Go types.
type skewPath struct {
	name string
	make func(protoreflect.MessageType) proto.Message
}

// skewPaths are the decode paths that the matrix goes through.
var skewPaths = []skewPath{
	{"generated", func(mt protoreflect.MessageType) proto.Message { return mt.New().Interface() }},
	{"reflective", func(mt protoreflect.MessageType) proto.Message { return newDynamic(mt.Descriptor()) }},
}

// skewFiles are the two versions of testdata/proto/skew.
var skewFiles = map[bool]protoreflect.FileDescriptor{
	false: before.File_skew_before_proto,
	true:  after.File_skew_after_proto,
}

// direction is one message of one version, and what the other makes of it.
type direction struct {
	write string // the message as JSON
	// read is what a peer of the other version reads, as JSON, or, behind "!", what
	// the error names, separated by "|".
	read string
	// protobuf is what protobuf reads of its own bytes, "" for the same as read, or
	// "!" and a part of its error.
	protobuf string
	// whole: the other peer decodes, encodes, and nothing is lost for the writer. stuck:
	// the other peer can't encode what it has read.
	whole, stuck bool
}

// change is a message type that differs between the versions. Its directions are from
// the old version to the new one, then back.
type change struct {
	message  string
	toNew    direction
	toOld    direction
	required bool // an empty message is none
}

// kinds is how an error names what a writer stores and a reader expects.
func kinds(field, writer, reader string) string {
	return "!" + field + "|the writer stores " + writer + "|this schema has " + reader
}

// depths put a message where it may stand.
var depths = []struct {
	name  string
	build func(file protoreflect.FileDescriptor, path skewPath, v proto.Message, empty bool) proto.Message
}{
	{"root", func(_ protoreflect.FileDescriptor, _ skewPath, v proto.Message, _ bool) proto.Message { return v }},
	{"list", func(file protoreflect.FileDescriptor, path skewPath, v proto.Message, empty bool) proto.Message {
		m := path.of(file, "InList")
		l := m.ProtoReflect().Mutable(holder(m, v)).List()
		l.Append(protoreflect.ValueOfMessage(v.ProtoReflect()))
		if empty {
			l.Append(l.NewElement())
			l.Append(protoreflect.ValueOfMessage(v.ProtoReflect()))
		}
		return m
	}},
	{"map value", func(file protoreflect.FileDescriptor, path skewPath, v proto.Message, empty bool) proto.Message {
		m := path.of(file, "InMap")
		mp := m.ProtoReflect().Mutable(holder(m, v)).Map()
		mp.Set(protoreflect.ValueOfString("a").MapKey(), protoreflect.ValueOfMessage(v.ProtoReflect()))
		if empty {
			mp.Set(protoreflect.ValueOfString("b").MapKey(), mp.NewValue())
		}
		return m
	}},
}

// The first path is that of generated methods, the second is not.
func TestSkewPaths(t *testing.T) {
	for i, path := range skewPaths {
		for newest, file := range skewFiles {
			for j := range file.Messages().Len() {
				m := path.of(file, string(file.Messages().Get(j).Name()))
				if _, ok := m.(interface{ Γraven() *wire.Type }); ok != (i == 0) {
					t.Errorf("%s, newest %v: %s has generated methods: %v", path.name, newest, m.ProtoReflect().Descriptor().Name(), ok)
				}
			}
		}
	}
}

// of makes an empty message of a file.
func (p skewPath) of(file protoreflect.FileDescriptor, name string) proto.Message {
	md := file.Messages().ByName(protoreflect.Name(name))
	for _, mt := range skewTypes {
		if mt.Descriptor() == md {
			return p.make(mt)
		}
	}
	panic("no message type " + name)
}

// holder is the field of a list or map that holds messages like v.
func holder(m, v proto.Message) protoreflect.FieldDescriptor {
	fields := m.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		md := fd.Message()
		if fd.IsMap() {
			md = fd.MapValue().Message()
		}
		if md.FullName() == v.ProtoReflect().Descriptor().FullName() {
			return fd
		}
	}
	panic("no field for " + v.ProtoReflect().Descriptor().FullName())
}

// resealed is a frame under the schema id of another message type: the versions are two
// packages here, since a program can't hold two types of one name.
func resealed(t testing.TB, frame []byte, m proto.Message) []byte {
	t.Helper()
	return corpus.Seal(idOf(t, m), frame[20:len(frame)-4])
}

// asJSON is a message without unknown fields as compact JSON.
func asJSON(t testing.TB, m proto.Message) string {
	t.Helper()
	c := proto.Clone(m)
	corpus.StripUnknown(c.ProtoReflect())
	b, err := protojson.MarshalOptions{AllowPartial: true, UseProtoNames: true}.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// All changes, both ways, at three depths, on all paths: the right value or an error
// that names the field and both kinds. With -v it prints the table.
func TestSkew(t *testing.T) {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "change\tfrom\twritten\tGraven reads\tprotobuf reads\tback whole")
	seen := map[string]bool{}
	for _, c := range changes {
		if seen[c.message] {
			t.Errorf("%s stands twice", c.message)
		}
		seen[c.message] = true
		t.Run(c.message, func(t *testing.T) {
			for _, toNew := range []bool{true, false} {
				d, from := c.toNew, "old"
				if !toNew {
					d, from = c.toOld, "new"
				}
				protobuf := ""
				for _, depth := range depths {
					for _, wp := range skewPaths {
						v := parsed(t, wp.of(skewFiles[!toNew], c.message), d.write)
						written := depth.build(skewFiles[!toNew], wp, v, !c.required)
						for _, rp := range skewPaths {
							t.Run(fmt.Sprintf("%s, %s, %s to %s", from, depth.name, wp.name, rp.name), func(t *testing.T) {
								wanted := func(json string) proto.Message {
									return depth.build(skewFiles[toNew], rp, parsed(t, rp.of(skewFiles[toNew], c.message), json), !c.required)
								}
								empty := empty(wanted("{}"))
								checkGraven(t, &d, written, empty, wanted)
								protobuf = checkProtobuf(t, &d, written, empty, wanted)
							})
						}
					}
				}
				short := func(s string) string { return s[:min(len(s), 60)] }
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%v\n", c.message, from, short(d.write), short(strings.ReplaceAll(d.read, "!", "refused: ")), short(protobuf), d.whole)
			}
		})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d changes, both ways\n%s", len(changes), table.String())
	if len(changes) < 40 {
		t.Errorf("%d changes", len(changes))
	}
	for i := range skewFiles[false].Messages().ByName("InList").Fields().Len() {
		name := skewFiles[false].Messages().ByName("InList").Fields().Get(i).Message().Name()
		if !seen[string(name)] {
			t.Errorf("no row for %s", name)
		}
	}
}

func parsed(t testing.TB, m proto.Message, json string) proto.Message {
	t.Helper()
	if raw, ok := strings.CutPrefix(json, "raw "); ok { // fields that JSON can't hold, as protobuf bytes
		if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(unhex(t, raw), m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := (protojson.UnmarshalOptions{AllowPartial: true}).Unmarshal([]byte(json), m); err != nil {
		t.Fatalf("%v\n%s", err, json)
	}
	return m
}

func checkGraven(t *testing.T, d *direction, written, empty proto.Message, wanted func(string) proto.Message) {
	t.Helper()
	got := proto.Clone(empty)
	err := codec.Unmarshal(resealed(t, marshal(t, codec.Options{AllowPartial: true}, written), got), got)
	if want, isError := strings.CutPrefix(d.read, "!"); isError {
		if err == nil {
			t.Fatalf("read as %s, want an error with %s", asJSON(t, got), want)
		}
		for _, part := range strings.Split(want, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not say %q: %v", part, err)
			}
		}
		if len(protoBytes(t, got)) > 0 {
			t.Errorf("after an error the message holds %v", got)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if want, have := asJSON(t, wanted(d.read)), asJSON(t, got); have != want {
		t.Errorf("Graven\nwant %s\n got %s", want, have)
	}
	frame, err := codec.Marshal(got)
	if d.stuck {
		if !errors.Is(err, codec.ErrRange) || !strings.Contains(err.Error(), ".a") {
			t.Errorf("encoded again: %v, want an error that names the field", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	back := written.ProtoReflect().New().Interface()
	if err := codec.Unmarshal(resealed(t, frame, back), back); err != nil {
		if d.whole {
			t.Fatalf("sent back: %v", err)
		}
		return
	}
	if diff := corpus.Diff(written, back); d.whole != (diff == "") {
		t.Errorf("back whole: %v, want %v\n%s", diff == "", d.whole, diff)
	}
}

// checkProtobuf gives what protobuf reads, for the table.
func checkProtobuf(t *testing.T, d *direction, written, empty proto.Message, wanted func(string) proto.Message) string {
	t.Helper()
	got := proto.Clone(empty)
	err := proto.Unmarshal(protoBytes(t, written), got)
	want := d.protobuf
	if want == "" {
		want = d.read
	}
	if part, isError := strings.CutPrefix(want, "!"); isError {
		if err == nil {
			t.Errorf("protobuf reads %s, want an error with %s", asJSON(t, got), part)
		} else if !strings.Contains(err.Error(), part) {
			t.Errorf("protobuf: %v, want %s", err, part)
		}
		return "refused: " + part
	}
	if err != nil {
		t.Fatalf("protobuf: %v, want %s", err, want)
	}
	if w, have := asJSON(t, wanted(want)), asJSON(t, got); have != w {
		t.Errorf("protobuf\nwant %s\n got %s", w, have)
	}
	if d.protobuf == "" {
		return "the same"
	}
	return want
}
