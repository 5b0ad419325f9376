package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

func num[T int | int64](n T) string { return fmt.Sprint(n) }

// within tells that got deviates from want by at most the share tol of the
// larger one.
func within(want, got int64, tol float64) bool {
	if want == got {
		return true
	}
	return math.Abs(float64(want)-float64(got)) <= tol*math.Max(math.Abs(float64(want)), math.Abs(float64(got)))
}

func (c *comparison) hits(want, got *es.Summary) {
	c.total(want.Total, got.Total)
	if want.Hits == nil || got.Hits == nil {
		return
	}
	c.compared = true
	if *want.Hits != *got.Hits {
		c.add(Returned, num(*want.Hits), num(*got.Hits))
	}
	c.ids(want, got)
}

// total compares two hits.total. "gte" is a lower bound: it contradicts an exact
// value below it, and says nothing about another bound.
func (c *comparison) total(want, got *es.Total) {
	if want == nil || got == nil {
		return
	}
	wantExact, gotExact := want.Relation != "gte", got.Relation != "gte"
	differs := false
	switch {
	case wantExact && gotExact:
		c.compared = true
		differs = !within(want.Value, got.Value, c.tol.Total)
	case wantExact:
		c.compared = true
		differs = want.Value < got.Value
	case gotExact:
		c.compared = true
		differs = got.Value < want.Value
	default:
		c.compared = c.compared || want.Value == got.Value
	}
	if differs {
		c.add(TotalHits, showTotal(want), showTotal(got))
	}
	if c.ask.ExactTotal && wantExact != gotExact {
		c.add(TotalRelation, showTotal(want), showTotal(got))
	}
}

func showTotal(t *es.Total) string {
	if t.Relation == "gte" {
		return "≥" + num(t.Value)
	}
	return num(t.Value)
}

// ids compares the first hit ids. A sorted page must agree to the letter. A
// ranking by score need only share enough of its ids, unless both answers hold
// every hit there is: then the sets must agree. Of a page whose order sanitising
// changed only the latter is asked.
func (c *comparison) ids(want, got *es.Summary) {
	if len(want.IDs) == 0 || len(got.IDs) == 0 {
		return
	}
	shared := overlap(want.IDs, got.IDs)
	longest := max(len(want.IDs), len(got.IDs))
	show := func() (string, string) { return strings.Join(want.IDs, " "), strings.Join(got.IDs, " ") }
	switch {
	case c.ask.Sorted && !c.reordered || complete(want) && complete(got):
		w, g := show()
		if shared < longest {
			c.add(HitsSet, w, g)
		} else if c.ask.Sorted && !c.reordered && !slices.Equal(want.IDs, got.IDs) {
			c.add(HitsOrder, w, g)
		}
	case c.reordered:
	case float64(shared) < c.tol.Overlap*float64(longest):
		w, g := show()
		c.add(HitsSet, w, g)
	}
}

// complete tells that the ids of a Summary are those of all hits there are.
func complete(s *es.Summary) bool {
	return s.Total != nil && s.Total.Relation != "gte" && s.Total.Value == int64(len(s.IDs))
}

func overlap(a, b []string) int {
	n := 0
	rest := slices.Clone(b)
	for _, x := range a {
		if i := slices.Index(rest, x); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
			n++
		}
	}
	return n
}

// aggs compares bucket aggregations by path: the number of buckets and the
// counts, whatever their order. The counts of a terms aggregation that left
// documents out (sum_other_doc_count) depend on the shard layout and are let
// be.
func (c *comparison) aggs(want, got *es.Summary) {
	if want.Aggs == nil && got.Aggs == nil || slices.Contains(want.Cut, "aggs") || slices.Contains(got.Cut, "aggs") {
		return
	}
	c.compared = true
	if w, g := len(want.Aggs), len(got.Aggs); w != g {
		c.add(Aggs, fmt.Sprintf("%d aggregations", w), fmt.Sprintf("%d aggregations", g))
		return
	}
	for i, w := range want.Aggs {
		g := got.Aggs[i]
		switch {
		case w.Path != g.Path:
			c.add(Aggs, "another aggregation", "")
			return
		case more(w.Other) || more(g.Other):
			continue
		case w.Buckets != g.Buckets:
			c.add(Aggs, num(w.Buckets)+" buckets", num(g.Buckets)+" buckets")
			return
		case !sameCounts(w, g):
			c.add(Aggs, fmt.Sprint(w.Counts), fmt.Sprint(g.Counts))
			return
		}
	}
}

func more(other *int64) bool { return other != nil && *other > 0 }

// sameCounts compares the counts as multisets: buckets of equal count have no
// fixed order. Where only the first of many were kept, which ones those are
// depends on the order, so only complete lists are compared.
func sameCounts(w, g es.Agg) bool {
	if w.Buckets > len(w.Counts) {
		return true
	}
	a, b := slices.Clone(w.Counts), slices.Clone(g.Counts)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// bulk compares the items of a _bulk answer: per operation how many succeeded,
// and the failures by status and error type.
func (c *comparison) bulk(want, got *es.Summary) {
	if want.Bulk == nil || got.Bulk == nil {
		return
	}
	c.compared = true
	w, g := bulkView(want.Bulk), bulkView(got.Bulk)
	if !slices.Equal(w, g) {
		c.add(BulkItems, showBulk(w), showBulk(g))
	}
}

func bulkView(counts []es.BulkCount) []es.BulkCount {
	var out []es.BulkCount
	for _, b := range counts {
		if b.Status < 300 {
			b.Status, b.Error = 200, ""
		}
		i := slices.IndexFunc(out, func(o es.BulkCount) bool { return o.Op == b.Op && o.Status == b.Status && o.Error == b.Error })
		if i < 0 {
			out = append(out, b)
			continue
		}
		out[i].N += b.N
	}
	slices.SortFunc(out, func(a, b es.BulkCount) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Error, b.Error))
	})
	return out
}

func showBulk(counts []es.BulkCount) string {
	var parts []string
	for _, b := range counts {
		s := fmt.Sprintf("%d %s %d", b.N, b.Op, b.Status)
		if b.Error != "" {
			s += " " + b.Error
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

// items compares the answers inside an _msearch one by one.
func (c *comparison) items(want, got *es.Summary) {
	if want.Items == nil || got.Items == nil {
		return
	}
	if w, g := len(want.Items), len(got.Items); w != g {
		c.compared = true
		c.add(MsearchItems, num(w)+" answers", num(g)+" answers")
		return
	}
	bad := 0
	var kinds []string
	for i := range want.Items {
		v := Compare(Answer{want.Items[i].Status, &want.Items[i].Summary}, Answer{got.Items[i].Status, &got.Items[i].Summary},
			Ask{Fidelity: c.ask.Fidelity, FidWhy: c.ask.FidWhy, TerminateAfter: c.ask.TerminateAfter}, c.tol)
		c.compared = c.compared || v.Why == ""
		if len(v.Findings) > 0 {
			bad++
			for _, f := range v.Findings {
				if !slices.Contains(kinds, string(f.Kind)) {
					kinds = append(kinds, string(f.Kind))
				}
			}
		}
	}
	if bad > 0 {
		c.add(MsearchItems, num(len(want.Items))+" answers", fmt.Sprintf("%d differ in %s", bad, strings.Join(kinds, ", ")))
	}
}
