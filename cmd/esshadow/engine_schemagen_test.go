//go:build engine

package main_test

import (
	"fmt"
	"net/url"
	"strings"
)

// knownMapping has a field of every kind that the sanitiser judges by the schema.
const knownMapping = `{"settings":{"number_of_shards":1,"number_of_replicas":0,"analysis":{
 "normalizer":{"plainly":{"type":"custom","filter":["lowercase","asciifolding"]}},
 "analyzer":{
  "edgy":{"tokenizer":"standard","filter":["lowercase","grams"]},"tri":{"tokenizer":"trigrams","filter":["lowercase"]},
  "syn":{"tokenizer":"standard","filter":["lowercase","syns"]},"stops":{"tokenizer":"standard","filter":["lowercase","some"]},
  "folded":{"tokenizer":"standard","filter":["lowercase","asciifolding"]},"letters":{"tokenizer":"letter"},
  "stemmed":{"tokenizer":"standard","filter":["english_possessive","lowercase","stop","porter_stem"]},
  "parts":{"tokenizer":"whitespace","filter":["word_delimiter_graph","lowercase"]}},
 "tokenizer":{"trigrams":{"type":"ngram","min_gram":3,"max_gram":3,"token_chars":["letter","digit"]}},
 "filter":{"grams":{"type":"edge_ngram","min_gram":2,"max_gram":10},"syns":{"type":"synonym","synonyms":["anna, berg"]},
  "some":{"type":"stop","stopwords":["failed","login"]},"english_possessive":{"type":"stemmer","language":"possessive_english"}}}},
 "mappings":{"dynamic":true,"properties":{
 "kw":{"type":"keyword"},"low":{"type":"keyword","normalizer":"lowercase"},"plain":{"type":"keyword","normalizer":"plainly"},
 "brief":{"type":"keyword","ignore_above":40},"txt":{"type":"text","fields":{"raw":{"type":"keyword"}}},"ws":{"type":"text","analyzer":"whitespace"},
 "simple":{"type":"text","analyzer":"simple"},"letters":{"type":"text","analyzer":"letters"},"whole":{"type":"text","analyzer":"keyword"},
 "en":{"type":"text","analyzer":"english"},"en2":{"type":"text","analyzer":"english","fields":{"raw":{"type":"keyword"}}},"en3":{"type":"text","analyzer":"stemmed"},
 "de":{"type":"text","analyzer":"german"},"edge":{"type":"text","analyzer":"edgy","search_analyzer":"standard"},"tri":{"type":"text","analyzer":"tri"},
 "cjk":{"type":"text","analyzer":"cjk"},"syn":{"type":"text","analyzer":"syn"},"stops":{"type":"text","analyzer":"stops"},"folded":{"type":"text","analyzer":"folded"},
 "parts":{"type":"text","analyzer":"parts"},
 "n":{"type":"integer"},"sh":{"type":"short"},"big":{"type":"long"},"price":{"type":"double"},"day":{"type":"date"},"iso":{"type":"date","format":"yyyy-MM-dd"},
 "german_day":{"type":"date","format":"dd.MM.yyyy||yyyyMMdd"},"addr":{"type":"ip"},"flag":{"type":"boolean"},"flat":{"type":"flat_object"},
 "name":{"type":"alias","path":"kw"},
 "items":{"type":"nested","properties":{"sku":{"type":"keyword"},"qty":{"type":"integer"}}}}}}`

// knownGen makes random documents and queries over knownMapping.
//
// With plain a field's numbers and dates are written in one way: strict replaces
// what stands in quotes in another way than what does not, whatever its type.
type knownGen struct {
	queryGen
	plain bool
}

func wholeFields() []string {
	return []string{"kw", "low", "plain", "brief", "txt.raw", "name", "whole"}
}

func textFields() []string {
	return []string{"txt", "ws", "simple", "letters", "whole", "en", "en2", "en3", "de", "edge", "tri", "cjk", "syn", "stops", "folded", "parts", "dyn"}
}

// english is a text of words with endings.
func (g *knownGen) english() string {
	var words []string
	for range 1 + g.IntN(4) {
		words = append(words, pick(&g.queryGen, "run", "runs", "running", "login", "logins", "Failed", "failing", "fails", "the", "a", "Berg", "bergs", "berg's",
			"anna", "annas", "Anna's", "tests", "testing", "1990s", "1990", "42", "true", "truely", "nulls", "X1s", "generously", "generate", "hopping", "hope", "sky", "skies", "müllers"))
	}
	return strings.Join(words, pick(&g.queryGen, " ", " ", ", ", "-", ".", "_"))
}

