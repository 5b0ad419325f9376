package sanitize

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/esshadow/esshadow/capture"
)

// sanitized is what a request's body becomes.
func sanitized(t *testing.T, w *Worker, method, target, body string) (string, *capture.Record, string) {
	t.Helper()
	var rec capture.Record
	drop := w.Sanitize(&rec, exchange(method, target, body))
	return string(rec.Body), &rec, drop
}

// configured is a worker with a rules file over the defaults.
func configured(t *testing.T, text string) *Worker {
	t.Helper()
	cfg := Default()
	if err := yaml.UnmarshalWithOptions([]byte(text), &cfg, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return newWorker(t, cfg)
}

func TestRulesFile(t *testing.T) {
	w := configured(t, `
version: 1
preset: strict
domains: {person: {}, shop: {}}
defaults:
  string: {action: tokens, domain: text}
  integer: {action: fpe, min_digits: 4}
  float: {action: bucket, digits: 2}
  boolean: {action: mask}
fields:
  - {match: [status, "*.state"], action: keep, values: [active, blocked], why: enum}
  - {match: "user.**", action: pseudonym, domain: person}
  - {match: "**.token", action: mask, locked: true}
  - {match: title, action: tokens, normalize: [fold, "stem:english"]}
  - {match: nothing, action: "null"}
  - {match: forbidden, action: drop-record}
  - {match: sku, action: tokens, domain: shop}
`)
	doc := func(body string) string {
		got, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", body)
		if drop != "" {
			t.Fatalf("%s: %s", body, drop)
		}
		return got
	}
	for _, c := range []struct{ name, in, want string }{
		{"value that is listed", `{"status":"active","x":{"state":"blocked"}}`, `{"status":"active","x":{"state":"blocked"}}`},
		{"locked goes first", `{"user":{"token":"anna"}}`, `{"user":{"token":"mmmmm"}}`},
		{"null", `{"nothing":"anna"}`, `{"nothing":null}`},
		{"null for a number", `{"nothing":7}`, `{"nothing":null}`},
		{"integers below min_digits", `{"n":123}`, `{"n":123}`},
		{"fractions", `{"n":1.2345}`, `{"n":1.2}`},
		{"booleans", `{"n":true}`, `{"n":false}`},
	} {
		if got := doc(c.in); got != c.want {
			t.Errorf("%s: %s became %s", c.name, c.in, got)
		}
	}
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"value that is not listed", `{"status":"anna"}`, `{"other6":"anna"}`, false}, // names differ, so do bodies
		{"stems", `{"title":"running café"}`, `{"title":"runs cafe"}`, true},
		{"stop words and clitics", `{"title":"Anna's dogs"}`, `{"title":"Anna's dog"}`, true},
		{"another stem", `{"title":"run"}`, `{"title":"ran"}`, false},
		{"min_digits", `{"n":1234}`, `{"n":1235}`, false},
	} {
		if a, b := doc(c.a), doc(c.b); (a == b) != c.same {
			t.Errorf("%s: %s and %s", c.name, a, b)
		}
	}
	if a, b := doc(`{"status":"anna"}`), doc(`{"street":"anna"}`); strings.ReplaceAll(b, "street", "status") != a {
		t.Errorf("a value that is not listed: %s, elsewhere %s", a, b)
	}
	if got := doc(`{"title":"Anna's dogs"}`); !strings.Contains(got, "'s ") {
		t.Errorf("a clitic: %s", got)
	}
	if a, b := doc(`{"sku":"anna"}`), doc(`{"sky":"anna"}`); strings.ReplaceAll(b, "sky", "sku") == a {
		t.Errorf("two domains agree: %s", a)
	}
	if _, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", `{"forbidden":"x"}`); drop != "rule" {
		t.Errorf("drop-record: %q", drop)
	}
	if _, _, drop := sanitized(t, w, "POST", "/i/_search", `{"query":{"term":{"forbidden":true}}}`); drop != "rule" {
		t.Errorf("drop-record for a boolean: %q", drop)
	}
	if _, rec, _ := sanitized(t, w, "POST", "/i/_search", `{"query":{"multi_match":{"query":"anna","fields":["a","b"]}}}`); rec.FidWhy != "many_fields" {
		t.Errorf("many fields: %s %s", rec.Fidelity, rec.FidWhy)
	}
}

