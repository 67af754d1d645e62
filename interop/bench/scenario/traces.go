package scenario

import (
	"strings"

	otlp "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
)

//msgp:ignore Traces

// Traces is otlp: an OpenTelemetry trace export, protobuf's own schema as it is.
// Its plain Go structs are protobuf-go's.
type Traces struct{ *otlp.TracesData }

var (
	services = []string{"checkout", "cart", "payment-gateway", "inventory", "frontend", "recommendation"}
	spans    = []string{"GET /api/cart/{id}", "POST /api/orders", "SELECT orders", "publish order.created", "HGET session", "render product page", "charge"}
	textKeys = []string{"http.request.method", "url.path", "server.address", "user_agent.original", "db.system.name", "db.query.text", "messaging.destination.name", "network.protocol.version", "enduser.id", "peer.service"}
	intKeys  = []string{"http.response.status_code", "server.port", "thread.id", "http.response.body.size", "messaging.batch.message_count"}
	texts    = []string{"GET", "1.1", "postgresql", "/api/cart/12345", "checkout.internal", "orders.created", "203.0.113.17",
		"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
		"SELECT id, total, state FROM orders WHERE customer_id = $1 AND state <> $2 ORDER BY created_at DESC LIMIT 50"}
)

// NewTraces makes a trace export of n spans, whose attributes differ in number,
// type and length as those of a real service do. Integers are below 2^31, since
// hyperpb v0.1.3 reads no more than 32 bits of a oneof's 64-bit member.
func NewTraces(n int, seed uint64) *Traces {
	r := newSource(seed)
	t := new(otlp.TracesData)
	for left := n; left > 0; {
		rs := &otlp.ResourceSpans{
			Resource: &otlp.Resource{Attributes: []*otlp.KeyValue{
				textAttr("service.name", r.of(services)),
				textAttr("service.version", "1.14.2"),
				textAttr("service.instance.id", r.ascii(36)),
				textAttr("k8s.pod.name", "checkout-"+r.ascii(15)),
				textAttr("cloud.region", "eu-central-1"),
				textAttr("telemetry.sdk.language", "go"),
				intAttr("process.pid", r.Int64N(1<<16)),
				r.listAttr("process.command_args"),
			}},
			SchemaUrl: "https://opentelemetry.io/schemas/1.37.0",
		}
		for range 1 + r.IntN(3) {
			ss := &otlp.ScopeSpans{
				Scope:     &otlp.InstrumentationScope{Name: "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", Version: "0.62.0"},
				SchemaUrl: "https://opentelemetry.io/schemas/1.37.0",
			}
			for range min(left, 20+r.IntN(80)) {
				ss.Spans = append(ss.Spans, r.span())
				left--
			}
			if len(ss.Spans) > 0 {
				rs.ScopeSpans = append(rs.ScopeSpans, ss)
			}
		}
		t.ResourceSpans = append(t.ResourceSpans, rs)
	}
	return &Traces{t}
}

func (r source) id(n int) []byte { return []byte(r.ascii(n)) }

func (r source) span() *otlp.Span {
	start := 1_750_000_000_000_000_000 + r.Uint64N(1e12)
	s := &otlp.Span{
		TraceId: r.id(16), SpanId: r.id(8), Name: r.of(spans), Kind: otlp.Span_SpanKind(1 + r.IntN(5)),
		StartTimeUnixNano: start, EndTimeUnixNano: start + r.Uint64N(1e9), Flags: 0x101,
		Attributes: r.attrs(r.IntN(14)),
	}
	if r.IntN(8) > 0 {
		s.ParentSpanId = r.id(8)
	}
	for r.IntN(5) == 0 {
		s.Events = append(s.Events, &otlp.Span_Event{TimeUnixNano: start + r.Uint64N(1e6), Name: "exception", Attributes: r.attrs(r.IntN(4))})
	}
	if r.IntN(12) == 0 {
		s.Links = append(s.Links, &otlp.Span_Link{TraceId: r.id(16), SpanId: r.id(8)})
	}
	switch r.IntN(10) {
	case 0:
		s.Status = &otlp.Status{Code: otlp.Status_STATUS_CODE_ERROR, Message: "deadline exceeded"}
	case 1, 2, 3:
		s.Status = &otlp.Status{}
	}
	return s
}

