package sanitize

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// Blocks of code points that a run is permuted in.
const (
	hanFirst, hanLast           = 0x4E00, 0x9FFF
	hangulFirst, hangulLast     = 0xAC00, 0xD7A3
	hiraganaFirst, hiraganaLast = 0x3041, 0x3096
	katakanaFirst, katakanaLast = 0x30A1, 0x30FA
)

func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r >= hanFirst && r <= hanLast, r >= hangulFirst && r <= hangulLast:
		return true
	case r == 0x30FC, r == 0x30A0: // marks of Katakana that Unicode calls common
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
}

// singleTables are keyed shuffles for runs of one character, by block.
type singleTables [4][]uint32

func cjkBlock(i int) (first, size rune) {
	switch i {
	case 0:
		return hanFirst, hanLast - hanFirst + 1
	case 1:
		return hangulFirst, hangulLast - hangulFirst + 1
	case 2:
		return hiraganaFirst, hiraganaLast - hiraganaFirst + 1
	}
	return katakanaFirst, katakanaLast - katakanaFirst + 1
}

func newSingleTables(s *keyStream) (t singleTables) {
	for i := range t {
		_, size := cjkBlock(i)
		t[i] = s.shuffle(uint32(size))
	}
	return t
}

// cjkRun appends the pseudonym of a run of Han, Kana and Hangul, as many
// characters long. A run wholly in the Han or wholly in the Hangul block is
// permuted among the runs of its length in that block; any other becomes a run
// of Han by a keyed function, which is injective up to chance (one in
// 20992^length).
func (d *domain) cjkRun(dst, run []byte) []byte {
	n := utf8.RuneCount(run)
	if n >= postCJK {
		d.orig.add(d.orig.hash(run), len(run))
	}
	if n == 1 {
		if out, ok := d.single1(run); ok {
			return utf8.AppendRune(dst, out)
		}
	}
	first, size := cjkBlock(0)
	vec, ok := d.indices(run, first, size)
	if !ok {
		first, size = cjkBlock(1)
		if vec, ok = d.indices(run, first, size); !ok {
			return d.cjkMixed(dst, run, n)
		}
	}
	if n > 1 {
		d.feistel(vec, uint32(size))
	}
	start := len(dst)
	for _, v := range vec {
		dst = utf8.AppendRune(dst, first+rune(v))
	}
	if n >= postCJK && n <= 3 {
		d.post.kept.add(d.orig.hash(dst[start:]), len(dst)-start) // it may be another original by chance
	}
	return dst
}

func (d *domain) single1(run []byte) (rune, bool) {
	r, _ := utf8.DecodeRune(run)
	for i := range d.single {
		first, size := cjkBlock(i)
		if r >= first && r < first+size {
			return first + rune(d.single[i][r-first]), true
		}
	}
	return 0, false
}

// indices gives the run's characters as offsets into a block, good until the
// next call; ok is false when one is outside it.
func (d *domain) indices(run []byte, first, size rune) (vec []uint16, ok bool) {
	vec = d.vec[:0]
	for _, r := range string(run) {
		if r < first || r >= first+size {
			return nil, false
		}
		vec = append(vec, uint16(r-first))
	}
	d.vec = vec
	return vec, true
}

// feistel permutes a vector of two or more numbers below size: ten rounds that
// add to one half a keyed function of the other.
func (d *domain) feistel(vec []uint16, size uint32) {
	half := len(vec) / 2
	a, b := vec[:half], vec[half:]
	for round := range 10 {
		from, to := b, a
		if round%2 == 1 {
			from, to = a, b
		}
		d.stream(byte(round), from)
		for i := range to {
			to[i] = uint16((uint32(to[i]) + d.streamAt(i)%size) % size)
		}
	}
}

// stream keys the numbers of streamAt with a CBC-MAC of round, length and vec.
func (d *domain) stream(round byte, vec []uint16) {
	clear(d.block[:])
	d.block[0] = round
	binary.BigEndian.PutUint32(d.block[1:], uint32(len(vec)))
	d.cjk.Encrypt(d.block[:], d.block[:])
	for len(vec) > 0 {
		n := min(len(vec), len(d.block)/2)
		for i, v := range vec[:n] {
			d.block[2*i] ^= byte(v >> 8)
			d.block[2*i+1] ^= byte(v)
		}
		d.cjk.Encrypt(d.block[:], d.block[:])
		vec = vec[n:]
	}
}

// streamAt is the i-th number of the stream; calls go from 0 up.
func (d *domain) streamAt(i int) uint32 {
	const perBlock = 4
	if i > 0 && i%perBlock == 0 {
		d.block[15] ^= 0x5A
		d.cjk.Encrypt(d.block[:], d.block[:])
	}
	return binary.BigEndian.Uint32(d.block[4*(i%perBlock):])
}

func (d *domain) cjkMixed(dst, run []byte, n int) []byte {
	sum := d.prf("\x00cjk\x00", run)
	copy(d.block[:], sum)
	d.cjk.Encrypt(d.block[:], d.block[:])
	first, size := cjkBlock(0)
	for i := range n {
		dst = utf8.AppendRune(dst, first+rune(d.streamAt(i)%uint32(size)))
	}
	return dst
}