// TestPathsDoNotSpread: the field of one clause says nothing of values behind
// it.
func TestPathsDoNotSpread(t *testing.T) {
	cfg := preset(PresetFidelity)
	cfg.Fields = []FieldRule{{Match: Globs{"kept"}, Action: "keep"}}
	w := newWorker(t, cfg)
	for _, body := range []string{
		`{"aggs":{"a":{"significant_terms":{"field":"other","background_filter":{"term":{"kept":"x"}},"include":["Anna"]}}}}`,
		`{"aggs":{"a":{"terms":{"field":"kept","script":"1"},"aggs":{"b":{"filter":{"multi_match":{"query":"Anna","fields":["x"]}}}}}}}`,
		`{"query":{"nested":{"path":"kept","query":{"query_string":{"query":"Anna"}}}}}`,
		`{"query":{"bool":{"must":[{"term":{"kept":"x"}},{"simple_query_string":{"query":"Anna"}}]}}}`,
		`{"query":{"function_score":{"query":{"match":{"kept":"x"}},"functions":[{"filter":{"match":{"y":"Anna"}},"weight":1}]}}}`,
		`{"knn":{"field":"kept","query_vector":[1],"filter":{"multi_match":{"query":"Anna","fields":["x"]}}}}`,
		`{"suggest":{"s":{"text":"Anna","term":{"field":"kept"}}}}`,
	} {
		if got, _, drop := sanitized(t, w, "POST", "/i/_search", body); drop != "" || strings.Contains(got, "Anna") {
			t.Errorf("%q %s", drop, got)
		}
	}
	if got, _, _ := sanitized(t, w, "POST", "/i/_search", `{"aggs":{"a":{"terms":{"field":"kept","include":["Anna"]}}}}`); !strings.Contains(got, "Anna") {
		t.Errorf("kept field: %s", got)
	}
}

func TestMistakesOfRules(t *testing.T) {
	c := Default()
	c.Domains = map[string]Domain{"text": {}, "Bad": {}}
	c.Defaults = DefaultRules{
		String: StringDefault{Action: "x", Domain: "nowhere"}, Integer: IntegerDefault{Action: "x", MinDigits: -1},
		Float: FloatDefault{Action: "x", Digits: 40}, Boolean: BooleanDefault{Action: "x"}, UnknownFieldName: "x",
	}
	c.Detectors = DetectorRules{InKeptFields: "x", Use: Globs{"email", "dna"}}
	m := Globs{"f"}
	c.Fields = []FieldRule{
		{Match: m, Action: "keep"},
		{Match: m, Action: "charsub"},
		{Match: m, Action: "lon-shift"},
		{Match: m, Action: "mask", Values: Globs{"x"}, Domain: "text"},
		{Match: m, Action: "tokens", Normalize: Globs{"stem:klingon"}, Split: Globs{"space"}, Domain: "nowhere"},
		{Match: m, Action: "bucket", Digits: 99, Step: "0"},
		{Match: m, Action: "geo-grid"},
		{Match: m, Action: "date-shift", Unit: "hour", Step: "1"},
		{Match: m, Action: "fpe", KeepPrivate: true, AcceptWeak: true, Normalize: Globs{"fold"}, Split: Globs{"case"}, Unit: "week", Digits: 2},
		{Match: Globs{"a..b"}, Action: "tokens"},
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{
		"domains.text:", "domains.Bad:", "defaults.string.action:", "defaults.string.domain:", "defaults.integer.action:", "defaults.integer.min_digits:",
		"defaults.float.action:", "defaults.float.digits:", "defaults.boolean.action:", "defaults.unknown_field_name:", "detectors.in_kept_fields:", "detectors.use[1]:",
		"fields[0]: why:", "fields[1]: accept_weak:", "fields[2]: accept_weak:", "fields[3]: values:", "fields[3]: domain:", "fields[4]: normalize:", "fields[4]: split:",
		"fields[4]: domain:", "fields[5]: digits:", "fields[5]: step:", "fields[6]: step:", "fields[7]: unit:", "fields[7]: step:", "fields[8]: keep_private:",
		"fields[8]: accept_weak:", "fields[8]: normalize:", "fields[8]: split:", "fields[8]: unit:", "fields[8]: digits:", "fields[9]: match:",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not named in:\n%v", part, err)
		}
	}
}

