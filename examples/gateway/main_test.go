package main

import (
	"bytes"
	"regexp"
	"testing"
)

// Every client gets its receipts through either gateway, and the run prints what they took.
func TestGateway(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`graven +frames +\d+ +\d+ +\d+ +\d+ +\d+`,
		`graven +messages +\d+ +\d+ +\d+ +\d+ +\d+`,
		`proto +frames +\d+ +\d+ +\d+ +\d+ +\d+`,
		`proto +messages +\d+ +\d+ +\d+ +\d+ +\d+`,
		`The gateway on frames also answered Connect in Graven and in JSON\.`,
	} {
		if !regexp.MustCompile(`(?m)^ *` + line + `$`).MatchString(out.String()) {
			t.Errorf("no line matches %s", line)
		}
	}
	t.Log(out.String())
}
