package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected files anew")

// The layouts of the vectors' schemas, whose frames other tests hold to them.
func TestReports(t *testing.T) {
	const schemas = "../../../codec/testdata/vectors/schemas"
	for _, c := range []struct {
		file, golden string
		messages     []string
	}{
		{"scenarios.proto", "scenarios.txt", nil},
		{"kitchen.proto", "kitchen.txt", nil},
		{"legacy.proto", "legacy.txt", nil},
		{"skew_new.proto", "order.txt", []string{"skew.Order"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Run(append([]string{filepath.Join(schemas, c.file)}, c.messages...), nil, &out, &errs); code != 0 {
				t.Fatalf("exit code %d: %s", code, errs.String())
			}
			golden := filepath.Join("testdata", c.golden)
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if out.String() != string(want) {
				t.Errorf("%s differs: run with -update and look at the difference\n%s", golden, out.String())
			}
		})
	}
}

func TestErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.proto")
	text := `syntax = "proto3"; package t; import "graven/options.proto";
message M { string s = 1 [(graven.field).width = 8]; }`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		args []string
		want string
	}{
		{"no input", nil, "an input is missing"},
		{"no such file", []string{"nope.proto"}, "nope.proto: no such file"},
		{"no such message", []string{file, "t.N"}, "has no message t.N"},
		{"no such flag", []string{file, "--nope"}, "flag provided but not defined"},
		{"options that break the rules", []string{file, "t.M"}, "t.M.s: (graven.field).width"},
	} {
		t.Run(c.what, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := Run(c.args, strings.NewReader(""), &out, &errs); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if !strings.Contains(errs.String(), c.want) {
				t.Errorf("want %s\n got %s", c.want, errs.String())
			}
			if out.Len() > 0 {
				t.Errorf("printed %s", out.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out, errs bytes.Buffer
	if code := Run([]string{"-h"}, nil, &out, &errs); code != 0 || !strings.Contains(out.String(), "INPUT [MESSAGE]") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
}
