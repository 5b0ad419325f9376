//go:build engine

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/testenv"
	"github.com/esshadow/esshadow/sanitize"
)

// TestEngineEquivalence loads documents into one index and what the sanitiser
// makes of them into another, and asks both: the one by queries, the other by
// what the sanitiser makes of these. Where a record calls itself exact, the
// counts must agree.
//
// ESSHADOW_TEST_NODE_URL names an OpenSearch 2 node that runs already;
// ESSHADOW_TEST_SEED and ESSHADOW_TEST_QUERIES choose other random queries, and
// more of them.
func TestEngineEquivalence(t *testing.T) {
	n := equivalenceNode(t)
	t.Run("cases", func(t *testing.T) { equivalentCases(t, n) })
	t.Run("analysis", func(t *testing.T) { equivalentAnalysis(t, n) })
	seed, queries := envNumber(t, "ESSHADOW_TEST_SEED", 1), envNumber(t, "ESSHADOW_TEST_QUERIES", 400)
	for _, preset := range []string{sanitize.PresetFidelity, sanitize.PresetStrict} {
		t.Run(preset, func(t *testing.T) { equivalentQueries(t, n, preset, seed, queries) })
	}
}

// equivalenceNode is the node that ESSHADOW_TEST_NODE_URL names, or a new one.
func equivalenceNode(t *testing.T) *node {
	t.Helper()
	e := parseEngine(t, "opensearch-2")
	if url := os.Getenv("ESSHADOW_TEST_NODE_URL"); url != "" {
		return &node{engine: e, url: url}
	}
	if !slices.ContainsFunc(engines(t), func(x engine) bool { return x.name == e.name }) {
		testenv.Skip(t, "opensearch-2 is not among the engines that can run here")
	}
	n := startNode(t, e)
	n.ready(t)
	return n
}

