package es

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestFingerprintText(t *testing.T) {
	for _, c := range []struct {
		op           Op
		index, query string
		body, want   string
	}{
		{
			OpSearch, "products-2024.05.01", "", `{"size":20,"query":{"bool":{"must":{"match":{"title":"x"}},"filter":[{"term":{"status":{"value":1}}},{"range":{"ts":{"gte":"now-7d","lt":"now"}}}]}},"sort":["price"]}`,
			"search products-*: bool(filter[range(ts≈1d), term(status)], must[match(title)]) sort(price:asc) size≈10",
		},
		{OpSearch, "", "", ``, "search"},
		{OpSearch, "a", "", `{}`, "search a"},
		{
			OpSearch, "a", "q=name:ann+AND+%22x+y%22*&size=3&sort=age:desc,_score&track_total_hits=true&scroll=1m", ``,
			`search a: query_string(AND "" x* x:) sort(age:desc,_score:desc) size≈1 total=all scroll`,
		},
		{OpSearch, "a", `source=%7B%22query%22%3A%7B%22match_all%22%3A%7B%7D%7D%7D&source_content_type=application/json`, ``, "search a: match_all"},
		{OpSearch, "a", "", `{"query":{"match":{"t":{"query":"a b","operator":"and","fuzziness":"AUTO"}}}}`, "search a: match(t and fuzzy)"},
		{OpSearch, "a", "", `{"query":{"term":{"type":"x"}}}`, "search a: term(type)"},
		{OpSearch, "a", "", `{"query":{"terms":{"f":["a"` + strings.Repeat(`,"b"`, 120) + `]}}}`, "search a: terms(f×100)"},
		{OpSearch, "a", "", `{"query":{"terms":{"f":{"index":"users","id":"2","path":"p"}}}}`, "search a: terms(f lookup)"},
		{OpSearch, "a", "", `{"query":{"range":{"price":{"gt":10,"lte":250}}}}`, "search a: range(price≈100)"},
		{OpSearch, "a", "", `{"query":{"range":{"price":{"gt":10,"lte":null}}}}`, "search a: range(price >)"},
		{OpSearch, "a", "", `{"query":{"range":{"d":{"from":"2024-01-01","to":"2024-02-15T00:00:00Z","include_lower":true}}}}`, "search a: range(d≈10d)"},
		{OpSearch, "a", "", `{"query":{"range":{"d":{"gte":"2024-01-01||-1d/d","lte":"2024-01-01"}}}}`, "search a: range(d≈1d)"},
		{OpSearch, "a", "", `{"query":{"range":{"d":{"gte":"now-1d","lte":"2024-01-01"}}}}`, "search a: range(d)"},
		{
			OpSearch, "a", "", `{"query":{"geo_distance":{"distance":"12km","pin.location":{"lat":1,"lon":2}}},"sort":{"_geo_distance":{"order":"desc","loc":[1,2],"unit":"km"}}}`,
			"search a: geo_distance(pin.location) sort(_geo_distance(loc):desc)",
		},
		{OpSearch, "a", "", `{"knn":{"field":"v","query_vector":[1,2,3],"k":10,"num_candidates":100,"filter":{"term":{"a":1}}}}`, "search a: knn(v dims=3 k≈10 candidates≈100 filter[term(a)])"},
		{OpSearch, "a", "", `{"query":{"knn":{"v":{"vector":[1,2],"k":5}}}}`, "search a: knn(v dims=2 k≈1)"},
		{
			OpSearch, "a", "", `{"retriever":{"rrf":{"retrievers":[{"standard":{"query":{"match":{"t":"x"}}}},{"retriever":{"knn":{"field":"v","k":3}},"weight":2}],"rank_window_size":50}}}`,
			"search a: retriever(rrf(knn(v k≈1), standard(query[match(t)]) window≈10))",
		},
		{
			OpSearch, "a", "", `{"size":0,"aggs":{"x":{"terms":{"field":"f","size":5,"order":{"_key":"asc"}},"aggs":{"y":{"avg":{"field":"p"}}}},"z":{"composite":{"size":1000,"sources":[{"s":{"terms":{"field":"b"}}},{"t":{"date_histogram":{"field":"d","fixed_interval":"30m"}}}],"after":{"s":"x"}}}}}`,
			"search a: aggs{composite(terms(b), date_histogram(d every≈10m) size≈1000 after), terms(f order=_key size≈1){avg(p)}} size=0",
		},
		{
			OpSearch, "a", "", `{"query":{"function_score":{"query":{"match_all":{}},"functions":[{"gauss":{"d":{"origin":"now","scale":"1d"}}},{"filter":{"term":{"a":1}},"weight":3}]}}}`,
			"search a: function_score(functions[filter[term(a)], weight; gauss(d)], query[match_all])",
		},
		{OpSearch, "a", "", `{"query":{"nope":{"ann":"smith"}}}`, "search a: other#" + Digest([]byte("nope"))[:8]},
		{OpSearch, "a", "", `{"query":{"bool":{"should":[` + strings.Repeat(`{"term":{"a":1}},`, 30) + `{"term":{"b":1}}]}}}`, "search a: bool(should[term(a)×10, term(b)])"},
		{OpSearch, "a", "", `{"query":`, "search a: unreadable"},
		{OpSearch, "a", "", strings.Repeat(`{"query":`, 500), "search a: too deep"},
		{OpSearch, "a", "", `{"query":{"bool":{"should":[` + strings.Repeat(`{"term":{"a":1}},`, 70000) + `{}]}}}`, "search a: too large"},
		{OpSearch, "a", "", `[1,2]`, "search a"},
		{OpCount, "a", "", `{"query":{"exists":{"field":"f"}}}`, "count a: exists(f)"},
		{OpUpdateByQuery, "a", "", `{"query":{"match_all":{}},"script":"ctx._source.n++"}`, "update_by_query a: match_all script#" + Digest([]byte("ctx._source.n++"))[:8]},
		{OpUpdate, "a", "", `{"doc":{"name":"ann"},"doc_as_upsert":true}`, "update a: doc doc_as_upsert"},
		{OpReindex, "", "", `{"source":{"index":["a-2024.01.01","b"],"query":{"term":{"x":1}}},"dest":{"index":"c"}}`, "reindex: a-*,b -> c term(x)"},
		{OpGet, "users", "", ``, "get users"},
		{OpIndex, "users", "", `{"a":"x"}`, "index users"},
		{OpMget, "users", "", `{"ids":["1","2"]}`, "mget users: docs≈1"},
		{OpMget, "", "", `{"docs":[{"_index":"a-000001","_id":"x"},{"_index":"a-000002","_id":"y"}]}`, "mget: a-* docs≈1"},
		{OpBulk, "logs-2024.05.01", "", "{\"create\":{}}\n{\"a\":1}\n{\"delete\":{\"_id\":\"x\",\"_index\":\"b\"}}\n", "bulk logs-*: b create delete items≈1"},
		{
			OpMsearch, "", "", "{\"index\":\"a\"}\n{\"query\":{\"term\":{\"x\":1}}}\n{\"index\":[\"a\"]}\n{\"query\":{\"term\":{\"x\":2}}}\n{}\n{\"size\":0}\n",
			"msearch: {a: term(x)}; {size=0} searches≈1",
		},
		{OpSearchTemplate, "a", "", `{"id":"ann","params":{"q":"x"}}`, "search_template a: template#" + Digest([]byte("ann"))[:8]},
		{
			OpESQL, "", "", `{"query":"FROM logs | WHERE status == 500 AND user == \"ann\" // who\n| STATS c = COUNT(*) BY host | LIMIT 10"}`,
			"esql: FROM f | WHERE f = ? AND f = ? | STATS f = COUNT() BY f | LIMIT ? #" + Digest([]byte(" logs status user c host"))[:8],
		},
		{
			OpSQL, "", "", `{"query":"SELECT a, b FROM t WHERE c IN ('x','y', 3)","fetch_size":5}`,
			"sql: SELECT f FROM f WHERE f IN(?) #" + Digest([]byte(" a b t c"))[:8] + " fetch_size≈1",
		},
		{OpSQL, "", "", `{"cursor":"abc"}`, "sql: cursor"},
		{OpScroll, "", "", `{"scroll_id":"abc"}`, "scroll"},
	} {
		got := Fingerprint(c.op, c.index, c.query, []byte(c.body))
		if diff := cmp.Diff(c.want, got.Text); diff != "" {
			t.Errorf("%s %.80s (-want +got)\n%s", c.op, c.body, diff)
		}
		if got.ID != Digest([]byte(c.want)) || len(got.Coarse) != digestLen {
			t.Errorf("%s: id %q, coarse %q", c.want, got.ID, got.Coarse)
		}
	}
}

