package crc32c

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// pathVariable makes TestPathOfEnvironment say which path its process is on.
const pathVariable = "CRC32C_TEST_PATH"

// TestPathOfEnvironment turns instructions off the way a user does and looks which
// path a new process selects.
func TestPathOfEnvironment(t *testing.T) {
	if os.Getenv(pathVariable) != "" {
		p := make([]byte, 5000)
		for i := range p {
			p[i] = byte(i)
		}
		if got, want := Checksum(p), bitwise(0, p); got != want {
			t.Errorf("got %08x, want %08x", got, want)
		}
		t.Logf("path=%s", activePath())
		return
	}
	best := pathWith(t, "")
	for off, want := range pathsWithout(best) {
		if raceEnabled && off != "all" {
			continue // processes start slowly then
		}
		if got := pathWith(t, "cpu."+off+"=off"); got != want {
			t.Errorf("without %s: path %s, want %s", off, got, want)
		}
	}
	t.Logf("best path: %s", best)
}

// pathsWithout returns the paths that follow when an instruction set is missing.
func pathsWithout(best string) map[string]string {
	paths := map[string]string{}
	switch best {
	case "avx512":
		for _, off := range []string{"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx512vbmi", "avx512vpclmulqdq", "bmi2"} {
			paths[off] = "sse42"
		}
		fallthrough
	case "sse42":
		for _, off := range []string{"sse41", "sse42", "pclmulqdq", "all"} {
			paths[off] = "generic"
		}
	case "crc32":
		for _, off := range []string{"crc32", "pmull", "all"} {
			paths[off] = "generic"
		}
	}
	return paths
}

// pathWith returns the path of a process that runs with a GODEBUG of its own.
func pathWith(t *testing.T, debug string) string {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestPathOfEnvironment$", "-test.v")
	cmd.Env = append(os.Environ(), pathVariable+"=1", "GODEBUG="+debug)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Skipf("no process can be started, as under an emulator: %v", err)
	}
	found := regexp.MustCompile(`path=(\w+)`).FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("GODEBUG=%s: %v\n%s", debug, err, out)
	}
	return string(found[1])
}
