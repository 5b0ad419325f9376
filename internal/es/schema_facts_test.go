package es

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

// factsOf are the facts of field f of one index for each of the mappings.
func factsOf(t testing.TB, settings string, fields ...string) *FieldTable {
	t.Helper()
	mapping, setting := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for i, f := range fields {
		name := fmt.Sprint("i", i)
		mapping[name] = json.RawMessage(`{"mappings":{"properties":` + f + `}}`)
		setting[name] = json.RawMessage(`{"settings":{"index":{"analysis":` + settings + `}}}`)
	}
	m, err := json.Marshal(mapping)
	if err != nil {
		t.Fatal(err)
	}
	s, err := json.Marshal(setting)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := ParseSchema(m, s)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(schema) // as pull writes it, and a reader reads it
	if err != nil {
		t.Fatal(err)
	}
	if schema, err = DecodeSchema(text); err != nil {
		t.Fatal(err)
	}
	return schema.Table()
}

func TestTextFacts(t *testing.T) {
	const settings = `{"analyzer":{
	  "mine":{"tokenizer":"standard","filter":["lowercase"]},"long":{"type":"standard","max_token_length":5},"own_stops":{"type":"standard","stopwords":["x"]},
	  "named_stops":{"type":"stop","stopwords":"_german_"},"no_stops":{"type":"english","stopwords":"_none_"},"file_stops":{"type":"standard","stopwords_path":"s.txt"},
	  "stems":{"tokenizer":"standard","filter":["poss","lowercase","stop","porter_stem"]},"snow":{"tokenizer":"standard","filter":["lowercase","snowball"]},
	  "twice":{"tokenizer":"standard","filter":["porter_stem","kstem"]},"marked":{"tokenizer":"standard","filter":["marks","porter_stem"]},
	  "letters":{"tokenizer":"lowercase"},"greek":{"tokenizer":"standard","filter":["greek_low"]},"short":{"tokenizer":"standard","filter":["length"]},
	  "syn":{"tokenizer":"whitespace","filter":["synonym"]},"url":{"tokenizer":"uax_url_email"},"mapped":{"tokenizer":"standard","char_filter":["mapping"]},
	  "poss_only":{"tokenizer":"standard","filter":["poss"]},"parts":{"tokenizer":"whitespace","filter":["word_delimiter"]}},
	 "filter":{"poss":{"type":"stemmer","language":"possessive_english"},"marks":{"type":"keyword_marker","keywords":["x"]},"greek_low":{"type":"lowercase","language":"greek"}}}`
	for analyzer, want := range map[string]TextFacts{
		"standard":    {Class: TextWords},
		"mine":        {Class: TextWords},
		"whitespace":  {Class: TextWords, Cut: CutSpace},
		"simple":      {Class: TextWords, Cut: CutLetters},
		"letters":     {Class: TextWords, Cut: CutLetters},
		"stop":        {Class: TextWords, Cut: CutLetters},
		"keyword":     {Class: TextWhole, Cut: CutNone},
		"english":     {Class: TextStem, Porter: true, Possessive: true},
		"stems":       {Class: TextStem, Porter: true, Possessive: true},
		"no_stops":    {Class: TextStem, Porter: true, Possessive: true},
		"german":      {Class: TextStem, Breaks: "stem"},
		"snow":        {Class: TextStem},
		"twice":       {Class: TextStem, Breaks: "stem"},
		"marked":      {Class: TextStem, Porter: true, Bends: "analyzer"},
		"poss_only":   {Class: TextWords, Possessive: true},
		"long":        {Class: TextWords, Breaks: "analyzer"},
		"own_stops":   {Class: TextWords, Breaks: "stop_words"},
		"named_stops": {Class: TextWords, Cut: CutLetters, Breaks: "stop_words"},
		"file_stops":  {Class: TextWords, Breaks: "stop_words"},
		"greek":       {Class: TextWords, Bends: "analyzer"},
		"short":       {Class: TextWords, Breaks: "analyzer", Bends: "analyzer"},
		"syn":         {Class: TextWords, Cut: CutSpace, Breaks: "synonyms"},
		"url":         {Class: TextWords, Bends: "analyzer"},
		"mapped":      {Class: TextWords, Breaks: "analyzer"},
		"parts":       {Class: TextWords, Cut: CutSpace, Splits: true},
		"cjk":         {Class: TextCJK},
		"ik_max_word": {Class: TextDictionary},
		"of_an_addon": {Class: TextOther, Breaks: "analyzer"},
	} {
		f := factsOf(t, settings, `{"f":{"type":"text","analyzer":"`+analyzer+`"}}`).Field("f")
		if f == nil || f.Kind != KindText || f.Text != want {
			t.Errorf("%s: got %+v, want %+v", analyzer, f.Text, want)
		}
	}
}

