// Package scenario says what is measured: the messages as plain Go structs, the
// seeded generators that fill them, and the checksum that every implementation
// has to reproduce before one of its numbers counts.
//
// There are the four messages of the format's own benchmark (a bank's
// transaction, a game's frame, a sensor's telemetry and a chunk of bytes), three
// data sets of a public cross-format benchmark (log, mesh, savedata) and an
// OpenTelemetry trace export, which is protobuf's own schema as it is.
package scenario

//go:generate ../schema/gen.sh
