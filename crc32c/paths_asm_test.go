//go:build !purego && (amd64 || arm64)

package crc32c

import "unsafe"

// withLevel runs f on the given path.
func withLevel(l uint8, f func()) {
	was := level
	defer func() { level = was }()
	level = l
	f()
}

func atPointer(f func(crc uint32, p *byte, n int) uint32) func(uint32, []byte) uint32 {
	return func(crc uint32, p []byte) uint32 { return f(crc, unsafe.SliceData(p), len(p)) }
}
