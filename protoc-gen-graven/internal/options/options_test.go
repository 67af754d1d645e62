package options

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gravenpb "github.com/graven-rpc/graven/codec/proto/graven"
)

func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Run(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "third_party", "proto")
	for range 2 { // the second time it is there
		code, out, errs := run(t, dir)
		if code != 0 || errs != "" {
			t.Fatalf("exit %d, %s", code, errs)
		}
		for _, want := range []string{"exclude_paths", filepath.ToSlash(dir) + "/graven", "file_option: go_package", "path: graven/options.proto"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
	}
	file := filepath.Join(dir, "graven", "options.proto")
	if b, err := os.ReadFile(file); err != nil || string(b) != gravenpb.Source {
		t.Errorf("%v, %d bytes", err, len(b))
	}

	// Somebody's own file is not overwritten.
	if err := os.WriteFile(file, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, dir); code != 1 || !strings.Contains(errs, "other content") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if b, _ := os.ReadFile(file); string(b) != "mine" {
		t.Errorf("it is now %q", b)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"a", "b"}} {
		if code, _, errs := run(t, args...); code != 2 || !strings.Contains(errs, "usage") {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := run(t, file); code != 1 || errs == "" {
		t.Errorf("exit %d, %q", code, errs)
	}
}
