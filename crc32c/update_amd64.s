//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "avx512_amd64.h"

// Four chains' words; with 32*k bytes to a chain, R8 is the stride, and the chains
// start at SI (0, 1, 2), R9 (3, 4, 5) and R15 (6, 7).
#define CHAINS03(off) \
	CRC32Q off(SI), AX         \
	CRC32Q off(SI)(R8*1), BX   \
	CRC32Q off(SI)(R8*2), DX   \
	CRC32Q off(R9), R10

#define CHAINS47(off) \
	CRC32Q off(R9)(R8*1), R11  \
	CRC32Q off(R9)(R8*2), R12  \
	CRC32Q off(R15), R13       \
	CRC32Q off(R15)(R8*1), R14

// func update(crc uint32, p *byte, n int) uint32
//
// The entry point: it takes up to 16 bytes itself, and more of them with 512-bit
// registers. Where those are missing it jumps to another path, which finds the arguments
// where they are.
//
// 17 to 255 bytes are loaded as the end of up to four 64-byte registers, zeros before
// them, so that each of their words has one multiplier that takes it to the end of the
// input. From 256 bytes on, four accumulators fold 256 bytes at a time (Gopal et al.,
// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel,
// 2009), and from hybridFrom bytes on they fold the second half of the input while
// eight chains of CRC32Q go through eight parts of the first.
TEXT ·update(SB), NOSPLIT, $0-28
	MOVQ n+16(FP), CX
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	CMPB ·level(SB), $const_levelAVX512
	JNE  lessThanAVX512
	LEAQ -17(CX), DX
	CMPQ DX, $(64-17)
	JA   otherLength

	// The load begins up to 47 bytes before the input, but not before its page.
	SHIFTCHECKSUM(shifted17)
	VMOVDQU64 shortTables_mask(R8)(CX*1), Z18
	TESTL $4032, SI
	JZ    pageStart
	VPANDQ -64(SI)(CX*1), Z18, Z18

multiply:
	MULTIPLY(Z18, LASTWORDS(0), Z20, Z21)
	VPXORQ Z21, Z20, Z20

checksum:
	CHECKSUM
	MOVL AX, ret+24(FP)
	RET

pageStart:
	VMOVDQU64 shortTables_move(R8)(CX*1), Z19
	VPERMB (SI), Z19, Z19
	VPANDQ Z19, Z18, Z18
	JMP    multiply

otherLength:
	CMPQ CX, $16
	JBE  upTo16
	CMPQ CX, $256
	JAE  fold
	SHIFTCHECKSUM(shifted65)
	VMOVDQU64 -64(SI)(CX*1), Z28
	CMPQ CX, $128
	JA   above128
	MULTIPLY65TO128((SI), Z28)
	JMP  checksum

above128:
	VMOVDQU64 -128(SI)(CX*1), Z29
	CMPQ CX, $192
	JA   above192
	MULTIPLY129TO192((SI), Z29, Z28)
	JMP  checksum

above192:
	VMOVDQU64 -192(SI)(CX*1), Z30
	MULTIPLY193TO255((SI), Z30, Z29, Z28)
	JMP checksum

upTo16:
	TESTQ CX, CX
	JZ    none
	PAGEOFFSET
	JA    pageEnd
	NOTL  AX
	CRC1TO16
	NOTL  AX

none:
	MOVL AX, ret+24(FP)
	RET

pageEnd:
	JMP ·updateSSE42(SB)

	// 256 bytes and more.
fold:
	NOTL AX
	XORL R12, R12            // bytes after this block

foldBlock:
	CMPQ CX, ·hybridFrom(SB)
	JAE  hybrid
	VMOVD  AX, X20
	VPXORQ (SI), Z20, Z16
	VMOVDQU64 64(SI), Z17
	VMOVDQU64 128(SI), Z18
	VMOVDQU64 192(SI), Z19
	VBROADCASTI32X4 ·foldZMM+0(SB), Z28
	VBROADCASTI32X4 ·foldZMM+48(SB), Z31
	ADDQ $256, SI
	SUBQ $512, CX
	JB   reduce

fold256:
	FOLD(Z16, Z31, Z20, (SI))
	FOLD(Z17, Z31, Z21, 64(SI))
	FOLD(Z18, Z31, Z22, 128(SI))
	FOLD(Z19, Z31, Z23, 192(SI))
	ADDQ $256, SI
	SUBQ $256, CX
	JAE  fold256

	// CX+256 bytes follow, up to 255.
reduce:
	REDUCE
	ADDQ $(256-64), CX
	JS   tail

fold64:
	FOLD(Z16, Z28, Z20, (SI))
	ADDQ $64, SI
	SUBQ $64, CX
	JAE  fold64

	// CX+64 bytes follow, up to 63: the end of the 64 that end with the input.
