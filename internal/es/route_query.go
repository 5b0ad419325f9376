package es

import (
	"iter"
	"strings"
)

// The engines read a query string in a way of their own, and so does everything
// here: "&" and ";" both separate, "#" ends it, "=" in front of a name is passed
// over, names are decoded before they are compared, and of several parameters of
// one name the last counts.

// Param is the value of the parameter called name in a query string, still
// percent-encoded. A parameter without "=" has the value "".
func Param(query, name string) (raw string, ok bool) {
	for query != "" {
		var n, v string
		n, v, query = cutParam(query)
		if n == name || escaped(n) && unescapesTo(n, name) {
			raw, ok = v, true
		}
	}
	return raw, ok && name != ""
}

// Params walks over the parameters of a query string in their order. Names and
// values are raw, parts of the query; UnescapeString decodes them.
func Params(query string) iter.Seq2[string, string] {
	// Small enough to be inlined, so that ranging over it allocates nothing.
	return func(yield func(name, value string) bool) { eachParam(query, yield) }
}

func eachParam(query string, yield func(name, value string) bool) {
	for query != "" {
		var name, value string
		if name, value, query = cutParam(query); name != "" && !yield(name, value) {
			return
		}
	}
}

// cutParam cuts the first parameter off a query string. The name is empty where
// nothing stands between two separators.
func cutParam(query string) (name, value, rest string) {
	start, equals := 0, -1
	i := 0
scan:
	for ; i < len(query); i++ {
		switch query[i] {
		case '=':
			if i == start {
				start++
			} else if equals < 0 {
				equals = i
			}
		case '&', ';':
			rest = query[i+1:]
			break scan
		case '#':
			break scan
		}
	}
	if equals < 0 {
		return query[start:i], "", rest
	}
	return query[start:equals], query[equals+1 : i], rest
}

// escaped tells whether a part of a query string differs from what it means.
func escaped(s string) bool { return strings.ContainsAny(s, "%+") }

func unescapesTo(s, want string) bool {
	got, _ := UnescapeString(s, true)
	return got == want
}

// UnescapeString decodes s as Unescape does; it is s itself where there is
// nothing to decode.
func UnescapeString(s string, plusIsSpace bool) (out string, ok bool) {
	if !escaped(s) {
		return s, true
	}
	b, ok := Unescape(make([]byte, 0, len(s)), s, plusIsSpace)
	return string(b), ok
}

// Unescape appends s with its percent escapes decoded to dst. plusIsSpace holds
// in query strings; in paths "+" has been a plus since version 7.4. "%%" is a
// percent sign, as the engines have it. A malformed escape, which they refuse,
// stays as it is and makes ok false.
func Unescape(dst []byte, s string, plusIsSpace bool) (out []byte, ok bool) {
	ok = true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+' && plusIsSpace:
			dst = append(dst, ' ')
		case c != '%':
			dst = append(dst, c)
		case i+1 < len(s) && s[i+1] == '%':
			dst = append(dst, c)
			i++
		case i+2 < len(s) && hexValue(s[i+1]) >= 0 && hexValue(s[i+2]) >= 0:
			dst = append(dst, byte(hexValue(s[i+1])<<4|hexValue(s[i+2])))
			i += 2
		default:
			dst, ok = append(dst, c), false
		}
	}
	return dst, ok
}

// AppendEscaped appends s percent-encoded, so that it may stand as one path
// segment or one query value: everything but the unreserved characters of
// RFC 3986 is encoded.
func AppendEscaped(dst, s []byte) []byte {
	const hex = "0123456789ABCDEF"
	for _, c := range s {
		if unreserved(c) {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func unreserved(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	case c == '-', c == '.', c == '_', c == '~':
		return true
	}
	return false
}
