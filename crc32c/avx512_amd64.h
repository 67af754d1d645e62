// What update and copyUpdate share. Registers, unless said otherwise:
//
//	AX  the CRC register (the checksum inverted)
//	SI  the next byte of input
//	CX  bytes left
//
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

// With ·shortAligned in R8: the multiplier that takes a register over the input, and those
// of the words of 64 bytes that end 64*n bytes before the end of the input.
#define SHIFT shortTables_shift(R8)(CX*8)
#define LASTWORDS(n) (shortTables_lastWords+192-64*n)(R8)

// Z18 = the first CX+off of 64 bytes, a register or memory, at the end, zeros before them.
// Changes Z19.
#define FIRSTBYTES(first, off) \
	VMOVDQU64 (shortTables_move+off)(R8)(CX*1), Z19       \
	VPERMB    first, Z19, Z19                             \
	VPANDQ    (shortTables_mask+off)(R8)(CX*1), Z19, Z18

// Adds the lanes of Z20 up, as BX:DX; uses Z21.
#define SUMLANES \
	VEXTRACTI64X4 $1, Z20, Y21   \
	VPXORQ        Y21, Y20, Y20  \
	VEXTRACTI32X4 $1, Y20, X21   \
	VPXORQ        X21, X20, X20  \
	VMOVQ         X20, DX        \
	VPEXTRQ       $1, X20, BX

// Takes the register over CX, 1 to 16, bytes: over the first 8 where there are more, and
// then over the 1 to 8 left. These are moved to the upper end of a word, what follows
// them is shifted out, and zeros before them do not change a register of zero. So the
// register is added to their word, and what they do not reach of it to the result. It
// is shifted in two steps, since a shift by 64 bits does nothing. Reads 16 bytes. There
// is no branch for the processor to mispredict. Changes BX, CX, DX, SI and DI.
#define CRC1TO16 \
	MOVL    AX, BX      \
	CRC32Q  (SI), BX    \
	LEAQ    8(SI), DI   \
	LEAQ    -8(CX), DX  \
	CMPQ    CX, $8      \
	CMOVQHI BX, AX      \
	CMOVQHI DI, SI      \
	CMOVQHI DX, CX      \
	MOVQ    (SI), DX    \
	SHLL    $3, CX      \
	LEAL    -8(CX), BX  \
	NEGL    CX          \
	XORQ    AX, DX      \
	SHLXQ   CX, DX, DX  \
	SHRL    $8, AX      \
	SHRXQ   BX, AX, AX  \
	XORL    DI, DI      \
	CRC32Q  DX, DI      \
	XORL    DI, AX

// BX > 4080 if 16 bytes at SI reach into the next page, which may be missing.
#define PAGEOFFSET \
	MOVL SI, BX    \
	ANDL $4095, BX \
	CMPL BX, $4080

// DI = what the checksum in AX comes to after CX, up to 255, bytes, apart from what these
// are, and from inversions. It is added last: calls that depend on each other wait for
// little else. R8 = ·shortAligned. Changes X17.
#define SHIFTCHECKSUM(shifted) \
	MOVQ  ·shortAligned(SB), R8    \
	XORL  DI, DI                   \
	TESTL AX, AX                   \
	JZ    shifted                  \
	VMOVD AX, X17                  \
	VPCLMULQDQ $0, SHIFT, X17, X17 \
	VMOVQ X17, DI                  \
shifted:

// AX = the checksum from DI and Z20, whose lanes are added up.
#define CHECKSUM \
	SUMLANES       \
	XORL   AX, AX  \
	CRC32Q DX, AX  \
	XORQ   shortTables_inverted(R8)(CX*8), BX \
	XORQ   DI, BX  \
	CRC32Q BX, AX

// Z20 = the products of the CX, 65 to 128, 129 to 192, 193 to 255 bytes of input: the
// first 64, which may be in memory, and the registers that end 128, 64 and 0 bytes before
// the end.
#define MULTIPLY65TO128(first, end0) \
	MULTIPLY(end0, LASTWORDS(0), Z20, Z21)   \
	FIRSTBYTES(first, -64)                   \
	MULTIPLY(Z18, LASTWORDS(1), Z22, Z23)    \
	VPXORQ     Z22, Z20, Z20                 \
	VPTERNLOGQ $0x96, Z21, Z23, Z20

