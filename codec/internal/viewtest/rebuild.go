// Package viewtest reads views the way that people do, through their generated methods,
// for tests: it finds the methods by the names of the schema's fields.
package viewtest

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Rebuild sets m, which is empty, from a view through its getters, every list and
// map in each of the ways that it can be read. It panics if two ways differ.
// Of fields whose types have no views it takes what As gives.
func Rebuild(view any, m protoreflect.Message) {
	v := reflect.ValueOf(view)
	md := m.Descriptor()
	if u, ok := view.(interface{ As(proto.Message) error }); ok {
		if err := u.As(m.Interface()); err != nil {
			panic(err)
		}
		return
	}
	for i := range md.Oneofs().Len() {
		od := md.Oneofs().Get(i)
		if od.IsSynthetic() {
			continue
		}
		which := call(v, "Which"+GoName(string(od.Name())))
		set := 0
		for j := range od.Fields().Len() {
			fd := od.Fields().Get(j)
			if call(v, "Has"+GoName(string(fd.Name()))).Bool() {
				set = int(fd.Number())
			}
		}
		if int(which.Int()) != set {
			panic(fmt.Sprintf("%s: Which gives %d, Has %d", od.FullName(), which.Int(), set))
		}
	}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		name := GoName(string(fd.Name()))
		got := call(v, "Get"+name)
		has := v.MethodByName("Has" + name)
		if has.IsValid() && !has.Call(nil)[0].Bool() {
			if !fd.HasPresence() {
				panic(fmt.Sprintf("%s: a Has method", fd.FullName()))
			}
			if fd.Message() == nil && !protoValue(fd, got).Equal(absent(fd)) {
				panic(fmt.Sprintf("%s is absent: the getter gives %v, want %v", fd.FullName(), got, absent(fd)))
			}
			continue
		}
		switch {
		case fd.IsMap():
			rebuildMap(fd, got, m)
		case fd.IsList():
			rebuildList(fd, got, m)
		case fd.Message() != nil:
			if has.IsValid() {
				Rebuild(got.Interface(), m.Mutable(fd).Message())
				break
			}
			// In an inline message: a nil and a zero one are the same.
			Rebuild(got.Interface(), m.Mutable(fd).Message())
		default:
			if value := protoValue(fd, got); fd.HasPresence() || !IsZero(fd, value) {
				m.Set(fd, value)
			}
		}
	}
}

func absent(fd protoreflect.FieldDescriptor) protoreflect.Value {
	if fd.Kind() == protoreflect.EnumKind {
		return protoreflect.ValueOfEnum(fd.Default().Enum())
	}
	return fd.Default()
}

// IsZero reports whether a value is that of a field with implicit presence that is absent.
func IsZero(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
	switch fd.Kind() {
	case protoreflect.StringKind:
		return v.String() == ""
	case protoreflect.BytesKind:
		return len(v.Bytes()) == 0
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return reflect.ValueOf(v.Interface()).IsZero() && 1/v.Float() > 0
	}
	return reflect.ValueOf(v.Interface()).IsZero()
}

func rebuildList(fd protoreflect.FieldDescriptor, got reflect.Value, m protoreflect.Message) {
	n := int(call(got, "Len").Int())
	if n == 0 {
		return
	}
	l := m.Mutable(fd).List()
	all := elements(call(got, "All"), n)
	appended := got.MethodByName("AppendTo")
	var copied reflect.Value
	if appended.IsValid() {
		copied = appended.Call([]reflect.Value{reflect.Zero(appended.Type().In(0))})[0]
		if copied.Len() != n {
			panic(fmt.Sprintf("%s: AppendTo gives %d of %d", fd.FullName(), copied.Len(), n))
		}
	}
	if len(all) != n {
		panic(fmt.Sprintf("%s: All gives %d of %d", fd.FullName(), len(all), n))
	}
	for i := range n {
		at := got.MethodByName("At").Call([]reflect.Value{reflect.ValueOf(i)})[0]
		if fd.Message() != nil {
			if !reflect.DeepEqual(at.Interface(), all[i].Interface()) {
				panic(fmt.Sprintf("%s: At(%d) is not what All gives", fd.FullName(), i))
			}
			e := l.NewElement()
			Rebuild(at.Interface(), e.Message())
			l.Append(e)
			continue
		}
		x := protoValue(fd, at)
		if !x.Equal(protoValue(fd, all[i])) || !x.Equal(protoValue(fd, copied.Index(i))) {
			panic(fmt.Sprintf("%s: element %d differs between At, All and AppendTo", fd.FullName(), i))
		}
		l.Append(x)
	}
}

