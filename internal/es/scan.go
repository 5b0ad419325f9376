package es

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// scanString reads the string whose opening quote is at i. The kind of the
// token is left to the caller. Most strings hold plain ASCII and end where
// plainEnd says.
func scanString(in []byte, i int) (Token, error) {
	if end := PlainString(in, i); end > 0 {
		return Token{Start: i, End: end}, nil
	}
	return scanOdd(in, i)
}

// PlainString is where the string ends whose opening quote is at i, its closing quote
// included, if it is plain ASCII without an escape; 0 if it is not, or none begins there.
func PlainString(in []byte, i int) (end int) {
	if uint(i) >= uint(len(in)) || in[i] != '"' {
		return 0
	}
	end = i + 1
	if scansBlocks && end+16 <= len(in) {
		if end = plainBlocks(&in[0], end, len(in)); end < len(in) && in[end] == '"' {
			return end + 1
		}
	}
	if end = plainEnd(in, end); end < len(in) && in[end] == '"' {
		return end + 1
	}
	return 0
}

// scanOdd is scanString for a string that has escapes or text beyond ASCII, or
// is malformed.
func scanOdd(in []byte, start int) (Token, error) {
	k := Token{Start: start}
	for i := plainEnd(in, start+1); i < len(in); i = plainEnd(in, i) {
		switch c := in[i]; {
		case c == '"':
			k.End = i + 1
			if k.NonASCII && !utf8.Valid(in[k.Start:k.End]) {
				return Token{}, ErrUTF8
			}
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
			i = asciiFrom(in, i+1)
		default: // a raw control character
			return Token{}, ErrSyntax
		}
	}
	return Token{}, ErrSyntax
}

// asciiFrom is the offset of the first ASCII byte from i on.
func asciiFrom(in []byte, i int) int {
	for i < len(in) && in[i] >= utf8.RuneSelf {
		i++
	}
	return i
}

// plainEnd is the offset, from i on, of the first byte that is a quote, a
// backslash, a control character or not ASCII; len(in) if there is none. It
// looks at eight bytes at a time: a byte of stop is set where one of its four
// conditions holds, and below the first true one there is no false one.
func plainEnd(in []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if scansBlocks && i+16 <= len(in) {
		if i = plainBlocks(&in[0], i, len(in)); i+16 <= len(in) {
			return i
		}
	}
	for ; i+8 <= len(in); i += 8 {
		w := binary.LittleEndian.Uint64(in[i:])
		quote := w ^ ones*'"'
		slash := w ^ ones*'\\'
		stop := (quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w | w
		if stop &= highs; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(in) && in[i] >= 0x20 && in[i] < utf8.RuneSelf && in[i] != '"' && in[i] != '\\' {
		i++
	}
	return i
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

// blanksEnd is the offset of the first byte from i on that is not a blank, as
// they stand in rows before an indented line.
func blanksEnd(in []byte, i int) int {
	for i+8 <= len(in) && binary.LittleEndian.Uint64(in[i:]) == 0x2020202020202020 {
		i += 8
	}
	for i < len(in) && in[i] == ' ' {
		i++
	}
	return i
}

// wordEnd is the offset after the word that should stand at i, -1 if it does not.
func wordEnd(in []byte, i int, word string) int {
	end := i + len(word)
	if end > len(in) || string(in[i:end]) != word {
		return -1
	}
	return end
}

// numberEnd is the offset after the number at i, -1 if there is none.
func numberEnd(in []byte, i int) int {
	if i < len(in) && in[i] == '-' {
		i++
	}
	switch {
	case i < len(in) && in[i] == '0':
		i++
	case i < len(in) && in[i] >= '1' && in[i] <= '9':
		i = digitsEnd(in, i)
	default:
		return -1
	}
	if i < len(in) && in[i] == '.' {
		start := i + 1
		if i = digitsEnd(in, start); i == start {
			return -1
		}
	}
	if i < len(in) && (in[i] == 'e' || in[i] == 'E') {
		i++
		if i < len(in) && (in[i] == '+' || in[i] == '-') {
			i++
		}
		start := i
		if i = digitsEnd(in, start); i == start {
			return -1
		}
	}
	return i
}

func digitsEnd(in []byte, i int) int {
	for i < len(in) && in[i] >= '0' && in[i] <= '9' {
		i++
	}
	return i
}

// commentLen is the length of the comment that b begins with, 0 if there is none.
func commentLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '/':
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1
		}
		return len(b)
	case '*':
		if i := bytes.Index(b[2:], []byte("*/")); i >= 0 {
			return i + 4
		}
	}
	return 0
}
