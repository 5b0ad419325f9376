package sanitize

import (
	"encoding/binary"
	"math/bits"
)

// Runs of ASCII are read eight bytes at a time: each byte of a word is compared
// by an addition that sets its highest bit, and no carry leaves a byte.
const (
	everyByte = 0x0101010101010101
	highBits  = 0x8080808080808080
	lowerBits = 0x2020202020202020 // what makes ASCII letters lower case
)

// notLetters has the highest bit set of each byte of w that is no ASCII letter.
// low is w with the letters in lower case; its other bytes mean nothing.
func notLetters(w uint64) (stop, low uint64) {
	low = w | lowerBits
	x := low &^ highBits
	letter := (x + everyByte*(0x80-'a')) &^ (x + everyByte*(0x80-('z'+1)))
	return (^letter | w) & highBits, low
}

// notDigits is notLetters for ASCII digits.
func notDigits(w uint64) (stop uint64) {
	x := w &^ highBits
	digit := (x + everyByte*(0x80-'0')) &^ (x + everyByte*(0x80-('9'+1)))
	return (^digit | w) & highBits
}

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
			stop = notDigits(w)
		} else {
			stop, low = notLetters(w)
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
