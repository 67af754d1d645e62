// Command only runs another protoc plugin for some of the files that are to be
// generated: those whose path begins with a prefix. buf gives each plugin the
// files of all modules, and some schemas are generated a second time with other
// options.
//
//	only PREFIX PLUGIN [ARGUMENT...]
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: only PREFIX PLUGIN [ARGUMENT...]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "only:", err)
		os.Exit(1)
	}
}

func run(prefix string, plugin []string) error {
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	req := new(pluginpb.CodeGeneratorRequest)
	if err := proto.Unmarshal(b, req); err != nil {
		return err
	}
	req.FileToGenerate = slices.DeleteFunc(req.GetFileToGenerate(), func(path string) bool {
		return !strings.HasPrefix(path, prefix)
	})
	if len(req.GetFileToGenerate()) == 0 {
		return fmt.Errorf("no file to generate begins with %q", prefix)
	}
	if b, err = proto.Marshal(req); err != nil {
		return err
	}
	cmd := exec.Command(plugin[0], plugin[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(b), os.Stdout, os.Stderr
	return cmd.Run()
}
