package codec_test

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec/internal/testpb/skew/after"
	"github.com/graven-rpc/graven/codec/internal/testpb/skew/before"
)

// skewTypes are the message types of both versions.
var skewTypes = typesOf(before.File_skew_before_proto, after.File_skew_after_proto)

func typesOf(files ...protoreflect.FileDescriptor) (all []protoreflect.MessageType) {
	for _, f := range files {
		for i := range f.Messages().Len() {
			md := f.Messages().Get(i)
			mt, err := protoregistry.GlobalTypes.FindMessageByName(md.FullName())
			if err != nil {
				panic(err)
			}
			all = append(all, mt)
		}
	}
	return all
}

const (
	unset    = "{}"
	notUTF8  = "invalid UTF-8"
	fourByte = "4-byte number"
	text     = "string or bytes"
)

// same is a message that the other version reads as it is.
func same(json string) direction { return direction{write: json, read: json, whole: true} }

// reads is a message of which all that the other version reads is lossless.
func reads(write, read string) direction { return direction{write: write, read: read, whole: true} }

// lossy is a message that the other version reads without an error, not all of it.
func lossy(write, read string) direction { return direction{write: write, read: read} }

// unlike is a message that protobuf reads otherwise.
func unlike(d direction, protobuf string) direction {
	d.protobuf = protobuf
	return d
}

// fails is a message that the other version refuses, and what protobuf makes of it.
func fails(write, read, protobuf string) direction {
	return direction{write: write, read: read, protobuf: protobuf}
}

var wideJSON = `{"f1":"one","f2":true,"f15":4.5,"f40":"AAE=","f60":-60}`