func TestPresets(t *testing.T) {
	for _, name := range []string{PresetECSLogs, PresetCommerce, PresetShapeOnly} {
		if err := preset(name).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i, r := range presetRules(name) {
			c := preset(name)
			if errs := r.mistakes(&c); len(errs) > 0 {
				t.Errorf("%s: rule %d: %v", name, i, errs)
			}
		}
	}
	for _, c := range []struct{ preset, in, want string }{
		{
			PresetECSLogs, `{"@timestamp":"2024-05-01T00:00:00Z","log":{"level":"warn"},"http":{"response":{"status_code":200}},"event":{"action":"«anna»"},"user":{"password":"x"}}`,
			`{"@timestamp":"2024-05-01T00:00:00Z","log":{"level":"warn"},"http":{"response":{"status_code":200}},"event":{"action":"«anna»"},"user":{"password":"mmmmm"}}`,
		},
		{
			PresetCommerce, `{"status":"paid","price":19.99,"id_card":"11010519491231002X","title":"«anna»","location":{"lat":39.9087,"lon":116.3975}}`,
			`{"status":"paid","price":19.99,"id_card":"mmmmm","title":"«anna»","location":{"lat":39.9,"lon":116.39}}`,
		},
		{
			PresetCommerce, `{"location":"39.9087, 116.3975","geo":[116.3975,39.9087],"coordinates":"POINT (116.3975 39.9087)"}`,
			`{"location":"39.9,116.39","geo":[116.39,39.9],"coordinates":"POINT (116.39 39.9)"}`,
		},
		{
			PresetShapeOnly, `{"a":"anna","b":"2024-05-01T10:00:00Z","c":1234567,"d":1.5,"e":true,"f":"10.1.2.3","g":"42","h":"8f14e45f-ceea-467f-9a0c-0123456789ab"}`,
			`{"a":"mmmmm","b":"2000-01-01T00:00:00Z","c":0,"d":0,"e":true,"f":"0.0.0.0","g":"0","h":"00000000-0000-4000-8000-000000000000"}`,
		},
	} {
		w := newWorker(t, preset(c.preset))
		_, want := marked(w, c.want)
		in, _ := marked(w, c.in)
		if got, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", in); drop != "" || got != want {
			t.Errorf("%s: %q %s\nwant %s", c.preset, drop, got, want)
		}
	}
	w := newWorker(t, preset(PresetCommerce))
	got, _, _ := sanitized(t, w, "PUT", "/i/_doc/1", `{"phone":13800138000,"tel":"13800138000"}`)
	if strings.Contains(got, "13800138000") || !strings.Contains(got, `"phone":`) {
		t.Errorf("telephone numbers: %s", got)
	}
	if n := strings.Split(strings.NewReplacer(`"`, "", "}", "").Replace(got), ":"); len(n) != 3 || !strings.HasPrefix(n[1], n[2]) {
		t.Errorf("a number and a string of the same digits: %s", got)
	}
}

// TestLonShift: longitudes turn by the same angle in all forms of a place,
// latitudes stay.
func TestLonShift(t *testing.T) {
	w := ruled(t, PresetFidelity, FieldRule{Action: "lon-shift", AcceptWeak: true})
	turn := w.p.text.turn
	at := func(lon int64) string {
		v := whole(lon).plus(amount{v: whole(140625000 * turn).v, scale: 8})
		for !v.less(whole(180)) {
			v = v.plus(whole(-360))
		}
		return string(v.appendTo(nil))
	}
	for _, c := range []struct{ in, want string }{
		{`{"f":{"lat":48.5,"lon":16}}`, `{"f":{"lat":48.5,"lon":` + at(16) + `}}`},
		{`{"f":[16,48.5]}`, `{"f":[` + at(16) + `,48.5]}`},
		{`{"f":"48.5,16.0"}`, `{"f":"48.5,` + at(16) + `"}`},
		{`{"f":{"type":"LineString","coordinates":[[16,48.5],[-179,1,250]]}}`, `{"f":{"type":"LineString","coordinates":[[` + at(16) + `,48.5],[` + at(-179) + `,1,250]]}}`},
		{`{"f":"LINESTRING (16 48.5, 179 -1)"}`, `{"f":"LINESTRING (` + at(16) + ` 48.5, ` + at(179) + ` -1)"}`},
	} {
		if got, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", c.in); drop != "" || got != c.want {
			t.Errorf("%s: %q %s, want %s", c.in, drop, got, c.want)
		}
	}
	for _, c := range []struct{ query, fidelity string }{
		{`{"query":{"geo_distance":{"distance":"1km","f":{"lat":48.5,"lon":16}}}}`, capture.Exact},
		{`{"query":{"geo_bounding_box":{"f":{"top_left":[16,48.5],"bottom_right":[17,48]}}}}`, capture.Approx},
	} {
		got, rec, drop := sanitized(t, w, "POST", "/i/_search", c.query)
		if drop != "" || rec.Fidelity != c.fidelity || !strings.Contains(got, at(16)) {
			t.Errorf("%q %s, %s", drop, got, rec.Fidelity)
		}
	}
	for _, body := range []string{`{"f":"u2edk8"}`, `{"f":"BBOX (1, 2, 3, 4)"}`, `{"f":{"latitude":1}}`} {
		if _, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", body); drop == "" {
			t.Errorf("%s: captured", body)
		}
	}
}

func TestUnknownFieldNameDropsTheRecord(t *testing.T) {
	w := configured(t, "version: 1\npreset: fidelity\ndefaults: {unknown_field_name: drop-record}\n")
	for range 2 { // the second time from the cache
		if _, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", `{"anna@x.test":1}`); drop != "rule" {
			t.Errorf("a name that looks personal: %q", drop)
		}
		if _, _, drop := sanitized(t, w, "PUT", "/i/_doc/1", `{"user_name":1}`); drop != "" {
			t.Errorf("a schema's name: %q", drop)
		}
	}
}

