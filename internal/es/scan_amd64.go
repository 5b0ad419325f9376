package es

// scansBlocks tells that there is a plainBlocks here.
const scansBlocks = true

// plainBlocks is plainEnd for as many times 16 bytes as there are from i on among the n
// bytes at in. It gives the offset of what it found, or where it did not look.
//
//go:noescape
func plainBlocks(in *byte, i, n int) int
