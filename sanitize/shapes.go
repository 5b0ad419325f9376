package sanitize

import (
	"encoding/hex"
	"net/netip"
)

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
	if addr, n := address(rest); n > 0 {
		return d.network(dst, addr, rest, n)
	}
	return dst, 0
}

// dateLen is the length of the date, and of the time of day and zone after it,
// that b begins with: yyyy-MM-dd, yyyy/MM/dd, yyyy.MM.dd, or dd/MM/yyyy and the
// like. A character that is part of a word must not follow.
func dateLen(b []byte) int {
	n := 10
	switch {
	case len(b) < n:
		return 0
	case digitsAt(b, 0, 4) && isDateSep(b[4]) && digitsAt(b, 5, 2) && b[7] == b[4] && digitsAt(b, 8, 2):
		if b[0] == '0' || two(b, 5) > 12 || two(b, 5) == 0 || two(b, 8) > 31 || two(b, 8) == 0 {
			return 0
		}
	case digitsAt(b, 0, 2) && isDateSep(b[2]) && digitsAt(b, 3, 2) && b[5] == b[2] && digitsAt(b, 6, 4):
		x, y := two(b, 0), two(b, 3)
		if x == 0 || y == 0 || x > 31 || y > 31 || min(x, y) > 12 {
			return 0
		}
	default:
		return 0
	}
	n += timeLen(b[n:])
	if n < len(b) && (asciiClass(b[n]) != classSep || b[n] >= 0x80) {
		if class, _ := classAt(b, n); class != classSep {
			return 0
		}
	}
	return n
}

// timeLen is the length of "T12:30", " 12:30:15.123Z", "T12+01:00" … .
func timeLen(b []byte) int {
	if len(b) < 3 || b[0] != 'T' && b[0] != ' ' || !digitsAt(b, 1, 2) || two(b, 1) > 24 {
		if len(b) > 0 && b[0] == 'T' && (len(b) == 1 || asciiClass(b[1]) == classSep) {
			return 1 // yyyy-MM-ddT, which ES takes
		}
		return 0
	}
	n := 3
	for n+2 < len(b) && b[n] == ':' && digitsAt(b, n+1, 2) {
		n += 3
	}
	if b[0] == ' ' && n == 3 { // "2024-05-01 12 apples"
		return 0
	}
	if n+1 < len(b) && (b[n] == '.' || b[n] == ',') && digitsAt(b, n+1, 1) {
		for n++; n < len(b) && digitsAt(b, n, 1); n++ {
		}
	}
	return n + zoneLen(b[n:])
}

func zoneLen(b []byte) int {
	switch {
	case len(b) > 0 && b[0] == 'Z':
		return 1
	case len(b) > 5 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 2) && b[3] == ':' && digitsAt(b, 4, 2):
		return 6
	case len(b) > 4 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 4):
		return 5
	case len(b) > 2 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 2):
		return 3
	}
	return 0
}

func isDateSep(c byte) bool { return c == '-' || c == '/' || c == '.' }

