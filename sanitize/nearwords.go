package sanitize

import (
	"encoding/binary"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// nearWords remembers the pseudonyms of short runs: of up to nearLetters letters, of
// digits, and of addresses. A run may be in one of four places, which are two cache
// lines, and nearHits looks at the first of them. Words that come again are in it: a new
// run takes another's place in the second line if all are taken, and so it is what came
// once that goes, of which addresses make the most.
type nearWords struct {
	entries []nearWord
	epoch   uint32 // the rounds' higher half
}

// nearWord is a run and what stands for it. A word leaves room for two facts:
// whether the run is kept as it is, and the round of the post-check's set that the
// run was added to last.
type nearWord struct {
	key  nearKey
	word [wordRoom]byte
}

const (
	nearKeep  = wordLen     // a byte
	nearRound = wordLen + 1 // two bytes, little endian
)

func newNearWords(bits int) nearWords { return nearWords{entries: make([]nearWord, 1<<bits)} }

// at makes the entries ready for a round of the post-check's set. They hold the lower
// half of rounds only: before one comes again, all are forgotten.
func (c *nearWords) at(round uint32) {
	if c.epoch != round>>16 {
		c.epoch = round >> 16
		clear(c.entries)
	}
}

func (e *nearWord) setRound(round uint32) {
	binary.LittleEndian.PutUint16(e.word[nearRound:], uint16(round))
}

// nearPlaces is how many places a run may be in: that of its hash, and those whose
// numbers differ from it in the last bits. nearFirst of them are one cache line.
const (
	nearPlaces = 4
	nearFirst  = 2
)

func (c *nearWords) get(h uint64, key *nearKey) *nearWord {
	mask := uint64(len(c.entries) - 1)
	for i := range uint64(nearPlaces) {
		if e := &c.entries[(h^i)&mask]; e.key == *key {
			return e
		}
	}
	return nil
}

// find is get for a run of letters, and moves it into the first line.
func (c *nearWords) find(h uint64, key *nearKey) *nearWord {
	e := c.get(h, key)
	mask := uint64(len(c.entries) - 1)
	first, second := &c.entries[h&mask], &c.entries[(h^1)&mask]
	if e == nil || e == first || e == second {
		return e
	}
	*first, *second, *e = *e, *first, *second
	return first
}

func (c *nearWords) put(h uint64, e nearWord) *nearWord {
	mask := uint64(len(c.entries) - 1)
	for i := range uint64(nearPlaces) {
		if to := &c.entries[(h^i)&mask]; to.key == (nearKey{}) {
			*to = e
			return to
		}
	}
	to := &c.entries[(h^nearFirst)&mask]
	for i := uint64(nearPlaces - 1); i > nearFirst; i-- {
		c.entries[(h^i)&mask] = c.entries[(h^(i-1))&mask]
	}
	*to = e
	return to
}

// near appends the word for the run of letters s[i:i+n], at most nearLetters.
func (d *domain) near(dst, s []byte, i, n int) []byte {
	d.words.at(d.orig.round)
	key, cased := nearRun(s, i, n)
	h := key.hash(d.orig.seed)
	e := d.words.find(h, &key)
	if e == nil {
		e = d.newNear(h, &key, n)
	}
	return d.putNear(dst, s[i:i+n], e, h, cased)
}

func (d *domain) newNear(h uint64, key *nearKey, n int) *nearWord {
	var low [nearLetters]byte
	binary.LittleEndian.PutUint64(low[:], key[0])
	binary.LittleEndian.PutUint64(low[8:], key[1])
	made := d.newWord(low[:n])
	e := nearWord{key: *key, word: made.word}
	e.word[nearKeep] = 0
	if made.keep {
		e.word[nearKeep] = 1
	}
	e.setRound(0)
	return d.words.put(h, e)
}

// putNear is putWord for an entry of nearWords.
func (d *domain) putNear(dst, run []byte, e *nearWord, h, cased uint64) []byte {
	if e.word[nearKeep] != 0 {
		return append(dst, run...)
	}
	if binary.LittleEndian.Uint16(e.word[nearRound:]) != uint16(d.orig.round) {
		e.setRound(d.orig.round)
		if len(run) >= postLetters {
			d.orig.addLetters(h, run)
		}
	}
	start := len(dst)
	dst = append(dst, e.word[:]...)[:start+wordLen]
	if cased != 0 {
		cs := asciiCase(run)
		cs.apply(dst[start:])
	}
	return dst
}

// nearText is tokens for what most text is made of: ASCII words and short numbers,
// and separators that begin nothing. It goes on from i until it meets anything else,
// and tells where that is. inside tells that the character before is a letter or a
// digit.
func (d *domain) nearText(dst, s []byte, i int, inside bool) (out []byte, next int, joins bool) {
	d.words.at(d.orig.round)
	for i < len(s) {
		var m bytemask.Text
		m.At(s, i)
		dst, next, inside = d.nearBlock(dst, s, i, inside, &m)
		if next == i {
			break
		}
		i = next
	}
	return dst, i, inside
}

// nearBlock is nearText for the block at i, which m describes. Where it is stopped,
// it has taken nothing of what stopped it.
func (d *domain) nearBlock(dst, s []byte, i int, inside bool, m *bytemask.Text) (out []byte, next int, joins bool) {
	size := min(bytemask.Block, len(s)-i)
	letters := m.Letter
	var a nearScan
	scan := d.scanBlock(&a, s, i, size, inside, m)
	for at := 0; at < size; {
		if scan && !hasBit(a.stops, at) {
			if dst, at, inside = a.hits(dst, at, inside); at >= size {
				break
			}
		}
		n := runLen(letters, at)
		if n == 0 {
			if dst, n, inside = d.nearOther(dst, s, i, at, inside, m); n == 0 {
				return dst, i + at, inside
			}
			at += n
			continue
		}
		end := at + n
		if n > nearLetters || end == bytemask.Block && i+end < len(s) || hasBit(m.Wide, end) {
			return dst, i + at, inside
		}
		if cap(s)-i-at < nearLetters || cap(dst)-len(dst) < wordRoom { // no room to be quick
			if !inside && d.shapeAhead(s, i+at, n) {
				return dst, i + at, inside
			}
			dst = d.near(dst, s, i+at, n)
			at, inside = end, true
			continue
		}
		run := s[i+at : i+at+nearLetters]
		mask := nearMask(n)
		w0, w1 := binary.LittleEndian.Uint64(run)&mask[0], binary.LittleEndian.Uint64(run[8:])&mask[1]
		k0, k1 := w0|bytemask.LowerBits&mask[0], w1|bytemask.LowerBits&mask[1]
		if !inside && !beyondHex(k0) && !beyondHex(k1) && d.shapeAhead(s, i+at, n) {
			return dst, i + at, inside
		}
		h := hashWord(hashWord(d.orig.seed, k0), k1)
		e := &d.words.entries[h&uint64(len(d.words.entries)-1)]
		if e.key[0] != k0 || e.key[1] != k1 {
			key := nearKey{k0, k1}
			if e = d.words.find(h, &key); e == nil {
				e = d.newNear(h, &key, n)
			}
		}
		last := binary.LittleEndian.Uint64(e.word[8:])
		if uint16(last>>48) != uint16(d.orig.round) || last&(0xff<<40) != 0 || w0 != k0 || w1 != k1 {
			dst = d.putNear(dst, run[:n], e, h, (w0^k0)|(w1^k1))
		} else {
			to := dst[len(dst) : len(dst)+wordRoom]
			binary.LittleEndian.PutUint64(to, binary.LittleEndian.Uint64(e.word[:]))
			binary.LittleEndian.PutUint64(to[8:], last)
			dst = dst[:len(dst)+wordLen]
		}
		at, inside = end, true
	}
	return dst, i + size, inside
}

// nearOther does the part of nearBlock for a run of digits, or a separator, at byte at.
// n is how long it is, 0 where nearBlock may not take it.
func (d *domain) nearOther(dst, s []byte, i, at int, inside bool, m *bytemask.Text) (out []byte, n int, joins bool) {
	if hasBit(m.Digit|m.Wide, at) {
		if n = d.nearDigits(s, i, at, inside, m); n == 0 {
			return dst, 0, inside
		}
		if run := s[i+at : i+at+n]; n <= tableDigits {
			return d.permute(dst, run), n, true
		}
		return d.digitRun(dst, s[i+at:i+at+n]), n, true
	}
	if s[i+at] == ':' && !inside {
		return dst, 0, inside
	}
	return append(dst, s[i+at]), 1, false
}

// nearDigits is the length of the run of digits at byte at of the block at i, if
// nearBlock may take it.
func (d *domain) nearDigits(s []byte, i, at int, inside bool, m *bytemask.Text) int {
	n := runLen(m.Digit, at)
	end := at + n
	if end == bytemask.Block && i+end < len(s) || hasBit(m.Wide, end) || !inside && !d.style.shapeless && mayBeShape(s, i+at, i+end) {
		return 0
	}
	return n
}

// shapeAhead tells that the run of n letters at i may begin a shape.
func (d *domain) shapeAhead(s []byte, i, n int) bool {
	return !d.style.shapeless && s[i]|0x20 <= 'f' && mayBeShape(s, i, i+n)
}

// beyondHex tells that a letter of a lower-case run, padded with zeros, is no
// hexadecimal digit.
func beyondHex(w uint64) bool { return (w+bytemask.EveryByte*(0x7f-'f'))&bytemask.HighBits != 0 }
