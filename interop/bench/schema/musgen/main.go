// Command musgen writes the mus serializers of the scenarios into the folder
// that is its argument: two packages, safe and unsafe.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	mus "github.com/mus-format/musgen-go/mus"
	generate "github.com/mus-format/musgen-go/options/generate"
	structs "github.com/mus-format/musgen-go/options/struct"
	types "github.com/mus-format/musgen-go/options/type"

	"github.com/graven-rpc/graven/interop/bench/scenario"
)

const module = "github.com/graven-rpc/graven/interop/bench/"

// messages lists the structs; where uniform is set, integers are spread over
// their whole range, so that fixed-size ones are shorter than varints.
var messages = []struct {
	typ     reflect.Type
	uniform bool
}{
	{reflect.TypeFor[scenario.Entry](), false},
	{reflect.TypeFor[scenario.Transaction](), false},
	{reflect.TypeFor[scenario.Vec3](), false},
	{reflect.TypeFor[scenario.Entity](), false},
	{reflect.TypeFor[scenario.Frame](), false},
	{reflect.TypeFor[scenario.Telemetry](), false},
	{reflect.TypeFor[scenario.Chunk](), false},
	{reflect.TypeFor[scenario.Address](), true},
	{reflect.TypeFor[scenario.Log](), false},
	{reflect.TypeFor[scenario.Logs](), false},
	{reflect.TypeFor[scenario.Triangle](), false},
	{reflect.TypeFor[scenario.Mesh](), false},
	{reflect.TypeFor[scenario.Item](), true},
	{reflect.TypeFor[scenario.Abilities](), false},
	{reflect.TypeFor[scenario.Vec3d](), false},
	{reflect.TypeFor[scenario.Creature](), true},
	{reflect.TypeFor[scenario.Vehicle](), true},
	{reflect.TypeFor[scenario.RecipeBook](), false},
	{reflect.TypeFor[scenario.Player](), true},
	{reflect.TypeFor[scenario.Savedata](), false},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: musgen FOLDER")
		os.Exit(2)
	}
	for name, opts := range map[string][]generate.SetOption{
		"safe":   nil,
		"unsafe": {generate.WithUnsafe()},
	} {
		if err := write(filepath.Join(os.Args[1], name), name, opts); err != nil {
			fmt.Fprintln(os.Stderr, "musgen:", err)
			os.Exit(1)
		}
	}
}

func write(dir, name string, opts []generate.SetOption) error {
	g, err := mus.NewCodeGenerator(append(opts,
		generate.WithPkgPath(module+"mus/"+name), generate.WithPackage("mus"+name),
		generate.WithImport(module+"scenario"))...)
	if err != nil {
		return err
	}
	raw := types.WithNumEncoding(types.Raw)
	if err := g.AddDefinedType(reflect.TypeFor[scenario.GameType](), raw); err != nil {
		return err
	}
	for _, m := range messages {
		var fields []structs.SetOption
		for i := range m.typ.NumField() {
			fields = append(fields, structs.WithField(options(m.typ.Field(i), m.uniform)...))
		}
		if err := g.AddStruct(m.typ, fields...); err != nil {
			return fmt.Errorf("%v: %w", m.typ, err)
		}
	}
	src, err := g.Generate()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "mus.gen.go"), src, 0o644)
}

func options(f reflect.StructField, uniform bool) []types.SetOption {
	raw := types.WithNumEncoding(types.Raw)
	t := f.Type
	if t.PkgPath() != "" { // a defined type, which has its own serializer
		return nil
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Int8, reflect.Uint8:
		return []types.SetOption{raw}
	case reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32, reflect.Int64, reflect.Uint64:
		if uniform {
			return []types.SetOption{raw}
		}
	case reflect.Array:
		return []types.SetOption{types.WithElem(raw)}
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Float32 {
			return []types.SetOption{types.WithElem(raw)}
		}
	}
	return nil
}
