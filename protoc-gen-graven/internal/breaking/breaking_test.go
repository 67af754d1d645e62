package breaking

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected files anew")

const cases = "../../testdata/breaking"

// run runs the command in a folder.
func run(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	var out, err bytes.Buffer
	code = Run(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// caseNames are the folders that hold pairs of schemas: old, new and what is
// expected of them in each format.
func caseNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(cases)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) < 40 {
		t.Errorf("%d pairs of schemas", len(names))
	}
	return names
}

var golden = map[Format]string{Text: "want.txt", JSON: "want.json", GitHubActions: "want.github"}

// What is printed, line by line, in all formats.
func TestPairs(t *testing.T) {
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.Abs(filepath.Join(cases, name))
			if err != nil {
				t.Fatal(err)
			}
			for format, file := range golden {
				code, out, errs := run(t, dir, "new", "--against", "old", "--error-format", string(format))
				if errs != "" {
					t.Fatal(errs)
				}
				if want := map[bool]int{true: 100, false: 0}[out != ""]; code != want {
					t.Errorf("exit code %d, want %d", code, want)
				}
				if *update {
					if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				compareLines(t, file, string(want), out)
			}
		})
	}
}

func compareLines(t *testing.T, file, want, got string) {
	t.Helper()
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		x, y := "(nothing)", "(nothing)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Errorf("%s, line %d\nwant %s\n got %s", file, i+1, x, y)
		}
	}
}

var marked = regexp.MustCompile(`GRAVEN_[A-Z0-9_]+`)

// The new schemas name, in a comment on its line, each rule that a change
// breaks: written before the expected output was, and by hand.
func TestPairsAsMarked(t *testing.T) {
	rules := map[string]int{}
	for _, name := range caseNames(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(cases, name)
			var want []string
			err := filepath.Walk(filepath.Join(dir, "new"), func(path string, _ os.FileInfo, err error) error {
				if err != nil || filepath.Ext(path) != ".proto" {
					return err
				}
				text, err := os.ReadFile(path)
				rel, _ := filepath.Rel(dir, path)
				for i, line := range strings.Split(string(text), "\n") {
					for _, id := range marked.FindAllString(line, -1) {
						want = append(want, fmt.Sprintf("%s:%d %s", rel, i+1, id))
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if name == "file_deleted" {
				want = append(want, ":0 GRAVEN_MESSAGE_ROOT_NO_DELETE")
			}
			t.Chdir(dir)
			s := settings{input: "new", against: list{"old"}}
			findings, err := s.run(nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range findings {
				got = append(got, fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.Rule))
				rules[f.Rule]++
			}
			slices.Sort(want)
			slices.Sort(got)
			compareLines(t, name, strings.Join(want, "\n"), strings.Join(got, "\n"))
		})
	}
	for _, r := range Rules {
		if rules[r.ID] == 0 {
			t.Errorf("no pair breaks %s", r.ID)
		}
	}
}
