package gravengrpc

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/graven-rpc/graven/codec"
)

// ErrNoCodec is what errors.Is finds in the error of a call whose server does not
// speak Graven.
var ErrNoCodec = errors.New("the server does not speak Graven")

// noCodecError is the status that a client gets in the place of the server's, which
// tells that bytes are wrong but not what to do.
type noCodecError struct {
	target string
	method string
	hint   string
	said   *status.Status
}

// What a client can do itself to go on in protobuf.
const (
	hintOption = "the client needs gravengrpc.WithFallback"
	hintNext   = "the next call will be made in it, this one can't be repeated"
)

// noCodec is the error of a call whose server does not speak Graven.
func (d *dialOptions) noCodec(target, method string, said *status.Status) error {
	hint := hintOption
	if d.fallback != nil {
		hint = hintNext
	}
	return &noCodecError{target, method, hint, said}
}

func (e *noCodecError) Error() string { return e.GRPCStatus().Err().Error() }

func (e *noCodecError) Is(target error) bool { return target == ErrNoCodec }

// Unwrap gives the error that the call had.
func (e *noCodecError) Unwrap() error { return e.said.Err() }

// GRPCStatus makes status.FromError and status.Code see the new message.
func (e *noCodecError) GRPCStatus() *status.Status {
	return status.New(codes.Unimplemented, fmt.Sprintf(
		"graven: %v: the server of %s at %q has to import _ %q (Go); to go on in protobuf, %s. The call failed with: %v: %s",
		ErrNoCodec, e.method, e.target, "github.com/graven-rpc/graven/codec/gravengrpc", e.hint, e.said.Code(), e.said.Message()))
}

// verdict is what the status of a call tells about the server.
type verdict int

const (
	unknown verdict = iota
	// unread: the server could not read the request as what it takes it for, so
	// no handler has seen it.
	unread
	// otherEncoding: the server has answered, in another encoding.
	otherEncoding
)

// unreadable are the beginnings of what servers say about a request they can't
// parse. A frame begins with a byte that is no valid protobuf tag, so all servers
// that take it for protobuf refuse it.
var unreadable = [...]struct {
	code codes.Code
	text string
}{
	// grpc-go, now and up to v1.7x. A server that has the codec goes on with our
	// own prefix.
	{codes.Internal, "grpc: failed to unmarshal the received message: "},
	{codes.Internal, "grpc: error unmarshalling request: "},
	// What grpc-go's client makes of an HTTP status 415, which connect-go sends.
	{codes.Unknown, "unexpected HTTP status code received from server: 415 "},
	// gRPC for Python, Node.js and Java, and tonic.
	{codes.Internal, "Exception deserializing request!"},
	{codes.Internal, "Error deserializing request"},
	{codes.Internal, "Invalid protobuf byte sequence"},
	{codes.Internal, "failed to decode Protobuf message: "},
}

// errorPrefix is how the text of every error of package codec begins.
const errorPrefix = "graven: "

// notAFrame is how the text of the error begins that a client's codec has for an answer
// in another encoding. A server's codec says something else about a request, and
// gRPC hands on both as text.
const notAFrame = errorPrefix + "the answer is no Graven frame"

// clientCodec is a codec that tells such answers apart.
type clientCodec struct{ encoding.CodecV2 }

func (c clientCodec) Unmarshal(data mem.BufferSlice, v any) error {
	err := c.CodecV2.Unmarshal(data, v)
	if errors.Is(err, codec.ErrMagic) {
		return fmt.Errorf("%s: %w", notAFrame, err)
	}
	return err
}

// judge looks at the status of a failed call that was made in Graven.
func judge(s *status.Status) verdict {
	text := s.Message()
	if s.Code() == codes.Internal && strings.Contains(text, ": "+notAFrame) {
		return otherEncoding
	}
	for _, u := range unreadable {
		if rest, ok := strings.CutPrefix(text, u.text); ok && s.Code() == u.code && !strings.HasPrefix(rest, errorPrefix) {
			return unread
		}
	}
	return unknown
}
