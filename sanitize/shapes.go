package sanitize

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
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
	if a.Is4() {
		return netip.AddrFrom4(d.mapAddr4(a.As4()))
	}
	in := a.As16()
	var out [16]byte
	d.mapBits(out[:], in[:])
	return netip.AddrFrom16(out)
}

// mapAddr4 is mapAddr for IPv4, whose addresses are remembered.
func (d *domain) mapAddr4(in [4]byte) [4]byte {
	// A zero byte in front, and something behind: no token is packed so.
	key := nearKey{uint64(binary.BigEndian.Uint32(in[:])) << 8, 1}
	h := key.hash(d.orig.seed)
	e := d.words.get(h, &key)
	if e == nil {
		fresh := nearWord{key: key}
		d.mapBits(fresh.word[:4], in[:])
		e = d.words.put(h, fresh)
	}
	return [4]byte(e.word[:4])
}

// address4 appends the pseudonym of an IPv4 address that ends where b ends or at
// a separator that cannot belong to an address or to a block of them. n is its
// length, 0 where b begins with nothing so plain.
func (d *domain) address4(dst, b []byte) (out []byte, n int) {
	var in [4]byte
	for i := range in {
		if i > 0 {
			if n >= len(b) || b[n] != '.' {
				return dst, 0
			}
			n++
		}
		start, v := n, 0
		for n < len(b) && n < start+3 && digitsAt(b, n, 1) {
			v = v*10 + int(b[n]-'0')
			n++
		}
		if n == start || v > 255 || n-start > 1 && b[start] == '0' {
			return dst, 0
		}
		in[i] = byte(v)
	}
	if n < len(b) {
		if c := b[n]; c >= 0x80 || asciiClass(c) != classSep || c == '.' || c == ':' || c == '/' {
			return dst, 0
		}
	}
	for i, v := range d.mapAddr4(in) {
		if i > 0 {
			dst = append(dst, '.')
		}
		dst = strconv.AppendUint(dst, uint64(v), 10)
	}
	return dst, n
}

// mapBits is mapAddr on the bytes of an address; out begins with zeros.
func (d *domain) mapBits(out, in []byte) {
	for i := range 8 * len(in) {
		if d.style.keepPrivate && nearPrivate(in, i) {
			continue
		}
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
}

// privateBlock is a block of addresses that keep_private leaves as it is.
type privateBlock struct {
	size   int // of an address in bytes
	first  [2]byte
	prefix int // bits
}

// privateBlocks are the private, loopback and link-local blocks of IPv4 and IPv6;
// of ::1 it is the block of addresses that begin with 16 zeros.
func privateBlocks() [8]privateBlock {
	return [...]privateBlock{
		{4, [2]byte{10, 0}, 8},
		{4, [2]byte{172, 16}, 12},
		{4, [2]byte{192, 168}, 16},
		{4, [2]byte{127, 0}, 8},
		{4, [2]byte{169, 254}, 16},
		{16, [2]byte{0xfc, 0}, 7},
		{16, [2]byte{0xfe, 0x80}, 10},
		{16, [2]byte{0, 0}, 16},
	}
}

// nearPrivate tells that the first n bits of an address lead to a private block,
// or into it: there no bit is flipped, so that the block stays where it is and
// everything else is still mapped one to one, prefixes to prefixes.
func nearPrivate(in []byte, n int) bool {
	for _, b := range privateBlocks() {
		if b.size != len(in) {
			continue
		}
		same := min(n, b.prefix)
		mask := uint16(0xFFFF) << (16 - same)
		if (binary.BigEndian.Uint16(in)^binary.BigEndian.Uint16(b.first[:]))&mask == 0 {
			return true
		}
	}
	return false
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
	case asciiClass(c) != classLetter || bytes.IndexByte(s, '(') < 0:
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
