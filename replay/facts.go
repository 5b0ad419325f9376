package replay

import (
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// requestFacts are the facts of a request that a comparison needs.
func requestFacts(op es.Op, s *Shot) (exactTotal, sorted bool) {
	_, query, _ := strings.Cut(s.Target, "?")
	if op != es.OpMsearch {
		f := es.RequestFacts(op, query, s.Body)
		return f.ExactTotal(), f.Sorted()
	}
	// Of many searches in one request, what holds for all of them.
	var m es.MsearchReader
	m.Reset(s.Body)
	exactTotal, sorted = true, true
	n := 0
	for it, err := m.Next(); err == nil; it, err = m.Next() {
		f := es.RequestFacts(es.OpSearch, query, it.Body)
		exactTotal, sorted = exactTotal && f.ExactTotal(), sorted && f.Sorted()
		n++
	}
	return exactTotal && n > 0, sorted && n > 0
}
