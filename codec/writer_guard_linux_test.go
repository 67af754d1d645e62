package codec_test

import (
	"bytes"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/pool"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
)

// Writers whose buffers end where memory ends, and grow several times, write nothing behind
// them.
func TestWritersAtTheEndOfMemory(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	made := 0
	guarded := &pool.Pool{Make: func(size int) []byte {
		mem := room(t, size)
		made++
		return mem[len(mem)-size:]
	}}
	defer func(was *pool.Pool) { pool.Default = was }(pool.Default)
	pool.Default = guarded
	seeds := tries(30)
	for n, typ := range writtenTypes() {
		md := typ.message.ProtoReflect().Descriptor()
		for seed := range seeds {
			r := corpus.Rand(uint64(n)<<32 + uint64(seed))
			m, want := toWrite(t, typ.message, r, 150)
			for _, h := range []*hand{{r: r, order: true}, {r: r}} {
				typ.writer.Reset()
				h.row(reflect.ValueOf(typ.writer).Elem().Field(0), m.ProtoReflect(), reflect.Value{})
				got, err := typ.writer.Seal()
				if err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s, seed %d: %v, %d bytes, want %d that may differ", md.FullName(), seed, err, len(got), len(want))
				}
				typ.writer.Release()
			}
		}
	}
	// Rows as a whole, one of which does not fit any more.
	var w scenariosgraven.TransactionWriter
	for n := range 60 {
		x := bank(n)
		for _, write := range []func(*scenariosgraven.TransactionWriter, *scenarios.Transaction){writeBank, writeBankUnknown} {
			write(&w, x)
			if got, err := w.Seal(); err != nil || !bytes.Equal(got, marshal(t, codec.Options{}, x)) {
				t.Fatalf("%d entries: %v, %d bytes", n, err, len(got))
			}
			w.Release()
		}
	}
	if made < 5 {
		t.Errorf("buffers of %d sizes only", made)
	}
}
