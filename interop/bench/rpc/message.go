// Package rpc measures remote calls that echo a message, in one process, through
// grpc-go and connect-go with different codecs: what a codec costs beside what
// the rest of a call costs.
package rpc

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1/scenariosv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Message is what is sent.
type Message struct {
	Name string
	Msg  proto.Message
	// New makes an empty message of the same type.
	New func() proto.Message
	// NewFrame makes an empty frame of the type, which is a *codec.Frame, and
	// Framed one that holds the message.
	NewFrame func() frame
	Framed   func() (frame, error)
}

// frame is a codec.Frame of any type.
type frame interface {
	proto.Message
	Bytes() ([]byte, error)
	Release()
}

// Messages lists the messages that are sent, those of seed 1.
func Messages() []Message {
	var out []Message
	for _, sc := range scenario.All {
		var m Message
		switch sc.Name {
		case scenario.Telem:
			m = message[scenariosv1graven.Telemetry](sc, func() proto.Message { return new(scenariosv1.Telemetry) })
		case scenario.Bank100:
			m = message[scenariosv1graven.Transaction](sc, func() proto.Message { return new(scenariosv1.Transaction) })
		case scenario.Frame500:
			m = message[scenariosv1graven.Frame](sc, func() proto.Message { return new(scenariosv1.Frame) })
		case scenario.Chunk65536:
			m = message[scenariosv1graven.Chunk](sc, func() proto.Message { return new(scenariosv1.Chunk) })
		default:
			continue
		}
		out = append(out, m)
	}
	return out
}

func message[V codec.View[V]](sc scenario.Scenario, empty func() proto.Message) Message {
	msg := pbmsg.Build(sc.New(1))
	return Message{
		Name:     sc.Name,
		Msg:      msg,
		New:      empty,
		NewFrame: func() frame { return new(codec.Frame[V]) },
		Framed:   func() (frame, error) { return codec.NewFrame[V](msg) },
	}
}

// Config is one way to send a message.
type Config struct {
	Stack     string // GRPC or Connect
	Transport string // TCP or Bufconn
	Codec     string // one of Codecs(Stack)
	Message   Message
}

// Stacks and transports.
const (
	GRPC    = "grpc-go"
	Connect = "connect-go"
	TCP     = "TCP"
	Bufconn = "bufconn"
)

// Names of codecs.
const (
	Protobuf     = "protobuf"
	ProtobufGzip = "protobuf, gzip" // connect-go's default: servers compress answers
	VT           = "vtprotobuf"
	VTPool       = "vtprotobuf, pooled buffers"
	Graven       = "Graven, messages"
	GravenFrames = "Graven, frames"
	Floor        = "floor"
)

// Codecs lists the codecs that a stack is measured with.
func Codecs(stack string) []string {
	if stack == GRPC {
		return []string{Protobuf, VT, VTPool, Graven, GravenFrames, Floor}
	}
	return []string{Protobuf, ProtobufGzip, VT, Graven, GravenFrames, Floor}
}

// Configs lists all ways to send all messages. Connect is measured over TCP only.
func Configs() []Config {
	var out []Config
	for _, m := range Messages() {
		for _, tr := range []string{TCP, Bufconn} {
			for _, c := range Codecs(GRPC) {
				out = append(out, Config{GRPC, tr, c, m})
			}
		}
		for _, c := range Codecs(Connect) {
			out = append(out, Config{Connect, TCP, c, m})
		}
	}
	return out
}

// Conn is a server and a client connected to it.
type Conn struct {
	// Call sends the message and waits for its echo. With verify it checks that
	// the echo equals what was sent.
	Call func(verify bool) error
	// Stream has the server send the message n times.
	Stream func(n int, verify bool) error
	close  []func()
}

// Close ends client and server.
func (c *Conn) Close() {
	for _, f := range c.close {
		f()
	}
}

// Open starts a server on loopback or in memory and connects to it.
func Open(cfg Config) (*Conn, error) {
	if cfg.Stack == GRPC {
		return openGRPC(cfg)
	}
	return openConnect(cfg)
}
