#include "textflag.h"

// By the length of a run: which bytes of the 16 at its beginning are its own, and what
// these have set if all are lower case.
#define MASKS(n, own0, own1)                                        \
	DATA nearMasks<>+(32*n+0)(SB)/8, $(own0)                    \
	DATA nearMasks<>+(32*n+8)(SB)/8, $(own1)                    \
	DATA nearMasks<>+(32*n+16)(SB)/8, $(own0&0x2020202020202020) \
	DATA nearMasks<>+(32*n+24)(SB)/8, $(own1&0x2020202020202020)

MASKS(0, 0, 0)
MASKS(1, 0xff, 0)
MASKS(2, 0xffff, 0)
MASKS(3, 0xffffff, 0)
MASKS(4, 0xffffffff, 0)
MASKS(5, 0xffffffffff, 0)
MASKS(6, 0xffffffffffff, 0)
MASKS(7, 0xffffffffffffff, 0)
MASKS(8, 0xffffffffffffffff, 0)
MASKS(9, 0xffffffffffffffff, 0xff)
MASKS(10, 0xffffffffffffffff, 0xffff)
MASKS(11, 0xffffffffffffffff, 0xffffff)
MASKS(12, 0xffffffffffffffff, 0xffffffff)
MASKS(13, 0xffffffffffffffff, 0xffffffffff)
MASKS(14, 0xffffffffffffffff, 0xffffffffffff)
MASKS(15, 0xffffffffffffffff, 0xffffffffffffff)
MASKS(16, 0xffffffffffffffff, 0xffffffffffffffff)
GLOBL nearMasks<>(SB), RODATA|NOPTR, $544

DATA  nearHex<>+0(SB)/8, $0x6666666666666666 // the last hexadecimal digit
DATA  nearHex<>+8(SB)/8, $0x6666666666666666
GLOBL nearHex<>(SB), RODATA|NOPTR, $16

// The fields of nearScan.
#define DST     0(BX)
#define SRC     8(BX)
#define ENTRIES 16(BX)
#define MASK    24(BX)
#define SEED    32(BX)
#define PRIME   40(BX)
#define LETTERS 48(BX)
#define STOPS   56(BX)
#define ROUND   64(BX)
#define SIZE    72(BX)
#define AT      80(BX)
#define INSIDE  88(BX)
#define WRITTEN 96(BX)
#define AHEAD   104(BX)

// func nearAhead(a *nearScan)
TEXT ·nearAhead(SB), NOSPLIT, $0-8
	MOVQ a+0(FP), BX
	MOVQ SRC, SI
	MOVQ LETTERS, R8
	MOVQ AHEAD, DI
	MOVQ ENTRIES, R12
	MOVQ SEED, R11
	MOVQ PRIME, R9
	LEAQ nearMasks<>(SB), R15

ahead:
	BSFQ R8, CX // where the next run begins
	JEQ  over
	MOVQ R8, AX
	SHRQ CX, AX
	NOTQ AX
	BSFQ AX, DX // its length
	JEQ  over
	MOVQ R8, R10
	NEGQ R10
	ANDQ R8, R10
	ADDQ R8, R10
	ANDQ R10, R8 // without it
	CMPQ DX, $16
	JHI  ahead
	SHLQ $5, DX
	MOVQ (SI)(CX*1), AX
	MOVQ 8(SI)(CX*1), R13
	ANDQ 0(R15)(DX*1), AX
	ANDQ 8(R15)(DX*1), R13

	XORQ  R11, AX
	IMULQ R9, AX
	MOVQ  AX, R10
	SHRQ  $32, R10
	XORQ  R10, AX
	XORQ  R13, AX
	IMULQ R9, AX
	MOVQ  AX, R10
	SHRQ  $32, R10
	XORQ  R10, AX
	ANDQ  MASK, AX
	SHLQ  $5, AX

	MOVL       AX, (DI)(CX*4)
	PREFETCHT0 (R12)(AX*1)
	JMP        ahead

over:
	RET

