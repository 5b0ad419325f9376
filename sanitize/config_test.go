package sanitize

import (
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/esshadow/esshadow/capture"
)

func TestDefaultIsValid(t *testing.T) {
	for _, p := range []string{PresetStrict, PresetFidelity} {
		if err := preset(p).Validate(); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// TestValidateNamesEveryMistake: one configuration, all mistakes at once.
func TestValidateNamesEveryMistake(t *testing.T) {
	c := Config{
		Version: 2, Preset: "loose", Scope: "x", FieldNames: "x", Numbers: "x", Dates: "x", Geo: "x", Vectors: "x", Scripts: "x",
		Indices: IndexRules{Other: "x"}, IDs: IDRules{Action: "x", Domain: "x"},
		Fields:   []FieldRule{{}, {Match: Globs{".a"}, Action: "hash"}},
		Headers:  HeaderRules{Keep: []string{"Authorization"}},
		MaxDepth: -1, MaxBody: -1, WordCache: 3,
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{
		"version:", "preset:", "scope:", "field_names:", "numbers:", "dates:", "geo:", "vectors:", "scripts:", "indices.other:",
		"ids.action:", "ids.domain:", "fields[0]: match", "fields[0]: action", "fields[1]: match", "fields[1]: action",
		"headers.keep: Authorization", "max_depth:", "max_body:", "word_cache:",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not named in:\n%v", part, err)
		}
	}
}

func TestKeepNeedsAReasonInStrict(t *testing.T) {
	for _, c := range []struct {
		preset, why string
		ok          bool
	}{{PresetStrict, "", false}, {PresetStrict, "time", true}, {PresetFidelity, "", true}} {
		cfg := preset(c.preset)
		cfg.Fields = []FieldRule{{Match: Globs{"@timestamp"}, Action: "keep", Why: c.why}}
		if err := cfg.Validate(); (err == nil) != c.ok {
			t.Errorf("%s, why %q: %v", c.preset, c.why, err)
		}
	}
}

func TestOffNeedsTheFlag(t *testing.T) {
	cfg := preset(PresetOff)
	if _, err := New(cfg, testKey(t), nil); err == nil || !strings.Contains(err.Error(), "--i-accept-plaintext-on-disk") {
		t.Errorf("got %v", err)
	}
	cfg.AcceptPlaintext = true
	p, err := New(cfg, testKey(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.KeyID() != "" || p.Preset() != PresetOff {
		t.Errorf("key id %q, preset %q", p.KeyID(), p.Preset())
	}
	w := p.Worker()
	var rec capture.Record
	x := exchange("POST", "/people/_doc/anna?pretty", `{"f":"anna"}`, "Authorization", "Basic dTpw", "X-Note", "n")
	if drop := w.Sanitize(&rec, x); drop != "" {
		t.Fatal(drop)
	}
	if rec.Target != "/people/_doc/anna?pretty" || string(rec.Body) != `{"f":"anna"}` || len(rec.Header) != 1 {
		t.Errorf("%+v", rec)
	}
	if got := string(w.MapID(nil, []byte("anna"))); got != "anna" {
		t.Errorf("id became %s", got)
	}
}

// TestYAML reads the example of the manual.
func TestYAML(t *testing.T) {
	cfg := Default()
	err := yaml.UnmarshalWithOptions([]byte(`
version: 1
preset: strict
fields:
  - match: "@timestamp"
    action: keep
    why: time
  - match: [password, "**.token"]
    action: mask
indices: { keep: "logs-*", keep_date_suffix: false }
headers: { keep: [X-App-Version] }
postcheck: false
max_body: 8MiB
`), &cfg, yaml.Strict())
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if len(cfg.Fields) != 2 || cfg.Fields[0].Match[0] != "@timestamp" || len(cfg.Fields[1].Match) != 2 ||
		cfg.Indices.Keep[0] != "logs-*" || *cfg.Indices.KeepDateSuffix || *cfg.Postcheck || cfg.MaxBody != 8<<20 {
		t.Errorf("read %+v", cfg)
	}
}

func TestRulesHash(t *testing.T) {
	hash := func(c Config) string {
		p, err := New(c, testKey(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p.RulesHash()
	}
	a := Default()
	spelled := a
	spelled.Numbers = "fpe" // what the preset says anyway
	if again := hash(a); again != hash(a) || hash(a) != hash(spelled) || hash(a) == hash(preset(PresetFidelity)) || len(hash(a)) != 16 {
		t.Error("the rules hash does not tell rules apart")
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a", "a", true},
		{"a", "ab", false},
		{"a.b", "a.b", true},
		{"a", "a.b", false},
		{"a.*", "a.b", true},
		{"a.*", "a", false},
		{"a.*", "a.b.c", false},
		{"**", "a.b.c", true},
		{"**.mail", "mail", true},
		{"**.mail", "u.x.mail", true},
		{"**.mail", "u.email", false},
		{"u.**", "u.a.b", true},
		{"*_id", "user_id", true},
		{"*_id", "user_ids", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "aXc", false},
		{"**.a.**", "x.a.y.z", true},
		{"*", "", true},
	} {
		if got := matchPath(strings.Split(c.pattern, "."), strings.Split(c.path, ".")); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.path, got)
		}
	}
}

// TestFieldRules: the action of a field holds in documents, in queries that name
// it in a key, beside it, or in a query string, and for its sub-fields.
func TestFieldRules(t *testing.T) {
	cfg := preset(PresetStrict)
	cfg.Fields = []FieldRule{
		{Match: Globs{"status", "n.level"}, Action: "keep", Why: "enum"},
		{Match: Globs{"**.secret"}, Action: "mask"},
		{Match: Globs{"gone"}, Action: "drop"},
		{Match: Globs{"**"}, Action: "tokens"},
	}
	w := newWorker(t, cfg)
	for _, c := range []struct{ name, in, out string }{
		{
			"document", `{"status":"active","n":{"level":"warn","secret":"x","other":"«warn»"},"gone":"x","m":{"secret":7}}`,
			`{"status":"active","n":{"level":"warn","secret":"mmmmm","other":"«warn»"},"gone":null,"m":{"secret":0}}`,
		},
		{"dotted", `{"n.level":"warn","n.secret":["a",true]}`, `{"n.level":"warn","n.secret":["mmmmm",true]}`},
		{"after an inner object", `{"n":{"x":{"y":"«a1»"},"level":"warn"},"level":"«warn»"}`, `{"n":{"x":{"y":"«a1»"},"level":"warn"},"level":"«warn»"}`},
	} {
		_, want := marked(w, c.out)
		in, _ := marked(w, c.in)
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_doc", in)); drop != "" || string(rec.Body) != want {
			t.Errorf("%s: %q %s, want %s", c.name, drop, rec.Body, want)
		}
	}
	for _, c := range []struct{ in, fid string }{
		{`{"query":{"term":{"status":"active"}}}`, "exact"},
		{`{"query":{"term":{"status.keyword":{"value":"active"}}}}`, "exact"},
		{`{"aggs":{"a":{"terms":{"missing":"active","field":"status"}}}}`, "exact"},
		{`{"query":{"query_string":{"query":"status:active"}}}`, "exact"},
		{`{"query":{"query_string":{"query":"status:(active OR blocked)"}}}`, "exact"},
		{`{"aggs":{"a":{"terms":{"missing":"active","include":["active"],"field":"status"},"aggs":{"b":{"max":{"field":"x"}}}}},"size":0}`, "exact"},
	} {
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", c.in)); drop != "" || string(rec.Body) != c.in || rec.Fidelity != c.fid {
			t.Errorf("%q %s became %s, %s", drop, c.in, rec.Body, rec.Fidelity)
		}
	}
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", `{"query":{"term":{"a.secret":"x"}}}`)); drop != "" || rec.FidWhy != "masked_field" {
		t.Errorf("masked: %q %s %s", drop, rec.Body, rec.FidWhy)
	}
}
