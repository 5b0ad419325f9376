package sanitize

import (
	"encoding/binary"
	"net/netip"
)

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
// length, 0 where b begins with nothing so plain. Texts of addresses are remembered.
func (d *domain) address4(dst, b []byte) (out []byte, n int) {
	dots := 0
	for ; n < len(b) && n < nearLetters && (b[n] == '.' || b[n]-'0' < 10); n++ {
		if b[n] == '.' {
			dots++
		}
	}
	if dots != 3 || n == nearLetters || n < len(b) && (b[n] >= 0x80 || asciiClass(b[n]) != classSep || b[n] == ':' || b[n] == '/') {
		return dst, 0
	}
	key := nearKey{loadWord(b, 0, min(n, 8))}
	if n > 8 {
		key[1] = loadWord(b, 8, n-8)
	}
	h := key.hash(d.orig.seed)
	e := d.words.get(h, &key)
	if e == nil {
		in, ok := parse4(b[:n])
		if !ok {
			return dst, 0
		}
		fresh := nearWord{key: key}
		var made [4]byte
		d.mapBits(made[:], in[:])
		fresh.word[near4Size] = byte(len(netip.AddrFrom4(made).AppendTo(fresh.word[:0])))
		e = d.words.put(h, fresh)
	}
	return append(dst, e.word[:e.word[near4Size]]...), n
}

// near4Size is where the size of an address stands behind its text, which takes at most
// as many bytes.
const near4Size = len("255.255.255.255")

// parse4 reads an IPv4 address.
func parse4(b []byte) (a [4]byte, ok bool) {
	n := 0
	for i := range a {
		if i > 0 {
			if n >= len(b) || b[n] != '.' {
				return a, false
			}
			n++
		}
		start, v := n, 0
		for n < len(b) && n < start+3 && digitsAt(b, n, 1) {
			v = v*10 + int(b[n]-'0')
			n++
		}
		if n == start || v > 255 || n-start > 1 && b[start] == '0' {
			return a, false
		}
		a[i] = byte(v)
	}
	return a, n == len(b)
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
