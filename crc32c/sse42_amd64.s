//go:build !purego

#include "go_asm.h"
#include "textflag.h"
#include "sse42_amd64.h"

#define CRC4(off) \
	CRC32Q off+0(SI), AX  \
	CRC32Q off+8(SI), AX  \
	CRC32Q off+16(SI), AX \
	CRC32Q off+24(SI), AX

// Both together move an accumulator on by the distance in X15 and add the input at
// off(R13). CRC32Q instructions go between.
#define FOLDLOW(acc, tmp) \
	MOVOA     acc, tmp      \
	PCLMULQDQ $0, X15, tmp  \
	PCLMULQDQ $0x11, X15, acc

#define FOLDADD(acc, tmp, in, off) \
	MOVOU off(R13), in \
	PXOR  in, tmp      \
	PXOR  tmp, acc

// func updateSSE42(crc uint32, p *byte, n int) uint32
//
// CRC32Q has a latency of three cycles, so several chains of it run side by side over
// pieces of the input. Each chain's register is then taken to the end of the input
// by a carry-less multiplication (Gopal et al., "Fast CRC Computation for iSCSI
// Polynomial Using CRC32 Instruction", Intel, 2011). From hybridSSE42 bytes on, four
// 128-bit accumulators fold a seventh piece beside them (Gopal et al., "Fast CRC
// Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009).
TEXT ·updateSSE42(SB), NOSPLIT, $0-28
	MOVL crc+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	NOTL AX
	CMPQ CX, $const_hybridSSE42
	JAE  hybrid
	CMPQ CX, $const_chainsSSE42
	JAE  chains

	// One chain, whose last bytes are taken by the bits of their count.
chain:
	CMPQ CX, $64
	JB   below64

words64:
	CRC4(0)
	CRC4(32)
	ADDQ $64, SI
	SUBQ $64, CX
	CMPQ CX, $64
	JAE  words64

below64:
	TESTB $32, CX
	JZ    below32
	CRC4(0)
	ADDQ  $32, SI

below32:
	TESTB  $16, CX
	JZ     below16
	CRC32Q (SI), AX
	CRC32Q 8(SI), AX
	ADDQ   $16, SI

below16:
	TESTB  $8, CX
	JZ     below8
	CRC32Q (SI), AX
	ADDQ   $8, SI

below8:
	TESTB  $4, CX
	JZ     below4
	CRC32L (SI), AX
	ADDQ   $4, SI

below4:
	TESTB  $2, CX
	JZ     below2
	CRC32W (SI), AX
	ADDQ   $2, SI

below2:
	TESTB  $1, CX
	JZ     done
	CRC32B (SI), AX

done:
	NOTL AX
	MOVL AX, ret+24(FP)
	RET

	// Six chains, then 1 to 6 words more on the last chain.
chains:
	DIVIDE
	MOVQ  R8, R13
	SHRQ  $1, R13
	JNC   even
	SIXWORDS(0)
	ADDQ  $8, SI
	ADDQ  $8, R9

even:
	TESTQ R13, R13
	JZ    join

chainWords:
	SIXWORDS(0)
	SIXWORDS(8)
	ADDQ $16, SI
	ADDQ $16, R9
	DECQ R13
	JNZ  chainWords

join:
	JOINCHAINS
	MOVQ R12, AX
	DECQ R14
	JZ   lastWord

afterWords:
	CRC32Q (SI), AX
	ADDQ   $8, SI
	DECQ   R14
	JNZ    afterWords

	// The products are not reduced yet; the last word's CRC32Q does it.
lastWord:
	MOVQ   X1, BX
	XORQ   (SI), BX
	CRC32Q BX, AX
	ADDQ   $8, SI
	JMP    below8

	// A block of R14 times 304 bytes: six chains with 40 bytes an iteration each, and
	// behind them 64 bytes an iteration that are folded. What remains of the input
	// goes around again.