// changes are the rows of the matrix. Types and fields are in testdata/proto/skew.
var changes = []change{
	{message: "Nothing", toNew: same(`{"a":"x","b":-1}`), toOld: same(`{"a":"x","b":-1}`)},
	{message: "Added", toNew: same(`{"b":"x","d":-7}`),
		toOld: reads(`{"a":"new","b":"x","c":true,"d":-7,"e":1.5}`, `{"b":"x","d":-7}`)},
	{message: "AddedLarge", toNew: same(`{"b":"x"}`),
		toOld: reads(`{"a":["p","q"],"c":{"k":{"n":1}},"b":"x","d":{"name":"d"},"e":[{"n":2},{}],"f":[-1,2],"g":"AAE=","h":{"x":1},"i":[{"y":2}]}`, `{"b":"x"}`)},
	{message: "Deleted", toNew: reads(`{"a":"gone","b":"7","c":true,"d":[{"name":"l"}]}`, `{"b":"7"}`), toOld: same(`{"b":"7"}`)},
	{message: "Renamed", toNew: reads(`{"a":"x","b":"7"}`, `{"z":"x","y":"7"}`), toOld: reads(`{"z":"x","y":"7"}`, `{"a":"x","b":"7"}`)},
	{message: "DeepAdded", toNew: same(`{"down":{"down":{"name":"deep"}},"name":"x"}`),
		toOld: reads(`{"down":{"down":{"name":"deep","more":[1,2]},"extra":"e"},"name":"x","more":[3]}`, `{"down":{"down":{"name":"deep"}},"name":"x"}`)},
	{message: "MemberAdded", toNew: same(`{"a":"x"}`), toOld: reads(`{"c":{"n":1}}`, unset)},

	{message: "Widened", toNew: reads(`{"a":-5}`, `{"a":"-5"}`), toOld: lossy(`{"a":"4294967298"}`, `{"a":2}`)},
	{message: "WidenedUnsigned", toNew: unlike(reads(`{"a":4294967295}`, `{"a":"4294967295"}`), unset),
		toOld: unlike(reads(`{"a":"4294967295"}`, `{"a":4294967295}`), unset)},
	{message: "Narrowed", toNew: lossy(`{"a":"-4294967299"}`, `{"a":-3}`), toOld: reads(`{"a":-3}`, `{"a":"-3"}`)},
	{message: "ZigzagToPlain", toNew: unlike(same(`{"a":-5}`), `{"a":9}`), toOld: unlike(same(`{"a":9}`), `{"a":-5}`)},
	{message: "VarintToFixed", toNew: unlike(same(`{"a":"-5"}`), unset), toOld: unlike(same(`{"a":"-5"}`), unset)},
	{message: "SignFlipped", toNew: reads(`{"a":-1}`, `{"a":4294967295}`), toOld: reads(`{"a":4294967295}`, `{"a":-1}`)},
	{message: "SignWidened", toNew: unlike(reads(`{"a":4294967295}`, `{"a":"-1"}`), `{"a":"4294967295"}`), toOld: reads(`{"a":"-1"}`, `{"a":4294967295}`)},
	{message: "BoolToNumber", toNew: reads(`{"a":true}`, `{"a":"1"}`), toOld: lossy(`{"a":"256"}`, `{"a":true}`)},
	{message: "NumberToBool", toNew: lossy(`{"a":-256}`, `{"a":true}`), toOld: reads(`{"a":true}`, `{"a":1}`)},
	{message: "EnumToNumber", toNew: reads(`{"a":"COLOR_RED"}`, `{"a":1}`), toOld: reads(`{"a":-9}`, `{"a":-9}`)},
	{message: "EnumToWide", toNew: reads(`{"a":-9}`, `{"a":"-9"}`), toOld: lossy(`{"a":"4294967297"}`, `{"a":"COLOR_RED"}`)},
	{message: "EnumChanged", toNew: reads(`{"a":1}`, `{"a":1}`), toOld: reads(`{"a":"SHADE_DARK"}`, `{"a":2}`)},

	{message: "NarrowAdded", toNew: direction{write: `{"a":70000}`, read: `{"a":70000}`, stuck: true}, toOld: same(`{"a":-32768}`)},
	{message: "NarrowRemoved", toNew: same(`{"a":255}`), toOld: direction{write: `{"a":256}`, read: `{"a":256}`, stuck: true}},
	{message: "NarrowWidened", toNew: same(`{"a":"-128"}`), toOld: same(`{"a":"127"}`)},
	{message: "NarrowSign", toNew: unlike(reads(`{"a":200}`, `{"a":-56}`), `{"a":200}`), toOld: unlike(direction{write: `{"a":-1}`, read: `{"a":255}`, whole: true}, `{"a":4294967295}`)},

	{message: "ListWidened", toNew: reads(`{"a":[1,-2]}`, `{"a":["1","-2"]}`), toOld: lossy(`{"a":["-2","4294967298"]}`, `{"a":[-2,2]}`)},
	{message: "ListNarrowed", toNew: lossy(`{"a":["-2","4294967298"]}`, `{"a":[-2,2]}`), toOld: reads(`{"a":[1,-2]}`, `{"a":["1","-2"]}`)},
	{message: "ListNumberToBool", toNew: lossy(`{"a":[0,-256]}`, `{"a":[false,true]}`), toOld: reads(`{"a":[true,false]}`, `{"a":[1,0]}`)},
	{message: "ListByteToBool", toNew: fails(`{"a":[1,5]}`, "!malformed message|a bool that is neither 0 nor 1", `{"a":[true,true]}`), toOld: reads(`{"a":[true,false]}`, `{"a":[1,0]}`)},
	{message: "ListNarrowAdded", toNew: direction{write: `{"a":["70000"]}`, read: `{"a":["70000"]}`, stuck: true}, toOld: same(`{"a":["-32768","7"]}`)},

	{message: "FloatToNumber", toNew: unlike(reads(`{"a":1.5}`, `{"a":1069547520}`), unset), toOld: unlike(reads(`{"a":1069547520}`, `{"a":1.5}`), unset)},
	{message: "FloatToDouble", toNew: fails(`{"a":1.5}`, kinds("a", fourByte, "8-byte number (double)"), unset),
		toOld: fails(`{"a":1.5}`, kinds("a", "8-byte number", "4-byte number (float)"), unset)},
	{message: "DoubleToNumber", toNew: unlike(lossy(`{"a":1.00000001}`, `{"a":45035996}`), unset),
		toOld: fails(`{"a":7}`, kinds("a", fourByte, "8-byte number (double)"), unset)},
	{message: "ListFloatToNumber", toNew: reads(`{"a":[1.5]}`, `{"a":[1069547520]}`), toOld: reads(`{"a":[1069547520]}`, `{"a":[1.5]}`)},

	{message: "StringToBytes", toNew: reads(`{"a":"hi"}`, `{"a":"aGk="}`), toOld: fails(`{"a":"/w=="}`, "!a|"+notUTF8, "!"+notUTF8)},
	{message: "ListStringToBytes", toNew: reads(`{"a":["hi",""]}`, `{"a":["aGk=",""]}`), toOld: fails(`{"a":["","/w=="]}`, "!a|"+notUTF8, "!"+notUTF8)},
	{message: "StringToNumber", toNew: fails(`{"a":"x"}`, kinds("a", text, "4-byte number (int32)"), unset),
		toOld: fails(`{"a":7}`, kinds("a", fourByte, "string or bytes (string)"), unset)},
	{message: "StringToList", toNew: fails(`{"a":"x"}`, kinds("a", text, "list of strings or bytes (repeated string)"), `{"a":["x"]}`),
		toOld: fails(`{"a":["x","y"]}`, kinds("a", "list of strings or bytes", "string or bytes (string)"), `{"a":"y"}`)},
	{message: "NumberToList", toNew: fails(`{"a":7}`, kinds("a", fourByte, "list of 4-byte elements (repeated int32)"), `{"a":[7]}`),
		toOld: fails(`{"a":[7,8]}`, kinds("a", "list of 4-byte elements", "4-byte number (int32)"), unset)},
	{message: "BytesListToNumbers", toNew: fails(`{"a":["AAAAAAAA8D8="]}`, kinds("a", "list of strings or bytes", "list of 8-byte elements (repeated double)"), `{"a":[1]}`),
		toOld: fails(`{"a":[1]}`, kinds("a", "list of 8-byte elements", "list of strings or bytes (repeated bytes)"), `{"a":["AAAAAAAA8D8="]}`)},

	{message: "MessageToString", toNew: fails(`{"a":{"name":"x"}}`, kinds("a", "messages", "string or bytes (string)"), `{"a":"\n\u0001x"}`),
		toOld: fails(`{"a":"x"}`, kinds("a", text, "messages (message)"), "!cannot parse")},
	{message: "MessageToGroup", toNew: unlike(same(`{"a":{"name":"x","n":3}}`), unset), toOld: unlike(same(`{"a":{"name":"x","n":3}}`), unset)},
	{message: "MessageChanged", toNew: reads(`{"a":{"name":"x","n":-3}}`, `{"a":{"name":"x","n":"-3"}}`),
		toOld: reads(`{"a":{"name":"x","n":"-3","more":true}}`, `{"a":{"name":"x","n":-3}}`)},
	{message: "MessageToList", toNew: reads(`{"a":{"n":3}}`, `{"a":[{"n":3}]}`),
		toOld: fails(`{"a":[{"n":3},{"name":"x"}]}`, "!a|the writer stores a list of messages|this schema has one message", `{"a":{"name":"x","n":3}}`)},
	{message: "MessageToInline", toNew: fails(`{"a":{"x":1}}`, kinds("a", "messages", "inline message of 8 bytes (inline message)"), `{"a":{"x":1}}`),
		toOld: fails(`{"a":{"x":1}}`, kinds("a", "inline message of 8 bytes", "messages (message)"), `{"a":{"x":1}}`)},
	{message: "InlineSameSize", toNew: reads(`{"a":{"x":1,"y":1.5}}`, `{"a":{"x":1,"y":1069547520}}`),
		toOld: reads(`{"a":{"x":1,"y":1069547520}}`, `{"a":{"x":1,"y":1.5}}`)},
	{message: "InlineGrown", toNew: fails(`{"a":{"x":1}}`, kinds("a", "inline message of 8 bytes", "inline message of 12 bytes (inline message)"), `{"a":{"x":1}}`),
		toOld: fails(`{"a":{"x":1,"z":2}}`, kinds("a", "inline message of 12 bytes", "inline message of 8 bytes (inline message)"), `{"a":{"x":1}}`)},
	{message: "NumberToInline", toNew: unlike(reads(`{"a":513}`, `{"a":{"a":1,"b":2}}`), unset), toOld: unlike(reads(`{"a":{"a":1,"b":2}}`, `{"a":513}`), unset)},
	{message: "ListNumberToInline", toNew: unlike(reads(`{"a":[1069547520]}`, `{"a":[{"a":1.5}]}`), "!cannot parse"),
		toOld: unlike(reads(`{"a":[{"a":1.5}]}`, `{"a":[1069547520]}`), "!cannot parse")},

	{message: "ListToMap", toNew: lossy(`{"a":[{"key":"b","value":2},{"key":"a","value":1},{"key":"b","value":3}]}`, `{"a":{"a":1,"b":3}}`),
		toOld: reads(`{"a":{"a":1}}`, `{"a":[{"key":"a","value":1}]}`)},
	{message: "MapKeyWidened", toNew: reads(`{"a":{"-1":"m","1":"p"}}`, `{"a":{"-1":"m","1":"p"}}`), toOld: lossy(`{"a":{"1":"low","4294967297":"high"}}`, `{"a":{"1":"high"}}`)},
	{message: "MapKeyNarrowed", toNew: lossy(`{"a":{"2":"low","4294967298":"high"}}`, `{"a":{"2":"high"}}`), toOld: reads(`{"a":{"-1":"m","1":"p"}}`, `{"a":{"-1":"m","1":"p"}}`)},
	{message: "MapKeySign", toNew: reads(`{"a":{"-1":"m","1":"p"}}`, `{"a":{"4294967295":"m","1":"p"}}`), toOld: reads(`{"a":{"4294967295":"m","1":"p"}}`, `{"a":{"-1":"m","1":"p"}}`)},
	{message: "MapKeyKind", toNew: fails(`{"a":{"1":"x"}}`, kinds("AEntry.key", fourByte, "string or bytes (string)"), `{"a":{"":"x"}}`),
		toOld: fails(`{"a":{"k":"x"}}`, kinds("AEntry.key", text, "4-byte number (int32)"), `{"a":{"0":"x"}}`)},
	{message: "MapValueWidened", toNew: reads(`{"a":{"k":-1}}`, `{"a":{"k":"-1"}}`), toOld: lossy(`{"a":{"k":"4294967298"}}`, `{"a":{"k":2}}`)},
	{message: "MapValueMessage", toNew: reads(`{"a":{"k":{"n":-1}}}`, `{"a":{"k":{"n":"-1"}}}`), toOld: reads(`{"a":{"k":{"n":"-1","more":true}}}`, `{"a":{"k":{"n":-1}}}`)},
	{message: "MapValueKind", toNew: fails(`{"a":{"k":7}}`, kinds("AEntry.value", fourByte, "string or bytes (string)"), `{"a":{"k":""}}`),
		toOld: fails(`{"a":{"k":"x"}}`, kinds("AEntry.value", text, "4-byte number (int32)"), `{"a":{"k":0}}`)},

	{message: "IntoOneof", toNew: lossy(`{"a":"x","b":7}`, `{"b":7}`), toOld: same(`{"a":"x"}`)},
	{message: "AloneIntoOneof", toNew: same(`{"a":"x"}`), toOld: reads(`{"b":7}`, unset)},
	{message: "PresenceAdded", toNew: same(`{"a":7,"b":"x"}`), toOld: lossy(`{"a":0,"b":""}`, unset)},
	{message: "ToExtension", toNew: unlike(reads(`{"a":"x","b":7}`, `{"a":"x"}`), `{"a":"x","[skew.after.moved]":7}`),
		toOld: lossy(`{"a":"x","[skew.after.moved]":7}`, `{"a":"x","b":7}`)},
	{message: "RequiredAdded", required: true, toNew: fails(`{"a":"x"}`, "!required field not set|RequiredAdded.b", "!RequiredAdded.b"), toOld: same(`{"b":0}`)},
	{message: "UTF8Added", toNew: fails("raw 0a01ff", "!a|"+notUTF8, "!"+notUTF8), toOld: same(`{"a":"x"}`)},
	{message: "Reused", toNew: fails(`{"a":"x"}`, kinds("b", text, "list of 8-byte elements (repeated double)"), "!cannot parse"),
		toOld: fails(`{"b":[1.5]}`, kinds("a", "list of 8-byte elements", "string or bytes (string)"), "!"+notUTF8)},
	{message: "Wide", toNew: same(wideJSON), toOld: reads(strings.Replace(wideJSON, "}", `,"f61":"new"}`, 1), wideJSON)},
}
