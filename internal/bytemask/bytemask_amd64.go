package bytemask

import "golang.org/x/sys/cpu"

// Of finds quotes, backslashes and brackets in a block.
func (m *Struct) Of(b *[Block]byte) {
	if cpu.X86.HasAVX2 {
		structAVX2(m, b)
		return
	}
	m.words(b)
}

// Of classes the bytes of a block.
func (m *Text) Of(b *[Block]byte) {
	if cpu.X86.HasAVX2 {
		textAVX2(m, b)
		return
	}
	m.words(b)
}

// Of has a bit set for each byte of the class.
func (h *Halves) Of(b *[Block]byte) uint64 {
	if cpu.X86.HasAVX2 {
		return halvesAVX2(h, b)
	}
	return h.words(b)
}

// The same with 32 bytes in a register; bytemask_amd64.s.

//go:noescape
func structAVX2(m *Struct, b *[Block]byte)

//go:noescape
func textAVX2(m *Text, b *[Block]byte)

//go:noescape
func halvesAVX2(h *Halves, b *[Block]byte) uint64
