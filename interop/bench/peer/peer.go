// Package peer is the small interface through which every implementation is
// checked and measured. One package below it holds one implementation; package
// peers lists them.
package peer

import "github.com/graven-rpc/graven/interop/bench/scenario"

// Op is what a case does.
type Op string

// The operations. A format that is read in place has ReadAll, ReadOne and
// perhaps the verified ones; a format that is decoded has Decode, which stands
// beside ReadOne in tables, and ReadAll.
const (
	// Write goes from the application's data to finished bytes.
	Write Op = "write"
	// ReadAll opens or decodes the bytes and visits every value.
	ReadAll Op = "read all"
	// VerifyRead does so after verifying the whole message.
	VerifyRead Op = "verify and read all"
	// ReadOne opens the bytes, unverified, and reads one field.
	ReadOne Op = "read one field"
	// VerifyOne does so after verifying the whole message.
	VerifyOne Op = "verify and read one field"
	// Decode turns the bytes into ordinary objects and looks at one field.
	Decode Op = "decode"
	// Update opens the bytes and changes fields in place.
	Update Op = "update in place"
)

// Ops lists the operations in the order of the tables.
var Ops = []Op{Write, ReadAll, VerifyRead, Decode, ReadOne, VerifyOne, Update}

// Case is one way in which a peer does an operation. One of Write, Read and
// Update is set, as Op says.
type Case struct {
	Op Op
	// Variant tells the ways apart, such as "pooled".
	Variant string
	// Write returns the encoded message, valid until it is called again.
	Write func() []byte
	// Read returns the checksum for ReadAll and VerifyRead, and the value of
	// the one field for the others. It does not change buf.
	Read func(buf []byte) uint64
	// Update changes buf as the message's Update does.
	Update func(buf []byte)
	// Complete, where set, makes bytes that can be read of what Write has returned or
	// Update has changed.
	Complete func([]byte) []byte
	// Input, where set, is what Read and Update get in place of the instance's
	// bytes.
	Input []byte
}

// Instance is a peer set up for one message.
type Instance struct {
	// Encoded is the message in the peer's format.
	Encoded []byte
	Cases   []Case
}

// Peer is an implementation.
type Peer struct {
	// Name is what tables call it.
	Name string
	// Module is the Go module whose version a report names.
	Module string
	// Setup prepares the cases for a message, which it may keep but not change.
	// It returns nil for a message that the peer leaves out.
	Setup func(m scenario.Message) *Instance
}

// Builder collects the cases of an instance.
type Builder struct{ in Instance }

// Write adds a case; the first one's bytes are what reads get.
func (b *Builder) Write(variant string, f func() []byte) {
	if b.in.Encoded == nil {
		b.in.Encoded = append([]byte{}, f()...)
	}
	b.in.Cases = append(b.in.Cases, Case{Op: Write, Variant: variant, Write: f})
}

// WriteIncomplete adds a case whose bytes are a message only after complete.
func (b *Builder) WriteIncomplete(variant string, f func() []byte, complete func([]byte) []byte) {
	b.in.Cases = append(b.in.Cases, Case{Op: Write, Variant: variant, Write: f, Complete: complete})
}

// Encoded sets what reads get, for peers that do not write.
func (b *Builder) Encoded(p []byte) { b.in.Encoded = p }

// Read adds a case that reads.
func (b *Builder) Read(op Op, variant string, f func([]byte) uint64) {
	b.in.Cases = append(b.in.Cases, Case{Op: op, Variant: variant, Read: f})
}

// ReadFrom adds a case that reads other bytes than the instance's.
func (b *Builder) ReadFrom(input []byte, op Op, variant string, f func([]byte) uint64) {
	b.in.Cases = append(b.in.Cases, Case{Op: op, Variant: variant, Read: f, Input: input})
}

// Update adds a case that changes bytes in place.
func (b *Builder) Update(variant string, f func([]byte)) {
	b.in.Cases = append(b.in.Cases, Case{Op: Update, Variant: variant, Update: f})
}

// UpdateIncomplete adds a case whose bytes are a message again only after complete.
func (b *Builder) UpdateIncomplete(variant string, f func([]byte), complete func([]byte) []byte) {
	b.in.Cases = append(b.in.Cases, Case{Op: Update, Variant: variant, Update: f, Complete: complete})
}

// Instance returns what was built.
func (b *Builder) Instance() *Instance { return &b.in }

// Check panics on an error: a peer that fails on its own bytes has no numbers.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Must returns v, or panics on an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
