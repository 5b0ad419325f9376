package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// lucene handles a string in Lucene's query syntax.
func (r *rewriter) lucene(k es.Token, s []byte) reason {
	out, why := r.luceneText(r.tmp2[:0], s)
	return r.putText(k, out, why)
}

// putText writes in the string's place what became of it, which is in tmp2, unless why
// says that it may not be kept.
func (r *rewriter) putText(k es.Token, out []byte, why reason) reason {
	r.tmp2 = out
	if why != kept {
		return why
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// luceneText appends the form of a query in Lucene's classic syntax: operators,
// boosts and distances stay, field names go the way of field names, words,
// phrases and the insides of regular expressions become pseudonyms.
func (w *Worker) luceneText(dst, s []byte) ([]byte, reason) { //nolint:funlen // one case for each kind of token
	if hasUnicodeEscape(s) {
		return dst, dropUnparsableQuery
	}
	w.path2, w.group = w.path2[:0], 0
	depth, compared := 0, false // compared: < or > stands before
	for i := 0; i < len(s); {
		n, why := 1, kept
		switch c := s[i]; {
		case compared && !isLuceneOperator(c):
			compared = false
			n = boundLen(s[i:])
			field, tokens := w.lucenePlan()
			dst, why = w.luceneBound(dst, s[i:i+n], field, tokens)
		case c == '(':
			if depth++; w.group == 0 && len(w.path2) > 0 {
				w.group = depth // field:( … )
			}
			dst = append(dst, c)
		case c == ')':
			if depth == w.group {
				w.path2, w.group = w.path2[:0], 0
			}
			depth--
			dst = append(dst, c)
		case c == '"' || c == '/' || c == '[' || c == '{':
			dst, n, why = w.luceneGroup(dst, s[i:])
		case c == '^' || c == '~':
			for i+n < len(s) && (digitsAt(s, i+n, 1) || s[i+n] == '.') {
				n++
			}
			if n > 8 {
				why = dropUnparsableQuery
			}
			if c == '~' && i > 0 && s[i-1] != '"' {
				w.note(broken, "fuzzy")
			}
			dst = append(dst, s[i:i+n]...)
		case isLuceneSpace(c) || isLuceneOperator(c):
			compared = (c == '<' || c == '>' || c == '=' && compared) && len(w.path2) > 0
			dst = append(dst, c)
		default:
			n = luceneWordLen(s[i:])
			switch word := s[i : i+n]; {
			case spaceLen(s[i+n:])+i+n < len(s) && s[i+n+spaceLen(s[i+n:])] == ':':
				dst = w.luceneField(dst, word)
				gap := spaceLen(s[i+n:]) + 1
				dst = append(dst, s[i+n:i+n+gap]...)
				n += gap
			case isLuceneKeyword(word):
				dst = append(dst, word...)
			default:
				dst, why = w.luceneTerm(dst, word)
			}
		}
		switch {
		case why != kept:
			return dst, why
		case n == 0:
			return dst, dropUnparsableQuery
		}
		i += n
	}
	return dst, kept
}

// spaceLen is the length of the white space that s begins with.
func spaceLen(s []byte) int {
	n := 0
	for n < len(s) && isLuceneSpace(s[n]) {
		n++
	}
	return n
}

func isLuceneKeyword(word []byte) bool {
	switch string(word) {
	case "AND", "OR", "NOT", "TO":
		return true
	}
	return false
}

// luceneGroup appends the phrase, regular expression or range that s begins
// with; n is its length, 0 where it does not end or cannot be read.
func (w *Worker) luceneGroup(dst, s []byte) (out []byte, n int, why reason) {
	switch s[0] {
	case '"':
		if n = quotedLen(s, '"'); n > 0 {
			dst, why = w.luceneWord(dst, s[:n])
		}
	case '/':
		if n = quotedLen(s, '/'); n > 0 {
			dst, why = w.luceneRegexp(dst, s[:n])
		}
	default:
		if n = rangeLen(s); n > 0 {
			dst, why = w.luceneRange(dst, s[:n])
		}
	}
	return dst, n, why
}

// quotedLen is the length of what begins and ends with q, 0 if it does not end.
func quotedLen(s []byte, q byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case q:
			return i + 1
		}
	}
	return 0
}

func rangeLen(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := quotedLen(s[i:], '"')
			if n == 0 {
				return 0
			}
			i += n - 1
		case '\\':
			i++
		case ']', '}':
			return i + 1
		case '[', '{':
			return 0
		}
	}
	return 0
}

func isLuceneSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLuceneOperator(c byte) bool {
	switch c {
	case '+', '-', '!', ':', '&', '|', '=', '<', '>', ']', '}':
		return true
	}
	return false
}

// luceneWordLen is the length of the term or field that s begins with.
func luceneWordLen(s []byte) int {
	i := 0
	for i < len(s) {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i += 2
			continue
		case isLuceneSpace(c), c == '"', c == '(', c == ')', c == ':', c == '[', c == ']', c == '{', c == '}', c == '^', c == '~':
			return max(i, 1)
		}
		i++
	}
	return max(min(i, len(s)), 1)
}

// hasUnicodeEscape tells \u0061, which would spell letters as digits.
func hasUnicodeEscape(s []byte) bool {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			if s[i+1] == 'u' && i+5 < len(s) && isHex(s[i+2]) && isHex(s[i+3]) && isHex(s[i+4]) && isHex(s[i+5]) {
				return true
			}
			i++
		}
	}
	return false
}

// simpleQuery handles the simple query string.
func (r *rewriter) simpleQuery(k es.Token, s []byte) reason {
	out, why := r.simpleText(r.tmp[:0], s)
	r.tmp = out
	if why != kept {
		return why
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// simpleText appends the form of a simple query string: every character but
// letters and digits is an operator or a separator, and stays.
func (w *Worker) simpleText(dst, s []byte) ([]byte, reason) {
	for i, c := range s {
		if c == '~' && i > 0 && s[i-1] != '"' {
			w.note(broken, "fuzzy")
		}
		if c == '*' && i > 0 && inRun(s, i-1) {
			w.note(broken, "prefix")
		}
	}
	if hasUnicodeEscape(s) {
		return dst, dropUnparsableQuery
	}
	if w.numericText(s) && !isText(w.fact) {
		w.note(approx, "number_as_string")
	}
	if w.open != nil {
		w.analysed(s, &w.open.Text, pT)
	}
	if isText(w.fact) {
		w.wordsAt(s, pT)
	} else {
		w.piecesOfText(s)
	}
	for len(s) > 0 { // distances stay
		i := bytes.IndexByte(s, '~')
		if i < 0 {
			i = len(s)
		}
		dst = w.text.text(dst, s[:i])
		n := i
		for n < len(s) && n < i+3 && (n == i || digitsAt(s, n, 1)) {
			n++
		}
		dst = append(dst, s[i:n]...)
		s = s[n:]
	}
	return dst, kept
}
