//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The 512-bit code keeps to Z16 and above: these have no part that SSE code uses, so
// no VZEROUPPER is needed.

// low, high = the carry-less products of the lower and the upper words of the lanes.
#define MULTIPLY(in, mul, low, high) \
	VPCLMULQDQ $0x00, mul, in, low \
	VPCLMULQDQ $0x11, mul, in, high

// Moves acc on by the distance of mul and adds in, a register or memory.
#define FOLD(acc, mul, tmp, in) \
	VPCLMULQDQ $0x00, mul, acc, tmp  \
	VPCLMULQDQ $0x11, mul, acc, acc  \
	VPTERNLOGQ $0x96, in, tmp, acc

// Adds the lanes of Z20 up, as BX:DX; uses Z21.
#define SUMLANES \
	VEXTRACTI64X4 $1, Z20, Y21   \
	VPXORQ        Y21, Y20, Y20  \
	VEXTRACTI32X4 $1, Y20, X21   \
	VPXORQ        X21, X20, X20  \
	VMOVQ         X20, DX        \
	VPEXTRQ       $1, X20, BX

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

// func updateAVX512(crc uint32, p *byte, n int) uint32
//
// n is at least 1.
//
// Up to 255 bytes are loaded as the end of up to four 64-byte registers, zeros before
// them, so that each of their words has one multiplier that takes it to the end of the
// input. From 256 bytes on, four accumulators fold 256 bytes at a time (Gopal et al.,
// "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel,
// 2009), and from 512 bytes on they fold the second half of the input while eight
// chains of CRC32Q go through eight parts of the first.
TEXT ·updateAVX512(SB), NOSPLIT, $0-28
	MOVQ n+16(FP), CX
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	NOTL AX
	CMPQ CX, $256
	JAE  fold

	// X17: what the register comes to after the input, apart from what the input is.
	// It is added last: calls that depend on each other wait for little else.
	LEAQ       ·shiftBytes(SB), R8
	VMOVD      256(R8)(CX*4), X16
	VMOVD      AX, X17
	VPCLMULQDQ $0, X16, X17, X17

	// The first load begins up to 63 bytes before the input. They are masked, but
	// where their page is missing, the processor takes very long to ignore it.
	MOVQ  CX, DX
	NEGQ  DX
	MOVQ  $-1, R9
	SHLXQ DX, R9, R10
	KMOVQ R10, K1
	ANDL  $63, DX
	MOVL  SI, BX
	ANDL  $4095, BX
	CMPL  BX, DX
	JB    pageStart

	LEAQ ·lastWords(SB), R8
	VMOVDQU64 192(R8), Z19
	CMPQ CX, $64
	JA   above64
	VMOVDQU8.Z -64(SI)(CX*1), K1, Z18
	MULTIPLY(Z18, Z19, Z20, Z21)

words:
	VPXORQ Z21, Z20, Z20
	SUMLANES
	VMOVQ  X17, DI
	XORL   AX, AX
	CRC32Q DX, AX
	XORQ   DI, BX
	CRC32Q BX, AX
	NOTL   AX
	MOVL   AX, ret+24(FP)
	RET

above64:
	VMOVDQU64 -64(SI)(CX*1), Z18
	MULTIPLY(Z18, Z19, Z20, Z21)
	VMOVDQU64 128(R8), Z19
	CMPQ CX, $128
	JA   above128
	VMOVDQU8.Z -128(SI)(CX*1), K1, Z18
	MULTIPLY(Z18, Z19, Z22, Z23)
	VPXORQ Z22, Z20, Z20
	VPXORQ Z23, Z21, Z21
	JMP words

above128:
	VMOVDQU64 -128(SI)(CX*1), Z18
	MULTIPLY(Z18, Z19, Z22, Z23)
	VMOVDQU64 64(R8), Z19
	CMPQ CX, $192
	JA   above192
	VMOVDQU8.Z -192(SI)(CX*1), K1, Z18
	MULTIPLY(Z18, Z19, Z24, Z25)
	VPTERNLOGQ $0x96, Z22, Z24, Z20
	VPTERNLOGQ $0x96, Z23, Z25, Z21
	JMP words

above192:
	VMOVDQU64 -192(SI)(CX*1), Z18
	MULTIPLY(Z18, Z19, Z24, Z25)
	VMOVDQU64 (R8), Z19
	VMOVDQU8.Z -256(SI)(CX*1), K1, Z18
	MULTIPLY(Z18, Z19, Z26, Z27)
	VPTERNLOGQ $0x96, Z22, Z24, Z20
	VPTERNLOGQ $0x96, Z23, Z25, Z21
	VPTERNLOGQ $0x96, Z26, Z27, Z20
	JMP words

	// Near the start of a page, up to 64 bytes are loaded as the beginning of a
	// register. Their CRC is that of the input and 64-n zeros; the zeros are taken
	// off again.
