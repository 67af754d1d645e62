#!/usr/bin/env bash
# Generates the Go types of the conformance suite's test messages into
# internal/ from the protos that setup.sh fetches. Set BUF to a buf of your own
# to save its compilation.
set -euo pipefail
cd "$(dirname "$0")"

./setup.sh >/dev/null
include=$(dirname "$(./setup.sh | tail -n 1)")/../include
buf=${BUF:-go run github.com/bufbuild/buf/cmd/buf@v1.75.0}

module=github.com/graven-rpc/graven/interop/conformance
names="module=$module
Mconformance/conformance.proto=$module/internal/conformancepb
Mgoogle/protobuf/test_messages_proto2.proto=$module/internal/proto2pb
Mgoogle/protobuf/test_messages_proto3.proto=$module/internal/proto3pb
Mgoogle/protobuf/test_messages_edition2023.proto=$module/internal/edition2023pb
Mgoogle/protobuf/test_messages_proto2_editions.proto=$module/internal/editionsproto2pb
Mgoogle/protobuf/test_messages_proto3_editions.proto=$module/internal/editionsproto3pb"
options=$(sed 's/.*/"&"/' <<<"$names" | paste -sd,)

# MessageSet, which the proto2 messages use, is behind a build tag of protobuf-go,
# in the plugins too, and go tool takes no tags: hence go run.
find internal -name '*.pb.go' -o -name '*.graven.go' | xargs -r rm
# The folder is named by its real path: buf refuses a symlink out of its input.
$buf generate "$(realpath "$include")" --template '{
	"version": "v2",
	"plugins": [
		{"local": ["go", "run", "-tags", "protolegacy", "google.golang.org/protobuf/cmd/protoc-gen-go"], "out": ".", "opt": ['"$options"'], "strategy": "all"},
		{"local": ["go", "run", "-tags", "protolegacy", "github.com/graven-rpc/graven/protoc-gen-graven"], "out": ".", "opt": ['"$options"', "views=none"], "strategy": "all"}
	]
}'
# Built with the tag reflection, the same types have no methods of ours.
find internal -name '*.graven.go' -exec sed -i '0,/^package /s//\/\/go:build !reflection\n\npackage /' {} +
gofmt -l internal