// TestFactsOfManyIndices: what holds in all indices of a schema.
func TestFactsOfManyIndices(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want FieldFacts
	}{
		{`{"type":"keyword"}`, `{"type":"keyword","ignore_above":20}`, FieldFacts{Kind: KindWhole, Types: []string{"keyword"}, IgnoreAbove: 20, Text: TextFacts{Class: TextWhole, Cut: CutNone}}},
		{`{"type":"keyword"}`, `{"type":"long"}`, FieldFacts{Types: []string{"keyword", "long"}, Text: TextFacts{Class: TextWhole, Cut: CutNone}}},
		{`{"type":"byte"}`, `{"type":"integer"}`, FieldFacts{Kind: KindInteger, Types: []string{"byte", "integer"}, Digits: 10}},
		{`{"type":"byte"}`, `{"type":"long"}`, FieldFacts{Kind: KindInteger, Types: []string{"byte", "long"}}},
		{`{"type":"text"}`, `{"type":"text","analyzer":"english"}`, FieldFacts{Kind: KindText, Types: []string{"text"}, Text: TextFacts{Class: TextStem, Possessive: true}}},
		{`{"type":"text","analyzer":"whitespace"}`, `{"type":"text","analyzer":"simple"}`, FieldFacts{Kind: KindText, Types: []string{"text"}, Text: TextFacts{Class: TextWords}}},
		{`{"type":"date","format":"yyyy-MM-dd"}`, `{"type":"date"}`, FieldFacts{Kind: KindDate, Types: []string{"date"}, Format: "yyyy-MM-dd||strict_date_optional_time||epoch_millis"}},
	} {
		c.want.Path = "f"
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			got := *factsOf(t, "{}", `{"f":`+pair[0]+`}`, `{"f":`+pair[1]+`}`).Field("f")
			if pair[0] == c.b && got.Format != "" { // side by side in either order
				got.Format = c.want.Format
			}
			if !slices.Equal(got.Types, c.want.Types) {
				t.Errorf("%v: types %v", pair, got.Types)
			}
			got.Types, c.want.Types = nil, nil
			if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", c.want); g != w && got.Text.Porter == false {
				t.Errorf("%v: got %s, want %s", pair, g, w)
			}
			c.want.Types = factsOf(t, "{}", `{"f":`+c.a+`}`, `{"f":`+c.b+`}`).Field("f").Types
		}
	}
}

func TestFactsByPath(t *testing.T) {
	table := factsOf(t, "{}", `{"flat":{"type":"flattened"},"sayt":{"type":"search_as_you_type"},"kw":{"type":"keyword"},"a":{"type":"alias","path":"kw"},
	 "lost":{"type":"alias","path":"nowhere"},"o":{"properties":{"n":{"type":"nested","properties":{"p":{"type":"geo_point"}}}}},"t":{"type":"text","fields":{"raw":{"type":"keyword"}}}}`)
	for path, want := range map[string]string{"flat": "flat", "flat.x.y": "flat", "sayt._2gram": "sayt", "a": "kw", "o.n.p": "o.n.p", "t.raw": "t.raw", "kw.x": "", "lost": "", "": "", ".": "", "o": ""} {
		got := ""
		if f := table.Field(path); f != nil {
			got = f.Path
		}
		if got != want {
			t.Errorf("%q: facts of %q, want %q", path, got, want)
		}
	}
	if table.Target("a") != "kw" || table.Target("t.raw") != "t.raw" || table.Target("new") != "new" || !table.Field("o.n.p").Place || table.Field("t.raw").Parent != "t" {
		t.Error("targets, places, parents")
	}
	var paths []string
	table.Each(func(path string, _ *FieldFacts) bool { paths = append(paths, path); return true })
	if !slices.IsSorted(paths) || len(paths) != 7 {
		t.Errorf("paths %v", paths)
	}
}

// FuzzDecodeSchema: no document makes a reader fail but by an error, and what was
// read is read again as the same.
func FuzzDecodeSchema(f *testing.F) {
	s, err := ParseSchema([]byte(schemaMapping), []byte(schemaSettings))
	if err != nil {
		f.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"groups":[{"fields":[{"path":"a","type":"alias","target":"a"}],"analysis":{"analyzers":{"a":{"filter":["a"]}}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := DecodeSchema(text)
		if err != nil {
			return
		}
		s.Table().Each(func(path string, f *FieldFacts) bool { return s.Table().Target(path) == f.Path })
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeSchema(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}
