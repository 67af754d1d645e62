package breaking

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec/layout"
)

// class is what a field holds, as far as a row can tell or confuse it.
type class uint8

const (
	integer class = iota // integers, bools and enums
	floating
	text
	raw // bytes
	inline
	message // messages and groups
	mapping
)

func classOf(f *layout.Field) class {
	switch {
	case f.Desc.IsMap():
		return mapping
	case f.Inline:
		return inline
	case f.Child != nil:
		return message
	case f.Kind == protoreflect.StringKind:
		return text
	case f.Kind == protoreflect.BytesKind:
		return raw
	case layout.Float(f.Kind):
		return floating
	}
	return integer
}

// outcome is what a reader makes of the values that a writer may have stored.
type outcome struct {
	kind loss
	says string
}

type loss uint8

const (
	right    loss = iota
	cut           // a number that does not fit
	stuck         // read, but not to be encoded again by this reader
	misread       // another value, without an error
	notUTF8       // refused where it is not UTF-8
	notBool       // refused where it is neither 0 nor 1
	several       // refused where there are several
	likeMap       // read as a map
	mismatch      // refused
)

var (
	outRight    = outcome{right, "read right"}
	outTruth    = outcome{cut, "only told from 0"}
	outMisread  = outcome{misread, "misread without an error"}
	outNotUTF8  = outcome{notUTF8, "refused where it is not UTF-8"}
	outNotBool  = outcome{notBool, "refused where an element is neither 0 nor 1"}
	outSeveral  = outcome{several, "refused where there are several"}
	outLikeMap  = outcome{likeMap, "of equal keys the last wins, and unknown fields of an element are refused"}
	outOneEntry = outcome{likeMap, "refused where it has unknown fields"}
	outMismatch = outcome{mismatch, "refused"}
)

// read says what becomes of field w in rows of its writer when a reader has r in
// its place. plan matches the reader's message type with the writer's rows.
func read(w, r *layout.Field, plan *layout.Plan) outcome {
	wc, rc := classOf(w), classOf(r)
	matched := matchOf(r, plan) != layout.Mismatch
	switch {
	case !matched:
		return outMismatch
	case w.Code == layout.Block: // r too
		switch {
		case rc == mapping && wc != mapping && w.Desc.IsList():
			return outLikeMap
		case rc == mapping && wc != mapping:
			return outOneEntry
		case !r.Desc.IsList() && rc != mapping && (w.Desc.IsList() || wc == mapping):
			return outSeveral
		}
		return outRight
	case wc == text && rc == text && r.UTF8 && !w.UTF8, wc == raw && rc == text && r.UTF8:
		return outNotUTF8
	case wc == text && rc == raw, wc == raw && rc == text, wc == rc && wc != integer:
		return outRight
	case wc != integer || rc != integer:
		return outMisread
	}
	return readNumber(w, r)
}

// matchOf is how a plan reads a field.
func matchOf(f *layout.Field, plan *layout.Plan) layout.Match {
	for i := range plan.Msg.Fields {
		if plan.Msg.Fields[i].Number == f.Number {
			return plan.Places[i].Match
		}
	}
	return layout.Nowhere
}

// readNumber is read for integers, bools and enums, single or in lists.
func readNumber(w, r *layout.Field) outcome {
	from, to := stored(w), layout.KindSize(r.Kind)
	wBool, rBool := w.Kind == protoreflect.BoolKind, r.Kind == protoreflect.BoolKind
	switch {
	case wBool:
		return outRight
	case rBool && r.Desc.IsList() && from == 1:
		return outNotBool
	case rBool:
		return outTruth
	case from < to && layout.Signed(w.Kind) != layout.Signed(r.Kind):
		return outMisread
	case from > to:
		return outcome{cut, fmt.Sprintf("cut to %d bits", 8*to)}
	case r.Width != 0 && 8*from > r.Width:
		return outcome{stuck, fmt.Sprintf("read whole, but a peer can't encode again what does not fit %d bits", r.Width)}
	}
	return outRight
}

// stored is how many bytes a number takes in a row or a list.
func stored(f *layout.Field) int {
	switch {
	case f.Kind == protoreflect.BoolKind:
		return 1
	case f.Desc.IsList():
		return int(f.E)
	}
	return f.Size()
}

// judge finds the rule that a changed field breaks, nil if none. toNew is what a new
// reader makes of an old writer's field, toOld the other way round.
func judge(was, is *layout.Field, toNew, toOld outcome) *Rule {
	a, b := classOf(was), classOf(is)
	either := func(k loss) bool { return toNew.kind == k || toOld.kind == k }
	number := func(c class) bool { return c == integer || c == floating }
	switch {
	case a == mapping && b == message && is.Desc.IsList(), a == message && b == mapping && was.Desc.IsList():
		return &ruleMapList
	case was.Desc.IsList() != is.Desc.IsList() && a != mapping && b != mapping:
		return &ruleCardinality
	case number(a) && b == inline, a == inline && number(b):
		return &ruleNumberInline
	case a == integer && b == floating, a == floating && b == integer:
		return &ruleFloatInteger
	case a == text && b == raw, a == raw && b == text:
		return &ruleStringBytes
	case either(mismatch) && a == inline && b == inline:
		return &ruleInlineType
	case either(mismatch), either(several), either(likeMap):
		return &ruleStorage
	case toNew.kind == notUTF8:
		return &ruleUTF8
	case either(misread):
		return &ruleSign
	case either(notBool):
		return &ruleBoolList
	case toNew.kind == cut, toNew.kind == stuck:
		return &ruleNarrowed
	}
	return nil
}

// kind names what a field holds, for people: as in a .proto, and how a row stores it.
func kind(f *layout.Field) string {
	name := declared(f)
	if f.Desc.IsMap() {
		k, v := &f.Child.Fields[0], &f.Child.Fields[1]
		return fmt.Sprintf(`"map<%s, %s>"`, declared(k), declared(v))
	}
	if f.Desc.IsList() {
		name = "repeated " + name
	}
	switch {
	case f.Inline && !f.Desc.IsList():
		return fmt.Sprintf("%q (inline, %d bytes)", name, f.Child.Size)
	case f.Inline:
		return fmt.Sprintf("%q (inline, elements of %d bytes)", name, f.Child.Size)
	case f.Child != nil, f.Kind == protoreflect.StringKind, f.Kind == protoreflect.BytesKind:
		return fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("%q (%s)", name, f.Storage)
}

// declared is a kind as a .proto names it, without its label.
func declared(f *layout.Field) string {
	switch {
	case f.Kind == protoreflect.GroupKind:
		return "group " + string(f.Child.Name())
	case f.Child != nil:
		return string(f.Child.Name())
	}
	name := f.Kind.String()
	if f.Kind == protoreflect.EnumKind {
		name += " " + string(f.Desc.Enum().FullName())
	}
	if f.Width != 0 {
		name += fmt.Sprintf(" of width %d", f.Width)
	}
	return name
}

// effect puts both directions into words.
func effect(toNew, toOld outcome) string {
	if toNew == toOld {
		return toNew.says + " both ways"
	}
	return "old to new " + toNew.says + ", new to old " + toOld.says
}