func rebuildMap(fd protoreflect.FieldDescriptor, got reflect.Value, m protoreflect.Message) {
	n := int(call(got, "Len").Int())
	if n == 0 {
		return
	}
	to := m.Mutable(fd).Map()
	seen := 0
	pairs(call(got, "All"), func(k, v reflect.Value) {
		seen++
		key := protoValue(fd.MapKey(), k).MapKey()
		found := got.MethodByName("Get").Call([]reflect.Value{k})
		if !found[1].Bool() {
			panic(fmt.Sprintf("%s: key %v is not found", fd.FullName(), key))
		}
		if fd.MapValue().Message() != nil {
			if !reflect.DeepEqual(v.Interface(), found[0].Interface()) {
				panic(fmt.Sprintf("%s: Get(%v) is not what All gives", fd.FullName(), key))
			}
			e := to.NewValue()
			Rebuild(v.Interface(), e.Message())
			to.Set(key, e)
			return
		}
		x := protoValue(fd.MapValue(), v)
		if !x.Equal(protoValue(fd.MapValue(), found[0])) {
			panic(fmt.Sprintf("%s: Get(%v) differs from All", fd.FullName(), key))
		}
		to.Set(key, x)
	})
	if seen != n {
		panic(fmt.Sprintf("%s: All gives %d of %d", fd.FullName(), seen, n))
	}
}

func call(v reflect.Value, name string) reflect.Value {
	m := v.MethodByName(name)
	if !m.IsValid() {
		panic(fmt.Sprintf("%s has no method %s", v.Type(), name))
	}
	return m.Call(nil)[0]
}

func elements(seq reflect.Value, most int) []reflect.Value {
	var all []reflect.Value
	for e := range seq.Seq() {
		all = append(all, e)
	}
	// A loop that ends early.
	for range seq.Seq() {
		break
	}
	return all
}

func pairs(seq reflect.Value, f func(k, v reflect.Value)) {
	for k, v := range seq.Seq2() {
		f(k, v)
	}
	for range seq.Seq2() {
		break
	}
}

func protoValue(fd protoreflect.FieldDescriptor, v reflect.Value) protoreflect.Value {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(v.Int()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(append([]byte{}, v.Bytes()...))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(append([]byte(nil), v.String()...)))
	}
	return protoreflect.ValueOf(v.Interface())
}

// GoName is the name that protoc-gen-go gives a field or oneof, if no other has it.
func GoName(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '_' && i+1 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z':
		case '0' <= c && c <= '9':
			b = append(b, c)
		default:
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			b = append(b, c)
			for ; i+1 < len(s) && 'a' <= s[i+1] && s[i+1] <= 'z'; i++ {
				b = append(b, s[i+1])
			}
		}
	}
	return string(b)
}

// Quiet makes the signalling NaNs among m's floats quiet ones, as Rebuild does: it sets
// fields by reflection, which passes floats as doubles.
func Quiet(m protoreflect.Message) {
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case fd.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, x protoreflect.Value) bool {
				if fd.MapValue().Message() != nil {
					Quiet(x.Message())
				} else if fd.MapValue().Kind() == protoreflect.FloatKind {
					v.Map().Set(k, x)
				}
				return true
			})
		case fd.IsList():
			for i := range v.List().Len() {
				if fd.Message() != nil {
					Quiet(v.List().Get(i).Message())
				} else if fd.Kind() == protoreflect.FloatKind {
					v.List().Set(i, v.List().Get(i))
				}
			}
		case fd.Message() != nil:
			Quiet(v.Message())
		case fd.Kind() == protoreflect.FloatKind:
			m.Set(fd, v)
		}
		return true
	})
}