func (g *knownGen) value(field string) any {
	q := &g.queryGen
	switch field {
	case "n", "big", "day":
		if g.plain && field != "big" {
			return g.queryGen.value(field)
		}
		if g.plain {
			return pick[any](q, 0, 7, 42, 1001, 13800138000, int64(4111111111111111), 123456789)
		}
	}
	switch field {
	case "en", "en2", "en3", "stops", "syn", "edge":
		if g.IntN(4) > 0 {
			return g.english()
		}
	case "kw", "low", "brief":
		if g.IntN(8) == 0 {
			return pick[any](q, 42, 1001, 7, 12345678, -5, 1.5, true, "42", "1001", "007", "2024", "12345678")
		}
		if field == "brief" {
			return g.text()
		}
	case "n":
		return pick[any](q, 0, 1, 7, 42, 99, 1001, 123456, 7654321, -5, "42", "1001", "7", "-5")
	case "sh":
		return pick[any](q, 0, 1, 7, 42, 99, 1001, 12345, -5)
	case "big":
		return pick[any](q, 0, 7, 42, 1001, 13800138000, int64(4111111111111111), 123456789, "42")
	case "day":
		return pick[any](q, g.day(), g.day(), g.day(), 1714521600000, "2024-05")
	case "iso":
		return pick(q, "2024-05-01", "2024-05-02", "2023-12-31", "2024-02-29")
	case "german_day":
		return pick(q, "01.05.2024", "31.12.2023", "20240501", "20240229")
	}
	return g.queryGen.value(field)
}

func (g *knownGen) documents(n int) string {
	var b strings.Builder
	for i := range n {
		doc := map[string]any{}
		for _, f := range append(textFields(), "kw", "low", "plain", "brief", "n", "sh", "big", "price", "day", "iso", "german_day", "addr", "flag", "extra", "flat") {
			switch {
			case g.IntN(8) == 0:
			case f == "flat":
				doc[f] = object{"k": g.value("kw"), "deep": object{"v": g.text()}}
			case f == "extra": // a field of which the snapshot does not know
				doc[f] = g.number()
			default:
				doc[f] = g.value(f)
			}
		}
		if g.IntN(3) == 0 {
			doc["items"] = []any{object{"sku": g.text(), "qty": g.number()}, object{"sku": g.text()}}
		}
		g.docs = append(g.docs, doc)
		fmt.Fprintf(&b, "{\"index\":{\"_id\":\"doc-%d\"}}\n%s\n", i, asJSON(doc))
	}
	return b.String()
}

// literal is a value to ask for: most are in a document.
func (g *knownGen) literal(field string) any {
	at := strings.TrimSuffix(field, ".raw")
	if at == "name" {
		at = "kw"
	}
	if g.IntN(4) > 0 {
		for range 20 {
			if v := g.docs[g.IntN(len(g.docs))][at]; v != nil {
				if text, ok := v.(string); ok && g.IntN(3) == 0 && !strings.HasSuffix(field, "raw") { // a word of it
					if words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" -,", r) }); len(words) > 0 {
						return words[g.IntN(len(words))]
					}
				}
				return v
			}
		}
	}
	return g.value(at)
}

func (g *knownGen) str(field string) string { return fmt.Sprint(g.literal(field)) }

func (g *knownGen) whole() string { return pick(&g.queryGen, wholeFields()...) }
func (g *knownGen) words() string { return pick(&g.queryGen, textFields()...) }
func (g *knownGen) typed() string {
	return pick(&g.queryGen, "n", "sh", "big", "price", "day", "iso", "german_day", "addr", "flag")
}

func (g *knownGen) query() genQuery {
	q := &g.queryGen
	one := func(kind, field string, v any) genQuery {
		return genQuery{kind + " " + kindOf(field), "", asJSON(object{"query": object{kind: object{field: v}}})}
	}
	f := pick(q, g.whole(), g.words(), g.typed())
	switch g.IntN(22) {
	case 0, 1:
		return one("term", f, g.literal(f))
	case 2:
		return one("terms", f, []any{g.literal(f), g.literal(f)})
	case 3, 4, 5, 6:
		if g.IntN(3) > 0 {
			f = g.words()
		}
		return one("match", f, g.literal(f))
	case 7:
		f = g.words()
		return one("match", f, object{"query": g.str(f), "operator": "and"})
	case 8, 9:
		f = g.words()
		return one("match_phrase", f, g.str(f))
	case 10:
		f = pick(q, g.whole(), g.words())
		s := []rune(g.str(f))
		cut := 1 + g.IntN(len(s))
		if at := strings.IndexAny(string(s), " -/_.:@,"); at >= 0 && g.IntN(2) == 0 {
			return one("prefix", f, string(s)[:at+1])
		}
		return one("prefix", f, string(s[:cut]))
	case 11:
		f = g.words()
		return one("match_phrase_prefix", f, g.str(f)+pick(q, "", " "))
	case 12:
		return one("wildcard", g.whole(), pick(q, "", "*")+g.cut("txt")+"*")
	case 13, 14:
		f = pick(q, g.typed(), g.typed(), g.whole())
		return one("range", f, g.bounds(g.literal(f), g.literal(f)))
	case 15:
		return g.between()
	case 16, 17:
		return g.sorted()
	case 18:
		return g.many()
	case 19:
		return genQuery{"q=", "&q=" + url.QueryEscape(g.lucene()) + pick(q, "&df=txt", "&df=kw", "&df=en", "&df=ws", ""), ""}
	case 20:
		return genQuery{"exists", "", asJSON(object{"query": object{"exists": object{"field": pick(q, f, "extra", "flat.k")}}})}
	}
	return g.counted()
}

