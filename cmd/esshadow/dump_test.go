package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/sanitize"
)

// filtered runs lines of elasticdump through the filter.
func filtered(t *testing.T, key, in string, code int, inErr ...string) string {
	t.Helper()
	return esshadowWith(t, strings.NewReader(in+"\n"), nil, "sanitize", "filter", "--format", "elasticdump", "--key", key).want(t, code, inErr...).out
}

// inDocuments is the form of a text in a document.
func inDocuments(t *testing.T, key, text string) string {
	t.Helper()
	doc, _ := json.Marshal(map[string]any{"_index": "i", "_id": "1", "_source": map[string]string{"t": text}})
	out := decode[struct {
		Source map[string]string `json:"_source"`
	}](t, filtered(t, key, string(doc), exitDone))
	for _, v := range out.Source {
		return v
	}
	t.Fatal("no value")
	return ""
}

// Settings keep what makes the index what it is, and lose what belongs to the
// source's cluster; words of analysis are those of documents.
func TestFilterSettings(t *testing.T) {
	key := writeKey(t)
	in := `{"people":{"settings":{"index":{"creation_date":"1700000000000","uuid":"k3mBq2nRTi6gkP1x0annaA","provided_name":"people","version":{"created":"8190099"},` +
		`"number_of_shards":"3","number_of_replicas":"1","refresh_interval":"5s","mapping":{"total_fields":{"limit":"2000"}},"sort":{"field":["name","age"],"order":["asc","desc"]},` +
		`"routing":{"allocation":{"require":{"customer":"anna"}}},"default_pipeline":"anna-pipeline","lifecycle":{"name":"anna"},` +
		`"similarity":{"mine":{"type":"BM25","b":"0.5"}},` +
		`"analysis":{"analyzer":{"names":{"type":"custom","tokenizer":"cut","char_filter":["smile","twist"],"filter":["lowercase","syn","stop","guard","camel"]},"anna@mail.example":{"type":"standard"}},` +
		`"tokenizer":{"cut":{"type":"pattern","pattern":"[\\s,;]+"},"words":{"type":"pattern","pattern":"anna"}},` +
		`"char_filter":{"smile":{"type":"mapping","mappings":[":) => happy","& => and","ph => f","\\u2019 => '"]},"twist":{"type":"pattern_replace","pattern":"anna","replacement":"bob"},"dash":{"type":"pattern_replace","pattern":"(\\d+)-(?=\\d)","replacement":"$1_"}},` +
		`"filter":{"syn":{"type":"synonym","expand":"true","synonyms":["Anna, annie => Bob Smith","# anna","berlin,  spree athen","s(100000001,1,'anna',n,1,0).","a\\,b => c"]},` +
		`"stop":{"type":"stop","stopwords":["anna","the"]},"std":{"type":"stop","stopwords":"_english_"},"guard":{"type":"keyword_marker","keywords_path":"analysis/anna.txt"},` +
		`"more":{"type":"synonym_graph","synonyms_set":"anna-set"},"when":{"type":"condition","filter":["lowercase"],"script":{"source":"token.term == 'anna'"}},` +
		`"camel":{"type":"word_delimiter_graph","type_table":["$ => DIGIT","a => ALPHA"],"protected_words":["Anna"],"surprise":"anna"}}}}}},"undefined":{}}`
	out := filtered(t, key, in, exitDone, "1 lines read, 1 written", "setting 7", "words_elsewhere 2", "synonym_rule 1", "character_rule 2", "analysis_part 2", "analysis_member 2",
		"analysis_name 1", "empty_definition 1")
	low := strings.ToLower(out)
	for _, word := range []string{"anna", "bob", "annie", "berlin", "spree", "happy", "people", "undefined", "customer"} {
		if strings.Contains(low, word) {
			t.Errorf("%q is in %s", word, out)
		}
	}
	type part struct {
		Type, Pattern, Replacement string
		Synonyms, Keywords         []string
		Stopwords, Mappings        any
		TypeTable                  []string `json:"type_table"`
		Protected                  []string `json:"protected_words"`
		Filter                     []string
	}
	got := decode[map[string]struct {
		Settings struct {
			Index struct {
				Shards   string `json:"number_of_shards"`
				Refresh  string `json:"refresh_interval"`
				Sort     struct{ Field, Order []string }
				Mapping  map[string]map[string]string
				Analysis struct {
					Analyzer, Tokenizer, Filter map[string]part
					CharFilter                  map[string]part `json:"char_filter"`
				}
			}
		}
	}](t, out)
	if len(got) != 1 {
		t.Fatalf("%s", out)
	}
	for name, x := range got {
		if doc := filtered(t, key, `{"_index":"people","_id":"1","_source":{}}`, exitDone); !strings.Contains(doc, `"`+name+`"`) {
			t.Errorf("settings are of %s, documents: %s", name, doc)
		}
		i, a := x.Settings.Index, x.Settings.Index.Analysis
		if i.Shards != "3" || i.Refresh != "5s" || i.Mapping["total_fields"]["limit"] != "2000" || !slices.Equal(i.Sort.Field, []string{"name", "age"}) {
			t.Errorf("settings: %+v", i)
		}
		word := func(s string) string { return inDocuments(t, key, s) }
		wantSyn := []string{
			word("Anna") + ", " + word("annie") + " => " + word("Bob Smith"), word("berlin") + ",  " + word("spree athen"),
			"s(100000001,1,'" + word("anna") + "',n,1,0).",
		}
		if !slices.Equal(a.Filter["syn"].Synonyms, wantSyn) {
			t.Errorf("synonyms %q, want %q", a.Filter["syn"].Synonyms, wantSyn)
		}
		if want := []any{word("anna"), "the"}; !slices.Equal(a.Filter["stop"].Stopwords.([]any), want) || a.Filter["std"].Stopwords != "_english_" {
			t.Errorf("stop words %v, %v", a.Filter["stop"].Stopwords, a.Filter["std"].Stopwords)
		}
		if want := []any{":) => " + word("happy"), "& => and", "\\u2019 => '"}; !slices.Equal(a.CharFilter["smile"].Mappings.([]any), want) {
			t.Errorf("mappings %q, want %q", a.CharFilter["smile"].Mappings, want)
		}
		if k := a.Filter["guard"].Keywords; k == nil || len(k) != 0 {
			t.Errorf("keywords %v", k)
		}
		if a.Filter["when"].Type != "trim" || a.CharFilter["twist"].Type != "mapping" || a.CharFilter["dash"].Replacement != "$1_" || a.Tokenizer["words"].Pattern != "" || a.Tokenizer["cut"].Pattern == "" {
			t.Errorf("parts: %s", out)
		}
		if c := a.Filter["camel"]; !slices.Equal(c.TypeTable, []string{"$ => DIGIT"}) || !slices.Equal(c.Protected, []string{word("Anna")}) {
			t.Errorf("word_delimiter: %+v", c)
		}
		if n := a.Analyzer["names"]; !slices.Equal(n.Filter, []string{"lowercase", "syn", "stop", "guard", "camel"}) {
			t.Errorf("analyzer: %+v", n)
		}
	}
}

