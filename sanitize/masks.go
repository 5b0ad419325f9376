package sanitize

import (
	"encoding/binary"
	"math/bits"
)

// blockSize is how many bytes of a text are classed at once.
const blockSize = 64

// byteMasks says what the bytes of a block are: bit i of a mask is for byte i.
type byteMasks struct {
	letter uint64 // ASCII letters
	digit  uint64 // ASCII digits
	wide   uint64 // not ASCII
	escape uint64 // what escapes of JSON and of URLs begin with
	colon  uint64
}

// blockAt classes the bytes of s from i on, which must be inside of s. Behind the
// end of s no bit is set.
func blockAt(m *byteMasks, s []byte, i int) {
	if i+blockSize <= cap(s) {
		// What lies behind the end may be read: it is of the same array.
		classBlock(m, (*[blockSize]byte)(s[i:i+blockSize]))
	} else {
		var b [blockSize]byte
		copy(b[:], s[i:])
		classBlock(m, &b)
	}
	if n := len(s) - i; n < blockSize {
		inside := uint64(1)<<uint(n) - 1
		m.letter &= inside
		m.digit &= inside
		m.wide &= inside
		m.escape &= inside
		m.colon &= inside
	}
}

// classWords is classBlock in plain Go, eight bytes at a time.
func classWords(m *byteMasks, b *[blockSize]byte) {
	*m = byteMasks{}
	for i := 0; i < blockSize; i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		notLetter, _ := notLetters(w)
		backslash, percent := w^everyByte*'\\', w^everyByte*'%'
		m.letter |= gather(^notLetter) << i
		m.digit |= gather(^notDigits(w)) << i
		m.wide |= gather(w) << i
		m.escape |= (gather(zeroBytes(backslash)) | gather(zeroBytes(percent))) << i
		m.colon |= gather(zeroBytes(w^everyByte*':')) << i
	}
}

// gather makes eight bits of the highest bits of eight bytes.
func gather(w uint64) uint64 { return (w & highBits >> 7) * 0x0102040810204080 >> 56 }

// zeroBytes has the highest bit set of each byte of w that is zero, and of no other.
func zeroBytes(w uint64) uint64 { return ^((w&^highBits + ^uint64(highBits)) | w) }

// nearLetters is the length of the longest run of letters that is read as two
// words of eight bytes, as almost all are.
const nearLetters = 16

// nearKey is a run of up to nearLetters ASCII letters in lower case, padded with
// zeros.
type nearKey [2]uint64

// nearMask has the bits of a nearKey set that a run of n letters takes, n from 1 to
// nearLetters.
func nearMask(n int) nearKey {
	return nearKey{^uint64(0) >> uint(64-8*min(n, 8)), ^uint64(0) >> uint(128-8*n)}
}

// nearRun reads the run of n ASCII letters at i, at most nearLetters. cased has a
// bit set where a letter was upper case.
func nearRun(s []byte, i, n int) (key nearKey, cased uint64) {
	var b [nearLetters]byte
	p := &b
	if i+nearLetters <= cap(s) {
		p = (*[nearLetters]byte)(s[i : i+nearLetters])
	} else {
		copy(b[:], s[i:])
	}
	mask := nearMask(n)
	w0, w1 := binary.LittleEndian.Uint64(p[:])&mask[0], binary.LittleEndian.Uint64(p[8:])&mask[1]
	key = nearKey{w0 | lowerBits&mask[0], w1 | lowerBits&mask[1]}
	return key, (w0 ^ key[0]) | (w1 ^ key[1])
}

// hash is runSet.hash of the run.
func (k *nearKey) hash(seed uint64) uint64 { return hashWord(hashWord(seed, k[0]), k[1]) }

// runLen is the length of the run of set bits at bit i.
func runLen(mask uint64, i int) int { return bits.TrailingZeros64(^(mask >> uint(i))) }

// hasBit tells whether bit i is set; beyond the block none is.
func hasBit(mask uint64, i int) bool { return mask>>uint(i)&1 != 0 }
