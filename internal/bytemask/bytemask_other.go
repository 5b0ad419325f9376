//go:build !amd64

package bytemask

// Of finds quotes, backslashes and brackets in a block.
func (m *Struct) Of(b *[Block]byte) { m.words(b) }

// Of classes the bytes of a block.
func (m *Text) Of(b *[Block]byte) { m.words(b) }

// Of has a bit set for each byte of the class.
func (h *Halves) Of(b *[Block]byte) uint64 { return h.words(b) }
