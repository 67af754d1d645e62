//go:build !purego

package crc32c

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// The paths, each of which needs what the ones before it need.
const (
	levelGeneric = iota
	levelSSE42   // SSE4.2 and PCLMULQDQ
	levelAVX512  // AVX-512 F, VL, BW, DQ and VBMI, VPCLMULQDQ and BMI2
)

// Lengths in bytes at which the assembly changes its way.
const (
	// chainsSSE42 is where six chains pay for the five multiplications that join them. One
	// chain waits for its latency, but calls that follow each other overlap.
	// chainsAfterSSE42 is the same where nothing follows that could.
	chainsSSE42      = 192
	chainsAfterSSE42 = 64
	// hybridSSE42 is where folding beside the chains pays for another six. The table for
	// chains alone ends there.
	hybridSSE42 = 2048
	// hybridAVX512: eight chains beside the folding cost ten instructions and two
	// multiplications, one after the other, to join.
	hybridAVX512 = 1024
	// blockSSE42 and blockAVX512 are the iterations, of 304 and 512 bytes, that the
	// tables of multipliers reach to.
	blockSSE42  = 108
	blockAVX512 = 148
)

// shortTables are in one piece so that one register addresses all of them.
type shortTables struct {
	// lastWords[i] takes word i of the last 256 bytes of a message to its last 16 bytes.
	lastWords [32]uint64
	// shift[n] takes a CRC register over n bytes.
	shift [256]uint64
	// inverted[n] makes up for not inverting a CRC register before and after n bytes.
	inverted [256]uint64
	// mask[n:] selects the last n of 64 bytes.
	mask [128]byte
	// move[n:] are the indices that make the first n of 64 bytes the last.
	move [128]byte
}

// shortAligned is short at a multiple of 64, where the linker puts it half of the time
// only: every register of multipliers is then loaded from one cache line instead of two.
var shortAligned = func() *shortTables {
	if uintptr(unsafe.Pointer(&short))%64 == 0 {
		return &short
	}
	space := make([]byte, unsafe.Sizeof(short)+63)
	p := unsafe.Pointer(unsafe.SliceData(space))
	t := (*shortTables)(unsafe.Add(p, -uintptr(p)&63))
	*t = short
	return t
}()

// level selects the path. Tests change it.
var level uint8 = detect()

// hybridFrom and copyHybridFrom are where update and copyApart have chains beside the folding:
// on AMD's processors, which run several CRC32Q in the two cycles of a multiplication.
// Intel's run one of each a cycle, so that chains make folding wait. Tests change both.
var hybridFrom, copyHybridFrom = hybridLengths(isAMD())

func hybridLengths(amd bool) (update, copied int) {
	if amd {
		return hybridAVX512, copyHybrid
	}
	return pieceMax + 1, pieceMax + 1 // more than one call takes
}

// isAMD reports whether the processor says that AMD made it.
func isAMD() bool

// detect returns the best path that the processor and the operating system support.
func detect() uint8 {
	x := &cpu.X86
	switch {
	case !x.HasSSE42 || !x.HasSSE41 || !x.HasPCLMULQDQ:
		return levelGeneric
	case !x.HasAVX512F || !x.HasAVX512VL || !x.HasAVX512BW || !x.HasAVX512DQ ||
		!x.HasAVX512VBMI || !x.HasAVX512VPCLMULQDQ || !x.HasBMI2:
		return levelSSE42
	default:
		return levelAVX512
	}
}

//go:noescape
func updateSSE42(crc uint32, p *byte, n int) uint32
