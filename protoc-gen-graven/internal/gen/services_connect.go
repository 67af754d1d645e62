package gen

import (
	"fmt"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/descriptorpb"
)

func (g *servicePrinter) connectServices() {
	g.P("// Calls without wrappers for requests and responses, as connect-go from v1.19.0 on has them.")
	g.P("const _ = ", g.id(connectPackage, "IsAtLeastVersion1_13_0"))
	g.P()
	for _, s := range g.file.Services {
		g.P("// ", s.GoName, "Name is the full name of the service.")
		g.P("const ", s.GoName, `Name = "`, s.Desc.FullName(), `"`)
		g.P()
		if len(s.Methods) > 0 {
			g.P("// The paths of the service's methods.")
			g.P("const (")
			for _, m := range s.Methods {
				g.P(procedure(m), ` = "`, methodPath(m), `"`)
			}
			g.P(")")
			g.P()
		}
		g.connectClient(s)
		g.connectServer(s)
	}
}

func procedure(m *protogen.Method) string { return m.Parent.GoName + m.GoName + "Procedure" }

// connectCall is the signature of a client's method.
func (g *servicePrinter) connectCall(m *protogen.Method) string {
	in, out := g.carrier(m.Input), g.carrier(m.Output)
	client, server := m.Desc.IsStreamingClient(), m.Desc.IsStreamingServer()
	switch {
	case client && server:
		return fmt.Sprintf("%s(ctx %s) (*%s[%s, %s], error)", m.GoName, g.context(), g.id(connectPackage, "BidiStreamForClientSimple"), in, out)
	case client:
		return fmt.Sprintf("%s(ctx %s) (*%s[%s, %s], error)", m.GoName, g.context(), g.id(connectPackage, "ClientStreamForClientSimple"), in, out)
	case server:
		return fmt.Sprintf("%s(ctx %s, in *%s) (*%s[%s], error)", m.GoName, g.context(), in, g.id(connectPackage, "ServerStreamForClient"), out)
	}
	return fmt.Sprintf("%s(ctx %s, in *%s) (*%s, error)", m.GoName, g.context(), in, out)
}

// field is the name of what a client keeps for a method.
func clientField(m *protogen.Method) string { return "call" + m.GoName }

// options prints the options of a method's client or handler that the schema decides.
func (g *servicePrinter) connectOptions(m *protogen.Method) {
	g.P(g.id(connectPackage, "WithSchema"), `(methods.ByName("`, m.Desc.Name(), `")),`)
	o, _ := m.Desc.Options().(*descriptorpb.MethodOptions)
	switch o.GetIdempotencyLevel() {
	case descriptorpb.MethodOptions_NO_SIDE_EFFECTS:
		g.P(g.id(connectPackage, "WithIdempotency"), "(", g.id(connectPackage, "IdempotencyNoSideEffects"), "),")
	case descriptorpb.MethodOptions_IDEMPOTENT:
		g.P(g.id(connectPackage, "WithIdempotency"), "(", g.id(connectPackage, "IdempotencyIdempotent"), "),")
	}
}

func (g *servicePrinter) descriptors(s *protogen.Service) {
	if len(s.Methods) > 0 {
		g.P("methods := ", g.QualifiedGoIdent(g.file.GoDescriptorIdent), `.Services().ByName("`, s.Desc.Name(), `").Methods()`)
	}
}

func (g *servicePrinter) connectClient(s *protogen.Service) {
	name := s.GoName + "Client"
	impl := paramName(s.GoName) + "Client"
	g.P("// ", name, " calls ", s.Desc.FullName(), " with frames.")
	g.P("type ", name, " interface {")
	for _, m := range s.Methods {
		g.methodDoc(m)
		g.P(g.connectCall(m))
	}
	g.P("}")
	g.P()
	g.P("// New", name, " returns a client of the service at a URL. Without options it speaks the Connect protocol in")
	g.P("// protobuf; package gravenconnect has those for Graven.")
	g.P("func New", name, "(c ", g.id(connectPackage, "HTTPClient"), ", url string, opts ...", g.id(connectPackage, "ClientOption"), ") ", name, " {")
	if len(s.Methods) > 0 {
		g.P("url = ", g.id(stringsPackage, "TrimRight"), `(url, "/")`)
	}
	g.descriptors(s)
	g.P("return &", impl, "{")
	for _, m := range s.Methods {
		g.P(clientField(m), ": ", g.id(connectPackage, "NewClient"), "[", g.carrier(m.Input), ", ", g.carrier(m.Output), "](c, url+", procedure(m), ",")
		g.connectOptions(m)
		g.P(g.id(connectPackage, "WithClientOptions"), "(opts...),")
		g.P("),")
	}
	g.P("}")
	g.P("}")
	g.P()
	g.P("type ", impl, " struct {")
	for _, m := range s.Methods {
		g.P(clientField(m), " *", g.id(connectPackage, "Client"), "[", g.carrier(m.Input), ", ", g.carrier(m.Output), "]")
	}
	g.P("}")
	g.P()
	for _, m := range s.Methods {
		g.P("func (c *", impl, ") ", g.connectCall(m), " {")
		call := "c." + clientField(m)
		client, server := m.Desc.IsStreamingClient(), m.Desc.IsStreamingServer()
		switch {
		case client && server:
			g.P("return ", call, ".CallBidiStreamSimple(ctx)")
		case client:
			g.P("return ", call, ".CallClientStreamSimple(ctx)")
		case server:
			g.P("return ", call, ".CallServerStream(ctx, ", g.id(connectPackage, "NewRequest"), "(in))")
		default:
			g.P("response, err := ", call, ".CallUnary(ctx, ", g.id(connectPackage, "NewRequest"), "(in))")
			g.P("if response == nil {")
			g.P("return nil, err")
			g.P("}")
			g.P("return response.Msg, err")
		}
		g.P("}")
		g.P()
	}
}

