package sanitize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/esshadow/esshadow/capture"
)

// FuzzSanitize: no request makes it panic; what it captures is JSON where JSON
// came in, is UTF-8, has as many lines, and is found clean by a second look.
func FuzzSanitize(f *testing.F) {
	for _, s := range []struct{ method, target, body string }{
		{"POST", "/i/_search", `{"query":{"bool":{"filter":[{"term":{"f":"anna"}},{"range":{"d":{"gte":"now-1d/d","lt":"2024-05-01||/M"}}}]}},"sort":[{"d":"asc"}]}`},
		{"POST", "/i/_search", `{"query":{"query_string":{"query":"a:(b c*) AND [1 TO 2] /x[a-z]+/ \"p q\"~2 z^3"}}}`},
		{"POST", "/i/_search", `{"aggs":{"a":{"terms":{"field":"f","include":"x.*"},"aggs":{"b":{"bucket_script":{"buckets_path":{"x":"a>b.value"},"script":"params.x * 2 // note"}}}}}}`},
		{"POST", "/i/_search", `{"query":{"wrapper":{"query":"eyJ0ZXJtIjp7ImYiOiJhbm5hIn19"}},"runtime_mappings":{"r":{"type":"keyword","script":{"source":"emit('x')"}}}}`},
		{"POST", "/_bulk", "{\"index\":{\"_id\":1}}\n{\"a\":\"b\"}\n{\"delete\":{\"_id\":\"x\"}}\n"},
		{"POST", "/_msearch", "{}\n{\"query\":{\"match_all\":{}}}\n"},
		{"GET", "/a,-b*,c:d/_search?q=x:y&routing=1,2&sort=a:desc&preference=_shards:1%7Cz&source={}", ""},
		{"GET", "/%3Clogs-%7Bnow%2Fd%7D%3E/_doc/a%2Fb", ""},
		{"GET", "http://u:p@h/_search/scroll/abc?scroll=1m#x", ""},
		{"POST", "/i/_search", "{/*c*/\"query\":{\"geo_distance\":{\"distance\":\"1km\",\"p\":\"1.5,2.5\"}}}//"},
		{"PUT", "/i/_doc/1", `{"a":[1,2.5,-0,1e400],"b":"13800138000 10.0.0.1 2024-05-01T00:00:00Z \u0041\ud83d\ude00"}`},
	} {
		f.Add(s.method, s.target, s.body)
	}
	strict, fidelity := newWorker(f, preset(PresetStrict)), newWorker(f, preset(PresetFidelity))
	f.Fuzz(func(t *testing.T, method, target, body string) {
		for _, w := range []*Worker{strict, fidelity} {
			var rec capture.Record
			x := exchange(method, target, body)
			x.Answer, x.AnswerSize = []byte(body), int64(len(body))
			drop := w.Sanitize(&rec, x)
			if drop != "" {
				if drop == string(dropPanic) || !slices.Contains(Reasons(), drop) {
					t.Fatalf("%q", drop)
				}
				continue
			}
			if !utf8.ValidString(rec.Target) || strings.ContainsAny(rec.Target, " \r\n") {
				t.Errorf("target %q", rec.Target)
			}
			if json.Valid([]byte(body)) && !json.Valid(rec.Body) {
				t.Errorf("%s became %s", body, rec.Body)
			}
			if (rec.Op == "bulk" || rec.Op == "msearch") && bytes.Count(rec.Body, []byte("\n")) != strings.Count(body, "\n") {
				t.Errorf("%q became %q", body, rec.Body)
			}
			before := string(rec.Body)
			var again capture.Record
			if drop := w.Sanitize(&again, x); drop != "" || string(again.Body) != before || again.Target != rec.Target {
				t.Errorf("not the same twice: %q %s, %s", drop, before, again.Body)
			}
		}
	})
}

// FuzzLucene: whatever the query string, it is taken or refused, never mangled
// to something that is not UTF-8.
func FuzzLucene(f *testing.F) {
	for _, s := range []string{`a:b`, `"x y"~2`, `[a TO b}`, `/re(g|x)+/`, `\u0061`, `a\:b`, `_exists_:x`, `f:"`, `((a OR b)`, `a~0.5^2`} {
		f.Add(s)
	}
	w := newWorker(f, preset(PresetStrict))
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		w.reset()
		out, _ := w.luceneText(nil, []byte(s))
		if !utf8.Valid(out) {
			t.Errorf("%q became %q", s, out)
		}
	})
}

// FuzzForms: whatever the text, every action makes UTF-8 of it, the same each
// time, without a panic.
func FuzzForms(f *testing.F) {
	cfg := preset(PresetFidelity)
	for _, rule := range textRules() {
		rule.Match = Globs{"f"}
		cfg.Fields = append(cfg.Fields, rule)
	}
	cfg.Fields = append(cfg.Fields, FieldRule{Match: Globs{"f"}, Action: "tokens", Normalize: Globs{"fold", "stem:english"}, Split: Globs{"case"}},
		FieldRule{Match: Globs{"f"}, Action: "bucket", Step: "0.3"})
	w := newWorker(f, cfg)
	w.reset()
	for _, s := range []string{
		"", "running", "yyyyyyying", "Anna's XMLHttp", "a\u0301b", "http://u:p@h/x?token=a&b=c#d", "://", "1e9", "-0", "2024-02-30", "20241301",
		"10.1.", "::ffff:10.1.2.3", "ﬁ", "ㄅ", "\u200d", "iiii", "sses", "1714521600",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		for i := range w.plans {
			a := string(w.plans[i].d.text(nil, []byte(s)))
			if b := string(w.plans[i].d.text(nil, []byte(s))); a != b || !utf8.ValidString(a) {
				t.Errorf("%q became %q and %q", s, a, b)
			}
		}
	})
}
