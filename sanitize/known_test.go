package sanitize

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

const knownSettings = `{"i":{"settings":{"index":{"analysis":{
 "normalizer":{"plainly":{"filter":["lowercase","asciifolding"]},"odd":{"filter":["my_add_on"]}},
 "analyzer":{"edgy":{"tokenizer":"standard","filter":["lowercase","grams"]},"tri":{"tokenizer":"ngram"},"syn":{"tokenizer":"standard","filter":["syns"]},
  "stops":{"tokenizer":"standard","filter":["lowercase","some"]},"folded":{"tokenizer":"standard","filter":["lowercase","asciifolding"]},
  "han":{"tokenizer":"ik_max_word"},"parts":{"tokenizer":"whitespace","filter":["word_delimiter_graph"]},"html":{"tokenizer":"standard","char_filter":["html_strip"]},
  "snow":{"tokenizer":"standard","filter":["lowercase","snowball"]}},
 "filter":{"grams":{"type":"edge_ngram"},"syns":{"type":"synonym_graph","synonyms":["a, b"]},"some":{"type":"stop","stopwords":"_german_"}}}}}}}`

const knownFields = `{"i":{"mappings":{"properties":{
 "kw":{"type":"keyword"},"low":{"type":"keyword","normalizer":"lowercase"},"plain":{"type":"keyword","normalizer":"plainly"},"odd":{"type":"keyword","normalizer":"odd"},
 "brief":{"type":"keyword","ignore_above":20},"txt":{"type":"text","fields":{"raw":{"type":"keyword"}}},"ws":{"type":"text","analyzer":"whitespace"},
 "simple":{"type":"text","analyzer":"simple"},"whole":{"type":"text","analyzer":"keyword"},"en":{"type":"text","analyzer":"english"},
 "en2":{"type":"text","analyzer":"english","fields":{"raw":{"type":"keyword"}}},"de":{"type":"text","analyzer":"german"},"snow":{"type":"text","analyzer":"snow"},
 "edge":{"type":"text","analyzer":"edgy","search_analyzer":"standard"},"tri":{"type":"text","analyzer":"tri"},"cjk":{"type":"text","analyzer":"cjk"},
 "han":{"type":"text","analyzer":"han"},"smart":{"type":"text","analyzer":"smartcn"},"syn":{"type":"text","analyzer":"syn"},"stops":{"type":"text","analyzer":"stops"},
 "folded":{"type":"text","analyzer":"folded"},"parts":{"type":"text","analyzer":"parts"},"html":{"type":"text","analyzer":"html"},
 "n":{"type":"integer"},"sh":{"type":"short"},"big":{"type":"long"},"price":{"type":"double"},"day":{"type":"date"},"iso":{"type":"date","format":"yyyy-MM-dd"},
 "dmy":{"type":"date","format":"dd.MM.yyyy||yyyyMMdd"},"addr":{"type":"ip"},"flag":{"type":"boolean"},"flat":{"type":"flattened"},"place":{"type":"geo_point"},
 "name":{"type":"alias","path":"kw"},"secret":{"type":"keyword"},"other_secret":{"type":"alias","path":"secret"},
 "items":{"type":"nested","properties":{"sku":{"type":"keyword"}}},"obj":{"properties":{"code":{"type":"keyword"}}}},
 "runtime":{"hour":{"type":"long"},"word":{"type":"keyword"}}}}}`

