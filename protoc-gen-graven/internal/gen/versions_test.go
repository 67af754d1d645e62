package gen

import (
	"errors"
	"go/types"
	"strconv"
	"strings"
	"testing"

	"github.com/graven-rpc/graven/codec/wire"
)

// Code for another runtime does not compile, and the line above the error says what to do.
func TestVersions(t *testing.T) {
	good := both(t, request(t, "", map[string]string{"a.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; message M { int32 x = 1; }`}))
	mustCompile(t, good)
	if runtimeVersion > wire.Version || runtimeVersion < wire.MinVersion {
		t.Errorf("the plugin writes code for version %d, the runtime beside it serves %d to %d", runtimeVersion, wire.MinVersion, wire.Version)
	}
	for name, c := range map[string]struct{ from, to, want string }{
		"the runtime is too old": {"wire.Version - " + strconv.Itoa(runtimeVersion), "wire.Version - " + strconv.Itoa(wire.Version+1),
			"update github.com/graven-rpc/graven"},
		"the code is too old": {strconv.Itoa(runtimeVersion) + " - wire.MinVersion", strconv.Itoa(wire.MinVersion-1) + " - wire.MinVersion",
			"generate the code again"},
	} {
		for _, file := range []string{"example.com/p/a.graven.go", "example.com/p/pgraven/a.graven.go"} {
			t.Run(name+" for "+file, func(t *testing.T) {
				bad := output{}
				for name, text := range good {
					bad[name] = text
				}
				bad[file] = strings.Replace(bad[file], c.from, c.to, 1)
				if bad[file] == good[file] {
					t.Fatalf("%s asserts no version", file)
				}
				errs := compileErrors(t, bad)
				var e types.Error
				if len(errs) != 1 || !errors.As(errs[0], &e) || !strings.Contains(e.Msg, "EnforceVersion") {
					t.Fatalf("errors %v", errs)
				}
				line := e.Fset.Position(e.Pos).Line
				if above := strings.Split(bad[file], "\n")[line-2]; !strings.Contains(above, c.want) {
					t.Errorf("above the error stands %q", above)
				}
			})
		}
	}
}

// Methods that were put into another folder than their types' do not compile.
func TestApart(t *testing.T) {
	out, err := generate(t, request(t, "", map[string]string{"a.proto": `syntax = "proto3"; package p; option go_package = "example.com/p"; message M { int32 x = 1; }`}))
	if err != nil {
		t.Fatal(err)
	}
	errs := compileErrors(t, output{"example.com/q/a.graven.go": out["example.com/p/a.graven.go"]})
	if len(errs) == 0 || !strings.Contains(errs[0].Error(), "undefined: M") {
		t.Errorf("errors %v", errs)
	}
}
