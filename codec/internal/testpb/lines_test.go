package testpb_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// What is generated for messages of an ordinary size has no more lines than protoc-gen-go's
// code for them.
func TestLines(t *testing.T) {
	files, err := filepath.Glob("*/*.graven.go")
	if err != nil {
		t.Fatal(err)
	}
	if more, _ := filepath.Glob("../../../examples/bank/proto/bank/v1/*.graven.go"); len(more) > 0 {
		files = append(files, more...)
	}
	if len(files) < 10 {
		t.Fatalf("%d files", len(files))
	}
	for _, file := range files {
		ours := strings.Count(read(t, file), "\n")
		theirs := strings.Count(read(t, strings.TrimSuffix(file, ".graven.go")+".pb.go"), "\n")
		if ours > theirs {
			t.Errorf("%s: %d lines, .pb.go has %d", file, ours, theirs)
		}
	}
}
