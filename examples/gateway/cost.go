package main

import (
	"runtime"

	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"github.com/graven-rpc/graven/examples/gateway/gateway"
)

// cost is what one call takes.
type cost struct{ allocations, bytes float64 }

// perCall calls f many times and says what a call took of the whole program. The first
// calls, which make what is used again, don't count.
func perCall(f func(i int) error) (cost, error) {
	for i := range calls / 10 {
		if err := f(-1 - i); err != nil {
			return cost{}, err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range calls {
		if err := f(i); err != nil {
			return cost{}, err
		}
	}
	runtime.ReadMemStats(&after)
	return cost{float64(after.Mallocs-before.Mallocs) / calls, float64(after.TotalAlloc-before.TotalAlloc) / calls}, nil
}

// through is what a transaction takes on its way through a gateway, without the transport, and its
// size on either side.
func through(encoding, name string) (c cost, in, on int, err error) {
	marshal, unmarshal := codec.Marshal, codec.Unmarshal
	if encoding == "proto" {
		marshal, unmarshal = proto.Marshal, proto.Unmarshal
	}
	received, err := marshal(transaction())
	if err != nil {
		return cost{}, 0, 0, err
	}
	var sent []byte
	buffer := make([]byte, 0, 2*len(received))
	f := new(gateway.Transaction)
	receive := func() error { return f.GravenUnmarshal(received, nil, codec.Options{}) }
	if encoding == "proto" {
		receive = func() error { return proto.Unmarshal(received, f) }
	}
	pass := func(int) error {
		defer f.Release()
		err := receive()
		if err == nil {
			err = branch.ToBank(f)
		}
		if err == nil {
			sent, err = f.GravenAppend(buffer, codec.Options{})
		}
		return err
	}
	if name == "messages" {
		pass = func(int) error {
			tx := new(bankv1.Transaction)
			err := unmarshal(received, tx)
			if err == nil {
				branch.MessageToBank(tx)
				sent, err = marshal(tx)
			}
			return err
		}
	}
	c, err = perCall(pass)
	return c, len(received), len(sent), err
}
