package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestTables holds that the committed tables are what this program writes.
func TestTables(t *testing.T) {
	generated, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range generated {
		got, err := os.ReadFile(filepath.Join("..", "..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what gen writes: run go generate in package crc32c", name)
		}
	}
}

// TestPower holds the arithmetic that the tables rest on.
func TestPower(t *testing.T) {
	if got := power(order); got != 1<<31 {
		t.Errorf("x^order = %08x, want 1", got)
	}
	if got := power(32); got != polynomial {
		t.Errorf("x^32 = %08x, want %08x", got, uint32(polynomial))
	}
	for _, n := range []int{1, 33, 77, 1 << 20} {
		if got := multiply(power(-n), power(n)); got != 1<<31 {
			t.Errorf("x^-%d times x^%d = %08x, want 1", n, n, got)
		}
		if got, want := multiply(power(n), power(5)), power(n+5); got != want {
			t.Errorf("x^%d times x^5 = %08x, want %08x", n, got, want)
		}
	}
}
