package sanitize

import (
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// longRun tells that digits that say something stand in a block.
func longRun(mask uint64) bool {
	mask &= mask >> 1
	mask &= mask >> 2
	return mask&(mask>>4) != 0 // eight in a row: postDigits
}

// longRuns has a bit set where a run of at least postLetters set bits of mask begins,
// and word where one of exactly wordLen does.
func longRuns(mask uint64) (starts, word uint64) {
	two := mask & (mask >> 1)
	four := two & (two >> 2)
	begins := mask &^ (mask << 1)
	thirteen := four & (four >> 4) & (four >> 8) & (mask >> 12)
	return begins & four & (mask >> 4), begins & thirteen &^ (mask >> 13)
}

// passScan is what passBlocks is given, and what it gives back. The assembler knows the
// order of the fields.
type passScan struct {
	text   *byte
	at     int // where to go on from, and then where it stopped
	end    int // blocks that end before it are looked at
	seed   uint64
	prime  uint64
	words  *[filterWords]uint64 // for runs of wordLen letters
	others *[filterWords]uint64
	passes uint64 // all bits set: runs of wordLen are passed by
	unlike bool   // those that consist of a pseudonym's letters are
}

// passBehind is how many bytes of the text's array passBlocks may read from where a
// block ends.
const passBehind = nearLetters

// pass goes on from i over blocks in which there is nothing to find, and tells where
// the first other one begins.
func (p *postcheck) pass(s []byte, i int) int {
	end := min(len(s), cap(s)-passBehind)
	if i+bytemask.Block >= end || !passesBlocks() {
		return i
	}
	words, others := &p.orig.filters[0], &p.orig.filters[1]
	a := passScan{text: &s[0], at: i, end: end, seed: p.orig.seed, prime: hashPrime, words: &words.bits, others: &others.bits}
	switch {
	case !words.any:
		a.passes = ^uint64(0)
	case !p.orig.likeOne:
		a.unlike = true
	}
	passBlocks(&a)
	return a.at
}

// cleanBlock is clean for the block at i, which m describes. It goes on where it
// ends, or where a run begins that may go on behind it; at i itself, it leaves all
// to cleanRuns.
func (p *postcheck) cleanBlock(s []byte, i int, m *bytemask.Text) (next int, ok bool) {
	size := min(bytemask.Block, len(s)-i)
	next = i + size
	if size == bytemask.Block && next < len(s) {
		next -= max(bits.LeadingZeros64(^m.Letter), bits.LeadingZeros64(^m.Digit))
	}
	words, others := &p.orig.filters[0], &p.orig.filters[1]
	starts, word := longRuns(m.Letter)
	switch {
	case word == 0:
	case !words.any:
		starts &^= word
	case !p.orig.likeOne: // then only what is no pseudonym can be one of them
		starts &^= word &^ withinWord(p.unlike.At(s, i))
	}
	for starts &= 1<<uint(next-i) - 1; starts != 0; starts &= starts - 1 {
		at := bits.TrailingZeros64(starts)
		n := runLen(m.Letter, at)
		if n > nearLetters {
			if r := p.run(s, i+at); p.leaked(r.hash, r.size) {
				return 0, false
			}
			continue
		}
		key, _ := nearRun(s, i+at, n)
		h := key.hash(p.orig.seed)
		filter := others
		if n == wordLen {
			filter = words
		}
		if filter.mayHave(h) && p.leaked(h, n) {
			return 0, false
		}
	}
	return next, true
}

// withinWord has a bit set where one of wordLen bits of mask is set, from it on.
func withinWord(mask uint64) uint64 {
	two := mask | mask>>1
	four := two | two>>2
	return four | four>>4 | four>>8 | mask>>12
}

// likeWord tells a run of letters that consists of those of pseudonyms.
func likeWord(run []byte) bool {
	for _, c := range run {
		if wordLetters>>(c&31)&1 == 0 {
			return false
		}
	}
	return true
}

// wordLetters has bit c&31 set for each letter c of wordAlphabet.
const wordLetters = 1<<('b'&31) | 1<<('c'&31) | 1<<('d'&31) | 1<<('f'&31) | 1<<('g'&31) | 1<<('h'&31) | 1<<('j'&31) | 1<<('k'&31) |
	1<<('m'&31) | 1<<('p'&31) | 1<<('q'&31) | 1<<('v'&31) | 1<<('w'&31) | 1<<('x'&31) | 1<<('z'&31)

// unlikeLetters is the class of the letters that no pseudonym has, in either case. Two
// letters share each lower half; those with an even upper half have bit 0. Other bytes
// are of it or not, as it comes.
func unlikeLetters() (h bytemask.Halves) {
	for c := byte('a'); c <= 'z'; c++ {
		if wordLetters>>(c&31)&1 == 0 {
			h.Lower[c&0xf] |= 1 << (c >> 4 & 1)
		}
	}
	for upper := range h.Upper {
		h.Upper[upper] = 1 << (upper & 1)
	}
	return h
}
