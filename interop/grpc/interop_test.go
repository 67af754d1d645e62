package grpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"

	"github.com/graven-rpc/graven/codec/gravengrpc"
)

// The cases of the suite that need no credentials. They end the process when they fail,
// so each runs in a process of its own: this test binary, told by the environment.
var cases = map[string]func(ctx context.Context, cc *grpc.ClientConn, tc testgrpc.TestServiceClient){
	"empty_unary": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoEmptyUnaryCall(ctx, tc)
	},
	"large_unary": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoLargeUnaryCall(ctx, tc)
	},
	"client_streaming": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoClientStreaming(ctx, tc)
	},
	"server_streaming": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoServerStreaming(ctx, tc)
	},
	"ping_pong": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoPingPong(ctx, tc)
	},
	"empty_stream": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoEmptyStream(ctx, tc)
	},
	"timeout_on_sleeping_server": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoTimeoutOnSleepingServer(ctx, tc)
	},
	"cancel_after_begin": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoCancelAfterBegin(ctx, tc)
	},
	"cancel_after_first_response": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoCancelAfterFirstResponse(ctx, tc)
	},
	"custom_metadata": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoCustomMetadata(ctx, tc)
	},
	"status_code_and_message": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoStatusCodeAndMessage(ctx, tc)
	},
	"special_status_message": func(ctx context.Context, _ *grpc.ClientConn, tc testgrpc.TestServiceClient) {
		interop.DoSpecialStatusMessage(ctx, tc)
	},
	"unimplemented_method": func(ctx context.Context, cc *grpc.ClientConn, _ testgrpc.TestServiceClient) {
		interop.DoUnimplementedMethod(ctx, cc)
	},
	"unimplemented_service": func(ctx context.Context, cc *grpc.ClientConn, _ testgrpc.TestServiceClient) {
		interop.DoUnimplementedService(ctx, testgrpc.NewUnimplementedServiceClient(cc))
	},
	"rpc_soak": func(ctx context.Context, cc *grpc.ClientConn, _ testgrpc.TestServiceClient) {
		soak(ctx, cc.Target(), func() (*grpc.ClientConn, func()) { return cc, func() {} })
	},
	"channel_soak": func(ctx context.Context, cc *grpc.ClientConn, _ testgrpc.TestServiceClient) {
		soak(ctx, cc.Target(), func() (*grpc.ClientConn, func()) {
			each := dial(os.Getenv(envEncoding), cc.Target())
			return each, func() { each.Close() }
		})
	},
}

func soak(ctx context.Context, addr string, channel func() (*grpc.ClientConn, func())) {
	interop.DoSoakTest(ctx, interop.SoakTestConfig{
		RequestSize:  271828, // the suite's own sizes
		ResponseSize: 314159,
		// How long a call takes is not what this is about.
		PerIterationMaxAcceptableLatency: time.Minute,
		OverallTimeout:                   time.Minute,
		ServerAddr:                       addr,
		NumWorkers:                       2,
		Iterations:                       20,
		ChannelForTest:                   channel,
	})
}

const (
	envCase     = "GRAVEN_INTEROP_CASE"
	envAddr     = "GRAVEN_INTEROP_ADDR"
	envEncoding = "GRAVEN_INTEROP_ENCODING"
)

// The encodings of a client.
const (
	inGraven     = "graven"
	withFallback = "graven, falling back"
	inProtobuf   = "protobuf"
)

func dial(encoding, addr string) *grpc.ClientConn {
	opts := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	switch encoding {
	case inGraven:
		opts = append(opts, gravengrpc.DialOptions()...)
	case withFallback:
		opts = append(opts, gravengrpc.DialOptions(gravengrpc.WithFallback())...)
	}
	cc, err := grpc.NewClient(addr, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return cc
}

func TestMain(m *testing.M) {
	name := os.Getenv(envCase)
	if name == "" {
		os.Exit(m.Run())
	}
	cc := dial(os.Getenv(envEncoding), os.Getenv(envAddr))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cases[name](ctx, cc, testgrpc.NewTestServiceClient(cc))
	if err := cc.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("passed")
}

// run runs all cases with a client in some encoding.
func run(t *testing.T, encoding, addr string) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self)
			cmd.Env = append(os.Environ(), envCase+"="+name, envAddr+"="+addr, envEncoding+"="+encoding)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasSuffix(string(out), "passed\n") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// contentTypes notes the content types of the calls that a server gets.
type contentTypes struct {
	mu   sync.Mutex
	seen []string
}

func (c *contentTypes) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range md.Get("content-type") {
		if !slices.Contains(c.seen, s) {
			c.seen = append(c.seen, s)
		}
	}
	return ctx
}
func (c *contentTypes) HandleRPC(context.Context, stats.RPCStats)                         {}
func (c *contentTypes) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (c *contentTypes) HandleConn(context.Context, stats.ConnStats)                       {}

// serve starts the suite's server in this process, which has the codec.
func serve(t *testing.T) (addr string, types *contentTypes) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	types = new(contentTypes)
	s := grpc.NewServer(grpc.StatsHandler(types))
	testgrpc.RegisterTestServiceServer(s, interop.NewTestServer())
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), types
}

func TestGraven(t *testing.T) {
	addr, types := serve(t)
	run(t, inGraven, addr)
	if !slices.Equal(types.seen, []string{"application/grpc+graven"}) {
		t.Errorf("content types %v", types.seen)
	}
}

// A client that knows nothing of Graven.
func TestProtobufClient(t *testing.T) {
	addr, types := serve(t)
	run(t, inProtobuf, addr)
	if !slices.Equal(types.seen, []string{"application/grpc"}) {
		t.Errorf("content types %v", types.seen)
	}
}

// servePlain starts a server that knows nothing of Graven, in a process of its own, since
// all servers of a process have the codecs that it has registered.
func servePlain(t *testing.T) (addr string) {
	program := filepath.Join(t.TempDir(), "plainserver")
	if out, err := exec.Command("go", "build", "-o", program, "./plainserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func TestPlainServer(t *testing.T) {
	addr := servePlain(t)
	t.Run("fallback", func(t *testing.T) { run(t, withFallback, addr) })
	t.Run("no fallback", func(t *testing.T) {
		cc := dial(inGraven, addr)
		defer cc.Close()
		_, err := testgrpc.NewTestServiceClient(cc).UnaryCall(t.Context(), &testgrpc.SimpleRequest{ResponseSize: 10})
		if !errors.Is(err, gravengrpc.ErrNoCodec) || !strings.Contains(err.Error(), "codec/gravengrpc") {
			t.Errorf("got %v", err)
		}
	})
}
