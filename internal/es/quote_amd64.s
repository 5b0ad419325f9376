#include "textflag.h"

DATA  quoteBytes<>+0(SB)/8, $0x2222222222222222 // quotes
DATA  quoteBytes<>+8(SB)/8, $0x2222222222222222
DATA  quoteBytes<>+16(SB)/8, $0x5c5c5c5c5c5c5c5c // backslashes
DATA  quoteBytes<>+24(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA  quoteBytes<>+32(SB)/8, $0x1f1f1f1f1f1f1f1f // the last control character
DATA  quoteBytes<>+40(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL quoteBytes<>(SB), RODATA|NOPTR, $48

// STOPS makes a bit for each byte of x that needs an escape. A byte is a control
// character if the smaller of it and the last of them is itself.
#define STOPS(x, to) \
	MOVO     x, X4      \
	MOVO     x, X5      \
	MOVO     x, X6      \
	PCMPEQB  X12, X4    \
	PCMPEQB  X13, X5    \
	PMINUB   X14, X6    \
	PCMPEQB  x, X6      \
	POR      X5, X4     \
	POR      X6, X4     \
	PMOVMSKB X4, to

// func quoteBlocks(dst, src *byte, n int) (read, written int)
TEXT ·quoteBlocks(SB), NOSPLIT, $0-40
	MOVQ  dst+0(FP), DI
	MOVQ  src+8(FP), SI
	MOVQ  n+16(FP), R8
	ADDQ  SI, R8
	MOVOU quoteBytes<>+0(SB), X12
	MOVOU quoteBytes<>+16(SB), X13
	MOVOU quoteBytes<>+32(SB), X14

block:
	CMPQ  SI, R8
	JAE   done
	MOVOU 0(SI), X0
	MOVOU 16(SI), X1
	MOVOU 32(SI), X2
	MOVOU 48(SI), X3
	STOPS(X0, R9)
	STOPS(X1, AX)
	STOPS(X2, BX)
	STOPS(X3, DX)
	SHLQ  $16, AX
	SHLQ  $32, BX
	SHLQ  $48, DX
	ORQ   AX, R9
	ORQ   BX, R9
	ORQ   DX, R9
	JNZ   some
	MOVOU X0, 0(DI)
	MOVOU X1, 16(DI)
	MOVOU X2, 32(DI)
	MOVOU X3, 48(DI)
	ADDQ  $64, SI
	ADDQ  $64, DI
	JMP   block

some:
	MOVQ SI, R10 // what is not written yet begins here

next:
	BSFQ  R9, AX
	LEAQ  (SI)(AX*1), BX // the byte to escape
	MOVQ  BX, DX
	SUBQ  R10, DX
	MOVOU 0(R10), X4
	MOVOU 16(R10), X5
	MOVOU X4, 0(DI)
	MOVOU X5, 16(DI)
	CMPQ  DX, $32
	JA    long

copied:
	ADDQ    DX, DI
	MOVBLZX (BX), AX
	CMPL    AX, $0x20
	JB      control

escape:
	SHLL $8, AX
	ORL  $0x5c, AX
	MOVW AX, (DI)
	ADDQ $2, DI
	LEAQ 1(BX), R10
	LEAQ -1(R9), AX
	ANDQ AX, R9
	JNZ  next

	ADDQ  $64, SI
	MOVQ  SI, DX
	SUBQ  R10, DX
	MOVOU 0(R10), X4
	MOVOU 16(R10), X5
	MOVOU 32(R10), X6
	MOVOU 48(R10), X7
	MOVOU X4, 0(DI)
	MOVOU X5, 16(DI)
	MOVOU X6, 32(DI)
	MOVOU X7, 48(DI)
	ADDQ  DX, DI
	JMP   block

long:
	MOVOU 32(R10), X4
	MOVOU 48(R10), X5
	MOVOU X4, 32(DI)
	MOVOU X5, 48(DI)
	JMP   copied

control:
	CMPL AX, $0x0a // a newline, as stands behind each line of a bulk
	JNE  rare
	MOVL $0x6e, AX
	JMP  escape

rare:
	MOVQ BX, SI

done:
	SUBQ src+8(FP), SI
	SUBQ dst+0(FP), DI
	MOVQ SI, read+24(FP)
	MOVQ DI, written+32(FP)
	RET
