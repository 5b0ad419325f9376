package audit

import (
	"bytes"
	"errors"
	"fmt"
)

// Bounds of words: shorter ones occur everywhere, and in bytes that are no text
// everything short occurs by chance.
const (
	minWord       = 3
	minBinaryWord = 6
	prefixSize    = 8
)

// ErrShortWord says that a word is too short to look for.
var ErrShortWord = errors.New("word is shorter than three bytes")

// wordIndex finds any of many words in a text, by the hash of their first bytes.
type wordIndex struct {
	words  [][]byte        // folded
	digits [][]byte        // the digits of words that are a number in some writing, else nil
	size   int             // of the prefixes
	first  [1 << 10]uint64 // bit for the first two bytes of each
	filter [1 << 14]uint64 // bit for the hash of the prefix of each
	byHash map[uint64][]int32
}

func newWordIndex(words []string) (*wordIndex, error) {
	x := &wordIndex{size: prefixSize, byHash: make(map[uint64][]int32, len(words))}
	for i, w := range words {
		folded := foldWord(w)
		if len(folded) < minWord {
			return nil, fmt.Errorf("word %d: %w", i+1, ErrShortWord)
		}
		x.words = append(x.words, folded)
		x.digits = append(x.digits, numberOf(folded))
		x.size = min(x.size, len(folded))
		if d := x.digits[i]; d != nil {
			x.size = min(x.size, len(d))
		}
	}
	for i, w := range x.words {
		x.put(w, int32(i))
		if d := x.digits[i]; d != nil && !bytes.Equal(d, w) {
			x.put(d, int32(i))
		}
	}
	return x, nil
}

// numberOf is the digits of a word of digits and separators, eight at least.
func numberOf(w []byte) []byte {
	var out []byte
	for _, c := range w {
		switch {
		case isDigit(c):
			out = append(out, c)
		case !separators([]byte{c}):
			return nil
		}
	}
	if len(out) < 8 {
		return nil
	}
	return out
}

func (x *wordIndex) put(w []byte, i int32) {
	h := hashPrefix(w[:x.size])
	two := uint(w[0])<<8 | uint(w[1])
	x.first[two>>6] |= 1 << (two & 63)
	x.filter[h>>6&(1<<14-1)] |= 1 << (h & 63)
	x.byHash[h] = append(x.byHash[h], i)
}

func hashPrefix(b []byte) uint64 {
	h := uint64(1469598103934665603)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h ^ h>>29
}

// find calls yield with every word that occurs in folded text of at least
// shortest bytes.
func (x *wordIndex) find(text []byte, shortest int, yield func(word int)) {
	if len(x.words) == 0 {
		return
	}
	for i := 0; i+x.size <= len(text); i++ {
		if two := uint(text[i])<<8 | uint(text[i+1]); x.first[two>>6]&(1<<(two&63)) == 0 {
			continue
		}
		h := hashPrefix(text[i : i+x.size])
		if x.filter[h>>6&(1<<14-1)]&(1<<(h&63)) == 0 {
			continue
		}
		for _, w := range x.byHash[h] {
			for _, form := range [][]byte{x.words[w], x.digits[w]} {
				if len(form) >= shortest && bytes.HasPrefix(text[i:], form) {
					yield(int(w))
					break
				}
			}
		}
	}
}
