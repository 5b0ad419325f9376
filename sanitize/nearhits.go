package sanitize

import (
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// nearScan is what nearHits is given of a block, and what it gives back. The assembler
// knows the order of the fields.
type nearScan struct {
	dst, src *byte // where to write to, and the block
	entries  *nearWord
	mask     uint64 // of the numbers of entries
	seed     uint64
	prime    uint64
	letters  uint64 // bits of runs that may be taken
	stops    uint64 // and of other bytes than letters that may not
	round    uint64 // lower half
	size     int    // of the block

	at      int    // the byte to go on from
	inside  uint64 // 1: a letter or a digit is before it
	written int

	ahead *nearAt
}

// nearAt is where in entries, in bytes, the first place of each run of a block is, by
// where the run begins.
type nearAt [bytemask.Block]uint32

const (
	// nearBehind is how many bytes of the text's array nearHits may read from the
	// beginning of a block, nearRoom how many it may write for one: the most that
	// letters and separators in turn become, and what it copies too much.
	nearBehind = 2*bytemask.Block + nearLetters
	nearRoom   = bytemask.Block/2*(wordLen+1) + bytemask.Block
)

// scanBlock makes a nearScan for the block at i of size bytes; ok is false where
// nearHits cannot be used.
func (d *domain) scanBlock(a *nearScan, s []byte, i, size int, inside bool, m *bytemask.Text) (ok bool) {
	if !scansHits || m.Wide != 0 || cap(s)-i < nearBehind || len(d.words.entries) < nearPlaces {
		return false
	}
	a.src, a.entries, a.mask = &s[i], &d.words.entries[0], uint64(len(d.words.entries)-1)
	a.seed, a.prime, a.round, a.size = d.orig.seed, hashPrime, uint64(uint16(d.orig.round)), size
	a.letters = m.Letter
	a.stops = m.Digit | m.Colon&^((m.Letter|m.Digit)<<1)
	if inside {
		a.stops &^= m.Colon & 1
	}
	if size == bytemask.Block && i+size < len(s) { // a run may go on behind the block
		last := ^uint64(0) << uint(bytemask.Block-bits.LeadingZeros64(^m.Letter))
		a.letters, a.stops = a.letters&^last, a.stops|last
	}
	a.ahead = &d.ahead
	nearAhead(a)
	return true
}

// hits lets nearHits go on from byte at of a block.
func (a *nearScan) hits(dst []byte, at int, inside bool) (out []byte, next int, joins bool) {
	n := len(dst)
	if cap(dst)-n < nearRoom {
		return dst, at, inside
	}
	a.dst, a.at, a.inside = &dst[:n+1][n], at, 0
	if inside {
		a.inside = 1
	}
	nearHits(a)
	return dst[:n+a.written], a.at, a.inside != 0
}
