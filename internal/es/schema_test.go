package es

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const schemaSettings = `{"shop-1":{"settings":{"index":{"analysis":{
 "analyzer":{
  "auto":{"type":"custom","tokenizer":"standard","filter":["lowercase","grams"]},
  "stems":{"tokenizer":"standard","filter":["lowercase","asciifolding","de"]},
  "syn":{"tokenizer":"standard","filter":["syns"]},
  "code":{"tokenizer":"whitespace","filter":"word_delimiter_graph,lowercase"},
  "tri":{"tokenizer":"trigrams"},
  "mine":{"type":"pattern","pattern":"[,;]"},
  "han":{"tokenizer":"ik_max_word"},
  "phon":{"tokenizer":"standard","filter":["phonetic_de"]}},
 "normalizer":{"low":{"type":"custom","filter":["lowercase","asciifolding"]}},
 "tokenizer":{"trigrams":{"type":"ngram","min_gram":"3","max_gram":3,"token_chars":["letter"]}},
 "filter":{"grams":{"type":"edge_ngram","min_gram":"2","max_gram":"10"},"de":{"type":"stemmer","language":"light_german"},
  "syns":{"type":"synonym","synonyms":["Anna Berg, Frau B","x => y"]}}}}}}}`

const schemaMapping = `{"shop-1":{"mappings":{"dynamic":"strict","properties":{
 "name":{"type":"text","fields":{"raw":{"type":"keyword","ignore_above":"256"},"en":{"type":"text","analyzer":"english"}}},
 "auto":{"type":"text","analyzer":"auto","search_analyzer":"standard","copy_to":"all"},
 "de":{"type":"text","analyzer":"stems"},"syn":{"type":"text","analyzer":"syn"},"code":{"type":"text","analyzer":"code"},
 "tri":{"type":"text","analyzer":"tri"},"mine":{"type":"text","analyzer":"mine"},"han":{"type":"text","analyzer":"han"},
 "phon":{"type":"text","analyzer":"phon"},"lost":{"type":"text","analyzer":"of an add-on"},"cjk":{"type":"text","analyzer":"cjk"},
 "low":{"type":"keyword","normalizer":"low"},"sayt":{"type":"search_as_you_type"},"sugg":{"type":"completion"},
 "day":{"type":"date","format":"yyyy-MM-dd||epoch_millis"},"other":{"type":"alias","path":"name.raw"},
 "who":{"properties":{"ip":{"type":"ip"},"age":{"type":"integer"}}},
 "items":{"type":"nested","properties":{"sku":{"type":"keyword","copy_to":["all","more"]}}}},
 "runtime":{"hour":{"type":"long","script":{"source":"emit(1)"}}}}}}`

func TestParseSchema(t *testing.T) {
	s, err := ParseSchema([]byte(schemaMapping), []byte(schemaSettings))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]FieldInfo{
		"name":      {Type: "text", Index: TextWords},
		"name.raw":  {Type: "keyword", Parent: "name", IgnoreAbove: 256, Index: TextWhole},
		"name.en":   {Type: "text", Parent: "name", Analyzer: "english", Index: TextStem, Language: "english"},
		"auto":      {Type: "text", Analyzer: "auto", SearchAnalyzer: "standard", CopyTo: []string{"all"}, Index: TextEdge, Search: TextWords},
		"de":        {Type: "text", Analyzer: "stems", Index: TextStem, Folds: true, Language: "light_german"},
		"syn":       {Type: "text", Analyzer: "syn", Index: TextOther},
		"code":      {Type: "text", Analyzer: "code", Index: TextWords, Splits: true},
		"tri":       {Type: "text", Analyzer: "tri", Index: TextNgram},
		"mine":      {Type: "text", Analyzer: "mine", Index: TextOther},
		"han":       {Type: "text", Analyzer: "han", Index: TextDictionary},
		"phon":      {Type: "text", Analyzer: "phon", Index: TextOther},
		"lost":      {Type: "text", Analyzer: "of an add-on", Index: TextOther},
		"cjk":       {Type: "text", Analyzer: "cjk", Index: TextCJK},
		"low":       {Type: "keyword", Normalizer: "low", Index: TextWhole, Folds: true},
		"sayt":      {Type: "search_as_you_type", Index: TextEdge},
		"sugg":      {Type: "completion", Index: TextEdge},
		"day":       {Type: "date", Format: "yyyy-MM-dd||epoch_millis"},
		"other":     {Type: "alias", Target: "name.raw"},
		"who.ip":    {Type: "ip", Index: TextWhole},
		"who.age":   {Type: "integer"},
		"items.sku": {Type: "keyword", CopyTo: []string{"all", "more"}, Index: TextWhole},
		"hour":      {Type: "long", Runtime: true},
	} {
		want.Path = path
		if got, ok := s.Field(path); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
	if n := len(s.Paths()); n != 22 {
		t.Errorf("%d paths: %v", n, s.Paths())
	}
	if _, ok := s.Field("items"); ok {
		t.Error("an object is a field")
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"Anna", "Frau", "emit", "=>"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the document holds %q", secret)
		}
	}
	back, err := DecodeSchema(text)
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("written and read again: %v\n%+v\n%+v", err, back, s)
	}
	if f := back.Groups[0].Analysis.Filters["syns"]; f.Lists["synonyms"] != 2 {
		t.Errorf("lists: %+v", f)
	}
}

