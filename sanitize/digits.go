package sanitize

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// Digit runs are permuted among the runs of their length. Runs of 1 to
// tableDigits digits use a keyed shuffle held in a table, longer ones FF1.
// Whether the first digit is zero is kept (for one digit that means that 0 stays
// 0), so that an integer of a JSON number and the same digits in a string get
// the same pseudonym, which is again an integer of as many digits.
const (
	tableDigits = 5
	// maxFF1Digits is how long a run FF1 takes with halves that fit in 64 bits.
	// Longer runs are cut into parts of 19 to 38 digits.
	maxFF1Digits = 38
)

// digitTables are the keyed shuffles for the short lengths, read-only after they
// are made.
type digitTables [tableDigits + 1]digitTable

// digitTable is a shuffle in as little room as may be: what stays in a near cache of
// the shuffles of five digits is most of what looking them up costs.
type digitTable struct {
	low  []uint16
	high []uint64 // a bit for each number: 1<<16 is to be added to it
}

func newDigitTables(s *keyStream) *digitTables {
	var t digitTables
	for n, size := 1, uint32(10); n <= tableDigits; n, size = n+1, size*10 {
		t[n] = digitTable{make([]uint16, size), make([]uint64, size/64+1)}
		lead := size / 10 // runs below it begin with 0
		for i, v := range s.shuffle(lead) {
			t[n].set(uint32(i), v)
		}
		for i, v := range s.shuffle(size - lead) {
			t[n].set(lead+uint32(i), lead+v)
		}
	}
	return &t
}

func (t *digitTable) set(i, v uint32) {
	t.low[i] = uint16(v)
	t.high[i/64] |= uint64(v>>16) << (i % 64)
}

func (t *digitTable) at(i uint32) uint32 {
	return uint32(t.low[i]) | uint32(t.high[i/64]>>(i%64)&1)<<16
}

// keyStream is an endless stream of numbers made from a key with AES-CTR.
type keyStream struct {
	c    cipher.Stream
	buf  [4096]byte
	next int // offset of the first byte of buf that is not used up
}

