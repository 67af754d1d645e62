package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// build builds this command.
func build(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "protoc-gen-graven")
	if out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// protoc of the machine writes what the generator's tests expect. It may be too old for
// editions; buf is tested in interop/service.
func TestProtoc(t *testing.T) {
	protoc, err := exec.LookPath("protoc")
	if err != nil {
		t.Skip("there is no protoc here")
	}
	out, err := exec.Command(protoc, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	major, _ := strconv.Atoi(string(regexp.MustCompile(`\d+`).Find(out)))
	plugin := build(t)
	const root = "testdata/generate"
	cases, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			dir := filepath.Join(root, c.Name())
			protos, want := contents(t, dir, ".proto"), contents(t, dir, ".go")
			temp := t.TempDir()
			args := []string{"-I", dir, "-I", "../codec/proto", "--plugin=protoc-gen-graven=" + plugin, "--graven_out=" + temp}
			for name, text := range protos {
				if strings.Contains(text, "edition = ") && major < 27 {
					t.Skipf("%s is too old for editions", strings.TrimSpace(string(out)))
				}
				_, after, _ := strings.Cut(text, "// opt: ")
				parameter, _, _ := strings.Cut(after, "\n")
				args = append(args, "--graven_opt="+parameter, name)
			}
			cmd := exec.Command(protoc, args...)
			cmd.Env = append(os.Environ(), "LC_ALL=C")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", cmd, err, out)
			}
			got := contents(t, temp, ".go")
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s is not what is in %s", name, dir)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d files, want %d", len(got), len(want))
			}
		})
	}
}

func contents(t *testing.T, dir, suffix string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, suffix) {
			return err
		}
		b, err := os.ReadFile(file)
		name, _ := filepath.Rel(dir, file)
		all[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// What the plugin says of itself and of a request that it can't serve.
func TestResponse(t *testing.T) {
	plugin := build(t)
	ask := func(req *pluginpb.CodeGeneratorRequest) *pluginpb.CodeGeneratorResponse {
		t.Helper()
		in, err := proto.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(plugin)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		res := new(pluginpb.CodeGeneratorResponse)
		if err := proto.Unmarshal(out, res); err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := ask(&pluginpb.CodeGeneratorRequest{})
	const features = pluginpb.CodeGeneratorResponse_FEATURE_PROTO3_OPTIONAL | pluginpb.CodeGeneratorResponse_FEATURE_SUPPORTS_EDITIONS
	if res.GetSupportedFeatures() != uint64(features) {
		t.Errorf("features %b", res.GetSupportedFeatures())
	}
	if res.GetMinimumEdition() != 998 || res.GetMaximumEdition() != 1001 { // proto2, 2024
		t.Errorf("editions %d to %d", res.GetMinimumEdition(), res.GetMaximumEdition())
	}
	if res.Error != nil || len(res.File) != 0 {
		t.Errorf("an empty request: %v", res)
	}
}
