package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"
)

// Options say what a Scanner looks for and how far it goes.
type Options struct {
	// Words must not occur in any writing. They are kept in memory only.
	Words []string
	// Detect looks for what looks like personal data or a secret.
	Detect bool
	// Runs, where it is not nil, is told every maximal run of letters and every
	// one of digits, folded, of every text; true makes it a finding of kind mark.
	Runs func(run []byte) bool
	// Depth is how many encodings may lie within each other; 0: 4.
	Depth int
	// Expand bounds what one piece of compressed data expands to, and all that is
	// decoded of one line; 0: 64 MiB.
	Expand int64
	// List bounds the findings that are listed; all are counted. 0: 1000.
	List int
	// Unseal gives the lines of a sealed file, one at a time and without the line
	// feed, as the file holds them once it is open; a line may be read until line
	// returns. nil: sealed files cannot be looked into.
	Unseal func(path string, line func([]byte)) error
}

// Finding is one value that should not be there.
type Finding struct {
	Segment string `json:"segment,omitempty"` // file, or what else was scanned
	Seq     int64  `json:"seq"`               // of the record, -1 outside of records
	Field   string `json:"field"`             // position in the record, such as body.query.match
	Kind    string `json:"kind"`              // word, mark, or a detector's name
	Way     string `json:"way,omitempty"`     // how it was encoded, outermost first
	Digest  string `json:"digest"`            // of the value, under a key of this run alone

	Word int `json:"-"` // index of the word, -1 for other kinds
}

// Trouble is a place that could not be looked into.
type Trouble struct {
	Segment string `json:"segment,omitempty"`
	Seq     int64  `json:"seq"`
	What    string `json:"what"`
}

// Scanner looks through texts. One goroutine uses it.
type Scanner struct {
	opt   Options
	words *wordIndex
	key   []byte
	seed  maphash.Seed
	cards [20]float64 // odds of card numbers by length

	report Report
	chance map[string]*Chance
	listed map[string]bool // findings of the line at hand

	at     Finding        // position of the text at hand
	walk   *walker        // knows the position in JSON; nil: it is in at
	coarse bool           // the text at hand holds others that were looked at
	sealed bool           // the header of the file at hand says so
	seen   map[uint64]int // hash of a decoded text: its depth
	budget int64
}

// New makes a Scanner. The error names a word, by its number, that cannot be
// looked for.
func New(opt Options) (*Scanner, error) {
	if opt.Depth == 0 {
		opt.Depth = 4
	}
	if opt.Expand == 0 {
		opt.Expand = 64 << 20
	}
	if opt.List == 0 {
		opt.List = 1000
	}
	words, err := newWordIndex(opt.Words)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	s := &Scanner{
		opt: opt, words: words, key: make([]byte, 32), seed: maphash.MakeSeed(),
		chance: make(map[string]*Chance), listed: make(map[string]bool), seen: make(map[uint64]int),
	}
	if _, err := rand.Read(s.key); err != nil {
		return nil, fmt.Errorf("audit: make key: %w", err)
	}
	s.cards = oddsOfCards()
	s.report.ByKind = make(map[string]int)
	return s, nil
}

// Text looks through a text that is no record, such as a log or a page of
// metrics. name stands for it in findings.
func (s *Scanner) Text(name string, text []byte) {
	s.begin(name, -1)
	for i, line := range bytes.Split(text, []byte{'\n'}) {
		s.at.Field = fmt.Sprintf("line %d", i+1)
		s.text(line, 0, "", true)
	}
	s.at.Field, s.coarse = "text", true // what goes over several lines
	s.text(text, 0, "", false)
	s.report.Bytes += int64(len(text))
}

// begin starts a new unit: a line of a capture, a text.
func (s *Scanner) begin(segment string, seq int64) {
	s.coarse, s.walk = false, nil
	s.at = Finding{Segment: segment, Seq: seq}
	s.budget = 16 * s.opt.Expand
	clear(s.seen)
	clear(s.listed)
}

// text looks through one text and all that is encoded in it. detect is false
// where the numbers of a record itself stand.
func (s *Scanner) text(text []byte, depth int, way string, detect bool) {
	if len(text) == 0 {
		return
	}
	if depth > 0 {
		h := maphash.Bytes(s.seed, text)
		if before, seen := s.seen[h]; seen && before <= depth {
			return // looked into before, in this line and as deep
		}
		s.seen[h] = depth
	}
	if s.budget -= int64(len(text)); s.budget < 0 {
		s.trouble("too much encoded data in one line")
		return
	}
	readable := printable(text)
	s.match(text, readable, way)
	if readable && detect && s.opt.Detect {
		s.detect(clean(text), way)
	}
	if depth >= s.opt.Depth {
		return
	}
	deeper := func(d decoding) {
		w := d.way
		if way != "" {
			w = way + ">" + d.way
		}
		s.text(d.text, depth+1, w, detect)
	}
	if !readable {
		inflated(text, s.opt.Expand, deeper, func(err error) { s.trouble("compressed data " + err.Error()) })
		return
	}
	decodings(text, deeper)
	if plain := clean(text); len(plain) != len(text) {
		decodings(plain, deeper)
	}
}

// match looks for words and marks.
func (s *Scanner) match(text []byte, readable bool, way string) {
	shortest := minBinaryWord
	if readable {
		shortest = minWord
	}
	folded := lower(clean(text))
	found := func(word int) { s.found("word", s.words.words[word], way, word) }
	s.words.find(folded, shortest, found)
	if s.opt.Runs != nil {
		s.runs(folded, way)
	}
	if !readable {
		return
	}
	if joined := squeeze(folded); joined != nil {
		s.words.find(joined, shortest, found)
		if s.opt.Runs != nil {
			s.runs(joined, way)
		}
	}
}

func (s *Scanner) runs(text []byte, way string) {
	for i := 0; i < len(text); {
		is := isLetter
		switch {
		case isDigit(text[i]):
			is = isDigit
		case !isLetter(text[i]):
			i++
			continue
		}
		start := i
		for i < len(text) && is(text[i]) {
			i++
		}
		if s.opt.Runs(text[start:i]) {
			s.found("mark", text[start:i], way, -1)
		}
	}
}

// here is the position of the text at hand.
func (s *Scanner) here() Finding {
	f := s.at
	if s.walk != nil {
		f.Field = s.walk.path()
	}
	return f
}

// found notes a finding; one value at one position counts once, however many
// writings of it are there.
func (s *Scanner) found(kind string, value []byte, way string, word int) {
	f := s.here()
	f.Kind, f.Way, f.Word, f.Digest = kind, way, word, s.digest(value)
	sum := kind + "\x00" + f.Digest
	id := f.Field + "\x00" + sum
	if s.listed[id] || s.coarse && s.listed[sum] {
		return
	}
	s.listed[id], s.listed[sum] = true, true
	s.report.Found++
	s.report.ByKind[kind]++
	if len(s.report.Findings) < s.opt.List {
		s.report.Findings = append(s.report.Findings, f)
	}
}

func (s *Scanner) digest(value []byte) string {
	h := hmac.New(sha256.New, s.key)
	h.Write(value)
	return hex.EncodeToString(h.Sum(nil)[:6])
}

func (s *Scanner) trouble(what string) {
	s.report.Undecoded++
	if len(s.report.Troubles) < s.opt.List {
		s.report.Troubles = append(s.report.Troubles, Trouble{s.at.Segment, s.at.Seq, what})
	}
}
