#!/bin/bash
# Makes Graven's generated files of this module anew with the repository's
# generator. Needs Debian's protobuf-compiler.
set -e
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd ../.. && go build -o "$tmp" ./protoc-gen-graven)
go build -o "$tmp" ./schema/otlpdesc
export PATH=$tmp:$PATH
mod=github.com/graven-rpc/graven/interop/bench

find proto -name '*.graven.go' -delete
protoc -I proto -I ../../codec/proto --graven_out=proto --graven_opt=module=$mod/proto \
  scenarios/v1/scenarios.proto log/v1/log.proto mesh/v1/mesh.proto savedata/v1/savedata.proto

otlpdesc > "$tmp/otlp.binpb"
files="opentelemetry/proto/common/v1/common.proto opentelemetry/proto/resource/v1/resource.proto
  opentelemetry/proto/trace/v1/trace.proto"
opts=""
for f in $files; do
  opts="$opts --graven_opt=M$f=$mod/proto/otlp/v1;otlpv1"
done
protoc --descriptor_set_in="$tmp/otlp.binpb" --graven_out=proto --graven_opt=module=$mod/proto $opts $files