func envNumber(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// twin is an index with originals and one with what the sanitiser made of them.
type twin struct {
	n              *node
	w              *sanitize.Worker
	original, made string
	by             map[string]*clauseCount
}

// clauseCount is how the queries of one clause went.
type clauseCount struct {
	exact, exactAgreed, approx, approxAgreed, broken, brokenAgreed int
	dropped                                                        map[string]int
	why                                                            map[string]int
}

func newTwin(t *testing.T, n *node, cfg sanitize.Config, name, create string) *twin {
	t.Helper()
	key, err := sanitize.ParseKey([]byte(strings.Repeat("0123456789abcdef", 4)))
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := sanitize.New(cfg, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := &twin{n: n, w: pipe.Worker(), original: "eq-" + name, made: "eq-" + name + "-made", by: map[string]*clauseCount{}}
	for _, index := range []string{x.original, x.made} {
		n.must(t, "PUT", "/"+index, create)
		t.Cleanup(func() { // the context of t is over by now
			_, _ = request(context.Background(), http.DefaultClient, "DELETE", n.url+"/"+index, "application/json", nil)
		})
	}
	return x
}

func rulesOf(preset string) sanitize.Config {
	c := sanitize.Default()
	c.Preset = preset
	return c
}

// sanitised is the record of a request.
func (x *twin) sanitised(method, target, body string) (rec capture.Record, drop string) {
	drop = x.w.Sanitize(&rec, &capture.Exchange{
		Method: method, Target: target, Body: []byte(body), BodySize: int64(len(body)), Status: 200,
		Header: []capture.Header{{Name: "Content-Type", Value: "application/json"}},
	})
	return rec, drop
}

// load fills both indices.
func (x *twin) load(t *testing.T, bulk string) {
	t.Helper()
	rec, drop := x.sanitised("POST", "/"+x.original+"/_bulk", bulk)
	if drop != "" {
		t.Fatalf("the documents were dropped: %s", drop)
	}
	for index, body := range map[string]string{x.original: bulk, x.made: string(rec.Body)} {
		if a := x.n.must(t, "POST", "/"+index+"/_bulk?refresh=true", body); bytes.Contains(a.body, []byte(`"errors":true`)) {
			t.Fatalf("%s: a document was refused: %.2000s", index, a.body)
		}
	}
}

// found is what of an answer must agree: the total, the number of documents in
// each bucket in any order, and the values of metrics.
type found struct {
	Status  int
	Total   int64
	Buckets []string
}

func (x *twin) ask(t *testing.T, method, target, body string) found {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askWait)
	defer cancel()
	a, err := request(ctx, http.DefaultClient, method, x.n.url+target, "application/json", []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	f := found{Status: a.status}
	if a.status != http.StatusOK {
		return f
	}
	var r struct {
		Hits struct {
			Total struct{ Value int64 }
		}
		Aggregations any
	}
	if err := json.Unmarshal(a.body, &r); err != nil {
		t.Fatal(err)
	}
	f.Total = r.Hits.Total.Value
	f.Buckets = countsIn(nil, "", r.Aggregations)
	slices.Sort(f.Buckets)
	return f
}

// countsIn collects what is counted in aggregations.
func countsIn(out []string, at string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for name, m := range v {
			switch name {
			case "doc_count", "value", "count", "sum_other_doc_count":
				out = append(out, fmt.Sprint(name, m))
			default:
				out = countsIn(out, at+"."+name, m)
			}
		}
	case []any:
		for _, m := range v {
			out = countsIn(out, at, m)
		}
	}
	return out
}

// clause counts what becomes of the queries of a clause.
func (x *twin) clause(name string) *clauseCount {
	c := x.by[name]
	if c == nil {
		c = &clauseCount{dropped: map[string]int{}, why: map[string]int{}}
		x.by[name] = c
	}
	return c
}

// compare asks both indices one thing.
func (x *twin) compare(t *testing.T, q genQuery) {
	t.Helper()
	c := x.clause(q.clause)
	target := "/" + x.original + "/_search?size=0&track_total_hits=true" + q.params
	rec, drop := x.sanitised("POST", target, q.body)
	if drop != "" {
		c.dropped[drop]++
		return
	}
	_, rest, ok := strings.Cut(rec.Target[1:], "/") // strict makes a token of the index's name
	if !ok {
		t.Fatalf("target %s", rec.Target)
	}
	want, got := x.ask(t, "POST", target, q.body), x.ask(t, "POST", "/"+x.made+"/"+rest, string(rec.Body))
	agree := want.Status == got.Status && want.Total == got.Total && slices.Equal(want.Buckets, got.Buckets)
	one := 0
	if agree {
		one = 1
	}
	switch rec.Fidelity {
	case capture.Exact:
		c.exact++
		c.exactAgreed += one
		if !agree {
			t.Errorf("%s: called exact, but\n%s %s\nfinds %v, and\n%s %s\nfinds %v%s", q.clause, q.params, q.body, want, rest, rec.Body, got, x.odd(t, target, q.body, "/"+x.made+"/"+rest, string(rec.Body)))
		}
	case capture.Approx:
		c.approx++
		c.approxAgreed += one
		c.why[rec.FidWhy]++
	default:
		c.broken++
		c.brokenAgreed += one
		c.why[rec.FidWhy]++
	}
}

// odd shows a few documents that only one of two searches finds.
func (x *twin) odd(t *testing.T, target, body, madeTarget, madeBody string) string {
	t.Helper()
	ids := func(target, body string, name func(string) string) map[string]string {
		var r struct {
			Hits struct {
				Hits []struct {
					ID     string          `json:"_id"`
					Source json.RawMessage `json:"_source"`
				}
			}
		}
		a := x.n.must(t, "POST", strings.Replace(target, "size=0", "size=1000", 1), body)
		if err := json.Unmarshal(a.body, &r); err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, h := range r.Hits.Hits {
			out[name(h.ID)] = string(h.Source)
		}
		return out
	}
	a := ids(target, body, func(id string) string { return string(x.w.MapID(nil, []byte(id))) })
	b := ids(madeTarget, madeBody, func(id string) string { return id })
	var out strings.Builder
	for _, two := range [][2]map[string]string{{a, b}, {b, a}} {
		n := 0
		for id, source := range two[0] {
			if _, ok := two[1][id]; !ok && n < 2 {
				n++
				fmt.Fprintf(&out, "\n  only one finds %s", source)
			}
		}
	}
	return out.String()
}

// table logs how the queries of each clause went.
func (x *twin) table(t *testing.T) (exact, all int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("\n| clause | exact, of them agree | approx, agree | broken, agree | reasons | dropped |\n|---|---|---|---|---|---|\n")
	list := func(m map[string]int) string {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(m)) {
			parts = append(parts, fmt.Sprintf("`%s` %d", k, m[k]))
		}
		return strings.Join(parts, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(x.by)) {
		c := x.by[name]
		exact, all = exact+c.exact, all+c.exact+c.approx+c.broken
		fmt.Fprintf(&b, "| %s | %d, %d | %d, %d | %d, %d | %s | %s |\n", name, c.exact, c.exactAgreed, c.approx, c.approxAgreed, c.broken, c.brokenAgreed, list(c.why), list(c.dropped))
	}
	t.Logf("%s%d of %d exact", b.String(), exact, all)
	return exact, all
}

// genQuery is a search: what stands behind the question mark, and its body.
type genQuery struct {
	clause, params, body string
}

// equivalentCases asks what the cases of the corpus ask, under the mappings that
// they name.
func equivalentCases(t *testing.T, n *node) {
	f, err := os.Open(testenv.Corpus(t, "consistency_cases.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	sums := map[string]*clauseCount{}
	count := 0
	for in := bufio.NewScanner(f); in.Scan(); count++ {
		var c struct {
			Name  string
			Field struct {
				IndexAs string `json:"index_as"`
			}
			Docs  []map[string]any
			Query map[string]any
			Hits  int64
		}
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		t.Run(c.Name, func(t *testing.T) {
			cfg := rulesOf(sanitize.PresetFidelity)
			if strings.Contains(c.Field.IndexAs, "edge_ngram") { // what the draft of rules proposes for it
				cfg.Fields = []sanitize.FieldRule{{Match: sanitize.Globs{"f"}, Action: "prefix"}}
			}
			if strings.HasPrefix(c.Name, "zh-") {
				cfg.Fields = []sanitize.FieldRule{{Match: sanitize.Globs{"f"}, Action: "charsub", AcceptWeak: true}}
			}
			x := newTwin(t, n, cfg, c.Name, caseMapping(c.Field.IndexAs))
			x.by = sums
			var bulk strings.Builder
			for _, doc := range c.Docs {
				id := doc["_id"]
				delete(doc, "_id")
				fmt.Fprintf(&bulk, "%s\n%s\n", asJSON(map[string]any{"index": map[string]any{"_id": id}}), asJSON(doc))
			}
			x.load(t, bulk.String())
			q := genQuery{clause: c.Field.IndexAs + " " + strings.Join(slices.Sorted(maps.Keys(c.Query)), " "), body: asJSON(map[string]any{"query": caseQuery(c.Query)})}
			if got := x.ask(t, "POST", "/"+x.original+"/_search?size=0", q.body); got.Total != c.Hits {
				t.Errorf("the originals: %d hits, the corpus says %d", got.Total, c.Hits)
			}
			x.compare(t, q)
		})
	}
	(&twin{by: sums}).table(t)
	if count < 20 {
		t.Errorf("%d cases", count)
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func caseMapping(as string) string {
	field := `{"type":"text"}`
	switch {
	case as == "keyword":
		field = `{"type":"keyword"}`
	case strings.Contains(as, "edge_ngram"):
		field = `{"type":"text","analyzer":"edge","search_analyzer":"standard"}`
	}
	return `{"settings":{"number_of_shards":1,"number_of_replicas":0,"analysis":{"analyzer":{"edge":{"type":"custom","tokenizer":"standard","filter":["lowercase","grams"]}},
		"filter":{"grams":{"type":"edge_ngram","min_gram":2,"max_gram":30}}}},"mappings":{"properties":{"f":` + field + `}}}`
}

// caseQuery is a query of the cases as the engine takes it.
func caseQuery(q map[string]any) map[string]any {
	for kind, v := range q {
		switch kind {
		case "match_and":
			return map[string]any{"match": map[string]any{"f": map[string]any{"query": v, "operator": "and"}}}
		case "range":
			b := v.([]any)
			return map[string]any{"range": map[string]any{"f": map[string]any{"gte": b[0], "lte": b[1]}}}
		case "exists":
			return map[string]any{"exists": map[string]any{"field": "f"}}
		default:
			return map[string]any{kind: map[string]any{"f": v}}
		}
	}
	return nil
}

// equivalentQueries asks random queries over random documents.
func equivalentQueries(t *testing.T, n *node, preset string, seed, queries int) {
	g := &queryGen{Rand: rand.New(rand.NewPCG(uint64(seed), uint64(len(preset))))}
	x := newTwin(t, n, rulesOf(preset), "random-"+preset, genMapping)
	x.load(t, g.documents(120))
	for range queries {
		x.compare(t, g.query())
	}
	exact, all := x.table(t)
	t.Logf("seed %d", seed)
	if all < queries/2 || exact < all/4 {
		t.Errorf("%d records of %d queries, %d of them exact: too few to prove anything", all, queries, exact)
	}
}
