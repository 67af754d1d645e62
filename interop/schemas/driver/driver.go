// Package driver is the body of the programs that send random values through
// generated code: their main package links the code in and calls Main.
package driver

import (
	"encoding/json"
	"flag"
	"log"
	"os"
	"reflect"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/schemas/check"
)

// Views are the views that the program has, to be filled before Main is called.
var Views = make(map[protoreflect.FullName]check.OpenView)

// Main checks all linked types whose Go packages are below module, and prints
// the summary as JSON.
func Main(module string) {
	log.SetFlags(0)
	values := flag.Int("values", 20, "random values for each message type")
	seed := flag.Uint64("seed", 1, "seed of the first value")
	flag.Parse()

	var types []protoreflect.MessageType
	methods := 0
	protoregistry.GlobalTypes.RangeMessages(func(mt protoreflect.MessageType) bool {
		t := reflect.TypeOf(mt.Zero().Interface())
		if !strings.HasPrefix(t.Elem().PkgPath(), module+"/") {
			return true
		}
		types = append(types, mt)
		if hasMethods(t) {
			methods++
		}
		return true
	})
	s := check.All(check.Checker{
		Codec:      codec.Options{},
		Partial:    codec.Options{AllowPartial: true},
		Resolver:   protoregistry.GlobalTypes,
		Extensions: check.LinkedExtensions(),
		Views:      Views,
		Seed:       *seed,
	}, types, *values)
	s.Methods = methods
	if err := json.NewEncoder(os.Stdout).Encode(s); err != nil {
		log.Fatal(err)
	}
}

// hasMethods reports whether protoc-gen-graven has generated for a type, by the
// one method that it gives to each.
func hasMethods(t reflect.Type) bool {
	_, ok := t.MethodByName("Γraven")
	return ok
}
