package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// lucene handles a string in Lucene's query syntax.
func (r *rewriter) lucene(k es.Token, s []byte) reason {
	out, why := r.luceneText(r.tmp2[:0], s)
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
func (w *Worker) luceneText(dst, s []byte) ([]byte, reason) {
	if hasUnicodeEscape(s) {
		return dst, dropUnparsableQuery
	}
	w.path2, w.group = w.path2[:0], 0
	depth := 0
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
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
			if dst, n = w.luceneGroup(dst, s[i:]); n == 0 {
				return dst, dropUnparsableQuery
			}
		case c == '^' || c == '~':
			for i+n < len(s) && (digitsAt(s, i+n, 1) || s[i+n] == '.') {
				n++
			}
			if n > 8 {
				return dst, dropUnparsableQuery
			}
			if c == '~' && i > 0 && s[i-1] != '"' {
				w.note(broken, "fuzzy")
			}
			dst = append(dst, s[i:i+n]...)
		case isLuceneSpace(c) || isLuceneOperator(c):
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
				dst = w.luceneTerm(dst, word)
			}
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
func (w *Worker) luceneGroup(dst, s []byte) (out []byte, n int) {
	switch s[0] {
	case '"':
		if n = quotedLen(s, '"'); n > 0 {
			dst = w.luceneWord(dst, s[:n])
		}
	case '/':
		if n = quotedLen(s, '/'); n > 0 {
			text, whole, ok := w.regexpText(append(dst, '/'), s[1:n-1])
			if !ok {
				return dst, 0
			}
			if !whole {
				w.note(broken, "regexp")
			}
			w.endTerm()
			dst = append(text, '/')
		}
	default:
		if n = rangeLen(s); n > 0 {
			dst = w.luceneRange(dst, s[:n])
		}
	}
	return dst, n
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

// luceneField appends a field name, of which special characters may be escaped.
func (w *Worker) luceneField(dst, name []byte) []byte {
	plain := name
	if bytesHas(name, '\\') {
		plain = bytes.ReplaceAll(name, []byte{'\\'}, nil)
	}
	w.path2 = append(w.path2[:0], plain...)
	if w.fieldStays(plain) {
		w.post.keep(plain)
		return append(dst, name...)
	}
	return w.text.text(dst, name)
}

// luceneTerm appends a term outside of quotes.
func (w *Worker) luceneTerm(dst, word []byte) []byte {
	switch string(w.path2) {
	case "_exists_":
		w.endTerm()
		return w.field(dst, word)
	case "_id", "_routing":
		w.endTerm()
		return w.id(dst, word)
	case "_index":
		w.endTerm()
		return w.indexExpr(dst, word)
	}
	if !delimitedPattern(word) {
		w.note(broken, "wildcard")
	}
	return w.luceneWord(dst, word)
}

// endTerm forgets the field that a term was for, unless more of them follow in
// parentheses.
func (w *Worker) endTerm() {
	if w.group == 0 {
		w.path2 = w.path2[:0]
	}
}

func (w *Worker) luceneWord(dst, word []byte) []byte {
	hasField := len(w.path2) > 0
	act := w.actionFor(w.path2)
	special := string(w.path2)
	w.endTerm()
	plain := bytes.Trim(word, `"`)
	switch {
	case act == actKeep:
		w.post.keep(word)
		return append(dst, word...)
	case act != actTokens:
		w.note(broken, "masked_field")
		return append(dst, "mmmmm"...)
	case special == "_id" || special == "_routing":
		return w.id(dst, word)
	case special == "_index":
		return w.indexExpr(dst, word)
	case isNumber(plain):
		if hasField {
			w.note(broken, "number_as_string")
		} else {
			w.note(approx, "number_as_string")
		}
	case isDateMath(plain):
		if w.text.style.shiftDates {
			w.note(broken, "now")
		}
		return append(dst, word...)
	}
	return w.text.text(dst, word)
}

// luceneRange appends [a TO b]: the bounds go the way of range bounds.
func (w *Worker) luceneRange(dst, s []byte) []byte {
	w.endTerm()
	dst = append(dst, s[0])
	body := s[1 : len(s)-1]
	for len(body) > 0 {
		n := 0
		for n < len(body) && isLuceneSpace(body[n]) {
			n++
		}
		if n > 0 {
			dst = append(dst, body[:n]...)
			body = body[n:]
			continue
		}
		if body[0] == '"' {
			n = quotedLen(body, '"')
		} else {
			for n < len(body) && !isLuceneSpace(body[n]) {
				n++
			}
		}
		dst = w.luceneBound(dst, body[:n])
		body = body[n:]
	}
	return append(dst, s[len(s)-1])
}

func (w *Worker) luceneBound(dst, word []byte) []byte {
	plain := bytes.Trim(word, `"`)
	switch {
	case string(word) == "TO", string(word) == "*":
		return append(dst, word...)
	case isNumber(plain) && len(plain) <= 20:
		mark := len(dst)
		quoted := len(plain) < len(word)
		if quoted {
			dst = append(dst, '"')
		}
		dst = w.number(dst, plain)
		if quoted {
			dst = append(dst, '"')
		}
		if !bytes.Equal(dst[mark:], word) {
			w.note(broken, "number_range")
		}
		return dst
	case isDateMath(plain):
		if w.text.style.shiftDates {
			w.note(broken, "now")
		}
		return append(dst, word...)
	case dateLen(plain) != len(plain):
		w.note(broken, "range_text")
	}
	return w.text.text(dst, word)
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
	if w.numericText(s) {
		w.note(approx, "number_as_string")
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