tail:
	ADDQ $64, CX
	JZ   noTail
	MOVQ ·shortAligned(SB), R8
	VMOVDQU64 shortTables_mask(R8)(CX*1), Z18
	VPANDQ -64(SI)(CX*1), Z18, Z18
	MULTIPLYTAIL
	SUMLANES
	XORL   AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	NOTL   AX
	MOVL   AX, ret+24(FP)
	RET

noTail:
	MOVQ ·shortAligned(SB), R8
	MULTIPLY(Z16, LASTWORDS(0), Z20, Z21)
	VPXORQ Z21, Z20, Z20
	SUMLANES
	XORL   AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	TESTQ  R12, R12
	JNZ    nextBlock
	NOTL   AX
	MOVL   AX, ret+24(FP)
	RET

nextBlock:
	MOVQ R12, CX
	XORL R12, R12
	JMP  foldBlock

	// A block of k times 512 bytes: eight chains with 32 bytes an iteration each, and
	// behind them 256 bytes an iteration that are folded.
hybrid:
	CMPQ CX, $(512*const_blockAVX512+511)
	JA   blockOfMany

block:
	MOVQ R12, n+16(FP)       // all registers are used below
	MOVL CX, R8
	ANDL $511, R8
	MOVL R8, crc+0(FP)       // bytes after the iterations
	SHRQ $9, CX              // k
	VBROADCASTI32X4 ·foldZMM+48(SB), Z31
	VBROADCASTI32X4 ·foldZMM+0(SB), Z28
	MOVQ CX, R8
	SHLQ $5, R8
	LEAQ (R8)(R8*2), R9
	ADDQ SI, R9
	LEAQ (R9)(R8*2), R15
	ADDQ R8, R15
	LEAQ (R15)(R8*2), DI
	XORL BX, BX
	XORL DX, DX
	XORL R10, R10
	XORL R11, R11
	XORL R12, R12
	XORL R13, R13
	XORL R14, R14
	VMOVDQU64 (DI), Z16
	CHAINS03(0)
	CHAINS47(0)
	VMOVDQU64 64(DI), Z17
	CHAINS03(8)
	CHAINS47(8)
	VMOVDQU64 128(DI), Z18
	CHAINS03(16)
	CHAINS47(16)
	VMOVDQU64 192(DI), Z19
	CHAINS03(24)
	CHAINS47(24)
	ADDQ $32, SI
	ADDQ $32, R9
	ADDQ $32, R15
	ADDQ $256, DI
	DECQ CX
	JZ   join

	PCALIGN $64
hybridLoop:
	VPCLMULQDQ $0x00, Z31, Z16, Z20
	CHAINS03(0)
	VPCLMULQDQ $0x11, Z31, Z16, Z16
	CHAINS47(0)
	VPTERNLOGQ $0x96, (DI), Z20, Z16
	VPCLMULQDQ $0x00, Z31, Z17, Z21
	CHAINS03(8)
	VPCLMULQDQ $0x11, Z31, Z17, Z17
	CHAINS47(8)
	VPTERNLOGQ $0x96, 64(DI), Z21, Z17
	VPCLMULQDQ $0x00, Z31, Z18, Z22
	CHAINS03(16)
	VPCLMULQDQ $0x11, Z31, Z18, Z18
	CHAINS47(16)
	VPTERNLOGQ $0x96, 128(DI), Z22, Z18
	VPCLMULQDQ $0x00, Z31, Z19, Z23
	CHAINS03(24)
	VPCLMULQDQ $0x11, Z31, Z19, Z19
	CHAINS47(24)
	VPTERNLOGQ $0x96, 192(DI), Z23, Z19
	ADDQ $32, SI
	ADDQ $32, R9
	ADDQ $32, R15
	ADDQ $256, DI
	DECQ CX
	JNZ  hybridLoop

join:
	JOIN(AX, BX, DX, R10, R11, R12, R13, R14)
	MOVQ    DI, SI
	MOVL    crc+0(FP), CX
	MOVQ    n+16(FP), R12
	SUBQ    $256, CX
	JB      reduce
	JMP     fold256

blockOfMany:
	CMPQ CX, $const_pieceMax
	JA   pieces
	MOVQ CX, R12
	SUBQ $(512*const_blockAVX512), R12
	MOVL $(512*const_blockAVX512), CX
	JMP  block

pieces:
	JMP ·updatePieces(SB)

lessThanAVX512:
	CMPB ·level(SB), $const_levelSSE42
	JB   generic
	JMP  ·updateSSE42(SB)

generic:
	JMP ·updateBytes(SB)

// func isAMD() bool
TEXT ·isAMD(SB), NOSPLIT, $0-1
	XORL AX, AX
	CPUID
	CMPL BX, $0x68747541     // "Auth" of "AuthenticAMD"
	SETEQ ret+0(FP)
	RET
