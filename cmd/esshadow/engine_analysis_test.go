//go:build engine

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/sanitize"
)

const analysisIndex = `{"settings":{"index":{"number_of_shards":1,"number_of_replicas":0,"max_ngram_diff":"3","analysis":{
 "char_filter":{"smile":{"type":"mapping","mappings":[":) => happy","& => and","ph => f"]},"twist":{"type":"pattern_replace","pattern":"anna","replacement":"bob"},"dash":{"type":"pattern_replace","pattern":"_+","replacement":" "}},
 "tokenizer":{"cut":{"type":"pattern","pattern":"[\\s,;]+"}},
 "filter":{"syn":{"type":"synonym","synonyms":["notebook, laptop","tv => television","new york, big apple"]},"more":{"type":"synonym_graph","synonyms":["cell, mobile phone"]},
  "stop":{"type":"stop","stopwords":["anna","the","of"]},"guard":{"type":"keyword_marker","keywords":["cats"]},"common":{"type":"common_grams","common_words":["red","big"]},
  "keep":{"type":"keep","keep_words":["red","blue","laptop"]},"over":{"type":"stemmer_override","rules":["mice => mouse"]},
  "words":{"type":"dictionary_decompounder","word_list":["note","book"]},"camel":{"type":"word_delimiter_graph","type_table":["$ => DIGIT"],"protected_words":["Wi-Fi"]},"fr":{"type":"elision","articles":["l","d"]}},
 "analyzer":{"syns":{"type":"custom","tokenizer":"standard","char_filter":["smile","dash"],"filter":["lowercase","syn"]},"stops":{"type":"custom","tokenizer":"cut","filter":["lowercase","stop"]},
  "kept":{"type":"custom","tokenizer":"standard","filter":["lowercase","keep"]},"graph":{"type":"custom","tokenizer":"standard","filter":["lowercase","more"]},
  "rest":{"type":"custom","tokenizer":"whitespace","char_filter":["twist"],"filter":["camel","lowercase","fr","guard","over","common","words"]}}}}},
 "mappings":{"properties":{"a":{"type":"text","analyzer":"syns"},"b":{"type":"text","analyzer":"stops"},"c":{"type":"text","analyzer":"kept"},"d":{"type":"text","search_analyzer":"graph","analyzer":"standard"},"e":{"type":"text","analyzer":"rest"}}}}`

// equivalentAnalysis: an index that is made of what sanitize filter gives for the
// definition of another is taken by the engine, and finds as many sanitised
// documents where synonyms and stop words are at work.
func equivalentAnalysis(t *testing.T, n *node) {
	x := newTwin(t, n, rulesOf(sanitize.PresetFidelity), "analysis", analysisIndex)
	dump := n.must(t, "GET", "/"+x.original, "").body
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary(t), "sanitize", "filter", "--preset", "fidelity", "--format", "elasticdump", "--key", key)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.TrimSpace(dump), '\n')), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &errs)
	}
	t.Logf("%s", &errs)
	for _, word := range []string{"notebook", "laptop", "television", "apple", "anna", "mice", "cats"} {
		if bytes.Contains(out, []byte(word)) {
			t.Errorf("%q is in %s", word, out)
		}
	}
	var defs map[string]json.RawMessage
	if err := json.Unmarshal(out, &defs); err != nil || len(defs) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	n.must(t, "DELETE", "/"+x.made, "")
	for _, def := range defs {
		n.must(t, "PUT", "/"+x.made, string(def))
	}
	texts := []string{
		"red laptop", "a blue notebook", "the tv of anna", "television", "New York", "the big apple", "cell", "mobile phone", "happy :)", "you & me",
		"Anna Smith", "the of", "red, blue; green", "l'avion d'or", "mice_and cats", "Wi-Fi $5 notebook", "big red car", "nothing at all",
	}
	var bulk strings.Builder
	for i, s := range texts {
		text, _ := json.Marshal(s)
		fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n{\"a\":%s,\"b\":%s,\"c\":%s,\"d\":%s,\"e\":%s}\n", i, text, text, text, text, text)
	}
	x.load(t, bulk.String())
	hits := int64(0)
	for _, s := range texts {
		for _, field := range []string{"a", "b", "c", "d"} {
			for _, kind := range []string{"match", "match_phrase"} {
				body, _ := json.Marshal(map[string]any{"query": map[string]any{kind: map[string]any{field: s}}, "track_total_hits": true})
				rec, drop := x.sanitised("POST", "/"+x.original+"/_search", string(body))
				if drop != "" {
					t.Errorf("%s: %s", body, drop)
					continue
				}
				was, is := x.ask(t, "POST", "/"+x.original+"/_search", string(body)), x.ask(t, "POST", "/"+x.made+"/_search", string(rec.Body))
				hits += was.Total
				if was.Total != is.Total {
					t.Errorf("%s found %d, %s found %d", body, was.Total, rec.Body, is.Total)
				}
			}
		}
	}
	if hits < 150 {
		t.Errorf("%d hits in all", hits)
	}
}
