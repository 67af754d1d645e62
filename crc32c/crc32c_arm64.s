//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Registers:
//
//	R0  the CRC register (the checksum inverted), and that of the first chain
//	R1  the next byte of input
//	R2  bytes left

// Two words of each chain, from R1, R4, R5 and R6, which they move on.
#define CHAINWORDS \
	LDP.P   16(R1), (R11, R12) \
	LDP.P   16(R4), (R13, R14) \
	LDP.P   16(R5), (R15, R16) \
	LDP.P   16(R6), (R17, R19) \
	CRC32CX R11, R0            \
	CRC32CX R13, R7            \
	CRC32CX R15, R8            \
	CRC32CX R17, R9            \
	CRC32CX R12, R0            \
	CRC32CX R14, R7            \
	CRC32CX R16, R8            \
	CRC32CX R19, R9

// func update(crc uint32, p *byte, n int) uint32
//
// The entry point.
TEXT ·update(SB), NOSPLIT, $0-28
	MOVBU ·level(SB), R3
	CBZ   R3, generic
	B     ·updateCRC32(SB)

generic:
	B ·updateBytes(SB)

// func updateCRC32(crc uint32, p *byte, n int) uint32
//
// From chainsMin bytes on, four chains of CRC32CX run side by side over pieces of the
// input, since one waits for its latency. The registers are taken to the end of the
// pieces by carry-less multiplications, whose sum one more CRC32CX reduces (Gopal et
// al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction", Intel,
// 2011).
TEXT ·updateCRC32(SB), NOSPLIT, $0-28
	MOVWU crc+0(FP), R0
	MOVD  p+8(FP), R1
	MOVD  n+16(FP), R2
	MVNW  R0, R0

next:
	CMP $const_chainsMin, R2
	BHS chains

	CMP $32, R2
	BLO below32

words32:
	LDP.P   16(R1), (R11, R12)
	LDP.P   16(R1), (R13, R14)
	CRC32CX R11, R0
	CRC32CX R12, R0
	CRC32CX R13, R0
	CRC32CX R14, R0
	SUB     $32, R2
	CMP     $32, R2
	BHS     words32

below32:
	TBZ     $4, R2, below16
	LDP.P   16(R1), (R11, R12)
	CRC32CX R11, R0
	CRC32CX R12, R0

below16:
	TBZ     $3, R2, below8
	MOVD.P  8(R1), R11
	CRC32CX R11, R0

below8:
	TBZ     $2, R2, below4
	MOVWU.P 4(R1), R11
	CRC32CW R11, R0

below4:
	TBZ     $1, R2, below2
	MOVHU.P 2(R1), R11
	CRC32CH R11, R0

below2:
	TBZ     $0, R2, done
	MOVBU   (R1), R11
	CRC32CB R11, R0

done:
	MVNW R0, R0
	MOVW R0, ret+24(FP)
	RET

	// Four chains of R3 times 32 bytes, at R1, R4, R5 and R6. What remains of the input
	// goes around again.
chains:
	MOVD $const_pieceMax, R3
	CMP  R3, R2
	BHI  long
	LSR  $7, R2, R3
	CMP  $const_blockMax, R3
	BLS  blockSize
	MOVD $const_blockMax, R3

blockSize:
	SUB  R3<<7, R2
	ADD  R3<<5, R1, R4
	ADD  R3<<5, R4, R5
	ADD  R3<<5, R5, R6
	MOVD ZR, R7
	MOVD ZR, R8
	MOVD ZR, R9
	MOVD R3, R10

chainLoop:
	CHAINWORDS
	CHAINWORDS
	SUBS $1, R10
	BNE  chainLoop

	// The chains end 3, 2, 1 and 0 times R3*32 bytes before the end of the block.
	MOVD   $·shiftStrides(SB), R11
	ADD    R3<<2, R11, R11
	MOVWU  (R11), R12
	ADD    R3<<2, R11, R11
	MOVWU  (R11), R13
	ADD    R3<<2, R11, R11
	MOVWU  (R11), R14
	VMOV   R12, V0.D[0]
	VMOV   R8, V1.D[0]
	VMOV   R13, V2.D[0]
	VMOV   R7, V3.D[0]
	VMOV   R14, V4.D[0]
	VMOV   R0, V5.D[0]
	VPMULL V0.D1, V1.D1, V0.Q1
	VPMULL V2.D1, V3.D1, V2.Q1
	VPMULL V4.D1, V5.D1, V4.Q1
	VEOR   V2.B16, V0.B16, V0.B16
	VEOR   V4.B16, V0.B16, V0.B16
	VMOV   V0.D[0], R12
	MOVD   ZR, R0
	CRC32CX R12, R0
	EORW   R9, R0, R0
	MOVD   R6, R1
	B      next

long:
	B ·updatePieces(SB)
