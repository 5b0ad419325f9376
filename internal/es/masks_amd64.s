#include "textflag.h"

// One byte of each constant, spread over a register where it is used.
DATA  structBytes<>+0(SB)/1, $0x22 // quote
DATA  structBytes<>+1(SB)/1, $0x5c // backslash
DATA  structBytes<>+2(SB)/1, $0x20 // the bit in which [ and {, ] and } differ
DATA  structBytes<>+3(SB)/1, $0x7b // {
DATA  structBytes<>+4(SB)/1, $0x7d // }
GLOBL structBytes<>(SB), RODATA|NOPTR, $5

// FIND stores the mask of the bytes of lo and hi that are equal to that of Y2.
#define FIND(lo, hi, to) \
	VPCMPEQB  Y2, lo, Y5 \
	VPCMPEQB  Y2, hi, Y6 \
	VPMOVMSKB Y5, AX     \
	VPMOVMSKB Y6, BX     \
	SHLQ      $32, BX    \
	ORQ       BX, AX     \
	MOVQ      AX, to

// func structAVX2(m *structMasks, b *[blockSize]byte)
TEXT ·structAVX2(SB), NOSPLIT, $0-16
	MOVQ         m+0(FP), DI
	MOVQ         b+8(FP), SI
	VMOVDQU      (SI), Y0
	VMOVDQU      32(SI), Y1
	VPBROADCASTB structBytes<>+0(SB), Y2
	FIND(Y0, Y1, 0(DI))
	VPBROADCASTB structBytes<>+1(SB), Y2
	FIND(Y0, Y1, 8(DI))
	VPBROADCASTB structBytes<>+2(SB), Y2
	VPOR         Y2, Y0, Y3
	VPOR         Y2, Y1, Y4
	VPBROADCASTB structBytes<>+3(SB), Y2
	FIND(Y3, Y4, 16(DI))
	VPBROADCASTB structBytes<>+4(SB), Y2
	FIND(Y3, Y4, 24(DI))
	VZEROUPPER
	RET
