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

// runSet is a set of hashes of runs.
type runSet struct {
	seed  uint64
	slots []uint64 // 0 is empty
	n     int
	round uint32 // counts resets
}

const minSlots = 1 << 10

func newRunSet(seed uint64) *runSet {
	return &runSet{seed: seed, slots: make([]uint64, minSlots)}
}

func (s *runSet) hash(run []byte) uint64 {
	h := s.seed
	for i := 0; i < len(run); i += 8 {
		h = hashWord(h, loadWord(run, i, min(8, len(run)-i)))
	}
	return h
}

// hashFolded is hash of a run of ASCII letters in lower case, or of digits, whose
// bits lowering does not change.
func (s *runSet) hashFolded(run []byte) uint64 {
	h := s.seed
	for i := 0; i < len(run); i += 8 {
		n := min(8, len(run)-i)
		h = hashWord(h, loadWord(run, i, n)|lowerBits&(1<<(8*uint(n))-1))
	}
	return h
}

// lowerBits are the bits that make ASCII letters lower case.
const lowerBits = 0x2020202020202020

func (s *runSet) add(h uint64) {
	if h == 0 {
		h = 1
	}
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
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

func (s *runSet) has(h uint64) bool {
	if s.n == 0 {
		return false
	}
	if h == 0 {
		h = 1
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
	case len(s.slots) > 64*minSlots && s.n < len(s.slots)/16:
		s.slots = make([]uint64, minSlots)
	case s.n > 0:
		clear(s.slots)
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
func (p *postcheck) keep(s []byte) { p.runs(s, false, p.kept.add) }

// clean tells that no original run occurs in a text of the finished record.
// Escapes of JSON and of URLs count as separators.
func (p *postcheck) clean(s []byte) bool {
	if p.orig.n == 0 {
		return true
	}
	ok := true
	p.runs(s, true, func(h uint64) {
		if p.orig.has(h) && !p.kept.has(h) && !p.vocabulary.has(h) {
			ok = false
		}
	})
	return ok
}

// runs calls yield with the hash of every run that is long enough.
func (p *postcheck) runs(s []byte, escapes bool, yield func(h uint64)) {
	class := p.class
	for i := 0; i < len(s); {
		c := s[i]
		switch k := class[c]; {
		case k == postSep:
			i++
		case k == postEscape:
			i++
			if escapes {
				i += escapeSize(s, i-1) - 1
			}
		case k == postLetter || k == postDigit:
			start := i
			for i++; i < len(s) && class[s[i]] == k; i++ {
			}
			if i < len(s) && s[i] >= utf8.RuneSelf {
				i = p.wide(s, start, yield)
			} else if i-start >= postLetters && (k == postLetter || i-start >= postDigits) {
				yield(p.orig.hashFolded(s[start:i]))
			}
		default:
			i = p.wide(s, i, yield)
		}
	}
}

// wide handles a run that is not ASCII throughout, as domain.text cuts it, and
// returns where it ends.
func (p *postcheck) wide(s []byte, i int, yield func(h uint64)) int {
	class, n := classAt(s, i)
	end := runEnd(s, i+n, class)
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
		return end
	}
	yield(p.orig.hash(p.low))
	return end
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
