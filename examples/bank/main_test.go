package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// checkTable says whether every kind of call was made over every protocol in
// every encoding.
func checkTable(t *testing.T, out string) {
	t.Helper()
	for _, by := range []string{"gRPC +grpc-go", "gRPC +connect-go", "gRPC-Web +connect-go", "Connect +connect-go"} {
		for encoding, crc := range map[string]string{"graven": "[0-9a-f]{8}", "proto": "none", "json": "none"} {
			for call, messages := range map[string][2]int{"Settle": {20, 20}, "Statement": {1, 20}, "Feed": {21, 41}} {
				line := fmt.Sprintf(`(?m)^ *%s +%s +%s +%d +\d+ +\S+ +%d +\d+ +\S+ +%s$`, by, encoding, call, messages[0], messages[1], crc)
				if !regexp.MustCompile(line).MatchString(out) {
					t.Errorf("no line matches %s", line)
				}
			}
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestServeAndCallAtOnce(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), &out, false, false, "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	checkTable(t, out.String())
}

func TestServeThenCallTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, w := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- run(ctx, w, true, false, "127.0.0.1:0") }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSuffix(strings.Fields(line)[5], ".")
	for range 2 {
		var out bytes.Buffer
		if err := run(ctx, &out, false, true, addr); err != nil {
			t.Fatal(err)
		}
		checkTable(t, out.String())
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestCallNobody(t *testing.T) {
	// Nothing listens on port 1 of this machine.
	if err := run(t.Context(), io.Discard, false, true, "127.0.0.1:1"); err == nil {
		t.Error("a call without a server succeeds")
	}
}
