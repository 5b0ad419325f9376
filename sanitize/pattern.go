package sanitize

import (
	"encoding/base64"

	"github.com/esshadow/esshadow/internal/es"
)

// wildcard handles a pattern with * and ?, escaped by a backslash.
func (r *rewriter) wildcard(k es.Token, s []byte) reason {
	if !delimitedPattern(s) {
		r.note(broken, "wildcard")
	}
	r.put(k, s, r.Worker.text.text)
	return kept
}

// delimitedPattern is delimited for * and ? that are not escaped, and tells in
// addition that no * cuts what may be a date, an address or a UUID, which have
// their pseudonyms as a whole.
func delimitedPattern(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '?':
			return false
		case '*':
			if i > 0 && inRun(s, i-1) || i+1 < len(s) && inRun(s, i+1) {
				return false
			}
			if endsInShape(s[:i]) || beginsInShape(s[i+1:]) {
				return false
			}
		}
	}
	return true
}

// endsInShape tells a text that ends in what may be the beginning of a date, an
// address or a UUID; beginsInShape one that begins with what may be the end.
func endsInShape(s []byte) bool {
	i := len(s)
	for i > 0 && inShape(s[i-1]) {
		i--
	}
	if i > 0 && inRun(s, i-1) { // in the middle of a word: behind it
		for i < len(s) && inRun(s, i) {
			i++
		}
	}
	return hasDigit(s[i:])
}

func beginsInShape(s []byte) bool {
	i := 0
	for i < len(s) && inShape(s[i]) {
		i++
	}
	if i < len(s) && inRun(s, i) {
		for i > 0 && inRun(s, i-1) {
			i--
		}
	}
	return hasDigit(s[:i])
}

func inShape(c byte) bool { return isHex(c) || c == '-' || c == '.' || c == ':' || c == '/' }

func hasDigit(s []byte) bool {
	for i := range s {
		if digitsAt(s, i, 1) {
			return true
		}
	}
	return false
}

// regexp handles a pattern of Lucene's regular expressions: operators stay,
// literal runs become their pseudonyms. Where a run touches an operator that
// matches characters one by one, the pattern no longer matches what it matched.
func (r *rewriter) regexp(k es.Token, s []byte) reason {
	out, whole, ok := r.regexpText(r.tmp[:0], s)
	r.tmp = out
	if !ok {
		return dropUnparsableQuery
	}
	if !whole || shapesIn(s) {
		r.note(broken, "regexp")
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// regexpText appends the pattern's form. whole: every literal run stands
// between separators, groups and alternatives. ok is false where the pattern
// cannot be read surely.
func (w *Worker) regexpText(dst, s []byte) (out []byte, whole, ok bool) {
	whole = true
	touch := false // the character before is an operator that joins with a run
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\':
			if i+1 >= len(s) {
				return dst, false, false
			}
			if asciiClass(s[i+1]) != classSep || s[i+1] >= 0x80 {
				if !isClassEscape(s[i+1]) {
					return dst, false, false
				}
				whole = false
			}
			dst = append(dst, s[i:i+2]...)
			i += 2
			touch = false
		case c == '[':
			n := charClassLen(s[i:])
			if n == 0 {
				return dst, false, false
			}
			dst = append(dst, s[i:i+n]...)
			i += n
			touch = true
		case c == '{', c == '<':
			n := intervalLen(s[i:])
			if n == 0 {
				return dst, false, false
			}
			dst = append(dst, s[i:i+n]...)
			i += n
			whole = whole && c == '{'
			touch = true
		case inRun(s, i):
			class, n := classAt(s, i)
			end := runEnd(s, i+n, class)
			next := end < len(s) && (isJoining(s[end]) || inRun(s, end) && class == classCJK)
			if touch || next {
				whole = false
			}
			dst = w.text.text(dst, s[i:end])
			i = end
			touch = false
		default:
			dst = append(dst, c)
			touch = isJoining(c)
			i++
		}
	}
	return dst, whole, true
}

// isJoining tells the operators that match characters, so that a run beside
// them is only part of a word.
func isJoining(c byte) bool {
	switch c {
	case '.', '?', '+', '*', '{', '[', '~', '@', '<', '&', '#':
		return true
	}
	return false
}

func isClassEscape(c byte) bool {
	switch c {
	case 'd', 'D', 'w', 'W', 's', 'S':
		return true
	}
	return false
}

// charClassLen is the length of a character class that holds ranges, escapes
// and separators only; 0 for any other, whose letters could spell a value.
func charClassLen(s []byte) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == ']':
			return i + 1
		case c == '\\':
			i++
			if i < len(s) && inRun(s, i) && !isClassEscape(s[i]) {
				return 0
			}
		case inRun(s, i):
			if s[i] >= 0x80 {
				return 0
			}
			if i+2 < len(s) && s[i+1] == '-' && inRun(s, i+2) && s[i+2] < 0x80 {
				i += 2
				continue
			}
			if j := i + 1; j < len(s) && inRun(s, j) && asciiClass(s[i]) == asciiClass(s[j]) && !(j+1 < len(s) && s[j+1] == '-') {
				if s[i]|0x20 != s[j]|0x20 { // [Aa] is a letter in both cases
					return 0
				}
			}
		}
	}
	return 0
}

// intervalLen is the length of {1,3} or <1-100>, whose numbers have at most four
// digits.
func intervalLen(s []byte) int {
	run := 0
	for i := 1; i < len(s) && i < 12; i++ {
		switch c := s[i]; {
		case c == '}' && s[0] == '{', c == '>' && s[0] == '<':
			return i + 1
		case digitsAt(s, i, 1):
			if run++; run > 4 {
				return 0
			}
			continue
		case c != ',' && c != '-':
			return 0
		}
		run = 0
	}
	return 0
}

// wrapper handles a query in base64.
func (r *rewriter) wrapper(k es.Token, s []byte) reason {
	plain, err := base64.StdEncoding.AppendDecode(nil, s)
	if err != nil {
		return dropUnparsableQuery
	}
	if r.wrapped++; r.wrapped > maxWrapped {
		return dropDepth
	}
	defer func() { r.wrapped-- }()
	out, why := r.rewrite(nil, plain, r.p.bodies.query)
	if why != kept {
		return why
	}
	r.nested = append(r.nested, out...) // base64 hides it from the post-check
	r.nested = append(r.nested, ' ')
	r.replace(k)
	r.out = append(r.out, '"')
	r.out = base64.StdEncoding.AppendEncode(r.out, out)
	r.out = append(r.out, '"')
	return kept
}

// maxWrapped bounds how deep wrapper queries lie in each other.
const maxWrapped = 8
