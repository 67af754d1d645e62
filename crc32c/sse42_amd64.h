// What updateSSE42 and copySSE42 share. Registers as in avx512_amd64.h.

// One word of each of six chains, stride DI (three strides apart: SI and R9).
#define SIXWORDS(off) \
	CRC32Q off(SI), AX         \
	CRC32Q off(SI)(DI*1), BX   \
	CRC32Q off(SI)(DI*2), DX   \
	CRC32Q off(R9), R10        \
	CRC32Q off(R9)(DI*1), R11  \
	CRC32Q off(R9)(DI*2), R12

// Takes a chain's register on by the multiplier in memory, and adds it to X1.
#define SHIFTCHAIN(reg, mem) \
	MOVL      mem, R13     \
	MOVQ      R13, X2      \
	MOVQ      reg, X3      \
	PCLMULQDQ $0, X2, X3   \
	PXOR      X3, X1

// Divides the words of CX bytes: R8 for each of six chains, of which R14-6*R8, 1 to 6,
// follow. DI: the bytes of a chain. SI and R9: the first and the fourth chain.
#define DIVIDE \
	MOVQ  CX, R14        \
	SHRQ  $3, R14        \
	LEAQ  -1(R14), R8    \
	IMULQ $10923, R8     \
	SHRQ  $16, R8        \ // (words-1)/6
	LEAQ  (R8*8), DI     \
	LEAQ  (DI)(DI*2), R9 \
	ADDQ  SI, R9         \
	XORL  BX, BX         \
	XORL  DX, DX         \
	XORL  R10, R10       \
	XORL  R11, R11       \
	XORL  R12, R12

// X1 = the sum of the first five chains, taken on to where the words end; it is still to
// be reduced. R14 = the words after the last chain, which ends at SI. Changes R8, R9 and
// R13.
#define JOINCHAINS \
	LEAQ (R9)(DI*2), SI          \
	LEAQ (R8)(R8*2), R13         \
	ADDQ R13, R13                \
	SUBQ R13, R14                \
	LEAQ ·shiftWords(SB), R9     \
	LEAQ (R9)(R14*4), R9         \
	PXOR X1, X1                  \
	LEAQ (R9)(R8*4), R9          \
	SHIFTCHAIN(R11, (R9))        \
	LEAQ (R9)(R8*4), R9          \
	SHIFTCHAIN(R10, (R9))        \
	LEAQ (R9)(R8*4), R9          \
	SHIFTCHAIN(DX, (R9))         \
	LEAQ (R9)(R8*4), R9          \
	SHIFTCHAIN(BX, (R9))         \
	LEAQ (R9)(R8*4), R9          \
	SHIFTCHAIN(AX, (R9))
