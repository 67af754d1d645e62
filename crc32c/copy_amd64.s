//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// The steps are those of updateAVX512, see there; everything that is loaded is stored
// too.

#define MULTIPLY(in, mul, low, high) \
	VPCLMULQDQ $0x00, mul, in, low \
	VPCLMULQDQ $0x11, mul, in, high

// Copies 64 bytes at off from src to dst through in, and folds them into acc.
#define COPYFOLD(acc, mul, tmp, in, off) \
	VMOVDQU64  off(DI), in             \
	VPCLMULQDQ $0x00, mul, acc, tmp    \
	VPCLMULQDQ $0x11, mul, acc, acc    \
	VMOVDQU64  in, off(R15)            \
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

// func copyAVX512(crc uint32, dst, src *byte, n int) uint32
//
// n is at least 256 and at most copyMax. dst and src must not overlap.
TEXT ·copyAVX512(SB), NOSPLIT, $0-36
	MOVL crc+0(FP), AX
	MOVQ dst+8(FP), R15
	MOVQ src+16(FP), DI
	MOVQ n+24(FP), CX
	NOTL AX
	VBROADCASTI32X4 ·foldZMM+0(SB), Z28
	VBROADCASTI32X4 ·foldZMM+48(SB), Z31
	CMPQ CX, $const_copyHybrid
	JAE  hybrid

	VMOVD     AX, X20
	VMOVDQU64 (DI), Z16
	VMOVDQU64 64(DI), Z17
	VMOVDQU64 128(DI), Z18
	VMOVDQU64 192(DI), Z19
	VMOVDQU64 Z16, (R15)
	VMOVDQU64 Z17, 64(R15)
	VMOVDQU64 Z18, 128(R15)
	VMOVDQU64 Z19, 192(R15)
	VPXORQ    Z20, Z16, Z16
	ADDQ $256, DI
	ADDQ $256, R15
	SUBQ $512, CX
	JB   reduce

fold256:
	COPYFOLD(Z16, Z31, Z20, Z24, 0)
	COPYFOLD(Z17, Z31, Z21, Z25, 64)
	COPYFOLD(Z18, Z31, Z22, Z26, 128)
	COPYFOLD(Z19, Z31, Z23, Z27, 192)
	ADDQ $256, DI
	ADDQ $256, R15
	SUBQ $256, CX
	JAE  fold256

	// CX+256 bytes follow.
reduce:
	VBROADCASTI32X4 ·foldZMM+32(SB), Z30
	VBROADCASTI32X4 ·foldZMM+16(SB), Z29
	MULTIPLY(Z16, Z30, Z20, Z16)
	MULTIPLY(Z17, Z29, Z21, Z17)
	MULTIPLY(Z18, Z28, Z22, Z18)
	VPTERNLOGQ $0x96, Z20, Z21, Z16
	VPTERNLOGQ $0x96, Z17, Z22, Z18
	VPTERNLOGQ $0x96, Z18, Z19, Z16
	ADDQ $192, CX
	JS   tail

fold64:
	COPYFOLD(Z16, Z28, Z20, Z24, 0)
	ADDQ $64, DI
	ADDQ $64, R15
	SUBQ $64, CX
	JAE  fold64

tail:
	VMOVDQU64 ·lastWords+192(SB), Z19
	ADDQ $64, CX
	JZ   noTail
	VMOVDQU64 -64(DI)(CX*1), Z18
	VMOVDQU64 Z18, -64(R15)(CX*1)
	MOVL $64, DX
	SUBL CX, DX
	MOVQ $-1, R9
	SHLXQ DX, R9, R10
	KMOVQ R10, K1
	VMOVDQU8.Z Z18, K1, Z18
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

lanes:
	VEXTRACTI64X4 $1, Z20, Y21
	VPXORQ  Y21, Y20, Y20
	VEXTRACTI32X4 $1, Y20, X21
	VPXORQ  X21, X20, X20
	VMOVQ   X20, DX
	VPEXTRQ $1, X20, BX
	XORL    AX, AX
	CRC32Q  DX, AX
	CRC32Q  BX, AX
	NOTL    AX
	MOVL    AX, ret+32(FP)
	RET

noTail:
	MULTIPLY(Z16, Z19, Z20, Z21)
	VPXORQ Z21, Z20, Z20
	JMP lanes

	// k times 448 bytes: six chains with 32 bytes an iteration each, and behind them
	// 256 bytes an iteration that are folded.
hybrid:
	MOVQ  DI, SI
	MOVQ  R15, R13
	MOVQ  CX, R9
	IMULQ $149797, CX        // n/448, exact up to copyMax
	SHRQ  $26, CX            // k
	IMUL3Q $448, CX, R8
	SUBQ  R8, R9
	MOVQ  R9, n+24(FP)       // bytes after the iterations
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
	COPYFOLD(Z16, Z31, Z20, Z24, 0)
	COPYFOLD(Z17, Z31, Z21, Z25, 64)
	COPYFOLD(Z18, Z31, Z22, Z26, 128)
	COPYFOLD(Z19, Z31, Z23, Z27, 192)

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

	// The six chains are at the distances of the last six of the eight there.
	LEAQ    ·chainLanes(SB), R9
	VPMOVZXDQ (R9)(R8*1), Z27
	VMOVQ   AX, X21
	VPINSRQ $1, BX, X21, X21
	VMOVQ   DX, X22
	VPINSRQ $1, R10, X22, X22
	VMOVQ   R11, X23
	VPINSRQ $1, R12, X23, X23
	VPXORQ  X20, X20, X20
	VINSERTI32X4 $1, X21, Y20, Y20
	VINSERTI32X4 $1, X23, Y22, Y22
	VINSERTI64X4 $1, Y22, Z20, Z20
	VPCLMULQDQ $0x00, Z27, Z20, Z21
	VPCLMULQDQ $0x11, Z27, Z20, Z20
	VPTERNLOGQ $0x96, Z20, Z21, Z19
	MOVQ    n+24(FP), CX
	SUBQ    $256, CX
	JB      reduce
	JMP     fold256
