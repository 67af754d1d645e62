// Command protoc-gen-graven is a plugin of buf and protoc: beside each .pb.go file it
// writes methods that encode and decode the file's messages as Graven. Called with
// arguments it is a tool for people; see protoc-gen-graven help.
package main

import (
	"flag"
	"os"

	"google.golang.org/protobuf/compiler/protogen"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/gen"
)

func main() {
	if len(os.Args) > 1 {
		os.Exit(command(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	var flags flag.FlagSet
	var o gen.Options
	flags.Func("views", "none, or a Go package of messages whose views exist; may be repeated", o.Views.Set)
	flags.Func("grpc", "generate services on frames for grpc-go", o.Services.SetGRPC)
	flags.Func("connect", "generate services on frames for connect-go", o.Services.SetConnect)
	protogen.Options{ParamFunc: flags.Set}.Run(func(p *protogen.Plugin) error {
		return gen.Generate(p, o)
	})
}
