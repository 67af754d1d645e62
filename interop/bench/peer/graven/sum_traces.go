package graven

import (
	"github.com/graven-rpc/graven/codec/wire"
	views "github.com/graven-rpc/graven/interop/bench/proto/otlp/v1/otlpv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func sumTraces(v views.TracesData) uint64 {
	rs := v.GetResourceSpans()
	s := scenario.NewSum().U(uint64(rs.Len()))
	for i := range rs.Len() {
		r := rs.At(i)
		if r.HasResource() {
			res := r.GetResource()
			refs := res.GetEntityRefs()
			s = addAttrs(s.U(1), res.GetAttributes()).U(uint64(res.GetDroppedAttributesCount())).U(uint64(refs.Len()))
			for e := range refs.All() {
				s = addStrings(addStrings(s.Str(e.GetSchemaUrl()).Str(e.GetType()), e.GetIdKeys()), e.GetDescriptionKeys())
			}
		} else {
			s = s.U(0)
		}
		ss := r.GetScopeSpans()
		s = s.U(uint64(ss.Len()))
		for j := range ss.Len() {
			s = addScope(s, ss.At(j))
		}
		s = s.Str(r.GetSchemaUrl())
	}
	return s.Value()
}

func addScope(s scenario.Sum, v views.ScopeSpans) scenario.Sum {
	if v.HasScope() {
		c := v.GetScope()
		s = addAttrs(s.U(1).Str(c.GetName()).Str(c.GetVersion()), c.GetAttributes()).U(uint64(c.GetDroppedAttributesCount()))
	} else {
		s = s.U(0)
	}
	l := v.GetSpans()
	s = s.U(uint64(l.Len()))
	for sp := range l.All() {
		s = addSpan(s, sp)
	}
	return s.Str(v.GetSchemaUrl())
}

func addSpan(s scenario.Sum, v views.Span) scenario.Sum {
	s = s.Bytes(v.GetTraceId()).Bytes(v.GetSpanId()).Str(v.GetTraceState()).Bytes(v.GetParentSpanId()).Str(v.GetName()).U(uint64(v.GetKind()))
	s = addAttrs(s.U(v.GetStartTimeUnixNano()).U(v.GetEndTimeUnixNano()), v.GetAttributes()).U(uint64(v.GetDroppedAttributesCount()))
	events := v.GetEvents()
	s = s.U(uint64(events.Len()))
	for e := range events.All() {
		s = addAttrs(s.U(e.GetTimeUnixNano()).Str(e.GetName()), e.GetAttributes()).U(uint64(e.GetDroppedAttributesCount()))
	}
	links := v.GetLinks()
	s = s.U(uint64(v.GetDroppedEventsCount())).U(uint64(links.Len()))
	for l := range links.All() {
		s = addAttrs(s.Bytes(l.GetTraceId()).Bytes(l.GetSpanId()).Str(l.GetTraceState()), l.GetAttributes())
		s = s.U(uint64(l.GetDroppedAttributesCount())).U(uint64(l.GetFlags()))
	}
	s = s.U(uint64(v.GetDroppedLinksCount()))
	if v.HasStatus() {
		st := v.GetStatus()
		s = s.U(1).Str(st.GetMessage()).U(uint64(st.GetCode()))
	} else {
		s = s.U(0)
	}
	return s.U(uint64(v.GetFlags()))
}

func addAttrs(s scenario.Sum, l wire.ViewList[views.KeyValue]) scenario.Sum {
	s = s.U(uint64(l.Len()))
	for kv := range l.All() {
		s = s.Str(kv.GetKey())
		if kv.HasValue() {
			s = addAny(s.U(1), kv.GetValue())
		} else {
			s = s.U(0)
		}
		s = s.U(uint64(kv.GetKeyStrindex()))
	}
	return s
}

func addAny(s scenario.Sum, v views.AnyValue) scenario.Sum {
	w := v.WhichValue()
	s = s.U(uint64(w))
	switch w {
	case views.AnyValue_StringValue_case:
		return s.Str(v.GetStringValue())
	case views.AnyValue_BoolValue_case:
		return s.B(v.GetBoolValue())
	case views.AnyValue_IntValue_case:
		return s.U(uint64(v.GetIntValue()))
	case views.AnyValue_DoubleValue_case:
		return s.F64(v.GetDoubleValue())
	case views.AnyValue_ArrayValue_case:
		l := v.GetArrayValue().GetValues()
		s = s.U(uint64(l.Len()))
		for e := range l.All() {
			s = addAny(s, e)
		}
		return s
	case views.AnyValue_KvlistValue_case:
		return addAttrs(s, v.GetKvlistValue().GetValues())
	case views.AnyValue_BytesValue_case:
		return s.Bytes(v.GetBytesValue())
	case views.AnyValue_StringValueStrindex_case:
		return s.U(uint64(v.GetStringValueStrindex()))
	}
	return s
}
