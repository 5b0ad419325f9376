package sanitize

import "math/bits"

// longRun tells that digits that say something stand in a block.
func longRun(mask uint64) bool {
	mask &= mask >> 1
	mask &= mask >> 2
	return mask&(mask>>4) != 0 // eight in a row: postDigits
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
	for starts := m.letter &^ (m.letter << 1); starts != 0; starts &= starts - 1 {
		at := bits.TrailingZeros64(starts)
		if i+at >= next {
			break
		}
		n := runLen(m.letter, at)
		if n < postLetters || n == wordLen && !words.any {
			continue
		}
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
