package diff

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/es"
)

func ptr[T any](v T) *T { return &v }

func search(total int64, rel string, ids ...string) *es.Summary {
	return &es.Summary{TimedOut: ptr(false), Shards: &es.Shards{Total: 1, Successful: 1}, Total: &es.Total{Value: total, Relation: rel}, Hits: ptr(len(ids)), IDs: ids}
}

func with(s *es.Summary, change func(*es.Summary)) *es.Summary {
	change(s)
	return s
}

func ok(s *es.Summary) Answer { return Answer{200, s} }

func TestCompare(t *testing.T) {
	count := func(n int64) *es.Summary { return &es.Summary{Count: ptr(n)} }
	bulk := func(b ...es.BulkCount) *es.Summary { return &es.Summary{Bulk: b} }
	agg := func(path string, other int64, counts ...int64) *es.Summary {
		s := search(9, "eq")
		s.Aggs = []es.Agg{{Path: path, Buckets: len(counts), Counts: counts, Other: ptr(other)}}
		return s
	}
	for name, c := range map[string]struct {
		want, got Answer
		ask       Ask
		kinds     []Kind
		why       Why
	}{
		"same search":                    {want: ok(search(3, "eq", "a", "b", "c")), got: ok(search(3, "eq", "a", "b", "c"))},
		"fewer hits":                     {want: ok(search(3, "eq", "a", "b", "c")), got: ok(search(2, "eq", "a", "b")), kinds: []Kind{TotalHits, Returned, HitsSet}},
		"another status":                 {want: ok(search(3, "eq")), got: Answer{404, &es.Summary{}}, kinds: []Kind{Status}},
		"404 then 200":                   {want: Answer{404, &es.Summary{}}, got: ok(search(3, "eq")), kinds: []Kind{Status}},
		"both 404":                       {want: Answer{404, &es.Summary{Error: "x"}}, got: Answer{404, &es.Summary{Error: "x"}}},
		"both 400, other types":          {want: Answer{400, &es.Summary{Error: "x"}}, got: Answer{400, &es.Summary{Error: "y"}}, kinds: []Kind{ErrorType}},
		"created and updated":            {want: Answer{201, &es.Summary{Result: "created"}}, got: ok(&es.Summary{Result: "updated"})},
		"updated and noop":               {want: ok(&es.Summary{Result: "updated"}), got: ok(&es.Summary{Result: "noop"}), kinds: []Kind{Result}},
		"source throttled":               {want: Answer{429, &es.Summary{}}, got: ok(search(1, "eq")), why: SourceOverload},
		"source gave no answer":          {want: Answer{0, nil}, got: ok(search(1, "eq")), why: NoAnswer},
		"broken by sanitising":           {want: ok(search(1, "eq")), got: ok(search(0, "eq")), ask: Ask{Fidelity: "broken"}, why: FidelityBroken},
		"source timed out":               {want: ok(with(search(1, "eq"), func(s *es.Summary) { s.TimedOut = ptr(true) })), got: ok(search(2, "eq")), why: SourceTimedOut},
		"target timed out":               {want: ok(search(1, "eq")), got: ok(with(search(0, "eq"), func(s *es.Summary) { s.TimedOut = ptr(true) })), kinds: []Kind{TimedOut}},
		"source lost shards":             {want: ok(with(search(1, "eq"), func(s *es.Summary) { s.Shards.Failed = 1 })), got: ok(search(2, "eq")), why: SourcePartial},
		"target lost shards":             {want: ok(search(1, "eq")), got: ok(with(search(0, "eq"), func(s *es.Summary) { s.Shards.Failed = 1 })), kinds: []Kind{ShardFailures}},
		"target still running":           {want: ok(search(1, "eq")), got: ok(with(search(0, "eq"), func(s *es.Summary) { s.Running = ptr(true) })), kinds: []Kind{Partial}},
		"both complete, one says early":  {want: ok(search(1, "eq")), got: ok(with(search(1, "eq"), func(s *es.Summary) { s.Early = ptr(true) }))},
		"asked to stop early":            {want: ok(with(search(1, "eq"), func(s *es.Summary) { s.Early = ptr(true) })), got: ok(search(9, "eq")), ask: Ask{TerminateAfter: true}, why: SourcePartial},
		"unreadable target":              {want: ok(search(1, "eq")), got: ok(&es.Summary{Unreadable: "json"}), why: Unreadable},
		"bound that holds":               {want: ok(search(20000, "eq")), got: ok(search(10000, "gte"))},
		"bound that contradicts":         {want: ok(search(5000, "eq")), got: ok(search(10000, "gte")), kinds: []Kind{TotalHits}},
		"bound on the source holds":      {want: ok(search(10000, "gte")), got: ok(search(20000, "eq"))},
		"bound on the source broken":     {want: ok(search(10000, "gte")), got: ok(search(9999, "eq")), kinds: []Kind{TotalHits}},
		"two bounds":                     {want: ok(search(10000, "gte")), got: ok(search(10000, "gte"))},
		"exact asked, bound given":       {want: ok(search(20000, "eq")), got: ok(search(10000, "gte")), ask: Ask{ExactTotal: true}, kinds: []Kind{TotalRelation}},
		"sorted page in another order":   {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "b", "a")), ask: Ask{Sorted: true}, kinds: []Kind{HitsOrder}},
		"sort by pseudonyms, other page": {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "x", "y")), ask: Ask{Sorted: true, Fidelity: "approx", FidWhy: "sort"}},
		"sort by pseudonyms, all hits":   {want: ok(search(2, "eq", "a", "b")), got: ok(search(2, "eq", "b", "c")), ask: Ask{Sorted: true, Fidelity: "approx", FidWhy: "sort"}, kinds: []Kind{HitsSet}},
		"sort by pseudonyms, reversed":   {want: ok(search(2, "eq", "a", "b")), got: ok(search(2, "eq", "b", "a")), ask: Ask{Sorted: true, Fidelity: "approx", FidWhy: "sort"}},
		"ranking in another order":       {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "b", "a"))},
		"ranking that shares half":       {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "c", "a"))},
		"ranking that shares nothing":    {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "c", "d")), kinds: []Kind{HitsSet}},
		"sorted page of other documents": {want: ok(search(50, "eq", "a", "b")), got: ok(search(50, "eq", "a", "c")), ask: Ask{Sorted: true}, kinds: []Kind{HitsSet}},
		"all hits, one other":            {want: ok(search(2, "eq", "a", "b")), got: ok(search(2, "eq", "a", "c")), kinds: []Kind{HitsSet}},
		"total filtered out":             {want: ok(&es.Summary{Hits: ptr(1)}), got: ok(&es.Summary{Hits: ptr(1)})},
		"nothing in common":              {want: ok(&es.Summary{}), got: ok(&es.Summary{}), why: NothingSaid},
		"count":                          {want: ok(count(3)), got: ok(count(4)), kinds: []Kind{Count}},
		"same count":                     {want: ok(count(3)), got: ok(count(3))},
		"found":                          {want: ok(&es.Summary{Found: ptr(2)}), got: ok(&es.Summary{Found: ptr(1)}), kinds: []Kind{Found}},
		"buckets in another order":       {want: ok(agg("p", 0, 5, 3, 1)), got: ok(agg("p", 0, 1, 5, 3))},
		"a bucket less":                  {want: ok(agg("p", 0, 5, 3, 1)), got: ok(agg("p", 0, 5, 3)), kinds: []Kind{Aggs}},
		"another count":                  {want: ok(agg("p", 0, 5, 3)), got: ok(agg("p", 0, 5, 2)), kinds: []Kind{Aggs}},
		"counts that are approximate":    {want: ok(agg("p", 7, 5, 3)), got: ok(agg("p", 7, 5, 2))},
		"aggregation missing":            {want: ok(agg("p", 0, 5)), got: ok(search(9, "eq")), kinds: []Kind{Aggs}},
		"bulk created or updated":        {want: ok(bulk(es.BulkCount{Op: "index", Status: 201, N: 3})), got: ok(bulk(es.BulkCount{Op: "index", Status: 200, N: 2}, es.BulkCount{Op: "index", Status: 201, N: 1}))},
		"bulk with rejected items":       {want: ok(bulk(es.BulkCount{Op: "index", Status: 201, N: 3})), got: ok(bulk(es.BulkCount{Op: "index", Status: 201, N: 2}, es.BulkCount{Op: "index", Status: 429, Error: "es_rejected_execution_exception", N: 1})), kinds: []Kind{BulkItems}},
		"same type, another cause":       {want: Answer{400, &es.Summary{Error: "x", Root: "a"}}, got: Answer{400, &es.Summary{Error: "x", Root: "b"}}, kinds: []Kind{ErrorType}},
		"failures inside":                {want: ok(&es.Summary{Failed: ptr(0)}), got: ok(&es.Summary{Failed: ptr(2)}), kinds: []Kind{Failures}},
		"other work":                     {want: ok(&es.Summary{Work: &es.Work{Total: 3, Updated: 3}}), got: ok(&es.Summary{Work: &es.Work{Total: 3, Updated: 2, Noops: 1}}), kinds: []Kind{Work}},
		"same work":                      {want: ok(&es.Summary{Work: &es.Work{Total: 3}}), got: ok(&es.Summary{Work: &es.Work{Total: 3}})},
		"msearch": {
			want:  ok(&es.Summary{Items: []es.Item{{Status: 200, Summary: *search(1, "eq", "a")}, {Status: 200, Summary: *search(1, "eq", "a")}}}),
			got:   ok(&es.Summary{Items: []es.Item{{Status: 200, Summary: *search(1, "eq", "a")}, {Status: 404, Summary: es.Summary{Error: "index_not_found_exception"}}}}),
			kinds: []Kind{MsearchItems},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := Compare(c.want, c.got, c.ask, DefaultTolerances())
			var kinds []Kind
			for _, f := range v.Findings {
				kinds = append(kinds, f.Kind)
			}
			if v.Why != c.why || !slices.Equal(kinds, c.kinds) {
				t.Errorf("got why %q, kinds %v; want %q, %v", v.Why, kinds, c.why, c.kinds)
			}
		})
	}
}