pageStart:
	CMPQ  CX, $64
	JA    pageChain
	SHRXQ DX, R9, R10
	KMOVQ R10, K1
	VMOVDQU8.Z (SI), K1, Z18
	VMOVDQU64 ·lastWords+192(SB), Z19
	VMOVD (R8)(CX*4), X16
	MULTIPLY(Z18, Z19, Z20, Z21)
	VPXORQ Z21, Z20, Z20
	SUMLANES
	XORL   AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	VMOVD  AX, X20
	VPCLMULQDQ $0, X16, X20, X20
	VPXORQ X17, X20, X20
	VMOVQ  X20, BX
	XORL   AX, AX
	CRC32Q BX, AX
	NOTL   AX
	MOVL   AX, ret+24(FP)
	RET

pageChain:
	JMP ·updateSSE42(SB)

	// 256 bytes and more.
fold:
	XORL R12, R12            // bytes after this block
	CMPQ CX, $512
	JAE  hybrid
	VMOVD  AX, X20
	VPXORQ (SI), Z20, Z16
	VMOVDQU64 64(SI), Z17
	VMOVDQU64 128(SI), Z18
	VMOVDQU64 192(SI), Z19
	VBROADCASTI32X4 ·foldZMM+0(SB), Z28
	ADDQ $256, SI
	SUBQ $256, CX

	// The accumulators Z16 to Z19 are added up in Z16, at the distance of the last.
	// CX, up to 255, bytes follow.
reduce:
	VBROADCASTI32X4 ·foldZMM+32(SB), Z30
	VBROADCASTI32X4 ·foldZMM+16(SB), Z29
	MULTIPLY(Z16, Z30, Z20, Z16)
	MULTIPLY(Z17, Z29, Z21, Z17)
	MULTIPLY(Z18, Z28, Z22, Z18)
	VPTERNLOGQ $0x96, Z20, Z21, Z16
	VPTERNLOGQ $0x96, Z17, Z22, Z18
	VPTERNLOGQ $0x96, Z18, Z19, Z16
	SUBQ $64, CX
	JB   tail

fold64:
	FOLD(Z16, Z28, Z20, (SI))
	ADDQ $64, SI
	SUBQ $64, CX
	JAE  fold64

	// CX+64, up to 63, bytes follow: they are the end of the 64 bytes that end with
	// the input.
tail:
	ADDQ $64, CX
	JZ   noTail
	MOVL $64, DX
	SUBL CX, DX
	MOVQ $-1, R9
	SHLXQ DX, R9, R10
	KMOVQ R10, K1
	VMOVDQU8.Z -64(SI)(CX*1), K1, Z18
	VMOVDQU64 ·lastWords+192(SB), Z19
	MOVL CX, DX
	ANDL $7, DX
	SHLL $7, DX
	SHRL $3, CX
	SHLL $3, CX
	LEAQ ·tailWords+56(SB), R8
	ADDQ DX, R8
	SUBQ CX, R8
	VMOVDQU64 (R8), Z17
	MULTIPLY(Z18, Z19, Z20, Z21)
	MULTIPLY(Z16, Z17, Z22, Z23)
	VPXORQ Z22, Z20, Z20
	VPTERNLOGQ $0x96, Z21, Z23, Z20
	SUMLANES
	XORL   AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	NOTL   AX
	MOVL   AX, ret+24(FP)
	RET

noTail:
	VMOVDQU64 ·lastWords+192(SB), Z19
	MULTIPLY(Z16, Z19, Z20, Z21)
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
	JMP  fold

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

	// The registers of two chains become one lane, and all are taken to their lane of
	// the last accumulator at once.
join:
	LEAQ    ·chainLanes(SB), R9
	VPMOVZXDQ (R9)(R8*1), Z27
	VMOVQ   AX, X20
	VPINSRQ $1, BX, X20, X20
	VMOVQ   DX, X21
	VPINSRQ $1, R10, X21, X21
	VMOVQ   R11, X22
	VPINSRQ $1, R12, X22, X22
	VMOVQ   R13, X23
	VPINSRQ $1, R14, X23, X23
	VINSERTI32X4 $1, X21, Y20, Y20
	VINSERTI32X4 $1, X23, Y22, Y22
	VINSERTI64X4 $1, Y22, Z20, Z20
	VPCLMULQDQ $0x00, Z27, Z20, Z21
	VPCLMULQDQ $0x11, Z27, Z20, Z20
	VPTERNLOGQ $0x96, Z20, Z21, Z19
	MOVQ    DI, SI
	MOVL    crc+0(FP), CX
	MOVQ    n+16(FP), R12
	CMPQ    CX, $256
	JB      reduce
	FOLD(Z16, Z31, Z20, (SI))
	FOLD(Z17, Z31, Z21, 64(SI))
	FOLD(Z18, Z31, Z22, 128(SI))
	FOLD(Z19, Z31, Z23, 192(SI))
	ADDQ    $256, SI
	SUBQ    $256, CX
	JMP     reduce

blockOfMany:
	CMPQ CX, $const_pieceMax
	JA   pieces
	MOVQ CX, R12
	SUBQ $(512*const_blockAVX512), R12
	MOVL $(512*const_blockAVX512), CX
	JMP  block

pieces:
	JMP ·updatePieces(SB)
