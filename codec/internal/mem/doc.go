// Package mem is the fence around unsafe: loads, stores and copies at offsets that
// its callers have checked. With the tag nounsafe, and on big-endian machines, a twin
// on slices stands in its place, and every test runs on both.
package mem

// Flags say what went wrong with writes.
type Flags uint8

const (
	Over    Flags = 1 << iota // there was no room
	Invalid                   // a string is not UTF-8
)
