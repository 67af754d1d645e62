package graven

import _ "embed"

// Source is graven/options.proto, for tools that put it into a tree of schemas.
//
//go:embed options.proto
var Source string
