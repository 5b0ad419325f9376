package sanitize

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// runeClass says what kind of run a character belongs to.
type runeClass uint8

const (
	classSep    runeClass = iota // kept byte for byte
	classLetter                  // letters and marks, but for the next class
	classDigit
	classCJK // Han, Kana, Hangul
)

// asciiClass is classOf for ASCII.
func asciiClass(c byte) runeClass {
	switch {
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return classLetter
	case c >= '0' && c <= '9':
		return classDigit
	}
	return classSep
}

func classOf(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass(byte(r))
	case isCJK(r):
		return classCJK
	case unicode.Is(unicode.Nd, r):
		return classDigit
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsNumber(r):
		return classLetter
	}
	return classSep
}

// stopWords are the 33 English stop words of Lucene, and the JSON literals that
// stand in strings. They stay, so that analysers that remove them still do.
func stopWords() []string {
	return []string{
		"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
		"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was",
		"will", "with", "true", "false", "null",
	}
}

// text appends the pseudonym of s, in the domain's style. It is a function of the
// domain's key, of the style and of s.
func (d *domain) text(dst, s []byte) []byte {
	if d.style.form != formTokens {
		return d.formed(dst, s)
	}
	return d.tokens(dst, s)
}

// plainTokens tells that an action comes to tokens, with nothing else to decide.
func (d *domain) plainTokens(a action) bool { return a == actTokens && d.style.form == formTokens }

// tokens is text for the action of that name: every maximal run of letters
// becomes a word, digit runs are permuted, runs of Han, Kana and Hangul become
// runs of the same length, dates, addresses and UUIDs keep their shape, and
// everything else is copied.
func (d *domain) tokens(dst, s []byte) []byte {
	if d.style.keepPlaces && isPlace(s) {
		return append(dst, s...)
	}
	inside := false // the character before i is a letter or a digit
	// What begins with a digit is a date, an address or a number as a rule.
	apart := len(s) > 0 && asciiClass(s[0]) == classDigit
	for i := 0; i < len(s); apart = false {
		if !d.style.runwise && !apart {
			if dst, i, inside = d.nearText(dst, s, i, inside); i >= len(s) {
				break
			}
		}
		dst, i, inside = d.run(dst, s, i, inside)
	}
	return dst
}

// run appends the pseudonym of the run, or of the shape, that begins at i.
func (d *domain) run(dst, s []byte, i int, inside bool) (out []byte, next int, joins bool) {
	class, n := classAt(s, i)
	if class == classSep && (s[i] != ':' || inside) {
		return append(dst, s[i:i+n]...), i + n, false
	}
	end := runEnd(s, i+n, class)
	if !inside && !d.style.shapeless && mayBeShape(s, i, end) {
		var size int
		if dst, size = d.shape(dst, s, i); size > 0 {
			return dst, i + size, true
		}
	}
	switch {
	case class == classLetter && d.style.runwise:
		dst = d.lettersAt(dst, s, i, end)
	case class == classLetter:
		dst = d.letters(dst, s[i:end])
	case class == classDigit:
		dst = d.digitRun(dst, s[i:end])
	case class == classCJK:
		dst = d.cjkRun(dst, s[i:end])
	default:
		dst = append(dst, s[i:end]...)
	}
	return dst, end, class != classSep
}

// classAt is the class and the size of the character at i. A byte that is not
// UTF-8 is a letter of its own, so that it is replaced.
func classAt(s []byte, i int) (runeClass, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClass(c), 1
	}
	r, n := utf8.DecodeRune(s[i:])
	if r == utf8.RuneError && n == 1 {
		return classLetter, 1
	}
	return classOf(r), n
}

// runEnd is where the run of class that goes on at i ends. Separators are runs
// of one.
func runEnd(s []byte, i int, class runeClass) int {
	if class == classSep {
		return i
	}
	for i < len(s) {
		switch class { // the loops that text spends its time in
		case classLetter:
			for i < len(s) && s[i]|0x20-'a' < 26 && s[i] < utf8.RuneSelf {
				i++
			}
		case classDigit:
			for i < len(s) && s[i]-'0' < 10 {
				i++
			}
		}
		if i >= len(s) {
			return i
		}
		if s[i] < utf8.RuneSelf {
			return i
		}
		k, n := classAt(s, i)
		if k != class {
			return i
		}
		i += n
	}
	return i
}

// letters appends the word for a run of letters, in the run's case pattern:
// lower, UPPER, Title, or mixed, in which the word's letters copy the case of
// the run's letter at the same place (a run of more than 13 letters: a pattern
// made of its whole pattern).
func (d *domain) letters(dst, run []byte) []byte {
	if len(run) <= nearLetters && isLetters(run) {
		return d.near(dst, run, 0, len(run))
	}
	low, cs := d.fold(run)
	h := d.orig.hash(low)
	if key, ok := pack(low); ok && len(low) > nearLetters {
		e := d.cache.get(h, &key)
		if e == nil {
			e = d.cache.put(h, &key, d.newWord(low))
		}
		return d.putWord(dst, run, e, h, len(low), &cs)
	}
	e := d.newWord(low)
	return d.putWord(dst, run, &e, h, len(low), &cs)
}

