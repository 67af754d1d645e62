package codec_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/graven-rpc/graven/codec/internal/mem"
)

// Getters of numbers, bools, enums and strings, and Has methods, are inlined to the last
// load, of near fields and far ones, of views and of inline messages.
func TestGettersAreInlined(t *testing.T) {
	if !mem.Unsafe {
		t.Skip("the safe twin is larger")
	}
	for _, pkg := range []string{"testpb/vectors/scenarios/scenariosgraven", "testpb/vectors/kitchen/kitchengraven", "testpb/open/opengraven"} {
		out, err := exec.Command("go", "build", "-gcflags=-m", "./internal/"+pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		can := map[string]bool{}     // file:line of what can be inlined
		calls := map[string]string{} // by file:line, the calls that are inlined there
		for _, l := range strings.Split(string(out), "\n") {
			p := strings.SplitN(l, ":", 4)
			if len(p) < 4 {
				continue
			}
			at := p[0][strings.LastIndex(p[0], "/")+1:] + ":" + p[1]
			if strings.HasPrefix(p[3], " can inline ") {
				can[at] = true
			}
			if call, ok := strings.CutPrefix(p[3], " inlining call to "); ok {
				calls[at] += call + " "
			}
		}
		dir := "internal/" + pkg
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		getters := 0
		for _, e := range entries {
			src, err := os.ReadFile(dir + "/" + e.Name())
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range strings.Split(string(src), "\n") {
				m := getterLine.FindStringSubmatch(l)
				if m == nil {
					continue
				}
				getters++
				at := e.Name() + ":" + strconv.Itoa(i+1)
				if !can[at] {
					t.Errorf("%s: not inlined: %s", at, l)
				}
				if want := loads[m[1]]; !strings.Contains(calls[at], want) {
					t.Errorf("%s: %s is not inlined in %s", at, want, l)
				}
			}
		}
		if getters < 15 {
			t.Errorf("%s: %d getters", pkg, getters)
		}
	}
}

// getterLine is a getter that reads one value, with the method that does.
var getterLine = regexp.MustCompile(`^func \(v \w+\) (?:Get|Has)\w+\(\) [\w.]+ +\{ return .*\(v\)\.(Has|Bool|U8|U16|U32|U64|F32|F64|Text|FarText)\(`)

// loads are what has to be inlined for each.
var loads = map[string]string{
	"Has": "mem.Ptr.U8", "Bool": "mem.Ptr.U8", "U8": "mem.Ptr.U8", "U16": "mem.Ptr.U16", "U32": "mem.Ptr.U32", "U64": "mem.Ptr.U64",
	"F32": "mem.Ptr.U32", "F64": "mem.Ptr.U64", "Text": "mem.Text", "FarText": "mem.Text",
}