// TestLossyFields: an aggregation over values that became equal is not exact, nor
// is a histogram whose borders the dates moved across.
func TestLossyFields(t *testing.T) {
	for _, c := range []struct {
		rule                FieldRule
		preset, body, level string
		why                 string
	}{
		{FieldRule{Action: "mask"}, PresetFidelity, `{"aggs":{"a":{"terms":{"field":"f"}}}}`, capture.Approx, "lossy_field"},
		{FieldRule{Action: "bucket"}, PresetFidelity, `{"aggs":{"a":{"terms":{"size":3,"field":"f"}}}}`, capture.Approx, "lossy_field"},
		{FieldRule{Action: "tokens", Normalize: Globs{"fold"}}, PresetFidelity, `{"collapse":{"field":"f"}}`, capture.Approx, "lossy_field"},
		{FieldRule{Action: "pseudonym"}, PresetFidelity, `{"aggs":{"a":{"terms":{"field":"f"}}}}`, capture.Exact, ""},
		{FieldRule{Action: "null"}, PresetFidelity, `{"query":{"exists":{"field":"f"}}}`, capture.Broken, "dropped_field"},
		{FieldRule{Action: "mask"}, PresetFidelity, `{"query":{"exists":{"field":"f"}}}`, capture.Exact, ""},
		{FieldRule{Action: "date-shift"}, PresetFidelity, `{"aggs":{"a":{"date_histogram":{"field":"f","calendar_interval":"week"}}}}`, capture.Exact, ""},
		{FieldRule{Action: "date-shift"}, PresetFidelity, `{"aggs":{"a":{"date_histogram":{"calendar_interval":"1M","field":"f"}}}}`, capture.Approx, "interval"},
		{FieldRule{Action: "date-shift", Unit: "day"}, PresetFidelity, `{"aggs":{"a":{"date_histogram":{"field":"f","interval":"week"}}}}`, capture.Approx, "interval"},
		{FieldRule{Action: "shift"}, PresetFidelity, `{"aggs":{"a":{"histogram":{"field":"f","interval":50}}}}`, capture.Approx, "interval"},
		{FieldRule{Action: "keep", Why: "time"}, PresetStrict, `{"aggs":{"a":{"date_histogram":{"field":"f","calendar_interval":"month"}}}}`, capture.Exact, ""},
		{FieldRule{Action: "tokens"}, PresetStrict, `{"aggs":{"a":{"date_histogram":{"field":"f","calendar_interval":"month"}}}}`, capture.Approx, "interval"},
	} {
		w := ruled(t, c.preset, c.rule)
		if got, rec, drop := sanitized(t, w, "POST", "/i/_search", c.body); drop != "" || rec.Fidelity != c.level || rec.FidWhy != c.why {
			t.Errorf("%s: %q %s, %s %s", c.rule.Action, drop, got, rec.Fidelity, rec.FidWhy)
		}
	}
}

// TestQueryStringsObeyRules: a rule holds for the terms of query strings as it
// does for other clauses, or masks them.
func TestQueryStringsObeyRules(t *testing.T) {
	cfg := preset(PresetFidelity)
	cfg.Detectors.InKeptFields = "drop-record"
	cfg.Fields = []FieldRule{
		{Match: Globs{"status"}, Action: "keep", Values: Globs{"active"}},
		{Match: Globs{"note"}, Action: "keep"},
		{Match: Globs{"own"}, Action: "tokens", Domain: "ids"},
		{Match: Globs{"start"}, Action: "prefix"},
	}
	w := newWorker(t, cfg)
	ask := func(q string) (string, string) {
		got, _, drop := sanitized(t, w, "POST", "/i/_search", `{"query":{"query_string":{"query":"`+q+`"}}}`)
		return got, drop
	}
	form := func(rule int, s string) string { return string(w.plans[rule].d.text(nil, []byte(s))) }
	for _, c := range []struct{ in, out string }{
		{"status:active", "status:active"}, {"note:anna", "note:anna"}, {"own:anna", "own:" + form(2, "anna")}, {"start:ann*", "start:" + form(3, "ann") + "*"},
	} {
		if got, drop := ask(c.in); drop != "" || !strings.Contains(got, `"`+c.out+`"`) {
			t.Errorf("%s: %q %s", c.in, drop, got)
		}
	}
	if got, _ := ask("status:anna"); strings.Contains(got, "anna") || strings.Contains(got, "mmmmm") {
		t.Errorf("a value that is not listed: %s", got)
	}
	if _, drop := ask(`note:anna@example.test`); drop != "detector" {
		t.Errorf("a mail address in a kept field: %q", drop)
	}
}
