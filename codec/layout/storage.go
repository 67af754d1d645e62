package layout

import "fmt"

// Code is the three-bit code of a field in a shape.
type Code uint8

const (
	None  Code = iota // no such field
	Bool              // two bits, no slot
	Byte              // slot of 1
	Word              // slot of 4
	Long              // slot of 8
	Blob              // end of one string or bytes value
	Block             // end of a block: message, group, list of messages, map
	Ext               // K > 0: slot of K bytes; K = 0: end of a list of E-byte elements
)

// Storage says how a field is stored in a row.
type Storage struct {
	Code Code
	K    uint8 // bytes of the slot where Code is Ext; 0 for a list
	E    uint8 // bytes of a list's element, 0 for strings and bytes
}

// Variable reports whether the value stands in the tail, behind an end.
func (s Storage) Variable() bool {
	return s.Code == Blob || s.Code == Block || s.Code == Ext && s.K == 0
}

// List reports whether the value is a list of numbers, strings or inline messages.
func (s Storage) List() bool { return s.Code == Ext && s.K == 0 }

// Size is the slot's size in bytes; 0 for bools and variable values.
func (s Storage) Size() int {
	switch s.Code {
	case Byte:
		return 1
	case Word:
		return 4
	case Long:
		return 8
	case Ext:
		return int(s.K)
	}
	return 0
}

// numeric reports whether a number may stand there, of whatever width.
func (s Storage) numeric() bool {
	switch s.Code {
	case Bool, Byte, Word, Long:
		return true
	case Ext:
		return s.K == 2
	}
	return false
}

// numericList reports whether the elements may be numbers.
func (s Storage) numericList() bool {
	return s.List() && (s.E == 1 || s.E == 2 || s.E == 4 || s.E == 8)
}

// String names the storage for error messages and reports.
func (s Storage) String() string {
	switch s.Code {
	case None:
		return "nothing"
	case Bool:
		return "bool"
	case Byte:
		return "1-byte number"
	case Word:
		return "4-byte number"
	case Long:
		return "8-byte number"
	case Blob:
		return "string or bytes"
	case Block:
		return "messages"
	}
	switch {
	case s.K == 2:
		return "2 bytes"
	case s.K > 0:
		return fmt.Sprintf("inline message of %d bytes", s.K)
	case s.E == 0:
		return "list of strings or bytes"
	case s.E == 1:
		return "list of 1-byte elements"
	}
	return fmt.Sprintf("list of %d-byte elements", s.E)
}
