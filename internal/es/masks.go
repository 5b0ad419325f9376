package es

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is how many bytes of a text are looked at at once.
const blockSize = 64

// structMasks says where in a block stands what JSON is made of: bit i of a mask is
// for byte i.
type structMasks struct {
	quote, backslash uint64
	open, close      uint64 // brackets and braces
}

// structWords is structBlock in plain Go, eight bytes at a time.
func structWords(m *structMasks, b *[blockSize]byte) {
	const each = 0x0101010101010101
	*m = structMasks{}
	for i := 0; i < blockSize; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		folded := w | each*0x20 // [ and {, ] and } differ in this bit
		m.quote |= equalBytes(w^each*'"') << i
		m.backslash |= equalBytes(w^each*'\\') << i
		m.open |= equalBytes(folded^each*'{') << i
		m.close |= equalBytes(folded^each*'}') << i
	}
}

// equalBytes has bit i set where byte i of w is zero.
func equalBytes(w uint64) uint64 {
	const highs = 0x8080808080808080
	zero := ^((w&^uint64(highs) + ^uint64(highs)) | w) & highs
	return zero >> 7 * 0x0102040810204080 >> 56
}

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
	for s := 1; s < blockSize; s *= 2 {
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
func (s *skipper) block(b *[blockSize]byte) int {
	var m structMasks
	structBlock(&m, b)
	if m.backslash|s.escapes != 0 {
		m.quote &^= escapedBits(m.backslash, &s.escapes)
	}
	inside := insideBits(m.quote) ^ s.inside
	s.inside = uint64(int64(inside) >> 63)
	m.open &^= inside
	m.close &^= inside
	opened, closed := bits.OnesCount64(m.open), bits.OnesCount64(m.close)
	if closed < s.depth {
		s.depth += opened - closed
		return 0
	}
	for ; m.close != 0; m.close &= m.close - 1 {
		at := bits.TrailingZeros64(m.close)
		below := m.open & (1<<uint(at) - 1)
		s.depth += bits.OnesCount64(below) - 1
		m.open ^= below
		if s.depth == 0 {
			return at + 1
		}
	}
	s.depth += bits.OnesCount64(m.open)
	return 0
}

// openEnd is the place behind the end of the innermost value that is open at i, -1
// where the text ends before.
func openEnd(in []byte, i int) int {
	s := skipper{depth: 1}
	for ; i+blockSize <= len(in); i += blockSize {
		if n := s.block((*[blockSize]byte)(in[i:])); n > 0 {
			return i + n
		}
	}
	var rest [blockSize]byte
	copy(rest[:], in[i:])
	if n := s.block(&rest); n > 0 {
		return i + n
	}
	return -1
}