func TestFilterAliasesAndTemplates(t *testing.T) {
	key := writeKey(t)
	index := func(name string) string {
		return decode[struct {
			Index string `json:"_index"`
		}](t, filtered(t, key, `{"_index":"`+name+`","_id":"1","_source":{}}`, exitDone)).Index
	}
	out := filtered(t, key, `{"people":{"aliases":{"all-anna":{"filter":{"term":{"name":"Anna"}},"index_routing":"anna","is_write_index":true,"x":1},"young":{"filter":{"prefix":{"name":"an"}}}}}}`,
		exitDone, "alias_member 1", "alias_with_filter 1")
	aliases := decode[map[string]struct {
		Aliases map[string]struct {
			Filter  struct{ Term map[string]string }
			Routing string `json:"index_routing"`
			Write   bool   `json:"is_write_index"`
		}
	}](t, out)[index("people")].Aliases
	if a := aliases[index("all-anna")]; len(aliases) != 1 || a.Filter.Term["name"] != inDocuments(t, key, "Anna") || !a.Write || a.Routing == "" || a.Routing == "anna" {
		t.Errorf("%s", out)
	}
	for name, line := range map[string]string{
		"template":           `{"people":{"order":1,"index_patterns":["people-*"],"settings":{"index":{"number_of_shards":"2"}},"mappings":{"properties":{"name":{"type":"keyword"}}},"aliases":{"anna":{}}}}`,
		"old template":       `{"people":{"order":1,"template":"people-*","settings":{"index.number_of_shards":"2"},"mappings":{"person":{"properties":{"name":{"type":"keyword"}}}},"aliases":{}}}`,
		"index template":     `{"index_templates":[{"name":"people","index_template":{"index_patterns":["people-*"],"template":{"settings":{"index":{"number_of_shards":"2"}},"mappings":{"properties":{"name":{"type":"keyword"}}}},"composed_of":["people"],"priority":500,"_meta":{"owner":"anna"},"data_stream":{"hidden":false}}}]}`,
		"component template": `{"component_templates":[{"name":"people","component_template":{"version":3,"template":{"settings":{"index":{"number_of_shards":"2"}},"mappings":{"properties":{"name":{"type":"keyword"}}},"aliases":{"people-anna":{}}}}}]}`,
		"index":              `{"people":{"aliases":{"anna":{}},"mappings":{"properties":{"name":{"type":"keyword"}}},"settings":{"index":{"number_of_shards":"2"}}}}`,
	} {
		out := filtered(t, key, line, exitDone)
		if !json.Valid([]byte(out)) || strings.Contains(out, "anna") || strings.Contains(out, "people") || !strings.Contains(out, index("people")) ||
			!strings.Contains(out, `number_of_shards":"2"`) || !strings.Contains(out, `"type":"keyword"`) {
			t.Errorf("%s: %s", name, out)
		}
		if strings.Contains(line, "people-*") && !strings.Contains(out, `"`+index("people")+`-*"`) {
			t.Errorf("%s: pattern: %s", name, out)
		}
	}
}

// Whatever a line holds, what comes out is JSON, or nothing.
func FuzzFilterElasticdump(f *testing.F) {
	for _, s := range []string{
		`{"people":{"settings":{"index":{"analysis":{"filter":{"s":{"type":"synonym","synonyms":["secretword, x => y"]}}}}}}}`,
		`{"p":{"aliases":{"secretword":{"filter":{"match_all":{}}}}}}`, `{"index_templates":[{"name":"a","index_template":{}}]}`,
		`{"a":{"mappings":{"properties":{"b":{"type":"text","analyzer":"x"}}}}}`, `{"_index":"a","_id":"b","_source":{"c":1}}`,
	} {
		f.Add(s)
	}
	key, err := loadKey(writeKey(f), nil)
	if err != nil {
		f.Fatal(err)
	}
	p, err := sanitize.New(sanitize.Default(), key, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n\r") {
			return
		}
		var out, errs bytes.Buffer
		filter, err := newDumpFilter(p, "elasticdump", &out, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := filter.run(t.Context(), &streams{in: strings.NewReader(line + "\n"), out: &out, err: &errs}, true); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if made := bytes.TrimSpace(out.Bytes()); len(made) > 0 && !json.Valid(made) {
			t.Errorf("%q gives %q", line, made)
		}
	})
}
