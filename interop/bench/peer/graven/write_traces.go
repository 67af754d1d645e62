package graven

import (
	otlp "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1"
	views "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1/otlpv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeTraces(w *views.TracesDataWriter, m *scenario.Traces) {
	rows := w.NewResourceSpans(len(m.ResourceSpans))
	for i, rs := range m.ResourceSpans {
		r := rows.At(i)
		if x := rs.Resource; x != nil {
			o := r.NewResource()
			writeAttrs(o.NewAttributes(len(x.Attributes)), x.Attributes)
			o.SetDroppedAttributesCount(x.DroppedAttributesCount)
			refs := o.NewEntityRefs(len(x.EntityRefs))
			for j, e := range x.EntityRefs {
				writeRef(refs.At(j), e)
			}
		}
		scopes := r.NewScopeSpans(len(rs.ScopeSpans))
		for j, ss := range rs.ScopeSpans {
			s := scopes.At(j)
			if x := ss.Scope; x != nil {
				o := s.NewScope()
				o.SetName(x.Name)
				o.SetVersion(x.Version)
				writeAttrs(o.NewAttributes(len(x.Attributes)), x.Attributes)
				o.SetDroppedAttributesCount(x.DroppedAttributesCount)
			}
			spans := s.NewSpans(len(ss.Spans))
			for k, sp := range ss.Spans {
				writeSpan(spans.At(k), sp)
			}
			s.SetSchemaUrl(ss.SchemaUrl)
		}
		r.SetSchemaUrl(rs.SchemaUrl)
	}
}

func writeSpan(r views.SpanRow, s *otlp.Span) {
	writeHead(r, s)
	writeAttrs(r.NewAttributes(len(s.Attributes)), s.Attributes)
	r.SetDroppedAttributesCount(s.DroppedAttributesCount)
	events := r.NewEvents(len(s.Events))
	for i, e := range s.Events {
		o := events.At(i)
		o.SetTimeUnixNano(e.TimeUnixNano)
		o.SetName(e.Name)
		writeAttrs(o.NewAttributes(len(e.Attributes)), e.Attributes)
		o.SetDroppedAttributesCount(e.DroppedAttributesCount)
	}
	r.SetDroppedEventsCount(s.DroppedEventsCount)
	links := r.NewLinks(len(s.Links))
	for i, l := range s.Links {
		o := links.At(i)
		o.SetTraceId(l.TraceId)
		o.SetSpanId(l.SpanId)
		o.SetTraceState(l.TraceState)
		writeAttrs(o.NewAttributes(len(l.Attributes)), l.Attributes)
		o.SetDroppedAttributesCount(l.DroppedAttributesCount)
		o.SetFlags(l.Flags)
	}
	writeEnd(r, s)
}

func writeAttrs(l views.KeyValueRows, attrs []*otlp.KeyValue) {
	for i, kv := range attrs {
		r := l.At(i)
		r.SetKey(kv.Key)
		if kv.Value != nil {
			writeAny(r.NewValue(), kv.Value)
		}
		r.SetKeyStrindex(kv.KeyStrindex)
	}
}

func writeAny(r views.AnyValueRow, v *otlp.AnyValue) {
	switch x := v.Value.(type) {
	case *otlp.AnyValue_ArrayValue:
		l := r.NewArrayValue().NewValues(len(x.ArrayValue.Values))
		for i, e := range x.ArrayValue.Values {
			writeAny(l.At(i), e)
		}
	case *otlp.AnyValue_KvlistValue:
		writeAttrs(r.NewKvlistValue().NewValues(len(x.KvlistValue.Values)), x.KvlistValue.Values)
	default:
		writeScalar(r, v)
	}
}

func buildTraces(w *views.TracesDataWriter, m *scenario.Traces) {
	rows := w.BuildResourceSpans()
	for _, rs := range m.ResourceSpans {
		r := rows.Append()
		if x := rs.Resource; x != nil {
			o := r.NewResource()
			buildAttrs(o.BuildAttributes(), x.Attributes)
			o.SetDroppedAttributesCount(x.DroppedAttributesCount)
			refs := o.BuildEntityRefs()
			for _, e := range x.EntityRefs {
				writeRef(refs.Append(), e)
			}
			refs.Close()
		}
		scopes := r.BuildScopeSpans()
		for _, ss := range rs.ScopeSpans {
			s := scopes.Append()
			if x := ss.Scope; x != nil {
				o := s.NewScope()
				o.SetName(x.Name)
				o.SetVersion(x.Version)
				buildAttrs(o.BuildAttributes(), x.Attributes)
				o.SetDroppedAttributesCount(x.DroppedAttributesCount)
			}
			spans := s.BuildSpans()
			for _, sp := range ss.Spans {
				buildSpan(spans.Append(), sp)
			}
			spans.Close()
			s.SetSchemaUrl(ss.SchemaUrl)
		}
		scopes.Close()
		r.SetSchemaUrl(rs.SchemaUrl)
	}
	rows.Close()
}

