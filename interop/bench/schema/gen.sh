#!/bin/bash
# Makes every generated file of this module anew. Needs Debian's
# protobuf-compiler, flatbuffers-compiler and capnproto; the other generators are
# built from go.mod. Graven's own code is made by graven.sh.
set -e
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp" google.golang.org/protobuf/cmd/protoc-gen-go \
  github.com/planetscale/vtprotobuf/cmd/protoc-gen-go-vtproto \
  capnproto.org/go/capnp/v3/capnpc-go github.com/tinylib/msgp ./schema/musgen ./schema/otlpdesc
export PATH=$tmp:$PATH
mod=github.com/graven-rpc/graven/interop/bench

# protobuf-go, and vtprotobuf with a pool for every message type.
rm -f proto/*/v1/*.pb.go
for p in scenarios log mesh savedata; do
  pool=$(sed -n "s|^message \([A-Za-z0-9]*\) .*|--go-vtproto_opt=pool=$mod/proto/$p/v1.\1|p" proto/$p/v1/$p.proto)
  protoc -I proto -I ../../codec/proto --go_out=proto --go_opt=paths=source_relative \
    --go-vtproto_out=proto --go-vtproto_opt=paths=source_relative \
    --go-vtproto_opt=features=marshal+unmarshal+unmarshal_unsafe+size+pool $pool $p/v1/$p.proto
done

# OpenTelemetry's own schema, from its Go module's descriptors, into a package of
# ours: neither vtprotobuf's nor Graven's methods could be added to a foreign one.
otlpdesc > "$tmp/otlp.binpb"
files="opentelemetry/proto/common/v1/common.proto opentelemetry/proto/resource/v1/resource.proto
  opentelemetry/proto/trace/v1/trace.proto"
opts=""
for f in $files; do
  opts="$opts --go_opt=M$f=$mod/proto/otlp/v1;otlpv1 --go-vtproto_opt=M$f=$mod/proto/otlp/v1;otlpv1"
done
pool=$(otlpdesc -names | sed "s|.*|--go-vtproto_opt=pool=$mod/proto/otlp/v1.&|")
protoc --descriptor_set_in="$tmp/otlp.binpb" --go_out="$tmp" --go_opt=module=$mod \
  --go-vtproto_out="$tmp" --go-vtproto_opt=module=$mod \
  --go-vtproto_opt=features=marshal+unmarshal+unmarshal_unsafe+size+pool $opts $pool $files
mkdir -p proto/otlp/v1
find "$tmp/proto/otlp" -name '*.go' -exec cp {} proto/otlp/v1/ \;

# FlatBuffers and Cap'n Proto.
rm -rf fb cp
flatc --go -o . schema/bench.fbs
mkdir cp
sed 's/^#GO //; /^#CXX/d' schema/bench.capnp.in > "$tmp/bench.capnp"
std=$(go list -m -f '{{.Dir}}' capnproto.org/go/capnp/v3)/std
capnp compile -I "$std" --src-prefix="$tmp" -ogo:cp "$tmp/bench.capnp"

# MessagePack, into the package of the structs.
(cd scenario && msgp -file . -o msgp.gen.go -tests=false -io=false)

# mus does not take blank fields, so its generator sees the structs without.
rm -rf mus
sep='{"Replace":{'
for f in messages datasets; do
  sed '/^\t_ /d' scenario/$f.go > "$tmp/$f.go"
  printf '%s"%s":"%s"' "$sep" "$PWD/scenario/$f.go" "$tmp/$f.go" >> "$tmp/overlay.json"
  sep=,
done
echo '}}' >> "$tmp/overlay.json"
go run -overlay "$tmp/overlay.json" ./schema/musgen mus

gofmt -w fb cp mus scenario
schema/graven.sh
