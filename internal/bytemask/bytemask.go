// Package bytemask classes the bytes of a text 64 at a time: a mask has bit i set
// where byte i of the block is of a class. It knows bytes, and nothing of what a text
// says; it reads no byte behind the array that a text is in, and keeps none.
//
// Where the machine has AVX2 the masks are made by a few instructions, elsewhere
// eight bytes at a time in plain Go; both make the same.
package bytemask

import "encoding/binary"

// Block is how many bytes are looked at at once.
const Block = 64

// Struct says where in a block stands what JSON is made of. The assembler knows the
// order of the fields.
type Struct struct {
	Quote, Backslash uint64
	Open, Close      uint64 // brackets and braces
}

// words is Of in plain Go.
func (m *Struct) words(b *[Block]byte) {
	*m = Struct{}
	for i := 0; i < Block; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		folded := w | LowerBits // [ and {, ] and } differ in this bit
		m.Quote |= gather(zeroBytes(w^EveryByte*'"')) << i
		m.Backslash |= gather(zeroBytes(w^EveryByte*'\\')) << i
		m.Open |= gather(zeroBytes(folded^EveryByte*'{')) << i
		m.Close |= gather(zeroBytes(folded^EveryByte*'}')) << i
	}
}

// Text says what the bytes of a block are. The assembler knows the order of the fields.
type Text struct {
	Letter uint64 // ASCII letters
	Digit  uint64 // ASCII digits
	Wide   uint64 // not ASCII
	Escape uint64 // \ and %, which escapes of JSON and of URLs begin with
	Colon  uint64
}

// At classes the bytes of s from i on, which must be inside of s. Behind the end of s
// no bit is set.
func (m *Text) At(s []byte, i int) {
	if i+Block <= cap(s) {
		// What lies behind the end may be read: it is of the same array.
		m.Of((*[Block]byte)(s[i : i+Block]))
	} else {
		b := Rest(s[i:])
		m.Of(&b)
	}
	if n := len(s) - i; n < Block {
		inside := uint64(1)<<uint(n) - 1
		m.Letter &= inside
		m.Digit &= inside
		m.Wide &= inside
		m.Escape &= inside
		m.Colon &= inside
	}
}

// words is Of in plain Go.
func (m *Text) words(b *[Block]byte) {
	*m = Text{}
	for i := 0; i < Block; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		notLetter, _ := NotLetters(w)
		m.Letter |= gather(^notLetter) << i
		m.Digit |= gather(^NotDigits(w)) << i
		m.Wide |= gather(w) << i
		m.Escape |= (gather(zeroBytes(w^EveryByte*'\\')) | gather(zeroBytes(w^EveryByte*'%'))) << i
		m.Colon |= gather(zeroBytes(w^EveryByte*':')) << i
	}
}

// Halves is a class of bytes by their halves: a byte is of it where what its lower half
// has in Lower and its upper half in Upper share a bit. The assembler knows the order of
// the fields.
type Halves struct {
	Lower, Upper [16]byte
}

// At has a bit set for each byte of the class among those of s from i on, which must be
// inside of s. What the bits behind the end of s are is of no account.
func (h *Halves) At(s []byte, i int) uint64 {
	if i+Block <= cap(s) {
		return h.Of((*[Block]byte)(s[i : i+Block]))
	}
	b := Rest(s[i:])
	return h.Of(&b)
}

// words is Of in plain Go.
func (h *Halves) words(b *[Block]byte) (mask uint64) {
	for i, c := range b {
		if h.Lower[c&0xf]&h.Upper[c>>4] != 0 {
			mask |= 1 << i
		}
	}
	return mask
}

// Rest is a block that begins with what is left of a text, less than one, and ends with
// zeros.
func Rest(s []byte) (b [Block]byte) {
	copy(b[:], s)
	return b
}