func newKeyStream(key []byte) (*keyStream, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	s := &keyStream{c: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	s.next = len(s.buf)
	return s, nil
}

// below is a number in [0, n) without bias worth naming (64 bits for n < 2^32).
func (s *keyStream) below(n uint32) uint32 {
	if s.next == len(s.buf) {
		clear(s.buf[:])
		s.c.XORKeyStream(s.buf[:], s.buf[:])
		s.next = 0
	}
	hi, _ := bits.Mul64(binary.LittleEndian.Uint64(s.buf[s.next:]), uint64(n))
	s.next += 8
	return uint32(hi)
}

// shuffle is a permutation of 0 … n-1 (Fisher–Yates).
func (s *keyStream) shuffle(n uint32) []uint32 {
	p := make([]uint32, n)
	for i := range p {
		p[i] = uint32(i)
	}
	for i := n; i > 1; i-- {
		j := s.below(i)
		p[i-1], p[j] = p[j], p[i-1]
	}
	return p
}

// permute appends the pseudonym of a run of ASCII digits.
func (d *domain) permute(dst, run []byte) []byte {
	for len(run) > maxFF1Digits {
		parts := (len(run) + maxFF1Digits - 1) / maxFF1Digits
		n := (len(run) + parts - 1) / parts
		dst = d.permute(dst, run[:n])
		run = run[n:]
	}
	if len(run) <= tableDigits {
		v := shortDigits(run)
		table := &d.domainKeys.digits[len(run)]
		out := table.at(v)
		for d.style.magnitude && smallClass(out) != smallClass(v) {
			out = table.at(out)
		}
		return appendShort(dst, out, len(run))
	}
	if len(run) > wordRoom {
		start := len(dst)
		dst = append(dst, run...)
		d.encryptClass(dst[start:])
		return dst
	}
	key := nearKey{loadAt(run, 0)}
	if len(run) > 8 {
		key[1] = loadAt(run, 8)
	}
	h := key.hash(d.orig.seed)
	e := d.words.get(h, &key)
	if e == nil {
		fresh := nearWord{key: key}
		copy(fresh.word[:], run)
		d.encryptClass(fresh.word[:len(run)])
		e = d.words.put(h, fresh)
	}
	return append(dst, e.word[:len(run)]...)
}

// smallClass tells apart what a byte and a short can hold, in one number of digits.
func smallClass(v uint32) int {
	switch {
	case v <= 127:
		return 0
	case v <= 32767:
		return 1
	}
	return 2
}

// encryptClass replaces digits by others of their class; to walk along the cycle
// of the permutation keeps it one.
func (d *domain) encryptClass(run []byte) {
	for class := integerClass(run); ; {
		d.ff1.encrypt(run)
		if integerClass(run) == class {
			return
		}
	}
}

// integerClass tells runs apart that a numeric field could not take in each
// other's place: those that begin with 0, and, where the length allows both,
// those up to and above the largest 32-bit, exact double, 64-bit and unsigned
// 64-bit integer.
func integerClass(run []byte) int {
	if run[0] == '0' {
		return 0
	}
	limit := ""
	switch len(run) {
	case 10:
		limit = "2147483647"
	case 16:
		limit = "9007199254740992"
	case 19:
		limit = "9223372036854775807"
	case 20:
		limit = "18446744073709551615"
	}
	if limit != "" && string(run) > limit {
		return 2
	}
	return 1
}

// shortDigits reads 1 to 8 digits: pairs of neighbours are added up, and pairs of pairs.
func shortDigits(run []byte) uint32 {
	n := uint(len(run))
	w := loadWord(run, 0, len(run)) << (64 - 8*n) // the last digit is the highest byte
	w -= bytemask.EveryByte * '0' << (64 - 8*n)
	w = (w*10 + w>>8) & 0x00ff00ff00ff00ff
	w = (w*100 + w>>16) & 0x0000ffff0000ffff
	return uint32(w*10000 + w>>32)
}

// appendShort appends v in n decimal digits, 1 to 8.
func appendShort(dst []byte, v uint32, n int) []byte {
	// The same the other way round: halves, quarters, digits.
	w := uint64(v/10000) | uint64(v%10000)<<32
	q := w * 10486 >> 20 & 0x0000007f0000007f // hundreds
	w = q + (w-100*q)<<16
	q = w * 103 >> 10 & 0x000f000f000f000f // tens
	w = q + (w-10*q)<<8 + bytemask.EveryByte*'0'
	return binary.LittleEndian.AppendUint64(dst, w>>(64-8*uint(n)))[:len(dst)+n]
}

// appendPadded appends v in n decimal digits.
func appendPadded(dst []byte, v uint64, n int) []byte {
	const zeros = "00000000000000000000"
	start := len(dst)
	dst = append(dst, zeros[:n]...)
	putDigits(dst[start:], v)
	return dst
}

// ff1 is FF1 of NIST SP 800-38G (algorithm 7, FF1.Encrypt) for radix 10, and
// for numerals of 2 to 38 digits, whose halves fit in 64 bits. It is for
// one goroutine; the block cipher may be shared.
type ff1 struct {
	block cipher.Block
	tweak []byte

	p, head, s [aes.BlockSize]byte // scratch: on the stack they would escape
	q          []byte
}

// encrypt replaces digits (ASCII) by their encryption.
func (f *ff1) encrypt(digits []byte) {
	n := len(digits)
	u := n / 2
	v := n - u
	// b and d of the standard: bytes of the wider half, and of S that is used.
	b := (bits.Len64(pow10(v)-1) + 7) / 8
	d := 4*((b+3)/4) + 4

	p := f.p[:]
	clear(p)
	p[0], p[1], p[2], p[5], p[6], p[7] = 1, 2, 1, 10, 10, byte(u)
	binary.BigEndian.PutUint32(p[8:], uint32(n))
	binary.BigEndian.PutUint32(p[12:], uint32(len(f.tweak)))
	f.block.Encrypt(f.head[:], p)

	// Q = tweak, zeros up to a whole number of blocks, round number, half.
	q := append(f.q[:0], f.tweak...)
	for (len(q)+b+1)%aes.BlockSize != 0 {
		q = append(q, 0)
	}
	round := len(q)
	for range b + 1 {
		q = append(q, 0)
	}
	f.q = q

	left, right := parseDigits(digits[:u]), parseDigits(digits[u:])
	for i := range 10 {
		q[round] = byte(i)
		for j, x := len(q)-1, right; j > round; j-- {
			q[j] = byte(x)
			x >>= 8
		}
		s := f.s[:]
		copy(s, f.head[:])
		for j := 0; j < len(q); j += aes.BlockSize {
			for k := range s {
				s[k] ^= q[j+k]
			}
			f.block.Encrypt(s, s)
		}
		m := u
		if i%2 == 1 {
			m = v
		}
		left, right = right, addMod(left, s[:d], pow10(m))
	}
	putDigits(digits[:u], left)
	putDigits(digits[u:], right)
}

// addMod is a + y mod m, where y is a big-endian number of at most 16 bytes and
// a < m.
func addMod(a uint64, y []byte, m uint64) uint64 {
	var wide [16]byte
	copy(wide[16-len(y):], y)
	hi, lo := binary.BigEndian.Uint64(wide[:8]), binary.BigEndian.Uint64(wide[8:])
	_, r := bits.Div64(hi%m, lo, m)
	sum, carry := bits.Add64(a, r, 0)
	if carry != 0 || sum >= m {
		sum -= m
	}
	return sum
}

func pow10(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= 10
	}
	return p
}

func parseDigits(s []byte) uint64 {
	var v uint64
	for _, c := range s {
		v = v*10 + uint64(c-'0')
	}
	return v
}

func putDigits(s []byte, v uint64) {
	for i := len(s) - 1; i >= 0; i-- {
		s[i] = '0' + byte(v%10)
		v /= 10
	}
}
