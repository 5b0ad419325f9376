package sanitize

import (
	"unicode"
	"unicode/utf8"
)

// alphabets are the sets of characters that the actions prefix and charsub
// permute, each within itself, so that letters stay letters of their kind, and
// analysers cut at the same places. Characters are numbered from 0 in each.
// It is read-only.
type alphabets struct {
	sets [alphabetCount][]rune
	of   map[rune]charAt // for the alphabets that are no range
}

type charAt struct {
	set uint8
	at  uint16
}

const (
	setDigits = iota
	setLatin  // a to z
	setCased  // lower-case letters beyond ASCII that have one upper-case form
	setPlain  // Latin letters without case
	setHan
	setHangul
	setHiragana
	setKatakana
	alphabetCount
)

func newAlphabets() *alphabets {
	a := &alphabets{of: make(map[rune]charAt)}
	ranges := func(set int, first, last rune) {
		for r := first; r <= last; r++ {
			a.sets[set] = append(a.sets[set], r)
		}
	}
	ranges(setDigits, '0', '9')
	ranges(setLatin, 'a', 'z')
	ranges(setHan, hanFirst, hanLast)
	ranges(setHangul, hangulFirst, hangulLast)
	ranges(setHiragana, hiraganaFirst, hiraganaLast)
	ranges(setKatakana, katakanaFirst, katakanaLast)
	// Latin, Greek, Cyrillic, Armenian: scripts that are cut at separators.
	for r := rune(0xAA); r < 0x590; r++ {
		switch {
		case !unicode.IsLetter(r):
		case unicode.ToUpper(r) == r && unicode.ToLower(r) == r:
			if unicode.Is(unicode.Latin, r) {
				a.add(setPlain, r)
			}
		case unicode.IsLower(r) && unicode.ToLower(unicode.ToUpper(r)) == r:
			a.add(setCased, r)
		}
	}
	return a
}

func (a *alphabets) add(set uint8, r rune) {
	a.of[r] = charAt{set, uint16(len(a.sets[set]))}
	a.sets[set] = append(a.sets[set], r)
}

// find gives the place of a character; upper tells that it is the upper-case form
// of the one that stands there.
func (a *alphabets) find(r rune) (c charAt, upper, ok bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return charAt{setLatin, uint16(r - 'a')}, false, true
	case r >= 'A' && r <= 'Z':
		return charAt{setLatin, uint16(r - 'A')}, true, true
	case r >= '0' && r <= '9':
		return charAt{setDigits, uint16(r - '0')}, false, true
	case r >= hanFirst && r <= hanLast:
		return charAt{setHan, uint16(r - hanFirst)}, false, true
	case r >= hangulFirst && r <= hangulLast:
		return charAt{setHangul, uint16(r - hangulFirst)}, false, true
	case r >= hiraganaFirst && r <= hiraganaLast:
		return charAt{setHiragana, uint16(r - hiraganaFirst)}, false, true
	case r >= katakanaFirst && r <= katakanaLast:
		return charAt{setKatakana, uint16(r - katakanaFirst)}, false, true
	}
	if c, ok = a.of[r]; ok {
		return c, false, true
	}
	low := unicode.ToLower(r)
	if low == r || unicode.ToUpper(low) != r {
		return c, false, false
	}
	c, ok = a.of[low]
	return c, true, ok
}

// charwise appends the pseudonym of a text whose characters are replaced one by
// one. Letters that no alphabet has are replaced run by run, as tokens are.
func (d *domain) charwise(dst, s []byte) []byte {
	d.remember(s)
	start := len(dst)
	class := classSep // of the character before
	for i := 0; i < len(s); {
		k, n := classAt(s, i)
		if k == classSep {
			dst = append(dst, s[i:i+n]...)
			i, class = i+n, k
			continue
		}
		if k != class {
			d.newRun()
			class = k
		}
		r, _ := utf8.DecodeRune(s[i:])
		c, upper, ok := d.chars.find(r)
		if !ok {
			end := i + n
			for end < len(s) {
				next, size := utf8.DecodeRune(s[end:])
				if k2, _ := classAt(s, end); k2 != k {
					break
				}
				if _, _, known := d.chars.find(next); known {
					break
				}
				end += size
			}
			dst = d.unknownRun(dst, s[i:end], k)
			i = end
			continue
		}
		var at uint32
		if d.style.form == formPrefix {
			at = d.nextChar(c)
		} else {
			at = d.subst[c.set][c.at]
		}
		out := d.chars.sets[c.set][at]
		if upper {
			out = unicode.ToUpper(out)
		}
		dst = utf8.AppendRune(dst, out)
		i += n
	}
	d.rememberMade(dst[start:])
	return dst
}

