//go:build engine

package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

// TestEngineEquivalenceSchema is TestEngineEquivalence over fields of many types
// and analysers, with a sanitiser that knows the schema of the index beside one
// that does not. What the one that knows calls exact must agree: totals, buckets,
// and, where hits are sorted, their order.
func TestEngineEquivalenceSchema(t *testing.T) {
	n := equivalenceNode(t)
	seed, queries := envNumber(t, "ESSHADOW_TEST_SEED", 1), envNumber(t, "ESSHADOW_TEST_QUERIES", 400)
	for _, preset := range []string{sanitize.PresetFidelity, sanitize.PresetStrict} {
		t.Run(preset, func(t *testing.T) { knownQueries(t, n, preset, seed, queries) })
	}
}

// knownQueries asks random queries without and with the schema.
func knownQueries(t *testing.T, n *node, preset string, seed, queries int) {
	g := &knownGen{queryGen{Rand: rand.New(rand.NewPCG(uint64(seed), uint64(len(preset))+7))}, preset == sanitize.PresetStrict}
	blind := newTwin(t, n, rulesOf(preset), "blind-"+preset, knownMapping)
	index := "/" + blind.original
	schema, err := es.ParseSchema(n.must(t, "GET", index+"/_mapping", "").body, n.must(t, "GET", index+"/_settings", "").body)
	if err != nil {
		t.Fatal(err)
	}
	cfg := rulesOf(preset)
	cfg.Snapshot = &schema
	known := newTwin(t, n, cfg, "known-"+preset, knownMapping)
	docs := g.documents(150)
	known.load(t, docs)
	refused := blind.loadSome(t, docs)
	lies := 0
	for range queries {
		q := g.query()
		lies += blind.judged(t, q, false)
		// Of a field that is not in the schema no more is known than without one.
		known.judged(t, q, !strings.Contains(q.clause, "not in the schema"))
	}
	t.Logf("%s", beforeAndAfter(blind.by, known.by))
	exact, all := known.table(t)
	before, _ := blind.table(t)
	t.Logf("seed %d, preset %s: %d of %d exact with the schema; %d without, of which %d do not agree; the index refuses %d documents of those made without, none of those with",
		seed, preset, exact, all, before, lies, refused)
	if refused == 0 {
		t.Error("without the schema all documents are valid: those with it prove nothing")
	}
	if all < queries/2 || exact < all/4 {
		t.Errorf("%d records of %d queries, %d of them exact: too few to prove anything", all, queries, exact)
	}
}

// loadSome is load where the index may refuse what the sanitiser made; it tells how
// many documents. Their originals go, so that both indices hold the same ones.
func (x *twin) loadSome(t *testing.T, bulk string) int {
	t.Helper()
	rec, drop := x.sanitised("POST", "/"+x.original+"/_bulk", bulk)
	if drop != "" {
		t.Fatalf("the documents were dropped: %s", drop)
	}
	x.n.must(t, "POST", "/"+x.original+"/_bulk?refresh=true", bulk)
	var answer struct {
		Items []struct{ Index struct{ Status int } }
	}
	if err := json.Unmarshal(x.n.must(t, "POST", "/"+x.made+"/_bulk?refresh=true", string(rec.Body)).body, &answer); err != nil {
		t.Fatal(err)
	}
	var gone strings.Builder
	refused := 0
	for i, item := range answer.Items {
		if item.Index.Status >= 300 {
			refused++
			fmt.Fprintf(&gone, "{\"delete\":{\"_id\":\"doc-%d\"}}\n", i)
		}
	}
	if refused > 0 {
		x.n.must(t, "POST", "/"+x.original+"/_bulk?refresh=true", gone.String())
	}
	return refused
}

// judged asks both indices one thing and counts; a record that is called exact
// and does not agree is 1, and fails where it must agree.
func (x *twin) judged(t *testing.T, q genQuery, must bool) (lie int) {
	t.Helper()
	c := x.clause(q.clause)
	target := "/" + x.original + "/_search?track_total_hits=true" + q.params
	rec, drop := x.sanitised("POST", target, q.body)
	if drop != "" {
		c.dropped[drop]++
		return 0
	}
	_, rest, _ := strings.Cut(rec.Target[1:], "/")
	made := "/" + x.made + "/" + rest
	want, got := x.ask(t, "POST", target, q.body), x.ask(t, "POST", made, string(rec.Body))
	agree := want.Status == got.Status && want.Total == got.Total && slices.Equal(want.Buckets, got.Buckets)
	if agree && strings.Contains(q.clause, "sort") && want.Status == http.StatusOK {
		a := x.order(t, target, q.body, func(id string) string { return string(x.w.MapID(nil, []byte(id))) })
		b := x.order(t, made, string(rec.Body), func(id string) string { return id })
		agree = slices.Equal(a, b)
	}
	one := 0
	if agree {
		one = 1
	}
	switch rec.Fidelity {
	case capture.Exact:
		c.exact++
		c.exactAgreed += one
		if must && !agree {
			t.Errorf("%s: called exact, but\n%s %s\nfinds %v, and\n%s %s\nfinds %v", q.clause, q.params, q.body, want, rest, rec.Body, got)
		}
		return 1 - one
	case capture.Approx:
		c.approx++
		c.approxAgreed += one
		c.why[rec.FidWhy]++
	default:
		c.broken++
		c.brokenAgreed += one
		c.why[rec.FidWhy]++
	}
	return 0
}

// order is the ids of the hits of a search.
func (x *twin) order(t *testing.T, target, body string, name func(string) string) (ids []string) {
	t.Helper()
	var r struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			}
		}
	}
	if err := json.Unmarshal(x.n.must(t, "POST", target, body).body, &r); err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hits.Hits {
		ids = append(ids, name(h.ID))
	}
	return ids
}

// beforeAndAfter is a table of what the schema changes.
func beforeAndAfter(blind, known map[string]*clauseCount) string {
	var b strings.Builder
	b.WriteString("\n| clause | exact without (of them agree), approx, broken | exact with (agree), approx (agree), broken (agree) |\n|---|---|---|\n")
	sum := [2]clauseCount{}
	row := func(name string, x, y *clauseCount) {
		fmt.Fprintf(&b, "| %s | %d (%d), %d, %d | %d (%d), %d (%d), %d (%d) |\n", name, x.exact, x.exactAgreed, x.approx, x.broken,
			y.exact, y.exactAgreed, y.approx, y.approxAgreed, y.broken, y.brokenAgreed)
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for i, c := range []*clauseCount{blind[name], known[name]} {
			s := &sum[i]
			s.exact, s.exactAgreed, s.approx, s.approxAgreed = s.exact+c.exact, s.exactAgreed+c.exactAgreed, s.approx+c.approx, s.approxAgreed+c.approxAgreed
			s.broken, s.brokenAgreed = s.broken+c.broken, s.brokenAgreed+c.brokenAgreed
		}
		row(name, blind[name], known[name])
	}
	row("**all**", &sum[0], &sum[1])
	return b.String()
}
