package pbmsg

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// The sums over plain structs, over protobuf's structs and through reflection
// are written apart; they have to agree on messages made from the same values.
func TestSumsAgree(t *testing.T) {
	scenario.CountEveryByte(true)
	defer scenario.CountEveryByte(false)
	for _, sc := range scenario.All {
		make := sc.Small
		if make == nil {
			make = sc.New
		}
		for seed := uint64(1); seed <= 20; seed++ {
			m := make(seed)
			msg := Build(m)
			if got, want := NewWalker(msg.ProtoReflect().Descriptor()).Sum(msg.ProtoReflect()), m.Sum(); got != want {
				t.Fatalf("%s, seed %d: reflection gives %#x, the structs %#x", sc.Name, seed, got, want)
			}
		}
	}
}

// The sum has to tell messages apart that differ in one value.
func TestSumSeesEveryField(t *testing.T) {
	scenario.CountEveryByte(true)
	defer scenario.CountEveryByte(false)
	for _, sc := range scenario.All {
		msg := Build(sc.New(1)).ProtoReflect()
		want := NewWalker(msg.Descriptor()).Sum(msg)
		fields := msg.Descriptor().Fields()
		for i := range fields.Len() {
			fd := fields.Get(i)
			c := proto.Clone(msg.Interface()).ProtoReflect()
			if !c.Has(fd) {
				continue
			}
			if fd.IsList() {
				c.Mutable(fd).List().Truncate(c.Get(fd).List().Len() - 1)
			} else {
				c.Clear(fd)
			}
			if NewWalker(c.Descriptor()).Sum(c) == want {
				t.Errorf("%s: the sum does not see %s", sc.Name, fd.FullName())
			}
		}
	}
}
