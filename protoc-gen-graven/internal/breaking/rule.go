package breaking

import "strings"

// Rule names a kind of change that is not safe between Graven peers.
type Rule struct {
	ID      string
	Summary string // what is checked, for people
}

func rule(id, summary string) Rule { return Rule{"GRAVEN_" + id, summary} }

// The rules. A field is known by its number; a message type by its full name, or, where a field
// has changed its type, by that field.
var (
	ruleFloatInteger = rule("FIELD_FLOAT_INTEGER",
		"a field does not change between an integer, bool or enum and a float or double, which its shape can't tell apart")
	ruleSign = rule("FIELD_SIGN_WIDENED",
		"a number is not widened across signs: the reader's sign decides how it is filled up")
	ruleNarrowed = rule("FIELD_NARROWED",
		"a number does not get fewer bits, by its kind or by (graven.field).width, than values already sent may need")
	ruleEnumWidth = rule("FIELD_ENUM_WIDTH",
		"the values of an enum fit the (graven.field).width of the fields that hold it")
	ruleStringBytes = rule("FIELD_STRING_BYTES",
		"a field does not change between string and bytes, which its shape can't tell apart")
	ruleUTF8 = rule("FIELD_UTF8_ADDED",
		"strings that were not checked for UTF-8 go on unchecked")
	ruleNumberInline = rule("FIELD_NUMBER_INLINE",
		"a field does not change between a number and an inline message, which its shape may not tell apart")
	ruleBoolList = rule("FIELD_BOOL_LIST",
		"a list does not change between bools and numbers of width 8: as bools it holds only 0 and 1")
	ruleStorage = rule("FIELD_SAME_STORAGE",
		"a field does not change between kinds that can't be matched")
	ruleCardinality = rule("FIELD_SAME_CARDINALITY",
		"a field does not change between singular and repeated")
	ruleMapList = rule("FIELD_MAP_LIST",
		"a field does not change between a map and a list of messages")
	ruleInlineType = rule("FIELD_SAME_INLINE",
		"a field that holds an inline message does not change to one of another layout")
	ruleRequired = rule("FIELD_SAME_REQUIRED",
		"required fields are neither added nor removed, and no field becomes required or ceases to be")
	ruleOneof = rule("FIELD_SAME_ONEOF",
		"existing fields are not brought together in a oneof, and its members are not set apart")
	ruleExtension = rule("FIELD_EXTENSION",
		"a field does not turn into an extension or back: extensions travel apart from fields")
	ruleReuse = rule("FIELD_NO_REUSE",
		"a number that was reserved, or that an older schema used for something that can't be matched, is not used again")
	ruleInlineFrozen = rule("MESSAGE_INLINE_FROZEN",
		"an inline message does not change: nothing on the wire describes its layout")
	ruleInline = rule("MESSAGE_SAME_INLINE",
		"(graven.message).inline is neither set nor removed on an existing message")
	ruleMessageSet = rule("MESSAGE_SAME_MESSAGE_SET",
		"message_set_wire_format is neither set nor removed on an existing message")
	ruleRoot = rule("MESSAGE_ROOT_NO_DELETE",
		"a message type that may be the root of a frame keeps its full name, which the schema id holds")
	ruleRPC = rule("RPC_SAME_MESSAGE",
		"a method keeps the full names of its request and response, which the schema id holds")
	ruleExtensionType = rule("EXTENSION_SAME_TYPE",
		"extensions, and messages inside them, change only as protobuf allows, since they travel as protobuf")
)

// Rules are all rules, in the order of the documentation.
var Rules = []Rule{
	ruleFloatInteger, ruleSign, ruleNarrowed, ruleEnumWidth, ruleStringBytes, ruleUTF8, ruleNumberInline, ruleBoolList,
	ruleStorage, ruleCardinality, ruleMapList, ruleInlineType, ruleRequired, ruleOneof, ruleExtension, ruleReuse,
	ruleInlineFrozen, ruleInline, ruleMessageSet, ruleRoot, ruleRPC, ruleExtensionType,
}

// byID finds a rule by its id, in any case.
func byID(id string) (Rule, bool) {
	for _, r := range Rules {
		if strings.EqualFold(r.ID, id) {
			return r, true
		}
	}
	return Rule{}, false
}
