//go:build !amd64

package es

// structBlock finds quotes, backslashes and brackets in a block.
func structBlock(m *structMasks, b *[blockSize]byte) { structWords(m, b) }
