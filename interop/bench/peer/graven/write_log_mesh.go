package graven

import (
	"github.com/graven-rpc/graven/interop/bench/proto/log/v1/logv1graven"
	"github.com/graven-rpc/graven/interop/bench/proto/mesh/v1/meshv1graven"
	"github.com/graven-rpc/graven/interop/bench/scenario"
)

func writeLogs(w *logv1graven.LogsWriter, m *scenario.Logs) {
	l := w.NewLogs(len(m.Logs))
	for i := range m.Logs {
		e := &m.Logs[i]
		a := address(e.Address)
		l.Set(i, &a, e.Identity, e.UserID, e.Date, e.Request, uint32(e.Code), e.Size)
	}
}

func buildLogs(w *logv1graven.LogsWriter, m *scenario.Logs) {
	l := w.BuildLogs()
	for i := range m.Logs {
		e := &m.Logs[i]
		a := address(e.Address)
		l.Add(&a, e.Identity, e.UserID, e.Date, e.Request, uint32(e.Code), e.Size)
	}
	l.Close()
}

func address(a scenario.Address) logv1graven.AddressValue {
	return logv1graven.AddressValue{X0: uint32(a.X0), X1: uint32(a.X1), X2: uint32(a.X2), X3: uint32(a.X3)}
}

func writeMesh(w *meshv1graven.MeshWriter, m *scenario.Mesh) {
	l := w.NewTriangles(len(m.Triangles))
	for i := range m.Triangles {
		l.Set(i, triangle(&m.Triangles[i]))
	}
}

func buildMesh(w *meshv1graven.MeshWriter, m *scenario.Mesh) {
	l := w.BuildTriangles()
	for i := range m.Triangles {
		l.Append(triangle(&m.Triangles[i]))
	}
	l.Close()
}

func triangle(t *scenario.Triangle) meshv1graven.TriangleValue {
	return meshv1graven.TriangleValue{V0: point(t.V0), V1: point(t.V1), V2: point(t.V2), Normal: point(t.Normal)}
}

func point(v scenario.Vec3) meshv1graven.Vec3Value {
	return meshv1graven.Vec3Value{X: v.X, Y: v.Y, Z: v.Z}
}