// connectServe is the signature of a handler's method.
func (g *servicePrinter) connectServe(m *protogen.Method) string {
	in, out := g.carrier(m.Input), g.carrier(m.Output)
	client, server := m.Desc.IsStreamingClient(), m.Desc.IsStreamingServer()
	switch {
	case client && server:
		return fmt.Sprintf("%s(%s, *%s[%s, %s]) error", m.GoName, g.context(), g.id(connectPackage, "BidiStream"), in, out)
	case client:
		return fmt.Sprintf("%s(%s, *%s[%s]) (*%s, error)", m.GoName, g.context(), g.id(connectPackage, "ClientStream"), in, out)
	case server:
		return fmt.Sprintf("%s(%s, *%s, *%s[%s]) error", m.GoName, g.context(), in, g.id(connectPackage, "ServerStream"), out)
	}
	return fmt.Sprintf("%s(%s, *%s) (*%s, error)", m.GoName, g.context(), in, out)
}

func (g *servicePrinter) connectServer(s *protogen.Service) {
	name := s.GoName + "Handler"
	g.P("// ", name, " serves ", s.Desc.FullName(), " with frames. The frame of a request is the handler's, which may release")
	g.P("// it when it is done with it; that of a response must not be released.")
	g.P("type ", name, " interface {")
	for _, m := range s.Methods {
		g.methodDoc(m)
		g.P(g.connectServe(m))
	}
	g.P("}")
	g.P()
	g.P("// New", name, " returns the path of the service and the HTTP handler for it. Without options it takes the")
	g.P("// Connect, gRPC and gRPC-Web protocols in protobuf and JSON; package gravenconnect has those for Graven.")
	g.P("func New", name, "(svc ", name, ", opts ...", g.id(connectPackage, "HandlerOption"), ") (string, ", g.id(httpPackage, "Handler"), ") {")
	g.descriptors(s)
	g.P("mux := ", g.id(httpPackage, "NewServeMux"), "()")
	for _, m := range s.Methods {
		client, server := m.Desc.IsStreamingClient(), m.Desc.IsStreamingServer()
		kind := "NewUnaryHandlerSimple"
		switch {
		case client && server:
			kind = "NewBidiStreamHandler"
		case client:
			kind = "NewClientStreamHandlerSimple"
		case server:
			kind = "NewServerStreamHandlerSimple"
		}
		g.P("mux.Handle(", procedure(m), ", ", g.id(connectPackage, kind), "(", procedure(m), ", svc.", m.GoName, ",")
		g.connectOptions(m)
		g.P(g.id(connectPackage, "WithHandlerOptions"), "(opts...),")
		g.P("))")
	}
	g.P(`return "/`, s.Desc.FullName(), `/", mux`)
	g.P("}")
	g.P()
	g.P("// Unimplemented", name, " refuses all calls. Embed it in a handler, so that methods which the schema gains")
	g.P("// later are refused until they are written.")
	g.P("type Unimplemented", name, " struct{}")
	g.P()
	g.P("var _ ", name, " = Unimplemented", name, "{}")
	g.P()
	for _, m := range s.Methods {
		nothing := "nil, "
		if m.Desc.IsStreamingServer() {
			nothing = ""
		}
		g.P("func (Unimplemented", name, ") ", g.connectServe(m), " {")
		g.P("return ", nothing, g.id(connectPackage, "NewError"), "(", g.id(connectPackage, "CodeUnimplemented"), ", ",
			g.id(errorsPackage, "New"), `("`, m.Desc.FullName(), ` is not implemented"))`)
		g.P("}")
		g.P()
	}
}
