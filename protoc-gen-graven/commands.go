package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/graven-rpc/graven/protoc-gen-graven/internal/breaking"
	"github.com/graven-rpc/graven/protoc-gen-graven/internal/options"
	"github.com/graven-rpc/graven/protoc-gen-graven/internal/report"
)

const usage = `protoc-gen-graven is a plugin of buf and protoc, which call it without arguments.

By hand:

  protoc-gen-graven options DIR                 put graven/options.proto below DIR
  protoc-gen-graven breaking --against OLD NEW  find changes that break Graven peers
  protoc-gen-graven layout INPUT [MESSAGE]      print how messages are stored
  protoc-gen-graven version
`

// command runs a command that a person gave and returns the exit code.
func command(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	switch args[0] {
	case "options":
		return options.Run(args[1:], stdout, stderr)
	case "breaking":
		return breaking.Run(args[1:], stdin, stdout, stderr)
	case "layout":
		return report.Run(args[1:], stdin, stdout, stderr)
	case "version", "--version", "-version":
		fmt.Fprintln(stdout, "protoc-gen-graven", version())
		return 0
	case "help", "--help", "-help", "-h":
		fmt.Fprint(stdout, usage)
		return 0
	}
	fmt.Fprintf(stderr, "protoc-gen-graven: unknown command %q\n\n%s", args[0], usage)
	return 2
}

// version is the module's version, as go install or go run saw it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