func (r source) attrs(n int) []*otlp.KeyValue {
	var l []*otlp.KeyValue
	for range n {
		switch x := r.IntN(100); {
		case x < 62:
			v := r.of(texts)
			l = append(l, textAttr(r.of(textKeys), v[:1+r.IntN(len(v))]))
		case x < 85:
			l = append(l, intAttr(r.of(intKeys), r.Int64N(1<<(1+r.IntN(31)))))
		case x < 92:
			l = append(l, &otlp.KeyValue{Key: "error", Value: &otlp.AnyValue{Value: &otlp.AnyValue_BoolValue{BoolValue: r.coin()}}})
		case x < 96:
			l = append(l, &otlp.KeyValue{Key: "sampling.ratio", Value: &otlp.AnyValue{Value: &otlp.AnyValue_DoubleValue{DoubleValue: r.Float64()}}})
		case x < 98:
			l = append(l, &otlp.KeyValue{Key: "user", Value: &otlp.AnyValue{Value: &otlp.AnyValue_KvlistValue{
				KvlistValue: &otlp.KeyValueList{Values: []*otlp.KeyValue{textAttr("tenant", r.ascii(8)), intAttr("shard", r.Int64N(64))}}}}})
		case x < 99:
			l = append(l, &otlp.KeyValue{Key: "payload", Value: &otlp.AnyValue{Value: &otlp.AnyValue_BytesValue{BytesValue: r.id(r.IntN(24))}}})
		default:
			l = append(l, r.listAttr("tags"))
		}
	}
	return l
}

func text(v string) *otlp.AnyValue {
	return &otlp.AnyValue{Value: &otlp.AnyValue_StringValue{StringValue: v}}
}

func textAttr(k, v string) *otlp.KeyValue { return &otlp.KeyValue{Key: k, Value: text(v)} }

func intAttr(k string, v int64) *otlp.KeyValue {
	return &otlp.KeyValue{Key: k, Value: &otlp.AnyValue{Value: &otlp.AnyValue_IntValue{IntValue: v}}}
}

func (r source) listAttr(k string) *otlp.KeyValue {
	l := new(otlp.ArrayValue)
	for range 1 + r.IntN(4) {
		l.Values = append(l.Values, text(strings.ToLower(r.ascii(4+r.IntN(8)))))
	}
	return &otlp.KeyValue{Key: k, Value: &otlp.AnyValue{Value: &otlp.AnyValue_ArrayValue{ArrayValue: l}}}
}

// Sum implements Message.
func (t *Traces) Sum() uint64 { return SumTraces(t.TracesData) }

// One implements Message.
func (t *Traces) One() uint64 { return OneTraces(t.TracesData) }

// Update implements Message.
func (t *Traces) Update() {
	for _, rs := range t.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				s.EndTimeUnixNano = 1
			}
		}
	}
}

// OneTraces is the start of the first span of the last scope.
func OneTraces(t *otlp.TracesData) uint64 {
	ss := t.ResourceSpans[len(t.ResourceSpans)-1].ScopeSpans
	return ss[len(ss)-1].Spans[0].StartTimeUnixNano
}

