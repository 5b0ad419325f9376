package es

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/esshadow/esshadow/internal/testenv"
)

func TestRequestFacts(t *testing.T) {
	plain := Facts{TotalUpTo: DefaultTotalUpTo}
	with := func(change func(*Facts)) Facts {
		f := plain
		change(&f)
		return f
	}
	total := func(n int64) Facts { return with(func(f *Facts) { f.TotalAsked, f.TotalUpTo = true, n }) }
	sorted := func(k SortKind) Facts { return with(func(f *Facts) { f.Sort = k }) }
	bad := Facts{Unreadable: true}
	tests := []struct {
		name, query, body string
		want              Facts
	}{
		{"nothing", "", "", plain},
		{"blank body", "", " \r\n", plain},
		{"empty object", "", "{}", plain},
		{"other keys", "", `{"query":{"size":3,"sort":["x"]},"_source":["size"]}`, plain},
		{"total true", "", `{"track_total_hits":true}`, total(math.MaxInt64)},
		{"total false", "", `{"track_total_hits":false}`, total(0)},
		{"total number", "", `{"track_total_hits":500}`, total(500)},
		{"total string", "", `{"track_total_hits":"true"}`, total(math.MaxInt64)},
		{"total -1", "", `{"track_total_hits":-1}`, total(math.MaxInt64)},
		{"total null", "", `{"track_total_hits":null}`, plain},
		{"total in the url", "track_total_hits=true", "", total(math.MaxInt64)},
		{"total in the url wins", "track_total_hits=7", `{"track_total_hits":true}`, total(7)},
		{"total in the url without value", "track_total_hits", "", total(math.MaxInt64)},
		{"total as int", "rest_total_hits_as_int=true", "", with(func(f *Facts) { f.TotalAsInt, f.TotalAsked, f.TotalUpTo = true, true, math.MaxInt64 })},
		{"total as int refused", "rest_total_hits_as_int=false", "", plain},
		{"total as int, not counted", "rest_total_hits_as_int=true&track_total_hits=false", "", with(func(f *Facts) { f.TotalAsInt, f.TotalAsked, f.TotalUpTo = true, true, 0 })},
		{"sort name", "", `{"sort":"a"}`, sorted(SortFields)},
		{"sort score", "", `{"sort":"_score"}`, sorted(SortScore)},
		{"sort scores", "", `{"sort":["_score",{"_score":{"order":"asc"}}]}`, sorted(SortScore)},
		{"sort object", "", `{"sort":{"a":{"order":"asc","missing":{"x":[1]}}}}`, sorted(SortFields)},
		{"sort score then field", "", `{"sort":["_score",{"a":"desc"}]}`, sorted(SortFields)},
		{"sort doc", "", `{"sort":["_doc"]}`, sorted(SortIndex)},
		{"sort doc first", "", `{"sort":[{"_shard_doc":"asc"},"a"]}`, sorted(SortIndex)},
		{"sort field then doc", "", `{"sort":["a",{"_shard_doc":"desc"}]}`, sorted(SortFields)},
		{"sort empty", "", `{"sort":[]}`, plain},
		{"sort null", "", `{"sort":null}`, plain},
		{"sort in the url", "sort=a:desc,_score", "", sorted(SortFields)},
		{"sort score in the url", "sort=_score", "", sorted(SortScore)},
		{"sort score with order in the url", "sort=_score%3Aasc", "", sorted(SortScore)},
		{"sort doc in the url", "sort=_doc:asc", `{"sort":"a"}`, sorted(SortIndex)},
		{"sort escaped in the url", "sor%74=_sco%72e%3Aasc%2C_score", "", sorted(SortScore)},
		{"last of one name counts", "sort=a;sort=_doc", "", sorted(SortIndex)},
		{"sort key escaped", "", `{"s\u006frt":["\u005fscore"]}`, sorted(SortScore)},
		{"size and from", "", `{"size":0,"from":"20"}`, with(func(f *Facts) { f.HasSize, f.HasFrom, f.From = true, true, 20 })},
		{"size in the url wins", "size=5", `{"size":3}`, with(func(f *Facts) { f.HasSize, f.Size = true, 5 })},
		{"filter_path", "filter_path=hits.hits", "", with(func(f *Facts) { f.FilterPath = true })},
		{"scroll", "scroll=1m", "", with(func(f *Facts) { f.Scroll = true })},
		{"pit and search_after", "", `{"pit":{"id":"x"},"search_after":[1,"a"]}`, with(func(f *Facts) { f.PIT, f.SearchAfter = true, true })},
		{"aggs", "", `{"aggs":{"a":{"terms":{"field":"b"}}}}`, with(func(f *Facts) { f.Aggs = true })},
		{"composite after", "", `{"aggregations":{"a":{"composite":{"after":{"x":1}}}}}`, with(func(f *Facts) { f.Aggs, f.After = true, true })},
		{"q", "q=a:b&pretty", "", with(func(f *Facts) { f.QueryParam = true })},
		{"source", "source=%7B%22size%22%3A3%7D&source_content_type=application/json", "", with(func(f *Facts) { f.SourceParam, f.HasSize, f.Size = true, true, 3 })},
		{"comments", "", `{/*c*/"size":1}//d`, with(func(f *Facts) { f.HasSize, f.Size = true, 1 })},
		{"malformed", "", `{"size":`, bad},
		{"not an object", "", `[]`, bad},
		{"trailing", "", `{}{}`, bad},
		{"size is no number", "", `{"size":[1]}`, bad},
		{"size is a fraction", "", `{"size":1.5}`, bad},
		{"size in the url is none", "size=x", "", bad},
		{"total is none", "", `{"track_total_hits":{}}`, bad},
		{"total in the url is none", "track_total_hits=yes", "", bad},
		{"total below zero", "", `{"track_total_hits":-2}`, bad},
		{"sort is none", "", `{"sort":[1]}`, bad},
		{"malformed source", "source=%7B", "", bad},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := RequestFacts(OpSearch, tt.query, []byte(tt.body))
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRequestFactsByOperation(t *testing.T) {
	body := []byte(`{"size":3}`)
	for _, op := range Ops() {
		if got := RequestFacts(op, "", body); got.HasSize != searchBody(op) || got.Scroll != (op == OpScroll) || got.Unreadable {
			t.Errorf("%v: %+v", op, got)
		}
	}
	if f := RequestFacts(OpBulk, "refresh=true", []byte("{\n")); f.Unreadable {
		t.Error("a bulk body is read as a search")
	}
}

func TestFactsSay(t *testing.T) {
	if f := RequestFacts(OpSearch, "track_total_hits=0", nil); f.ExactTotal() {
		t.Error("nothing counted is exact")
	}
	if f := RequestFacts(OpSearch, "track_total_hits=9", nil); !f.ExactTotal() || f.Sorted() {
		t.Error("exact up to 9 is not exact")
	}
	if f := RequestFacts(OpSearch, "sort=a", nil); f.ExactTotal() || !f.Sorted() {
		t.Error("sorted by a field is not sorted")
	}
}

func TestRequestFactsAllocateNothing(t *testing.T) {
	body := []byte(benchSearch)
	if n := testing.AllocsPerRun(100, func() {
		if f := RequestFacts(OpSearch, "track_total_hits=true&size=3&sort=a:b", body); !f.Aggs {
			t.Error("wrong")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRequestFactsCorpus(t *testing.T) {
	text, err := os.ReadFile(testenv.Corpus(t, "search_bodies.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	n, unreadable, sorted, exact := 0, 0, 0, 0
	for line := range strings.Lines(string(text)) {
		var req struct {
			Method, Path, Source string
			Body                 json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &req); err != nil {
			t.Fatal(err)
		}
		if string(req.Body) == "null" {
			req.Body = nil
		}
		r := Classify(req.Method, req.Path)
		f := RequestFacts(r.Op, r.Query, req.Body)
		n++
		if f.Unreadable {
			unreadable++
		}
		if f.Sorted() {
			sorted++
		}
		if f.ExactTotal() {
			exact++
		}
	}
	t.Logf("%d searches: %d unreadable, %d sorted, %d with exact totals", n, unreadable, sorted, exact)
	if unreadable > n/50 || sorted == 0 || exact == 0 {
		t.Errorf("%d unreadable, %d sorted, %d exact of %d", unreadable, sorted, exact, n)
	}
}

func FuzzRequestFacts(f *testing.F) {
	f.Add("size=1&sort=a:b,%3a", []byte(benchSearch))
	f.Add("source=%7B%7D&rest_total_hits_as_int", []byte(`{"sort":[{"a":1}]}`))
	f.Add("track_total_hits=%", []byte(`{"track_total_hits":"`))
	f.Fuzz(func(t *testing.T, query string, body []byte) {
		got := RequestFacts(OpSearch, query, body)
		if got.Unreadable && got != (Facts{Unreadable: true}) {
			t.Errorf("unreadable, and yet %+v", got)
		}
	})
}
