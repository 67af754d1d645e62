package main

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"
)

// The ordinary client makes every kind of call over every protocol in every encoding, and
// checks all answers.
func TestOrdinaryClient(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, by := range []string{"gRPC +grpc-go", "gRPC +connect-go", "gRPC-Web +connect-go", "Connect +connect-go"} {
		for encoding, crc := range map[string]string{"graven": "[0-9a-f]{8}", "proto": "none", "json": "none"} {
			for call, messages := range map[string][2]int{"Settle": {20, 20}, "Statement": {1, 20}, "Feed": {21, 41}} {
				line := fmt.Sprintf(`(?m)^ *%s +%s +%s +%d +\d+ +\S+ +%d +\d+ +\S+ +%s$`, by, encoding, call, messages[0], messages[1], crc)
				if !regexp.MustCompile(line).MatchString(out.String()) {
					t.Errorf("no line matches %s", line)
				}
			}
		}
	}
	if t.Failed() {
		t.Log(out.String())
	}
}
