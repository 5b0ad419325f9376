package audit

import (
	"bytes"
	"html"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// decoding is one text that lies in another.
type decoding struct {
	way  string
	text []byte
}

// Bounds of what is taken for encoded text.
const (
	minBase64   = 7  // characters: five letters take seven
	minHex      = 10 // digits
	percentDeep = 3
	lineOfMIME  = 60 // base64 this long may go on behind a line break
)

// decodings calls yield with every text that lies in text, one step deep.
// Percent encoding counts as one step however often it was applied, up to three.
func decodings(text []byte, yield func(decoding)) {
	percentDecodings(text, yield)
	if bytes.IndexByte(text, '\\') >= 0 {
		yield(decoding{"json", unescape(text)})
	}
	if i := bytes.IndexByte(text, '&'); i >= 0 && bytes.IndexByte(text[i:], ';') > 0 {
		if plain := html.UnescapeString(string(text)); plain != string(text) {
			yield(decoding{"html", []byte(plain)})
		}
	}
	base64Runs(text, yield)
	hexRuns(text, yield)
}

func percentDecodings(text []byte, yield func(decoding)) {
	way := "percent"
	for range percentDeep {
		plain, changed := unpercent(text, false)
		form, formed := unpercent(text, true)
		if formed && (!changed || !bytes.Equal(form, plain)) {
			yield(decoding{way + "+", form})
		}
		if !changed {
			return
		}
		yield(decoding{way, plain})
		text, way = plain, way+"%"
	}
}

// unpercent decodes %XX, and + as a space where it is asked to. A % without two
// hexadecimal digits stays.
func unpercent(text []byte, plus bool) (out []byte, changed bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '%' && i+2 < len(text) && hexValue(text[i+1]) >= 0 && hexValue(text[i+2]) >= 0:
			if !changed {
				out, changed = append(make([]byte, 0, len(text)), text[:i]...), true
			}
			out = append(out, byte(hexValue(text[i+1])<<4|hexValue(text[i+2])))
			i += 2
		case c == '+' && plus:
			if !changed {
				out, changed = append(make([]byte, 0, len(text)), text[:i]...), true
			}
			out = append(out, ' ')
		case changed:
			out = append(out, c)
		}
	}
	return out, changed
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

// unescape resolves the escapes of JSON and of languages like it; a backslash
// before anything else goes, as query strings mean it.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			out = append(out, c)
			continue
		}
		i++
		switch text[i] {
		case 'n', 'r', 't', 'b', 'f':
			out = append(out, ' ')
		case 'u':
			r, n := unicodeEscape(text[i:])
			if n == 0 {
				out = append(out, 'u')
				continue
			}
			out = utf8.AppendRune(out, r)
			i += n - 1
		default:
			out = append(out, text[i])
		}
	}
	return out
}

// unicodeEscape reads uXXXX, or a pair of them with the backslash between.
func unicodeEscape(s []byte) (rune, int) {
	unit := func(s []byte) (rune, bool) {
		if len(s) < 5 || s[0] != 'u' {
			return 0, false
		}
		v, err := strconv.ParseUint(string(s[1:5]), 16, 16)
		return rune(v), err == nil
	}
	a, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(a) && len(s) > 6 && s[5] == '\\' {
		if b, ok := unit(s[6:]); ok {
			if r := utf16.DecodeRune(a, b); r != utf8.RuneError {
				return r, 11
			}
		}
	}
	return a, 5
}

// sixBits is the value of a character of base64 or base64url, -1 for others.
func sixBits(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case isDigit(c):
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}

// base64Runs decodes every run of base64 characters, of both alphabets at once,
// from each of four offsets: what stands before the encoded text may be made of
// the same characters.
func base64Runs(text []byte, yield func(decoding)) {
	var run []byte
	flush := func() {
		if len(run) >= minBase64 {
			for offset := range 4 {
				yield(decoding{"base64", from64(run[min(offset, len(run)):])})
			}
		}
		run = run[:0]
	}
	for i, c := range text {
		switch {
		case sixBits(c) >= 0:
			run = append(run, c)
		case (c == '\n' || c == '\r') && len(run) >= lineOfMIME && i+1 < len(text): // goes on in the next line
		default:
			flush()
		}
	}
	flush()
}

func from64(run []byte) []byte {
	out := make([]byte, 0, len(run)*3/4)
	bits, n := 0, 0
	for _, c := range run {
		bits = bits<<6 | sixBits(c)
		if n += 6; n >= 8 {
			n -= 8
			out = append(out, byte(bits>>n))
			bits &= 1<<n - 1
		}
	}
	return out
}

// hexRuns decodes every run of hexadecimal digits from both offsets.
func hexRuns(text []byte, yield func(decoding)) {
	start := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && hexValue(text[i]) >= 0 {
			continue
		}
		if run := text[start:i]; len(run) >= minHex {
			yield(decoding{"hex", fromHex(run)})
			yield(decoding{"hex", fromHex(run[1:])})
		}
		start = i + 1
	}
}

func fromHex(run []byte) []byte {
	out := make([]byte, 0, len(run)/2)
	for i := 0; i+1 < len(run); i += 2 {
		out = append(out, byte(hexValue(run[i])<<4|hexValue(run[i+1])))
	}
	return out
}
