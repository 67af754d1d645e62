package main

import (
	"os"
	"testing"
)

// The committed file is what the generator writes.
func TestCommitted(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../codec/wire/known.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("codec/wire/known.go is out of date: go generate ./codec/wire")
	}
}
