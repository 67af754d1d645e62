//go:build !race

package codec_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/hybrid"
	"github.com/graven-rpc/graven/codec/internal/testpb/opaque"
	"github.com/graven-rpc/graven/codec/internal/testpb/open"
	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/crc32c"
	"github.com/graven-rpc/graven/envelope"
)

// Messages that other goroutines change while they are encoded give a wrong frame or an
// error, and never a write outside the buffer, which ends where memory ends. The race
// detector would rightly complain, so it is not built with it.
func TestChangedWhileEncoded(t *testing.T) {
	room := guarded(t)
	encodings := 8_000
	if testing.Short() {
		encodings = 1_000
	}
	for _, like := range []proto.Message{
		new(open.All3), new(open.All2), new(open.Wide3), new(open.Tree3), new(open.AllE23), new(hybrid.All3), new(opaque.All3),
	} {
		name := string(like.ProtoReflect().Descriptor().FullName())
		t.Run(name, func(t *testing.T) {
			m := filled(like)
			changes := changesOf(m)
			if len(changes) == 0 {
				t.Skip("built with the tag protoopaque, it has no fields")
			}
			if len(changes) < 5 {
				t.Fatalf("%d ways to change it", len(changes))
			}
			size := len(marshal(t, codec.Options{AllowPartial: true}, m))
			var stop atomic.Bool
			var running sync.WaitGroup
			for i := range max(1, runtime.GOMAXPROCS(0)-1) {
				running.Go(func() {
					r := rand.New(rand.NewPCG(uint64(i), 1))
					for !stop.Load() {
						changes[r.IntN(len(changes))](r)
					}
				})
			}
			defer running.Wait()
			defer stop.Store(true)
			w := watcher{room: room, m: m, r: rand.New(rand.NewPCG(7, 7)), most: size + 100}
			for range encodings {
				w.encode(t)
			}
			t.Logf("%d bytes, %d ways to change it: %d frames, %d of them wrong, %d buffers too small, %d left to reflection",
				size, len(changes), w.results[wire.Done], w.wrong, w.results[wire.Small], w.results[wire.Reflect])
			if w.results[wire.Done] == 0 || w.results[wire.Small] == 0 {
				t.Error("not everything was tried")
			}
		})
	}
}

// guarded is memory in front of and behind which nothing may be touched.
func guarded(t *testing.T) []byte {
	t.Helper()
	page := os.Getpagesize()
	const pages = 64
	mem, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[(pages-1)*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	return mem[page : (pages-1)*page]
}

// filled is a message with nearly everything set, of some KiB.
func filled(like proto.Message) proto.Message {
	for seed := uint64(0); ; seed++ {
		m := empty(like)
		v := corpus.Values{R: corpus.Rand(seed), Unknown: seed%2 == 0, Depth: 3, Size: 20}
		v.Fill(m.ProtoReflect())
		set := 0
		m.ProtoReflect().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { set++; return true })
		if set > m.ProtoReflect().Descriptor().Fields().Len()/2 {
			return m
		}
	}
}

type watcher struct {
	room    []byte
	m       proto.Message
	r       *rand.Rand
	most    int // bytes of a buffer
	results [3]int
	wrong   int
}

// canary stands between the end of a buffer and the end of its memory.
var canary = bytes.Repeat([]byte{0xC5}, 8)

// encode encodes the message into a buffer of any size at the end of memory.
func (w *watcher) encode(t *testing.T) {
	n := w.r.IntN(w.most)
	if w.r.IntN(2) == 0 {
		n = w.most - w.r.IntN(min(w.most, 200))
	}
	begin, end := len(w.room)-len(canary)-n, len(w.room)-len(canary)
	copy(w.room[end:], canary)
	copy(w.room[begin-len(canary):], canary)
	_, typ, lm, _, err := wire.Bound(w.m)
	if err != nil {
		t.Fatal(err)
	}
	at := min(n, envelope.HeaderSize)
	stop, result := func() (int, wire.Result) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("buffer of %d bytes: %v\n%s", n, p, debug.Stack())
			}
		}()
		return wire.Encode(w.room[begin:end], at, typ, w.m, wire.EncodeOptions{MaxDepth: wire.DefaultDepth, MaxSize: wire.MaxMessage})
	}()
	if !bytes.Equal(w.room[end:], canary) || !bytes.Equal(w.room[begin-len(canary):begin], canary) {
		t.Fatalf("buffer of %d bytes: bytes around it were changed", n)
	}
	w.results[result]++
	if result != wire.Done {
		return
	}
	if stop > n {
		t.Fatalf("buffer of %d bytes: %d bytes are said to be in it", n, stop)
	}
	// Whatever it is, reading it does no harm.
	frame := bytes.Clone(w.room[begin : begin+stop])
	envelope.PutHeader(frame, envelope.Header{SchemaID: lm.ID(), Size: uint32(stop - envelope.HeaderSize)})
	sum := crc32c.Checksum(frame)
	frame = append(frame, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	if (codec.Options{AllowPartial: true, Budget: 1 << 28}).Unmarshal(frame, empty(w.m)) != nil {
		w.wrong++
	}
}