// Every pair of statuses is either an agreement, a difference of status or an
// overloaded source, and never silent.
func TestStatusPairs(t *testing.T) {
	statuses := []int{200, 201, 400, 404, 409, 429, 500, 503}
	for _, w := range statuses {
		for _, g := range statuses {
			v := Compare(Answer{w, search(1, "eq", "a")}, Answer{g, search(1, "eq", "a")}, Ask{}, DefaultTolerances())
			switch {
			case w == 429 || w == 503:
				if v.Why != SourceOverload {
					t.Errorf("%d against %d: %+v", w, g, v)
				}
			case w == g || w < 300 && g < 300:
				if !v.Same() {
					t.Errorf("%d against %d: %+v", w, g, v)
				}
			default:
				if !v.Has(Status) {
					t.Errorf("%d against %d: %+v", w, g, v)
				}
			}
		}
	}
}

func TestToleranceOfCounts(t *testing.T) {
	tol := DefaultTolerances()
	tol.Total = 0.02
	if v := Compare(ok(search(1000, "eq")), ok(search(985, "eq")), Ask{}, tol); !v.Same() {
		t.Errorf("1.5 %% apart at 2 %% tolerance: %+v", v)
	}
	if v := Compare(ok(search(1000, "eq")), ok(search(970, "eq")), Ask{}, tol); !v.Has(TotalHits) {
		t.Errorf("3 %% apart at 2 %% tolerance: %+v", v)
	}
}

