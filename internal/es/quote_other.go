//go:build !amd64

package es

// quotesBlocks tells that there is a quoteBlocks here.
const quotesBlocks = false

func quoteBlocks(_, _ *byte, _ int) (read, written int) { return 0, 0 }
