package main

import (
	"maps"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/graven-rpc/graven/codec/wire"
	"github.com/graven-rpc/graven/interop/conformance/internal/conformancepb"
	"github.com/graven-rpc/graven/interop/conformance/internal/testee"
	"github.com/graven-rpc/graven/interop/conformance/internal/transcript"
)

// What the runner asks with --maximum_edition 2023: 5,567 binary and JSON
// cases, 883 of text.
const recorded = 6450

func readTranscript(t *testing.T) []transcript.Exchange {
	t.Helper()
	all, err := transcript.ReadFile(transcriptFile)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != recorded {
		t.Fatalf("transcript of %d requests, want %d", len(all), recorded)
	}
	return all
}

// replay asks hop all that the runner asked and returns what it answers
// otherwise than expected.
func replay(all []transcript.Exchange, hop testee.Hop) (requests []*conformancepb.ConformanceRequest, diffs []string) {
	for _, e := range all {
		if d := transcript.Diff(testee.Answer(e.Request, hop), e.Response); d != "" {
			requests = append(requests, e.Request)
			diffs = append(diffs, d)
		}
	}
	return requests, diffs
}

// The transcript is what protobuf-go alone was asked and answered. Every hop
// must give the same answers.
func TestReplay(t *testing.T) {
	all := readTranscript(t)
	if !protolegacy {
		// Without the tag protobuf-go refuses message sets and answers otherwise
		// itself: those few requests say nothing.
		before := len(all)
		all = slices.DeleteFunc(all, func(e transcript.Exchange) bool {
			return transcript.Diff(testee.Answer(e.Request, testee.Hops[baseline]), e.Response) != ""
		})
		if n := before - len(all); n == 0 || n > 32 {
			t.Errorf("without protolegacy, protobuf-go answers %d requests otherwise than recorded; want a few message sets", n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(testee.Hops)) {
		t.Run(name, func(t *testing.T) {
			requests, diffs := replay(all, testee.Hops[name])
			for i, d := range diffs[:min(len(diffs), 10)] {
				t.Errorf("%v\n%s", requests[i], d)
			}
			t.Logf("%d requests, %d answered otherwise than by protobuf-go", len(all), len(diffs))
		})
	}
}

// Each build takes the way that it is meant to.
func TestMethods(t *testing.T) {
	for _, e := range readTranscript(t)[:1] {
		mt, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(e.Request.GetMessageType()))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := mt.New().Interface().(wire.Generated); ok != generated {
			t.Errorf("%s has generated methods: %v, want %v", e.Request.GetMessageType(), ok, generated)
		}
	}
}

// A hop that loses something must be noticed. The numbers are how many answers
// change, as counted with a codec that loses nothing else.
func TestReplayHasTeeth(t *testing.T) {
	all := readTranscript(t)
	least := map[string]int{
		"lossy-oneof-zero":       244,
		"lossy-explicit-default": 130,
		"lossy-empty-message":    90,
		"lossy-unknown-fields":   10,
		"lossy-extensions":       5,
		"lossy-unknown-enums":    5,
	}
	for _, name := range slices.Sorted(maps.Keys(testee.Lossy)) {
		requests, _ := replay(all, testee.Lossy[name])
		t.Logf("%s: %d of %d answers change", name, len(requests), len(all))
		if len(requests) < least[name] || least[name] == 0 {
			t.Errorf("%s: %d answers change, want at least %d", name, len(requests), least[name])
		}
	}
}

// The comparison itself: what may differ between builds of protobuf-go, and
// what may not.
func TestDiff(t *testing.T) {
	parse := func(s string) *conformancepb.ConformanceResponse {
		return &conformancepb.ConformanceResponse{Result: &conformancepb.ConformanceResponse_ParseError{ParseError: s}}
	}
	js := func(s string) *conformancepb.ConformanceResponse {
		return &conformancepb.ConformanceResponse{Result: &conformancepb.ConformanceResponse_JsonPayload{JsonPayload: s}}
	}
	text := func(s string) *conformancepb.ConformanceResponse {
		return &conformancepb.ConformanceResponse{Result: &conformancepb.ConformanceResponse_TextPayload{TextPayload: s}}
	}
	binary := func(s string) *conformancepb.ConformanceResponse {
		return &conformancepb.ConformanceResponse{Result: &conformancepb.ConformanceResponse_ProtobufPayload{ProtobufPayload: []byte(s)}}
	}
	tests := []struct {
		name string
		a, b *conformancepb.ConformanceResponse
		same bool
	}{
		{"wording of errors", parse("a"), parse("b"), true},
		{"error and answer", parse("a"), js("{}"), false},
		{"space in JSON", js(`{"a": 1}`), js(`{"a":1}`), true},
		{"space in a JSON string", js(`{"a":"x y"}`), js(`{"a":"xy"}`), false},
		{"space in text", text(`a:1  b:2`), text(`a: 1 b: 2`), true},
		{"space in a text string", text(`a:"x\" y"`), text(`a:"x\"y"`), false},
		{"bytes", binary("\x08\x00"), binary(""), false},
		{"kinds with the same bytes", binary(""), text(""), false},
	}
	for _, tt := range tests {
		if got := transcript.Diff(tt.a, tt.b) == ""; got != tt.same {
			t.Errorf("%s: the same is %v, want %v", tt.name, got, tt.same)
		}
	}
}

// A transcript that is written reads back as it was.
func TestTranscriptFile(t *testing.T) {
	all := readTranscript(t)[:100]
	name := t.TempDir() + "/transcript.gz"
	if err := transcript.WriteFile(name, all); err != nil {
		t.Fatal(err)
	}
	got, err := transcript.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(all) {
		t.Fatalf("%d exchanges read, want %d", len(got), len(all))
	}
	for i := range all {
		if !proto.Equal(got[i].Request, all[i].Request) || !proto.Equal(got[i].Response, all[i].Response) {
			t.Fatalf("exchange %d differs", i)
		}
	}
}
