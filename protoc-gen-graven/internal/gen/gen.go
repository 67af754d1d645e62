// Package gen is the generator: it plans names and layout of a file's messages first,
// then prints the methods that encode and decode them.
package gen

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/gofeaturespb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/graven-rpc/graven/codec/layout"
)

// Options are the plugin's options beside those that protogen reads itself.
type Options struct {
	Views    Views
	Services Services
}

// Features declares what the plugin takes.
func Features(p *protogen.Plugin) {
	p.SupportedFeatures = uint64(pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL) |
		uint64(pluginpb.CodeGeneratorResponse_FEATURE_SUPPORTS_EDITIONS)
	p.SupportedEditionsMinimum = descriptorpb.Edition_EDITION_PROTO2
	p.SupportedEditionsMaximum = descriptorpb.Edition_EDITION_2024
}

// Generate writes the methods for all files of the request. An error names file, line,
// column and what can't be done.
func Generate(p *protogen.Plugin, o Options) error {
	Features(p)
	if err := checkNames(p); err != nil {
		return err
	}
	if err := checkCycles(p); err != nil {
		return err
	}
	for _, f := range p.Files {
		if !f.Generate || ownOptions(f) {
			continue
		}
		if err := checkOptions(f); err != nil {
			return err
		}
		if err := generateServices(p, f, o); err != nil {
			return err
		}
		plan, err := planFile(f)
		if err != nil {
			return err
		}
		if len(plan.messages) == 0 {
			continue
		}
		generateMethods(p, f, plan)
		if o.Views.None {
			continue
		}
		if err := generateViews(p, f, plan, o); err != nil {
			return err
		}
	}
	return nil
}

// ownOptions reports whether a file is graven/options.proto, wherever it lies. Its
// messages are read from their bytes wherever they stand, so methods for them would
// serve nobody.
func ownOptions(f *protogen.File) bool {
	x := f.Desc.Extensions().ByName("field")
	return f.Desc.Package() == "graven" && x != nil && x.Number() == optionNumber && x.ContainingMessage().FullName() == "google.protobuf.FieldOptions"
}

// generateMethods writes the methods beside the .pb.go file. A file of the hybrid API has a
// second form behind a build tag, in which all messages are opaque: two files.
func generateMethods(p *protogen.Plugin, f *protogen.File, plan *filePlan) {
	if f.APILevel != gofeaturespb.GoFeatures_API_HYBRID {
		printMethods(p, f, plan, "", "")
		return
	}
	printMethods(p, f, plan, "", "!protoopaque")
	// The names of accessors follow from the level, so it has to be changed for a while.
	levels := make([]gofeaturespb.GoFeatures_APILevel, len(plan.messages))
	for i, m := range plan.messages {
		levels[i], m.APILevel = m.APILevel, gofeaturespb.GoFeatures_API_OPAQUE
	}
	printMethods(p, f, plan, "_protoopaque", "protoopaque")
	for i, m := range plan.messages {
		m.APILevel = levels[i]
	}
}

// filePlan is what is known of a file before anything is printed.
type filePlan struct {
	messages []*message
}

// message is the plan of one message type.
type message struct {
	*protogen.Message
	layout   *layout.Message
	fields   []*field // in order of number
	words    int      // of 64 bits, that hold the bits of a row
	zero     bool     // rows have slots that are not always written
	extended bool     // has extension ranges
}

// field is the plan of one field.
type field struct {
	*protogen.Field
	lay   *layout.Field
	index int    // among the message's fields
	bit   uint32 // presence bit in a full row
	real  bool   // a member of a oneof that is none of proto3's optional
}

func planFile(f *protogen.File) (*filePlan, error) {
	plan := &filePlan{}
	var walk func(ms []*protogen.Message) error
	walk = func(ms []*protogen.Message) error {
		for _, m := range ms {
			if m.Desc.IsMapEntry() {
				continue
			}
			pm, err := planMessage(m)
			if err != nil {
				return locate(f, err)
			}
			plan.messages = append(plan.messages, pm)
			if err := walk(m.Messages); err != nil {
				return err
			}
		}
		return nil
	}
	return plan, walk(f.Messages)
}

func planMessage(m *protogen.Message) (*message, error) {
	lm, err := layout.Of(m.Desc)
	if err != nil {
		return nil, err
	}
	pm := &message{
		Message: m, layout: lm,
		words:    max(1, int(lm.Full.Bits+63)/64),
		extended: m.Desc.ExtensionRanges().Len() > 0,
	}
	byNumber := map[protoreflect.FieldNumber]*protogen.Field{}
	for _, f := range m.Fields {
		byNumber[f.Desc.Number()] = f
	}
	for i := range lm.Fields {
		lf := &lm.Fields[i]
		pf := &field{Field: byNumber[lf.Desc.Number()], lay: lf, index: i, bit: lm.Full.Fields[i].Bit, real: lf.Oneof >= 0}
		if pf.real && !lf.Variable() && lf.Code != layout.Bool {
			pm.zero = true
		}
		pm.fields = append(pm.fields, pf)
	}
	return pm, nil
}

// locate turns a layout's error about a field or message into file:line:column.
func locate(f *protogen.File, err error) error {
	e, ok := err.(*layout.Error)
	if !ok || e.Field == "" {
		return err
	}
	d := find(f.Desc, e.Field)
	if d == nil {
		return err
	}
	why := e.Detail
	if why == "" && e.Err != nil {
		why = e.Err.Error()
	}
	return fmt.Errorf("%s: %s: %s", position(d), e.Field, why)
}

// find looks for a message or field in a file and what it imports.
func find(f protoreflect.FileDescriptor, name protoreflect.FullName) protoreflect.Descriptor {
	seen := map[string]bool{}
	var inMessages func(ms protoreflect.MessageDescriptors) protoreflect.Descriptor
	inMessages = func(ms protoreflect.MessageDescriptors) protoreflect.Descriptor {
		for i := 0; i < ms.Len(); i++ {
			m := ms.Get(i)
			if m.FullName() == name {
				return m
			}
			if name.Parent() == m.FullName() {
				if d := m.Fields().ByName(name.Name()); d != nil {
					return d
				}
			}
			if strings.HasPrefix(string(name), string(m.FullName())+".") {
				if d := inMessages(m.Messages()); d != nil {
					return d
				}
			}
		}
		return nil
	}
	var inFile func(f protoreflect.FileDescriptor) protoreflect.Descriptor
	inFile = func(f protoreflect.FileDescriptor) protoreflect.Descriptor {
		if seen[f.Path()] {
			return nil
		}
		seen[f.Path()] = true
		if d := inMessages(f.Messages()); d != nil {
			return d
		}
		for i := 0; i < f.Imports().Len(); i++ {
			if d := inFile(f.Imports().Get(i).FileDescriptor); d != nil {
				return d
			}
		}
		return nil
	}
	return inFile(f)
}