// changesOf gives functions that change a part of a message. What takes several words in
// memory is changed so that a reader that sees half of the change still sees something that
// exists: strings and lists keep their memory and differ in length.
func changesOf(m proto.Message) []func(r *rand.Rand) {
	if m, ok := m.(*opaque.All3); ok {
		return opaqueChanges(m)
	}
	var c changer
	c.message(reflect.ValueOf(m), 3)
	if raw := m.ProtoReflect().GetUnknown(); len(raw) > 0 {
		c.add(func(r *rand.Rand) { m.ProtoReflect().SetUnknown(raw[:0]) })
		c.add(func(r *rand.Rand) { m.ProtoReflect().SetUnknown(raw) })
	}
	return c.all
}

type changer struct{ all []func(r *rand.Rand) }

func (c *changer) add(f func(r *rand.Rand)) { c.all = append(c.all, f) }

func (c *changer) message(m reflect.Value, depth int) {
	if m.IsNil() || depth == 0 {
		return
	}
	for i := range m.Elem().NumField() {
		if m.Elem().Type().Field(i).IsExported() {
			c.value(m.Elem().Field(i), depth)
		}
	}
}

func (c *changer) value(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.String:
		s := v.String()
		ends := []int{len(s)}
		for i := range s {
			ends = append(ends, i)
		}
		c.add(func(r *rand.Rand) { v.SetString(s[:ends[r.IntN(len(ends))]]) })
	case reflect.Slice:
		n := v.Len()
		c.add(func(r *rand.Rand) { v.SetLen(r.IntN(n + 1)) })
		for i := range min(n, 5) {
			if v.Type().Elem().Kind() != reflect.Uint8 {
				c.value(v.Index(i), depth)
			}
		}
	case reflect.Pointer:
		was := reflect.ValueOf(v.Interface())
		c.add(func(r *rand.Rand) { v.SetZero() })
		c.add(func(r *rand.Rand) { v.Set(was) })
		switch {
		case was.IsNil():
		case was.Elem().Kind() == reflect.Struct:
			c.message(was, depth-1)
		default:
			c.value(was.Elem(), depth)
		}
	case reflect.Interface: // a oneof
		if v.IsNil() {
			return
		}
		was := reflect.ValueOf(v.Interface())
		c.add(func(r *rand.Rand) { v.SetZero() })
		c.add(func(r *rand.Rand) { v.Set(was) })
		c.value(was.Elem().Field(0), depth)
	case reflect.Map:
		was := reflect.ValueOf(v.Interface())
		c.add(func(r *rand.Rand) { v.SetZero() })
		c.add(func(r *rand.Rand) { v.Set(was) })
	case reflect.Bool:
		c.add(func(r *rand.Rand) { v.SetBool(r.IntN(2) == 0) })
	case reflect.Int32, reflect.Int64:
		c.add(func(r *rand.Rand) { v.SetInt(int64(r.IntN(3) - 1)) })
	case reflect.Uint32, reflect.Uint64:
		c.add(func(r *rand.Rand) { v.SetUint(uint64(r.IntN(2))) })
	case reflect.Float32, reflect.Float64:
		c.add(func(r *rand.Rand) { v.SetFloat(float64(r.IntN(2))) })
	}
}

func opaqueChanges(m *opaque.All3) []func(r *rand.Rand) {
	list, long, raw := make([]int32, 100), string(bytes.Repeat([]byte("x"), 200)), make([]byte, 300)
	var trees []*opaque.Tree3
	for range 20 {
		trees = append(trees, opaque.Tree3_builder{Name: long}.Build())
	}
	m.SetRepInt32(list)
	m.SetFString(long)
	m.SetFBytes(raw)
	strings := map[string]string{"a": long, "b": ""}
	return []func(r *rand.Rand){
		func(r *rand.Rand) { m.SetRepInt32(list[:r.IntN(len(list)+1)]) },
		func(r *rand.Rand) { m.SetFString(long[:r.IntN(len(long)+1)]) },
		func(r *rand.Rand) { m.SetFBytes(raw[:r.IntN(len(raw)+1)]) },
		func(r *rand.Rand) { m.SetRepMessage(trees[:r.IntN(len(trees)+1)]) },
		func(r *rand.Rand) { m.SetRepMessage(nil) },
		func(r *rand.Rand) { m.SetFMessage(trees[r.IntN(len(trees))]) },
		func(r *rand.Rand) { m.SetFMessage(nil) },
		func(r *rand.Rand) { m.SetOptInt64(int64(r.IntN(2))) },
		func(r *rand.Rand) { m.ClearOptInt64() },
		func(r *rand.Rand) { m.SetFBool(r.IntN(2) == 0) },
		func(r *rand.Rand) { m.SetMapString(strings) },
		func(r *rand.Rand) { m.SetMapString(nil) },
		func(r *rand.Rand) { m.SetFInline(nil) },
		func(r *rand.Rand) { m.SetFInline(opaque.Box3_builder{Open: true}.Build()) },
	}
}
