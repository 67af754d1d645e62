package viewtest

import (
	"reflect"
	"strings"
)

// Touch calls every getter of a view, of what it holds, and so on, and reads all
// bytes that they give. It makes no demand on the values: the frame may have
// changed since it was verified. most bounds the values it looks at. It returns a sum over them, so
// that nothing is left out as useless.
func Touch(view any, most int) (sum int) {
	t := toucher{left: most}
	t.view(reflect.ValueOf(view))
	return t.sum
}

type toucher struct{ left, sum int }

func (t *toucher) view(v reflect.Value) {
	for i := range v.NumMethod() {
		m := v.Type().Method(i)
		switch {
		case m.Type.NumIn() != 1:
		case strings.HasPrefix(m.Name, "Get"), strings.HasPrefix(m.Name, "Has"), strings.HasPrefix(m.Name, "Which"), m.Name == "String":
			t.value(v.Method(i).Call(nil)[0])
		}
	}
}

func (t *toucher) value(v reflect.Value) {
	if t.left--; t.left < 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		for _, c := range []byte(v.String()) {
			t.sum += int(c)
		}
	case reflect.Slice:
		for i := range v.Len() {
			t.value(v.Index(i))
		}
	case reflect.Bool:
		if v.Bool() {
			t.sum++
		}
	case reflect.Struct:
		t.collection(v)
	default:
		if !v.IsZero() {
			t.sum++
		}
	}
}

func (t *toucher) collection(v reflect.Value) {
	n := v.MethodByName("Len")
	if !n.IsValid() {
		t.view(v)
		return
	}
	if at := v.MethodByName("At"); at.IsValid() {
		for i := range int(n.Call(nil)[0].Int()) {
			if t.left < 0 {
				return
			}
			t.value(at.Call([]reflect.Value{reflect.ValueOf(i)})[0])
		}
	}
	all := v.MethodByName("All").Call(nil)[0]
	get := v.MethodByName("Get")
	if !get.IsValid() {
		for x := range all.Seq() {
			if t.left < 0 {
				return
			}
			t.value(x)
		}
		return
	}
	for k, x := range all.Seq2() {
		if t.left < 0 {
			return
		}
		t.value(k)
		t.value(x)
		t.value(get.Call([]reflect.Value{k})[0])
	}
}
