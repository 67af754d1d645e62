// Package options puts graven/options.proto into a user's tree of schemas. No registry
// has it, and a copy that is generated again registers its extensions twice, at which
// Go programs panic: so the lines that keep buf from that come with it.
package options

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

// Path is the import path of the options.
const Path = "graven/options.proto"

// Run is the command: it writes DIR/graven/options.proto, unless a file of other
// content stands there, and prints the lines for buf.yaml and buf.gen.yaml.
func Run(args []string, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "usage: protoc-gen-graven options DIR")
		return 2
	}
	dir := filepath.ToSlash(filepath.Clean(args[0]))
	if err := put(dir); err != nil {
		fmt.Fprintln(stderr, "protoc-gen-graven options:", err)
		return 1
	}
	fmt.Fprintf(stdout, lines, dir+"/"+Path, dir, dir, Path)
	return 0
}

func put(dir string) error {
	file := filepath.Join(filepath.FromSlash(dir), filepath.FromSlash(Path))
	switch old, err := os.ReadFile(file); {
	case err == nil && bytes.Equal(old, []byte(gravenpb.Source)):
		return nil
	case err == nil:
		return fmt.Errorf("%s stands there with other content: remove it first", file)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(gravenpb.Source), 0o666)
}

const lines = `%s is there. So that schemas can import it and it is never generated
a second time:

in buf.yaml

    modules:
      - path: %s

in buf.gen.yaml

    inputs:
      - directory: .
        exclude_paths:
          - %s/graven
    managed:           # where managed mode is on
      disable:
        - file_option: go_package
          path: %s
`