// kindOf names the class of a field in the table.
func kindOf(field string) string {
	switch field {
	case "kw", "low", "brief", "txt.raw", "name", "whole":
		return "keyword"
	case "n", "sh", "big", "price":
		return "number"
	case "day", "iso", "german_day":
		return "date"
	case "addr", "flag":
		return "ip, boolean"
	case "txt", "ws", "simple", "letters":
		return "words"
	case "en", "en2", "en3":
		return "english"
	case "dyn", "extra":
		return "not in the schema"
	}
	return field
}

// between is a range of dates and numbers in other forms than the documents'.
func (g *knownGen) between() genQuery {
	q := &g.queryGen
	f := pick(q, "day", "day", "n", "price", "extra", "kw")
	bound := pick[any](q, "now-1d", "2024-05", "2024", 1714521600000, "1714521600000", "2024-05-01||/M", "2024-05-01||+1M/d")
	if kindOf(f) != "date" {
		bound = pick[any](q, "42", 42, 1001, "1001", 99.995, "123456")
	}
	return genQuery{"range " + kindOf(f) + " in other forms", "", asJSON(object{"query": object{"range": object{f: object{pick(q, "gte", "lt"): bound}}}})}
}

// sorted is a search whose hits have an order.
func (g *knownGen) sorted() genQuery {
	q := &g.queryGen
	f := pick(q, "n", "sh", "big", "price", "day", "iso", "iso", "flag", "kw", "txt.raw", "addr")
	by := pick[any](q, object{f: pick(q, "asc", "desc")}, object{f: object{"order": pick(q, "asc", "desc"), "missing": pick(q, "_first", "_last")}})
	body := object{"size": 200, "sort": []any{by}}
	if g.IntN(2) == 0 {
		body["query"] = object{"match": object{"txt": g.str("txt")}}
	}
	if g.IntN(4) == 0 {
		return genQuery{"sort= " + kindOf(f), "&size=200&sort=" + f + ":" + pick(q, "asc", "desc"), ""}
	}
	return genQuery{"sort " + kindOf(f), "", asJSON(body)}
}

// many is a clause over several fields.
func (g *knownGen) many() genQuery {
	q := &g.queryGen
	fields := pick(q, []any{"txt^2", "ws"}, []any{"txt", "txt.raw"}, []any{"txt", "en2"}, []any{"ws", "letters"}, []any{"kw", "low"}, []any{"txt", "n"}, []any{"t*"}, []any{"folded", "kw"}, []any{"en", "en3"}, []any{"*"})
	text := pick(q, g.str("txt"), g.str("en"), g.str("kw"))
	switch g.IntN(3) {
	case 0:
		return genQuery{"query_string", "", asJSON(object{"query": object{"query_string": object{"query": g.lucene(), "fields": fields, "lenient": true}}})}
	case 1:
		return genQuery{"simple_query_string", "", asJSON(object{"query": object{"simple_query_string": object{"query": text, "fields": fields, "lenient": true}}})}
	}
	return genQuery{"multi_match", "", asJSON(object{"query": object{"multi_match": object{"query": text, "fields": fields, "lenient": true}}})}
}

// counted is an aggregation.
func (g *knownGen) counted() genQuery {
	q := &g.queryGen
	f := pick(q, g.typed(), "kw", "low", "txt.raw", "plain")
	switch g.IntN(4) {
	case 0:
		return genQuery{"agg terms " + kindOf(f), "", asJSON(object{"size": 0, "aggs": object{"a": object{"terms": object{"field": f, "size": 500}}}})}
	case 1:
		f = pick(q, "n", "sh", "day", "kw")
		return genQuery{"agg terms by key " + kindOf(f), "", asJSON(object{"size": 0, "aggs": object{"a": object{"terms": object{"field": f, "size": 3, "order": object{"_key": "asc"}}}}})}
	case 2:
		return genQuery{"agg histogram", "", asJSON(object{"size": 0, "aggs": object{"a": object{"histogram": object{"field": pick(q, "n", "sh", "price"), "interval": 10, "min_doc_count": 1}}}})}
	}
	return genQuery{"agg date_histogram", "", asJSON(object{"size": 0, "aggs": object{"a": object{"date_histogram": object{"field": pick(q, "day", "iso"), "calendar_interval": pick(q, "day", "week", "month"), "min_doc_count": 1}}}})}
}
