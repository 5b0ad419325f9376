package es

// quotesBlocks tells that there is a quoteBlocks here.
const quotesBlocks = true

// quoteBlocks writes n bytes of src, a multiple of 64, as they stand in a JSON
// string, and tells how many it read and wrote. It reads fewer where a control
// character comes that has no short escape. Behind the n bytes 64 more must be
// readable, and dst must have room for twice as many and 64.
//
//go:noescape
func quoteBlocks(dst, src *byte, n int) (read, written int)
