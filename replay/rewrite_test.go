package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/testenv"
)

func TestIndexMap(t *testing.T) {
	rules := indexMap{{"logs-*", "copy-logs-*"}, {"a*b*c", "x*-*"}, {"exact", "other"}, {"*-eu", "eu-fixed"}}
	for expr, want := range map[string]struct {
		to  string
		all bool
	}{
		"logs-1":                        {"copy-logs-1", true},
		"logs-":                         {"copy-logs-", true},
		"logs-*":                        {"copy-logs-*", true},
		"logs":                          {"logs", false},
		"a1b2c":                         {"x1-2", true},
		"abc":                           {"x-", true},
		"exact,logs-2,-logs-3":          {"other,copy-logs-2,-copy-logs-3", true},
		"exact,none":                    {"other,none", false},
		"west:logs-1,exact":             {"west:logs-1,other", false},
		"shop-eu":                       {"eu-fixed", true},
		"":                              {"", false},
		"<logs-{now/d{yyyy,MM}}>,exact": {"<logs-{now/d{yyyy,MM}}>,other", false},
	} {
		if to, all := rules.expression(expr); to != want.to || all != want.all {
			t.Errorf("%q: %q, %v; want %q, %v", expr, to, all, want.to, want.all)
		}
	}
}

func TestParseIndexRule(t *testing.T) {
	if r, err := ParseIndexRule("logs-*=copy-*"); err != nil || r != (IndexRule{"logs-*", "copy-*"}) {
		t.Error(r, err)
	}
	for _, in := range []string{"", "a", "=b", "a=", "a=b*", "a*=b**", "a,b=c", "a b=c", "a/b=c"} {
		if r, err := ParseIndexRule(in); err == nil {
			t.Errorf("%q: %+v, want an error", in, r)
		}
	}
}

func mapped(t *testing.T, cfg Config, method, target, body string) plan {
	t.Helper()
	p := newPlanner(&cfg, es.Identity{})
	return p.plan(&capture.Record{Method: method, Target: target, Body: []byte(body), BodySize: int64(len(body))})
}

