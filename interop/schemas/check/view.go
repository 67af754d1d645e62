package check

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graven-rpc/graven/codec"
)

// OpenView opens a frame and returns a view of its message, of a type that
// protoc-gen-graven has generated.
type OpenView func(frame []byte, o codec.Options) (any, error)

// Open is the OpenView of a type.
func Open[V codec.View[V]](frame []byte, o codec.Options) (any, error) {
	f := new(codec.Frame[V])
	if err := f.Open(frame, o); err != nil {
		return nil, err
	}
	return f.View(), nil
}

// View compares all that a view's methods give with a message: values, presence,
// which member of a oneof is set, lists and maps, at every depth. It returns how
// many fields it compared; those whose methods have another name than
// protoc-gen-go would give them are left out.
func View(view any, m protoreflect.Message) (int, error) {
	w := walker{}
	w.message(reflect.ValueOf(view), m, "")
	return w.fields, w.err
}

type walker struct {
	fields int
	err    error
}

func (w *walker) fail(path, format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("view: "+path+": "+format, args...)
	}
}

func (w *walker) message(v reflect.Value, m protoreflect.Message, path string) {
	md := m.Descriptor()
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		name := camel(string(fd.Name()))
		get := v.MethodByName("Get" + name)
		if !get.IsValid() || get.Type().NumIn() != 0 {
			continue
		}
		w.fields++
		w.field(get.Call(nil)[0], m, fd, path+"."+string(fd.Name()))
		if !fd.HasPresence() {
			continue
		}
		if has := v.MethodByName("Has" + name); has.IsValid() && has.Type().NumIn() == 0 {
			if got := has.Call(nil)[0].Bool(); got != m.Has(fd) {
				w.fail(path, "Has%s is %v, want %v", name, got, m.Has(fd))
			}
		}
	}
	for i := range md.Oneofs().Len() {
		od := md.Oneofs().Get(i)
		which := v.MethodByName("Which" + camel(string(od.Name())))
		if od.IsSynthetic() || !which.IsValid() || which.Type().NumIn() != 0 {
			continue
		}
		want := int64(0)
		if fd := m.WhichOneof(od); fd != nil {
			want = int64(fd.Number())
		}
		if got := which.Call(nil)[0].Int(); got != want {
			w.fail(path, "Which for oneof %s is %d, want %d", od.Name(), got, want)
		}
	}
}

func (w *walker) field(v reflect.Value, m protoreflect.Message, fd protoreflect.FieldDescriptor, path string) {
	switch {
	case fd.IsMap():
		want := m.Get(fd).Map()
		if n := length(v); n != want.Len() {
			w.fail(path, "%d entries, want %d", n, want.Len())
			return
		}
		seen := make(map[any]bool)
		for k, e := range v.MethodByName("All").Call(nil)[0].Seq2() {
			key := mapKey(k)
			if seen[key.Interface()] || !want.Has(key) {
				w.fail(path, "key %v, unknown or twice", k)
				return
			}
			seen[key.Interface()] = true
			w.value(e, want.Get(key), fd.MapValue(), fmt.Sprintf("%s[%v]", path, k))
			found := v.MethodByName("Get").Call([]reflect.Value{k})
			if !found[1].Bool() {
				w.fail(path, "Get does not find key %v", k)
			}
			w.value(found[0], want.Get(key), fd.MapValue(), fmt.Sprintf("%s[%v]", path, k))
		}
		if len(seen) != want.Len() {
			w.fail(path, "All gives %d entries, want %d", len(seen), want.Len())
		}
	case fd.IsList():
		want := m.Get(fd).List()
		if n := length(v); n != want.Len() {
			w.fail(path, "%d elements, want %d", n, want.Len())
			return
		}
		i := 0
		for e := range v.MethodByName("All").Call(nil)[0].Seq() {
			if i < want.Len() {
				w.value(e, want.Get(i), fd, fmt.Sprintf("%s[%d]", path, i))
			}
			i++
		}
		if i != want.Len() {
			w.fail(path, "All gives %d elements, want %d", i, want.Len())
			return
		}
		// At goes from both ends, since it may keep where it was.
		for _, i := range []int{want.Len() - 1, 0} {
			if i >= 0 && i < want.Len() {
				w.value(v.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0], want.Get(i), fd, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	case fd.Message() != nil && !m.Has(fd):
		// The zero view: nothing may be set in it.
		w.value(v, protoreflect.ValueOfMessage(m.NewField(fd).Message()), fd, path)
	default:
		w.value(v, m.Get(fd), fd, path)
	}
}

func length(v reflect.Value) int { return int(v.MethodByName("Len").Call(nil)[0].Int()) }

func (w *walker) value(v reflect.Value, want protoreflect.Value, fd protoreflect.FieldDescriptor, path string) {
	same := false
	switch fd.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		if m := want.Message(); m.IsValid() && strings.Count(path, ".") < 100 {
			w.nested(v, m, path)
		}
		return
	case protoreflect.BoolKind:
		same = v.Bool() == want.Bool()
	case protoreflect.EnumKind:
		same = v.Int() == int64(want.Enum())
	case protoreflect.StringKind:
		same = v.String() == want.String()
	case protoreflect.BytesKind:
		same = bytes.Equal(v.Bytes(), want.Bytes())
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		// Bits of NaNs are compared elsewhere; here reflection quiets them.
		g, f := v.Float(), want.Float()
		same = g == f || g != g && f != f
	default:
		if v.CanInt() {
			same = v.Int() == want.Int()
		} else {
			same = v.Uint() == want.Uint()
		}
	}
	if !same {
		w.fail(path, "%v, want %v", v, want)
	}
}

// nested compares a message below another one. An empty one is only compared
// where the view has something, or a type that holds itself would never end.
func (w *walker) nested(v reflect.Value, m protoreflect.Message, path string) {
	empty := true
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		empty = false
		return false
	})
	if !empty {
		w.message(v, m, path)
		return
	}
	md := m.Descriptor()
	for i := range md.Fields().Len() {
		has := v.MethodByName("Has" + camel(string(md.Fields().Get(i).Name())))
		if has.IsValid() && has.Type().NumIn() == 0 && has.Call(nil)[0].Bool() {
			w.fail(path, "has field %s, want nothing", md.Fields().Get(i).Name())
		}
	}
}

func mapKey(k reflect.Value) protoreflect.MapKey {
	return protoreflect.ValueOf(k.Interface()).MapKey()
}

// camel is the name that protoc-gen-go gives to a field, were there no clashes:
// words begin at the front, behind an underscore that a lower-case letter
// follows, and behind whatever is not a lower-case letter.
func camel(s string) string {
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_' && i == 0:
			b = append(b, 'X')
		case c == '_' && i+1 < len(s) && lower(s[i+1]):
		case lower(c) && (i == 0 || !lower(s[i-1]) && !upper(s[i-1])):
			b = append(b, c-'a'+'A')
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

func upper(c byte) bool { return c >= 'A' && c <= 'Z' }