func TestIndexClass(t *testing.T) {
	for in, want := range map[string]string{
		"products": "products", "products_v2": "products_v2", "logs-2024.05.01": "logs-*", "logs-2024-05": "logs-*", "logs-2024_05_01-000003": "logs-*",
		".ds-logs-nginx.access-default-2024.05.01-000012": ".ds-logs-nginx.access-default-*", "tenant-12345-orders": "tenant-*-orders",
		"a-deadbeef01": "a-*", "u-0f8fad5b-d9cb-469f-a165-70867728950e": "u-*", "logs-*": "logs-*", "logs-2024*": "logs-*", "b,a,b": "a,b",
		"*:logs-2024.01.01,-logs-x": "*:logs-*,-logs-x", "%3Clogs-%7Bnow%2Fd%7D%3E": "<logs-{now/d}>", "a b\"c": "a?b?c", "Łódź": "Łódź",
		"f,e,d,c,b,a": "a,b,c,d,more#" + Digest([]byte("e,f"))[:8], "user20240101x": "user*x", "deadbeefs": "deadbeefs", "beefcafe": "beefcafe",
	} {
		if got := Fingerprint(OpGet, in, "", nil).Text; got != "get "+want {
			t.Errorf("class of %q: %q, want %q", in, got, "get "+want)
		}
	}
}