func drawSummary(t *rapid.T) *es.Summary {
	s := search(rapid.Int64Range(0, 5).Draw(t, "total"), rapid.SampledFrom([]string{"eq", "gte"}).Draw(t, "relation"),
		rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 5).Draw(t, "ids")...)
	if rapid.Bool().Draw(t, "aggs") {
		c := rapid.SliceOfN(rapid.Int64Range(0, 3), 0, 4).Draw(t, "counts")
		s.Aggs = []es.Agg{{Path: "p", Buckets: len(c), Counts: c}}
	}
	return s
}

// An answer agrees with itself, and which side is which does not decide whether
// two answers agree.
func TestReflexiveAndSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSummary(t), drawSummary(t)
		ask := Ask{ExactTotal: rapid.Bool().Draw(t, "exact"), Sorted: rapid.Bool().Draw(t, "sorted")}
		if v := Compare(ok(a), ok(a), ask, DefaultTolerances()); !v.Same() {
			t.Fatalf("an answer differs from itself: %+v", v)
		}
		ab, ba := Compare(ok(a), ok(b), ask, DefaultTolerances()), Compare(ok(b), ok(a), ask, DefaultTolerances())
		if len(ab.Findings) != len(ba.Findings) {
			t.Fatalf("%+v one way, %+v the other", ab, ba)
		}
	})
}
