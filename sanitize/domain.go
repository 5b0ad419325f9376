package sanitize

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// The domains: equal tokens in one domain get equal pseudonyms, in two domains
// unrelated ones.
const (
	domainText    = "text"
	domainIDs     = "ids"
	domainIndices = "indices"
	domainHandles = "handles"
)

// domainKeys is what is derived once for a domain and shared, read-only, by all
// workers.
type domainKeys struct {
	macKey   []byte
	ff1Block cipher.Block
	digits   *digitTables
	ip       cipher.Block
	ipPad    [16]byte
	cjk      cipher.Block
	single   singleTables
	shift    int // days that dates move by: whole weeks

	*moreKeys // what only rules need; nil without rules
}

// moreKeys are the keys of actions that rules give to fields.
type moreKeys struct {
	chars         *alphabets
	subst         [alphabetCount][]uint32 // keyed shuffles, for charsub
	chain, choose cipher.Block            // for prefix
	shiftDays     int                     // that dates move by: any number of days
	offset        int64                   // steps that amounts move by
	turn          int64                   // 256ths of a full turn that longitudes move by
}

func newMoreKeys(k Key, salt []byte, name string, chars *alphabets) (*moreKeys, error) {
	m := &moreKeys{chars: chars}
	var err error
	sub := func(primitive string, size int) []byte {
		var b []byte
		if err == nil {
			b, err = k.derive(salt, name, primitive, size)
		}
		return b
	}
	substKey, chainKey, chooseKey, offsets := sub("charsub", 32), sub("prefix", 32), sub("prefix-choice", 32), sub("offsets", 24)
	if err != nil {
		return nil, err
	}
	if m.chain, err = aes.NewCipher(chainKey); err != nil {
		return nil, err
	}
	if m.choose, err = aes.NewCipher(chooseKey); err != nil {
		return nil, err
	}
	stream, err := newKeyStream(substKey)
	if err != nil {
		return nil, err
	}
	for i, set := range chars.sets {
		m.subst[i] = stream.shuffle(uint32(len(set)))
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(offsets[8*i:]) >> 1) }
	m.shiftDays = -int(365 + at(0)%3285) // one to ten years back
	m.offset = 1000 + at(1)%1_000_000
	m.turn = 1 + at(2)%255
	return m, nil
}

func newDomainKeys(k Key, salt []byte, name string) (*domainKeys, error) {
	d := &domainKeys{}
	var err error
	sub := func(primitive string, size int) []byte {
		var b []byte
		if err == nil {
			b, err = k.derive(salt, name, primitive, size)
		}
		return b
	}
	d.macKey = sub("hmac", 32)
	ff1Key, permKey, singleKey := sub("ff1", 32), sub("perm", 32), sub("single", 32)
	ipKey, ipPad, cjkKey, shift := sub("ip", 32), sub("ip-pad", 16), sub("cjk", 32), sub("shift", 8)
	if err != nil {
		return nil, err
	}
	if d.ff1Block, err = aes.NewCipher(ff1Key); err != nil {
		return nil, err
	}
	if d.ip, err = aes.NewCipher(ipKey); err != nil {
		return nil, err
	}
	if d.cjk, err = aes.NewCipher(cjkKey); err != nil {
		return nil, err
	}
	perm, err := newKeyStream(permKey)
	if err != nil {
		return nil, err
	}
	single, err := newKeyStream(singleKey)
	if err != nil {
		return nil, err
	}
	d.digits, d.single = newDigitTables(perm), newSingleTables(single)
	copy(d.ipPad[:], ipPad)
	d.shift = -7 * (52 + int(binary.BigEndian.Uint64(shift)%469)) // one to ten years back
	return d, nil
}

// domain makes pseudonyms in one domain for one worker.
type domain struct {
	*domainKeys
	style *style
	mac   hash.Hash
	ff1   ff1
	cache *wordCache
	words nearWords
	ahead nearAt
	post  *postcheck // shared by the worker's domains
	orig  *runSet    // of post: what was replaced
	days  int        // that dates move by

	sum, low, num []byte // scratch
	block, state  [aes.BlockSize]byte
	vec           []uint16
}