#define MULTIPLY129TO192(first, end64, end0) \
	MULTIPLY(end0, LASTWORDS(0), Z20, Z21)   \
	MULTIPLY(end64, LASTWORDS(1), Z22, Z23)  \
	FIRSTBYTES(first, -128)                  \
	MULTIPLY(Z18, LASTWORDS(2), Z24, Z25)    \
	VPTERNLOGQ $0x96, Z22, Z23, Z20          \
	VPXORQ     Z24, Z20, Z20                 \
	VPTERNLOGQ $0x96, Z21, Z25, Z20

#define MULTIPLY193TO255(first, end128, end64, end0) \
	MULTIPLY(end0, LASTWORDS(0), Z20, Z21)   \
	MULTIPLY(end64, LASTWORDS(1), Z22, Z23)  \
	MULTIPLY(end128, LASTWORDS(2), Z24, Z25) \
	FIRSTBYTES(first, -192)                  \
	MULTIPLY(Z18, LASTWORDS(3), Z26, Z27)    \
	VPTERNLOGQ $0x96, Z22, Z23, Z20          \
	VPTERNLOGQ $0x96, Z24, Z25, Z21          \
	VPTERNLOGQ $0x96, Z26, Z27, Z20          \
	VPXORQ     Z21, Z20, Z20

// Z16 = the accumulators Z16 to Z19, at the distance of the last. Z28: the multipliers for
// 64 bytes.
#define REDUCE \
	VBROADCASTI32X4 ·foldZMM+32(SB), Z30 \
	VBROADCASTI32X4 ·foldZMM+16(SB), Z29 \
	MULTIPLY(Z16, Z30, Z20, Z16)         \
	MULTIPLY(Z17, Z29, Z21, Z17)         \
	MULTIPLY(Z18, Z28, Z22, Z18)         \
	VPTERNLOGQ $0x96, Z20, Z21, Z16      \
	VPTERNLOGQ $0x96, Z17, Z22, Z18      \
	VPTERNLOGQ $0x96, Z18, Z19, Z16

// Z20 = the products of Z16, which CX, 1 to 63, more bytes follow, and of these: they are
// the end of Z18, zeros before them. Changes CX, DX and R9.
#define MULTIPLYTAIL \
	MOVL CX, DX                              \
	ANDL $7, DX                              \
	SHLL $7, DX                              \
	ANDL $56, CX                             \
	LEAQ ·tailWords+56(SB), R9               \
	ADDQ DX, R9                              \
	SUBQ CX, R9                              \
	VMOVDQU64 (R9), Z17                      \
	MULTIPLY(Z18, LASTWORDS(0), Z20, Z21)    \
	MULTIPLY(Z16, Z17, Z22, Z23)             \
	VPXORQ     Z22, Z20, Z20                 \
	VPTERNLOGQ $0x96, Z21, Z23, Z20

// The registers of eight chains, two to a lane, are taken to their lanes of the last
// accumulator all at once. R8: the bytes of a chain. Changes R9.
#define JOIN(c0, c1, c2, c3, c4, c5, c6, c7) \
	LEAQ      ·chainLanes(SB), R9    \
	VPMOVZXDQ (R9)(R8*1), Z27        \
	VMOVQ     c0, X20                \
	VPINSRQ   $1, c1, X20, X20       \
	VMOVQ     c2, X21                \
	VPINSRQ   $1, c3, X21, X21       \
	VMOVQ     c4, X22                \
	VPINSRQ   $1, c5, X22, X22       \
	VMOVQ     c6, X23                \
	VPINSRQ   $1, c7, X23, X23       \
	VINSERTI32X4 $1, X21, Y20, Y20   \
	VINSERTI32X4 $1, X23, Y22, Y22   \
	VINSERTI64X4 $1, Y22, Z20, Z20   \
	MULTIPLY(Z20, Z27, Z21, Z20)     \
	VPTERNLOGQ $0x96, Z20, Z21, Z19