// One change of what a Shape tells apart changes the ID; the coarse level sees
// only the kinds of clauses and the depth.
func TestFingerprintTellsApart(t *testing.T) {
	const from = `{"query":{"bool":{"filter":[{"term":{"a":1}},{"range":{"d":{"gte":5}}}]}},"sort":[{"p":"asc"},{"q":"desc"}],"size":20,"aggs":{"n":{"terms":{"field":"f"}}}}`
	was := Fingerprint(OpSearch, "i", "", []byte(from))
	for _, c := range []struct {
		name, old, new string
		coarse         bool
	}{
		{"field", `"a":1`, `"b":1`, false},
		{"clause", `{"term":{"a":1}}`, `{"prefix":{"a":1}}`, true},
		{"occurrence", `"filter"`, `"must"`, false},
		{"one clause more", `[{"term"`, `[{"term":{"c":1}},{"term"`, false},
		{"bound", `"gte"`, `"lt"`, false},
		{"sort order", `[{"p":"asc"},{"q":"desc"}]`, `[{"q":"desc"},{"p":"asc"}]`, false},
		{"sort direction", `"p":"asc"`, `"p":"desc"`, false},
		{"size", `"size":20`, `"size":200`, false},
		{"aggregated field", `"field":"f"`, `"field":"g"`, false},
		{"aggregation", `{"terms":{"field":"f"}}`, `{"cardinality":{"field":"f"}}`, false},
		{"aggregation below", `{"terms":{"field":"f"}}`, `{"terms":{"field":"f"},"aggs":{"m":{"max":{"field":"f"}}}}`, false},
		{"no sort", `"sort"`, `"stats"`, true},
	} {
		body := strings.Replace(from, c.old, c.new, 1)
		if body == from {
			t.Fatalf("%s: nothing changed", c.name)
		}
		is := Fingerprint(OpSearch, "i", "", []byte(body))
		if is.ID == was.ID || (is.Coarse != was.Coarse) != c.coarse {
			t.Errorf("%s: %q to %q, coarse differs: %v", c.name, was.Text, is.Text, is.Coarse != was.Coarse)
		}
	}
	if is := Fingerprint(OpSearch, "j", "", []byte(from)); is.ID == was.ID || is.Coarse != was.Coarse {
		t.Errorf("index: %q, %q", was.Text, is.Text)
	}
	if is := Fingerprint(OpCount, "i", "", []byte(from)); is.ID == was.ID || is.Coarse == was.Coarse {
		t.Errorf("operation: %q, %q", was.Text, is.Text)
	}
}

func TestFingerprintIsStable(t *testing.T) {
	var used Fingerprinter
	rapid.Check(t, func(rt *rapid.T) {
		form := rapid.Uint64().Draw(rt, "form")
		a := newShapeGen(form, rapid.Uint64().Draw(rt, "look")).search()
		b := newShapeGen(form, rapid.Uint64().Draw(rt, "other look")).search()
		one, two := Fingerprint(OpSearch, "logs-2024.01.01", "", []byte(a)), used.Fingerprint(OpSearch, "logs-2025.12.31-000001", "", []byte(b))
		if strings.HasSuffix(one.Text, "unreadable") {
			rt.Fatalf("generated malformed json: %s", a)
		}
		if one != two {
			rt.Fatalf("%s\n%s\n%s\n%s", a, b, one.Text, two.Text)
		}
	})
}

