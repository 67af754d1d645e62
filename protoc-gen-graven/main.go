// Command protoc-gen-graven is a plugin of buf and protoc: beside each .pb.go file it
// writes methods that encode and decode the file's messages as Graven.
package main

import (
	"flag"
	"os"

	"google.golang.org/protobuf/compiler/protogen"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/gen"
)

func main() {
	if len(os.Args) > 1 {
		os.Exit(command(os.Args[1:]))
	}
	var flags flag.FlagSet
	protogen.Options{ParamFunc: flags.Set}.Run(func(p *protogen.Plugin) error {
		return gen.Generate(p, gen.Options{})
	})
}
