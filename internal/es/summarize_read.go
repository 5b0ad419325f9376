package es

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// cursor reads the JSON text of an answer member by member. Tokens checks all
// of a text and keeps it as it came, which requests need; an answer is read for
// a few members out of many, so that here what nobody asks for is passed over
// by matching quotes and brackets only, several times faster. A text that ends
// early is still noticed wherever it ends.
//
// The first error is kept in err, ErrCut where the text ended and ErrSyntax
// else; after it every call does nothing and says so.
type cursor struct {
	in    []byte
	pos   int
	fresh bool // the innermost open value was just opened: no comma comes
	err   error
	text  []byte // decoded text of the last escaped string
}

func (c *cursor) reset(in []byte) {
	c.in, c.pos, c.fresh, c.err = in, 0, false, nil
}

// peek is the byte that comes next after white space, 0 at the end and after
// an error.
func (c *cursor) peek() byte {
	for c.pos < len(c.in) {
		if b := c.in[c.pos]; b > ' ' {
			return b
		}
		c.pos++
	}
	return 0
}

func (c *cursor) fail() Token {
	if c.err == nil {
		c.err = ErrSyntax
		if c.pos >= len(c.in) {
			c.err = ErrCut
		}
	}
	c.pos = len(c.in)
	return Token{}
}

// next takes the value that comes next: all of it, or the bracket that it
// begins with. After an error it has the kind End.
func (c *cursor) next() Token {
	b := c.peek()
	start := c.pos
	switch b {
	case '"':
		end := quoteEnd(c.in, start+1)
		if end < 0 {
			c.pos = len(c.in)
			return c.fail()
		}
		c.pos = end
		return Token{Start: start, End: end, Kind: String}
	case '{':
		c.pos, c.fresh = start+1, true
		return Token{Start: start, End: start + 1, Kind: ObjectStart}
	case '[':
		c.pos, c.fresh = start+1, true
		return Token{Start: start, End: start + 1, Kind: ArrayStart}
	case 't':
		return c.word("true", True)
	case 'f':
		return c.word("false", False)
	case 'n':
		return c.word("null", Null)
	}
	if b != '-' && (b < '0' || b > '9') {
		return c.fail()
	}
	i := start + 1
	for i < len(c.in) && inNumber(c.in[i]) {
		i++
	}
	c.pos = i
	return Token{Start: start, End: i, Kind: Number}
}

func inNumber(b byte) bool {
	return b >= '0' && b <= '9' || b == '.' || b|0x20 == 'e' || b == '-' || b == '+'
}

func (c *cursor) word(w string, kind Kind) Token {
	k := Token{Start: c.pos, End: c.pos + len(w), Kind: kind}
	for i := range len(w) {
		if c.pos >= len(c.in) || c.in[c.pos] != w[i] {
			return c.fail()
		}
		c.pos++
	}
	return k
}

// member returns the name of the next member of the open object, nil at its
// end. The name is good until the next call.
func (c *cursor) member() []byte {
	b := c.peek()
	if b == '}' {
		c.pos++
		c.fresh = false
		return nil
	}
	if !c.comma(b) || c.peek() != '"' {
		c.fail()
		return nil
	}
	k := c.next()
	if c.err != nil {
		return nil
	}
	if c.peek() != ':' {
		c.fail()
		return nil
	}
	c.pos++
	return c.plain(k)
}

// element takes the next element of the open array; ok is false at its end.
func (c *cursor) element() (k Token, ok bool) {
	b := c.peek()
	if b == ']' {
		c.pos++
		c.fresh = false
		return Token{}, false
	}
	if !c.comma(b) {
		return c.fail(), false
	}
	k = c.next()
	return k, c.err == nil
}

// comma takes the comma that must stand before all but the first member; b is
// what comes next.
func (c *cursor) comma(b byte) bool {
	if c.fresh {
		c.fresh = false
		return true
	}
	c.pos++
	return b == ','
}

// end says whether the text is over.
func (c *cursor) end() {
	if c.err == nil && c.peek() != 0 {
		c.err = ErrTrailing
	}
}

// plain is the decoded text of a string; it is never nil.
func (c *cursor) plain(k Token) []byte {
	text := c.in[k.Start+1 : k.End-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	if c.text == nil {
		c.text = []byte{}
	}
	c.text, _ = Unquote(c.text[:0], c.in[k.Start:k.End])
	return c.text
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

func (c *cursor) skip() { c.leave(c.next()) }

// skipOpen passes over the rest of the innermost open value.
func (c *cursor) skipOpen() {
	if c.err != nil {
		return
	}
	end := openEnd(c.in, c.pos)
	if end < 0 {
		c.pos = len(c.in)
		c.fail()
		return
	}
	c.pos, c.fresh = end, false
}

// quoteEnd is the offset after the quote that ends the string whose text
// begins at i, -1 if there is none.
func quoteEnd(in []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	// Most strings are shorter than the call of IndexByte is worth. Where stop is
	// set first, a quote stands.
	for at := i; at+8 <= len(in) && at < i+16; at += 8 {
		w := binary.LittleEndian.Uint64(in[at:]) ^ ones*'"'
		if stop := (w - ones) &^ w & highs; stop != 0 {
			end := at + bits.TrailingZeros64(stop)/8
			if end > i && in[end-1] == '\\' {
				break
			}
			return end + 1
		}
	}
	return farQuoteEnd(in, i)
}

// farQuoteEnd is quoteEnd for strings of any length, with backslashes.
func farQuoteEnd(in []byte, i int) int {
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

func (c *cursor) boolean() (v, ok bool) {
	k := c.next()
	c.leave(k)
	return k.Kind == True, k.Kind == True || k.Kind == False
}

// number returns the value that comes next if it is a whole number.
func (c *cursor) number() (n int64, ok bool) {
	k := c.next()
	if k.Kind != Number {
		c.leave(k)
		return 0, false
	}
	return wholeNumber(c.in[k.Start:k.End])
}

// str returns the value that comes next if it is a string, else nil.
func (c *cursor) str() []byte {
	k := c.next()
	if k.Kind != String {
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
