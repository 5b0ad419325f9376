package es

import (
	"bytes"
	"math"
)

// cursor reads the members of JSON values with one error for all: after the
// first one every call does nothing and says so. What nobody asks for is
// passed over by matching brackets only, several times faster than token by
// token; an answer that ends early is still noticed.
type cursor struct {
	t    Tokens
	err  error
	text []byte // decoded text of the last escaped key or string
}

func (c *cursor) reset(in []byte) {
	c.t.Reset(in)
	c.err = nil
}

// next returns the next token; after an error, End.
func (c *cursor) next() Token {
	if c.err != nil {
		return Token{}
	}
	k, err := c.t.Next()
	if err != nil {
		c.err = err
		return Token{}
	}
	return k
}

// enter takes the value that comes next, which should begin with start. Any
// other value is passed over.
func (c *cursor) enter(start Kind) bool {
	k := c.next()
	if k.Kind == start && c.err == nil {
		return true
	}
	c.leave(k)
	return false
}

// leave passes over the rest of the value that k begins.
func (c *cursor) leave(k Token) {
	if k.Kind == ObjectStart || k.Kind == ArrayStart {
		c.skipOpen()
	}
}

// member returns the name of the next member of the open object, nil at its
// end. The name is good until the next token.
func (c *cursor) member() []byte {
	k := c.next()
	if k.Kind != Key {
		return nil
	}
	return c.plain(k)
}

// plain is the decoded text of a Key or String token; it is never nil.
func (c *cursor) plain(k Token) []byte {
	raw := c.t.Raw(k)
	if !k.Escaped {
		return raw[1 : len(raw)-1]
	}
	c.text, _ = Unquote(c.text[:0], raw)
	if c.text == nil {
		c.text = []byte{}
	}
	return c.text
}

// element takes the next element of the open array; ok is false at its end.
func (c *cursor) element() (k Token, ok bool) {
	k = c.next()
	return k, k.Kind != ArrayEnd && c.err == nil
}

func (c *cursor) skip() { c.leave(c.next()) }

// skipOpen passes over the rest of the innermost open value.
func (c *cursor) skipOpen() {
	if c.err == nil && !c.t.jump() {
		c.err = ErrSyntax
	}
}

func (c *cursor) boolean() (v, ok bool) {
	k := c.next()
	c.leave(k)
	return k.Kind == True, k.Kind == True || k.Kind == False
}

// number returns the value that comes next if it is a whole number.
func (c *cursor) number() (n int64, ok bool) {
	k := c.next()
	if k.Kind != Number || c.err != nil {
		c.leave(k)
		return 0, false
	}
	return wholeNumber(c.t.Raw(k))
}

// str returns the value that comes next if it is a string, else nil.
func (c *cursor) str() []byte {
	k := c.next()
	if k.Kind != String || c.err != nil {
		c.leave(k)
		return nil
	}
	return c.plain(k)
}

// wholeNumber is the value of a JSON number without fraction and exponent that
// an int64 can hold. A fraction of zeros, as some versions write, is let pass.
func wholeNumber(raw []byte) (n int64, ok bool) {
	neg := len(raw) > 0 && raw[0] == '-'
	if neg {
		raw = raw[1:]
	}
	if dot := bytes.IndexByte(raw, '.'); dot >= 0 {
		if len(bytes.Trim(raw[dot+1:], "0")) > 0 {
			return 0, false
		}
		raw = raw[:dot]
	}
	if len(raw) == 0 {
		return 0, false
	}
	for _, d := range raw {
		if d < '0' || d > '9' || n > (math.MaxInt64-int64(d-'0'))/10 {
			return 0, false
		}
		n = n*10 + int64(d-'0')
	}
	if neg {
		n = -n
	}
	return n, true
}

// jump passes over the rest of the innermost open object or array by matching
// quotes and brackets alone. It reports whether the end was there.
func (t *Tokens) jump() bool {
	in, i, depth := t.in, t.pos, 1
	for i < len(in) {
		c := in[i]
		i++
		switch c {
		case '"':
			if i = quoteEnd(in, i); i < 0 {
				t.pos = len(in)
				return false
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth > 0 {
				continue
			}
			t.leaveAt(i)
			return true
		}
	}
	t.pos = len(in)
	return false
}

// quoteEnd is the offset after the quote that ends the string whose text
// begins at i, -1 if there is none.
func quoteEnd(in []byte, i int) int {
	for start := i; ; {
		n := bytes.IndexByte(in[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		slashes := 0
		for j := end - 1; j >= start && in[j] == '\\'; j-- {
			slashes++
		}
		i = end + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// cutShort reports whether the error of a reader is due to the text's end: all
// that came until there may be the beginning of a JSON text.
func (t *Tokens) cutShort() bool {
	rest := t.in[min(t.pos, len(t.in)):]
	if len(rest) == 0 {
		return true
	}
	switch c := rest[0]; {
	case c == '"':
		return quoteEnd(rest, 1) < 0
	case c == '-' || c >= '0' && c <= '9':
		return len(bytes.TrimLeft(rest, "-+.eE0123456789")) == 0
	}
	for _, word := range []string{"true", "false", "null"} {
		if len(rest) < len(word) && string(rest) == word[:len(rest)] {
			return true
		}
	}
	return false
}
