//go:build !amd64

package sanitize

// classBlock classes the bytes of a block.
func classBlock(m *byteMasks, b *[blockSize]byte) { classWords(m, b) }

// unlikeBlock is unlikeAt for one block.
func unlikeBlock(b *[blockSize]byte) uint64 { return unlikeBytes(b) }
