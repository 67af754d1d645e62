package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
)

// Methods that were generated from another version of the schema than the Go type would
// write to wrong places: they are not used at all.
func TestStaleMethods(t *testing.T) {
	current := new(open.Tree3).Γraven()
	if current.Shape == 0 || current.Shape != crc32c.Checksum(current.Of((*open.Tree3)(nil)).Layout.Full.Shape) {
		t.Errorf("generated methods say %#x of their shape", current.Shape)
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "testpb.open.Tree3") || !strings.Contains(p, "generate both again") {
			t.Errorf("panic: %s", p)
		}
	}()
	stale := wire.Type{Shape: current.Shape + 1}
	stale.Of((*open.Tree3)(nil))
}
