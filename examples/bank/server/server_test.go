package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravenconnect"
	"github.com/graven-rpc/graven/codec/gravengrpc"
	"github.com/graven-rpc/graven/examples/bank/client"
	"github.com/graven-rpc/graven/examples/bank/ledger"
	bankv1 "github.com/graven-rpc/graven/examples/bank/proto/bank/v1"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// start serves a bank with two accounts, 1 and 2, on a port of its own and
// returns the address.
func start(t *testing.T) string {
	t.Helper()
	l := ledger.New()
	for range 2 {
		if _, err := l.OpenAccount(t.Context(), &bankv1.OpenAccountRequest{Owner: "Ada", Currency: "EUR", OverdraftLimit: 100}); err != nil {
			t.Fatal(err)
		}
	}
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- New(l).Serve(ctx, lis) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return lis.Addr().String()
}

func dial(t *testing.T, addr string, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func h2cClient(t *testing.T) *http.Client {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func timeout(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func transfer(reference string, amount int64) *bankv1.Transaction {
	return &bankv1.Transaction{Reference: reference, Currency: "EUR", Entries: []*bankv1.Entry{
		{Account: 1, Amount: -amount, Memo: proto.String("rent")},
		{Account: 2, Amount: amount, Memo: proto.String("")},
	}}
}

// makeCalls makes every kind of call.
func makeCalls(t *testing.T, bank client.Bank) {
	t.Helper()
	ctx := timeout(t)
	receipt, err := bank.Settle(ctx, transfer("unary", 10))
	if err != nil {
		t.Fatal(err)
	}
	if receipt.GetReference() != "unary" || receipt.GetBalances()[1].GetAmount() != 10 || receipt.GetSettledAt().AsTime().Year() < 2000 {
		t.Errorf("unexpected receipt %v", receipt)
	}

	feed, err := bank.Feed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := feed.Send(&bankv1.FeedRequest{Action: &bankv1.FeedRequest_Settle{Settle: transfer("feed", 5)}}); err != nil {
		t.Fatal(err)
	}
	resp, err := feed.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if resp.GetReceipt().GetReference() != "feed" {
		t.Errorf("unexpected answer %v", resp)
	}
	if err := feed.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := feed.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the feed ended with %v", err)
	}

	var lines []*bankv1.StatementLine
	err = bank.Statement(ctx, &bankv1.StatementRequest{Account: 1}, func(line *bankv1.StatementLine) error {
		lines = append(lines, proto.CloneOf(line))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkStatement(t, lines)

	_, err = bank.Settle(ctx, transfer("too much", 86))
	want := &bankv1.Overdraft{Account: 1, Balance: -15, OverdraftLimit: 100, Missing: 1}
	if got := client.OverdraftOf(err); !proto.Equal(got, want) {
		t.Errorf("an overdraft gives %v with detail %v, want %v", err, got, want)
	}
	if status.Code(err) != codes.FailedPrecondition && connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("an overdraft gives %v", err)
	}
}

func checkStatement(t *testing.T, lines []*bankv1.StatementLine) {
	t.Helper()
	if len(lines) != 2 || lines[0].GetAmount() != -10 || lines[1].GetAmount() != -5 || lines[1].GetBalance() != -15 {
		t.Fatalf("unexpected statement %v", lines)
	}
	entries := lines[0].GetTransaction().GetEntries()
	if len(entries) != 2 || entries[0].GetMemo() != "rent" || entries[1].Memo == nil || entries[1].GetMemo() != "" {
		t.Errorf("unexpected entries %v", entries)
	}
}

// A client of grpc-go that knows nothing of Graven.
func TestPlainGRPC(t *testing.T) {
	makeCalls(t, client.OverGRPC(dial(t, start(t))))
}

// Clients of connect-go that know nothing of Graven.
func TestPlainConnect(t *testing.T) {
	for name, options := range map[string][]connect.ClientOption{
		"Connect":          nil,
		"Connect in JSON":  {connect.WithProtoJSON()},
		"gRPC":             {connect.WithGRPC()},
		"gRPC in JSON":     {connect.WithGRPC(), connect.WithProtoJSON()},
		"gRPC-Web":         {connect.WithGRPCWeb()},
		"gRPC-Web in JSON": {connect.WithGRPCWeb(), connect.WithProtoJSON()},
	} {
		t.Run(name, func(t *testing.T) {
			url := "http://" + start(t)
			makeCalls(t, client.OverConnect(h2cClient(t), url, options...))
		})
	}
}

// A client of grpc-go with the two lines that make it speak Graven.
func TestGravenByGRPC(t *testing.T) {
	makeCalls(t, client.OverGRPC(dial(t, start(t), gravengrpc.DialOptions()...)))
}

// Clients of connect-go with the two lines that make them speak Graven.
func TestGravenByConnect(t *testing.T) {
	for name, options := range map[string][]connect.ClientOption{
		"Connect":  nil,
		"gRPC":     {connect.WithGRPC()},
		"gRPC-Web": {connect.WithGRPCWeb()},
	} {
		t.Run(name, func(t *testing.T) {
			url := "http://" + start(t)
			options = append(options, gravenconnect.ClientOptions()...)
			makeCalls(t, client.OverConnect(h2cClient(t), url, options...))
		})
	}
}

// post is what curl does: HTTP/1.1, one request, one response.
func post(t *testing.T, addr, method, contentType string, body []byte) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(timeout(t), http.MethodPost, "http://"+addr+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	c := &http.Client{Transport: new(http.Transport)}
	defer c.CloseIdleConnections()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, b
}

func TestJSONByPOST(t *testing.T) {
	resp, body := post(t, start(t), "/bank.v1.BankService/GetAccount", "application/json", []byte(`{"account": 2}`))
	got := new(bankv1.GetAccountResponse)
	if err := protojson.Unmarshal(body, got); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if resp.ProtoMajor != 1 || resp.StatusCode != http.StatusOK || got.GetAccount().GetOwner() != "Ada" {
		t.Errorf("%s %s: %s", resp.Proto, resp.Status, body)
	}
}

// What Graven clients send and get is a frame, whatever carries it.
func TestFrameByPOST(t *testing.T) {
	frame, err := codec.Marshal(&bankv1.GetAccountRequest{Account: 2})
	if err != nil {
		t.Fatal(err)
	}
	resp, body := post(t, start(t), "/bank.v1.BankService/GetAccount", "application/graven", frame)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/graven" || !bytes.HasPrefix(body, []byte("GRVN")) {
		t.Fatalf("%s %s: %q", resp.Status, resp.Header.Get("Content-Type"), body)
	}
	got := new(bankv1.GetAccountResponse)
	if err := codec.Unmarshal(body, got); err != nil {
		t.Fatal(err)
	}
	if got.GetAccount().GetOwner() != "Ada" {
		t.Errorf("unexpected account %v", got)
	}
	frame[len(frame)-1] ^= 1
	if resp, body := post(t, start(t), "/bank.v1.BankService/GetAccount", "application/graven", frame); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a damaged frame gives %s: %s", resp.Status, body)
	}
}

func TestUnknownEncodingIsRefused(t *testing.T) {
	for _, contentType := range []string{"application/xml", "application/grpc+xml"} {
		resp, body := post(t, start(t), "/bank.v1.BankService/GetAccount", contentType, []byte("<account/>"))
		if resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s: %s %s", contentType, resp.Status, body)
		}
	}
}

