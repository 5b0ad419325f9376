package sanitize

import (
	"bytes"
	"encoding/hex"
)

// mayBeShape spares most runs a closer look: a shape goes on behind its first
// run with a separator or, being hexadecimal, with the other kind of run.
func mayBeShape(s []byte, i, end int) bool {
	if end >= len(s) {
		return false
	}
	switch s[end] {
	case '-', '/', '.', ':':
		return end-i <= 8
	}
	return end-i < 8 && isHex(s[i]) && isHex(s[end])
}

// shape recognises, at the start of a token, what must keep its shape to stay
// valid: a date, an IP address (with an optional CIDR suffix) or a UUID. It
// appends the pseudonym and returns the length of what it stands for, 0 where
// there is none.
func (d *domain) shape(dst, s []byte, i int) ([]byte, int) {
	c := s[i]
	rest := s[i:]
	switch {
	case c >= '0' && c <= '9':
		if len(rest) < 7 {
			return dst, 0
		}
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		if len(rest) < 3 {
			return dst, 0
		}
	case c != ':' || len(rest) < 3 || rest[1] != ':':
		return dst, 0
	}
	if n := dateLen(rest); n > 0 {
		if out, ok := d.date(dst, rest[:n]); ok {
			return out, n
		}
		return dst, 0
	}
	if n := uuidLen(rest); n > 0 {
		return d.uuid(dst, rest[:n]), n
	}
	if out, n := d.address4(dst, rest); n > 0 {
		return out, n
	}
	if addr, n := address(rest); n > 0 {
		return d.network(dst, addr, rest, n)
	}
	return dst, 0
}

const uuidSize = 36

// uuidLen is 36 where b begins with a UUID in its 8-4-4-4-12 form.
func uuidLen(b []byte) int {
	if len(b) < uuidSize || b[8] != '-' || b[13] != '-' || b[18] != '-' || b[23] != '-' {
		return 0
	}
	for i, c := range b[:uuidSize] {
		if i != 8 && i != 13 && i != 18 && i != 23 && !isHex(c) {
			return 0
		}
	}
	if len(b) > uuidSize {
		if class, _ := classAt(b, uuidSize); class != classSep {
			return 0
		}
	}
	return uuidSize
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}

// uuid appends a keyed UUID of the same version and variant, upper case when
// the input had an upper-case digit.
func (d *domain) uuid(dst, b []byte) []byte {
	upper := false
	low := d.low[:0]
	for _, c := range b {
		if c >= 'A' && c <= 'F' {
			upper = true
			c |= 0x20
		}
		low = append(low, c)
	}
	d.low = low
	var text [32]byte
	hex.Encode(text[:], d.prf("\x00uuid\x00", low)[:16])
	j := 0
	for i := range low {
		switch i {
		case 8, 13, 18, 23:
			continue
		case 14, 19:
		default:
			low[i] = text[j]
		}
		j++
	}
	for _, c := range low {
		if upper && c >= 'a' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// isPlace tells a whole string that is a point or a shape in text form:
// "48.2,16.37" or WKT.
func isPlace(s []byte) bool {
	if len(s) == 0 || len(s) > 1<<16 {
		return false
	}
	switch c := s[0]; {
	case c == '-' || c >= '0' && c <= '9':
		return isLatLon(s, 2)
	case asciiClass(c) != classLetter || wktBegins>>(c&31)&1 == 0 || bytes.IndexByte(s, '(') < 0:
		return false
	}
	return isWKT(s)
}

// isLatLon tells two numbers and a comma between them, at least so many of them
// with a fraction.
func isLatLon(s []byte, fractions int) bool {
	comma, dots := -1, 0
	for i, c := range s {
		switch {
		case c == ',' && comma < 0:
			comma = i
		case c == '.':
			if dots++; dots > 2 {
				return false // an address
			}
		case c == '-' && (i == 0 || s[i-1] == ',' || s[i-1] == ' '), c >= '0' && c <= '9', c == ' ' && comma == i-1:
		default:
			return false
		}
	}
	return comma > 0 && comma < len(s)-1 && dots >= fractions && dots <= 2 && len(s) <= 48
}

func isWKT(s []byte) bool {
	letters := 0
	for letters < len(s) && asciiClass(s[letters]) == classLetter {
		letters++
	}
	if !isWKTWord(s[:letters]) {
		return false
	}
	open := false
	for i := letters; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			open = true
		case c >= '0' && c <= '9', c == ' ', c == ')', c == ',', c == '.', c == '-', c == '+', c == 'e' && open, c == 'E' && open:
		case asciiClass(c) == classLetter:
			j := i
			for j < len(s) && asciiClass(s[j]) == classLetter {
				j++
			}
			if !isWKTWord(s[i:j]) {
				return false
			}
			i = j - 1
		default:
			return false
		}
	}
	return open
}

func isWKTWord(w []byte) bool {
	switch string(upperASCII(w)) {
	case "POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION",
		"ENVELOPE", "BBOX", "CIRCLE", "Z", "EMPTY":
		return true
	}
	return false
}

// wktBegins has bit c&31 set for each letter c that a word of WKT begins with.
const wktBegins = 1<<('p'&31) | 1<<('l'&31) | 1<<('m'&31) | 1<<('g'&31) | 1<<('e'&31) | 1<<('b'&31) | 1<<('c'&31) | 1<<('z'&31)

func upperASCII(w []byte) []byte {
	if len(w) > 20 {
		return nil
	}
	u := make([]byte, len(w))
	for i, c := range w {
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		u[i] = c
	}
	return u
}
