//go:build protolegacy

package sets

// protolegacy says whether this build of protobuf-go supports message sets.
const protolegacy = true
