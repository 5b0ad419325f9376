package sanitize

import (
	"bytes"
	"unicode/utf8"
)

// langKind says what a token of a query language is.
type langKind uint8

const (
	langWord   langKind = iota + 1 // keyword, function or name; dots join its parts
	langName                       // a quoted name
	langString                     // a literal in quotes
	langNumber
	langParam  // ?, ?name, ?1, ??name
	langSource // an index expression, bare or in quotes
	langSign
)

// langToken is s[start:end]. glued: nothing stands between it and the token
// before it. noted: a comment does.
type langToken struct {
	kind         langKind
	glued, noted bool
	start, end   int
}

// dialect says how the texts of one language are cut and read.
type dialect struct {
	strings, names string // what opens literals, and quoted names
	backslash      bool   // in literals, \ escapes
	doubled        bool   // in literals, a doubled quote stands for one
	triple         bool   // """literal"""
	optional       bool   // ?"literal" and ?name, of EQL
	slashes        bool   // comments begin with //
	dashes         bool   // comments begin with --
	hash           bool   // comments begin with #
	wide           bool   // words may hold letters beyond ASCII
	params         bool   // ?, ?name
	signs          []string
}

// language is one of the query languages; SQL has two dialects.
type language uint8

const (
	langESQL language = iota
	langSQL
	langOpenSQL
	langEQL
	langPPL
)

//nolint:gochecknoglobals // a constant table
var dialects = [...]dialect{
	langESQL: {
		strings: `"`, names: "`", backslash: true, triple: true, slashes: true, params: true,
		signs: []string{"::", "==", "=~", "!=", "<=", ">="},
	},
	langSQL: {
		strings: "'", names: "\"`", doubled: true, dashes: true, params: true,
		signs: []string{"::", "<=>", "==", "!=", "<>", "<=", ">=", "||"},
	},
	langOpenSQL: {
		strings: "'\"", names: "`", backslash: true, doubled: true, dashes: true, hash: true, wide: true, params: true,
		signs: []string{"<=>", "!=", "<>", "<=", ">=", "&&", "||"},
	},
	langEQL: {
		strings: `"`, names: "`", backslash: true, triple: true, optional: true, slashes: true,
		signs: []string{"==", "!=", "<=", ">="},
	},
	langPPL: {
		strings: "'\"", names: "`", backslash: true, doubled: true, slashes: true, wide: true,
		signs: []string{"==", "!=", "<=", ">="},
	},
}

// lexer cuts a text into tokens.
type lexer struct {
	lang   language
	d      *dialect
	s      []byte
	toks   []langToken
	src    sourceMode
	from   bool // in the list behind FROM of SQL, whose commas separate sources
	assign bool // the sign = will be followed by an index expression
	search bool // in a step of PPL that begins with the word search
	inside []lexBracket
	noted  bool
}

// lexBracket is a bracket that is open: the function that it belongs to, and
// lexer.from before it.
type lexBracket struct {
	fn   string
	from bool
}

type sourceMode uint8

const (
	sourceNo   sourceMode = iota
	sourceNext            // an index expression comes next
	sourceMore            // one was read: a comma announces another
)

// cut cuts s. ok is false where something cannot be read surely.
func (x *lexer) cut(lang language, s []byte) (ok bool) {
	*x = lexer{lang: lang, d: &dialects[lang], s: s, toks: x.toks[:0], inside: x.inside[:0]}
	for i := 0; i < len(s); {
		c := s[i]
		if isLuceneSpace(c) {
			i++
			continue
		}
		if n, closed := x.comment(s[i:]); n > 0 {
			if !closed {
				return false
			}
			x.noted = true
			i += n
			continue
		}
		kind, n := x.token(i)
		if n == 0 {
			return false
		}
		x.add(kind, i, i+n)
		i += n
	}
	return len(x.inside) == 0
}

func (x *lexer) add(kind langKind, start, end int) {
	t := langToken{kind: kind, noted: x.noted, start: start, end: end}
	if n := len(x.toks); n > 0 {
		t.glued = x.toks[n-1].end == start
	}
	x.noted = false
	x.toks = append(x.toks, t)
}

// comment is the length of the comment that s begins with, without the line end
// behind it. One that is not closed, or holds another, is not understood alike
// by all engines.
func (x *lexer) comment(s []byte) (n int, closed bool) {
	switch {
	case bytes.HasPrefix(s, []byte("/*")):
		end := bytes.Index(s[2:], []byte("*/"))
		if end < 0 || bytes.Contains(s[2:2+end], []byte("/*")) {
			return len(s), false
		}
		return end + 4, true
	case x.d.slashes && bytes.HasPrefix(s, []byte("//")):
	case x.d.dashes && bytes.HasPrefix(s, []byte("--")):
		// MySQL's grammar wants a space behind it, the others do not.
		if x.d.hash && len(s) > 2 && !isLuceneSpace(s[2]) {
			return len(s), false
		}
	case x.d.hash && s[0] == '#':
	default:
		return 0, true
	}
	if n = bytes.IndexAny(s, "\r\n"); n < 0 {
		n = len(s)
	}
	return n, true
}

