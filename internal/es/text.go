package es

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote appends the decoded text of a Key or String token's raw form (quotes
// included) to dst. A surrogate escape without its other half cannot be put
// into UTF-8: ok is then false and U+FFFD stands in its place. Where raw is no
// such form, ok is false and out is what could be read of it.
func Unquote(dst, raw []byte) (out []byte, ok bool) {
	if len(raw) < 2 {
		return dst, false
	}
	ok = true
	s := raw[1 : len(raw)-1]
	for len(s) > 0 {
		i := 0
		for i < len(s) && s[i] != '\\' {
			i++
		}
		dst = append(dst, s[:i]...)
		if s = s[i:]; len(s) == 0 {
			break
		}
		n := escapeLen(s)
		if n == 0 {
			return dst, false
		}
		if s[1] != 'u' {
			dst = append(dst, unescaped(s[1]))
			s = s[n:]
			continue
		}
		r := hexRune(s)
		s = s[n:]
		if utf16.IsSurrogate(r) {
			var low rune
			if len(s) >= 6 && s[1] == 'u' && escapeLen(s) == 6 {
				low = hexRune(s)
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				ok = false
			} else {
				s = s[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, ok
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hexRune(s []byte) rune {
	return rune(hexValue(s[2])<<12 | hexValue(s[3])<<8 | hexValue(s[4])<<4 | hexValue(s[5]))
}

// AppendQuoted appends s as a JSON string, quotes included, escaping only what
// RFC 8259 demands. Invalid UTF-8 becomes U+FFFD.
func AppendQuoted(dst, s []byte) []byte {
	return appendUnquoted(append(dst, '"'), s)
}

// AppendQuotedText is AppendQuoted for what is known to be UTF-8.
func AppendQuotedText(dst, s []byte) []byte {
	const block = 64 // bytes that quoteBlocks takes at once
	dst = append(dst, '"')
	for quotesBlocks && len(s) >= 2*block {
		room := dst[len(dst):cap(dst)]
		n := min(len(s)-block, (len(room)-block)/2) &^ (block - 1)
		if n <= 0 {
			dst = slices.Grow(dst, len(s)+len(s)/8+3*block)
			continue
		}
		read, written := quoteBlocks(&room[0], &s[0], n)
		dst, s = dst[:len(dst)+written], s[read:]
		if read < n {
			dst, s = appendEscape(dst, s[0]), s[1:]
		}
	}
	for len(s) > 0 && !utf8.RuneStart(s[0]) { // a block ended inside of a character
		dst, s = append(dst, s[0]), s[1:]
	}
	return appendUnquoted(dst, s)
}

// appendUnquoted is AppendQuoted without the quote in front.
func appendUnquoted(dst, s []byte) []byte {
	for len(s) > 0 {
		dst, s = quoteWords(dst, s)
		i := plainEnd(s, 0)
		dst = append(dst, s[:i]...)
		if s = s[i:]; len(s) == 0 {
			break
		}
		if c := s[0]; c < utf8.RuneSelf {
			dst = appendEscape(dst, c)
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		dst = utf8.AppendRune(dst, r)
		s = s[n:]
	}
	return append(dst, '"')
}

// quoteWords does the part of AppendQuoted that is ASCII, eight bytes at a time,
// and returns what is left of s. In JSON a quote comes every few bytes, so that
// copying whole words and going back is cheaper than copying what is between. The
// conditions are those of plainEnd.
func quoteWords(dst, s []byte) (out, rest []byte) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for len(s) >= 8 {
		n := len(dst)
		if cap(dst)-n < 8 {
			dst = slices.Grow(dst, len(s)+len(s)/8)
		}
		w := binary.LittleEndian.Uint64(s)
		binary.LittleEndian.PutUint64(dst[n:n+8], w)
		quote, slash := w^ones*'"', w^ones*'\\'
		stop := ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w | w) & highs
		if stop == 0 {
			dst, s = dst[:n+8], s[8:]
			continue
		}
		k := bits.TrailingZeros64(stop) / 8
		dst = dst[:n+k]
		switch c := s[k]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < utf8.RuneSelf:
			dst = appendEscape(dst, c)
		default:
			return dst, s[k:]
		}
		s = s[k+1:]
	}
	return dst, s
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
