package sanitize

import "golang.org/x/sys/cpu"

// classBlock classes the bytes of a block.
func classBlock(m *byteMasks, b *[blockSize]byte) {
	if cpu.X86.HasAVX2 {
		classAVX2(m, b)
		return
	}
	classWords(m, b)
}

// classAVX2 is classBlock with 32 bytes in a register; masks_amd64.s.
//
//go:noescape
func classAVX2(m *byteMasks, b *[blockSize]byte)

// unlikeBlock is unlikeAt for one block.
func unlikeBlock(b *[blockSize]byte) uint64 {
	if cpu.X86.HasAVX2 {
		return unlikeAVX2(b)
	}
	return unlikeBytes(b)
}

// unlikeAVX2 is unlikeBlock with 32 bytes in a register; masks_amd64.s.
//
//go:noescape
func unlikeAVX2(b *[blockSize]byte) uint64
