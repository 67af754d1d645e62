//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "avx512_amd64.h"

// Copies 64 bytes at off from DI to dst through in, and folds them into acc.
#define COPYFOLD(acc, mul, tmp, in, dst, off) \
	VMOVDQU64  off(DI), in             \
	VPCLMULQDQ $0x00, mul, acc, tmp    \
	VPCLMULQDQ $0x11, mul, acc, acc    \
	VMOVDQU64  in, off(dst)            \
	VPTERNLOGQ $0x96, in, tmp, acc

// The words of three of the six chains, with 32*k bytes to a chain and R8 as stride.
// The chains start at SI (0, 1, 2) and R9 (3, 4, 5), and are copied to R13 and R14.
#define CHAINS02(off) \
	CRC32Q off(SI), AX         \
	CRC32Q off(SI)(R8*1), BX   \
	CRC32Q off(SI)(R8*2), DX

#define CHAINS35(off) \
	CRC32Q off(R9), R10        \
	CRC32Q off(R9)(R8*1), R11  \
	CRC32Q off(R9)(R8*2), R12

#define COPY32(src, dst, in) \
	VMOVDQU64 src, in  \
	VMOVDQU64 in, dst

// func copyUpdate(dst, src *byte, n int, crc uint32) uint32
//
// The entry point. It takes up to 255 bytes itself: all of them are loaded before the
// first is stored, so they may overlap, and stored before the checksum is computed: the
// loads of another call wait where they seem to be, by their addresses modulo 4096, of
// what is about to be stored. Two loads and stores of a size cover the lengths from that
// size to twice as much.
TEXT ·copyUpdate(SB), NOSPLIT, $0-36
	MOVQ n+16(FP), CX
	MOVQ src+8(FP), SI
	MOVQ dst+0(FP), R14
	MOVL crc+24(FP), AX
	CMPB ·level(SB), $const_levelAVX512
	JNE  lessThanAVX512
	LEAQ -17(CX), DX
	CMPQ DX, $(64-17)
	JA   otherLength
	SHIFTCHECKSUM(shifted17)
	VMOVDQU64 shortTables_mask(R8)(CX*1), Z18
	TESTL $4032, SI
	JZ    pageStart
	VPANDQ -64(SI)(CX*1), Z18, Z18

copy17to64:
	CMPQ CX, $32
	JA   above32
	VMOVDQU64 (SI), X28
	VMOVDQU64 -16(SI)(CX*1), X29
	VMOVDQU64 X28, (R14)
	VMOVDQU64 X29, -16(R14)(CX*1)
	JMP  multiply

above32:
	VMOVDQU64 (SI), Y28
	VMOVDQU64 -32(SI)(CX*1), Y29
	VMOVDQU64 Y28, (R14)
	VMOVDQU64 Y29, -32(R14)(CX*1)

multiply:
	MULTIPLY(Z18, LASTWORDS(0), Z20, Z21)
	VPXORQ Z21, Z20, Z20

checksum:
	CHECKSUM
	MOVL AX, ret+32(FP)
	RET

pageStart:
	VMOVDQU64 shortTables_move(R8)(CX*1), Z19
	VPERMB (SI), Z19, Z19
	VPANDQ Z19, Z18, Z18
	JMP    copy17to64

otherLength:
	CMPQ CX, $16
	JBE  upTo16
	CMPQ CX, $256
	JAE  above255
	SHIFTCHECKSUM(shifted65)
	VMOVDQU64 (SI), Z31
	VMOVDQU64 -64(SI)(CX*1), Z28
	CMPQ CX, $128
	JA   above128
	VMOVDQU64 Z31, (R14)
	VMOVDQU64 Z28, -64(R14)(CX*1)
	MULTIPLY65TO128(Z31, Z28)
	JMP  checksum

above128:
	VMOVDQU64 -128(SI)(CX*1), Z29
	CMPQ CX, $192
	JA   above192
	VMOVDQU64 Z31, (R14)
	VMOVDQU64 Z29, -128(R14)(CX*1)
	VMOVDQU64 Z28, -64(R14)(CX*1)
	MULTIPLY129TO192(Z31, Z29, Z28)
	JMP  checksum

