package mem

import "unsafe"

// SizeOf is the size of a T in bytes.
func SizeOf[T any]() int {
	var z T
	return int(unsafe.Sizeof(z))
}