func buildSpan(r views.SpanRow, s *otlp.Span) {
	writeHead(r, s)
	buildAttrs(r.BuildAttributes(), s.Attributes)
	r.SetDroppedAttributesCount(s.DroppedAttributesCount)
	events := r.BuildEvents()
	for _, e := range s.Events {
		o := events.Append()
		o.SetTimeUnixNano(e.TimeUnixNano)
		o.SetName(e.Name)
		buildAttrs(o.BuildAttributes(), e.Attributes)
		o.SetDroppedAttributesCount(e.DroppedAttributesCount)
	}
	events.Close()
	r.SetDroppedEventsCount(s.DroppedEventsCount)
	links := r.BuildLinks()
	for _, l := range s.Links {
		o := links.Append()
		o.SetTraceId(l.TraceId)
		o.SetSpanId(l.SpanId)
		o.SetTraceState(l.TraceState)
		buildAttrs(o.BuildAttributes(), l.Attributes)
		o.SetDroppedAttributesCount(l.DroppedAttributesCount)
		o.SetFlags(l.Flags)
	}
	links.Close()
	writeEnd(r, s)
}

func buildAttrs(l views.KeyValueRows, attrs []*otlp.KeyValue) {
	for _, kv := range attrs {
		r := l.Append()
		r.SetKey(kv.Key)
		if kv.Value != nil {
			buildAny(r.NewValue(), kv.Value)
		}
		r.SetKeyStrindex(kv.KeyStrindex)
	}
	l.Close()
}

func buildAny(r views.AnyValueRow, v *otlp.AnyValue) {
	switch x := v.Value.(type) {
	case *otlp.AnyValue_ArrayValue:
		l := r.NewArrayValue().BuildValues()
		for _, e := range x.ArrayValue.Values {
			buildAny(l.Append(), e)
		}
		l.Close()
	case *otlp.AnyValue_KvlistValue:
		buildAttrs(r.NewKvlistValue().BuildValues(), x.KvlistValue.Values)
	default:
		writeScalar(r, v)
	}
}

func writeScalar(r views.AnyValueRow, v *otlp.AnyValue) {
	switch x := v.Value.(type) {
	case *otlp.AnyValue_StringValue:
		r.SetStringValue(x.StringValue)
	case *otlp.AnyValue_BoolValue:
		r.SetBoolValue(x.BoolValue)
	case *otlp.AnyValue_IntValue:
		r.SetIntValue(x.IntValue)
	case *otlp.AnyValue_DoubleValue:
		r.SetDoubleValue(x.DoubleValue)
	case *otlp.AnyValue_BytesValue:
		r.SetBytesValue(x.BytesValue)
	case *otlp.AnyValue_StringValueStrindex:
		r.SetStringValueStrindex(x.StringValueStrindex)
	}
}

func writeRef(r views.EntityRefRow, e *otlp.EntityRef) {
	r.SetSchemaUrl(e.SchemaUrl)
	r.SetType(e.Type)
	r.SetIdKeys(e.IdKeys)
	r.SetDescriptionKeys(e.DescriptionKeys)
}

// writeHead writes what comes before the span's lists.
func writeHead(r views.SpanRow, s *otlp.Span) {
	r.SetTraceId(s.TraceId)
	r.SetSpanId(s.SpanId)
	r.SetTraceState(s.TraceState)
	r.SetParentSpanId(s.ParentSpanId)
	r.SetName(s.Name)
	r.SetKind(s.Kind)
	r.SetStartTimeUnixNano(s.StartTimeUnixNano)
	r.SetEndTimeUnixNano(s.EndTimeUnixNano)
}

// writeEnd writes what comes behind them.
func writeEnd(r views.SpanRow, s *otlp.Span) {
	r.SetDroppedLinksCount(s.DroppedLinksCount)
	if st := s.Status; st != nil {
		r.NewStatus().Set(st.Message, st.Code)
	}
	r.SetFlags(s.Flags)
}
