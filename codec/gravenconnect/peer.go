package gravenconnect

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"

	"connectrpc.com/connect"

	"github.com/graven-rpc/graven/codec"
)

// ErrNoCodec is what errors.Is finds in the error of a call whose server does not
// speak Graven.
var ErrNoCodec = errors.New("the server does not speak Graven")

// noCodecError is the error that a client gets in the place of the server's, which
// tells that something is wrong but not what to do.
type noCodecError struct {
	host   string
	method string
	hint   string
	said   error
}

func noCodec(host, method, hint string, said error) error {
	return connect.NewError(connect.CodeUnimplemented, &noCodecError{host, method, hint, said})
}

const (
	hintOption = "the client needs gravenconnect.WithFallback"
	hintClient = "the client needs an HTTP client from gravenconnect.HTTPClient"
	hintNext   = "the next call will be made in protobuf, this one can't be repeated"
)

func (e *noCodecError) Error() string {
	return fmt.Sprintf(
		"graven: %v: the server of %s at %q has to import %q and give gravenconnect.HandlerOptions to its handlers (with grpc-go, import _ %q); to go on in protobuf, %s. The call failed with: %v",
		ErrNoCodec, e.method, e.host, "github.com/graven-rpc/graven/codec/gravenconnect", "github.com/graven-rpc/graven/codec/gravengrpc", e.hint, e.said)
}

func (e *noCodecError) Is(target error) bool { return target == ErrNoCodec }

// Unwrap gives the error that the call had.
func (e *noCodecError) Unwrap() error { return e.said }

// verdict is what the error of a call tells about the server.
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
	code connect.Code
	text string
}{
	// What connect-go makes of an HTTP status 415, in the three protocols. That is what
	// servers of Connect answer.
	{connect.CodeUnknown, "415 Unsupported Media Type"},
	{connect.CodeUnknown, "HTTP status 415 Unsupported Media Type"},
	// grpc-go, now and up to v1.7x. A server that has the codec goes on with our
	// own prefix.
	{connect.CodeInternal, "grpc: failed to unmarshal the received message: "},
	{connect.CodeInternal, "grpc: error unmarshalling request: "},
	// gRPC for Python, Node.js and Java, and tonic.
	{connect.CodeInternal, "Exception deserializing request!"},
	{connect.CodeInternal, "Error deserializing request"},
	{connect.CodeInternal, "Invalid protobuf byte sequence"},
	{connect.CodeInternal, "failed to decode Protobuf message: "},
}

// errorPrefix is how the text of every error of package codec begins.
const errorPrefix = "graven: "

// judge looks at the error of a call that was made in Graven.
func judge(err error) verdict {
	var e *connect.Error
	if !errors.As(err, &e) {
		return unknown
	}
	if errors.Is(err, codec.ErrMagic) {
		return otherEncoding
	}
	for _, u := range unreadable {
		if rest, ok := strings.CutPrefix(e.Message(), u.text); ok && e.Code() == u.code && !strings.HasPrefix(rest, errorPrefix) {
			return unread
		}
	}
	return unknown
}

// attempt is one HTTP request of a client that falls back. The interceptor puts it in
// the request's context for [HTTPClient] to find.
type attempt struct {
	protobuf bool        // what the interceptor wants
	seen     atomic.Bool // HTTPClient is there to do it
}

type attemptKey struct{}

// HTTPClient returns an HTTP client that lets calls fall back to protobuf, see
// [WithFallback]. connect-go fixes the encoding of a client once and for all, so the
// content types of such a call have to be put right on their way out and in.
// Other requests go through as they are.
func HTTPClient(c connect.HTTPClient) connect.HTTPClient { return httpClient{c} }

type httpClient struct{ inner connect.HTTPClient }

func (c httpClient) Do(r *http.Request) (*http.Response, error) {
	a, ok := r.Context().Value(attemptKey{}).(*attempt)
	if !ok {
		return c.inner.Do(r)
	}
	a.seen.Store(true)
	if !a.protobuf {
		return c.inner.Do(r)
	}
	r = r.Clone(r.Context())
	ours := r.Header.Get("Content-Type")
	theirs := inProtobufType(ours)
	if ours != "" {
		r.Header.Set("Content-Type", theirs)
	} else if q := r.URL.Query(); q.Get("encoding") == Name { // a GET
		ours, theirs = "application/"+Name, "application/proto"
		q.Set("encoding", "proto")
		r.URL.RawQuery = q.Encode()
	}
	res, err := c.inner.Do(r)
	if err != nil {
		return res, err
	}
	if got := res.Header.Get("Content-Type"); got == theirs || got == theirs+"+proto" {
		res.Header.Set("Content-Type", ours)
	}
	return res, nil
}

// inProtobufType is the content type for protobuf in the place of one for Graven.
func inProtobufType(ours string) string {
	switch protocol, _ := strings.CutSuffix(ours, "+"+Name); protocol {
	case "application/" + Name:
		return "application/proto"
	case "application/grpc", "application/grpc-web":
		return protocol
	default:
		return protocol + "+proto"
	}
}
