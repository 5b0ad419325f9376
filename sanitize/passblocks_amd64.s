#include "textflag.h"

// One byte of each constant, spread over a register.
DATA  passBytes<>+0(SB)/1, $0x20 // makes ASCII letters lower case
DATA  passBytes<>+1(SB)/1, $0x61 // a
DATA  passBytes<>+2(SB)/1, $25   // z - a
DATA  passBytes<>+3(SB)/1, $0x30 // 0
DATA  passBytes<>+4(SB)/1, $9
DATA  passBytes<>+5(SB)/1, $0x5c // backslash
DATA  passBytes<>+6(SB)/1, $0x25 // per cent
DATA  passBytes<>+7(SB)/1, $0x0f // the lower half of a byte
GLOBL passBytes<>(SB), RODATA|NOPTR, $8

// As in unlikeAVX2.
DATA  passLower<>+0(SB)/8, $0x0000030202020101
DATA  passLower<>+8(SB)/8, $0x0303020302000300
DATA  passUpper<>+0(SB)/8, $0x0201020102010201
DATA  passUpper<>+8(SB)/8, $0x0201020102010201
GLOBL passLower<>(SB), RODATA|NOPTR, $16
GLOBL passUpper<>(SB), RODATA|NOPTR, $16

// The fields of passScan.
#define TEXT_   0(BX)
#define AT      8(BX)
#define END     16(BX)
#define SEED    24(BX)
#define PRIME   32(BX)
#define WORDS   40(BX)
#define OTHERS  48(BX)
#define PASSES  56(BX)
#define UNLIKE  64(BX)

// JOIN makes one mask of the highest bits of the bytes of lo and hi. DX is lost.
#define JOIN(lo, hi, to) \
	VPMOVMSKB lo, to     \
	VPMOVMSKB hi, DX     \
	SHLQ      $32, DX    \
	ORQ       DX, to

// func passBlocks(a *passScan)
TEXT ·passBlocks(SB), NOSPLIT, $0-8
	MOVQ           a+0(FP), BX
	MOVQ           TEXT_, SI
	MOVQ           AT, CX
	MOVQ           $0x2020202020202020, DI
	VPBROADCASTB   passBytes<>+0(SB), Y9
	VPBROADCASTB   passBytes<>+1(SB), Y10
	VPBROADCASTB   passBytes<>+2(SB), Y11
	VPBROADCASTB   passBytes<>+3(SB), Y12
	VPBROADCASTB   passBytes<>+4(SB), Y13
	VPBROADCASTB   passBytes<>+5(SB), Y14
	VPBROADCASTB   passBytes<>+6(SB), Y8
	VPBROADCASTB   passBytes<>+7(SB), Y15
	VBROADCASTI128 passLower<>(SB), Y6
	VBROADCASTI128 passUpper<>(SB), Y7

loop:
	LEAQ    64(CX), AX
	CMPQ    AX, END
	JGE     done
	VMOVDQU (SI)(CX*1), Y0
	VMOVDQU 32(SI)(CX*1), Y1

	// What is not ASCII, and what begins an escape, is left to the caller.
	VPCMPEQB  Y14, Y0, Y2
	VPCMPEQB  Y14, Y1, Y3
	VPCMPEQB  Y8, Y0, Y4
	VPCMPEQB  Y8, Y1, Y5
	VPOR      Y0, Y2, Y2
	VPOR      Y1, Y3, Y3
	VPOR      Y4, Y2, Y2
	VPOR      Y5, Y3, Y3
	VPOR      Y2, Y3, Y2
	VPMOVMSKB Y2, AX
	TESTL     AX, AX
	JNE       done

	// Letters and digits, as classAVX2 tells them.
	VPOR     Y9, Y0, Y2
	VPOR     Y9, Y1, Y3
	VPSUBB   Y10, Y2, Y2
	VPSUBB   Y10, Y3, Y3
	VPMINUB  Y11, Y2, Y4
	VPMINUB  Y11, Y3, Y5
	VPCMPEQB Y2, Y4, Y4
	VPCMPEQB Y3, Y5, Y5
	JOIN(Y4, Y5, R8)
	VPSUBB   Y12, Y0, Y2
	VPSUBB   Y12, Y1, Y3
	VPMINUB  Y13, Y2, Y4
	VPMINUB  Y13, Y3, Y5
	VPCMPEQB Y2, Y4, Y4
	VPCMPEQB Y3, Y5, Y5
	JOIN(Y4, Y5, R9)

	// Eight digits in a row.
	MOVQ  R9, AX
	SHRQ  $1, AX
	ANDQ  R9, AX
	MOVQ  AX, DX
	SHRQ  $2, DX
	ANDQ  DX, AX
	MOVQ  AX, DX
	SHRQ  $4, DX
	TESTQ DX, AX
	JNE   done

	// R10: the bytes before a run that may go on behind the block.
	MOVQ    R8, R10
	NOTQ    R10
	BSRQ    R10, R10
	JEQ     done
	NOTQ    R9
	BSRQ    R9, R9
	CMPQ    R9, R10
	CMOVQLT R9, R10
	INCQ    R10

	// R13: where runs of five and more letters begin, DX: where those of 13 do.
	MOVQ  R8, AX
	SHRQ  $1, AX
	ANDQ  R8, AX
	MOVQ  AX, R11
	SHRQ  $2, R11
	ANDQ  AX, R11
	LEAQ  (R8)(R8*1), R12
	ANDNQ R8, R12, R12
	MOVQ  R8, R13
	SHRQ  $4, R13
	ANDQ  R11, R13
	ANDQ  R12, R13
	BZHIQ R10, R13, R13
	JEQ   next
	MOVQ  R11, AX
	SHRQ  $4, AX
	ANDQ  R11, AX
	MOVQ  R11, DX
	SHRQ  $8, DX
	ANDQ  AX, DX
	MOVQ  R8, AX
	SHRQ  $12, AX
	ANDQ  AX, DX
	SHRQ  $1, AX
	ANDNQ DX, AX, DX
	ANDQ  R12, DX
	ANDQ  R13, DX
	JEQ   runs
	CMPB  UNLIKE, $0
	JNE   unlike

