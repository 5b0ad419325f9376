package sanitize

import (
	"encoding/binary"
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// loadAt is the eight bytes of s from i on, with zeros behind the end of s.
func loadAt(s []byte, i int) uint64 {
	if uint(i)+8 <= uint(len(s)) {
		return binary.LittleEndian.Uint64(s[i : i+8])
	}
	return loadWord(s, i, len(s)-i)
}

// hashRun reads the run of ASCII letters (of digits, if digits is true) at i, to
// its end, and hashes it as runSet.hash does in lower case.
func hashRun(s []byte, i int, seed uint64, digits bool) (h uint64, end int) {
	h = seed
	start := i
	for i < len(s) {
		w := loadAt(s, i)
		stop, low := uint64(0), w
		if digits {
			stop = bytemask.NotDigits(w)
		} else {
			stop, low = bytemask.NotLetters(w)
		}
		if stop == 0 {
			h = hashWord(h, low)
			i += 8
			continue
		}
		if size := bits.TrailingZeros64(stop) >> 3; size > 0 {
			h = hashWord(h, low&(1<<(8*uint(size))-1))
			i += size
		}
		break
	}
	for n := (i - start + 7) / 8; n < nearLetters/8; n++ {
		h = hashWord(h, 0)
	}
	return h, i
}
