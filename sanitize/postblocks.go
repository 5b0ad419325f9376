package sanitize

import "math/bits"

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

// cleanBlock is clean for the block at i, which m describes. It goes on where it
// ends, or where a run begins that may go on behind it; at i itself, it leaves all
// to cleanRuns.
func (p *postcheck) cleanBlock(s []byte, i int, m *byteMasks) (next int, ok bool) {
	size := min(blockSize, len(s)-i)
	next = i + size
	if size == blockSize && next < len(s) {
		next -= max(bits.LeadingZeros64(^m.letter), bits.LeadingZeros64(^m.digit))
	}
	words, others := &p.orig.filters[0], &p.orig.filters[1]
	starts, word := longRuns(m.letter)
	if !words.any {
		starts &^= word
	}
	for starts &= 1<<uint(next-i) - 1; starts != 0; starts &= starts - 1 {
		at := bits.TrailingZeros64(starts)
		n := runLen(m.letter, at)
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