hybrid:
	CMPQ CX, $const_pieceMax
	JA   long
	MOVL $const_blockSSE42, R14
	CMPQ CX, $(304*const_blockSSE42)
	JAE  blockSize
	MOVQ  CX, R14
	IMULQ $220753, R14
	SHRQ  $26, R14           // n/304, exact below a block

blockSize:
	IMUL3Q $304, R14, R13
	SUBQ  R13, CX
	LEAQ  (R14)(R14*4), DI
	SHLQ  $3, DI             // bytes of a chain
	LEAQ  (DI)(DI*2), R9
	LEAQ  (SI)(R9*2), R13    // the first byte that is folded
	ADDQ  SI, R9
	LEAQ  (R14)(R14*2), R8
	SHLQ  $3, R8             // of the table, before the row for R14
	XORL  BX, BX
	XORL  DX, DX
	XORL  R10, R10
	XORL  R11, R11
	XORL  R12, R12
	MOVOU ·foldXMM+48(SB), X15
	MOVOU 0(R13), X4
	MOVOU 16(R13), X5
	MOVOU 32(R13), X6
	MOVOU 48(R13), X7
	SIXWORDS(0)
	SIXWORDS(8)
	SIXWORDS(16)
	SIXWORDS(24)
	SIXWORDS(32)
	ADDQ $40, SI
	ADDQ $40, R9
	ADDQ $64, R13
	DECQ R14
	JZ   hybridJoin

hybridLoop:
	FOLDLOW(X4, X8)
	SIXWORDS(0)
	FOLDADD(X4, X8, X0, 0)
	FOLDLOW(X5, X9)
	SIXWORDS(8)
	FOLDADD(X5, X9, X1, 16)
	FOLDLOW(X6, X10)
	SIXWORDS(16)
	FOLDADD(X6, X10, X2, 32)
	FOLDLOW(X7, X11)
	SIXWORDS(24)
	FOLDADD(X7, X11, X3, 48)
	SIXWORDS(32)
	ADDQ $40, SI
	ADDQ $40, R9
	ADDQ $64, R13
	DECQ R14
	JNZ  hybridLoop

hybridJoin:
	MOVQ R13, SI
	LEAQ ·chainEnds(SB), R9
	ADDQ R8, R9
	PXOR X1, X1
	SHIFTCHAIN(AX, (R9))
	SHIFTCHAIN(BX, 4(R9))
	SHIFTCHAIN(DX, 8(R9))
	SHIFTCHAIN(R10, 12(R9))
	SHIFTCHAIN(R11, 16(R9))
	SHIFTCHAIN(R12, 20(R9))
	MOVQ X1, R8

	// The first three accumulators are moved to the last.
	MOVOU     ·foldXMM+32(SB), X13
	MOVOU     ·foldXMM+16(SB), X14
	MOVOU     ·foldXMM+0(SB), X15
	MOVOA     X4, X8
	PCLMULQDQ $0, X13, X8
	PCLMULQDQ $0x11, X13, X4
	MOVOA     X5, X9
	PCLMULQDQ $0, X14, X9
	PCLMULQDQ $0x11, X14, X5
	MOVOA     X6, X10
	PCLMULQDQ $0, X15, X10
	PCLMULQDQ $0x11, X15, X6
	PXOR      X8, X4
	PXOR      X9, X5
	PXOR      X10, X6
	PXOR      X4, X7
	PXOR      X5, X6
	PXOR      X6, X7
	MOVQ      X7, BX
	PEXTRQ    $1, X7, DX
	XORL      AX, AX
	CRC32Q    BX, AX
	XORQ      R8, DX
	CRC32Q    DX, AX
	CMPQ      CX, $const_hybridSSE42
	JAE       hybrid
	CMPQ      CX, $const_chainsAfterSSE42
	JAE       chains
	JMP       chain

long:
	JMP ·updatePieces(SB)