func digitsAt(b []byte, i, n int) bool {
	if i+n > len(b) {
		return false
	}
	for _, c := range b[i : i+n] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func two(b []byte, i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }

// date appends a date: as it is, or with its day moved by the domain's secret
// number of weeks. Only year first dates can be moved for sure.
func (d *domain) date(dst, b []byte) ([]byte, bool) {
	if !d.style.shiftDates {
		return append(dst, b...), true
	}
	if !digitsAt(b, 0, 4) {
		return dst, false
	}
	y, m, day := civil(dayNumber(two(b, 0)*100+two(b, 2), two(b, 5), two(b, 8)) + d.shift)
	if y < 1000 || y > 9999 {
		return dst, false
	}
	dst = appendPadded(dst, uint64(y), 4)
	dst = append(dst, b[4])
	dst = appendPadded(dst, uint64(m), 2)
	dst = append(dst, b[7])
	dst = appendPadded(dst, uint64(day), 2)
	return append(dst, b[10:]...), true
}

// dayNumber counts days of the proleptic Gregorian calendar from 1 March of
// year 0, so that the leap day ends a year.
func dayNumber(y, m, d int) int {
	if m <= 2 {
		y--
		m += 12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1
}

// civil is the inverse of dayNumber.
func civil(n int) (y, m, d int) {
	const days400 = 146097
	era := n / days400
	n %= days400
	y = (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*y + y/4 - y/100
	m = (5*n + 2) / 153
	d = n - (153*m+2)/5 + 1
	y += 400 * era
	if m += 3; m > 12 {
		m -= 12
		y++
	}
	return y, m, d
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

// address reads the IP address that b begins with.
func address(b []byte) (netip.Addr, int) {
	n, colons, dots := 0, 0, 0
	for n < len(b) && n < 46 && (isHex(b[n]) || b[n] == ':' || b[n] == '.') {
		switch b[n] {
		case ':':
			colons++
		case '.':
			dots++
		}
		n++
		if n == 5 && colons+dots == 0 {
			return netip.Addr{}, 0
		}
	}
	for n > 0 && (b[n-1] == '.' || b[n-1] == ':' && (n < 2 || b[n-2] != ':')) { // end of a sentence, "addr: "
		if b[n-1] == '.' {
			dots--
		} else {
			colons--
		}
		n--
	}
	if colons == 0 && dots != 3 {
		if colons == 0 && dots < 3 {
			return netip.Addr{}, 0
		}
	}
	// "10.0.0.1:9200" is an address with a port.
	if dots == 3 && colons == 1 {
		for n > 0 && b[n-1] != ':' {
			n--
		}
		n--
	}
	if colons == 1 && dots != 3 || n < 3 {
		return netip.Addr{}, 0
	}
	if n < len(b) {
		if class, _ := classAt(b, n); class != classSep {
			return netip.Addr{}, 0
		}
	}
	a, err := netip.ParseAddr(string(b[:n]))
	if err != nil {
		return netip.Addr{}, 0
	}
	return a, n
}

// network appends the pseudonym of an address of n bytes at the start of b, and
// of the CIDR suffix behind it. Bits behind the prefix that were zero stay zero.
func (d *domain) network(dst []byte, a netip.Addr, b []byte, n int) ([]byte, int) {
	mapped := a.Is4In6()
	p := d.mapAddr(a.Unmap())
	end, size := n, 0
	if n < len(b) && b[n] == '/' {
		for end = n + 1; end < len(b) && end < n+4 && digitsAt(b, end, 1); end++ {
			size = size*10 + int(b[end]-'0')
		}
		prefix, err := a.Unmap().Prefix(size)
		tail := end < len(b) && asciiClass(b[end]) != classSep
		if end == n+1 || err != nil || tail || prefix.Addr() != a.Unmap() {
			end = n
		} else if q, err := p.Prefix(size); err == nil {
			p = q.Addr()
		}
	}
	if mapped {
		dst = append(dst, "::ffff:"...)
	}
	dst = p.AppendTo(dst)
	return append(dst, b[n:end]...), end
}

// mapAddr is Crypto-PAn (Xu, Fan, Ammar, Moon 2002): bit i is flipped by a keyed
// function of the bits before it, so that two addresses share exactly as long a
// prefix as before.
func (d *domain) mapAddr(a netip.Addr) netip.Addr {
	in := a.AsSlice()
	d.num = append(append(d.num[:0], 0, byte(len(in))), in...)
	h := d.orig.hash(d.num)
	if e := d.cache.get(h, d.num); e != nil && len(in) == 4 {
		return netip.AddrFrom4([4]byte(e.word[:4]))
	}
	key := append(d.low[:0], d.num...)
	d.low = key
	out := make([]byte, len(in))
	for i := range 8 * len(in) {
		copy(d.block[:], d.ipPad[:])
		copy(d.block[:i/8], in)
		rem := uint(i % 8)
		keep := byte(0xFF) << (8 - rem)
		d.block[i/8] = in[i/8]&keep | d.ipPad[i/8]&^keep
		d.ip.Encrypt(d.block[:], d.block[:])
		out[i/8] |= (d.block[0] & 0x80) >> rem
	}
	for i := range out {
		out[i] ^= in[i]
	}
	p, _ := netip.AddrFromSlice(out)
	if len(in) == 4 {
		var e cacheEntry
		copy(e.word[:], out)
		d.cache.put(h, key, e)
	}
	return p
}

// isPlace tells a whole string that is a point or a shape in text form:
// "48.2,16.37" or WKT.
func isPlace(s []byte) bool {
	if len(s) == 0 || len(s) > 1<<16 {
		return false
	}
	if c := s[0]; c == '-' || c >= '0' && c <= '9' {
		return isLatLon(s, 2)
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
			dots++
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
