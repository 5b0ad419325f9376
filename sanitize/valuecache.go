package sanitize

import (
	"encoding/binary"
	"math/bits"
)

// valueCache remembers what short strings of documents became: levels, names of hosts
// and of loggers, which come again in almost every document of a bulk. It saves to cut
// them into runs, and to look each run up. An entry is good for one record only: the
// post-check must know the runs of each, and it learns of them where a string is made
// anew.
type valueCache struct {
	entries []valueEntry // empty until the first is put
}

// valueEntry is a string and what stands for it; two cache lines.
type valueEntry struct {
	key    valueKey
	round  uint32 // of the post-check's set
	in, is uint8  // the lengths of the string and of its form
	form   [valueRoom]byte
}

// valueKey is a string of up to valueMax bytes, padded with zeros.
type valueKey [valueMax / 8]uint64

const (
	valueMax   = 32 // bytes of a string
	valueRoom  = 88 // and of its form
	valueSlots = 1 << 10

	valueTries = 32 // in one position, after which half of them must have been worth it
)

// load makes the key of s. ok is false where it is too long, or too near to the end
// of its array to be read in whole words.
func (k *valueKey) load(s []byte) (ok bool) {
	if len(s) > valueMax || cap(s) < valueMax {
		return false
	}
	all := s[:valueMax]
	for i := range k {
		n := max(0, min(8, len(s)-8*i))
		k[i] = binary.LittleEndian.Uint64(all[8*i:]) & (1<<(8*uint(n)) - 1)
	}
	return true
}

func (k *valueKey) hash() uint64 {
	const prime = 0xC2B2AE3D27D4EB4F
	return (k[0]^bits.RotateLeft64(k[2], 32))*hashPrime ^ (k[1]^bits.RotateLeft64(k[3], 32))*prime
}

// slot is where the entry of a key is, if it is remembered.
func (c *valueCache) slot(k *valueKey) *valueEntry {
	if len(c.entries) == 0 {
		c.entries = make([]valueEntry, valueSlots)
	}
	return &c.entries[k.hash()>>48&(valueSlots-1)]
}

// plainValue is domain.tokens of the worker's text domain for a string at a position,
// remembered where strings of that position come again.
func (w *Worker) plainValue(dst, s []byte, at *frameStep) []byte {
	var key valueKey
	if at.tries >= valueTries && 2*at.hits < at.tries || !key.load(s) {
		return w.text.tokens(dst, s)
	}
	if at.tries++; at.tries == 1<<8 {
		at.tries, at.hits = at.tries/2, at.hits/2
	}
	round := w.post.orig.round
	e := w.values.slot(&key)
	if e.key == key && int(e.in) == len(s) && e.round == round {
		at.hits++
		if n := len(dst); cap(dst)-n >= valueRoom {
			*(*[valueRoom]byte)(dst[n : n+valueRoom]) = e.form
			return dst[:n+int(e.is)]
		}
		return append(dst, e.form[:e.is]...)
	}
	start := len(dst)
	dst = w.text.tokens(dst, s)
	if form := dst[start:]; len(form) <= valueRoom {
		e.key, e.round, e.in, e.is = key, round, uint8(len(s)), uint8(len(form))
		copy(e.form[:], form)
	}
	return dst
}
