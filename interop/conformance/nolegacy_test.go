//go:build !protolegacy

package main

// protolegacy says whether this build supports message sets.
const protolegacy = false
