package es

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// Bounds of names in a Shape.
const (
	maxNameLen    = 80
	maxIndexNames = 4
	maxFieldNames = 4
)

// index writes the class of an index expression, percent-encoded or not: its
// names in order, without repetition.
func (f *Fingerprinter) index(expr string) { f.indexNames([]byte(expr)) }

func (f *Fingerprinter) indexNames(expr []byte) {
	if len(expr) == 0 {
		return
	}
	f.write(" ")
	f.text = appendUnescapedPath(f.text[:0], expr)
	mark, n := f.beginSet(), 0
	start := len(f.out)
	for rest := f.text; len(rest) > 0; {
		name, more, _ := bytes.Cut(rest, []byte(","))
		rest = more
		f.member()
		f.out = appendClass(f.out, name)
		n++
	}
	if f.endSet(mark, ","); n > maxIndexNames {
		f.shorten(start, maxIndexNames)
	}
}

// shorten keeps the first names of a list that was written from start on, and
// a digest of the others.
func (f *Fingerprinter) shorten(start, names int) {
	at := start
	for ; names > 0; names-- {
		i := bytes.IndexByte(f.out[at:], ',')
		if i < 0 {
			return
		}
		at += i + 1
	}
	more := Digest(f.out[at:])
	f.out = append(f.out[:at], "more#"...)
	f.write(more[:8])
}

// appendClass appends a name of an index or a field with what looks like a
// date, a counter or an identifier replaced by "*", so that logs-2024.05.01,
// logs-2024.05.02 and .ds-logs-2024.05.01-000003 fall together. What no such
// name has is replaced by "?".
func appendClass(dst, name []byte) []byte {
	if len(name) <= maxNameLen && isPlainName(name) {
		return append(dst, name...)
	}
	start := len(dst)
	for len(name) > 0 {
		if isUUID(name) {
			dst = appendStar(dst, start)
			name = name[36:]
			continue
		}
		n := 0
		for n < len(name) && !isSeparator(name[n]) {
			n++
		}
		word := name[:n]
		if isRun(word) || allDigits(word) && endsInStar(dst[start:]) || len(word) == 0 && n < len(name) && name[0] == '*' {
			dst = appendStar(dst, start)
		} else {
			dst = appendWord(dst, start, word)
		}
		if name = name[n:]; len(name) == 0 {
			break
		}
		if name[0] == '*' {
			dst = appendStar(dst, start)
		} else {
			dst = append(dst, name[0])
		}
		name = name[1:]
		if len(dst)-start > maxNameLen {
			end := start + maxNameLen
			for end > start && !utf8.RuneStart(dst[end]) {
				end--
			}
			return append(dst[:end], "#more"...)
		}
	}
	return dst
}

// isPlainName tells a name of ASCII letters and separators but the star, in which
// there is nothing to replace.
func isPlainName(name []byte) bool {
	const (
		letters = 0x07FFFFFE<<32 | 0x07FFFFFE // a to z and A to Z, less 64
		low     = 1<<'-' | 1<<'.' | 1<<':' | 1<<'/' | 1<<'<' | 1<<'>' | 1<<'+' | 1<<'#' | 1<<'$'
		high    = letters | 1<<('_'-64) | 1<<('{'-64) | 1<<('}'-64) | 1<<('@'-64) | 1<<('~'-64)
	)
	for _, c := range name {
		set := uint64(low)
		if c >= 64 {
			set = high
		}
		if c >= 128 || set>>(c&63)&1 == 0 {
			return false
		}
	}
	return true
}

// appendStar appends "*" unless one stands before, separators between them
// aside.
func appendStar(dst []byte, start int) []byte {
	end := len(dst)
	for end > start && (dst[end-1] == '-' || dst[end-1] == '.' || dst[end-1] == '_') {
		end--
	}
	if end > start && dst[end-1] == '*' {
		return dst[:end]
	}
	return append(dst, '*')
}

func endsInStar(b []byte) bool {
	b = bytes.TrimRight(b, "-._")
	return len(b) > 0 && b[len(b)-1] == '*'
}

