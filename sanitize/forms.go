package sanitize

import (
	"bytes"
	"slices"
	"strconv"
)

// formed is text for the styles that do not go run by run.
func (d *domain) formed(dst, s []byte) []byte {
	switch d.style.form {
	case formWhole:
		return d.whole(dst, s)
	case formPrefix, formCharsub:
		return d.charwise(dst, s)
	case formURL:
		return d.url(dst, s)
	case formDate:
		if out, ok := d.movedDate(dst, s); ok {
			return out
		}
	case formShift:
		if out, ok := d.moved(dst, s); ok {
			return out
		}
	case formBucket:
		if out, ok := d.bucketed(dst, s); ok {
			return out
		}
	}
	return d.tokens(dst, s)
}

// whole appends one word for the whole text. An empty text stays.
func (d *domain) whole(dst, s []byte) []byte {
	if len(s) == 0 {
		return dst
	}
	d.remember(s)
	var w [wordRoom]byte
	putWord(&w, d.prf("\x00value\x00", s))
	return append(dst, w[:wordLen]...)
}

// url appends the pseudonym of a URL: its scheme stays, user info, fragment and
// the parameters that carry credentials go, the rest goes run by run. A text
// without a scheme is taken as a part of a URL, from which nothing goes.
func (d *domain) url(dst, s []byte) []byte {
	i := bytes.Index(s, []byte("://"))
	if i <= 0 || i > 16 || bytes.IndexFunc(s[:i], func(r rune) bool { return asciiClass(byte(r)) != classLetter || r >= 0x80 }) >= 0 {
		return d.tokens(dst, s)
	}
	dst = append(d.tokens(dst, s[:i]), "://"...)
	rest := s[i+3:]
	if j := bytes.IndexByte(rest, '#'); j >= 0 {
		d.remember(rest[j:])
		rest = rest[:j]
	}
	authority, tail := rest, []byte(nil)
	if j := bytes.IndexAny(rest, "/?"); j >= 0 {
		authority, tail = rest[:j], rest[j:]
	}
	if j := bytes.LastIndexByte(authority, '@'); j >= 0 {
		d.remember(authority[:j])
		authority = authority[j+1:]
	}
	dst = d.tokens(dst, authority)
	path, query, hasQuery := bytes.Cut(tail, []byte{'?'})
	if dst = d.tokens(dst, path); !hasQuery {
		return dst
	}
	sep := byte('?')
	for more := true; more; {
		var part []byte
		part, query, more = bytes.Cut(query, []byte{'&'})
		if name, _, _ := bytes.Cut(part, []byte{'='}); isSecretParam(name) {
			d.remember(part)
			continue
		}
		dst = append(dst, sep)
		dst = d.tokens(dst, part)
		sep = '&'
	}
	return dst
}

// isSecretParam tells the parameters of URLs that carry credentials.
func isSecretParam(name []byte) bool {
	if len(name) == 0 || len(name) > 40 {
		return false
	}
	low := string(bytes.ToLower(name))
	return slices.Contains([]string{
		"token", "access_token", "id_token", "refresh_token", "auth", "authorization", "api_key", "apikey", "key", "secret", "client_secret",
		"password", "passwd", "pwd", "signature", "sig", "code", "session", "sessionid", "session_id", "sid", "jwt", "ticket",
		"x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential",
	}, low)
}

// movedDate appends a date of any form that is surely one, moved. ok is false for
// anything else.
func (d *domain) movedDate(dst, s []byte) (out []byte, ok bool) {
	switch {
	case dateLen(s) == len(s) && len(s) > 0:
		return d.date(dst, s)
	case len(s) == 8 && digitsAt(s, 0, 8): // yyyyMMdd
		full := slices.Concat(s[:4], []byte{'-'}, s[4:6], []byte{'-'}, s[6:])
		if dateLen(full) != len(full) {
			return dst, false
		}
		moved, ok := d.date(nil, full)
		if !ok {
			return dst, false
		}
		return append(append(append(dst, moved[:4]...), moved[5:7]...), moved[8:]...), true
	case isYearMonth(s):
		moved, ok := d.date(nil, slices.Concat(s, s[4:5], []byte("01")))
		if !ok {
			return dst, false
		}
		return append(dst, moved[:7]...), true
	}
	return d.movedEpoch(dst, s)
}

// movedEpoch appends a point in time as seconds or milliseconds since 1970, from
// 1973 on (seconds up to 2286).
func (d *domain) movedEpoch(dst, s []byte) (out []byte, ok bool) {
	if len(s) < 9 || len(s) > 13 || !digitsAt(s, 0, len(s)) || s[0] == '0' {
		return dst, false
	}
	day := int64(86400)
	if len(s) > 10 {
		if day *= 1000; len(s) == 11 {
			return dst, false
		}
	}
	v := int64(parseDigits(s)) + int64(d.days)*day
	if v < 0 {
		return dst, false
	}
	return strconv.AppendInt(dst, v, 10), true
}

// constant appends what has the shape of a text and says nothing more: dates,
// numbers, addresses and UUIDs stay valid.
func constant(dst, s []byte) []byte {
	switch {
	case len(s) == 0:
		return dst
	case isDateMath(s):
		return append(dst, s...)
	case dateLen(s) == len(s):
		return constantDate(dst, s)
	case isNumber(s):
		return append(dst, '0')
	case uuidLen(s) == len(s):
		return append(dst, "00000000-0000-4000-8000-000000000000"...)
	case isPlace(s):
		return append(dst, "0,0"...)
	}
	if a, n := address(s); n == len(s) && n >= 3 {
		if a.Is4() {
			return append(dst, "0.0.0.0"...)
		}
		return append(dst, "::"...)
	}
	return append(dst, "mmmmm"...)
}

// constantDate is the first of January 2000 in the form of a date.
func constantDate(dst, s []byte) []byte {
	const yearFirst, dayFirst = "2000-01-01", "01-01-2000"
	model := yearFirst
	if !digitsAt(s, 0, 4) {
		model = dayFirst
	}
	for i, c := range s {
		switch {
		case !digitsAt(s, i, 1):
		case i < len(model):
			c = model[i]
		default:
			c = '0'
		}
		dst = append(dst, c)
	}
	return dst
}
