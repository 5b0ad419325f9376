package es

import (
	"errors"
	"unicode/utf8"
)

// Kind is the kind of a JSON token.
type Kind uint8

// The kinds of token. End is returned once the top-level value is complete and
// only white space and comments follow.
const (
	End Kind = iota
	ObjectStart
	ObjectEnd
	ArrayStart
	ArrayEnd
	Key
	String
	Number
	True
	False
	Null
)

// Token is one lexical element of a JSON text. Start and End are offsets into
// the input; for Key and String they include the quotes, so that
// input[Start:End] is always the text exactly as it came.
type Token struct {
	Start, End int
	Kind       Kind
	Escaped    bool // Key, String: at least one backslash escape inside
	NonASCII   bool // Key, String: at least one byte >= 0x80 inside (valid UTF-8)
}

// Errors of Tokens. They never quote the input.
var (
	ErrSyntax   = errors.New("malformed json")
	ErrUTF8     = errors.New("invalid utf-8 in a json string")
	ErrDepth    = errors.New("json nested too deeply")
	ErrTrailing = errors.New("more text after the json value")
	ErrEmpty    = errors.New("no json value")
)

// DefaultMaxDepth is the nesting that Tokens accepts unless told otherwise. It
// is Jackson's default, which Elasticsearch and OpenSearch use.
const DefaultMaxDepth = 1000

type expect uint8

const (
	expectValue expect = iota
	expectFirstKey
	expectKey
	expectColonValue
	expectFirstElem
	expectCommaOrEnd
	expectNothing
)

// Tokens reads a JSON text (RFC 8259) token by token without changing or
// decoding anything: number texts, duplicate keys, key order and escapes stay
// visible as they came. As Elasticsearch does, it accepts comments in the two
// forms of C++ between tokens; Comments tells that some were passed over.
// Everything else outside the RFC is an error.
//
// The zero value is not ready: call Reset. A Tokens may be reused and then
// allocates nothing; it must not be used by two goroutines at once.
type Tokens struct {
	MaxDepth int  // 0 means DefaultMaxDepth
	Comments bool // set when a comment was passed over

	in    []byte
	pos   int
	next  expect
	stack []bool // true: object
}

// Reset starts reading in. The slice is only read, and must not change while
// tokens are taken from it.
func (t *Tokens) Reset(in []byte) {
	t.in, t.pos, t.next, t.Comments = in, 0, expectValue, false
	t.stack = t.stack[:0]
}

// Offset is where the next token, or the white space before it, begins.
func (t *Tokens) Offset() int { return t.pos }

// Depth is the number of objects and arrays that are open.
func (t *Tokens) Depth() int { return len(t.stack) }

// Raw is the text of a token as it came.
func (t *Tokens) Raw(k Token) []byte { return t.in[k.Start:k.End] }

// Next returns the next token. After the End token, or an error, it keeps
// returning the same.
func (t *Tokens) Next() (Token, error) {
	if err := t.skipSpace(); err != nil {
		return Token{}, err
	}
	if t.pos >= len(t.in) {
		switch {
		case t.next == expectNothing:
			return Token{Start: t.pos, End: t.pos, Kind: End}, nil
		case t.next == expectValue && len(t.stack) == 0:
			return Token{}, ErrEmpty
		}
		return Token{}, ErrSyntax
	}
	c := t.in[t.pos]
	switch t.next {
	case expectNothing:
		return Token{}, ErrTrailing
	case expectCommaOrEnd:
		return t.afterElement(c)
	case expectFirstKey, expectKey:
		if c == '}' && t.next == expectFirstKey {
			return t.close(ObjectEnd), nil
		}
		return t.key(c)
	case expectColonValue:
		if c != ':' {
			return Token{}, ErrSyntax
		}
		t.pos++
		t.next = expectValue
		return t.Next()
	case expectFirstElem:
		if c == ']' {
			return t.close(ArrayEnd), nil
		}
	}
	return t.value(c)
}

// Skip passes over the value that comes next: after a Key token its value,
// inside an array the next element. Called after ObjectStart or ArrayStart it
// would pass over one member's key or element only; use SkipOpen for the rest
// of an open object or array. It returns the extent of what was passed.
func (t *Tokens) Skip() (start, end int, err error) {
	k, err := t.Next()
	if err != nil {
		return 0, 0, err
	}
	if k.Kind != ObjectStart && k.Kind != ArrayStart {
		return k.Start, k.End, nil
	}
	end, err = t.SkipOpen()
	return k.Start, end, err
}

// SkipOpen passes over the rest of the innermost open object or array, its end
// included, and returns the offset after it.
func (t *Tokens) SkipOpen() (end int, err error) {
	for depth := len(t.stack); len(t.stack) >= depth && depth > 0; {
		if _, err := t.Next(); err != nil {
			return 0, err
		}
	}
	return t.pos, nil
}

