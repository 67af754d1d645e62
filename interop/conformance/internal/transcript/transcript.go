// Package transcript keeps what was said between the conformance runner and a
// testee, and compares answers.
package transcript

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/interop/conformance/internal/conformancepb"
)

// An Exchange is a request and its answer.
type Exchange struct {
	Request  *conformancepb.ConformanceRequest
	Response *conformancepb.ConformanceResponse
}

// maxMessage bounds one message of the pipe or of a file, in bytes.
const maxMessage = 64 << 20

// ReadMessage reads a message that stands behind its size, a little-endian
// uint32, as the runner and a testee send them to each other. It returns io.EOF
// if there is none.
func ReadMessage(r io.Reader, m proto.Message) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxMessage {
		return fmt.Errorf("transcript: message of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("transcript: message of %d bytes: %w", n, err)
	}
	return proto.Unmarshal(b, m)
}

// WriteMessage writes a message behind its size.
func WriteMessage(w io.Writer, m proto.Message) error {
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(make([]byte, 4), m)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	_, err = w.Write(b)
	return err
}

// ReadFile reads the transcript in a gzip file.
func ReadFile(name string) ([]Exchange, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []Exchange
	for {
		e := Exchange{new(conformancepb.ConformanceRequest), new(conformancepb.ConformanceResponse)}
		if err := ReadMessage(z, e.Request); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: request %d: %w", name, len(all), err)
		}
		if err := ReadMessage(z, e.Response); err != nil {
			return nil, fmt.Errorf("%s: response %d: %w", name, len(all), err)
		}
		all = append(all, e)
	}
}

// WriteFile writes a transcript as a gzip file.
func WriteFile(name string, all []Exchange) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, e := range all {
		if err := WriteMessage(z, e.Request); err != nil {
			return err
		}
		if err := WriteMessage(z, e.Response); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// Diff says how two answers to one request differ, or returns "". What
// protobuf-go leaves open from one build to the next is not compared: the
// wording of errors and the white space of JSON and text.
func Diff(got, want *conformancepb.ConformanceResponse) string {
	g, w := Canonical(got), Canonical(want)
	if g == w {
		return ""
	}
	return fmt.Sprintf("got  %s\nwant %s", g, w)
}

// Canonical is an answer as text, the same for answers that say the same.
func Canonical(r *conformancepb.ConformanceResponse) string {
	switch r := r.Result.(type) {
	case *conformancepb.ConformanceResponse_ParseError:
		return "parse error"
	case *conformancepb.ConformanceResponse_SerializeError:
		return "serialize error"
	case *conformancepb.ConformanceResponse_RuntimeError:
		return "runtime error: " + r.RuntimeError
	case *conformancepb.ConformanceResponse_ProtobufPayload:
		return fmt.Sprintf("protobuf %x", r.ProtobufPayload)
	case *conformancepb.ConformanceResponse_JsonPayload:
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(r.JsonPayload)); err != nil {
			return "invalid JSON " + r.JsonPayload
		}
		return "JSON " + b.String()
	case *conformancepb.ConformanceResponse_TextPayload:
		return "text " + dropSpace(r.TextPayload)
	default:
		return fmt.Sprintf("answer of type %T", r)
	}
}

// dropSpace leaves out the white space of a text format message outside of
// string literals.
func dropSpace(s string) string {
	var b strings.Builder
	quote, escaped := rune(0), false
	for _, r := range s {
		switch {
		case escaped:
			escaped = false
		case quote != 0 && r == '\\':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && (r == ' ' || r == '\n'):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