// style says how a domain's pseudonyms are made: a preset's, or a rule's.
type style struct {
	form       form
	shiftDates bool // false: dates are kept
	keepPlaces bool // "lat,lon" and WKT strings are kept
	keep       map[string]bool

	runwise     bool // one of the next three holds
	fold        bool // words are made of runs without marks
	stem        bool // words are made of English stems
	splitCase   bool // runs are split where the case changes
	shapeless   bool // dates, addresses and UUIDs are nothing special
	magnitude   bool // digits fit the integer types that they fitted
	keepPrivate bool // private addresses stay
	days        bool // dates move by days, not by weeks

	step   amount // of shift, bucket and geo-grid
	digits int    // that bucket leaves
}

func newDomain(k *domainKeys, s *style, post *postcheck, cacheBits int) *domain {
	d := &domain{
		domainKeys: k,
		style:      s,
		mac:        hmac.New(sha256.New, k.macKey),
		ff1:        ff1{block: k.ff1Block},
		cache:      newWordCache(cacheBits - 1),
		words:      newNearWords(cacheBits),
		post:       post,
		orig:       post.orig,
		days:       k.shift,
	}
	if s.days {
		d.days = k.shiftDays
	}
	return d
}

// remember notes the runs of a text for the post-check: they are about to be
// replaced.
func (d *domain) remember(s []byte) { d.post.each(s, d.orig) }

// rememberMade notes the runs of a pseudonym that is as short as its original, so
// that it may be another original by chance: that is no leak.
func (d *domain) rememberMade(s []byte) { d.post.each(s, d.post.kept) }

// prf is HMAC-SHA256 of a tag and of b, good until the next call. Tags begin
// with a zero byte, so that no run of letters equals a tagged input.
func (d *domain) prf(tag string, b []byte) []byte {
	d.mac.Reset()
	if tag != "" {
		d.num = append(d.num[:0], tag...)
		d.mac.Write(d.num)
	}
	d.mac.Write(b)
	d.sum = d.mac.Sum(d.sum[:0])
	return d.sum
}

// wordLen is the length of a pseudonym, wordAlphabet what it is made of:
// consonants without a vowel make no word of a language, pass every analyser's
// tokenizer whole, and no stemmer alters them into each other.
const (
	wordLen      = 13
	wordRoom     = 16 // a word with what fills it up to a size that is copied at once
	wordAlphabet = "bcdfghjkmpqvwxz"
)

// putWord writes the word that stands for the first 8 bytes of sum, in base 15.
func putWord(dst *[wordRoom]byte, sum []byte) {
	v := binary.BigEndian.Uint64(sum)
	for i := range wordLen {
		dst[i] = wordAlphabet[v%uint64(len(wordAlphabet))]
		v /= uint64(len(wordAlphabet))
	}
}

// digest appends a keyed digest of b in two words: for handles and for names
// that would be too long.
func (d *domain) digest(dst, b []byte) []byte {
	sum := d.prf("\x00digest\x00", b)
	var w [wordRoom]byte
	putWord(&w, sum)
	dst = append(dst, w[:wordLen]...)
	putWord(&w, sum[8:])
	return append(dst, w[:wordLen]...)
}

// wordCache remembers the words of runs of letters that are too long for nearWords:
// two-way, a new run takes the place of an older one with the same hash bits. Runs
// longer than cacheKey are not remembered.
type wordCache struct {
	entries []cacheEntry
	mask    uint64
}

const cacheKey = 40

// cacheWords is a run of up to cacheKey bytes, padded with zeros.
type cacheWords [cacheKey / 8]uint64

// cacheEntry is a run and its word.
type cacheEntry struct {
	key   cacheWords
	word  [wordRoom]byte
	round uint32 // of the post-check's set that the run was added to last
	keep  bool
}

func newWordCache(bits int) *wordCache {
	return &wordCache{entries: make([]cacheEntry, 1<<bits), mask: 1<<bits - 1}
}

func (c *wordCache) get(h uint64, key *cacheWords) *cacheEntry {
	e := &c.entries[h&c.mask]
	if e.key == *key {
		return e
	}
	e = &c.entries[(h^1)&c.mask]
	if e.key == *key {
		return e
	}
	return nil
}

func (c *wordCache) put(h uint64, key *cacheWords, e cacheEntry) *cacheEntry {
	e.key = *key
	to := &c.entries[h&c.mask]
	c.entries[(h^1)&c.mask] = *to
	*to = e
	return to
}

// pack gives a token as cacheWords; ok is false where it is too long.
func pack(s []byte) (k cacheWords, ok bool) {
	if len(s) > cacheKey {
		return k, false
	}
	for i := 0; i < len(s); i += 8 {
		k[i/8] = loadWord(s, i, min(8, len(s)-i))
	}
	return k, true
}
