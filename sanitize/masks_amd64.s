#include "textflag.h"

// One byte of each constant, spread over a register where it is used.
DATA  classBytes<>+0(SB)/1, $0x20 // makes ASCII letters lower case
DATA  classBytes<>+1(SB)/1, $0x61 // a
DATA  classBytes<>+2(SB)/1, $25   // z - a
DATA  classBytes<>+3(SB)/1, $0x30 // 0
DATA  classBytes<>+4(SB)/1, $9
DATA  classBytes<>+5(SB)/1, $0x5c // backslash
DATA  classBytes<>+6(SB)/1, $0x25 // per cent
DATA  classBytes<>+7(SB)/1, $0x3a // colon
GLOBL classBytes<>(SB), RODATA|NOPTR, $8

// JOIN makes one mask of the highest bits of the bytes of lo and hi and stores it.
#define JOIN(lo, hi, to) \
	VPMOVMSKB lo, AX     \
	VPMOVMSKB hi, BX     \
	SHLQ      $32, BX    \
	ORQ       BX, AX     \
	MOVQ      AX, to

// func classAVX2(m *byteMasks, b *[blockSize]byte)
TEXT ·classAVX2(SB), NOSPLIT, $0-16
	MOVQ    m+0(FP), DI
	MOVQ    b+8(FP), SI
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	// A byte is a letter if, in lower case and less 'a', it is at most 25: the
	// smaller of it and 25 is then itself. Bytes wrap around below zero.
	VPBROADCASTB classBytes<>+0(SB), Y2
	VPBROADCASTB classBytes<>+1(SB), Y3
	VPBROADCASTB classBytes<>+2(SB), Y4
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
	VPBROADCASTB classBytes<>+3(SB), Y3
	VPBROADCASTB classBytes<>+4(SB), Y4
	VPSUBB       Y3, Y0, Y5
	VPSUBB       Y3, Y1, Y6
	VPMINUB      Y4, Y5, Y7
	VPMINUB      Y4, Y6, Y8
	VPCMPEQB     Y5, Y7, Y7
	VPCMPEQB     Y6, Y8, Y8
	JOIN(Y7, Y8, 8(DI))

	JOIN(Y0, Y1, 16(DI))

	VPBROADCASTB classBytes<>+5(SB), Y3
	VPBROADCASTB classBytes<>+6(SB), Y4
	VPCMPEQB     Y3, Y0, Y5
	VPCMPEQB     Y3, Y1, Y6
	VPCMPEQB     Y4, Y0, Y7
	VPCMPEQB     Y4, Y1, Y8
	VPOR         Y5, Y7, Y7
	VPOR         Y6, Y8, Y8
	JOIN(Y7, Y8, 24(DI))

	VPBROADCASTB classBytes<>+7(SB), Y3
	VPCMPEQB     Y3, Y0, Y5
	VPCMPEQB     Y3, Y1, Y6
	JOIN(Y5, Y6, 32(DI))

	VZEROUPPER
	RET

// By the lower half of a byte: which of the two letters that have it no pseudonym has,
// bit 0 for the one whose upper half is even. By the upper half: which of the two.
DATA  unlikeLower<>+0(SB)/8, $0x0000030202020101
DATA  unlikeLower<>+8(SB)/8, $0x0303020302000300
DATA  unlikeUpper<>+0(SB)/8, $0x0201020102010201
DATA  unlikeUpper<>+8(SB)/8, $0x0201020102010201
DATA  unlikeHalf<>+0(SB)/1, $0x0f
GLOBL unlikeLower<>(SB), RODATA|NOPTR, $16
GLOBL unlikeUpper<>(SB), RODATA|NOPTR, $16
GLOBL unlikeHalf<>(SB), RODATA|NOPTR, $1

// func unlikeAVX2(b *[blockSize]byte) uint64
TEXT ·unlikeAVX2(SB), NOSPLIT, $0-16
	MOVQ           b+0(FP), SI
	VMOVDQU        (SI), Y0
	VMOVDQU        32(SI), Y1
	VBROADCASTI128 unlikeLower<>(SB), Y2
	VBROADCASTI128 unlikeUpper<>(SB), Y3
	VPBROADCASTB   unlikeHalf<>(SB), Y4
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
	JOIN(Y7, Y8, ret+8(FP))
	NOTQ           ret+8(FP)
	VZEROUPPER
	RET
