package es

import "bytes"

// language writes a request in ES|QL, SQL, PPL or EQL: the language's words in
// their order, "f" for a name, "?" for a value, and a digest of the names. What
// is not a word of the language could be a value, so no name is shown.
func (f *Fingerprinter) language(op Op, root int32) {
	t := &f.tree
	text := t.str(t.get(root, "query"))
	if text == nil && t.get(root, "cursor") != none {
		f.write("cursor")
		return
	}
	s := skeleton{f: f}
	f.text = f.text[:0]
	for i := 0; i < len(text); {
		i = s.step(text, i)
	}
	if len(f.text) > 0 {
		f.write(" ")
		f.digest(f.text)
	}
	if n := t.get(root, "filter"); n != none {
		f.write(" ")
		f.block("filter", n)
	}
	if op == OpEQL || op == OpEQLAsync || op == OpSQL || op == OpSQLAsync {
		for _, key := range [...]string{"size", "fetch_size"} {
			if n := t.get(root, key); t.is(n, Number) {
				f.amountOf(" "+key, n)
			}
		}
	}
}

// skeleton writes a text of one of the languages step by step; the names are
// gathered in the text of its Fingerprinter.
type skeleton struct {
	f    *Fingerprinter
	last byte // what was written last: w a word, f a name, ? a value, or a sign
}

// step looks at what stands at i and returns where the next step begins.
func (s *skeleton) step(text []byte, i int) int {
	c := text[i]
	switch {
	case c <= ' ', c == ',': // lists of any length are one
		return i + 1
	case c == '"' || c == '\'':
		s.once('?')
		return literalEnd(text, i)
	case c >= '0' && c <= '9':
		s.once('?')
		return langWordEnd(text, i)
	case c == '`':
		end := literalEnd(text, i)
		s.name(bytes.Trim(text[i:end], "`"))
		return end
	case isWord(c):
		end := langWordEnd(text, i)
		if word := s.f.keyword(text[i:end]); word != "" {
			s.f.kind(word)
			s.put('w', word)
		} else {
			s.name(text[i:end])
		}
		return end
	}
	if n := comment(text[i:]); n > 0 {
		return i + n
	}
	s.sign(c)
	return i + 1
}

func (s *skeleton) put(kind byte, word string) {
	if s.last != 0 && s.last != '(' {
		s.f.write(" ")
	}
	s.f.write(word)
	s.last = kind
}

// once writes "?" or "f" unless that was written just before.
func (s *skeleton) once(kind byte) {
	if s.last == kind {
		return
	}
	word := "f"
	if kind == '?' {
		word = "?"
	}
	s.put(kind, word)
}

func (s *skeleton) name(b []byte) {
	s.f.text = appendClass(append(s.f.text, ' '), b)
	s.once('f')
}

// sign writes brackets and pipes as they are and all comparisons as "=".
func (s *skeleton) sign(c byte) {
	switch c {
	case '|':
		if s.last != 0 {
			s.f.write(" ")
		}
	case '(', ')', '[', ']', '{', '}':
	case '=', '<', '>', '!', '~':
		if s.last == '=' {
			return
		}
		s.f.write(" ")
		c = '='
	default:
		return
	}
	s.f.out = append(s.f.out, c)
	s.last = c
}

// comment is the length of the comment that b begins with, 0 if there is none.
func comment(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte("--")), bytes.HasPrefix(b, []byte("//")):
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1
		}
		return len(b)
	case bytes.HasPrefix(b, []byte("/*")):
		if i := bytes.Index(b[2:], []byte("*/")); i >= 0 {
			return i + 4
		}
		return len(b)
	}
	return 0
}

// literalEnd is the offset after the quoted text at i, also one in three quotes.
func literalEnd(text []byte, i int) int {
	q := text[i : i+1]
	if bytes.HasPrefix(text[i:], []byte(`"""`)) {
		q = text[i : i+3]
	}
	for i += len(q); i < len(text); i++ {
		switch {
		case text[i] == '\\' && len(q) == 1:
			i++
		case bytes.HasPrefix(text[i:], q):
			return i + len(q)
		}
	}
	return len(text)
}

// langWordEnd is the end of the word or number at i, which may have dots and, as
// patterns of names do, stars in it.
func langWordEnd(text []byte, i int) int {
	for i < len(text) && (isWord(text[i]) || text[i] == '.' || text[i] == '@' || text[i] == '*') {
		i++
	}
	return i
}

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// keyword returns the word of one of the languages that b is, else "".
func (f *Fingerprinter) keyword(b []byte) string {
	var upper [20]byte
	if len(b) > len(upper) {
		return ""
	}
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	if !isKeyword(upper[:len(b)]) {
		return ""
	}
	return f.word(upper[:len(b)])
}

// isKeyword tells the words of ES|QL, SQL, PPL and EQL that say what is done.
func isKeyword(upper []byte) bool {
	switch string(upper) {
	case "ALL", "AND", "ANY", "AS", "ASC", "AVG", "BETWEEN", "BUCKET", "BY", "CASE", "CAST", "CATEGORIZE", "CHANGE_POINT",
		"COALESCE", "COMPLETION", "COUNT", "COUNT_DISTINCT", "DATE_TRUNC", "DEDUP", "DESC", "DESCRIBE", "DISSECT", "DISTINCT", "DROP",
		"ELSE", "END", "ENRICH", "EVAL", "EVENTSTATS", "EXISTS", "FIELDS", "FIRST", "FORK", "FROM", "FULL", "FUSE", "GROK", "GROUP",
		"HAVING", "HEAD", "HISTOGRAM", "IN", "INLINESTATS", "INNER", "IS", "JOIN", "KEEP", "KNN", "LAST", "LEFT", "LIKE", "LIMIT",
		"LOOKUP", "MATCH", "MATCH_PHRASE", "MAX", "MAXSPAN", "MEDIAN", "METADATA", "MIN", "MV_EXPAND", "NOT", "NULL", "NULLS", "OF",
		"OFFSET", "ON", "OR", "ORDER", "OUTER", "PARSE", "PERCENTILE", "QSTR", "QUERY", "RARE", "REGEX", "RENAME", "RERANK", "RIGHT",
		"RLIKE", "ROW", "RUNS", "SAMPLE", "SCORE", "SEARCH", "SELECT", "SEQUENCE", "SHOW", "SORT", "SOURCE", "STATS", "SUM", "TABLES",
		"THEN", "TIMECHART", "TOP", "TREND", "UNION", "UNTIL", "VALUES", "WHEN", "WHERE", "WITH":
		return true
	}
	return false
}
