package sanitize

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// unquote appends what a literal or a quoted name stands for. ok is false where
// an escape is not known.
func (d *dialect) unquote(dst, raw []byte) (out []byte, ok bool) {
	switch {
	case raw[0] == '?':
		return append(dst, raw[2:len(raw)-1]...), true
	case d.triple && len(raw) >= 6 && bytes.HasPrefix(raw, []byte(`"""`)):
		return append(dst, raw[3:len(raw)-3]...), true
	}
	q, body := raw[0], raw[1:len(raw)-1]
	literal := bytes.IndexByte([]byte(d.strings), q) >= 0
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == q: // doubled, or it would have ended the literal
			i++
		case c != '\\' || !literal || !d.backslash:
		case d.doubled: // \\ and \' only
			if i+1 < len(body) && (body[i+1] == '\\' || body[i+1] == q) {
				i++
				c = body[i]
			}
		default:
			var n int
			if dst, n = unescape(dst, body[i:]); n == 0 {
				return dst, false
			}
			i += n - 1
			continue
		}
		dst = append(dst, c)
	}
	return dst, true
}

// unescape appends what the escape that s begins with stands for; n is its
// length, 0 if it is not known.
func unescape(dst, s []byte) (out []byte, n int) {
	if len(s) < 2 {
		return dst, 0
	}
	switch s[1] {
	case 'n':
		return append(dst, '\n'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'r':
		return append(dst, '\r'), 2
	case '\\', '"', '\'':
		return append(dst, s[1]), 2
	case 'u':
		end := bytes.IndexByte(s, '}')
		if len(s) < 5 || s[2] != '{' || end < 4 || end > 11 {
			return dst, 0
		}
		v, err := strconv.ParseUint(string(s[3:end]), 16, 32)
		if err != nil || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
			return dst, 0
		}
		return utf8.AppendRune(dst, rune(v)), end + 1
	}
	return dst, 0
}

// quote appends text in the quotes that like has.
func (d *dialect) quote(dst, like, text []byte) []byte {
	switch {
	case like[0] == '?':
		return append(append(append(dst, like[:2]...), text...), like[1])
	case d.triple && len(like) >= 6 && bytes.HasPrefix(like, []byte(`"""`)):
		return append(append(append(dst, `"""`...), text...), `"""`...)
	}
	q := like[0]
	literal := bytes.IndexByte([]byte(d.strings), q) >= 0
	twice := !d.backslash || !literal || d.doubled && bytes.Contains(like[1:len(like)-1], []byte{q, q})
	pairs := bytes.Contains(like, []byte(`\\`))
	dst = append(dst, q)
	for i, c := range text {
		switch {
		case c == q && twice:
			dst = append(dst, q, q)
			continue
		case !literal || !d.backslash:
		case c == q:
			dst = append(dst, '\\')
		case d.doubled: // \ before anything else stands for itself
			if c == '\\' && (pairs || i+1 == len(text) || text[i+1] == '\\' || text[i+1] == q) {
				dst = append(dst, '\\')
			}
		case c == '\\':
			dst = append(dst, '\\')
		case c == '\n':
			dst = append(dst, '\\', 'n')
			continue
		case c == '\t':
			dst = append(dst, '\\', 't')
			continue
		case c == '\r':
			dst = append(dst, '\\', 'r')
			continue
		}
		dst = append(dst, c)
	}
	return append(dst, q)
}
