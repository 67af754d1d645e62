package crc32c

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestPathOfEnvironment turns instructions off the way a user does and looks which
// path a new process selects.
func TestPathOfEnvironment(t *testing.T) {
	if os.Getenv("CRC32C_TEST_PATH") != "" {
		p := []byte("123456789 and enough more for every kind of loop")
		for len(p) < 5000 {
			p = append(p, p...)
		}
		if got, want := Checksum(p), bitwise(0, p); got != want {
			t.Errorf("got %08x, want %08x", got, want)
		}
		t.Logf("path=%s", activePath())
		return
	}
	var cases map[string]string
	switch active := activePath(); {
	case runtime.GOARCH == "amd64" && active == "avx512":
		cases = map[string]string{"": "avx512"}
		for _, f := range []string{"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512vbmi", "avx512vpclmulqdq", "bmi2"} {
			cases["cpu."+f+"=off"] = "sse42"
		}
		fallthrough
	case runtime.GOARCH == "amd64" && active == "sse42":
		if cases == nil {
			cases = map[string]string{"": "sse42"}
		}
		for _, f := range []string{"sse41", "sse42", "pclmulqdq", "all"} {
			cases["cpu."+f+"=off"] = "generic"
		}
	case runtime.GOARCH == "arm64" && active == "crc32":
		cases = map[string]string{"": "crc32"}
		for _, f := range []string{"crc32", "pmull", "all"} {
			cases["cpu."+f+"=off"] = "generic"
		}
	default:
		t.Skipf("%s has the path %q only", runtime.GOARCH, active)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for debug, want := range cases {
		cmd := exec.Command(exe, "-test.run=^TestPathOfEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), "CRC32C_TEST_PATH=1", "GODEBUG="+debug)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Skipf("an emulator is in the way: %v", err)
		}
		if err != nil {
			t.Errorf("GODEBUG=%s: %v\n%s", debug, err, out)
			continue
		}
		if !strings.Contains(string(out), "path="+want+"\n") {
			t.Errorf("GODEBUG=%s: want path %s\n%s", debug, want, out)
		}
	}
}
