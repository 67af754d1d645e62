//go:build !purego

#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"
#include "sse42_amd64.h"

// One word, or two, at a place of a chain and at that of its copy.
#define COPYWORD(src, dst, in) \
	MOVQ src, in \
	MOVQ in, dst

#define COPYTWO(src, dst, in) \
	MOVOU src, in \
	MOVOU in, dst

// func copySSE42(dst, src *byte, n int, crc uint32) uint32
//
// n is at most copySSE42Max. Up to copySSE42Overlap bytes are all loaded before the first
// is stored, and dst and src may overlap; above, what six chains read is stored at once,
// and they must not.
TEXT ·copySSE42(SB), NOSPLIT, $32-36
	NO_LOCAL_POINTERS
	MOVQ n+16(FP), CX
	CMPQ CX, $const_copySSE42Overlap
	JA   chains
	MOVL crc+24(FP), AX
	MOVQ src+8(FP), SI
	MOVL AX, 0(SP)
	MOVQ SI, 8(SP)
	MOVQ CX, 16(SP)
	CALL ·updateSSE42(SB)
	MOVL 24(SP), AX
	MOVL AX, ret+32(FP)
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	CMPQ CX, $16
	JBE  upTo16
	MOVOU (SI), X0
	MOVOU -16(SI)(CX*1), X7
	CMPQ CX, $32
	JA   above32
	MOVOU X0, (DI)
	MOVOU X7, -16(DI)(CX*1)
	RET

above32:
	MOVOU 16(SI), X1
	MOVOU -32(SI)(CX*1), X6
	CMPQ  CX, $64
	JBE   store32
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	MOVOU -64(SI)(CX*1), X4
	MOVOU -48(SI)(CX*1), X5
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	MOVOU X4, -64(DI)(CX*1)
	MOVOU X5, -48(DI)(CX*1)

store32:
	MOVOU X0, (DI)
	MOVOU X1, 16(DI)
	MOVOU X6, -32(DI)(CX*1)
	MOVOU X7, -16(DI)(CX*1)
	RET

upTo16:
	CMPQ CX, $8
	JB   upTo7
	MOVQ (SI), AX
	MOVQ -8(SI)(CX*1), BX
	MOVQ AX, (DI)
	MOVQ BX, -8(DI)(CX*1)
	RET

upTo7:
	CMPQ CX, $4
	JB   upTo3
	MOVL (SI), AX
	MOVL -4(SI)(CX*1), BX
	MOVL AX, (DI)
	MOVL BX, -4(DI)(CX*1)
	RET

upTo3:
	TESTQ CX, CX
	JZ    done
	MOVB  -1(SI)(CX*1), BX
	CMPQ  CX, $2
	JB    one
	MOVW  (SI), AX
	MOVW  AX, (DI)

one:
	MOVB BX, -1(DI)(CX*1)

done:
	RET

	// The copies of the first and the fourth chain start at R15 and CX. The last 64 bytes
	// are copied at once; they are more than what follows the chains.
chains:
	MOVL  crc+24(FP), AX
	MOVQ  src+8(FP), SI
	MOVQ  dst+0(FP), R15
	NOTL  AX
	MOVOU -64(SI)(CX*1), X8
	MOVOU -48(SI)(CX*1), X9
	MOVOU -32(SI)(CX*1), X10
	MOVOU -16(SI)(CX*1), X11
	MOVOU X8, -64(R15)(CX*1)
	MOVOU X9, -48(R15)(CX*1)
	MOVOU X10, -32(R15)(CX*1)
	MOVOU X11, -16(R15)(CX*1)
	DIVIDE
	LEAQ (DI)(DI*2), CX
	ADDQ R15, CX
	MOVQ R8, R13
	SHRQ $1, R13
	JNC  even
	COPYWORD((SI), (R15), X8)
	COPYWORD((SI)(DI*1), (R15)(DI*1), X9)
	COPYWORD((SI)(DI*2), (R15)(DI*2), X10)
	COPYWORD((R9), (CX), X11)
	COPYWORD((R9)(DI*1), (CX)(DI*1), X12)
	COPYWORD((R9)(DI*2), (CX)(DI*2), X13)
	SIXWORDS(0)
	ADDQ $8, SI
	ADDQ $8, R9
	ADDQ $8, R15
	ADDQ $8, CX

	// Stores come after the loads of CRC32Q: where dst and src are the same modulo 4096,
	// these would wait for them.
even:
	MOVOU (SI), X8
	MOVOU (SI)(DI*1), X9
	MOVOU (SI)(DI*2), X10
	MOVOU (R9), X11
	MOVOU (R9)(DI*1), X12
	MOVOU (R9)(DI*2), X13
	SIXWORDS(0)
	SIXWORDS(8)
	MOVOU X8, (R15)
	MOVOU X9, (R15)(DI*1)
	MOVOU X10, (R15)(DI*2)
	MOVOU X11, (CX)
	MOVOU X12, (CX)(DI*1)
	MOVOU X13, (CX)(DI*2)
	ADDQ $16, SI
	ADDQ $16, R9
	ADDQ $16, R15
	ADDQ $16, CX
	DECQ R13
	JNZ  even

	MOVQ n+16(FP), CX
	JOINCHAINS
	MOVQ R12, AX
	DECQ R14
	JZ   lastWord

afterWords:
	CRC32Q (SI), AX
	ADDQ   $8, SI
	DECQ   R14
	JNZ    afterWords

lastWord:
	MOVQ   X1, BX
	XORQ   (SI), BX
	CRC32Q BX, AX
	ADDQ   $8, SI
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
	JZ     checksum
	CRC32B (SI), AX

checksum:
	NOTL AX
	MOVL AX, ret+32(FP)
	RET
