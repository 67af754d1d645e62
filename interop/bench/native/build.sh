#!/bin/bash
# Builds the C++ yardstick into the folder that is the first argument. Needs
# Debian's flatbuffers-compiler, libflatbuffers-dev, capnproto, libcapnp-dev, g++.
set -e
out=$(realpath "${1:?folder}")
cd "$(dirname "$0")"
flatc --cpp -o "$out" ../schema/bench.fbs
sed 's/^#CXX //; /^#GO/d' ../schema/bench.capnp.in > "$out/bench.capnp"
(cd "$out" && capnp compile -oc++ bench.capnp)
g++ -std=c++17 -O3 -march=native -DNDEBUG -I "$out" native.cc "$out/bench.capnp.c++" -lcapnp -lkj -o "$out/native"