func (t *Tokens) afterElement(c byte) (Token, error) {
	inObject := t.stack[len(t.stack)-1]
	switch {
	case c == ',':
		t.pos++
		t.next = expectValue
		if inObject {
			t.next = expectKey
		}
		return t.Next()
	case c == '}' && inObject:
		return t.close(ObjectEnd), nil
	case c == ']' && !inObject:
		return t.close(ArrayEnd), nil
	}
	return Token{}, ErrSyntax
}

func (t *Tokens) key(c byte) (Token, error) {
	if c != '"' {
		return Token{}, ErrSyntax
	}
	k, err := t.text(Key)
	t.next = expectColonValue
	return k, err
}

func (t *Tokens) value(c byte) (Token, error) {
	switch c {
	case '{':
		return t.open(ObjectStart, true)
	case '[':
		return t.open(ArrayStart, false)
	case '"':
		k, err := t.text(String)
		t.valueDone()
		return k, err
	case 't':
		return t.word("true", True)
	case 'f':
		return t.word("false", False)
	case 'n':
		return t.word("null", Null)
	}
	return t.number()
}

func (t *Tokens) open(kind Kind, object bool) (Token, error) {
	limit := t.MaxDepth
	if limit == 0 {
		limit = DefaultMaxDepth
	}
	if len(t.stack) >= limit {
		return Token{}, ErrDepth
	}
	t.stack = append(t.stack, object)
	t.next = expectFirstElem
	if object {
		t.next = expectFirstKey
	}
	t.pos++
	return Token{Start: t.pos - 1, End: t.pos, Kind: kind}, nil
}

func (t *Tokens) close(kind Kind) Token {
	t.stack = t.stack[:len(t.stack)-1]
	t.pos++
	t.valueDone()
	return Token{Start: t.pos - 1, End: t.pos, Kind: kind}
}

func (t *Tokens) valueDone() {
	t.next = expectCommaOrEnd
	if len(t.stack) == 0 {
		t.next = expectNothing
	}
}

func (t *Tokens) word(w string, kind Kind) (Token, error) {
	end := t.pos + len(w)
	if end > len(t.in) || string(t.in[t.pos:end]) != w {
		return Token{}, ErrSyntax
	}
	k := Token{Start: t.pos, End: end, Kind: kind}
	t.pos = end
	t.valueDone()
	return k, nil
}

// text reads a string whose opening quote is at pos.
func (t *Tokens) text(kind Kind) (Token, error) {
	k := Token{Start: t.pos, Kind: kind}
	in := t.in
	i := t.pos + 1
	for {
		i = plainEnd(in, i)
		if i >= len(in) {
			return Token{}, ErrSyntax
		}
		switch c := in[i]; {
		case c == '"':
			k.End = i + 1
			if k.NonASCII && !utf8.Valid(in[k.Start:k.End]) {
				return Token{}, ErrUTF8
			}
			t.pos = k.End
			return k, nil
		case c == '\\':
			n := escapeLen(in[i:])
			if n == 0 {
				return Token{}, ErrSyntax
			}
			k.Escaped = true
			i += n
		case c >= utf8.RuneSelf:
			k.NonASCII = true
			i++
		default: // a raw control character
			return Token{}, ErrSyntax
		}
	}
}

// escapeLen is the length of the escape that b begins with, 0 if malformed.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hexValue(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (t *Tokens) number() (Token, error) {
	in, i := t.in, t.pos
	if i < len(in) && in[i] == '-' {
		i++
	}
	switch {
	case i < len(in) && in[i] == '0':
		i++
	case i < len(in) && in[i] >= '1' && in[i] <= '9':
		i = digitsEnd(in, i)
	default:
		return Token{}, ErrSyntax
	}
	if i < len(in) && in[i] == '.' {
		j := digitsEnd(in, i+1)
		if j == i+1 {
			return Token{}, ErrSyntax
		}
		i = j
	}
	if i < len(in) && (in[i] == 'e' || in[i] == 'E') {
		i++
		if i < len(in) && (in[i] == '+' || in[i] == '-') {
			i++
		}
		j := digitsEnd(in, i)
		if j == i {
			return Token{}, ErrSyntax
		}
		i = j
	}
	k := Token{Start: t.pos, End: i, Kind: Number}
	t.pos = i
	t.valueDone()
	return k, nil
}

func digitsEnd(in []byte, i int) int {
	for i < len(in) && in[i] >= '0' && in[i] <= '9' {
		i++
	}
	return i
}

func (t *Tokens) skipSpace() error {
	in, i := t.in, t.pos
	for i < len(in) {
		switch in[i] {
		case ' ', '\t', '\n', '\r':
			i++
		case '/':
			n := commentLen(in[i:])
			if n == 0 {
				return ErrSyntax
			}
			t.Comments = true
			i += n
		default:
			t.pos = i
			return nil
		}
	}
	t.pos = i
	return nil
}

// commentLen is the length of the comment that b begins with, 0 if there is none.
func commentLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '/':
		for i, c := range b {
			if c == '\n' {
				return i + 1
			}
		}
		return len(b)
	case '*':
		for i := 3; i < len(b); i++ {
			if b[i] == '/' && b[i-1] == '*' {
				return i + 1
			}
		}
	}
	return 0
}
