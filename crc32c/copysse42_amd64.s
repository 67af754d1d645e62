//go:build !purego

#include "go_asm.h"
#include "funcdata.h"
#include "textflag.h"

// func copySSE42(dst, src *byte, n int, crc uint32) uint32
//
// n is at most copySSE42Max. All of it is loaded before the first byte is stored, so dst
// and src may overlap.
TEXT ·copySSE42(SB), NOSPLIT, $32-36
	NO_LOCAL_POINTERS
	MOVL crc+24(FP), AX
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
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
