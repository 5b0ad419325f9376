#include "textflag.h"

DATA  scanBytes<>+0(SB)/8, $0x2222222222222222 // quotes
DATA  scanBytes<>+8(SB)/8, $0x2222222222222222
DATA  scanBytes<>+16(SB)/8, $0x5c5c5c5c5c5c5c5c // backslashes
DATA  scanBytes<>+24(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA  scanBytes<>+32(SB)/8, $0x2020202020202020 // the first that is no control character
DATA  scanBytes<>+40(SB)/8, $0x2020202020202020
GLOBL scanBytes<>(SB), RODATA|NOPTR, $48

// func plainBlocks(in *byte, i, n int) int
//
// As signed numbers, bytes beyond ASCII are below all others, so that one comparison
// finds them and control characters.
TEXT ·plainBlocks(SB), NOSPLIT, $0-32
	MOVQ  in+0(FP), SI
	MOVQ  i+8(FP), CX
	MOVQ  n+16(FP), DX
	SUBQ  $16, DX
	MOVOU scanBytes<>+0(SB), X4
	MOVOU scanBytes<>+16(SB), X5
	MOVOU scanBytes<>+32(SB), X6

loop:
	CMPQ     CX, DX
	JGT      done
	MOVOU    (SI)(CX*1), X0
	MOVO     X0, X1
	MOVO     X6, X2
	PCMPEQB  X4, X1
	PCMPGTB  X0, X2
	PCMPEQB  X5, X0
	POR      X1, X2
	POR      X0, X2
	PMOVMSKB X2, AX
	TESTL    AX, AX
	JNE      found
	ADDQ     $16, CX
	JMP      loop

found:
	BSFL AX, AX
	ADDQ AX, CX

done:
	MOVQ CX, ret+24(FP)
	RET
