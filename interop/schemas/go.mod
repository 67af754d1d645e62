module github.com/graven-rpc/graven/interop/schemas

go 1.26.0

require (
	github.com/graven-rpc/graven v0.0.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/graven-rpc/graven => ../..
