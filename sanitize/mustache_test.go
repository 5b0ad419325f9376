package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/esshadow/esshadow/capture"
)

// TestTemplates holds what becomes of the source of a search template, as a
// string and, where it is JSON, as an object.
func TestTemplates(t *testing.T) {
	for _, c := range []struct{ name, source, fid, why string }{
		{"values", `{"query":{"match":{"f":"{{who}}"}},"from":"{{from}}","size":{{size}}}`, "exact", ""},
		{"literals", `{ "query" : {"bool":{"filter":[{"term":{"f":"«anna»"}},{"term":{"g":"«Bo Li» {{x}}"}}]}} }`, "exact", ""},
		{"a word and a tag", `{"query":{"term":{"email":"{{who}}«anna»@«x».«test»"}}}`, "broken", "template"},
		{"fallback", `{"query":{"match_all":{}},"size":{{size}}{{^size}}10{{/size}},"from":"{{from}}{{^from}}0{{/from}}"}`, "exact", ""},
		{"JSON of a parameter", `{"query":{"terms":{"f":{{#toJson}}tags{{/toJson}} }}}`, "exact", ""},
		{"whole query", `{ "query": {{#toJson}}my_query{{/toJson}} }`, "broken", "template"},
		{"join", `{"query":{"match":{"f":"{{#join}}emails{{/join}}"}},"sort":[{"d":{"format":"{{#join delimiter='||'}}d.formats{{/join delimiter='||'}}"}}]}`, "approx", "sort"},
		{"sections", `{"query":{"bool":{"filter":[ {{#year}} {"range":{"d":{"gte":"now-1y/d"}}}, {{/year}} {"term":{"f":"{{id}}"}} ]}}{{#n}},"size":5{{/n}}}`, "exact", ""},
		{"section in a string", `{"query":{"match":{"f":"«hello» {{#a}}{{b}}{{/a}}{{^a}}«world»{{/a}}"}}}`, "broken", "template"},
		{"url", `{"query":{"term":{"u":"{{#url}}{{host}}/{{page}}{{/url}}"}}}`, "exact", ""},
		{"field", `{"query":{"term":{"{{field}}":"{{value}}"}},"_source":["{{lang}}.title"]}`, "exact", ""},
		{"comment", `{"query":{"match":{"f":"«bo»"}}}`, "exact", ""},
		{"prefix", `{"query":{"prefix":{"f":"{{x}}"}}}`, "broken", "prefix"},
		{"range", `{"query":{"range":{"d":{"gte":"{{d.min}}","lt":"2024-05-01"}}}}`, "exact", ""},
		{"ids", `{"query":{"ids":{"values":["{{id}}"]}}}`, "broken", "template"},
		{"query string", `{"query":{"query_string":{"query":"f:{{x}} AND «anna»","fields":["{{field}}^2"]}}}`, "exact", ""},
		{"names that are data", `{"query":{"match":{"f":"{{«anna@x»}}"}}}`, "exact", ""},
		{"escapes", `{"query":{"match":{"f":"«say» \"{{x}}\" «so»\\ "}}}`, "exact", ""},
		{"raw tags", `{"query":{"match":{"f":"{{{x}}} {{& y}}"}}}`, "exact", ""},
	} {
		w := newWorker(t, preset(PresetFidelity))
		in, want := marked(w, c.source)
		if c.name == "comment" {
			in = strings.Replace(in, `"f"`, `"f{{! anna }}"`, 1)
		}
		asString, _ := json.Marshal(map[string]any{"source": in, "params": map[string]any{"x": "anna"}})
		bodies := []string{string(asString)}
		if json.Valid([]byte(in)) {
			bodies = append(bodies, `{"source":`+in+`,"params":{"x":"anna"}}`)
		}
		for i, body := range bodies {
			t.Run(c.name+[]string{" string", " object"}[i], func(t *testing.T) {
				var rec capture.Record
				if drop := w.Sanitize(&rec, exchange("POST", "/i/_search/template", body)); drop != "" {
					t.Fatalf("dropped: %s", drop)
				}
				var out struct {
					Source json.RawMessage
					Params map[string]string
				}
				if err := json.Unmarshal(rec.Body, &out); err != nil {
					t.Fatal(err)
				}
				got := string(out.Source)
				if i == 0 {
					_ = json.Unmarshal(out.Source, &got)
				}
				if got != want {
					t.Errorf("became\n%s, want\n%s", got, want)
				}
				if rec.Fidelity != c.fid || rec.FidWhy != c.why {
					t.Errorf("fidelity %s %s, want %s %s", rec.Fidelity, rec.FidWhy, c.fid, c.why)
				}
				if out.Params["x"] != string(w.text.text(nil, []byte("anna"))) {
					t.Errorf("params %v", out.Params)
				}
			})
		}
	}
}

