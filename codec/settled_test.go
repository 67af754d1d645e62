package codec_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/testpb/wide"
)

// The first row alone is not elided, the first two are: the shape of a list must not be
// settled by the rows that were looked at first.
func TestShapeIsSettledByAllRows(t *testing.T) {
	late := func() *wide.Settling_Late { return &wide.Settling_Late{Late: &wide.Wide{}} }
	m := &wide.Settlings{Rows: []*wide.Settling{{Which: late()}, {Which: late(), Disabled: true}}}
	got, err := codec.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	d := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	if err := proto.Unmarshal(raw, d); err != nil {
		t.Fatal(err)
	}
	want, err := codec.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("generated %x\nreflective %x", got, want)
	}
}
