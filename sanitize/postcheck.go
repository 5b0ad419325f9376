package sanitize

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/bytemask"
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
// two filters small enough for the nearest cache say so: one for runs of the length
// of a pseudonym, which most runs of a finished record have and few originals, one
// for all others.
type runSet struct {
	seed    uint64
	slots   []uint64 // 0 is empty
	filters [2]runFilter
	likeOne bool // one of the runs that were added may consist of a pseudonym's letters
	n       int
	round   uint32 // counts resets; its lower half is never 0
}

// runFilter has bit h>>48 set for every h that was added.
type runFilter struct {
	bits [filterWords]uint64
	any  bool
}

const (
	minSlots    = 1 << 8
	filterWords = 1 << 9 // 32768 bits
)

func newRunSet(seed uint64) *runSet {
	return &runSet{seed: seed, slots: make([]uint64, minSlots), round: 1}
}

// hash is of a run in lower case; a run of up to nearLetters bytes counts as two
// words.
func (s *runSet) hash(run []byte) uint64 {
	h := s.seed
	for i := 0; i < len(run) || i < nearLetters; i += 8 {
		var w uint64
		if i < len(run) {
			w = loadWord(run, i, min(8, len(run)-i))
		}
		h = hashWord(h, w)
	}
	return h
}

// filter is the one for runs of size bytes.
func (s *runSet) filter(size int) *runFilter {
	if size == wordLen {
		return &s.filters[0]
	}
	return &s.filters[1]
}

func (f *runFilter) add(h uint64) {
	f.any = true
	f.bits[h>>(64-15)>>6] |= 1 << (h >> (64 - 15) & 63)
}

// mayHave is has, with a few answers too many.
func (f *runFilter) mayHave(h uint64) bool {
	return f.bits[h>>(64-15)>>6]>>(h>>(64-15)&63)&1 != 0
}

// add adds the hash of a run of size bytes.
func (s *runSet) add(h uint64, size int) {
	s.likeOne = s.likeOne || size == wordLen
	s.addDigits(h, size)
}

// addLetters is add for a run of ASCII letters.
func (s *runSet) addLetters(h uint64, run []byte) {
	s.likeOne = s.likeOne || len(run) == wordLen && likeWord(run)
	s.addDigits(h, len(run))
}

// addDigits is add for a run of digits.
func (s *runSet) addDigits(h uint64, size int) {
	s.filter(size).add(h)
	s.put(h)
}

func (s *runSet) put(h uint64) {
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

func (s *runSet) has(h uint64, size int) bool {
	if !s.filter(size).mayHave(h) {
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
			s.put(h)
		}
	}
}

// reset empties the set, and gives back what one large record made it grow to.
func (s *runSet) reset() {
	if s.n > 0 {
		if len(s.slots) > 256*minSlots && s.n < len(s.slots)/16 {
			s.slots = make([]uint64, minSlots)
		}
		clear(s.slots)
		s.likeOne = false
		for i := range s.filters {
			if f := &s.filters[i]; f.any {
				*f = runFilter{}
			}
		}
	}
	s.n = 0
	if s.round++; uint16(s.round) == 0 { // nearWord has it for never
		s.round++
	}
}

// postcheck holds what was replaced, and what was kept by a decision (field
// names, kept values), of one record.
type postcheck struct {
	orig, kept *runSet
	vocabulary *runSet // words of the API itself, shared and read-only
	class      *[256]uint8
	unlike     bytemask.Halves // letters that no pseudonym has
	low        []byte
}

// each adds the runs of a text to a set.
func (p *postcheck) each(s []byte, to *runSet) {
	for i := 0; i < len(s); {
		r := p.run(s, i)
		switch start := i; {
		case !r.long:
		case r.size == r.end-start && p.class[s[start]] == postLetter:
			to.addLetters(r.hash, s[start:r.end])
		case r.size == r.end-start && p.class[s[start]] == postDigit:
			to.addDigits(r.hash, r.size)
		default:
			to.add(r.hash, r.size)
		}
		i = r.end
	}
}

// clean tells that no original run occurs in a text of the finished record.
// Escapes of JSON and of URLs count as separators.
func (p *postcheck) clean(s []byte) bool {
	if p.orig.n == 0 {
		return true
	}
	for i := 0; i < len(s); {
		i = p.pass(s, i)
		var m bytemask.Text
		m.At(s, i)
		next, ok := i, true
		if m.Wide|m.Escape == 0 && !longRun(m.Digit) {
			next, ok = p.cleanBlock(s, i, &m)
		}
		if next == i && ok { // something rare stands here
			next, ok = p.cleanRuns(s, i, min(i+bytemask.Block, len(s)))
		}
		if !ok {
			return false
		}
		i = next
	}
	return true
}

// cleanRuns is clean for the runs that begin in s[i:end], one by one.
func (p *postcheck) cleanRuns(s []byte, i, end int) (next int, ok bool) {
	for i < end {
		if p.class[s[i]] == postEscape {
			i += escapeSize(s, i)
			continue
		}
		r := p.run(s, i)
		if i = r.end; r.long && p.leaked(r.hash, r.size) {
			return i, false
		}
	}
	return i, true
}

// telling tells a text in which clean may find a run that was replaced.
func (p *postcheck) telling(text string) bool {
	s := []byte(text)
	for i := 0; i < len(s); {
		r := p.run(s, i)
		if i = r.end; r.long && !p.vocabulary.has(r.hash, r.size) {
			return true
		}
	}
	return false
}

// leaked tells a run that was replaced and not kept by a decision elsewhere.
func (p *postcheck) leaked(h uint64, size int) bool {
	return p.orig.has(h, size) && !p.kept.has(h, size) && !p.vocabulary.has(h, size)
}

// textRun is a run of a text: where it ends, and whether it is long enough to tell
// something; its hash and the bytes that were hashed are then given.
type textRun struct {
	hash      uint64
	end, size int
	long      bool
}

// run reads the run that begins at i, if one does. What is no run is one byte long.
func (p *postcheck) run(s []byte, i int) textRun {
	r := textRun{}
	switch p.class[s[i]] {
	case postSep, postEscape:
		return textRun{end: i + 1}
	case postLetter:
		r.hash, r.end = hashRun(s, i, p.orig.seed, false)
		r.long = r.end-i >= postLetters
	case postDigit:
		r.hash, r.end = hashRun(s, i, p.orig.seed, true)
		r.long = r.end-i >= postDigits
	default:
		return p.wide(s, i)
	}
	if r.end < len(s) && s[r.end] >= utf8.RuneSelf {
		return p.wide(s, i)
	}
	r.size = r.end - i
	return r
}

// wide is run for one that is not ASCII throughout, cut as domain.text cuts it.
func (p *postcheck) wide(s []byte, i int) textRun {
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
		return textRun{end: end}
	}
	return textRun{hash: p.orig.hash(p.low), end: end, size: len(p.low), long: true}
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

// check runs the post-check over the finished record.
func (w *Worker) check(rec *capture.Record) reason {
	if !*w.p.cfg.Postcheck {
		return kept
	}
	ok := w.post.clean(w.out) && w.post.clean(rec.Body) && w.post.clean(w.nested)
	for i := range rec.Header {
		w.raw = append(append(append(w.raw[:0], rec.Header[i].Name...), ' '), rec.Header[i].Value...)
		ok = ok && w.post.clean(w.raw)
	}
	for i := range rec.Handles {
		w.raw = append(w.raw[:0], rec.Handles[i].ID...)
		ok = ok && w.post.clean(w.raw)
	}
	if !ok {
		return dropPostcheck
	}
	return kept
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