func knownSchema(t testing.TB) *es.Schema {
	t.Helper()
	s, err := es.ParseSchema([]byte(knownFields), []byte(knownSettings))
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

func knownConfig(t testing.TB, name string, rules ...FieldRule) Config {
	t.Helper()
	c := preset(name)
	c.Snapshot, c.Fields = knownSchema(t), rules
	return c
}

// TestKnownFidelity holds what a record tells, by the type and the analysers of
// the field, in presets fidelity and, where it differs, strict.
func TestKnownFidelity(t *testing.T) {
	fid, str := newWorker(t, knownConfig(t, PresetFidelity)), newWorker(t, knownConfig(t, PresetStrict))
	q := func(kind, field, value string) string {
		return fmt.Sprintf(`{"query":{"%s":{"%s":%s}}}`, kind, field, value)
	}
	for _, c := range []struct{ body, fidelity, strict string }{
		// whole values
		{q("term", "kw", `"42"`), "exact", ""},
		{q("term", "kw", `42`), "exact", ""},
		{q("match", "kw", `"北京市"`), "exact", ""},
		{q("match", "kw", `"2024"`), "exact", ""},
		{q("range", "kw", `{"gte":"2024-05-01"}`), "broken range_text", ""},
		{q("range", "kw", `{"gte":10}`), "broken range_text", ""},
		{q("prefix", "kw", `"ord-"`), "exact", ""},
		{q("prefix", "kw", `"or"`), "broken prefix", ""},
		{q("term", "txt.raw", `"42"`), "exact", ""},
		{q("term", "name", `"42"`), "exact", ""},
		{q("term", "flat.a.b", `"42"`), "exact", ""},
		{q("term", "obj.code", `"42"`), "exact", ""},
		{q("term", "items.sku", `"42"`), "exact", ""},
		{q("term", "low", `"Anna"`), "exact", ""},
		{q("term", "plain", `"Anna"`), "exact", ""},
		{q("term", "plain", `"Müller"`), "approx folding", ""},
		{q("term", "odd", `"anna"`), "broken analyzer", ""},
		{q("term", "brief", `"anna"`), "exact", ""},
		{q("term", "brief", `"a b c d e"`), "broken ignore_above", ""},
		{q("prefix", "brief", `"ord-"`), "approx ignore_above", ""},
		// texts
		{q("match", "txt", `"anna berg 420"`), "exact", ""},
		{q("match", "txt", `"420"`), "exact", ""},
		{q("match", "txt", `420`), "exact", ""},
		{q("match", "txt", `"05"`), "approx part_of_shape", ""},
		{q("match", "txt", `"北京"`), "broken ideographs", ""},
		{q("match", "txt", `"2024"`), "broken part_of_shape", ""},
		{q("term", "txt", `"2024"`), "broken part_of_shape", ""},
		{q("match", "txt", `"face"`), "approx part_of_shape", ""},
		{q("match_phrase_prefix", "txt", `"anna "`), "broken prefix", ""},
		{q("match", "ws", `"北京 2024"`), "exact", ""},
		{q("match", "ws", `"10:30"`), "approx part_of_shape", ""},
		{q("match", "simple", `"北京 berg"`), "exact", ""},
		{q("match", "simple", `"a fee"`), "approx part_of_shape", ""},
		{q("match", "whole", `"北京, 2024"`), "exact", ""},
		{q("match", "en", `"running bergs"`), "exact", ""},
		{q("match", "en", `"anna's"`), "exact", ""},
		{q("match", "en", `"1990"`), "approx stem", ""},
		{q("match", "en", `"x_y"`), "approx stem", ""},
		{q("match", "en", `"nulls"`), "approx stem", ""},
		{q("match", "en", `"müllers"`), "broken stem", ""},
		{q("match", "en", `"北京"`), "broken ideographs", ""},
		{q("term", "en", `"runs"`), "broken stem", ""},
		{q("match", "en2", `"running"`), "broken stem", ""},
		{q("match", "de", `"berg"`), "broken stem", ""},
		{q("match", "snow", `"berg"`), "broken stem", ""},
		{q("match", "edge", `"berg"`), "broken ngram", ""},
		{q("match", "tri", `"berg"`), "broken ngram", ""},
		{q("match", "cjk", `"berg"`), "approx ideographs", ""},
		{q("match", "cjk", `"北京"`), "broken ideographs", ""},
		{q("match", "han", `"berg"`), "approx dictionary", ""},
		{q("match", "han", `"北京"`), "broken dictionary", ""},
		{q("match", "smart", `"北京"`), "broken dictionary", ""},
		{q("match", "syn", `"berg"`), "broken synonyms", ""},
		{q("match", "stops", `"berg"`), "broken stop_words", ""},
		{q("match", "folded", `"berg"`), "exact", ""},
		{q("match", "folded", `"müller"`), "approx folding", ""},
		{q("match", "parts", `"berg"`), "broken splits", ""},
		{q("match", "html", `"berg"`), "approx analyzer", ""},
		// numbers, dates, addresses
		{q("term", "n", `"42"`), "exact", "broken number_as_string"},
		{q("term", "n", `42`), "exact", ""},
		{q("range", "n", `{"gte":"42","lt":1000}`), "exact", ""},
		{q("range", "n", `{"gte":1234567}`), "exact", "broken number_range"},
		{q("range", "price", `{"gte":1234.5}`), "exact", "approx rounded"},
		{q("range", "big", `{"gte":13800138000}`), "broken number_range", ""},
		{q("range", "day", `{"gte":1714521600000}`), "exact", "broken number_range"},
		{q("match", "day", `"2024-05-01"`), "exact", ""},
		{q("term", "day", `"2024"`), "exact", "broken number_as_string"},
		{q("range", "day", `{"gte":"now-1d"}`), "exact", "broken now"},
		{q("range", "day", `{"gte":"01/May/2024:10:00:00 +0200"}`), "exact", "broken range_text"},
		{q("range", "day", `{"gte":"2024"}`), "exact", "broken partial_date"},
		{q("range", "day", `{"gte":"2024-05-01||+1M"}`), "exact", "approx interval"},
		{q("range", "dmy", `{"gte":"31.12.2024"}`), "exact", ""},
		{q("range", "dmy", `{"gte":"20241231"}`), "exact", ""},
		{q("term", "addr", `"10.0.0.0/8"`), "exact", ""},
		{q("range", "addr", `{"gte":"10.0.0.1"}`), "broken ip_range", ""},
		{q("term", "hour", `10`), "approx script", ""},
		{q("term", "word", `"anna"`), "broken script", ""},
		// order
		{`{"sort":["n"]}`, "exact", "approx sort"},
		{`{"sort":[{"sh":"asc"}]}`, "exact", "approx sort"},
		{`{"sort":[{"big":{"order":"asc"}}]}`, "approx sort", ""},
		{`{"sort":["price"]}`, "approx sort", ""},
		{`{"sort":["day"]}`, "exact", "approx sort"},
		{`{"sort":["iso","flag","_score"]}`, "exact", ""},
		{`{"sort":["kw"]}`, "approx sort", ""},
		{`{"sort":["addr"]}`, "approx sort", ""},
		{`{"sort":["unknown"]}`, "approx sort", ""},
		{`{"aggs":{"a":{"terms":{"field":"n","order":{"_key":"asc"}}}}}`, "exact", "approx order_by_key"},
		{`{"aggs":{"a":{"terms":{"field":"kw","order":{"_key":"asc"}}}}}`, "approx order_by_key", ""},
		{`{"aggs":{"a":{"histogram":{"field":"n","interval":10}}}}`, "exact", "approx interval"},
		{`{"aggs":{"a":{"terms":{"field":"price"}}}}`, "exact", "approx lossy_field"},
		// several fields
		{`{"query":{"multi_match":{"query":"berg","fields":["txt^2","ws"]}}}`, "approx many_fields", ""},
		{`{"query":{"multi_match":{"query":"runs","fields":["txt","en2"]}}}`, "broken stem", ""},
		{`{"query":{"multi_match":{"query":"running","fields":["en"]}}}`, "approx many_fields", ""},
		{`{"query":{"query_string":{"query":"berg"}}}`, "broken stem", ""},
		{`{"query":{"query_string":{"query":"kw:42","default_field":"txt"}}}`, "exact", ""},
		{`{"query":{"query_string":{"query":"n:[1 TO 5] AND day:2024-05-01"}}}`, "exact", ""},
		{`{"query":{"query_string":{"query":"berg","default_field":"syn"}}}`, "broken synonyms", ""},
		{`{"query":{"query_string":{"query":"syn:berg","default_field":"txt"}}}`, "broken synonyms", ""},
		// not in the schema: as without one
		{q("match", "new", `"北京"`), "broken ideographs", ""},
		{q("term", "new", `"42"`), "broken number_as_string", ""},
		{q("range", "new", `{"gte":"2024-05-01"}`), "exact", ""},
	} {
		for _, x := range []struct {
			w    *Worker
			name string
			want string
		}{{fid, PresetFidelity, c.fidelity}, {str, PresetStrict, c.strict}} {
			want := x.want
			if want == "" {
				want = c.fidelity
			}
			var rec capture.Record
			if drop := x.w.Sanitize(&rec, exchange("POST", "/i/_search", c.body)); drop != "" {
				t.Errorf("%s %s: %s", x.name, c.body, drop)
				continue
			}
			if got := strings.TrimSpace(rec.Fidelity + " " + rec.FidWhy); got != want {
				t.Errorf("%s %s: %s, want %s (%s)", x.name, c.body, got, want, rec.Body)
			}
		}
	}
}

// TestKnownIndices: a query is judged by the indices that it names, and values are
// treated alike in all of them.
func TestKnownIndices(t *testing.T) {
	s, err := es.ParseSchema([]byte(`{
	 "logs-1":{"mappings":{"properties":{"msg":{"type":"text"},"code":{"type":"keyword"},"n":{"type":"integer"},"d":{"type":"date"}}}},
	 "logs-2":{"mappings":{"properties":{"msg":{"type":"text"},"code":{"type":"keyword"},"n":{"type":"integer"},"d":{"type":"date"}}}},
	 "shop":{"mappings":{"properties":{"msg":{"type":"text","analyzer":"english"},"code":{"type":"long"},"n":{"type":"long"},"d":{"type":"date"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := preset(PresetFidelity)
	c.Snapshot = &s
	w := newWorker(t, c)
	const match, all, order, code = `{"query":{"match":{"msg":"running"}}}`, `{"query":{"query_string":{"query":"running"}}}`, `{"sort":["n"]}`, `{"query":{"term":{"code":"42"}}}`
	for _, x := range []struct{ target, body, want string }{
		{"/logs-*/_search", match, "exact"},
		{"/logs-1,logs-2/_search", match, "exact"},
		{"/shop/_search", match, "broken stem"},
		{"/logs-*,shop/_search", match, "broken stem"},
		{"/_search", match, "broken stem"},
		{"/an-alias/_search", match, "broken stem"},
		{"/logs-1,an-alias/_search", match, "broken stem"},
		{"/far:logs-1/_search", match, "broken stem"},
		{"/logs-*,-logs-1/_search", match, "broken stem"},
		{"/logs-1/_search?q=running", "", "exact"},
		{"/_search?q=running", "", "broken stem"},
		{"/logs-1/_search", all, "exact"},
		{"/shop/_search", all, "broken stem"},
		{"/logs-1/_search", order, "exact"},
		{"/shop/_search", order, "approx sort"},
		{"/logs-1/_search", code, "broken number_as_string"}, // in shop it is a number: documents keep it
		{"/_msearch", `{"index":"logs-1"}` + "\n" + match + "\n", "exact"},
		{"/shop/_msearch", `{"index":["logs-*"]}` + "\n" + match + "\n", "exact"},
		{"/shop/_msearch", "{}\n" + match + "\n", "broken stem"},
		{"/logs-1/_msearch", `{"index":"shop"}` + "\n" + match + "\n" + `{}` + "\n" + match + "\n", "broken stem"},
	} {
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", x.target, x.body)); drop != "" {
			t.Errorf("%s %s: %s", x.target, x.body, drop)
		} else if got := strings.TrimSpace(rec.Fidelity + " " + rec.FidWhy); got != x.want && !(x.want == "exact" && got == "approx many_fields") {
			t.Errorf("%s %s: %s, want %s", x.target, x.body, got, x.want)
		}
	}
	one := made(t, w, "msg", `"running"`)
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("PUT", "/shop/_doc/1", `{"msg":"running"}`)); drop != "" || !strings.Contains(string(rec.Body), one) {
		t.Errorf("running became %s in one index and %s %s in another", one, rec.Body, drop)
	}
}

// TestCopiedValues: what copy_to brings into a field was treated as in the field
// that it came from.
func TestPlansAreBounded(t *testing.T) {
	w := newWorker(t, knownConfig(t, PresetStrict))
	other := newView(w.p.schema)
	w.groups["other"] = other
	for i := range maxPlans + 10 {
		w.view = []*view{w.all, other}[i%2]
		path := fmt.Sprint("labels.", i)
		w.knownPlan(path)
		w.manyPlan([]string{path, "kw"})
	}
	w.knownPlan(strings.Repeat("x", maxPlanKey+1))
	kept := 0
	for _, v := range []*view{w.all, other} {
		kept += len(v.plans) + len(v.many)
		for _, m := range []map[string]*plan{v.plans, v.many} {
			for key := range m {
				if len(key) > maxPlanKey {
					t.Error("a path as long as a client likes is kept")
				}
			}
		}
	}
	if kept == 0 || kept > maxPlans {
		t.Errorf("%d plans are kept, want at most %d", kept, maxPlans)
	}
	if pl := w.knownPlan("kw"); pl.facts == nil || pl.facts.Kind != es.KindWhole {
		t.Errorf("what was forgotten is another plan: %+v", pl)
	}
}

func TestCopiedValues(t *testing.T) {
	s, err := es.ParseSchema([]byte(`{"i":{"mappings":{"properties":{"title":{"type":"text","analyzer":"english","copy_to":"all"},"n":{"type":"long","copy_to":["all","both"]},
	 "name":{"type":"keyword","copy_to":["both","kept"]},"all":{"type":"text","analyzer":"english","fields":{"raw":{"type":"keyword"}}},"both":{"type":"text"},"kept":{"type":"keyword"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := preset(PresetFidelity)
	c.Snapshot, c.Fields = &s, []FieldRule{{Match: Globs{"kept"}, Action: "keep", Why: "x"}}
	w := newWorker(t, c)
	if a, b := made(t, w, "title", `"running"`), made(t, w, "title", `"runs"`); a == b {
		t.Error("a copy of the title is indexed by another field, too")
	}
	for body, want := range map[string]string{
		`{"query":{"match":{"both":"anna"}}}`:   "exact",
		`{"query":{"match":{"both":"4200"}}}`:   "broken copied",
		`{"query":{"term":{"kept":"anna"}}}`:    "broken copied",
		`{"query":{"term":{"all.raw":"x9"}}}`:   "broken copied",
		`{"query":{"match":{"all":"running"}}}`: "broken stem",
	} {
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", body)); drop != "" {
			t.Errorf("%s: %s", body, drop)
		} else if got := strings.TrimSpace(rec.Fidelity + " " + rec.FidWhy); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestKnownRules: what a rule does to a field whose type is known.
func TestKnownRules(t *testing.T) {
	w := newWorker(t, knownConfig(t, PresetFidelity,
		FieldRule{Match: Globs{"kw", "txt"}, Action: "keep", Why: "x"},
		FieldRule{Match: Globs{"edge"}, Action: "prefix"},
		FieldRule{Match: Globs{"tri", "han"}, Action: "charsub", AcceptWeak: true},
		FieldRule{Match: Globs{"big"}, Action: "shift"},
		FieldRule{Match: Globs{"day"}, Action: "date-shift"},
		FieldRule{Match: Globs{"sh"}, Action: "fpe"},
		FieldRule{Match: Globs{"en2"}, Action: "tokens", Normalize: Globs{"stem:english"}},
		FieldRule{Match: Globs{"ws"}, Action: "tokens", Normalize: Globs{"fold"}},
		FieldRule{Match: Globs{"parts"}, Action: "tokens", Split: Globs{"case"}},
		FieldRule{Match: Globs{"secret"}, Action: "mask"},
	))
	for body, want := range map[string]string{
		`{"sort":["kw","big","day"]}`:                       "exact",
		`{"sort":["sh"]}`:                                   "approx sort",
		`{"query":{"range":{"kw":{"gte":"a","lt":"b"}}}}`:   "exact",
		`{"query":{"term":{"name":"anna"}}}`:                "exact", // an alias has the rule of its target
		`{"query":{"term":{"other_secret":"anna"}}}`:        "broken masked_field",
		`{"query":{"match":{"txt":"北京"}}}`:                  "exact",
		`{"query":{"match":{"edge":"an"}}}`:                 "exact",
		`{"query":{"match":{"tri":"anna"}}}`:                "exact",
		`{"query":{"match":{"han":"北京"}}}`:                  "broken dictionary",
		`{"query":{"range":{"big":{"gte":7}}}}`:             "exact",
		`{"query":{"match":{"en2":"running"}}}`:             "exact",
		`{"query":{"term":{"en2.raw":"running"}}}`:          "broken normalized",
		`{"query":{"match":{"ws":"muller"}}}`:               "broken normalized", // its analyser tells apart what is folded
		`{"query":{"match":{"parts":"iPhone"}}}`:            "approx splits",
		`{"query":{"range":{"sh":{"gte":7}}}}`:              "broken number_range",
		`{"aggs":{"a":{"terms":{"field":"other_secret"}}}}`: "approx lossy_field",
	} {
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", body)); drop != "" {
			t.Errorf("%s: %s", body, drop)
		} else if got := strings.TrimSpace(rec.Fidelity + " " + rec.FidWhy); got != want {
			t.Errorf("%s: %s, want %s (%s)", body, got, want, rec.Body)
		}
	}
}

// made is what a document's value becomes.
func made(t testing.TB, w *Worker, field, value string) string {
	t.Helper()
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("PUT", "/i/_doc/1", fmt.Sprintf(`{"%s":%s}`, field, value))); drop != "" {
		t.Fatalf("%s %s: %s", field, value, drop)
	}
	_, out, _ := strings.Cut(string(rec.Body), ":")
	return strings.TrimSuffix(out, "}")
}

// TestKnownValues: values that no rule is for stay valid for their field's type,
// and are the same however a document writes them.
func TestKnownValues(t *testing.T) {
	fid, str := newWorker(t, knownConfig(t, PresetFidelity)), newWorker(t, knownConfig(t, PresetStrict))
	for _, c := range []struct{ field, value, want string }{
		{"n", `"42"`, `"42"`},
		{"n", `"-7"`, `"-7"`},
		{"big", `"1e3"`, `"1e3"`},
		{"day", `"20240501"`, `"20240501"`},
		{"day", `"01/May/2024:10:00:00 +0200"`, `"01/May/2024:10:00:00 +0200"`},
		{"day", `1714521600000`, `1714521600000`},
		{"place", `"u33dc1"`, `"u33dc1"`},
		{"flag", `"true"`, `"true"`},
	} {
		if got := made(t, fid, c.field, c.value); got != c.want {
			t.Errorf("fidelity: %s %s became %s, want %s", c.field, c.value, got, c.want)
		}
	}
	for _, w := range []*Worker{fid, str} {
		for _, same := range [][3]string{
			{"kw", `"42"`, `42`},
			{"kw", `"12345678"`, `12345678`},
			{"txt", `"1.50"`, `1.50`},
			{"flat.a", `"1001"`, `1001`},
			{"en", `"running"`, `"runs"`},
			{"folded", `"müller"`, `"muller"`},
			{"plain", `"Müller"`, `"Muller"`},
		} {
			if a, b := made(t, w, same[0], same[1]), made(t, w, same[0], same[2]); strings.Trim(a, `"`) != strings.Trim(b, `"`) || a == same[1] {
				t.Errorf("%s: %s became %s, %s became %s", same[0], same[1], a, same[2], b)
			}
		}
		if a, b := made(t, w, "en2", `"running"`), made(t, w, "en2", `"runs"`); a == b {
			t.Errorf("a sub-field tells apart what became equal: %s", a)
		}
	}
	if got := made(t, fid, "big", `"13800138000"`); got == `"13800138000"` || strings.Trim(got, `"`) != made(t, fid, "big", `13800138000`) {
		t.Errorf("a telephone number in a number's field became %s", got)
	}
	// strict moves dates of all forms that the mapping allows by the same weeks.
	a, b := made(t, str, "dmy", `"31.12.2024"`), made(t, str, "dmy", `"20241231"`)
	y := made(t, str, "iso", `"2024-12-31"`)
	if want := fmt.Sprintf("%q", y[9:11]+"."+y[6:8]+"."+y[1:5]); a != want || b != `"`+y[1:5]+y[6:8]+y[9:11]+`"` || y == `"2024-12-31"` {
		t.Errorf("31.12.2024 became %s, 20241231 %s, 2024-12-31 %s", a, b, y)
	}
	if got := made(t, str, "n", `"42"`); got == `"42"` {
		t.Errorf("strict shows a number in quotes")
	}
}

// TestSchemaShowsNoMore: in strict nothing stays as it is by a schema that did not
// stay without one.
func TestSchemaShowsNoMore(t *testing.T) {
	without, with := newWorker(t, preset(PresetStrict)), newWorker(t, knownConfig(t, PresetStrict))
	fields := slices.Sorted(maps.Keys(knownPaths(t)))
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom(fields).Draw(t, "field")
		value := rapid.OneOf(
			rapid.SampledFrom([]string{`"2024-05-01"`, `"20240501"`, `"2024-05"`, `"2024"`, `"31.12.1999"`, `"01/May/2024"`, `"42"`, `"1e3"`, `"u33dc1"`, `"52.5,13.4"`, `"10.0.0.7"`, `42`, `1714521600000`, `1.5`, `"13800138000"`}),
			rapid.Map(rapid.StringMatching(`[a-zA-Z0-9 .:/-]{1,20}`), func(s string) string { return `"` + s + `"` }),
			rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) string { return fmt.Sprint(n) }),
		).Draw(t, "value")
		body := fmt.Sprintf(`{"%s":%s}`, field, value)
		var a, b capture.Record
		if drop := with.Sanitize(&b, exchange("PUT", "/i/_doc/1", body)); drop != "" {
			return
		}
		if drop := without.Sanitize(&a, exchange("PUT", "/i/_doc/1", body)); drop != "" || string(b.Body) == body && string(a.Body) != body {
			t.Fatalf("%s stays with a schema, without one it becomes %s %s", body, a.Body, drop)
		}
	})
}

func knownPaths(t testing.TB) map[string]bool {
	paths := map[string]bool{"new": true}
	for _, p := range knownSchema(t).Paths() {
		if !strings.Contains(p, ".") && p != "hour" && p != "word" && p != "name" && p != "other_secret" {
			paths[p] = true
		}
	}
	return paths
}

// TestSchemaHash: the schema has a hash of its own and is no part of the rules'.
func TestSchemaHash(t *testing.T) {
	plain, known := newWorker(t, preset(PresetStrict)).p, newWorker(t, knownConfig(t, PresetStrict)).p
	if plain.RulesHash() != known.RulesHash() || plain.SchemaHash() != "" || len(known.SchemaHash()) != 16 {
		t.Errorf("rules %s and %s, schema %q and %q", plain.RulesHash(), known.RulesHash(), plain.SchemaHash(), known.SchemaHash())
	}
	c := knownConfig(t, PresetStrict)
	c.Snapshot.Groups[0].Fields[0].Type = "other"
	if got := newWorker(t, c).p.SchemaHash(); got == known.SchemaHash() {
		t.Error("another schema has the same hash")
	}
}

// TestCanariesOfEveryType passes every canary case through a sanitiser to which
// every name in the cases is a field, of one type after the other.
func TestCanariesOfEveryType(t *testing.T) {
	cases := corpus(t, "canary_cases.ndjson")
	names := map[string]bool{}
	for _, r := range cases {
		for _, word := range strings.FieldsFunc(r.text(t)+" "+r.Path, func(r rune) bool {
			return r != '_' && r != '.' && r != '-' && !(r >= 'a' && r <= 'z') && !(r >= 'A' && r <= 'Z')
		}) {
			names[word] = true
		}
	}
	for _, f := range []string{`"type":"keyword"`, `"type":"text"`, `"type":"text","analyzer":"english"`, `"type":"text","analyzer":"ik_smart"`, `"type":"long"`, `"type":"double"`, `"type":"date"`, `"type":"ip"`, `"type":"boolean"`, `"type":"geo_point"`} {
		var doc struct {
			Type     string `json:"type"`
			Analyzer string `json:"analyzer"`
		}
		if err := json.Unmarshal([]byte("{"+f+"}"), &doc); err != nil {
			t.Fatal(err)
		}
		s := &es.Schema{Version: 1, Groups: []es.IndexSchema{{Indices: []string{"i"}}}}
		for n := range names {
			s.Groups[0].Fields = append(s.Groups[0].Fields, es.FieldInfo{Path: n, Type: doc.Type, Analyzer: doc.Analyzer})
		}
		for _, name := range []string{PresetStrict, PresetFidelity} {
			c := preset(name)
			c.Snapshot = s
			w := newWorker(t, c)
			for _, r := range cases {
				if r.Direction == "response" {
					continue
				}
				var rec capture.Record
				if w.Sanitize(&rec, r.exchange(t)) != "" {
					continue
				}
				if mark := findMark(t, &rec, r.Canaries); mark != "" && !(name == PresetFidelity && keptByDesign[r.Name]) {
					t.Errorf("%s, %s: %s: %q is in %s %s", name, f, r.Name, mark, rec.Target, rec.Body)
				}
			}
		}
	}
}
