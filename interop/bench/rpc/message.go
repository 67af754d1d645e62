// Package rpc measures remote calls that echo a message, in one process, through
// grpc-go and connect-go with different codecs: what a codec costs beside what
// the rest of a call costs.
package rpc

import (
	"google.golang.org/protobuf/proto"

	"github.com/graven-rpc/graven/interop/bench/peer/pbmsg"
	scenariosv1 "github.com/graven-rpc/graven/interop/bench/proto/scenarios/v1"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

// Message is what is sent.
type Message struct {
	Name string
	Msg  proto.Message
	// New makes an empty message of the same type.
	New func() proto.Message
}

// Messages lists the messages that are sent, those of seed 1.
func Messages() []Message {
	var out []Message
	for _, sc := range scenario.All {
		m := Message{Name: sc.Name}
		switch sc.Name {
		case scenario.Telem:
			m.New = func() proto.Message { return new(scenariosv1.Telemetry) }
		case scenario.Bank100:
			m.New = func() proto.Message { return new(scenariosv1.Transaction) }
		case scenario.Frame500:
			m.New = func() proto.Message { return new(scenariosv1.Frame) }
		case scenario.Chunk65536:
			m.New = func() proto.Message { return new(scenariosv1.Chunk) }
		default:
			continue
		}
		m.Msg = pbmsg.Build(sc.New(1))
		out = append(out, m)
	}
	return out
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
	Floor        = "floor"
)

// Codecs lists the codecs that a stack is measured with.
func Codecs(stack string) []string {
	if stack == GRPC {
		return []string{Protobuf, VT, VTPool, Graven, Floor}
	}
	return []string{Protobuf, ProtobufGzip, VT, Graven, Floor}
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
