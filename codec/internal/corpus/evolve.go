package corpus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Clone returns a deep copy.
func (s *SchemaModel) Clone() *SchemaModel {
	c := *s
	c.Enums = nil
	for _, e := range s.Enums {
		copied := *e
		copied.Values = slices.Clone(e.Values)
		c.Enums = append(c.Enums, &copied)
	}
	c.Messages = cloneMessages(s.Messages)
	c.Extensions = cloneFields(s.Extensions)
	return &c
}

func cloneMessages(list []*MessageModel) []*MessageModel {
	var all []*MessageModel
	for _, m := range list {
		all = append(all, cloneMessage(m))
	}
	return all
}

func cloneMessage(m *MessageModel) *MessageModel {
	if m == nil {
		return nil
	}
	c := *m
	c.Fields = cloneFields(m.Fields)
	c.Nested = cloneMessages(m.Nested)
	return &c
}

func cloneFields(list []*FieldModel) []*FieldModel {
	var all []*FieldModel
	for _, f := range list {
		c := *f
		c.Group = cloneMessage(f.Group)
		all = append(all, &c)
	}
	return all
}

// each calls f for every message type that may change: all but inline ones,
// whose layout is frozen.
func (s *SchemaModel) each(f func(*MessageModel)) {
	var walk func(list []*MessageModel)
	walk = func(list []*MessageModel) {
		for _, m := range list {
			if m.Inline {
				continue
			}
			f(m)
			walk(m.Nested)
			for _, fd := range m.Fields {
				if fd.Group != nil {
					walk([]*MessageModel{fd.Group})
				}
			}
		}
	}
	walk(s.Messages)
}

// Shrunk returns an earlier version of the schema, which lacks some of the
// fields of many types: below, between and above others, of every kind, also
// members of oneofs. Nothing else differs.
func (s *SchemaModel) Shrunk(seed uint64) *SchemaModel {
	before := s.Clone()
	r := Rand(seed ^ 0xA5A5)
	before.each(func(m *MessageModel) {
		part := pick(r, []float64{0, 0.2, 0.5, 1})
		m.Fields = slices.DeleteFunc(m.Fields, func(*FieldModel) bool { return r.Float64() < part })
	})
	return before
}

// Grown returns a random schema with what it was before fields were added.
func Grown(seed uint64, pkg string) (before, after *SchemaModel) {
	after = RandomSchema(seed, pkg)
	return after.Shrunk(seed), after
}

// Change is one difference between two versions of a schema.
type Change struct {
	Message string // name in the package
	Number  int
	What    string // for people
	// Harmless: values that both sides can hold are read right, and nothing is
	// refused. Otherwise a reader may refuse the field if it is present.
	Harmless bool
}

func (c Change) String() string {
	return fmt.Sprintf("%s field %d: %s", c.Message, c.Number, c.What)
}

// Changed returns two versions of a schema that differ in all the ways in
// which people change schemas, and the list of the changes from the first to
// the second. Only wild ones are not harmless.
func Changed(seed uint64, pkg string, wild bool) (before, after *SchemaModel, changes []Change) {
	before = RandomSchema(seed, pkg)
	after = before.Clone()
	r := Rand(seed ^ 0x5A5A)
	after.each(func(m *MessageModel) {
		var kept []*FieldModel
		for _, f := range m.Fields {
			if r.IntN(3) > 0 {
				kept = append(kept, f)
				continue
			}
			what, harmless, stays := mutate(r, after, f, wild)
			if what != "" {
				changes = append(changes, Change{m.Name, f.Number, what, harmless})
			}
			if stays {
				kept = append(kept, f)
			}
		}
		m.Fields = kept
	})
	return before, after, changes
}

// wider is what a reader may widen a kind to without changing a value.
var wider = map[string][]string{
	"int32":    {"int64", "sint64", "sfixed64", "sint32", "sfixed32"},
	"sint32":   {"int64", "sint64", "int32"},
	"sfixed32": {"int64", "sfixed64"},
	"uint32":   {"uint64", "fixed64", "fixed32"},
	"fixed32":  {"uint64", "fixed64", "uint32"},
	"bool":     {"int32", "uint64"},
}

// mutate changes a field; stays is false if it is to be removed.
func mutate(r *rand.Rand, s *SchemaModel, f *FieldModel, wild bool) (what string, harmless, stays bool) {
	was := f.Kind
	ways := 4
	if wild {
		ways = 6
	}
	switch r.IntN(ways) {
	case 0:
		return "removed", true, false
	case 1:
		f.Name = "renamed_" + f.Name
		if f.Group != nil {
			f.Name = f.Name[len("renamed_"):]
			return "", true, true
		}
		return "renamed", true, true
	case 2:
		if to := wider[f.Kind]; to != nil && f.Width == 0 {
			f.Kind = pick(r, to)
			f.Default, f.Width = "", 0
			// A bool of a list is one byte, which a list of numbers widens.
			return was + " widened to " + f.Kind, true, true
		}
	case 3:
		if f.Width != 0 {
			f.Width = 0
			return "no longer narrow", true, true
		}
		if s.Syntax == "proto3" && f.Card == Plain && f.Oneof == "" && f.Kind != "map" {
			f.Card = Optional
			return "made optional", true, true
		}
	case 4:
		if f.Kind == "map" || f.Group != nil || f.Oneof != "" {
			break
		}
		if f.Card == Repeated {
			f.Card, f.Packed = Plain, ""
			if s.Syntax == "proto2" {
				f.Card = Optional
			}
			return "repeated made singular", false, true
		}
		f.Card, f.Default = Repeated, ""
		return "singular made repeated", false, true
	case 5:
		if f.Kind == "map" || f.Group != nil {
			break
		}
		f.Kind, f.Type, f.Default, f.Width, f.Packed, f.UTF8 = pick(r, scalarKinds), "", "", 0, "", ""
		f.ClosedEnum = false
		return was + " turned into " + f.Kind + " " + strconv.Itoa(f.Number), false, true
	}
	return "", true, true
}
