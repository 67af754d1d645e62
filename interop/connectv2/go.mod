module github.com/graven-rpc/graven/interop/connectv2

go 1.26.0

replace github.com/graven-rpc/graven => ../..

require (
	connectrpc.com/connect v1.21.1
	connectrpc.com/connect/v2 v2.0.2
	github.com/graven-rpc/graven v0.0.0
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/sys v0.50.0 // indirect
