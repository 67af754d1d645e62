// Package agree holds generated methods up to reflection: a message of a generated Go
// type has the same frame whichever way it is encoded, and a frame, also one of another
// version of the schema or a damaged one, is the same message whichever way it is decoded.
//
// It is for programs that a test generates and builds.
package agree

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/layout"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/envelope"
)

// Counts says what was tried.
type Counts struct {
	Types, Messages int
	// Generated are encodings that generated methods finished, rather than leaving the message
	// to reflection.
	Generated int
	// Skewed are frames of another version of the schema, Damaged frames with a byte changed.
	Skewed, Damaged int
}

func (c Counts) String() string {
	return fmt.Sprintf("%d types, %d messages (%d by generated methods), %d frames of another version, %d damaged",
		c.Types, c.Messages, c.Generated, c.Skewed, c.Damaged)
}

// Run tries random values of all message types that the program has registered in
// packages whose name begins with prefix. In others, if it is not "", lie other versions
// of their schemas, NAME.proto for package NAME.
func Run(prefix, others string, values int) (c Counts, err error) {
	r := runner{values: values, extensions: extensions(prefix)}
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(string(f.Package()), prefix) {
			return true
		}
		if err = r.file(f, others); err != nil {
			err = fmt.Errorf("%s: %w", f.Path(), err)
		}
		return err == nil
	})
	return r.counts, err
}

func extensions(prefix string) (all []protoreflect.ExtensionType) {
	protoregistry.GlobalTypes.RangeExtensions(func(xt protoreflect.ExtensionType) bool {
		if strings.HasPrefix(string(xt.TypeDescriptor().FullName()), prefix) {
			all = append(all, xt)
		}
		return true
	})
	return all
}

type runner struct {
	values     int
	extensions []protoreflect.ExtensionType
	counts     Counts
}

func (r *runner) file(f protoreflect.FileDescriptor, others string) error {
	var other *corpus.Set
	if text, err := os.ReadFile(filepath.Join(others, string(f.Package())+".proto")); err == nil {
		if other, err = corpus.Compile("other.proto", string(text)); err != nil {
			return err
		}
	}
	var each func(mds protoreflect.MessageDescriptors) error
	each = func(mds protoreflect.MessageDescriptors) error {
		for i := range mds.Len() {
			md := mds.Get(i)
			if md.IsMapEntry() {
				continue
			}
			mt, err := protoregistry.GlobalTypes.FindMessageByName(md.FullName())
			if err == nil {
				err = r.message(mt, other)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", md.FullName(), err)
			}
			if err := each(md.Messages()); err != nil {
				return err
			}
		}
		return nil
	}
	return each(f.Messages())
}

func (r *runner) message(mt protoreflect.MessageType, other *corpus.Set) error {
	r.counts.Types++
	for seed := range r.values {
		m := mt.New().Interface()
		v := corpus.Values{R: corpus.Rand(uint64(seed)), Extensions: r.extensions, Unknown: seed%2 == 0, InvalidUTF8: seed%3 == 0}
		v.Fill(m.ProtoReflect())
		frame, err := r.encode(m)
		if err == nil {
			err = r.decode(mt, frame, m)
		}
		if err == nil {
			err = r.damage(mt, frame, v)
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", seed, err)
		}
	}
	if other == nil {
		return nil
	}
	md, err := other.Message(mt.Descriptor().FullName())
	if err != nil {
		return err
	}
	for seed := range r.values {
		m := dynamicpb.NewMessage(md)
		v := corpus.Values{R: corpus.Rand(uint64(seed)), Unknown: seed%4 == 0}
		v.Fill(m)
		frame, err := codec.Marshal(m)
		if err != nil {
			return err
		}
		r.counts.Skewed++
		if err := same(mt, frame); err != nil {
			return fmt.Errorf("value %d of another version: %w", seed, err)
		}
	}
	return nil
}

