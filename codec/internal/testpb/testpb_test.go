// Package testpb_test holds the test messages together: the sources of one API
// level are those of another, and the vectors' schemas are the vectors'.
package testpb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const protos = "../../testdata/proto"

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSourcesAgree(t *testing.T) {
	for _, file := range []string{"proto2.proto", "proto3.proto", "edition2023.proto", "edition2024.proto"} {
		want := read(t, protos, "testpb/open", file)
		for _, api := range []string{"hybrid", "opaque"} {
			got := read(t, protos, "testpb", api, file)
			got = strings.NewReplacer(
				"testpb."+api, "testpb.open",
				"testpb/"+api, "testpb/open",
				"API_"+strings.ToUpper(api), "API_OPEN",
			).Replace(got)
			// The opaque API is what edition 2024 has without being asked.
			if api == "opaque" && file == "edition2024.proto" {
				want = strings.Replace(want, "import option \"google/protobuf/go_features.proto\";\n", "", 1)
				want = strings.Replace(want, "option features.(pb.go).api_level = API_OPEN;\n", "", 1)
			}
			if got != want {
				t.Errorf("%s of %s is not that of open", file, api)
			}
		}
	}
}

func TestVectorSchemasAgree(t *testing.T) {
	for _, file := range []string{"kitchen.proto", "legacy.proto", "scenarios.proto"} {
		if read(t, protos, "vectors", file) != read(t, "../../testdata/vectors/schemas", file) {
			t.Errorf("%s is not that of the vectors", file)
		}
	}
}
