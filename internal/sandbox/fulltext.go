package sandbox

import (
	"math"
	"strconv"
	"strings"
)

// Parameters of BM25 as Lucene has them.
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// bm25 scores the postings of one field. Its numbers are of living documents
// only, so that they do not depend on what was deleted before.
type bm25 struct {
	ord     int
	average float64 // tokens a document
	idf     float64
}

func (c *compiler) bm25(f *field, df int) bm25 {
	t := c.ix.text
	n := float64(max(t.having[f.ord], int64(df)))
	average := 1.0
	if t.having[f.ord] > 0 {
		average = max(float64(t.tokens[f.ord])/float64(t.having[f.ord]), 1)
	}
	return bm25{ord: f.ord, average: average, idf: math.Log(1 + (n-float64(df)+0.5)/(float64(df)+0.5))}
}

// score of a document with freq occurrences.
func (b bm25) score(d *doc, freq int) float64 {
	tf, length := float64(freq), float64(d.lens[b.ord])
	return (bm25K1 + 1) * b.idf * tf / (tf + bm25K1*(1-bm25B+bm25B*length/b.average))
}

func (c *compiler) living(ps []posting) int {
	n := 0
	for _, p := range ps {
		if c.ix.alive(p.d) {
			n++
		}
	}
	return n
}

// matchTerms is a document set that holds at least some of the terms.
func (c *compiler) matchTerms(f *field, terms []string, least int) (matcher, error) {
	if len(terms) == 0 || least > len(terms) {
		return nothing{}, nil
	}
	if c.clauses += len(terms) - 1; c.clauses > maxClauses {
		return nil, c.tooMany()
	}
	out := &scored{scores: make([]float64, len(c.ix.docs))}
	var counts []uint16
	if least > 1 {
		counts = make([]uint16, len(c.ix.docs))
	}
	for _, term := range terms {
		ps, err := c.ix.text.postings(f.path, term, false)
		if err != nil {
			return nil, err
		}
		b := bm25{}
		if c.scoring {
			b = c.bm25(f, c.living(ps))
		}
		for _, p := range ps {
			s := 1.0
			if c.scoring {
				s = b.score(p.d, p.freq)
			}
			out.scores[p.d.slot] += s
			if counts != nil {
				counts[p.d.slot]++
			}
		}
	}
	for i, n := range counts {
		if int(n) < least {
			out.scores[i] = 0
		}
	}
	return out, nil
}

// matchPhrase is a document set that holds the terms one after the other.
func (c *compiler) matchPhrase(f *field, terms []string) (matcher, error) {
	if len(terms) < 2 {
		return c.matchTerms(f, terms, 1)
	}
	idf := 0.0
	starts := map[*doc][]uint64{} // where the phrase so far began
	for i, term := range terms {
		ps, err := c.ix.text.postings(f.path, term, true)
		if err != nil {
			return nil, err
		}
		idf += c.bm25(f, c.living(ps)).idf
		next := make(map[*doc][]uint64, len(ps))
		for _, p := range ps {
			if i == 0 {
				next[p.d] = p.at
			} else if both := continued(starts[p.d], p.at, uint64(i)); len(both) > 0 {
				next[p.d] = both
			}
		}
		starts = next
	}
	b := c.bm25(f, 0)
	b.idf = idf
	out := &scored{scores: make([]float64, len(c.ix.docs))}
	for d, at := range starts {
		out.scores[d.slot] = b.score(d, len(at))
	}
	return out, nil
}

// continued keeps the starts that have a position at the distance.
func continued(starts, at []uint64, distance uint64) []uint64 {
	var out []uint64
	for _, s := range starts {
		for _, a := range at {
			if s+distance == a {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// matchWords is a document set with any term that a test accepts; all score 1.
func (c *compiler) matchWords(f *field, accept func(string) bool) (matcher, error) {
	words, err := c.ix.text.dictionary(f.path, accept)
	if err != nil {
		return nil, err
	}
	out := &scored{scores: make([]float64, len(c.ix.docs))}
	for _, w := range words {
		ps, err := c.ix.text.postings(f.path, w, false)
		if err != nil {
			return nil, err
		}
		for _, p := range ps {
			out.scores[p.d.slot] = 1
		}
	}
	return out, nil
}

// leastOf reads a minimum_should_match: "2", "-1", "75%", "-25%".
func leastOf(s string, clauses int) (int, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(s), "%")
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, illegal("minimum_should_match [%s] is not supported by the esshadow sandbox", s)
	}
	if percent {
		part := clauses * n / 100 // cut towards zero, as Lucene does
		n = part
		if strings.HasPrefix(text, "-") {
			n = clauses + part
		}
	} else if n < 0 {
		n = clauses + n
	}
	return max(n, 0), nil
}