above192:
	VMOVDQU64 -192(SI)(CX*1), Z30
	VMOVDQU64 Z31, (R14)
	VMOVDQU64 Z30, -192(R14)(CX*1)
	VMOVDQU64 Z29, -128(R14)(CX*1)
	VMOVDQU64 Z28, -64(R14)(CX*1)
	MULTIPLY193TO255(Z31, Z30, Z29, Z28)
	JMP checksum

upTo16:
	TESTQ CX, CX
	JZ    none
	PAGEOFFSET
	JA    long
	MOVQ  CX, R9
	MOVQ  (SI), R10
	CMPQ  CX, $4
	JB    upTo3
	CMPQ  CX, $8
	JB    upTo7
	MOVQ  -8(SI)(CX*1), R11
	NOTL  AX
	CRC1TO16
	NOTL  AX
	MOVQ  R10, (R14)
	MOVQ  R11, -8(R14)(R9*1)

none:
	MOVL AX, ret+32(FP)
	RET

upTo7:
	MOVL -4(SI)(CX*1), R11
	NOTL AX
	CRC1TO16
	NOTL AX
	MOVL R10, (R14)
	MOVL R11, -4(R14)(R9*1)
	MOVL AX, ret+32(FP)
	RET

upTo3:
	MOVB -1(SI)(CX*1), R11
	NOTL AX
	CRC1TO16
	NOTL AX
	CMPQ R9, $2
	JB   byte
	MOVW R10, (R14)

byte:
	MOVB R11, -1(R14)(R9*1)
	MOVL AX, ret+32(FP)
	RET

	// Not in one pass if one begins inside the other.
above255:
	CMPQ CX, $const_copyLongMin
	JAE  long
	MOVQ SI, AX
	SUBQ R14, AX
	MOVQ AX, DX
	NEGQ DX
	CMPQ AX, CX
	JB   long
	CMPQ DX, CX
	JB   long
	JMP ·copyApart(SB)

lessThanAVX512:
	CMPB ·level(SB), $const_levelSSE42
	JB   long
	CMPQ CX, $const_copySSE42Overlap
	JBE  sse42
	CMPQ CX, $const_copySSE42Max
	JA   long
	MOVQ SI, AX
	SUBQ R14, AX
	MOVQ AX, DX
	NEGQ DX
	CMPQ AX, CX
	JB   long
	CMPQ DX, CX
	JB   long

sse42:
	JMP ·copySSE42(SB)

long:
	JMP ·copyLong(SB)

// func copyApart(dst, src *byte, n int, crc uint32) uint32
//
// n is at least 256. dst and src must not overlap. The steps are those of update; what
// is loaded is stored too. From copyHybridFrom to
// copyHybridMax bytes there are six chains.
TEXT ·copyApart(SB), NOSPLIT, $0-36
	MOVQ dst+0(FP), R14
	MOVQ src+8(FP), DI
	MOVQ n+16(FP), CX
	MOVL crc+24(FP), AX
	NOTL AX
	VBROADCASTI32X4 ·foldZMM+0(SB), Z28
	VBROADCASTI32X4 ·foldZMM+48(SB), Z31
	CMPQ CX, ·copyHybridFrom(SB)
	JB   folding
	CMPQ CX, $const_copyHybridMax
	JBE  hybrid

folding:
	VMOVD     AX, X20
	VMOVDQU64 (DI), Z16
	VMOVDQU64 64(DI), Z17
	VMOVDQU64 128(DI), Z18
	VMOVDQU64 192(DI), Z19
	VMOVDQU64 Z16, (R14)
	VMOVDQU64 Z17, 64(R14)
	VMOVDQU64 Z18, 128(R14)
	VMOVDQU64 Z19, 192(R14)
	VPXORQ    Z20, Z16, Z16
	ADDQ $256, DI
	ADDQ $256, R14
	SUBQ $512, CX
	JB   reduce

fold256:
	COPYFOLD(Z16, Z31, Z20, Z24, R14, 0)
	COPYFOLD(Z17, Z31, Z21, Z25, R14, 64)
	COPYFOLD(Z18, Z31, Z22, Z26, R14, 128)
	COPYFOLD(Z19, Z31, Z23, Z27, R14, 192)
	ADDQ $256, DI
	ADDQ $256, R14
	SUBQ $256, CX
	JAE  fold256

	// CX+256 bytes follow.