// encode encodes a message by its methods, by reflection and as the format's text says.
func (r *runner) encode(m proto.Message) ([]byte, error) {
	r.counts.Messages++
	frame, err := codec.Marshal(m)
	if err != nil {
		return nil, err
	}
	_, t, lm, _, err := wire.Bound(m)
	switch {
	case err != nil:
		return nil, err
	case t != nil:
		o := wire.EncodeOptions{MaxDepth: wire.DefaultDepth, MaxSize: wire.MaxMessage}
		buf := make([]byte, len(frame)+64)
		if end, result := wire.Encode(buf[:len(frame)+32], 0, t, m, o); result == wire.Done {
			r.counts.Generated++
			if err := equal("generated methods", buf[:end], frame[envelope.HeaderSize:len(frame)-envelope.TrailerSize]); err != nil {
				return nil, err
			}
		}
	}
	message, err := wire.AppendReflect(nil, lm, m.ProtoReflect(), wire.EncodeOptions{MaxDepth: wire.DefaultDepth, MaxSize: wire.MaxMessage})
	if err != nil {
		return nil, err
	}
	if err := equal("reflection", message, frame[envelope.HeaderSize:len(frame)-envelope.TrailerSize]); err != nil {
		return nil, err
	}
	text, err := corpus.Encode(m)
	if err != nil {
		return nil, err
	}
	return frame, equal("the format's text", text, frame)
}

func equal(who string, got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	return fmt.Errorf("%s and Marshal disagree:\n%s\n%s", who, hex.EncodeToString(got), hex.EncodeToString(want))
}

// decode decodes a frame of m in both ways.
func (r *runner) decode(mt protoreflect.MessageType, frame []byte, m proto.Message) error {
	got := mt.New().Interface()
	if err := codec.Unmarshal(frame, got); err != nil {
		return err
	}
	if d := corpus.Diff(m, got); d != "" {
		return fmt.Errorf("decoded message differs\n%s", d)
	}
	reflected, err := reflect(mt, frame)
	if err != nil {
		return err
	}
	if d := corpus.Diff(m, reflected); d != "" {
		return fmt.Errorf("message decoded by reflection differs\n%s", d)
	}
	return nil
}

const budget = 64 << 20

// reflect decodes a frame by reflection.
func reflect(mt protoreflect.MessageType, frame []byte) (proto.Message, error) {
	lm, err := layout.Of(mt.Descriptor())
	if err != nil {
		return nil, err
	}
	_, message, err := envelope.Open(frame, wire.MaxMessage)
	if err != nil {
		return nil, err
	}
	if _, err := wire.VerifyWithin(lm, message, wire.DefaultDepth, budget); err != nil {
		return nil, err
	}
	m := mt.New()
	o := wire.DecodeOptions{MaxDepth: wire.DefaultDepth, Budget: budget, Resolver: protoregistry.GlobalTypes}
	return m.Interface(), wire.DecodeReflect(m, lm, message, o)
}

// same decodes a frame in both ways.
func same(mt protoreflect.MessageType, frame []byte) error {
	generated := mt.New().Interface()
	err1 := codec.Options{AllowPartial: true, Budget: budget}.Unmarshal(frame, generated)
	reflected, err2 := reflect(mt, frame)
	if err1 != nil && err2 != nil {
		return nil
	}
	if err1 != nil || err2 != nil {
		return fmt.Errorf("frame %x: generated methods %v, reflection %v", frame, err1, err2)
	}
	if d := corpus.Diff(reflected, generated); d != "" {
		return fmt.Errorf("frame %x: reflection and generated methods\n%s", frame, d)
	}
	return nil
}

// damage changes single bytes of a frame.
func (r *runner) damage(mt protoreflect.MessageType, frame []byte, v corpus.Values) error {
	message := len(frame) - envelope.HeaderSize - envelope.TrailerSize
	if message == 0 {
		return nil
	}
	for range 10 {
		bad := bytes.Clone(frame)
		bad[envelope.HeaderSize+v.R.IntN(min(message, 200))] ^= byte(1 << v.R.IntN(8))
		r.counts.Damaged++
		if err := same(mt, corpus.Reseal(bad)); err != nil {
			return err
		}
	}
	return nil
}