func (d *domain) newWord(low []byte) (e cacheEntry) {
	switch {
	case d.style.keep[string(low)]:
		e.keep = true
	case d.style.runwise:
		putWord(&e.word, d.prf("", d.normalized(low)))
	default:
		putWord(&e.word, d.prf("", low))
	}
	return e
}

// putWord appends the word of an entry, and notes the run for the post-check, if
// that was not done for this record already.
func (d *domain) putWord(dst, run []byte, e *cacheEntry, h uint64, size int, cs *caseShape) []byte {
	if e.keep {
		return append(dst, run...)
	}
	if e.round != d.orig.round {
		e.round = d.orig.round
		if cs.n >= postLetters {
			d.orig.add(h, size)
		}
	}
	start := len(dst)
	dst = append(dst, e.word[:]...)[:start+wordLen]
	if cs.upper > 0 {
		cs.apply(dst[start:])
	}
	return dst
}

// caseShape is the case pattern of a run.
type caseShape struct {
	n, cased, upper int
	mask            uint64 // bit i: letter i is upper case, for the first 64
	first           bool
}

// asciiCase is the case pattern of a run of ASCII letters.
func asciiCase(run []byte) caseShape {
	cs := caseShape{n: len(run), cased: len(run), first: run[0] < 'a'}
	for i, c := range run {
		if c < 'a' {
			cs.upper++
			cs.mask |= 1 << uint(i)
		}
	}
	return cs
}

// fold gives the run in lower case, good until the next call, and its case
// pattern.
func (d *domain) fold(run []byte) (low []byte, cs caseShape) {
	low = d.low[:0]
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		if r == utf8.RuneError && n == 1 {
			low = append(low, run[0])
		} else {
			if unicode.IsUpper(r) || unicode.IsTitle(r) {
				cs.upper++
				cs.mask |= 1 << (uint(cs.n) & 63)
				cs.first = cs.first || cs.n == 0
			}
			if unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) {
				cs.cased++
			}
			low = utf8.AppendRune(low, unicode.ToLower(r))
		}
		cs.n++
		run = run[n:]
	}
	d.low = low
	return low, cs
}

// apply gives word the case pattern.
func (cs *caseShape) apply(word []byte) {
	const all = 1<<wordLen - 1
	var mask uint64
	switch {
	case cs.upper == 0:
		return
	case cs.upper == cs.cased:
		mask = all
	case cs.upper == 1 && cs.first:
		mask = 1
	case cs.n <= wordLen:
		mask = cs.mask
	default:
		m := cs.mask * hashPrime
		mask = (m ^ m>>29) >> (64 - wordLen)
		if mask <= 1 || mask == all { // the patterns above
			mask = 2
		}
	}
	for i := range word {
		if mask>>uint(i)&1 != 0 {
			word[i] -= 'a' - 'A'
		}
	}
}

// digitRun appends the permuted run; digits of other scripts keep their script.
func (d *domain) digitRun(dst, run []byte) []byte {
	ascii := run
	if !isASCII(run) {
		ascii = d.low[:0]
		for _, r := range string(run) {
			ascii = append(ascii, '0'+digitValue(r))
		}
		d.low = ascii
	}
	start := len(dst)
	dst = d.permute(dst, ascii)
	if len(ascii) >= postDigits {
		d.orig.addDigits(d.orig.hash(ascii), len(ascii))
		d.post.kept.add(d.orig.hash(dst[start:]), len(ascii)) // it may be another original by chance
	}
	if len(ascii) == len(run) {
		return dst
	}
	plain := bytes.Clone(dst[start:])
	dst = dst[:start]
	for _, r := range string(run) {
		dst = utf8.AppendRune(dst, r-rune(digitValue(r))+rune(plain[0]-'0'))
		plain = plain[1:]
	}
	return dst
}

// digitValue is the value of a decimal digit: Unicode has them in tens.
func digitValue(r rune) byte {
	if r < utf8.RuneSelf {
		return byte(r - '0')
	}
	for _, x := range unicode.Nd.R16 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10)
		}
	}
	for _, x := range unicode.Nd.R32 {
		if r >= rune(x.Lo) && r <= rune(x.Hi) {
			return byte((r - rune(x.Lo)) % 10)
		}
	}
	return 0
}

// isLetters tells a run of ASCII letters.
func isLetters(s []byte) bool {
	for _, c := range s {
		if asciiClass(c) != classLetter {
			return false
		}
	}
	return true
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
