package es

import (
	"bytes"
	"slices"
)

// operators writes which operators of the Lucene query language a text has, in
// a fixed order; not its words.
func (f *Fingerprinter) operators(text []byte) {
	var has [len(operatorNames)]bool
	quoted := false
	word := 0 // where the current word begins
	for i := 0; i <= len(text); i++ {
		c := byte(' ')
		if i < len(text) {
			c = text[i]
		}
		if quoted {
			quoted = c != '"'
			if c == '\\' {
				i++
			}
			word = i // not i+1: what follows the quote begins no word
			continue
		}
		switch c {
		case '"':
			quoted, has[opPhrase] = true, true
		case '\\':
			i++
			continue
		case '*', '?':
			if i == word {
				has[opLeading] = true
			}
			has[opWildcard] = true
			continue
		case '~':
			has[opFuzzy] = true
		case '^':
			has[opBoost] = true
		case ':':
			has[opField] = true
		case '(', ')':
			has[opGroup] = true
		case '[', ']', '{', '}':
			has[opRange] = true
		case '/':
			has[opRegexp] = has[opRegexp] || i == word
			continue
		case '+', '-', '!':
			if i == word {
				has[opMust] = has[opMust] || c == '+'
				has[opNot] = has[opNot] || c != '+'
				word = i + 1
			}
			continue
		case ' ', '\t', '\n', '\r', '|', '&':
		default:
			continue
		}
		if word <= i && i <= len(text) {
			switch string(text[min(word, len(text)):min(i, len(text))]) {
			case "AND":
				has[opAnd] = true
			case "OR":
				has[opOr] = true
			case "NOT":
				has[opNot] = true
			}
		}
		switch c {
		case '&':
			has[opAnd] = true
		case '|':
			has[opOr] = true
		}
		word = i + 1
	}
	for i, yes := range has {
		if yes {
			f.write(" ")
			f.write(operatorNames[i])
		}
	}
}

const (
	opAnd = iota
	opOr
	opNot
	opMust
	opPhrase
	opLeading
	opWildcard
	opRegexp
	opFuzzy
	opRange
	opGroup
	opField
	opBoost
)

var operatorNames = [...]string{
	opAnd: "AND", opOr: "OR", opNot: "NOT", opMust: "+", opPhrase: `""`, opLeading: "*x", opWildcard: "x*", opRegexp: "/x/",
	opFuzzy: "~", opRange: "[]", opGroup: "()", opField: "x:", opBoost: "^",
}

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
	f.skeleton(text)
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

func (f *Fingerprinter) skeleton(text []byte) {
	f.text = f.text[:0] // the names
	last := byte(0)     // what was written last: w a word, f a name, ? a value, or a sign
	put := func(kind byte, word string) {
		if last != 0 && (kind == 'w' || kind == 'f' || kind == '?') && last != '(' {
			f.write(" ")
		}
		f.write(word)
		last = kind
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c <= ' ':
			i++
		case comment(text[i:]) > 0:
			i += comment(text[i:])
		case c == '"' || c == '\'':
			i = literalEnd(text, i)
			if last != '?' {
				put('?', "?")
			}
		case c >= '0' && c <= '9':
			for i < len(text) && (isWord(text[i]) || text[i] == '.') {
				i++
			}
			if last != '?' {
				put('?', "?")
			}
		case c == '`':
			end := bytes.IndexByte(text[i+1:], '`')
			if end < 0 {
				end = len(text) - i - 1
			}
			f.text = appendClass(append(f.text, ' '), text[i+1:i+1+end])
			i = min(i+end+2, len(text))
			if last != 'f' {
				put('f', "f")
			}
		case isWord(c):
			start := i
			for i < len(text) && (isWord(text[i]) || text[i] == '.' || text[i] == '@' || text[i] == '*') {
				i++
			}
			if word := keyword(text[start:i]); word != "" {
				f.kind(word)
				put('w', word)
				continue
			}
			f.text = appendClass(append(f.text, ' '), text[start:i])
			if last != 'f' {
				put('f', "f")
			}
		case c == ',':
			i++ // lists of any length are one
		case c == '(' || c == ')' || c == '[' || c == ']' || c == '|' || c == '{' || c == '}':
			i++
			if c == '|' && last != 0 {
				f.write(" ")
			}
			f.out = append(f.out, c)
			last = c
		default:
			i++ // operators: which of them says little
			if (c == '=' || c == '<' || c == '>' || c == '!' || c == '~') && last != '=' {
				f.write(" =")
				last = '='
			}
		}
	}
	if len(f.text) > 0 {
		f.write(" ")
		f.digest(f.text)
	}
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

func isWord(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// keyword returns the word of one of the languages that b is, else "".
func keyword(b []byte) string {
	if len(b) > 20 {
		return ""
	}
	var upper [20]byte
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	if i, ok := slices.BinarySearchFunc(keywords[:], upper[:len(b)], func(w string, b []byte) int {
		return bytes.Compare([]byte(w), b)
	}); ok {
		return keywords[i]
	}
	return ""
}

// keywords are sorted.
var keywords = [...]string{
	"ALL", "AND", "ANY", "AS", "ASC", "AVG", "BETWEEN", "BUCKET", "BY", "CASE", "CAST", "CATEGORIZE", "CHANGE_POINT", "COALESCE", "COMPLETION",
	"COUNT", "COUNT_DISTINCT", "DATE_TRUNC", "DEDUP", "DESC", "DESCRIBE", "DISSECT", "DISTINCT", "DROP", "ELSE", "END", "ENRICH", "EVAL",
	"EVENTSTATS", "EXISTS", "FIELDS", "FIRST", "FORK", "FROM", "FULL", "FUSE", "GROK", "GROUP", "HAVING", "HEAD", "HISTOGRAM", "IN", "INLINESTATS",
	"INNER", "IS", "JOIN", "KEEP", "KNN", "LAST", "LEFT", "LIKE", "LIMIT", "LOOKUP", "MATCH", "MATCH_PHRASE", "MAX", "MAXSPAN", "MEDIAN",
	"METADATA", "MIN", "MV_EXPAND", "NOT", "NULL", "NULLS", "OF", "OFFSET", "ON", "OR", "ORDER", "OUTER", "PARSE", "PERCENTILE", "QSTR", "QUERY",
	"RARE", "REGEX", "RENAME", "RERANK", "RIGHT", "RLIKE", "ROW", "RUNS", "SAMPLE", "SCORE", "SEARCH", "SELECT", "SEQUENCE", "SHOW", "SORT",
	"SOURCE", "STATS", "STATS_BY", "SUM", "TABLES", "THEN", "TIMECHART", "TOP", "TREND", "UNION", "UNTIL", "VALUES", "WHEN", "WHERE", "WITH",
}
