module github.com/graven-rpc/graven/interop/conformance

go 1.26.0

replace github.com/graven-rpc/graven => ../..

tool google.golang.org/protobuf/cmd/protoc-gen-go

require (
	github.com/graven-rpc/graven v0.0.0
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/sys v0.50.0 // indirect

require github.com/graven-rpc/graven/interop/schemas v0.0.0

replace github.com/graven-rpc/graven/interop/schemas => ../schemas