func TestMappedRequests(t *testing.T) {
	cfg := Default()
	cfg.Writes, cfg.IndexMap = true, []IndexRule{{"logs-*", "new-*"}, {"users", "people"}}
	for name, c := range map[string]struct{ method, target, body, wantTarget, wantBody string }{
		"path":                      {"GET", "/logs-1/_search?q=logs-1", "", "/new-1/_search?q=logs-1", ""},
		"list in the path":          {"GET", "/logs-1,other,users/_count", "", "/new-1,other,people/_count", ""},
		"encoded":                   {"GET", "/logs-1%2Cusers/_count", "", "/new-1,people/_count", ""},
		"untouched encoding":        {"GET", "/%3Cx-%7Bnow%2Fd%7D%3E/_search", "", "/%3Cx-%7Bnow%2Fd%7D%3E/_search", ""},
		"date math":                 {"GET", "/%3Cx-%7Bnow%2Fd%7D%3E,users/_search", "", "/%3Cx-%7Bnow%2Fd%7D%3E,people/_search", ""},
		"no index":                  {"GET", "/_search", `{"size":1}`, "/_search", `{"size":1}`},
		"document of the same name": {"GET", "/users/_doc/users", "", "/people/_doc/users", ""},
		"bulk": {
			"POST", "/_bulk",
			"{\"index\":{\"_index\":\"logs-1\", \"_id\":\"logs-1\"}}\n{\"_index\":\"logs-1\"}\n{ \"delete\" : {\"_id\":1,\"_index\" : \"users\"}}\n", "/_bulk",
			"{\"index\":{\"_index\":\"new-1\", \"_id\":\"logs-1\"}}\n{\"_index\":\"logs-1\"}\n{ \"delete\" : {\"_id\":1,\"_index\" : \"people\"}}\n",
		},
		"bulk with a default": {"PUT", "/users/_bulk", "{\"index\":{}}\n{}\n{\"create\":{\"_index\":\"logs-2\"}}\n{}\n", "/people/_bulk", "{\"index\":{}}\n{}\n{\"create\":{\"_index\":\"new-2\"}}\n{}\n"},
		"msearch": {
			"POST", "/_msearch",
			"{\"index\":\"logs-1,users\"}\n{\"query\":{\"term\":{\"index\":\"users\"}}}\n{\"index\":[\"users\",\"x\"]}\n{}\n\n{}\n", "/_msearch",
			"{\"index\":\"new-1,people\"}\n{\"query\":{\"term\":{\"index\":\"users\"}}}\n{\"index\":[\"people\",\"x\"]}\n{}\n\n{}\n",
		},
		"mget":                          {"POST", "/_mget", `{"docs":[{"_index":"users","_id":"users"},{"_id":"1","_index":"x"}]}`, "/_mget", `{"docs":[{"_index":"people","_id":"users"},{"_id":"1","_index":"x"}]}`},
		"terms lookup":                  {"POST", "/x/_search", `{"query":{"terms":{"user":{"index":"users","id":"1","path":"index"}}}}`, "/x/_search", `{"query":{"terms":{"user":{"index":"people","id":"1","path":"index"}}}}`},
		"terms of a field called index": {"POST", "/x/_search", `{"query":{"terms":{"index":["users"]}}}`, "/x/_search", `{"query":{"terms":{"index":["users"]}}}`},
		"indexed shape":                 {"POST", "/x/_search", `{"query":{"geo_shape":{"loc":{"indexed_shape":{"index":"users","id":"1"}}}}}`, "/x/_search", `{"query":{"geo_shape":{"loc":{"indexed_shape":{"index":"people","id":"1"}}}}}`},
		"more like this":                {"POST", "/x/_search", `{"query":{"more_like_this":{"like":[{"_index":"users","_id":"1"},"users"]}}}`, "/x/_search", `{"query":{"more_like_this":{"like":[{"_index":"people","_id":"1"},"users"]}}}`},
		"filters on _index":             {"POST", "/x/_search", `{"a":[{"term":{"_index":"users"}},{"terms":{"_index":["users","y"]}},{"term":{"_index":{"value":"users"}}}]}`, "/x/_search", `{"a":[{"term":{"_index":"people"}},{"terms":{"_index":["people","y"]}},{"term":{"_index":{"value":"people"}}}]}`},
		"indices boost":                 {"POST", "/x/_search", `{"indices_boost":[{"users":1.4},{"x":1}]}`, "/x/_search", `{"indices_boost":[{"people":1.4},{"x":1}]}`},
		"escaped":                       {"POST", "/_mget", `{"docs":[{"\u005findex":"use\u0072s"}]}`, "/_mget", `{"docs":[{"\u005findex":"people"}]}`},
		"broken read":                   {"POST", "/users/_search", `{"query":`, "/people/_search", `{"query":`},
		"a document":                    {"PUT", "/users/_doc/1", `{"_index":"users"}`, "/people/_doc/1", `{"_index":"users"}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := mapped(t, cfg, c.method, c.target, c.body)
			if p.refused != "" || p.shot.Target != c.wantTarget || string(p.shot.Body) != c.wantBody {
				t.Errorf("refused %q\n%s\n%s", p.refused, p.shot.Target, p.shot.Body)
			}
		})
	}
}

func TestGuards(t *testing.T) {
	read, same, mapping := Default(), Default(), Default()
	same.Writes, same.SameIndex = true, true
	mapping.Writes, mapping.IndexMap = true, []IndexRule{{"a", "b"}}
	for name, c := range map[string]struct {
		cfg                  Config
		method, target, body string
		want                 string
	}{
		"read":                           {read, "POST", "/a/_search", "{}", ""},
		"read by get":                    {read, "GET", "/a/_doc/1", "", ""},
		"a page of a scroll, id unknown": {read, "POST", "/_search/scroll", `{"scroll_id":"x"}`, RefusedHandle},
		"clear every scroll":             {read, "DELETE", "/_search/scroll/_all", "", RefusedHandle},
		"a search of a PIT, id unknown":  {read, "POST", "/_search", `{"pit":{"id":"x"}}`, RefusedHandle},
		"a search for the word pit":      {read, "POST", "/_search", `{"query":{"term":{"a":"pit"}},"aggs":{"pit":{"max":{"field":"pit"}}}}`, ""},
		"scroll":                         {read, "POST", "/a/_search?scroll=1m", "{}", ""},
		"write, not asked for":           {read, "POST", "/_bulk", "{\"index\":{\"_index\":\"a\"}}\n{}\n", RefusedWrite},
		"write to the same index":        {same, "PUT", "/a/_doc/1", "{}", ""},
		"write, mapped":                  {mapping, "PUT", "/a/_doc/1", "{}", ""},
		"write, not mapped":              {mapping, "PUT", "/c/_doc/1", "{}", RefusedUnmapped},
		"bulk, mapped":                   {mapping, "POST", "/_bulk", "{\"index\":{\"_index\":\"a\"}}\n{}\n", ""},
		"bulk, one line not mapped":      {mapping, "POST", "/_bulk", "{\"index\":{\"_index\":\"a\"}}\n{}\n{\"index\":{\"_index\":\"c\"}}\n{}\n", RefusedUnmapped},
		"bulk, escaped to look mapped":   {mapping, "POST", "/a/_bulk", "{\"index\":{\"\\u005findex\":\"c\"}}\n{}\n", RefusedUnmapped},
		"bulk, a second _index":          {mapping, "POST", "/_bulk", "{\"index\":{\"_index\":\"a\",\"_index\":\"c\"}}\n{}\n", RefusedUnmapped},
		"bulk, no index at all":          {mapping, "POST", "/_bulk", "{\"index\":{}}\n{}\n", RefusedUnmapped},
		"bulk, default not mapped":       {mapping, "POST", "/c/_bulk", "{\"index\":{\"_index\":\"a\"}}\n{}\n", RefusedUnmapped},
		"bulk, malformed":                {mapping, "POST", "/a/_bulk", "{\"index\":\n{}\n", RefusedMalformed},
		"bulk, index is a number":        {mapping, "POST", "/a/_bulk", "{\"index\":{\"_index\":1}}\n{}\n", RefusedUnmapped},
		"delete by query":                {same, "POST", "/a/_delete_by_query", "{}", RefusedMassWrite},
		"update by query":                {same, "POST", "/a/_update_by_query", "{}", RefusedMassWrite},
		"reindex":                        {same, "POST", "/_reindex", "{}", RefusedMassWrite},
		"delete an index":                {same, "DELETE", "/a", "", RefusedDestructive},
		"delete all":                     {same, "DELETE", "/*", "", RefusedDestructive},
		"settings":                       {same, "PUT", "/_cluster/settings", "{}", RefusedDestructive},
		"maintenance":                    {same, "POST", "/a/_refresh", "", RefusedAdmin},
		"look at the cluster":            {same, "GET", "/_cat/indices", "", RefusedAdmin},
		"unknown":                        {same, "POST", "/a/_frobnicate", "", RefusedUnknown},
		"inference":                      {same, "POST", "/_inference/text_embedding/x", "{}", RefusedInference},
		"a target that would end a line": {same, "GET", "/a/_search?q=1\r\nX: y", "", RefusedMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			if p := mapped(t, c.cfg, c.method, c.target, c.body); p.refused != c.want {
				t.Errorf("refused %q, want %q", p.refused, c.want)
			}
		})
	}
}

func TestABodyThatWasNotKept(t *testing.T) {
	cfg := Default()
	p := newPlanner(&cfg, es.Identity{}).plan(&capture.Record{Method: "POST", Target: "/a/_search", BodySize: 7})
	if p.refused != RefusedNoBody {
		t.Errorf("%q", p.refused)
	}
}

func TestHeaders(t *testing.T) {
	cfg := Default()
	rec := capture.Record{Method: "POST", Target: "/a/_search", Body: []byte("{}"), BodySize: 2}
	for _, h := range []string{
		"Authorization: Basic c2VjcmV0", "cookie: sid=1", "es-security-runas-user: root", "Host: prod", "content-length: 9", "Transfer-Encoding: chunked",
		"Connection: close", "Expect: 100-continue", "X-Forwarded-For: 10.0.0.1", "X-Amz-Security-Token: t", "Content-Encoding: gzip",
		"content-type: application/json", "ACCEPT-Encoding: gzip", "X-Opaque-Id: p1", "Esshadow-Probe: 1",
	} {
		name, value, _ := strings.Cut(h, ": ")
		rec.Header = append(rec.Header, capture.Header{Name: name, Value: value})
	}
	got := fmt.Sprint(newPlanner(&cfg, es.Identity{}).plan(&rec).shot.Header)
	if want := "[{content-type application/json} {ACCEPT-Encoding gzip} {X-Opaque-Id p1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	rec.Body = []byte{0x1f, 0x8b, 8, 0}
	if got := fmt.Sprint(newPlanner(&cfg, es.Identity{}).plan(&rec).shot.Header); !strings.Contains(got, "{Content-Encoding gzip}") {
		t.Errorf("a packed body lost its coding: %s", got)
	}
}

func TestMediaTypes(t *testing.T) {
	const v7, v8, v9 = "application/vnd.elasticsearch+json;compatible-with=7", "application/vnd.elasticsearch+json;compatible-with=8", "application/vnd.elasticsearch+x-ndjson; compatible-with=9"
	target := func(flavor string, major int) es.Identity { return es.Identity{Flavor: flavor, Major: major} }
	for _, c := range []struct {
		target       es.Identity
		typ, accept  string
		wantT, wantA string
	}{
		{target(es.FlavorElasticsearch, 8), v8, v8, v8, v8},
		{target(es.FlavorElasticsearch, 9), v8, v8, v8, v8},
		{target(es.FlavorElasticsearch, 8), v7, v7, v7, v7},
		{target(es.FlavorElasticsearch, 9), v7, v7, "application/json", "application/json"},
		{target(es.FlavorElasticsearch, 7), v8, v8, "application/json", "application/json"},
		{target(es.FlavorElasticsearch, 8), v9, v8, "application/x-ndjson", "application/json"},
		{target(es.FlavorOpenSearch, 2), v8, v8, "application/json", "application/json"},
		{target(es.FlavorSandbox, 8), v8, "*/*", "application/json", "*/*"},
		{target(es.FlavorServerless, 8), v9, v8, v9, v8},
		{target(es.FlavorServerless, 8), v7, v7, "application/json", "application/json"},
		{target(es.FlavorOpenSearch, 2), "application/json", "", "application/json", ""},
	} {
		h := rewriteMedia([]capture.Header{{Name: "content-type", Value: c.typ}, {Name: "Accept", Value: c.accept}, {Name: "X", Value: v8}}, c.target)
		if h[0].Value != c.wantT || h[1].Value != c.wantA || h[2].Value != v8 {
			t.Errorf("%+v %q %q: %+v", c.target, c.typ, c.accept, h)
		}
	}
}

func TestWithoutAMapBodiesStay(t *testing.T) {
	cfg := Default()
	cfg.Writes, cfg.SameIndex = true, true
	for _, file := range []string{"search_bodies.ndjson", "bulk_bodies.ndjson", "other_requests.ndjson"} {
		t.Run(file, func(t *testing.T) {
			n := 0
			for _, r := range corpus(t, testenv.Corpus(t, file)) {
				p := newPlanner(&cfg, es.Identity{}).plan(&r)
				if p.refused == "" && (!bytes.Equal(p.shot.Body, r.Body) || p.shot.Target != r.Target) {
					t.Fatalf("%s %s changed", r.Method, filepath.Base(file))
				}
				n++
			}
			t.Logf("%d requests", n)
		})
	}
}

// corpus reads requests from lines of JSON with method, path and body.
func corpus(t testing.TB, path string) (out []capture.Record) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) == 0 {
			return out
		}
		var req struct {
			Method string          `json:"method"`
			Path   string          `json:"path"`
			Body   json.RawMessage `json:"body"`
		}
		if e := json.Unmarshal(line, &req); e != nil {
			t.Fatal(e)
		}
		body := []byte(req.Body)
		var text string
		if json.Unmarshal(body, &text) == nil {
			body = []byte(text)
		}
		if req.Method != "" && strings.HasPrefix(req.Path, "/") {
			out = append(out, capture.Record{Method: req.Method, Target: req.Path, Body: body, BodySize: int64(len(body))})
		}
		if err != nil {
			return out
		}
	}
}

func TestMappingKeepsEveryOtherByte(t *testing.T) {
	cfg := Default()
	cfg.Writes, cfg.IndexMap = true, []IndexRule{{"idx", "IDX"}}
	p := newPlanner(&cfg, es.Identity{})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é\t]{0,12}`)
		quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
		field, value := quote(text.Draw(t, "field")), quote(text.Draw(t, "value"))
		space := rapid.StringMatching(`[ \t]{0,3}`).Draw(t, "space")
		doc := "{" + field + ":" + space + value + "}"
		body := fmt.Sprintf("{%s\"index\":{%s\"_index\":%s\"idx\"}}\n%s\n", space, space, space, doc)
		got := p.plan(&capture.Record{Method: "POST", Target: "/_bulk", Body: []byte(body), BodySize: int64(len(body))})
		if want := strings.Replace(body, `"idx"`, `"IDX"`, 1); got.refused != "" || string(got.shot.Body) != want {
			t.Fatalf("%q\n%q\n%q", got.refused, got.shot.Body, want)
		}
	})
}

