package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

// pulledSchema writes a schema with a field of some types, and rules beside it.
func pulledSchema(t *testing.T, rules string) (schema, rulesFile string) {
	t.Helper()
	s, err := es.ParseSchema([]byte(`{"shop-1":{"mappings":{"properties":{"title":{"type":"text","analyzer":"german","fields":{"raw":{"type":"keyword","ignore_above":256}}},
		"code":{"type":"keyword","copy_to":"all"},"all":{"type":"text"},"n":{"type":"integer"},"price":{"type":"double"},"when":{"type":"date"},"ip":{"type":"ip"},"also":{"type":"alias","path":"code"}}}}}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	schema, rulesFile = filepath.Join(dir, "schema.json"), filepath.Join(dir, "rules.yml")
	for path, text := range map[string][]byte{schema: text, rulesFile: []byte(rules)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return schema, rulesFile
}

func TestCheckWithSchema(t *testing.T) {
	schema, rules := pulledSchema(t, `version: 1
preset: fidelity
schema: schema.json
fields:
  - { match: when, action: pseudonym }
  - { match: also, action: keep, why: x }
  - { match: code, action: pseudonym }
  - { match: gone, action: mask }
`)
	code, out, errs := runSchema("sanitize", "check", "-c", rules)
	if code != exitFindings || errs != "" {
		t.Errorf("code %d: %s", code, errs)
	}
	for _, want := range []string{
		"warning: when (date): fields[0]: action pseudonym makes no date", "all is filled from code by copy_to", "note: fields[3] (gone): the schema has no such field",
		"FIELD", "title.raw  keyword, ignore_above 256  (tokens)", "(numbers: guard)", "stem, range_text",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "warning: n ") || strings.Contains(out, "warning: also") {
		t.Errorf("a finding without a reason:\n%s", out)
	}
	if code, out, errs = runSchema("sanitize", "check", "--preset", "fidelity", "--schema", schema); code != 0 || !strings.Contains(out, "price") {
		t.Errorf("code %d: %s\n%s", code, errs, out)
	}
}

func TestExplainWithSchema(t *testing.T) {
	schema, _ := pulledSchema(t, "")
	for field, wants := range map[string][]string{
		"title": {"type", "text, stem", "analysers", "german", "match", "broken (stem)"},
		"n":     {"integer", "sort", "exact", "by its type", "numbers: guard"},
		"also":  {"stands for", "code"},
		"new":   {"has no such field"},
	} {
		code, out, errs := runSchema("sanitize", "explain", field, "--preset", "fidelity", "--schema", schema)
		if code != 0 {
			t.Errorf("%s: code %d: %s", field, code, errs)
		}
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", field, want, out)
			}
		}
	}
}

// TestSchemaOfRules: the schema that rules name lies beside them, a flag wins, and
// what is none is told with its file.
func TestSchemaOfRules(t *testing.T) {
	schema, rules := pulledSchema(t, "version: 1\npreset: fidelity\nschema: schema.json\n")
	if code, out, errs := runSchema("sanitize", "explain", "n", "-c", rules); code != 0 || !strings.Contains(out, "integer") {
		t.Errorf("code %d: %s\n%s", code, errs, out)
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	for text, want := range map[string]string{
		"{":                          "byte 1 is no JSON",
		`{"shop-1":{"mappings":{}}}`: "version 0 is not known",
		`{"version":1}`:              "groups are missing",
		`[]`:                         "byte 1: the whole is of another type",
		`{"version":1,"groups":[{"indices":["a"],"fields":[{"path":"p","type":7}]}]}`:               "is of another type",
		`{"version":1,"groups":[{"indices":["a"],"fields":[{"path":"p","type":"x","class":"y"}]}]}`: "not a schema",
	} {
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := runSchema("sanitize", "check", "-c", rules, "--schema", bad)
		if code != exitUsage || !strings.Contains(errs, want) || !strings.Contains(errs, "bad.json") || !strings.Contains(errs, "schema pull") {
			t.Errorf("%s: code %d: %s", text, code, errs)
		}
	}
	if code, _, errs := runSchema("sanitize", "filter", "--key", "none", "--schema", schema+".gone"); code != exitUsage || !strings.Contains(errs, "schema.json.gone") {
		t.Errorf("code %d: %s", code, errs)
	}
}

// TestProxyKnowsTheSchema: a capture is made with the schema that the proxy was
// given, and says with which.
func TestProxyKnowsTheSchema(t *testing.T) {
	schema, rules := pulledSchema(t, "version: 1\npreset: fidelity\nschema: schema.json\n")
	text, err := os.ReadFile(schema)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	for _, args := range [][]string{{"--rules", rules}, {"--preset", "fidelity", "--schema", schema}, {"--preset", "fidelity"}} {
		dir := filepath.Join(t.TempDir(), "capture")
		p := start(t, proxyArgs(t, e.url, dir, args...)...)
		url, _ := p.listening()
		send(t, "POST", url+"/_bulk", bulkBody("shop", 0, 2))
		send(t, "POST", url+"/shop/_search", `{"query":{"match":{"title":"berg"}}}`)
		p.signal(syscall.SIGTERM)
		if code := p.code(patience); code != exitDone {
			t.Fatalf("%v: exit code %d:\n%s", args, code, p.err())
		}
		st := decode[struct {
			Schema   string
			Fidelity struct{ Exact, Broken int }
		}](t, esshadow(t, nil, "capture", "stat", "--json", dir).want(t, exitDone).out)
		want, broken := hashOf(t, text), 1
		if args[len(args)-1] == "fidelity" {
			want, broken = "", 0
		}
		if st.Schema != want || st.Fidelity.Broken != broken {
			t.Errorf("%v: schema %q, want %q; %+v", args, st.Schema, want, st.Fidelity)
		}
		if out := esshadow(t, nil, "capture", "stat", dir).want(t, exitDone).out; want != "" && !strings.Contains(out, want) {
			t.Errorf("%v: the text lacks %s:\n%s", args, want, out)
		}
	}
}

// hashOf is the hash of a schema by a pipeline of its own.
func hashOf(t *testing.T, text []byte) string {
	t.Helper()
	s, err := es.DecodeSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	c := sanitize.Default()
	c.Snapshot = &s
	p, err := anyPipeline(c)
	if err != nil {
		t.Fatal(err)
	}
	return p.SchemaHash()
}
