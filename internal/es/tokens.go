package es

import "errors"

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
	StringFacts
}

// StringFacts says what is inside a Key or String token. (It is a struct of its
// own because the compiler keeps a Token in registers only up to four fields.)
type StringFacts struct {
	Escaped  bool // at least one backslash escape
	NonASCII bool // at least one byte >= 0x80 (valid UTF-8)
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

// expect is what may come next.
type expect uint8

const (
	expectValue     expect = iota // at the top, after ":" and after "," in an array
	expectFirstElem               // a value or "]"
	expectNext                    // "," or the end of what is open
	expectFirstKey                // a key or "}"
	expectKey                     // after "," in an object
	expectColon                   // after a key that something stands behind
	expectNothing                 // the top-level value is complete
)

// Tokens reads a JSON text (RFC 8259) token by token without changing or
// decoding anything: number texts, duplicate keys, key order and escapes stay
// visible as they came. As Elasticsearch does, it accepts comments in the two
// forms of C++ between tokens; Comments tells that some were passed over.
// Everything else outside the RFC is an error.
//
// The zero value is not ready: call Reset. A Tokens may be reused; it allocates
// nothing below a depth of 1024. It must not be used by two goroutines at once.
type Tokens struct {
	MaxDepth int  // 0 means DefaultMaxDepth
	Comments bool // set when a comment was passed over

	in     []byte
	pos    int
	depth  int
	next   expect
	object bool       // the innermost open value is an object
	outer  [16]uint64 // one bit a level: the value around it is an object
	deeper []uint64   // the same below level 1024
}

// Reset starts reading in. The slice is only read, and must not change while
// tokens are taken from it.
func (t *Tokens) Reset(in []byte) {
	t.in, t.pos, t.depth, t.next, t.Comments = in, 0, 0, expectValue, false
	t.object = false
}

// Offset is where the next token, or the white space before it, begins.
func (t *Tokens) Offset() int { return t.pos }

// Depth is the number of objects and arrays that are open.
func (t *Tokens) Depth() int { return t.depth }

// Raw is the text of a token as it came.
func (t *Tokens) Raw(k Token) []byte { return t.in[k.Start:k.End] }

// Next returns the next token. After the End token, or an error, it keeps
// returning the same; Offset is then where what is wrong begins.
func (t *Tokens) Next() (Token, error) {
	in, i, next := t.in, t.pos, t.next
	if uint(i) >= uint(len(in)) || in[i] <= ' ' || in[i] == '/' {
		if i = t.space(i); i >= len(in) {
			return t.atEnd(next)
		}
	}
	if next == expectNext {
		if in[i] != ',' {
			return t.close(i, next)
		}
		if next = expectValue; t.object {
			next = expectKey
		}
		if i++; uint(i) >= uint(len(in)) || in[i] <= ' ' || in[i] == '/' {
			if i = t.space(i); i >= len(in) {
				return t.atEnd(next)
			}
		}
	}
	if next >= expectFirstKey {
		if in[i] == '"' && next <= expectKey {
			return t.key(i, next)
		}
		return t.afterValue(i, next)
	}
	switch in[i] {
	case '"':
		k, err := scanString(in, i)
		if err != nil {
			return t.fail(i, next, err)
		}
		k.Kind = String
		t.valueDone(k.End)
		return k, nil
	case '{':
		return t.open(i, next, ObjectStart)
	case '[':
		return t.open(i, next, ArrayStart)
	case ']':
		return t.close(i, next)
	}
	return t.scalar(i, next)
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
	for depth := t.depth; t.depth >= depth && depth > 0; {
		if _, err := t.Next(); err != nil {
			return 0, err
		}
	}
	return t.pos, nil
}

// fail notes where an error stands, so that it comes again.
func (t *Tokens) fail(i int, next expect, err error) (Token, error) {
	t.pos, t.next = i, next
	return Token{}, err
}

// atEnd is what Next returns where nothing is left.
func (t *Tokens) atEnd(next expect) (Token, error) {
	switch i := len(t.in); {
	case next == expectNothing:
		return Token{Start: i, End: i, Kind: End}, nil
	case next == expectValue && t.depth == 0:
		return Token{}, ErrEmpty
	default:
		return t.fail(i, next, ErrSyntax)
	}
}

// key reads the key at i, and the colon where it stands right behind.
func (t *Tokens) key(i int, next expect) (Token, error) {
	k, err := scanString(t.in, i)
	if err != nil {
		return t.fail(i, next, err)
	}
	k.Kind = Key
	t.pos, t.next = k.End, expectColon
	if i = k.End; i < len(t.in) && t.in[i] == ':' {
		t.pos, t.next = i+1, expectValue
	}
	return k, nil
}

// afterValue reads what may stand at i where neither value nor key may.
func (t *Tokens) afterValue(i int, next expect) (Token, error) {
	switch {
	case t.in[i] == ':' && next == expectColon:
		t.pos, t.next = i+1, expectValue
		return t.Next()
	case next == expectNothing:
		return Token{}, ErrTrailing
	}
	return t.close(i, next)
}

func (t *Tokens) open(i int, next expect, kind Kind) (Token, error) {
	limit := t.MaxDepth
	if limit == 0 {
		limit = DefaultMaxDepth
	}
	if t.depth >= limit {
		return t.fail(i, next, ErrDepth)
	}
	word, bit := t.level(t.depth)
	*word &^= bit
	if t.object {
		*word |= bit
	}
	t.depth++
	t.object = kind == ObjectStart
	t.pos, t.next = i+1, expectFirstElem
	if t.object {
		t.next = expectFirstKey
	}
	return Token{Start: i, End: i + 1, Kind: kind}, nil
}

// close reads the end of the innermost open value, the only thing left that may
// stand at i.
func (t *Tokens) close(i int, next expect) (Token, error) {
	k := Token{Start: i, End: i + 1}
	switch {
	case t.in[i] == '}' && t.object && (next == expectNext || next == expectFirstKey):
		k.Kind = ObjectEnd
	case t.in[i] == ']' && !t.object && (next == expectNext || next == expectFirstElem):
		k.Kind = ArrayEnd
	default:
		return t.fail(i, next, ErrSyntax)
	}
	t.leaveAt(i + 1)
	return k, nil
}

// leaveAt goes on at end, the offset after the innermost open object or array.
func (t *Tokens) leaveAt(end int) {
	t.depth--
	word, bit := t.level(t.depth)
	t.object = *word&bit != 0
	t.valueDone(end)
}

// level is where it is noted what is open around the value of that depth.
func (t *Tokens) level(depth int) (word *uint64, bit uint64) {
	bit = 1 << (depth & 63)
	n := depth >> 6
	if n < len(t.outer) {
		return &t.outer[n], bit
	}
	if n -= len(t.outer); n >= len(t.deeper) {
		t.deeper = append(t.deeper, 0)
	}
	return &t.deeper[n], bit
}

func (t *Tokens) valueDone(end int) {
	t.pos, t.next = end, expectNext
	if t.depth == 0 {
		t.next = expectNothing
	}
}

// scalar reads a number, true, false or null at i.
func (t *Tokens) scalar(i int, next expect) (Token, error) {
	k := Token{Start: i}
	if k.Kind, k.End = scalarEnd(t.in, i); k.End < 0 {
		return t.fail(i, next, ErrSyntax)
	}
	t.valueDone(k.End)
	return k, nil
}

// scalarEnd is the kind of the number, true, false or null at i and the offset after
// it, -1 if there is none.
func scalarEnd(in []byte, i int) (Kind, int) {
	switch in[i] {
	case 't':
		return True, wordEnd(in, i, "true")
	case 'f':
		return False, wordEnd(in, i, "false")
	case 'n':
		return Null, wordEnd(in, i, "null")
	}
	return Number, numberEnd(in, i)
}

// ScalarAt reads the string, number, true, false or null that begins at i, whatever
// Next would read. An error tells that none does.
func (t *Tokens) ScalarAt(i int) (Token, error) {
	if uint(i) >= uint(len(t.in)) {
		return Token{}, ErrSyntax
	}
	if t.in[i] == '"' {
		k, err := scanString(t.in, i)
		k.Kind = String
		return k, err
	}
	k := Token{Start: i}
	if k.Kind, k.End = scalarEnd(t.in, i); k.End < 0 {
		return Token{}, ErrSyntax
	}
	return k, nil
}

// space is the offset, from i on, of the first byte that is neither white space
// nor in a comment; len(t.in) if there is none.
func (t *Tokens) space(i int) int {
	for in := t.in; i < len(in); {
		switch in[i] {
		case ' ':
			i = blanksEnd(in, i+1)
		case '\t', '\n', '\r':
			i++
		case '/':
			n := commentLen(in[i:])
			if n == 0 {
				return i
			}
			t.Comments = true
			i += n
		default:
			return i
		}
	}
	return i
}
