package es

import "golang.org/x/sys/cpu"

// structBlock finds quotes, backslashes and brackets in a block.
func structBlock(m *structMasks, b *[blockSize]byte) {
	if cpu.X86.HasAVX2 {
		structAVX2(m, b)
		return
	}
	structWords(m, b)
}

// structAVX2 is structBlock with 32 bytes in a register; masks_amd64.s.
//
//go:noescape
func structAVX2(m *structMasks, b *[blockSize]byte)
