module github.com/graven-rpc/graven/interop/schemas

go 1.26.0

require (
	github.com/bufbuild/protocompile v0.14.1
	github.com/graven-rpc/graven v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/graven-rpc/graven => ../..
