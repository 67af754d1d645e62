module github.com/graven-rpc/graven/interop/service

go 1.26.0