all:
	// Those of 13 are passed by, or looked up as all others.
	ANDQ  PASSES, DX
	ANDNQ R13, DX, R13

runs:
	TESTQ  R13, R13
	JEQ    next
	TZCNTQ R13, R11
	SHRXQ  R11, R8, R12
	NOTQ   R12
	TZCNTQ R12, R12
	CMPQ   R12, $16
	JHI    done
	ADDQ   CX, R11
	MOVQ   (SI)(R11*1), R9
	ORQ    DI, R9
	MOVQ   R12, AX
	SHLQ   $3, AX
	BZHIQ  AX, R9, R9
	XORL   DX, DX
	SUBQ   $64, AX
	JLE    hash
	MOVQ   8(SI)(R11*1), DX
	ORQ    DI, DX
	BZHIQ  AX, DX, DX

hash:
	XORQ  SEED, R9
	IMULQ PRIME, R9
	MOVQ  R9, AX
	SHRQ  $32, AX
	XORQ  AX, R9
	XORQ  DX, R9
	IMULQ PRIME, R9
	MOVQ  R9, AX
	SHRQ  $32, AX
	XORQ  AX, R9

	// The filter for runs of that length.
	MOVQ    OTHERS, R11
	CMPQ    R12, $13
	CMOVQEQ WORDS, R11
	SHRQ    $49, R9
	MOVQ    R9, AX
	SHRQ    $6, AX
	MOVQ    (R11)(AX*8), R11
	BTQ     R9, R11
	JCS     done
	BLSRQ   R13, R13
	JMP     runs

next:
	ADDQ R10, CX
	JMP  loop

unlike:
	// Those of 13 that hold a letter which no pseudonym has are looked up.
	VPSRLW    $4, Y0, Y2
	VPSRLW    $4, Y1, Y3
	VPAND     Y15, Y0, Y0
	VPAND     Y15, Y1, Y1
	VPAND     Y15, Y2, Y2
	VPAND     Y15, Y3, Y3
	VPSHUFB   Y0, Y6, Y0
	VPSHUFB   Y1, Y6, Y1
	VPSHUFB   Y2, Y7, Y2
	VPSHUFB   Y3, Y7, Y3
	VPAND     Y0, Y2, Y2
	VPAND     Y1, Y3, Y3
	VPXOR     Y0, Y0, Y0
	VPCMPEQB  Y0, Y2, Y2
	VPCMPEQB  Y0, Y3, Y3
	VPMOVMSKB Y2, AX
	VPMOVMSKB Y3, R9
	SHLQ      $32, R9
	ORQ       R9, AX
	NOTQ      AX
	MOVQ      AX, R9      // in any of 13 bytes
	SHRQ      $1, R9
	ORQ       AX, R9
	MOVQ      R9, R11
	SHRQ      $2, R11
	ORQ       R11, R9
	MOVQ      R9, R11
	SHRQ      $4, R11
	MOVQ      R9, R12
	SHRQ      $8, R12
	SHRQ      $12, AX
	ORQ       R11, R9
	ORQ       R12, R9
	ORQ       AX, R9
	ANDNQ     DX, R9, DX
	ANDNQ     R13, DX, R13
	JMP       runs

done:
	MOVQ CX, AT
	VZEROUPPER
	RET
