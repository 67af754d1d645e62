package gravengrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"

	"github.com/graven-rpc/graven/codec"
	"github.com/graven-rpc/graven/codec/internal/fallback"
)

// DialOption is an option of [DialOptions].
type DialOption func(*dialOptions)

type dialOptions struct {
	codec    encoding.CodecV2
	fallback *fallback.Memory
}

// WithOptions makes the client encode and decode with options of its own.
func WithOptions(o codec.Options) DialOption {
	return func(d *dialOptions) { d.codec = New(o) }
}

// WithFallback makes the client go on in protobuf with a server that does not speak
// Graven. A call that has shown it is made again, and for ten minutes the target
// is not asked again.
//
// A unary call is made again only if the server has said that it could not read
// the request, so that no handler has seen it. A stream is opened again if,
// besides, nothing was received on it, and at most 64 messages were sent, which are
// then sent again: until the first answer they must not be changed, as gRPC
// demands of messages that were sent anyway. Otherwise the call fails with
// [ErrNoCodec], and the next one is made in protobuf. CallOptions that report
// something at the end of a call, like grpc.OnFinish, see both.
//
// Without this option such a call fails with [ErrNoCodec].
func WithFallback() DialOption {
	return func(d *dialOptions) { d.fallback = fallback.NewMemory() }
}

// DialOptions makes a client speak Graven: all calls are made in it, with the
// registered codec or that of [WithOptions], unless a call says otherwise by
// grpc.CallContentSubtype or grpc.ForceCodecV2. A server that lacks the codec is told
// from other failures: the call fails with an error that says what the server has
// to import, status code Unimplemented, and matches [ErrNoCodec].
//
//	conn, err := grpc.NewClient(target, append(gravengrpc.DialOptions(), grpc.WithTransportCredentials(c))...)
//
// What the options know about servers they know by the target of the connection.
func DialOptions(opts ...DialOption) []grpc.DialOption {
	d := &dialOptions{codec: encoding.GetCodecV2(Name)}
	for _, o := range opts {
		o(d)
	}
	return []grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.CallContentSubtype(Name)),
		grpc.WithChainUnaryInterceptor(d.unary),
		grpc.WithChainStreamInterceptor(d.stream),
	}
}

// inGraven adds to the options of a call the codec to make it with. It reports
// false for a call that is not made in Graven.
func (d *dialOptions) inGraven(opts []grpc.CallOption) (with []grpc.CallOption, ok bool) {
	subtype := ""
	c := d.codec
	for _, o := range opts {
		switch o := o.(type) {
		case grpc.ContentSubtypeCallOption:
			subtype = o.ContentSubtype
		case grpc.ForceCodecV2CallOption:
			if c, ok = o.CodecV2.(*grpcCodec); !ok {
				return opts, false
			}
		case grpc.ForceCodecCallOption, grpc.CustomCodecCallOption:
			return opts, false // a codec of the first interface is never ours
		}
	}
	if subtype != Name {
		return opts, false
	}
	return append(opts[:len(opts):len(opts)], grpc.ForceCodecV2(clientCodec{c})), true
}

// inProtobuf adds to the options of a call what makes it a plain protobuf call.
func inProtobuf(opts []grpc.CallOption) []grpc.CallOption {
	return append(opts[:len(opts):len(opts)], grpc.ForceCodecV2(nil), grpc.CallContentSubtype(""))
}

func (d *dialOptions) unary(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	graven, ok := d.inGraven(opts)
	if !ok {
		return invoke(ctx, method, req, reply, cc, opts...)
	}
	target := cc.Target()
	if d.fallback != nil && d.fallback.Has(target) {
		return invoke(ctx, method, req, reply, cc, inProtobuf(opts)...)
	}
	err := invoke(ctx, method, req, reply, cc, graven...)
	if err == nil {
		return nil
	}
	said := status.Convert(err)
	switch judge(said) {
	case unknown:
		return err
	case otherEncoding:
		// The handler has run, so it must not run again.
		d.remember(target)
	case unread:
		if d.fallback == nil {
			break
		}
		again := invoke(ctx, method, req, reply, cc, inProtobuf(opts)...)
		if again == nil || judge(status.Convert(again)) == unknown {
			d.remember(target)
		}
		return again
	}
	return d.noCodec(target, method, said)
}

func (d *dialOptions) remember(target string) {
	if d.fallback != nil {
		d.fallback.Add(target)
	}
}
