package main

import (
	"errors"
	"time"

	"github.com/graven-rpc/graven/interop/schemas/sets"
)

func generated(s *sets.Set, cache, keep string, values int, seed uint64) (result, error) {
	return result{}, errors.New("x" + time.Second.String())
}
