package sanitize

import "bytes"

// afterWord sees to it that index expressions are read as such: they may hold
// what no name may.
func (x *lexer) afterWord(word, rest []byte) {
	up := string(upperASCII(word))
	if x.src == sourceMore {
		x.src = sourceNo
	}
	switch x.lang {
	case langESQL:
		if (up == "FROM" || up == "TS") && x.opensStep() || up == "ENRICH" && x.opensStep() || up == "JOIN" && x.wordBefore(1) == "LOOKUP" {
			x.src = sourceNext
		}
	case langSQL, langOpenSQL:
		x.afterSQL(up)
	case langPPL:
		if x.opensStep() {
			x.search = up == "SEARCH"
		}
		next := bytes.TrimLeft(rest, " \t\r\n")
		switch {
		case (up == "SOURCE" || up == "INDEX") && len(next) > 0 && next[0] == '=' && (x.search || x.opensStep()):
			x.assign = true
		case (up == "LOOKUP" || up == "DESCRIBE" || up == "DESC") && x.opensStep():
			x.src = sourceNext
		}
	}
}

// afterSQL is afterWord for SQL.
func (x *lexer) afterSQL(up string) {
	switch up {
	case "FROM":
		switch x.top() {
		case "EXTRACT", "TRIM", "SUBSTRING", "POSITION":
		default:
			x.src, x.from = sourceNext, true
		}
	case "JOIN":
		x.src = sourceNext
	case "DESCRIBE", "DESC":
		if len(x.toks) == 0 {
			x.src = sourceNext
		}
	case "IN":
		if x.wordBefore(1) == "COLUMNS" {
			x.src = sourceNext
		}
	case "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "ON", "UNION":
		x.from = false
	}
}

// opensStep tells that the word to come opens a text, a step of a pipe or a
// bracket.
func (x *lexer) opensStep() bool {
	n := len(x.toks)
	if n == 0 {
		return true
	}
	c := x.s[x.toks[n-1].start]
	return x.toks[n-1].kind == langSign && (c == '|' || c == '[' || c == '(')
}

// wordBefore is the n-th token from the end, in upper case, if it is a word.
func (x *lexer) wordBefore(n int) string { return x.wordAt(len(x.toks) - n) }

func (x *lexer) wordAt(i int) string {
	if i < 0 || i >= len(x.toks) || x.toks[i].kind != langWord {
		return ""
	}
	return string(upperASCII(x.s[x.toks[i].start:x.toks[i].end]))
}

// source is the length of the index expression that s begins with: one name,
// pattern or date math, with a cluster before it; 0 where none begins.
func (x *lexer) source(s []byte) int {
	switch c := s[0]; {
	case x.d.isString(s):
		return x.d.literalLen(s)
	case bytes.IndexByte([]byte(x.d.names), c) >= 0:
		return doubledLen(s, c)
	}
	n := 0
	for n < len(s) && !isLuceneSpace(s[n]) && bytes.IndexByte([]byte(",|()[]\"'`;=/\\"), s[n]) < 0 {
		n++
	}
	if n < len(s) && (s[n] == '"' || s[n] == '`') && s[n-min(n, 1)] != ':' {
		return 0
	}
	return n
}
