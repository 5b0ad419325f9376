package sanitize

import (
	"encoding/binary"
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

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
	key = nearKey{w0 | bytemask.LowerBits&mask[0], w1 | bytemask.LowerBits&mask[1]}
	return key, (w0 ^ key[0]) | (w1 ^ key[1])
}

// hash is runSet.hash of the run.
func (k *nearKey) hash(seed uint64) uint64 { return hashWord(hashWord(seed, k[0]), k[1]) }

// runLen is the length of the run of set bits at bit i.
func runLen(mask uint64, i int) int { return bits.TrailingZeros64(^(mask >> uint(i))) }

// hasBit tells whether bit i is set; beyond the block none is.
func hasBit(mask uint64, i int) bool { return mask>>uint(i)&1 != 0 }
