package es

import (
	"iter"
	"strings"
)

// Param is the raw value of the first parameter called name in a query string,
// still percent-encoded. A parameter without "=" has the value "". Names are
// compared as they stand in the query: the engines' parameter names hold nothing
// that clients encode.
func Param(query, name string) (raw string, ok bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if len(pair) >= len(name) && pair[:len(name)] == name {
			switch {
			case len(pair) == len(name):
				return "", true
			case pair[len(name)] == '=':
				return pair[len(name)+1:], true
			}
		}
	}
	return "", false
}

// Params walks over the parameters of a query string in their order, raw. Empty
// pieces between two "&" are passed over.
func Params(query string) iter.Seq2[string, string] {
	// Small enough to be inlined, so that ranging over it allocates nothing.
	return func(yield func(name, value string) bool) { eachParam(query, yield) }
}

func eachParam(query string, yield func(name, value string) bool) {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		if !yield(name, value) {
			return
		}
	}
}

// Unescape appends s with its percent escapes decoded to dst. plusIsSpace holds
// in query strings; in paths "+" has been a plus since version 7.4. A malformed
// escape stays as it is and makes ok false.
func Unescape(dst []byte, s string, plusIsSpace bool) (out []byte, ok bool) {
	ok = true
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+' && plusIsSpace:
			dst = append(dst, ' ')
		case c != '%':
			dst = append(dst, c)
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
