package es

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func int64s(n ...int64) []int64 { return n }

func TestSummarizeAggs(t *testing.T) {
	path := func(s string) string { return Digest([]byte(s)) }
	other := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name, body string
		want       map[string]Agg
	}{
		{
			"terms, in the answer's order", `"a":{"doc_count_error_upper_bound":0,"sum_other_doc_count":7,"buckets":[{"key":"x","doc_count":3},{"key":"y","doc_count":9},{"key":{"x":{"buckets":[]}},"doc_count":0}]}`,
			map[string]Agg{"a": {Buckets: 3, Counts: int64s(3, 9, 0), Other: other(7)}},
		},
		{
			"typed keys", `"sterms#a":{"buckets":[{"key":"x","doc_count":3,"filter#b":{"doc_count":1}}]},"b-c#d":{"buckets":[]},"#e":{"buckets":[]}`,
			map[string]Agg{"a": {Buckets: 1, Counts: int64s(3)}, "a>b": {Buckets: 1, Counts: int64s(1), Unordered: true}, "b-c#d": {}, "#e": {}},
		},
		{
			"keyed buckets, whose order depends on names", `"a":{"buckets":{"x":{"doc_count":1},"y":{"doc_count":5},"z":{"doc_count":3}}}`,
			map[string]Agg{"a": {Buckets: 3, Counts: int64s(5, 3, 1), Unordered: true}},
		},
		{
			"one bucket", `"a":{"meta":{"m":{"buckets":[{}]}},"doc_count":12,"b":{"buckets":[{"doc_count":4},{"doc_count":8}]}}`,
			map[string]Agg{"a": {Buckets: 1, Counts: int64s(12)}, "a>b": {Buckets: 2, Counts: int64s(4, 8)}},
		},
		{
			"significant terms have both", `"a":{"doc_count":12,"bg_count":99,"buckets":[{"doc_count":4,"bg_count":3,"score":1}]}`,
			map[string]Agg{"a": {Buckets: 1, Counts: int64s(4)}},
		},
		{
			"below buckets: all together, falling", `"a":{"buckets":[{"doc_count":2,"b":{"sum_other_doc_count":1,"buckets":[{"doc_count":1},{"doc_count":1}]}},{"b":{"sum_other_doc_count":2,"buckets":[{"doc_count":6}]},"doc_count":6}]}`,
			map[string]Agg{"a": {Buckets: 2, Counts: int64s(2, 6)}, "a>b": {Buckets: 3, Counts: int64s(6, 1, 1), Other: other(3), Unordered: true}},
		},
		{
			"metrics say nothing of counts", `"a":{"value":3},"b":{"values":{"50.0":{"doc_count":1}}},"c":{"hits":{"total":{"value":1},"hits":[{"doc_count":4}]}},"d":{"count":1,"std_deviation_bounds":{"upper":1}},"e":{"top":[{"sort":[1]}]},"f":{"value":{"doc_count":3}}`,
			map[string]Agg{},
		},
		{
			"escaped name", `"\u0061":{"doc_count":1},"b\"":{"doc_count":2}`,
			map[string]Agg{"a": {Buckets: 1, Counts: int64s(1)}, `b"`: {Buckets: 1, Counts: int64s(2)}},
		},
		{
			"not what they should be", `"a":[{"buckets":[]}],"b":{"buckets":7},"c":{"buckets":[1,null,{"doc_count":"x"}]},"d":null`,
			map[string]Agg{"c": {Buckets: 1, Counts: int64s(0)}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Summarize(OpSearch, 200, jsonType, "", []byte(`{"aggregations":{`+c.body+`}}`), Mapper{})
			var want []Agg
			for name, a := range c.want {
				a.Path = path(name)
				want = append(want, a)
			}
			slices.SortFunc(want, func(a, b Agg) int { return strings.Compare(a.Path, b.Path) })
			if diff := cmp.Diff(want, got.Aggs); diff != "" || got.Unreadable != "" {
				t.Errorf("%s (-want +got)\n%s", got.Unreadable, diff)
			}
		})
	}
}

// What a capture changes, the keys and with them the order of ties and of keyed
// buckets, does not change the Summary.
func TestSummarizeAggsOrderOfKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	answer := func(shuffle bool) *Summary {
		var tied, keyed []string
		for i := range 90 {
			tied = append(tied, fmt.Sprintf(`{"key":"k%d","doc_count":5,"s":{"buckets":[{"key":1,"doc_count":%d},{"key":2,"doc_count":%d}]}}`, i, i%7, 5-i%7))
			keyed = append(keyed, fmt.Sprintf(`"k%d":{"doc_count":%d}`, i%60, i%60))
		}
		if shuffle {
			rng.Shuffle(len(tied), func(i, j int) { tied[i], tied[j] = tied[j], tied[i] })
			rng.Shuffle(len(keyed), func(i, j int) { keyed[i], keyed[j] = keyed[j], keyed[i] })
		}
		return Summarize(OpSearch, 200, jsonType, "", []byte(`{"aggregations":{"t":{"buckets":[`+strings.Join(tied, ",")+`]},"f":{"buckets":{`+strings.Join(keyed, ",")+`}}}}`), Mapper{})
	}
	want := answer(false)
	if len(want.Aggs) != 3 {
		t.Fatalf("aggs: %v", want.Aggs)
	}
	for range 20 {
		if diff := cmp.Diff(want, answer(true)); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	}
}

// An msearch answer's items share one budget.
func TestSummarizeAggsOfMsearch(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `,"a%d":{"doc_count":1}`, i)
	}
	item := `{"aggregations":{` + b.String()[1:] + `}}`
	got := Summarize(OpMsearch, 200, jsonType, "", []byte(`{"responses":[`+strings.Repeat(item+",", 99)+item+`]}`), Mapper{})
	n := 0
	for _, it := range got.Items {
		n += len(it.Aggs)
	}
	if n != maxAllAggs || !slices.Contains(got.Items[99].Cut, CutAggs) || got.Items[0].Cut != nil {
		t.Errorf("%d aggregations kept, last item cut %v, first %v", n, got.Items[99].Cut, got.Items[0].Cut)
	}
}