// SumTraces is the sum over protobuf-go's structs.
func SumTraces(t *otlp.TracesData) uint64 {
	s := NewSum().U(uint64(len(t.ResourceSpans)))
	for _, rs := range t.ResourceSpans {
		if r := rs.Resource; r != nil {
			s = addAttrs(s.U(1), r.Attributes).U(uint64(r.DroppedAttributesCount)).U(uint64(len(r.EntityRefs)))
			for _, e := range r.EntityRefs {
				s = addStrings(addStrings(s.Str(e.SchemaUrl).Str(e.Type), e.IdKeys), e.DescriptionKeys)
			}
		} else {
			s = s.U(0)
		}
		s = s.U(uint64(len(rs.ScopeSpans)))
		for _, ss := range rs.ScopeSpans {
			if c := ss.Scope; c != nil {
				s = addAttrs(s.U(1).Str(c.Name).Str(c.Version), c.Attributes).U(uint64(c.DroppedAttributesCount))
			} else {
				s = s.U(0)
			}
			s = s.U(uint64(len(ss.Spans)))
			for _, sp := range ss.Spans {
				s = addSpan(s, sp)
			}
			s = s.Str(ss.SchemaUrl)
		}
		s = s.Str(rs.SchemaUrl)
	}
	return s.Value()
}

func addSpan(s Sum, sp *otlp.Span) Sum {
	s = s.Bytes(sp.TraceId).Bytes(sp.SpanId).Str(sp.TraceState).Bytes(sp.ParentSpanId).Str(sp.Name).U(uint64(sp.Kind))
	s = addAttrs(s.U(sp.StartTimeUnixNano).U(sp.EndTimeUnixNano), sp.Attributes).U(uint64(sp.DroppedAttributesCount))
	s = s.U(uint64(len(sp.Events)))
	for _, e := range sp.Events {
		s = addAttrs(s.U(e.TimeUnixNano).Str(e.Name), e.Attributes).U(uint64(e.DroppedAttributesCount))
	}
	s = s.U(uint64(sp.DroppedEventsCount)).U(uint64(len(sp.Links)))
	for _, l := range sp.Links {
		s = addAttrs(s.Bytes(l.TraceId).Bytes(l.SpanId).Str(l.TraceState), l.Attributes)
		s = s.U(uint64(l.DroppedAttributesCount)).U(uint64(l.Flags))
	}
	s = s.U(uint64(sp.DroppedLinksCount))
	if st := sp.Status; st != nil {
		s = s.U(1).Str(st.Message).U(uint64(st.Code))
	} else {
		s = s.U(0)
	}
	return s.U(uint64(sp.Flags))
}

func addAttrs(s Sum, l []*otlp.KeyValue) Sum {
	s = s.U(uint64(len(l)))
	for _, kv := range l {
		s = s.Str(kv.Key)
		if kv.Value != nil {
			s = addAny(s.U(1), kv.Value)
		} else {
			s = s.U(0)
		}
		s = s.U(uint64(kv.KeyStrindex))
	}
	return s
}

// addAny adds a oneof: the number of the member that is set, or 0, and its value.
func addAny(s Sum, v *otlp.AnyValue) Sum {
	switch x := v.Value.(type) {
	case *otlp.AnyValue_StringValue:
		return s.U(1).Str(x.StringValue)
	case *otlp.AnyValue_BoolValue:
		return s.U(2).B(x.BoolValue)
	case *otlp.AnyValue_IntValue:
		return s.U(3).U(uint64(x.IntValue))
	case *otlp.AnyValue_DoubleValue:
		return s.U(4).F64(x.DoubleValue)
	case *otlp.AnyValue_ArrayValue:
		s = s.U(5).U(uint64(len(x.ArrayValue.Values)))
		for _, e := range x.ArrayValue.Values {
			s = addAny(s, e)
		}
		return s
	case *otlp.AnyValue_KvlistValue:
		return addAttrs(s.U(6), x.KvlistValue.Values)
	case *otlp.AnyValue_BytesValue:
		return s.U(7).Bytes(x.BytesValue)
	case *otlp.AnyValue_StringValueStrindex:
		return s.U(8).U(uint64(x.StringValueStrindex))
	}
	return s.U(0)
}
