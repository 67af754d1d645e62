// Package testee answers the requests of the protobuf conformance suite, with
// a hop between parsing a message and writing it out again.
package testee

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/interop/conformance/internal/conformancepb"

	// The messages that requests name.
	_ "github.com/graven-rpc/graven/interop/conformance/internal/edition2023pb"
	_ "github.com/graven-rpc/graven/interop/conformance/internal/editionsproto2pb"
	_ "github.com/graven-rpc/graven/interop/conformance/internal/editionsproto3pb"
	_ "github.com/graven-rpc/graven/interop/conformance/internal/proto2pb"
	_ "github.com/graven-rpc/graven/interop/conformance/internal/proto3pb"
)

// Answer does what a request asks for: it parses the payload, sends the message
// through hop and writes what arrives in the format that is wanted. Errors of
// protobuf become the answers that the suite expects for them; an error of the
// hop becomes a runtime error, which the suite always counts as a failure.
//
// Maps are written in order of their keys, so that answers can be compared.
func Answer(req *conformancepb.ConformanceRequest, hop Hop) *conformancepb.ConformanceResponse {
	typ, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(req.GetMessageType()))
	if err != nil {
		return runtimeError("message type %q: %v", req.GetMessageType(), err)
	}

	m := typ.New().Interface()
	switch p := req.Payload.(type) {
	case *conformancepb.ConformanceRequest_ProtobufPayload:
		err = proto.Unmarshal(p.ProtobufPayload, m)
	case *conformancepb.ConformanceRequest_JsonPayload:
		ignore := req.GetTestCategory() == conformancepb.TestCategory_JSON_IGNORE_UNKNOWN_PARSING_TEST
		err = protojson.UnmarshalOptions{DiscardUnknown: ignore}.Unmarshal([]byte(p.JsonPayload), m)
	case *conformancepb.ConformanceRequest_TextPayload:
		err = prototext.Unmarshal([]byte(p.TextPayload), m)
	default:
		return runtimeError("payload of type %T", req.Payload)
	}
	if err != nil {
		return &conformancepb.ConformanceResponse{
			Result: &conformancepb.ConformanceResponse_ParseError{ParseError: err.Error()},
		}
	}

	if m, err = hop(m); err != nil {
		return runtimeError("hop: %v", err)
	}

	res := new(conformancepb.ConformanceResponse)
	var b []byte
	switch req.GetRequestedOutputFormat() {
	case conformancepb.WireFormat_PROTOBUF:
		b, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
		res.Result = &conformancepb.ConformanceResponse_ProtobufPayload{ProtobufPayload: b}
	case conformancepb.WireFormat_JSON:
		b, err = protojson.Marshal(m)
		res.Result = &conformancepb.ConformanceResponse_JsonPayload{JsonPayload: string(b)}
	case conformancepb.WireFormat_TEXT_FORMAT:
		b, err = prototext.MarshalOptions{EmitUnknown: req.GetPrintUnknownFields()}.Marshal(m)
		res.Result = &conformancepb.ConformanceResponse_TextPayload{TextPayload: string(b)}
	default:
		return runtimeError("output format %v", req.GetRequestedOutputFormat())
	}
	if err != nil {
		res.Result = &conformancepb.ConformanceResponse_SerializeError{SerializeError: err.Error()}
	}
	return res
}

func runtimeError(format string, args ...any) *conformancepb.ConformanceResponse {
	return &conformancepb.ConformanceResponse{
		Result: &conformancepb.ConformanceResponse_RuntimeError{RuntimeError: fmt.Sprintf(format, args...)},
	}
}
