package sanitize

import "bytes"

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
func (w *Worker) luceneTerm(dst, word []byte) ([]byte, reason) {
	if !delimitedPattern(word) && string(w.path2) != "_exists_" {
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

// lucenePlan is the plan for the field at hand, whose name comes with it; the
// term for it is over. plain tells that words become tokens as those of any
// field.
func (w *Worker) lucenePlan() (field string, plain bool) {
	pl := w.planFor(w.path2)
	if pl != &w.other || pl.action != actTokens {
		field = string(w.path2)
	} else {
		plain = true
	}
	w.endTerm()
	return field, plain
}

// luceneValue appends a term by the plan of its field.
func (w *Worker) luceneValue(dst, word []byte, p prim, field string) (out []byte, why reason) {
	dst = w.luceneForm(dst, word, func(dst, s []byte) []byte {
		var out []byte
		out, why = w.valueText(dst, s, p, field)
		return out
	})
	return dst, why
}

// luceneWord appends a term or a phrase.
func (w *Worker) luceneWord(dst, word []byte) ([]byte, reason) {
	hasField, special := len(w.path2) > 0, string(w.path2)
	field, tokens := w.lucenePlan()
	plain := luceneUnescape(nil, bytes.Trim(word, `"`))
	if w.open != nil && !hasField {
		w.analysed(plain, &w.open.Text, pT)
	}
	switch {
	case special == "_exists_":
		return w.luceneForm(dst, word, w.field), kept
	case special == "_id" || special == "_routing":
		return w.luceneForm(dst, word, w.id), kept
	case special == "_index":
		return w.luceneForm(dst, word, w.indexExpr), kept
	case !tokens && word[0] != '"' && hasWildcard(word):
		return w.luceneValue(dst, word, pWildcard, field)
	case !tokens:
		return w.luceneValue(dst, word, pT, field)
	case isText(w.fact) && !hasField && !isDateMath(plain):
		w.wordsAt(plain, pT)
	case isNumber(plain):
		if hasField {
			w.note(broken, "number_as_string")
		} else {
			w.note(approx, "number_as_string")
			w.piecesOfText(plain)
		}
	case isDateMath(plain):
		if w.text.style.shiftDates {
			w.note(broken, "now")
		}
		return append(dst, word...), kept
	default:
		w.piecesOfText(plain)
	}
	return w.luceneForm(dst, word, w.text.text), kept
}

// luceneForm appends what f makes of a term. Where the term has escapes, f sees
// it without them, so that an address or a date has the pseudonym that it has in
// a document. In a pattern they stay: * and \* are not the same.
func (w *Worker) luceneForm(dst, word []byte, f func(dst, s []byte) []byte) []byte {
	quoted := len(word) > 1 && word[0] == '"'
	switch {
	case bytesHas(word, '\\'):
	case quoted:
		return append(f(append(dst, '"'), word[1:len(word)-1]), '"')
	default:
		return f(dst, word)
	}
	if !quoted && hasWildcard(word) {
		w.note(broken, "wildcard")
		return f(dst, word)
	}
	plain := word
	if quoted {
		plain = word[1 : len(word)-1]
	}
	w.low = luceneUnescape(w.low[:0], plain)
	form := f(nil, w.low)
	if quoted {
		dst = append(dst, '"')
	}
	for i, c := range form {
		if c == '\\' || c == '"' || !quoted && luceneSpecial(c, i == 0) {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	if quoted {
		dst = append(dst, '"')
	}
	return dst
}

func luceneUnescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		dst = append(dst, s[i])
	}
	return dst
}

// luceneSpecial tells characters that end a term or mean something in it.
func luceneSpecial(c byte, first bool) bool {
	switch c {
	case '-', '+':
		return first
	case '!', '(', ')', '{', '}', '[', ']', '^', '~', '*', '?', ':', '/', '&', '|', '=', '<', '>', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// hasWildcard tells a * or ? that is not escaped.
func hasWildcard(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		}
	}
	return false
}

// luceneRegexp appends a regular expression between slashes.
func (w *Worker) luceneRegexp(dst, s []byte) ([]byte, reason) {
	if field, plain := w.lucenePlan(); !plain {
		out, why := w.valueText(append(dst, '/'), s[1:len(s)-1], pRegexp, field)
		return append(out, '/'), why
	}
	text, whole, ok := w.regexpText(append(dst, '/'), s[1:len(s)-1])
	if !whole {
		w.note(broken, "regexp")
	}
	if !ok {
		return dst, dropUnparsableQuery
	}
	return append(text, '/'), kept
}

// luceneRange appends [a TO b]: the bounds go the way of range bounds.
func (w *Worker) luceneRange(dst, s []byte) (out []byte, why reason) {
	field, plain := w.lucenePlan()
	if dst, ok := w.luceneBlock(dst, s, field, plain); ok {
		return dst, kept
	}
	dst = append(dst, s[0])
	body := s[1 : len(s)-1]
	for len(body) > 0 {
		if n := spaceLen(body); n > 0 {
			dst = append(dst, body[:n]...)
			body = body[n:]
			continue
		}
		n := 0
		if body[0] == '"' {
			n = quotedLen(body, '"')
		} else {
			for n < len(body) && !isLuceneSpace(body[n]) {
				n++
			}
		}
		if dst, why = w.luceneBound(dst, body[:n], field, plain); why != kept {
			return dst, why
		}
		body = body[n:]
	}
	return append(dst, s[len(s)-1]), kept
}

// boundLen is the length of the bound that s begins with, 0 if it does not end.
func boundLen(s []byte) int {
	if s[0] == '"' {
		return quotedLen(s, '"')
	}
	return luceneWordLen(s)
}

// luceneBound appends a bound of a range.
func (w *Worker) luceneBound(dst, word []byte, field string, tokens bool) ([]byte, reason) {
	if len(word) == 0 {
		return dst, dropUnparsableQuery // a quote that does not end
	}
	plain := luceneUnescape(nil, bytes.Trim(word, `"`))
	switch {
	case string(word) == "TO", string(word) == "*":
		return append(dst, word...), kept
	case isDateMath(plain):
		return w.luceneNow(dst, word, plain, field, tokens)
	case !tokens:
		return w.luceneValue(dst, word, pBound, field)
	case isNumber(plain) && len(plain) <= 20:
		return w.luceneForm(dst, word, func(dst, s []byte) []byte {
			mark := len(dst)
			if dst = w.number(dst, s); !bytes.Equal(dst[mark:], s) {
				w.note(broken, "number_range")
			}
			return dst
		}), kept
	case dateLen(plain) != len(plain):
		w.note(broken, "range_text")
	}
	return w.luceneForm(dst, word, w.text.text), kept
}
