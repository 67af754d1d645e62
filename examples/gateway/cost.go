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
	pass := func(int) error {
		tx := new(bankv1.Transaction)
		if err := unmarshal(received, tx); err != nil {
			return err
		}
		for _, e := range tx.Entries {
			e.Account += uint64(branch)
		}
		var err error
		sent, err = marshal(tx)
		return err
	}
	switch {
	case name == "frames" && encoding == "graven":
		pass = func(int) error {
			err := f.GravenUnmarshal(received, nil, codec.Options{})
			if err == nil {
				err = branch.ToBank(f)
			}
			if err == nil {
				sent, err = f.GravenAppend(buffer, codec.Options{})
			}
			f.Release()
			return err
		}
	case name == "frames":
		pass = func(int) error {
			err := proto.Unmarshal(received, f)
			if err == nil {
				err = branch.ToBank(f)
			}
			if err == nil {
				sent, err = f.GravenAppend(buffer, codec.Options{})
			}
			f.Release()
			return err
		}
	}
	c, err = perCall(pass)
	return c, len(received), len(sent), err
}
