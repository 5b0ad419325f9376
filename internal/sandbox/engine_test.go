package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is the time of the engines under test.
func noon() time.Time { return time.Date(2024, 3, 15, 12, 0, 0, 0, time.UTC) }

func newEngine(t testing.TB, o Options) *Engine {
	t.Helper()
	if o.Now == nil {
		o.Now = noon
	}
	e := New(o)
	t.Cleanup(e.Close)
	return e
}

// call sends "METHOD target" and returns the answer.
func call(e *Engine, line, body string, header ...string) *httptest.ResponseRecorder {
	method, target, _ := strings.Cut(line, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, r)
	return w
}

// must sends a request that has to get a status, and decodes the answer.
func must(t testing.TB, e *Engine, status int, line, body string) map[string]any {
	t.Helper()
	w := call(e, line, body)
	raw, _ := io.ReadAll(w.Result().Body)
	if w.Code != status {
		t.Fatalf("%s %s: status %d, want %d: %s", line, body, w.Code, status, raw)
	}
	var out map[string]any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatalf("%s: %v: %s", line, err, raw)
		}
	}
	return out
}

// at walks into a decoded answer by dotted path; numbers index arrays.
func at(v any, path string) any {
	for _, p := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			var i int
			if _, err := fmt.Sscan(p, &i); err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// text is a part of an answer as compact JSON.
func text1(v any, path string) string {
	b, _ := json.Marshal(at(v, path))
	return string(b)
}

func ids(v any) string {
	var out []string
	hits, _ := at(v, "hits.hits").([]any)
	for _, h := range hits {
		out = append(out, fmt.Sprint(at(h, "_id")))
	}
	return strings.Join(out, " ")
}

const shopMapping = `{"mappings":{"properties":{
 "title":{"type":"text","fields":{"raw":{"type":"keyword"}}},"brand":{"type":"keyword"},"price":{"type":"double"},"stock":{"type":"long"},
 "sold":{"type":"date"},"live":{"type":"boolean"},"from":{"type":"ip"},"maker":{"properties":{"city":{"type":"keyword"}}}}}}`

const shopBulk = `{"index":{"_id":"1"}}
{"title":"Red running shoe","brand":"acme","price":10.5,"stock":3,"sold":"2024-01-05T10:00:00Z","live":true,"from":"10.0.0.1","maker":{"city":"Oslo"},"tags":["a","b"]}
{"index":{"_id":"2"}}
{"title":"Blue running jacket","brand":"acme","price":99.9,"stock":0,"sold":"2024-01-20","live":false,"maker":{"city":"Bonn"},"tags":["b"]}
{"index":{"_id":"3"}}
{"title":"Red red wine","brand":"bolt","price":20,"stock":7,"sold":"2024-02-10T23:59:59.999Z","live":true,"tags":[]}
{"create":{"_id":"4"}}
{"title":"Shoe polish, red","brand":"core","price":5,"stock":100,"sold":"2024-03-15T11:00:00Z","live":true,"tags":["c","a"]}
{"index":{"_id":"5"}}
{"title":"Running","brand":"bolt","price":20,"sold":null,"live":false}
`

// shop is an engine with five documents.
func shop(t testing.TB, o Options) *Engine {
	e := newEngine(t, o)
	must(t, e, 200, "PUT /shop", shopMapping)
	if out := must(t, e, 200, "POST /shop/_bulk", shopBulk); out["errors"] != false {
		t.Fatalf("bulk: %v", out)
	}
	return e
}

func TestSearch(t *testing.T) {
	e := shop(t, Options{})
	for _, tc := range []struct{ name, body, ids string }{
		{"all", `{}`, "1 2 3 4 5"},
		{"match_all", `{"query":{"match_all":{}}}`, "1 2 3 4 5"},
		{"match_none", `{"query":{"match_none":{}}}`, ""},
		{"match: more often and in shorter text first", `{"query":{"match":{"title":"red"}}}`, "3 1 4"},
		{"match or", `{"query":{"match":{"title":"BLUE wine"}}}`, "2 3"},
		{"match and", `{"query":{"match":{"title":{"query":"shoe red","operator":"and"}}}}`, "1 4"},
		{"match minimum", `{"query":{"match":{"title":{"query":"red running shoe","minimum_should_match":"3"}}}}`, "1"},
		{"match percent", `{"query":{"match":{"title":{"query":"red running shoe","minimum_should_match":"67%"}}},"sort":["_id"]}`, "1 4"},
		{"match keyword", `{"query":{"match":{"brand":"bolt"}}}`, "3 5"},
		{"match number", `{"query":{"match":{"stock":"7"}}}`, "3"},
		{"match unmapped", `{"query":{"match":{"nothing":"7"}}}`, ""},
		{"phrase", `{"query":{"match_phrase":{"title":"running shoe"}}}`, "1"},
		{"phrase the other way round", `{"query":{"match_phrase":{"title":"shoe running"}}}`, ""},
		{"phrase of the same word", `{"query":{"match_phrase":{"title":"red red"}}}`, "3"},
		{"multi_match", `{"query":{"multi_match":{"query":"bolt","fields":["title","brand^2"]}}}`, "3 5"},
		{"term keyword", `{"query":{"term":{"brand":"acme"}}}`, "1 2"},
		{"term long form", `{"query":{"term":{"brand":{"value":"ACME","case_insensitive":true}}}}`, "1 2"},
		{"term on text is not analysed", `{"query":{"term":{"title":"Red"}}}`, ""},
		{"term bool", `{"query":{"term":{"live":true}}}`, "1 3 4"},
		{"term double", `{"query":{"term":{"price":20.0}}}`, "3 5"},
		{"term day", `{"query":{"term":{"sold":"2024-02-10"}}}`, "3"},
		{"term multi-field", `{"query":{"term":{"title.raw":"Running"}}}`, "5"},
		{"term object", `{"query":{"term":{"maker.city":"Bonn"}}}`, "2"},
		{"term id", `{"query":{"term":{"_id":"4"}}}`, "4"},
		{"term dynamic", `{"query":{"term":{"tags.keyword":"a"}}}`, "1 4"},
		{"term ip", `{"query":{"term":{"from":"10.0.0.1"}}}`, "1"},
		{"terms", `{"query":{"terms":{"brand":["core","bolt"]}}}`, "3 4 5"},
		{"terms long", `{"query":{"terms":{"stock":[0,100]}}}`, "2 4"},
		{"range", `{"query":{"range":{"price":{"gte":10.5,"lt":99.9}}}}`, "1 3 5"},
		{"range long open", `{"query":{"range":{"stock":{"gt":0,"lte":7}}}}`, "1 3"},
		{"range long fraction", `{"query":{"range":{"stock":{"gt":2.5,"lt":6.5}}}}`, "1"},
		{"range string", `{"query":{"range":{"brand":{"gt":"acme","lte":"bolt"}}}}`, "3 5"},
		{"range date rounds up", `{"query":{"range":{"sold":{"gt":"2024-01-05","lte":"2024-02-10"}}}}`, "2 3"},
		{"range now", `{"query":{"range":{"sold":{"gte":"now/d","lt":"now"}}}}`, "4"},
		{"range date maths", `{"query":{"range":{"sold":{"gte":"2024-01-01||+1M","lt":"now-1d/M"}}}}`, "3"},
		{"bool", `{"query":{"bool":{"must":[{"match":{"title":"red"}}],"filter":{"term":{"live":true}},"must_not":[{"term":{"brand":"core"}}]}}}`, "3 1"},
		{"bool should", `{"query":{"bool":{"should":[{"term":{"brand":"core"}},{"term":{"live":false}}]}}}`, "4 2 5"},
		{"bool should beside filter is free", `{"query":{"bool":{"filter":[{"term":{"brand":"acme"}}],"should":[{"term":{"live":false}}]}}}`, "2 1"},
		{"bool minimum", `{"query":{"bool":{"should":[{"term":{"brand":"bolt"}},{"term":{"live":true}},{"term":{"price":20}}],"minimum_should_match":3}}}`, "3"},
		{"bool empty", `{"query":{"bool":{}}}`, "1 2 3 4 5"},
		{"bool must_not only", `{"query":{"bool":{"must_not":{"term":{"live":true}}}}}`, "2 5"},
		{"ids", `{"query":{"ids":{"values":["5","9","1"]}}}`, "1 5"},
		{"exists", `{"query":{"exists":{"field":"stock"}}}`, "1 2 3 4"},
		{"exists object", `{"query":{"exists":{"field":"maker"}}}`, "1 2"},
		{"exists null", `{"query":{"bool":{"must_not":{"exists":{"field":"sold"}}}}}`, "5"},
		{"exists empty array", `{"query":{"bool":{"must_not":{"exists":{"field":"tags"}}}}}`, "3 5"},
		{"prefix", `{"query":{"prefix":{"brand":"b"}}}`, "3 5"},
		{"prefix text", `{"query":{"prefix":{"title":{"value":"sho"}}}}`, "1 4"},
		{"wildcard", `{"query":{"wildcard":{"brand":{"value":"*o*e"}}}}`, "4"},
		{"wildcard text", `{"query":{"wildcard":{"title":"r?d"}}}`, "1 3 4"},
		{"constant_score", `{"query":{"constant_score":{"filter":{"match":{"title":"red"}},"boost":2}}}`, "1 3 4"},
		{"dis_max", `{"query":{"dis_max":{"queries":[{"term":{"brand":"core"}},{"ids":{"values":["2"]}}]}}}`, "4 2"},
		{"query_string", `{"query":{"query_string":{"query":"title:(red AND shoe) OR brand:bolt"}},"sort":"_id"}`, "1 3 4 5"},
		{"query_string not", `{"query":{"query_string":{"query":"title:red -brand:core","default_operator":"AND"}},"sort":"_id"}`, "1 3"},
		{"query_string range", `{"query":{"query_string":{"query":"price:[10 TO 20} stock:>50"}},"sort":"_id"}`, "1 4"},
		{"query_string exists", `{"query":{"query_string":{"query":"_exists_:maker AND NOT brand:x*"}},"sort":"_id"}`, "1 2"},
		{"query_string phrase", `{"query":{"query_string":{"query":"\"running jacket\"","fields":["title"]}}}`, "2"},
		{"sort number", `{"sort":[{"price":"desc"},{"stock":{"order":"asc"}}]}`, "2 3 5 1 4"},
		{"sort missing last", `{"sort":[{"stock":{"order":"asc"}}]}`, "2 1 3 4 5"},
		{"sort missing first", `{"sort":[{"stock":{"order":"desc","missing":"_first"}}]}`, "5 4 3 1 2"},
		{"sort keyword then score", `{"sort":["brand","_score"],"query":{"match":{"title":"red running"}}}`, "1 2 5 3 4"},
		{"sort array min and max", `{"sort":[{"tags.keyword":{"order":"desc"}}]}`, "4 1 2 3 5"},
		{"page", `{"sort":["_id"],"from":1,"size":2}`, "2 3"},
		{"page past the end", `{"from":100}`, ""},
		{"size 0", `{"size":0}`, ""},
		{"search_after", `{"sort":[{"price":"asc"},"_id"],"search_after":[20,"3"]}`, "5 2"},
		{"search_after missing", `{"sort":[{"stock":"asc"}],"search_after":[100]}`, "5"},
		{"post_filter", `{"post_filter":{"term":{"brand":"bolt"}}}`, "3 5"},
		{"min_score", `{"query":{"bool":{"should":[{"match_all":{}},{"ids":{"values":["2"]}}]}},"min_score":2}`, "2"},
		{"comments", `{/* all */"query":{"match_all":{}}} // end`, "1 2 3 4 5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := must(t, e, 200, "POST /shop/_search", tc.body)
			if got := ids(out); got != tc.ids {
				t.Errorf("%s\n got %q\nwant %q\n%v", tc.body, got, tc.ids, out)
			}
		})
	}
}

func TestServeStops(t *testing.T) {
	e := shop(t, Options{Faults: Faults{Latency: time.Millisecond}})
	ts := httptest.NewServer(e.Handler())
	defer ts.Close()
	res, err := ts.Client().Get(ts.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Elastic-Product") != "Elasticsearch" {
		t.Fatal(res.Status, res.Header)
	}
}