// spells tells that every letter of a text is in an alphabet: others are replaced
// run by run, of which no part survives.
func (d *domain) spells(s []byte) bool {
	for i := 0; i < len(s); {
		class, n := classAt(s, i)
		if class != classSep {
			r, _ := utf8.DecodeRune(s[i:])
			if _, _, ok := d.chars.find(r); !ok {
				return false
			}
		}
		i += n
	}
	return true
}

// unknownRun appends what stands for characters of one class that are in no
// alphabet.
func (d *domain) unknownRun(dst, run []byte, class runeClass) []byte {
	if d.style.form == formPrefix {
		d.absorb(d.prf("\x00run\x00", run))
	}
	switch class {
	case classDigit:
		return d.digitRun(dst, run)
	case classCJK:
		return d.cjkRun(dst, run)
	}
	start := len(dst)
	return respell(d.letters(dst, run), start)
}

// otherLetters begins letters that no alphabet has, and that analysers leave as
// they are. A pseudonym spelt with them has no part that a replaced character has.
const otherLetters = 'ა'

// respell spells the ASCII letters of dst from start on with otherLetters.
func respell(dst []byte, start int) []byte {
	made := string(dst[start:])
	dst = dst[:start]
	for _, r := range made {
		if low := r | 0x20; low >= 'a' && low <= 'z' {
			r = otherLetters + low - 'a'
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// newRun begins a run for nextChar.
func (d *domain) newRun() { d.state = [16]byte{} }

func (d *domain) absorb(b []byte) {
	for i := range d.state {
		d.state[i] ^= b[i]
	}
	d.chain.Encrypt(d.state[:], d.state[:])
}

// nextChar replaces a character by a permutation of its alphabet that a keyed
// function of the characters before it in the run chooses, as Crypto-PAn does
// with bits: two runs share exactly as long a beginning as before.
func (d *domain) nextChar(c charAt) uint32 {
	n := uint32(len(d.chars.sets[c.set]))
	var out uint32
	if n <= 32 {
		out = d.smallShuffle(c, n)
	} else {
		// A map x -> a x + b, with a that has no divisor with n.
		d.stateFor(c.set, 0)
		a, b := uint64(d.block[0])<<16|uint64(d.block[1])<<8|uint64(d.block[2]), uint64(d.block[4])<<16|uint64(d.block[5])<<8|uint64(d.block[6])
		for a = a%uint64(n) | 1; gcd(a, uint64(n)) != 1; {
			a += 2
		}
		out = uint32((a*uint64(c.at) + b) % uint64(n))
	}
	d.state[0] ^= c.set + 1
	d.state[1] ^= byte(c.at >> 8)
	d.state[2] ^= byte(c.at)
	d.chain.Encrypt(d.state[:], d.state[:])
	return out
}

// smallShuffle is the place of c after a Fisher-Yates shuffle of n characters.
func (d *domain) smallShuffle(c charAt, n uint32) uint32 {
	var p [32]uint8
	for i := range p {
		p[i] = uint8(i)
	}
	for i := n - 1; i > 0; i-- {
		at := (n - 1 - i) % 8 // two bytes each
		if at == 0 {
			d.stateFor(c.set, byte(1+(n-1-i)/8))
		}
		j := (uint32(d.block[2*at])<<8 | uint32(d.block[2*at+1])) * (i + 1) >> 16
		p[i], p[j] = p[j], p[i]
	}
	return uint32(p[c.at])
}

// stateFor fills block with bytes that the state, the alphabet and a number
// choose.
func (d *domain) stateFor(set, number byte) {
	d.block = d.state
	d.block[14] ^= 0x80 | set
	d.block[15] ^= number
	d.choose.Encrypt(d.block[:], d.block[:])
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
