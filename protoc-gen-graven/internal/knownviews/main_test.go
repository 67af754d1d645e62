package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The committed files are what the generator writes.
func TestCommitted(t *testing.T) {
	contents, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	if len(contents) != len(files) {
		t.Errorf("%d files for %d of protobuf", len(contents), len(files))
	}
	for name, want := range contents {
		got, err := os.ReadFile(filepath.Join("../../../codec/views", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("codec/views/%s is out of date: go generate ./codec/views", name)
		}
	}
}
