// Package scenario says what is measured: the messages as plain Go structs, the
// seeded generators that fill them, and the checksum that every implementation
// has to reproduce before one of its numbers counts.
//
// There are the four messages of the format's own benchmark (a bank's
// transaction, a game's frame, a sensor's telemetry and a chunk of bytes) and
// three data sets of a public cross-format benchmark (log, mesh, savedata). The
// eighth, OpenTelemetry's trace export, is protobuf's own schema and has its
// generator beside its messages, in package otlpdata.
package scenario

//go:generate ../schema/gen.sh
