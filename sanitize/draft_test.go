package sanitize

import (
	"errors"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/es"
)

func draftSchema(t *testing.T, properties string) es.Schema {
	t.Helper()
	s, err := es.ParseSchema([]byte(`{"shop":{"mappings":{"properties":`+properties+`}}}`), []byte(`{"shop":{"settings":{"index":{"analysis":{"analyzer":{
		"grams":{"tokenizer":"ngram"},"folded":{"tokenizer":"standard","filter":["lowercase","asciifolding"]},"code":{"tokenizer":"whitespace","filter":["word_delimiter"]}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDraftProposes(t *testing.T) {
	for properties, want := range map[string]string{
		`{"x":{"type":"keyword"}}`:                                                      `- { match: "x", action: tokens }`,
		`{"x":{"type":"text"}}`:                                                         `- { match: "x", action: tokens }`,
		`{"x":{"type":"text","analyzer":"english"}}`:                                    `- { match: "x", action: tokens, normalize: ["stem:english"] }`,
		`{"x":{"type":"text","analyzer":"folded"}}`:                                     `- { match: "x", action: tokens, normalize: [fold] }`,
		`{"x":{"type":"text","analyzer":"code"}}`:                                       `- { match: "x", action: tokens, split: [case] }`,
		`{"x":{"type":"search_as_you_type"}}`:                                           `- { match: "x", action: prefix }`,
		`{"x":{"type":"completion"}}`:                                                   `- { match: "x", action: prefix }`,
		`{"x":{"type":"text","analyzer":"grams"}}`:                                      `# - { match: "x", action: charsub, accept_weak: true }`,
		`{"x":{"type":"text","analyzer":"ik_max_word"}}`:                                `# - { match: "x", action: charsub, accept_weak: true }`,
		`{"x":{"type":"ip"}}`:                                                           `- { match: "x", action: ip-prefix }`,
		`{"x":{"type":"binary"}}`:                                                       `- { match: "x", action: "null" }`,
		`{"x":{"type":"flattened"}}`:                                                    `- { match: ["x", "x.**"], action: tokens }`,
		`{"x":{"type":"long"}}`:                                                         `the preset's numbers: fpe`,
		`{"x":{"type":"date"}}`:                                                         `the preset's dates: shift`,
		`{"x":{"type":"dense_vector"}}`:                                                 `the preset's vectors: drop`,
		`{"homePhone":{"type":"keyword"}}`:                                              `- { match: "homePhone", action: fpe }`,
		`{"手机号":{"type":"keyword"}}`:                                                    `- { match: "手机号", action: fpe }`,
		`{"身份证号":{"type":"keyword"}}`:                                                   `- { match: "身份证号", action: pseudonym, locked: true }`,
		`{"user":{"properties":{"passwd":{"type":"keyword"}}}}`:                         `- { match: "user.passwd", action: mask, locked: true }`,
		`{"e-mail":{"type":"text"}}`:                                                    `- { match: "e-mail", action: email }`,
		`{"birth_date":{"type":"date"}}`:                                                `- { match: "birth_date", action: date-shift }`,
		`{"iban":{"type":"keyword"}}`:                                                   `- { match: "iban", action: pseudonym, locked: true }`,
		`{"x":{"type":"text"},"y":{"type":"alias","path":"x"}}`:                         `- { match: "y", action: tokens }`,
		`{"hotel":{"type":"long"}}`:                                                     `the preset's numbers: fpe`,
		`{"a":{"type":"text","copy_to":"b"},"b":{"type":"text"}}`:                       `filled by copy_to from "a"`,
		`{"x":{"type":"text","analyzer":"folded","fields":{"raw":{"type":"keyword"}}}}`: `"x.raw": keyword (whole)`,
		`{"x\n- {match: y, action: keep}":{"type":"text\n- {match: y, action: keep, why: forged}"}}`: `# "x\n- {match: y, action: keep}": "text\n`,
	} {
		got, err := Draft(draftSchema(t, properties), PresetStrict)
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %v, no %s in\n%s", properties, err, want, got)
		}
	}
}

func TestDraftLeavesThePresetsRules(t *testing.T) {
	got, err := Draft(draftSchema(t, `{"log":{"properties":{"level":{"type":"keyword"}}},"message":{"type":"text"}}`), PresetECSLogs)
	if err != nil || strings.Contains(string(got), `match: "log.level"`) || !strings.Contains(string(got), `match: "message"`) {
		t.Errorf("%v\n%s", err, got)
	}
	for _, p := range []string{PresetOff, PresetSealed, "", "other"} {
		if _, err := Draft(es.Schema{}, p); !errors.Is(err, ErrDraftPreset) {
			t.Errorf("preset %q: %v", p, err)
		}
	}
}
