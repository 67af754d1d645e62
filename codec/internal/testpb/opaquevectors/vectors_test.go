// Package opaquevectors_test runs the vectors with messages of the opaque API,
// in a program of its own, since a program can hold only one Go type of a
// message.
package opaquevectors_test

import (
	"testing"

	"github.com/graven-rpc/graven/codec/internal/corpus"
	"github.com/graven-rpc/graven/codec/internal/corpus/undertest"

	_ "github.com/graven-rpc/graven/codec/internal/testpb/opaquevectors/kitchen"
	_ "github.com/graven-rpc/graven/codec/internal/testpb/opaquevectors/legacy"
	_ "github.com/graven-rpc/graven/codec/internal/testpb/opaquevectors/scenarios"
)

func TestVectorsOpaque(t *testing.T) {
	if n := corpus.RunVectors(t, undertest.Codec(), corpus.Generated()); n < 90 {
		t.Errorf("ran %d vectors", n)
	}
}