// token reads the token at i; n is 0 where none can be read.
func (x *lexer) token(i int) (kind langKind, n int) {
	s := x.s[i:]
	c := s[0]
	if x.src == sourceNext && c != '(' {
		if n = x.source(s); n > 0 {
			if s[n-1] != ':' { // cluster:"name"
				x.src = sourceMore
			}
			return langSource, n
		}
		x.src = sourceNo
	}
	switch {
	case x.d.isString(s):
		return langString, x.d.literalLen(s)
	case bytes.IndexByte([]byte(x.d.names), c) >= 0:
		return langName, doubledLen(s, c)
	case digitsAt(s, 0, 1), c == '.' && digitsAt(s, 1, 1):
		return langNumber, numberLen(s)
	case x.d.params && c == '?':
		return langParam, x.paramLen(s)
	}
	if n = x.wordLen(s); n > 0 {
		x.afterWord(s[:n], s[n:])
		return langWord, n
	}
	return langSign, x.sign(s)
}

// isString tells that s begins with a literal.
func (d *dialect) isString(s []byte) bool {
	if d.optional && len(s) > 1 && s[0] == '?' && (s[1] == '"' || s[1] == '\'') {
		return true
	}
	return bytes.IndexByte([]byte(d.strings), s[0]) >= 0
}

// literalLen is the length of the literal that s begins with, quotes included.
func (d *dialect) literalLen(s []byte) int {
	switch {
	case s[0] == '?':
		if i := bytes.IndexAny(s[2:], string(s[1])+"\r\n"); i >= 0 && s[2+i] == s[1] {
			return i + 3
		}
		return 0
	case d.triple && bytes.HasPrefix(s, []byte(`"""`)):
		i := bytes.Index(s[3:], []byte(`"""`))
		if i < 0 {
			return 0
		}
		i += 6
		if i < len(s) && s[i] == '"' {
			return 0 // more quotes than three: whose are they
		}
		return i
	}
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && d.backslash:
			i++
		case c == q && d.doubled && i+1 < len(s) && s[i+1] == q:
			i++
		case c == q:
			if !d.backslash && i > 2 && s[i-1] == '\\' {
				return 0 // another engine would read on
			}
			return i + 1
		}
	}
	return 0
}

// doubledLen is the length of a quoted name, in which the quote is doubled.
func doubledLen(s []byte, q byte) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\n' || s[i] == '\\':
			return 0
		case s[i] != q:
		case i+1 < len(s) && s[i+1] == q:
			i++
		default:
			return i + 1
		}
	}
	return 0
}

// numberLen is the length of 12, 1.5, 1., .5, 1e-9.
func numberLen(s []byte) int {
	i := 0
	digits := func() {
		for i < len(s) && digitsAt(s, i, 1) {
			i++
		}
	}
	digits()
	if i < len(s) && s[i] == '.' && !(i+1 < len(s) && (asciiClass(s[i+1]) == classLetter || s[i+1] == '.')) {
		i++
		digits()
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if digitsAt(s, j, 1) {
			i = j
			digits()
		}
	}
	return i
}

func (x *lexer) paramLen(s []byte) int {
	i := 1
	if i < len(s) && s[i] == '?' {
		i++
	}
	for i < len(s) && (s[i] == '_' || s[i] < utf8.RuneSelf && asciiClass(s[i]) != classSep) {
		i++
	}
	return i
}

// wordLen is the length of the word that s begins with, with the parts that dots
// join to it.
func (x *lexer) wordLen(s []byte) int {
	i := 0
	for i < len(s) {
		switch c := s[i]; {
		case c == '_', c == '@', c >= utf8.RuneSelf && x.d.wide, c < utf8.RuneSelf && asciiClass(c) != classSep:
			i++
		case c == '.' && i > 0 && i+1 < len(s) && (s[i+1] == '_' || s[i+1] == '@' || s[i+1] < utf8.RuneSelf && asciiClass(s[i+1]) != classSep):
			i++
		default:
			if i > 0 && c >= utf8.RuneSelf {
				return 0
			}
			return i
		}
	}
	return i
}

// sign reads an operator or a bracket.
func (x *lexer) sign(s []byte) int {
	for _, sign := range x.d.signs {
		if bytes.HasPrefix(s, []byte(sign)) {
			return len(sign)
		}
	}
	switch s[0] {
	case '(', '[', '{':
		fn := ""
		if n := len(x.toks); n > 0 && s[0] == '(' && x.toks[n-1].kind == langWord {
			fn = string(upperASCII(x.s[x.toks[n-1].start:x.toks[n-1].end]))
		}
		x.inside = append(x.inside, lexBracket{fn, x.from})
		x.src, x.from = sourceNo, false
	case ')', ']', '}':
		if len(x.inside) == 0 {
			return 0
		}
		x.src, x.from = sourceNo, x.inside[len(x.inside)-1].from
		x.inside = x.inside[:len(x.inside)-1]
	case ',':
		if x.src == sourceMore || x.from {
			x.src = sourceNext
		}
	case '|', ';':
		x.src, x.from = sourceNo, false
	case '=':
		if x.assign {
			x.src, x.assign = sourceNext, false
		}
	case '^':
	case '?':
		if !x.d.optional {
			return 0
		}
	case '<', '>', '+', '-', '*', '/', '%', '.', ':', '!', '~':
	default:
		return 0
	}
	return 1
}

func (x *lexer) top() string {
	if len(x.inside) == 0 {
		return ""
	}
	return x.inside[len(x.inside)-1].fn
}