// No value gets into a Shape, whatever it stands in.
func TestFingerprintHoldsNoValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newShapeGen(rapid.Uint64().Draw(rt, "form"), rapid.Uint64().Draw(rt, "look"))
		var f Fingerprinter
		for _, req := range []struct {
			op   Op
			body string
		}{
			{OpSearch, g.search()},
			{OpMsearch, "{\"preference\":" + g.text() + "}\n" + strings.NewReplacer("\n", " ", "\t", " ").Replace(g.search()) + "\n"},
			{OpUpdateByQuery, g.search()},
			{OpSearchTemplate, g.object("id", g.text(), "source", g.maybe(g.text()), "params", g.object("a", g.value()))},
			{OpUpdate, g.object("doc", g.object("a", g.value()), "script", g.object("source", g.text()))},
			{OpESQL, g.object("query", fmt.Sprintf(`"FROM a | WHERE x == \"%s\" /* %s */ AND y LIKE '%s' // %s"`, mark, mark, mark, mark), "params", g.values(), "filter", g.clause(0))},
			{OpSQL, g.object("query", fmt.Sprintf(`"SELECT a FROM b WHERE c = %s AND d = '%s' -- %s"`, mark, mark, mark))},
			{OpEQL, g.object("query", fmt.Sprintf(`"process where name == \"%s\" or a : \"\"\"%s\"\"\""`, mark, mark))},
			{OpPPL, g.object("query", fmt.Sprintf(`"search source=a %s | where a = '%s'"`, mark, mark))},
			{OpBulk, fmt.Sprintf("{\"index\":{\"_id\":%s,\"routing\":%s}}\n{\"a\":%s}\n", g.text(), g.text(), g.text())},
			{OpMget, g.object("ids", g.values(), "docs", "["+g.object("_id", g.text())+"]")},
			{OpSearch, g.text()},
			{OpSearch, g.values()},
			{OpSearch, g.search()[1:]},
		} {
			s := f.Fingerprint(req.op, "i", "preference="+mark+"&q="+g.maybe(mark+"+AND+"+mark), []byte(req.body))
			whole := string(f.out)
			if strings.Contains(strings.ToLower(whole), strings.ToLower(mark)) || strings.Contains(whole, "98765") {
				rt.Fatalf("%s %s\n%s", req.op, req.body, whole)
			}
			if len(s.Text) > MaxShapeText || !utf8.ValidString(s.Text) {
				rt.Fatalf("text of %d bytes: %q", len(s.Text), s.Text)
			}
		}
	})
}

// A long text is cut between runes and the ID is that of all of it.
func TestFingerprintLongText(t *testing.T) {
	clauses := func(last string) string {
		var b strings.Builder
		for i := range 60 {
			fmt.Fprintf(&b, `{"term":{"größe_%d":1}},`, i)
		}
		return `{"query":{"bool":{"must":[` + b.String() + `{"term":{"` + last + `":1}}]}}}`
	}
	a, b := Fingerprint(OpSearch, "", "", []byte(clauses("zy"))), Fingerprint(OpSearch, "", "", []byte(clauses("zz")))
	if a.Text != b.Text || a.ID == b.ID || len(a.Text) > MaxShapeText || !strings.HasSuffix(a.Text, "…") || !utf8.ValidString(a.Text) {
		t.Errorf("%q (%d bytes), ids %s %s", a.Text, len(a.Text), a.ID, b.ID)
	}
}

