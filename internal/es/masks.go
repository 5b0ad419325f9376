package es

import (
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// escapedBits are the bytes of a block that a backslash escapes. carry is 1 where
// the block before ended with a backslash that escapes, and is set for the next one.
// In a run of backslashes every second escapes the one behind it; adding the first
// bit of a run carries to the bit behind its last. The method is that of Langdale and
// Lemire, "Parsing gigabytes of JSON per second", 2019, 3.1.1.
func escapedBits(backslash uint64, carry *uint64) uint64 {
	const even = 0x5555555555555555
	backslash &^= *carry // it is escaped itself
	behind := backslash<<1 | *carry
	odd := backslash &^ even &^ behind // where runs begin at odd places
	sum, over := bits.Add64(odd, backslash, 0)
	*carry = over
	return (even ^ sum<<1) & behind
}

// insideBits are the bytes from each opening quote on to the one before the closing.
func insideBits(quote uint64) uint64 {
	for s := 1; s < bytemask.Block; s *= 2 {
		quote ^= quote << s
	}
	return quote
}

// skipper passes over the rest of an open value by its quotes and brackets alone.
type skipper struct {
	depth   int
	inside  uint64 // all bits set where the last block ended in a string
	escapes uint64 // see escapedBits
}

// block takes the next block. It returns the place behind the bracket that closes
// the value, 0 where that is not in the block.
func (s *skipper) block(b *[bytemask.Block]byte) int {
	var m bytemask.Struct
	m.Of(b)
	if m.Backslash|s.escapes != 0 {
		m.Quote &^= escapedBits(m.Backslash, &s.escapes)
	}
	inside := insideBits(m.Quote) ^ s.inside
	s.inside = uint64(int64(inside) >> 63)
	m.Open &^= inside
	m.Close &^= inside
	opened, closed := bits.OnesCount64(m.Open), bits.OnesCount64(m.Close)
	if closed < s.depth {
		s.depth += opened - closed
		return 0
	}
	for ; m.Close != 0; m.Close &= m.Close - 1 {
		at := bits.TrailingZeros64(m.Close)
		below := m.Open & (1<<uint(at) - 1)
		s.depth += bits.OnesCount64(below) - 1
		m.Open ^= below
		if s.depth == 0 {
			return at + 1
		}
	}
	s.depth += bits.OnesCount64(m.Open)
	return 0
}

// openEnd is the place behind the end of the innermost value that is open at i, -1
// where the text ends before.
func openEnd(in []byte, i int) int {
	s := skipper{depth: 1}
	for ; i+bytemask.Block <= len(in); i += bytemask.Block {
		if n := s.block((*[bytemask.Block]byte)(in[i:])); n > 0 {
			return i + n
		}
	}
	rest := bytemask.Rest(in[i:])
	if n := s.block(&rest); n > 0 {
		return i + n
	}
	return -1
}