// appendWord appends a word, long runs of digits in it replaced.
func appendWord(dst []byte, start int, word []byte) []byte {
	for i := 0; i < len(word); {
		d := digitsEnd(word, i)
		if d-i >= 4 {
			dst = appendStar(dst, start)
			i = d
			continue
		}
		r, n := utf8.DecodeRune(word[i:])
		switch {
		case d > i:
			dst = append(dst, word[i:d]...)
			n = d - i
		case r == utf8.RuneError, !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
			dst = append(dst, '?')
		default:
			dst = append(dst, word[i:i+n]...)
		}
		i += n
	}
	return dst
}

func isSeparator(c byte) bool {
	switch c {
	case '-', '.', '_', ':', '/', '<', '>', '{', '}', '*', '@', '+', '#', '$', '~':
		return true
	}
	return false
}

// isRun tells a word that counts or identifies: four digits and more, or eight
// and more hex digits of which some are digits and some letters.
func isRun(word []byte) bool {
	digits, hex := 0, 0
	for _, c := range word {
		if c >= '0' && c <= '9' {
			digits++
		}
		if hexValue(c) >= 0 {
			hex++
		}
	}
	return len(word) >= 4 && digits == len(word) || len(word) >= 8 && hex == len(word) && digits > 1
}

// isUUID tells a UUID at the beginning of b (RFC 9562, section 4).
func isUUID(b []byte) bool {
	if len(b) < 36 {
		return false
	}
	for i, c := range b[:36] {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash && c != '-', !dash && hexValue(c) < 0:
			return false
		}
	}
	return true
}

func allDigits(word []byte) bool {
	return len(word) > 0 && digitsEnd(word, 0) == len(word)
}

// field writes the class of a field's name; a boost ("^3") is cut off.
func (f *Fingerprinter) field(name []byte) {
	if !isPlainName(name) {
		if i := bytes.IndexByte(name, '^'); i > 0 {
			name = name[:i]
		}
	}
	f.out = appendClass(f.out, name)
}

// fields writes the names of a list, or of one string.
func (f *Fingerprinter) fields(n int32) {
	t := &f.tree
	if s := t.str(n); s != nil {
		f.field(s)
		return
	}
	if !t.is(n, ArrayStart) {
		return
	}
	mark, start, count := f.beginSet(), len(f.out), 0
	for c := t.at(n).first; c != none; c = t.at(c).next {
		name := t.str(c)
		if name == nil {
			name = t.str(t.get(c, "field"))
		}
		if name != nil {
			f.member()
			f.field(name)
			count++
		}
	}
	if f.endSet(mark, ","); count > maxFieldNames {
		f.shorten(start, maxFieldNames)
	}
}

// decade is the largest power of ten that is not above n.
func decade(n int64) int64 {
	p := int64(1)
	for n >= 10 {
		n /= 10
		p *= 10
	}
	return p
}

// appendTimes appends "×10", "×100" … for ten and more.
func appendTimes(dst []byte, n int) []byte {
	if n < 10 {
		return dst
	}
	return strconv.AppendInt(append(dst, "×"...), decade(int64(n)), 10)
}

// amount writes name and about how many: "=0" or "≈" and a power of ten.
func (f *Fingerprinter) amount(name string, n int64) {
	f.write(name)
	if n <= 0 {
		f.write("=0")
		return
	}
	f.write("≈")
	f.out = strconv.AppendInt(f.out, decade(n), 10)
}

// unescapePath decodes percent escapes; "+" stays.
func unescapePath(s string) []byte {
	return appendUnescapedPath(make([]byte, 0, len(s)), []byte(s))
}

func appendUnescapedPath(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hexValue(s[i+1]) >= 0 && hexValue(s[i+2]) >= 0 {
			dst = append(dst, byte(hexValue(s[i+1])<<4|hexValue(s[i+2])))
			i += 2
			continue
		}
		dst = append(dst, s[i])
	}
	return dst
}
