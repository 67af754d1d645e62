package codec_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/kitchen/kitchengraven"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios"
	"github.com/graven-rpc/graven/codec/internal/testpb/vectors/scenarios/scenariosgraven"
)

// Rows that are written as a whole, one after the other, take a short cut. Here everything
// that a list can be asked for comes in between: rows out of order, single fields, handles
// kept from before, lengths, fields of the message that holds the list, a list that grows.
func TestWholeRows(t *testing.T) {
	lists := []struct {
		message proto.Message
		writer  sealer
		field   protoreflect.Name
	}{
		{new(scenarios.Transaction), new(scenariosgraven.TransactionWriter), "entries"}, // one variable field a row
		{new(scenarios.Frame), new(scenariosgraven.FrameWriter), "entities"},            // none; narrow and inline ones
		{new(kitchen.Repeateds), new(kitchengraven.RepeatedsWriter), "f17"},             // two
	}
	seeds := tries(400)
	for _, l := range lists {
		for seed := range seeds {
			r := corpus.Rand(uint64(seed))
			m := empty(l.message).ProtoReflect()
			fd := m.Descriptor().Fields().ByName(l.field)
			if seed%4 == 0 {
				l.writer.Release()
				dirty()
			}
			l.writer.Reset()
			root := reflect.ValueOf(l.writer).Elem().Field(0)
			w := &wholeWriter{r: r, hand: hand{r: r}, model: m.Mutable(fd).List()}
			if w.known = r.IntN(2) == 0; w.known {
				n := r.IntN(40)
				w.list = root.MethodByName("New" + goName(fd)).Call([]reflect.Value{reflect.ValueOf(n)})[0]
				for range n {
					w.model.Append(w.model.NewElement())
				}
			} else {
				w.list = root.MethodByName("Build" + goName(fd)).Call(nil)[0]
			}
			for range r.IntN(30) {
				w.step(t)
				if r.IntN(8) == 0 {
					w.number(root, m)
				}
			}
			if !w.known {
				w.list.MethodByName("Close").Call(nil)
			}
			got, err := l.writer.Seal()
			if err != nil {
				t.Fatalf("%s, seed %d: %v", l.field, seed, err)
			}
			want, err := corpus.EncodeFull(m.Interface())
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%s, seed %d: the writer gives\n%x\nwant\n%x", l.field, seed, got, want)
			}
		}
	}
}

// wholeWriter writes rows of a list beside a model of what they have to hold.
type wholeWriter struct {
	hand
	r     *rand.Rand
	known bool
	list  reflect.Value
	model protoreflect.List
	kept  []keptRow
}

// keptRow is a handle of a row that was asked for before.
type keptRow struct {
	index int
	row   reflect.Value
}

func (w *wholeWriter) value() protoreflect.Message {
	m := w.model.NewElement().Message()
	v := corpus.Values{R: w.r, Depth: 2, Size: 4}
	v.Fill(m)
	quieten(m)
	return m
}

func (w *wholeWriter) step(t *testing.T) {
	n := w.model.Len()
	set := w.list.MethodByName("Set")
	whole := func(i int) {
		m := w.value()
		set.Call(append([]reflect.Value{reflect.ValueOf(i)}, wholeArgs(set.Type(), 1, m)...))
		w.model.Set(i, protoreflect.ValueOfMessage(m))
	}
	switch op := w.r.IntN(8); {
	case op == 0:
		if got := w.list.MethodByName("Len").Call(nil)[0].Int(); int(got) != n {
			t.Fatalf("the length is %d, want %d", got, n)
		}
	case op < 3 && !w.known:
		add := w.list.MethodByName("Add")
		for range 1 + w.r.IntN(20) {
			m := w.value()
			add.Call(wholeArgs(add.Type(), 0, m))
			w.model.Append(protoreflect.ValueOfMessage(m))
		}
	case op == 3 && !w.known:
		row := w.list.MethodByName("Append").Call(nil)[0]
		w.model.Append(w.model.NewElement())
		w.kept = append(w.kept, keptRow{n, row})
	case n == 0:
	case op < 5: // a run of rows, from the first one or any
		from := w.r.IntN(2) * w.r.IntN(n)
		for i := from; i < from+w.r.IntN(n-from)+1; i++ {
			whole(i)
		}
	case op == 5:
		whole(w.r.IntN(n))
	case op == 6:
		i := w.r.IntN(n)
		w.kept = append(w.kept, keptRow{i, w.list.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0]})
	case len(w.kept) > 0:
		k := w.kept[w.r.IntN(len(w.kept))]
		m := w.model.Get(k.index).Message()
		if w.r.IntN(3) == 0 {
			x := w.value()
			set := k.row.MethodByName("Set")
			set.Call(wholeArgs(set.Type(), 0, x))
			w.model.Set(k.index, protoreflect.ValueOfMessage(x))
			return
		}
		x := w.value()
		x.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
			w.field(k.row, fd, v, reflect.Value{})
			m.Set(fd, v)
			return w.r.IntN(2) == 0
		})
	}
}

// number sets some number of the message that holds the list, which leaves the list open.
func (w *wholeWriter) number(root reflect.Value, m protoreflect.Message) {
	fds := m.Descriptor().Fields()
	for i := range fds.Len() {
		if fd := fds.Get(i); fd.Kind() == protoreflect.Uint64Kind && !fd.IsList() {
			v := protoreflect.ValueOfUint64(w.r.Uint64())
			w.field(root, fd, v, reflect.Value{})
			m.Set(fd, v)
		}
	}
}

// Rows past the end of a list are refused however it was written up to there.
func TestWholeRowsPastTheEnd(t *testing.T) {
	memo := "a memo"
	var w scenariosgraven.TransactionWriter
	for before := range 20 {
		for name, misuse := range map[string]func(l scenariosgraven.EntryRows){
			"Set":      func(l scenariosgraven.EntryRows) { l.Set(before, 1, 2, &memo) },
			"negative": func(l scenariosgraven.EntryRows) { l.Set(-1, 1, 2, &memo) },
			"least":    func(l scenariosgraven.EntryRows) { l.Set(-1<<31+before, 1, 2, &memo) },
			"At":       func(l scenariosgraven.EntryRows) { l.At(before).Set(1, 2, &memo) },
		} {
			for _, known := range []bool{true, false} {
				w.Reset()
				var l scenariosgraven.EntryRows
				if known {
					l = w.NewEntries(before)
				} else {
					l = w.BuildEntries()
				}
				for i := range before {
					if known {
						l.Set(i, 1, 2, &memo)
					} else {
						l.Add(1, 2, &memo)
					}
				}
				misuse(l)
				l.Close()
				if frame, err := w.Seal(); !errors.Is(err, codec.ErrMisuse) {
					t.Errorf("%s behind %d rows: %v, frame of %d bytes", name, before, err, len(frame))
				}
			}
		}
	}
}
