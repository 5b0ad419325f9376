#include "textflag.h"

// One byte of each constant, spread over a register where it is used.
DATA  structBytes<>+0(SB)/1, $0x22 // quote
DATA  structBytes<>+1(SB)/1, $0x5c // backslash
DATA  structBytes<>+2(SB)/1, $0x20 // the bit in which [ and {, ] and } differ
DATA  structBytes<>+3(SB)/1, $0x7b // {
DATA  structBytes<>+4(SB)/1, $0x7d // }
GLOBL structBytes<>(SB), RODATA|NOPTR, $5

DATA  textBytes<>+0(SB)/1, $0x20 // makes ASCII letters lower case
DATA  textBytes<>+1(SB)/1, $0x61 // a
DATA  textBytes<>+2(SB)/1, $25   // z - a
DATA  textBytes<>+3(SB)/1, $0x30 // 0
DATA  textBytes<>+4(SB)/1, $9
DATA  textBytes<>+5(SB)/1, $0x5c // backslash
DATA  textBytes<>+6(SB)/1, $0x25 // per cent
DATA  textBytes<>+7(SB)/1, $0x3a // colon
GLOBL textBytes<>(SB), RODATA|NOPTR, $8

DATA  lowerHalf<>+0(SB)/1, $0x0f
GLOBL lowerHalf<>(SB), RODATA|NOPTR, $1

// JOIN makes one mask of the highest bits of the bytes of lo and hi and stores it.
#define JOIN(lo, hi, to) \
	VPMOVMSKB lo, AX     \
	VPMOVMSKB hi, BX     \
	SHLQ      $32, BX    \
	ORQ       BX, AX     \
	MOVQ      AX, to

// FIND stores the mask of the bytes of lo and hi that are equal to those of x.
#define FIND(x, lo, hi, to) \
	VPCMPEQB x, lo, Y5 \
	VPCMPEQB x, hi, Y6 \
	JOIN(Y5, Y6, to)

// func structAVX2(m *Struct, b *[Block]byte)
TEXT ·structAVX2(SB), NOSPLIT, $0-16
	MOVQ         m+0(FP), DI
	MOVQ         b+8(FP), SI
	VMOVDQU      (SI), Y0
	VMOVDQU      32(SI), Y1
	VPBROADCASTB structBytes<>+0(SB), Y2
	FIND(Y2, Y0, Y1, 0(DI))
	VPBROADCASTB structBytes<>+1(SB), Y2
	FIND(Y2, Y0, Y1, 8(DI))
	VPBROADCASTB structBytes<>+2(SB), Y2
	VPOR         Y2, Y0, Y3
	VPOR         Y2, Y1, Y4
	VPBROADCASTB structBytes<>+3(SB), Y2
	FIND(Y2, Y3, Y4, 16(DI))
	VPBROADCASTB structBytes<>+4(SB), Y2
	FIND(Y2, Y3, Y4, 24(DI))
	VZEROUPPER
	RET

// func textAVX2(m *Text, b *[Block]byte)
TEXT ·textAVX2(SB), NOSPLIT, $0-16
	MOVQ    m+0(FP), DI
	MOVQ    b+8(FP), SI
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	// A byte is a letter if, in lower case and less 'a', it is at most 25: the
	// smaller of it and 25 is then itself. Bytes wrap around below zero.
	VPBROADCASTB textBytes<>+0(SB), Y2
	VPBROADCASTB textBytes<>+1(SB), Y3
	VPBROADCASTB textBytes<>+2(SB), Y4
	VPOR         Y2, Y0, Y5
	VPOR         Y2, Y1, Y6
	VPSUBB       Y3, Y5, Y5
	VPSUBB       Y3, Y6, Y6
	VPMINUB      Y4, Y5, Y7
	VPMINUB      Y4, Y6, Y8
	VPCMPEQB     Y5, Y7, Y7
	VPCMPEQB     Y6, Y8, Y8
	JOIN(Y7, Y8, 0(DI))

	// Digits, in the same way.
	VPBROADCASTB textBytes<>+3(SB), Y3
	VPBROADCASTB textBytes<>+4(SB), Y4
	VPSUBB       Y3, Y0, Y5
	VPSUBB       Y3, Y1, Y6
	VPMINUB      Y4, Y5, Y7
	VPMINUB      Y4, Y6, Y8
	VPCMPEQB     Y5, Y7, Y7
	VPCMPEQB     Y6, Y8, Y8
	JOIN(Y7, Y8, 8(DI))

	JOIN(Y0, Y1, 16(DI))

	VPBROADCASTB textBytes<>+5(SB), Y3
	VPBROADCASTB textBytes<>+6(SB), Y4
	VPCMPEQB     Y3, Y0, Y5
	VPCMPEQB     Y3, Y1, Y6
	VPCMPEQB     Y4, Y0, Y7
	VPCMPEQB     Y4, Y1, Y8
	VPOR         Y5, Y7, Y7
	VPOR         Y6, Y8, Y8
	JOIN(Y7, Y8, 24(DI))

	VPBROADCASTB textBytes<>+7(SB), Y3
	FIND(Y3, Y0, Y1, 32(DI))

	VZEROUPPER
	RET

// func halvesAVX2(h *Halves, b *[Block]byte) uint64
TEXT ·halvesAVX2(SB), NOSPLIT, $0-24
	MOVQ           h+0(FP), DI
	MOVQ           b+8(FP), SI
	VMOVDQU        (SI), Y0
	VMOVDQU        32(SI), Y1
	VBROADCASTI128 (DI), Y2
	VBROADCASTI128 16(DI), Y3
	VPBROADCASTB   lowerHalf<>(SB), Y4
	VPXOR          Y9, Y9, Y9
	VPAND          Y4, Y0, Y5
	VPAND          Y4, Y1, Y6
	VPSRLW         $4, Y0, Y7
	VPSRLW         $4, Y1, Y8
	VPAND          Y4, Y7, Y7
	VPAND          Y4, Y8, Y8
	VPSHUFB        Y5, Y2, Y5
	VPSHUFB        Y6, Y2, Y6
	VPSHUFB        Y7, Y3, Y7
	VPSHUFB        Y8, Y3, Y8
	VPAND          Y5, Y7, Y7
	VPAND          Y6, Y8, Y8
	VPCMPEQB       Y9, Y7, Y7
	VPCMPEQB       Y9, Y8, Y8
	JOIN(Y7, Y8, ret+16(FP))
	NOTQ           ret+16(FP)
	VZEROUPPER
	RET