func TestSchemaOfSeveralIndices(t *testing.T) {
	s, err := ParseSchema([]byte(`{
	 "logs-2":{"mappings":{"properties":{"a":{"type":"keyword"}}}},
	 "logs-1":{"mappings":{"properties":{"a":{"type":"keyword"}}}},
	 "old":{"mappings":{"doc":{"properties":{"a":{"type":"text"}}}}},
	 "own":{"mappings":{"properties":{"a":{"type":"text"}}}},
	 "empty":{"mappings":{}}, "none":{}}`), []byte(`{"own":{"settings":{"index":{"analysis":{"analyzer":{"default":{"tokenizer":"keyword"},"default_search":{"type":"english"}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range s.Groups {
		names = append(names, strings.Join(g.Indices, "+"))
	}
	if got := strings.Join(names, " "); got != "empty+none logs-1+logs-2 old own" {
		t.Errorf("groups %s", got)
	}
	if f, _ := s.Field("a"); f.Type != "text" || f.Index != TextWords {
		t.Errorf("the field that changes its text most: %+v", f)
	}
	if f := s.Groups[3].Fields[0]; f.Index != TextWhole || f.Search != TextStem {
		t.Errorf("the index's default analysers: %+v", f)
	}
	if got := strings.Join(s.Types("a"), " "); got != "keyword text" {
		t.Errorf("types %s", got)
	}
}

func TestSchemaErrors(t *testing.T) {
	for name, c := range map[string][2]string{
		"no JSON": {"secret", ""}, "list": {"[]", ""}, "settings": {"{}", "secret"},
		"properties": {`{"i":{"mappings":{"properties":{"a":"secret"}}}}`, ""},
		"mappings":   {`{"i":{"mappings":"secret"}}`, ""},
		"analyser":   {"{}", `{"i":{"settings":{"index":{"analysis":{"analyzer":{"a":"secret"}}}}}}`},
		"number":     {`{"i":{"mappings":{"properties":{"a":{"type":"keyword","ignore_above":"secret"}}}}}`, ""},
	} {
		_, err := ParseSchema([]byte(c[0]), []byte(c[1]))
		if !errors.Is(err, ErrSchema) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "{}", `{"version":2}`, `{"version":1,"groups":[{"fields":[{"class":"x"}]}]}`} {
		if _, err := DecodeSchema([]byte(text)); !errors.Is(err, ErrSchema) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParseSchema(f *testing.F) {
	f.Add([]byte(schemaMapping), []byte(schemaSettings))
	f.Add([]byte(`{"i":{"mappings":{"t":{"properties":{}}}}}`), []byte(``))
	f.Add([]byte(`{"i":{"mappings":{"properties":{"a":{"fields":{"b":{"copy_to":["x"]}}}}}}}`), []byte(`{"i":{"settings":{"index":{"analysis":{"filter":{"f":{"lists":{"a":1},"options":{"b":"c"}}}}}}}}`))
	f.Fuzz(func(t *testing.T, mapping, settings []byte) {
		s, err := ParseSchema(mapping, settings)
		if err != nil {
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeSchema(text); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, p := range s.Paths() {
			if _, ok := s.Field(p); !ok {
				t.Fatalf("field %q is not found", p)
			}
		}
	})
}