// func nearHits(a *nearScan)
TEXT ·nearHits(SB), NOSPLIT, $0-8
	MOVQ  a+0(FP), BX
	MOVQ  DST, DI
	MOVQ  SRC, SI
	MOVQ  LETTERS, R8
	MOVQ  STOPS, R9
	ORQ   R8, R9          // where separators end
	MOVQ  AT, CX
	MOVQ  INSIDE, R15
	MOVOU nearHex<>(SB), X7

loop:
	CMPQ  CX, SIZE
	JGE   done
	MOVQ  R8, AX
	SHRQ  CX, AX
	TESTQ $1, AX
	JNE   run
	MOVQ  R9, DX
	SHRQ  CX, DX
	BSFQ  DX, DX          // how many separators stand here
	JEQ   rest
	TESTQ DX, DX
	JEQ   done

separators:
	MOVOU 0(SI)(CX*1), X0
	MOVOU X0, 0(DI)
	CMPQ  DX, $16
	JHI   many

separated:
	ADDQ DX, DI
	ADDQ DX, CX
	XORL R15, R15
	JMP  loop

rest:
	MOVQ SIZE, DX
	SUBQ CX, DX
	JMP  separators

many:
	MOVOU 16(SI)(CX*1), X0
	MOVOU 32(SI)(CX*1), X1
	MOVOU 48(SI)(CX*1), X2
	MOVOU X0, 16(DI)
	MOVOU X1, 32(DI)
	MOVOU X2, 48(DI)
	JMP   separated

run:
	NOTQ AX
	BSFQ AX, DX           // the length of the run
	JEQ  done
	CMPQ DX, $16
	JHI  done
	MOVQ DX, R10
	SHLQ $5, R10
	LEAQ nearMasks<>(SB), AX
	ADDQ R10, AX

	// Upper case is left to the caller.
	MOVOU    (SI)(CX*1), X0
	MOVOU    16(AX), X1
	MOVO     X0, X2
	PAND     X1, X2
	PCMPEQB  X1, X2
	PMOVMSKB X2, R10
	CMPL     R10, $0xffff
	JNE      done

	// So is what may begin a shape: hexadecimal digits, nothing before them.
	MOVQ     (SI)(CX*1), R12
	TESTQ    R15, R15
	JNE      hash
	MOVOU    0(AX), X1
	PAND     X1, X0
	PCMPGTB  X7, X0
	PMOVMSKB X0, R10
	TESTL    R10, R10
	JEQ      hex

hash:
	MOVQ  8(SI)(CX*1), R13
	ANDQ  0(AX), R12
	ANDQ  8(AX), R13
	MOVQ  AHEAD, R10
	MOVL  (R10)(CX*4), R11
	MOVQ  ENTRIES, AX
	ADDQ  R11, AX
	CMPQ  R12, 0(AX)
	JNE   second
	CMPQ  R13, 8(AX)
	JNE   second

found:
	CMPB    29(AX), $0
	JNE     kept
	MOVWLZX 30(AX), R10
	CMPQ    R10, ROUND
	JNE     done
	MOVOU   16(AX), X0
	MOVOU   X0, (DI)
	ADDQ    $13, DI
	ADDQ    DX, CX
	MOVL    $1, R15
	JMP     loop

kept:
	MOVOU (SI)(CX*1), X0
	MOVOU X0, (DI)
	ADDQ  DX, DI
	ADDQ  DX, CX
	MOVL  $1, R15
	JMP   loop

second:
	XORQ $32, R11
	MOVQ R11, AX
	ADDQ ENTRIES, AX
	CMPQ R12, 0(AX)
	JNE  done
	CMPQ R13, 8(AX)
	JEQ  found

	JMP done

hex:
	LEAQ (CX)(DX*1), R10
	CMPB (SI)(R10*1), $0x20 // a blank ends what is no shape
	JEQ  hash

done:
	MOVQ CX, AT
	MOVQ R15, INSIDE
	SUBQ DST, DI
	MOVQ DI, WRITTEN
	RET
