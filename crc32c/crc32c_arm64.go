//go:build !purego

package crc32c

import "golang.org/x/sys/cpu"

// The paths.
const (
	levelGeneric = iota
	levelCRC32   // CRC32 and PMULL
)

const (
	// chainsMin is the length in bytes from which four chains pay for joining them.
	chainsMin = 256
	// blockMax is the iterations, of 128 bytes, that the table of multipliers reaches to.
	//
	//lint:ignore U1000 for the assembly
	blockMax = 128
)

// level selects the path. Tests change it.
var level uint8 = detect()

// detect returns the best path that the processor supports.
func detect() uint8 {
	if cpu.ARM64.HasCRC32 && cpu.ARM64.HasPMULL {
		return levelCRC32
	}
	return levelGeneric
}

//go:noescape
func updateCRC32(crc uint32, p *byte, n int) uint32
