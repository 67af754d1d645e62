package gen

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output of testdata/generate anew")

// Each folder of testdata/generate holds schemas beside what is generated for them. The
// parameter is in the schemas, behind "// opt: ".
func TestTestdata(t *testing.T) {
	const root = "../../testdata/generate"
	cases, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name(), func(t *testing.T) {
			dir := filepath.Join(root, c.Name())
			schemas, want := map[string]string{}, output{}
			var parameter string
			err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(file)
				if err != nil {
					return err
				}
				name, _ := filepath.Rel(dir, file)
				name = filepath.ToSlash(name)
				if strings.HasSuffix(name, ".proto") {
					schemas[name] = string(b)
					_, after, _ := strings.Cut(string(b), "// opt: ")
					parameter, _, _ = strings.Cut(after, "\n")
				} else {
					want[name] = string(b)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			req := request(t, parameter, schemas)
			got, err := generate(t, req)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				for name, text := range got {
					if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want = got
			}
			for name, text := range got {
				if want[name] != text {
					t.Errorf("%s is not what is generated: run go test -update", name)
				}
			}
			for name := range want {
				if got[name] == "" {
					t.Errorf("%s is not generated", name)
				}
			}
			// Folders are import paths here, so both plugins have to be told.
			prefix := "module=example.com/" + c.Name()
			for name, text := range protocGenGo(t, request(t, prefix, schemas)) {
				got[name] = text
			}
			mustCompile(t, relocated(got, "example.com/"+c.Name()))
		})
	}
}

// relocated puts files into the folder that their import paths name.
func relocated(out output, at string) output {
	all := output{}
	for name, text := range out {
		all[at+"/"+name] = text
	}
	return all
}
