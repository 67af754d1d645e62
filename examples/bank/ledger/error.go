package ledger

import (
	"fmt"

	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"
	"google.golang.org/protobuf/proto"
)

// Code says what kind of failure an Error is. The numbers are those of gRPC,
// which Connect uses too, so that no transport needs a table.
type Code uint32

const (
	InvalidArgument    Code = 3
	NotFound           Code = 5
	AlreadyExists      Code = 6
	ResourceExhausted  Code = 8
	FailedPrecondition Code = 9
)

// Error is a failure that the caller is told about.
type Error struct {
	Code    Code
	Message string
	// Detail is a message for programs, or nil.
	Detail proto.Message
}

func (e *Error) Error() string { return e.Message }

func errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func overdrawn(o *bankv1.Overdraft) *Error {
	e := errorf(FailedPrecondition, "account %d holds %d and may be overdrawn by %d: %d missing", o.Account, o.Balance, o.OverdraftLimit, o.Missing)
	e.Detail = o
	return e
}