func FuzzRewrite(f *testing.F) {
	f.Add("POST", "/logs/_search", []byte(`{"query":{"terms":{"a":{"index":"logs","id":"1"}}}}`))
	f.Add("POST", "/_bulk", []byte("{\"index\":{\"_index\":\"logs\"}}\n{}\n"))
	f.Add("POST", "/_msearch", []byte("{\"index\":[\"logs\"]}\n{\"indices_boost\":[{\"logs\":1}]}\n"))
	cfg := Default()
	cfg.Writes, cfg.IndexMap = true, []IndexRule{{"l*s", "*x*"[:2]}}
	f.Fuzz(func(t *testing.T, method, target string, body []byte) {
		p := newPlanner(&cfg, es.Identity{}).plan(&capture.Record{Method: method, Target: target, Body: body, BodySize: int64(len(body))})
		if p.refused == "" && !sendable(&p.shot) {
			t.Fatal("a request that cannot be sent was let through")
		}
		if json.Valid(body) && p.refused == "" && !json.Valid(p.shot.Body) && len(p.shot.Body) > 0 {
			t.Fatal("a valid body was broken")
		}
	})
}

// A search of version 7 with the type _doc goes out without it: with it, later
// versions would write the query as a document.
func TestTypesOfVersion7(t *testing.T) {
	for _, x := range []struct{ method, target, sent, refused string }{
		{"POST", "/logs/_doc/_search?size=1", "/shadow/_search?size=1", ""},
		{"GET", "/logs/_doc/_count", "/shadow/_count", ""},
		{"POST", "/logs/_doc/_msearch", "/shadow/_msearch", ""},
		{"POST", "/logs/_doc/_bulk", "", RefusedWrite},
		{"POST", "/logs/_doc/_x", "", RefusedWrite},
		{"PUT", "/logs/_doc/_search", "", RefusedWrite},
		{"POST", "/logs/_doc/_update_by_query", "", RefusedMassWrite},
		{"PUT", "/logs/_doc/_mapping", "", RefusedDestructive},
		{"POST", "/logs/t/_search", "/shadow/t/_search", ""},
	} {
		cfg := Default()
		cfg.IndexMap = []IndexRule{{"logs", "shadow"}}
		rec := capture.Record{Method: x.method, Target: x.target, Body: []byte("{}\n{}\n"), BodySize: 6}
		for _, live := range []bool{false, true} {
			p := newPlanner(&cfg, es.Identity{})
			p.live = live
			if got := p.plan(&rec); got.refused != x.refused || x.refused == "" && got.shot.Target != x.sent {
				t.Errorf("%s %s: %q, sent as %q", x.method, x.target, got.refused, got.shot.Target)
			}
		}
	}
}