// TestCollate: the template of a phrase suggester is that of a query.
func TestCollate(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for _, source := range []string{`{"match":{"{{f}}":"{{suggestion}} «anna»"}}`, `"{\"match\":{\"{{f}}\":\"{{suggestion}} «anna»\"}}"`} {
		in, want := marked(w, `{"suggest":{"s":{"text":"«bo»","phrase":{"field":"t","collate":{"query":{"source":`+source+`},"params":{"f":"«title»"}}}}}}`)
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", in)); drop != "" || string(rec.Body) != want {
			t.Errorf("%q: %s, want %s", drop, rec.Body, want)
		}
	}
}

// TestTemplateDrops holds templates that are not surely understood.
func TestTemplateDrops(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         reason
	}{
		{"two values", `{"size":{{#a}} 5 {{/a}}{{^a}} 6 {{/a}}}`, dropTemplate},
		{"fallback that is data", `{"query":{"term":{"f":{{x}}{{^x}}"anna"{{/x}}}}}`, dropTemplate},
		{"partial", `{"query":{"match":{"f":"{{>anna}}"}}}`, dropTemplate},
		{"other delimiters", `{{=<% %>=}}{"query":{"match":{"f":"<% anna %>"}}}`, dropTemplate},
		{"open tag", `{"query":{"match":{"f":"{{anna"}}}`, dropTemplate},
		{"no JSON", `{"query":{{#a}}`, dropTemplate},
		{"script", `{"script_fields":{"a":{"script":"{{anna}}"}}}`, dropTemplate},
		{"comment of JSON", `{"query":/* anna */{"match_all":{}}}`, dropTemplate},
		{"private use", "{\"query\":{\"match\":{\"f\":\"\ue000\"}}}", dropTemplate},
		{"unknown clause", `{"query":{"{{kind}}":{"f":"anna"}}}`, dropUnknownClause},
		{"delimiter that is data", `{"query":{"match":{"f":"{{#join delimiter='anna'}}x{{/join}}"}}}`, dropTemplate},
	} {
		w := newWorker(t, preset(PresetFidelity))
		body, _ := json.Marshal(map[string]string{"source": c.source})
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search/template", string(body))); drop != string(c.want) {
			t.Errorf("%s: %q, want %q: %s", c.name, drop, c.want, rec.Body)
		}
	}
}

// FuzzTemplate: no template makes it panic, none comes out with a masked tag in
// it, and what comes out has the same tags, is understood and the same again.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		`{"query":{"match":{"f":"a {{x}}"}},"size":{{n}}{{^n}}10{{/n}}}`, `{"query":{{#toJson}}q{{/toJson}}}`,
		`{"query":{"bool":{"filter":[{{#a}}{"term":{"f":"b"}},{{/a}}{"match_all":{}}]}}}`, `{"from":"{{{x}}}","sort":["{{! c }}"]}`,
	} {
		f.Add(s)
	}
	w := newWorker(f, preset(PresetFidelity))
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		w.reset()
		out, why := w.templateText(nil, []byte(s), "search")
		if why != kept {
			return
		}
		if !utf8.Valid(out) || hasTag(out) {
			t.Errorf("%q became %q", s, out)
		}
		first := string(out)
		w.reset()
		if out, why = w.templateText(nil, []byte(s), "search"); why != kept || string(out) != first {
			t.Errorf("%q became %q, then %q", s, first, out)
		}
		if _, why = w.templateText(nil, []byte(first), "search"); why != kept {
			t.Errorf("%q became %q, which is not understood: %s", s, first, why)
		}
	})
}