func TestOperators(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "ann smith": "", `name:ann AND "x y" OR NOT z`: ` AND OR NOT "" x:`, "*foo": " *x x*", "fo?o~2^3": " x* ~ ^", `a\*b \"c`: "", "+a -b !c": " NOT +",
		"a-b": "", "/jo.n/": " /x/", "a/b": "", "price:[1 TO 5}": " [] x:", "(a || b) && c": " AND OR ()", `"a \" AND"`: ` ""`, `"open AND`: ` ""`, "x AND": " AND", `\`: "", "ANDROID": "",
	} {
		var f Fingerprinter
		f.operators([]byte(in))
		if string(f.out) != want {
			t.Errorf("operators of %q: %q, want %q", in, f.out, want)
		}
	}
}

// FuzzFingerprint holds that nothing makes Fingerprint panic, and that its text
// is one that can be stored.
func FuzzFingerprint(f *testing.F) {
	for i := range uint64(20) {
		f.Add(uint8(OpSearch), "logs-2024", "q=a:b", newShapeGen(i, i).search())
	}
	for _, op := range []Op{OpBulk, OpMsearch, OpMget, OpESQL, OpReindex, OpUpdate, OpSearchTemplate} {
		f.Add(uint8(op), "%2", "source=%7B", "{\"index\":{\"_index\":\"a\"}}\n{\"query\":\"FROM a | WHERE b == 'c\"}\n{\"source\":{\"index\":[\"a\"]},\"docs\":[{\"_index\":\"\\ud800\"}]}")
	}
	f.Fuzz(func(t *testing.T, op uint8, index, query, body string) {
		s := Fingerprint(Op(op), index, query, []byte(body))
		if len(s.Text) > MaxShapeText || !utf8.ValidString(s.Text) || len(s.ID) != digestLen || len(s.Coarse) != digestLen {
			t.Fatalf("%+v", s)
		}
		if strings.ContainsAny(s.Text, "\n\r\t\x00") {
			t.Fatalf("%q", s.Text)
		}
	})
}

func BenchmarkFingerprint(b *testing.B) {
	search := []byte(`{"size":20,"query":{"bool":{"must":{"match":{"title":"stainless steel bottle"}},"filter":[{"term":{"status":{"value":1}}},{"range":{"ts":{"gte":"now-7d","lt":"now"}}},{"terms":{"brand":["a","b","c","d"]}}]}},"sort":["price",{"ts":"desc"}],"aggs":{"brands":{"terms":{"field":"brand","size":20}}}}`)
	bulk := []byte(strings.Repeat("{\"index\":{\"_index\":\"logs-2024.05.01\"}}\n{\"@timestamp\":\"2023-10-23T12:15:03.360Z\",\"client.ip\":\"172.21.2.162\",\"message\":\"Connected to 10.1.0.3\",\"event.duration\":3450233}\n", 1000))
	for _, c := range []struct {
		name string
		op   Op
		body []byte
	}{{"search", OpSearch, search}, {"bulk", OpBulk, bulk}} {
		b.Run(fmt.Sprintf("%s/%d", c.name, len(c.body)), func(b *testing.B) {
			var f Fingerprinter
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if s := f.Fingerprint(c.op, "products", "", c.body); s.ID == "" {
					b.Fatal("no id")
				}
			}
		})
	}
}

// What a Fingerprinter remembers is bounded, and what it forgot comes out the same.
func TestFingerprinterForgets(t *testing.T) {
	var f Fingerprinter
	body := func(i int) string { return fmt.Sprintf(`{"query":{"term":{"f%s":1}}}`, strings.Repeat("x", i)) }
	names := func(i int) string { return strings.Repeat("a", i%70) + "-" + strings.Repeat("b", i/70) }
	first := f.Fingerprint(OpSearch, names(0), "", []byte(body(0)))
	for i := range 2 * maxKnownShapes {
		s := f.Fingerprint(OpSearch, names(i), "", []byte(body(i%30)))
		if want := Fingerprint(OpSearch, names(i), "", []byte(body(i%30))); s != want {
			t.Fatalf("%+v, want %+v", s, want)
		}
		if len(f.known) > maxKnownShapes || len(f.coarses) > maxKnownShapes {
			t.Fatalf("%d and %d shapes remembered", len(f.known), len(f.coarses))
		}
	}
	if s := f.Fingerprint(OpSearch, names(0), "", []byte(body(0))); s != first {
		t.Errorf("%+v, first %+v", s, first)
	}
}

// A tally made while a body was read says what reading it again would.
func TestFingerprintBulkIsFingerprint(t *testing.T) {
	for _, n := range []int{0, 1, 7, maxShapeItems, maxShapeItems + 1, 3 * maxShapeItems} {
		var body []byte
		var tally BulkTally
		for i := range n {
			switch i % 3 {
			case 0:
				body = append(body, "{\"index\":{\"_index\":\"logs-1\"}}\n{\"a\":1}\n"...)
				tally.Add(BulkIndex)
			case 1:
				body = append(body, "{\"delete\":{\"_index\":\"users\",\"_id\":\"7\"}}\n"...)
				tally.Add(BulkDelete)
			default:
				body = append(body, "{\"update\":{\"_id\":\"7\"}}\n{\"doc\":{}}\n"...)
				tally.Add(BulkUpdate)
			}
		}
		var f Fingerprinter
		got, want := f.FingerprintBulk(OpBulk, "orders", body, tally), Fingerprint(OpBulk, "orders", "", body)
		if got != want {
			t.Errorf("%d items: %+v, want %+v", n, got, want)
		}
	}
}