func checkHealthAndReflection(t *testing.T, conn *grpc.ClientConn) {
	t.Helper()
	ctx := timeout(t)
	check, err := healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{Service: "bank.v1.BankService"})
	if err != nil {
		t.Fatal(err)
	}
	if check.GetStatus() != healthv1.HealthCheckResponse_SERVING {
		t.Errorf("health is %v", check.GetStatus())
	}
	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	resp, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range resp.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	if !strings.Contains(strings.Join(names, " "), "bank.v1.BankService") {
		t.Errorf("reflection lists %v", names)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("reflection ended with %v", err)
	}
}

func TestHealthAndReflection(t *testing.T) {
	checkHealthAndReflection(t, dial(t, start(t)))
}

func TestHealthAndReflectionInGraven(t *testing.T) {
	checkHealthAndReflection(t, dial(t, start(t), gravengrpc.DialOptions()...))
}

// A client that goes away in the middle of a feed ends it, and the server can
// still be shut down.
func TestClientGoesAway(t *testing.T) {
	addr := start(t)
	watch := &bankv1.FeedRequest{Action: &bankv1.FeedRequest_Watch{Watch: &bankv1.Watch{Account: 1}}}
	ctx, cancel := context.WithCancel(timeout(t))
	byGRPC, err := client.OverGRPC(dial(t, addr)).Feed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	byConnect, err := client.OverConnect(h2cClient(t), "http://"+addr).Feed(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(byGRPC.Send(watch), byConnect.Send(watch)); err != nil {
		t.Fatal(err)
	}
	if _, err := byGRPC.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err := byConnect.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := byGRPC.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("gRPC: %v", err)
	}
	if _, err := byConnect.Recv(); connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("Connect: %v", err)
	}
}

func TestTakenByGRPC(t *testing.T) {
	for contentType, want := range map[string]bool{
		"application/grpc":                      true,
		"application/grpc+proto":                true,
		"application/grpc+PROTO; charset=utf-8": true,
		"application/grpc+graven":               true,
		"application/grpc+json":                 false,
		"application/grpc-web":                  false,
		"application/grpc-web+proto":            false,
		"application/grpc-web+graven":           false,
		"application/graven":                    false,
		"application/proto":                     false,
		"":                                      false,
	} {
		if got := takenByGRPC(contentType); got != want {
			t.Errorf("%q: %v, want %v", contentType, got, want)
		}
	}
}
