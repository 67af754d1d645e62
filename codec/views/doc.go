// Package views holds, in packages of their own, views of protobuf's well-known types.
// Views that protoc-gen-graven generates for messages with such fields use them.
package views

//go:generate go run github.com/graven-rpc/graven/protoc-gen-graven/internal/knownviews .
