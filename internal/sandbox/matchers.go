package sandbox

import (
	"strings"
)

// matcher says whether a document matches, and how well.
type matcher interface {
	match(d *doc) (score float64, ok bool)
}

type constant struct{ score float64 }

func (m constant) match(*doc) (float64, bool) { return m.score, true }

type nothing struct{}

func (nothing) match(*doc) (float64, bool) { return 0, false }

// predicate gives every document that passes a test the same score.
type predicate struct {
	score float64
	test  func(*doc) bool
}

func (m *predicate) match(d *doc) (float64, bool) { return m.score, m.test(d) }

// anyValue tests the values of a field.
func anyValue(f *field, score float64, test func(*value) bool) matcher {
	return &predicate{score: score, test: func(d *doc) bool {
		if f.ord >= len(d.cols) {
			return false
		}
		vs := d.cols[f.ord]
		for i := range vs {
			if test(&vs[i]) {
				return true
			}
		}
		return false
	}}
}

// oneString is anyValue for equality with one text, the most frequent filter.
type oneString struct {
	ord   int
	want  string
	score float64
}

func (m *oneString) match(d *doc) (float64, bool) {
	if m.ord >= len(d.cols) {
		return 0, false
	}
	vs := d.cols[m.ord]
	for i := range vs {
		if vs[i].s == m.want {
			return m.score, true
		}
	}
	return 0, false
}

// wholeRange matches whole numbers in [lo, hi].
type wholeRange struct {
	ord    int
	lo, hi int64
	score  float64
}

func (m *wholeRange) match(d *doc) (float64, bool) {
	if m.ord >= len(d.cols) {
		return 0, false
	}
	vs := d.cols[m.ord]
	for i := range vs {
		if vs[i].n >= m.lo && vs[i].n <= m.hi {
			return m.score, true
		}
	}
	return 0, false
}

// scored holds the scores, above zero, of documents by slot.
type scored struct{ scores []float64 }

func (m *scored) match(d *doc) (float64, bool) {
	if d.slot >= len(m.scores) {
		return 0, false
	}
	s := m.scores[d.slot]
	return s, s > 0
}

type boosted struct {
	m     matcher
	boost float64
}

func (m *boosted) match(d *doc) (float64, bool) {
	s, ok := m.m.match(d)
	return s * m.boost, ok
}

// fixed gives what matches a constant score.
type fixed struct {
	m     matcher
	score float64
}

func (m *fixed) match(d *doc) (float64, bool) {
	_, ok := m.m.match(d)
	return m.score, ok
}

// best takes the best of several scores, and tie times the others.
type best struct {
	of  []matcher
	tie float64
}

func (m *best) match(d *doc) (float64, bool) {
	top, sum, any := 0.0, 0.0, false
	for _, q := range m.of {
		if s, ok := q.match(d); ok {
			any = true
			sum += s
			top = max(top, s)
		}
	}
	return top + m.tie*(sum-top), any
}

// boolean joins clauses.
type boolMatcher struct {
	must, filter, should, not []matcher
	least                     int // should clauses that have to match
}

func (m *boolMatcher) match(d *doc) (float64, bool) {
	for _, q := range m.filter {
		if _, ok := q.match(d); !ok {
			return 0, false
		}
	}
	score := 0.0
	for _, q := range m.must {
		s, ok := q.match(d)
		if !ok {
			return 0, false
		}
		score += s
	}
	for _, q := range m.not {
		if _, ok := q.match(d); ok {
			return 0, false
		}
	}
	n := 0
	for _, q := range m.should {
		if s, ok := q.match(d); ok {
			score += s
			n++
		}
	}
	return score, n >= m.least
}

// stringTest is a test of one text, whatever its case if fold.
func stringTest(want string, fold bool) func(*value) bool {
	if fold {
		return func(v *value) bool { return strings.EqualFold(v.s, want) }
	}
	return func(v *value) bool { return v.s == want }
}