reduce:
	REDUCE
	ADDQ $(256-64), CX
	JS   tail

fold64:
	COPYFOLD(Z16, Z28, Z20, Z24, R14, 0)
	ADDQ $64, DI
	ADDQ $64, R14
	SUBQ $64, CX
	JAE  fold64

tail:
	ADDQ $64, CX
	JZ   noTail
	MOVQ ·shortAligned(SB), R8
	VMOVDQU64 -64(DI)(CX*1), Z18
	VMOVDQU64 Z18, -64(R14)(CX*1)
	VPANDQ shortTables_mask(R8)(CX*1), Z18, Z18
	MULTIPLYTAIL

lanes:
	SUMLANES
	XORL   AX, AX
	CRC32Q DX, AX
	CRC32Q BX, AX
	NOTL   AX
	MOVL   AX, ret+32(FP)
	RET

noTail:
	MOVQ ·shortAligned(SB), R8
	MULTIPLY(Z16, LASTWORDS(0), Z20, Z21)
	VPXORQ Z21, Z20, Z20
	JMP lanes

	// k times 448 bytes: six chains with 32 bytes an iteration each, and behind them
	// 256 bytes an iteration that are folded.
hybrid:
	MOVQ  DI, SI
	MOVQ  R14, R13
	MOVQ  CX, R9
	IMULQ $149797, CX        // n/448, exact up to copyHybridMax
	SHRQ  $26, CX            // k
	IMUL3Q $448, CX, R8
	SUBQ  R8, R9
	MOVQ  R9, n+16(FP)       // bytes after the iterations
	MOVQ  CX, R8
	SHLQ  $5, R8
	LEAQ  (R8)(R8*2), DX
	LEAQ  (SI)(DX*1), R9
	LEAQ  (R13)(DX*1), R14
	LEAQ  (SI)(DX*2), DI
	LEAQ  (R13)(DX*2), R15
	XORL  BX, BX
	XORL  DX, DX
	XORL  R10, R10
	XORL  R11, R11
	XORL  R12, R12
	VMOVDQU64 (DI), Z16
	VMOVDQU64 64(DI), Z17
	VMOVDQU64 128(DI), Z18
	VMOVDQU64 192(DI), Z19
	VMOVDQU64 Z16, (R15)
	VMOVDQU64 Z17, 64(R15)
	VMOVDQU64 Z18, 128(R15)
	VMOVDQU64 Z19, 192(R15)
	JMP   chains

	PCALIGN $64
hybridLoop:
	COPYFOLD(Z16, Z31, Z20, Z24, R15, 0)
	COPYFOLD(Z17, Z31, Z21, Z25, R15, 64)
	COPYFOLD(Z18, Z31, Z22, Z26, R15, 128)
	COPYFOLD(Z19, Z31, Z23, Z27, R15, 192)

chains:
	COPY32((SI), (R13), Y24)
	CHAINS02(0)
	COPY32((SI)(R8*1), (R13)(R8*1), Y25)
	CHAINS35(0)
	COPY32((SI)(R8*2), (R13)(R8*2), Y26)
	CHAINS02(8)
	CHAINS35(8)
	COPY32((R9), (R14), Y27)
	CHAINS02(16)
	COPY32((R9)(R8*1), (R14)(R8*1), Y24)
	CHAINS35(16)
	COPY32((R9)(R8*2), (R14)(R8*2), Y25)
	CHAINS02(24)
	CHAINS35(24)
	ADDQ $32, SI
	ADDQ $32, R9
	ADDQ $32, R13
	ADDQ $32, R14
	ADDQ $256, DI
	ADDQ $256, R15
	DECQ CX
	JNZ  hybridLoop

	MOVQ R15, R14

	// The six chains are at the distances of the last six of the eight of update.
	XORL R13, R13
	JOIN(R13, R13, AX, BX, DX, R10, R11, R12)
	MOVQ    n+16(FP), CX
	SUBQ    $256, CX
	JB      reduce
	JMP     fold256
