// Package grpc runs the interoperability suite of grpc-go, package
// google.golang.org/grpc/interop, in Graven. It is a module of its own, so that
// Graven does not depend on what the suite needs; all of it is tests.
package grpc
