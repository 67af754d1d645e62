package validate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/gravengrpc"
	"github.com/graven-rpc/graven/interop/validate/orders"
	"github.com/graven-rpc/graven/interop/validate/orders/ordersgraven"
	"github.com/graven-rpc/graven/interop/validate/orders/ordersgravengrpc"
)

type (
	order   = codec.Frame[ordersgraven.Order]
	receipt = codec.Frame[ordersgraven.Receipt]
)

func good() *orders.Order {
	return &orders.Order{
		Id:        "5f0c6d5e-8f5a-4b5e-9a0e-0b5f3c1d2e4f",
		Email:     "ada@example.com",
		Lines:     []*orders.Line{{Sku: "AB-1", Count: 2}, {Sku: "CD-20", Count: 50}},
		Labels:    map[string]string{"origin": "web"},
		Placed:    timestamppb.New(time.Unix(1_700_000_000, 0)),
		Payment:   &orders.Order_Card{Card: "4111111111111111"},
		Signature: []byte("12345678"),
	}
}

// cases are changes to a good order, each with the field and the rule that it breaks.
var cases = map[string]struct {
	change     func(*orders.Order)
	violations string
}{
	"nothing":        {func(*orders.Order) {}, ""},
	"the other arm":  {func(o *orders.Order) { o.Payment = &orders.Order_Account{Account: 1} }, ""},
	"no uuid":        {func(o *orders.Order) { o.Id = "5f0c6d5e" }, "id string.uuid"},
	"no address":     {func(o *orders.Order) { o.Email = "ada" }, "email string.email"},
	"no lines":       {func(o *orders.Order) { o.Lines = nil }, "lines repeated.min_items"},
	"inside a line":  {func(o *orders.Order) { o.Lines[1].Count = 51; o.Lines[1].Sku = "x" }, "lines[1].sku string.pattern, lines[1].count uint32.gt_lte"},
	"a count of 0":   {func(o *orders.Order) { o.Lines[0].Count = 0 }, "lines[0].count uint32.gt_lte"},
	"a key of a map": {func(o *orders.Order) { o.Labels["X"] = "" }, `labels["X"] string.pattern`},
	"no time":        {func(o *orders.Order) { o.Placed = nil }, "placed required"},
	"no payment":     {func(o *orders.Order) { o.Payment = nil }, "payment required"},
	"a zero arm":     {func(o *orders.Order) { o.Payment = &orders.Order_Account{} }, "account uint64.gt"},
	"a gift":         {func(o *orders.Order) { o.Gift = true }, " gift.has_note"},
	"a long note":    {func(o *orders.Order) { o.Note = proto.String(strings.Repeat("n", 21)) }, "note string.max_len"},
	"bytes":          {func(o *orders.Order) { o.Signature = []byte("1") }, "signature bytes.len"},
}

// violations is what protovalidate says of a message: fields and rules.
func violations(t *testing.T, m proto.Message) string {
	t.Helper()
	err := protovalidate.Validate(m)
	if err == nil {
		return ""
	}
	var invalid *protovalidate.ValidationError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	var all []string
	for _, v := range invalid.Violations {
		all = append(all, protovalidate.FieldPathString(v.Proto.GetField())+" "+v.Proto.GetRuleId())
	}
	return strings.Join(all, ", ")
}

// protovalidate says the same of a frame as of the message, also after an edit, and leaves the
// frame as it was.
func TestRulesOnFrames(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := good()
			c.change(m)
			if got := violations(t, m); got != c.violations {
				t.Fatalf("the message: %s, want %s", got, c.violations)
			}
			bytesOf, err := codec.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			f, err := codec.Open[ordersgraven.Order](bytes.Clone(bytesOf))
			if err != nil {
				t.Fatal(err)
			}
			if got := violations(t, f); got != c.violations {
				t.Errorf("the frame: %s, want %s", got, c.violations)
			}
			if f.View().GetEmail() != m.Email || f.View().GetLines().Len() != len(m.Lines) || !proto.Equal(f, m) {
				t.Errorf("the frame is %v", f)
			}
			if b, err := f.Bytes(); err != nil || !bytes.Equal(b, bytesOf) {
				t.Errorf("the bytes are others: %v", err)
			}
		})
	}
	f, err := codec.NewFrame[ordersgraven.Order](good())
	if err != nil {
		t.Fatal(err)
	}
	if got := violations(t, f); got != "" {
		t.Error(got)
	}
	v, err := f.Edit()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.GetLines().At(0).SetCount(99); err != nil {
		t.Fatal(err)
	}
	if got := violations(t, f); got != "lines[0].count uint32.gt_lte" {
		t.Errorf("after an edit: %q", got)
	}
}

// service answers with how the order was paid, as it sees it.
type service struct {
	ordersgravengrpc.UnimplementedOrderServiceServer
}

func (service) Place(_ context.Context, req *order) (*receipt, error) {
	v := req.View()
	return codec.NewFrame[ordersgraven.Receipt](&orders.Receipt{Order: v.GetId(), PaidBy: v.GetCard()})
}

// validating refuses requests that break rules.
func validating(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := protovalidate.Validate(req.(proto.Message)); err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return next(ctx, req)
}

// redacting hides all but the end of every string field called card.
func redacting(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	m := req.(proto.Message).ProtoReflect()
	m.Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if fd.Name() == "card" {
			m.Set(fd, protoreflect.ValueOfString("..."+v.String()[len(v.String())-4:]))
		}
		return true
	})
	return next(ctx, req)
}

// A server on frames with interceptors that know nothing of frames, called by ordinary clients
// in Graven and in protobuf.
func TestInterceptors(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.ChainUnaryInterceptor(validating, redacting))
	ordersgravengrpc.RegisterOrderServiceServer(s, service{})
	go func() { _ = s.Serve(lis) }() // a call would fail
	defer s.Stop()
	for encoding, options := range map[string][]grpc.DialOption{"graven": gravengrpc.DialOptions(), "protobuf": nil} {
		conn, err := grpc.NewClient(lis.Addr().String(), append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for name, c := range cases {
			m := good()
			c.change(m)
			var got orders.Receipt
			err := conn.Invoke(t.Context(), "/graven.interop.orders.OrderService/Place", m, &got)
			if c.violations != "" {
				if status.Code(err) != codes.InvalidArgument {
					t.Errorf("%s, %s: %v", encoding, name, err)
				}
				continue
			}
			want := ""
			if m.GetCard() != "" {
				want = "...1111"
			}
			if err != nil || got.Order != m.Id || got.PaidBy != want {
				t.Errorf("%s, %s: %v, %v", encoding, name, &got, err)
			}
		}
	}
}

// What is committed is what the plugins generate.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./generate", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		want, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what is generated (go generate ./... writes it): %v", name, err)
		}
		return nil
	})
	if err != nil || files < 4 {
		t.Errorf("%d files, %v", files, err)
	}
}
