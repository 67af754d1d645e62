//go:build !purego

package crc32c

import "golang.org/x/sys/cpu"

// The paths, each of which needs what the ones before it need.
const (
	levelGeneric = iota
	levelSSE42   // SSE4.2 and PCLMULQDQ
	levelAVX512  // AVX-512 F, VL, BW and DQ, VPCLMULQDQ and BMI2
)

// Lengths in bytes at which the assembly changes its way.
const (
	// chainsSSE42: six chains cost five multiplications to join.
	chainsSSE42 = 96
	// hybridSSE42: folding beside the chains costs another six.
	hybridSSE42 = 1280
	// blockSSE42 and blockAVX512 are the iterations, of 256 and 512 bytes, that the
	// tables of multipliers reach to.
	blockSSE42  = 128
	blockAVX512 = 64
	// copyHybrid and copyMax bound the hybrid loop of copyAVX512, 448 bytes an iteration.
	copyHybrid = 448
	copyMax    = 448*blockAVX512 + 447
)

// level selects the path. Tests change it.
var level uint8 = detect()

// detect returns the best path that the processor and the operating system support.
func detect() uint8 {
	x := &cpu.X86
	switch {
	case !x.HasSSE42 || !x.HasSSE41 || !x.HasPCLMULQDQ:
		return levelGeneric
	case !x.HasAVX512F || !x.HasAVX512VL || !x.HasAVX512BW || !x.HasAVX512DQ ||
		!x.HasAVX512VPCLMULQDQ || !x.HasBMI2:
		return levelSSE42
	default:
		return levelAVX512
	}
}

//go:noescape
func updateSSE42(crc uint32, p *byte, n int) uint32

//go:noescape
func updateAVX512(crc uint32, p *byte, n int) uint32

// copyAVX512 takes 256 to copyMax bytes, and dst and src that do not overlap.
//
//go:noescape
func copyAVX512(crc uint32, dst, src *byte, n int) uint32
