package sanitize

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// The post-check: of everything that was replaced, the runs that are long enough
// to tell something are remembered by hash; none of them may occur in the
// finished record. Shorter runs are left out because a pseudonym may equal
// another short original by chance.
const (
	postLetters = 5
	postDigits  = 8
	postCJK     = 2
)

const hashPrime = 0x9E3779B97F4A7C15

// hashWord adds eight bytes of a run to its hash.
func hashWord(h, w uint64) uint64 {
	h = (h ^ w) * hashPrime
	return h ^ h>>32
}

// loadWord is the n bytes, at most eight, of s from i on, in little endian. It
// may look at bytes behind the end of s, as far as its array goes, and leaves
// them out.
func loadWord(s []byte, i, n int) uint64 {
	if i+8 <= cap(s) {
		return binary.LittleEndian.Uint64(s[i:i+8]) & (1<<(8*uint(n)) - 1)
	}
	var w uint64
	for j := n - 1; j >= 0; j-- {
		w = w<<8 | uint64(s[i+j])
	}
	return w
}

// runSet is a set of hashes of runs. Most of what is looked up is not in it, and
// a filter small enough for the nearest cache says so: bit h>>48 is set for every
// h that was added.
type runSet struct {
	seed   uint64
	slots  []uint64 // 0 is empty
	filter []uint64
	n      int
	round  uint32 // counts resets
}

const (
	minSlots    = 1 << 8
	filterWords = 1 << 9 // 32768 bits
)

func newRunSet(seed uint64) *runSet {
	return &runSet{seed: seed, slots: make([]uint64, minSlots), filter: make([]uint64, filterWords)}
}

func (s *runSet) hash(run []byte) uint64 {
	h := s.seed
	for i := 0; i < len(run); i += 8 {
		h = hashWord(h, loadWord(run, i, min(8, len(run)-i)))
	}
	return h
}

func (s *runSet) add(h uint64) {
	if h == 0 {
		h = 1
	}
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
	s.filter[h>>(64-15)>>6&(filterWords-1)] |= 1 << (h >> (64 - 15) & 63)
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return
		case 0:
			s.slots[i] = h
			s.n++
			return
		}
	}
}

// mayHave is has, with a few answers too many.
func (s *runSet) mayHave(h uint64) bool {
	return s.filter[h>>(64-15)>>6&(filterWords-1)]>>(h>>(64-15)&63)&1 != 0
}

func (s *runSet) has(h uint64) bool {
	if h == 0 {
		h = 1
	}
	if !s.mayHave(h) {
		return false
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; s.slots[i] != 0; i = (i + 1) & mask {
		if s.slots[i] == h {
			return true
		}
	}
	return false
}

func (s *runSet) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	s.n = 0
	for _, h := range old {
		if h != 0 {
			s.add(h)
		}
	}
}

// reset empties the set, and gives back what one large record made it grow to.
func (s *runSet) reset() {
	switch {
	case s.n == 0:
	case len(s.slots) > 256*minSlots && s.n < len(s.slots)/16:
		s.slots = make([]uint64, minSlots)
		clear(s.filter)
	default:
		clear(s.slots)
		clear(s.filter)
	}
	s.n = 0
	s.round++
}

// postcheck holds what was replaced, and what was kept by a decision (field
// names, kept values), of one record.
type postcheck struct {
	orig, kept *runSet
	vocabulary *runSet // words of the API itself, shared and read-only
	class      *[256]uint8
	low        []byte
}

// keep notes the runs of a text that stays by decision.
func (p *postcheck) keep(s []byte) { p.each(s, p.kept) }

// each adds the runs of a text to a set.
func (p *postcheck) each(s []byte, to *runSet) {
	for i := 0; i < len(s); {
		h, end, long := p.run(s, i)
		if i = end; long {
			to.add(h)
		}
	}
}

// clean tells that no original run occurs in a text of the finished record.
// Escapes of JSON and of URLs count as separators.
func (p *postcheck) clean(s []byte) bool {
	if p.orig.n == 0 {
		return true
	}
	for i := 0; i < len(s); {
		k := p.class[s[i]]
		switch k {
		case postSep:
			i++
			continue
		case postEscape:
			i += escapeSize(s, i)
			continue
		case postDigit: // seven and less say nothing
			if n := shortRun(s, i, true); n > 0 && s[i+n] < utf8.RuneSelf {
				i += n
				continue
			}
		}
		h, end, long := p.run(s, i)
		i = end
		if long && p.leaked(h) {
			return false
		}
	}
	return true
}

// leaked tells a run that was replaced and not kept by a decision elsewhere.
func (p *postcheck) leaked(h uint64) bool {
	return p.orig.has(h) && !p.kept.has(h) && !p.vocabulary.has(h)
}

// run reads the run that begins at i, if one does: where it ends, and its hash if
// it is long enough to tell something. What is no run is one byte long.
func (p *postcheck) run(s []byte, i int) (h uint64, end int, long bool) {
	switch p.class[s[i]] {
	case postSep, postEscape:
		return 0, i + 1, false
	case postLetter:
		h, end = hashRun(s, i, p.orig.seed, false)
		long = end-i >= postLetters
	case postDigit:
		h, end = hashRun(s, i, p.orig.seed, true)
		long = end-i >= postDigits
	default:
		return p.wide(s, i)
	}
	if end < len(s) && s[end] >= utf8.RuneSelf {
		return p.wide(s, i)
	}
	return h, end, long
}

// wide is run for one that is not ASCII throughout, cut as domain.text cuts it.
func (p *postcheck) wide(s []byte, i int) (h uint64, end int, long bool) {
	class, n := classAt(s, i)
	end = runEnd(s, i+n, class)
	run := s[i:end]
	size := utf8.RuneCount(run)
	switch {
	case class == classLetter && size >= postLetters:
		p.low = foldRunes(p.low[:0], run)
	case class == classCJK && size >= postCJK:
		p.low = append(p.low[:0], run...)
	case class == classDigit && size >= postDigits:
		p.low = p.low[:0]
		for _, r := range string(run) {
			p.low = append(p.low, '0'+digitValue(r))
		}
	default:
		return 0, end, false
	}
	return p.orig.hash(p.low), end, true
}

// escapeSize is the length of what begins at i: \" or \uXXXX of JSON, %XX of a
// URL, 1 for anything else.
func escapeSize(s []byte, i int) int {
	switch {
	case s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
		return 3
	case s[i] == '\\' && i+5 < len(s) && s[i+1] == 'u':
		return 6
	case s[i] == '\\' && i+1 < len(s):
		return 2
	}
	return 1
}

const (
	postSep = iota
	postLetter
	postDigit
	postEscape
	postWide
)

// postClasses gives the class of each byte for the post-check.
func postClasses() *[256]uint8 {
	var t [256]uint8
	for i := range t {
		c := byte(i)
		switch {
		case c >= utf8.RuneSelf:
			t[i] = postWide
		case c == '\\', c == '%':
			t[i] = postEscape
		case asciiClass(c) == classLetter:
			t[i] = postLetter
		case asciiClass(c) == classDigit:
			t[i] = postDigit
		}
	}
	return &t
}

// foldRunes appends the run in lower case, as domain.foldWide folds it.
func foldRunes(dst, run []byte) []byte {
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, run[0])
		} else {
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
		run = run[n:]
	}
	return dst
}
