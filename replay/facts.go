package replay

import (
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// requestFacts notes the facts of a request that a comparison needs.
func (o *Outcome) requestFacts(op es.Op, s *Shot) {
	_, query, _ := strings.Cut(s.Target, "?")
	if op != es.OpMsearch {
		f := es.RequestFacts(op, query, s.Body)
		o.ExactTotal, o.Sorted, o.TerminateAfter = f.ExactTotal(), f.Sorted(), f.TerminateAfter
		return
	}
	// Of many searches in one request, what holds for all of them.
	var m es.MsearchReader
	m.Reset(s.Body)
	exactTotal, sorted := true, true
	n := 0
	for it, err := m.Next(); err == nil; it, err = m.Next() {
		f := es.RequestFacts(es.OpSearch, query, it.Body)
		exactTotal, sorted = exactTotal && f.ExactTotal(), sorted && f.Sorted()
		o.TerminateAfter = o.TerminateAfter || f.TerminateAfter
		n++
	}
	o.ExactTotal, o.Sorted = exactTotal && n > 0, sorted && n > 0
}
