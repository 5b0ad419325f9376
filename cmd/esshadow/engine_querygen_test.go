//go:build engine

package main_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const genMapping = `{"settings":{"number_of_shards":1,"number_of_replicas":0},"mappings":{"dynamic":"strict","properties":{
 "kw":{"type":"keyword"},"tags":{"type":"keyword"},"low":{"type":"keyword","normalizer":"lowercase"},"mail":{"type":"keyword"},
 "txt":{"type":"text","fields":{"raw":{"type":"keyword"}}},"ws":{"type":"text","analyzer":"whitespace"},"simple":{"type":"text","analyzer":"simple"},
 "n":{"type":"integer"},"price":{"type":"double"},"day":{"type":"date"},"addr":{"type":"ip"},"flag":{"type":"boolean"},
 "items":{"type":"nested","properties":{"sku":{"type":"keyword"},"qty":{"type":"integer"}}}}}}`

// queryGen makes random documents and queries of fragments that are hard on
// purpose.
type queryGen struct {
	*rand.Rand
	docs []map[string]any
}

func pick[T any](g *queryGen, list ...T) T { return list[g.IntN(len(list))] }

// text is a value of a few fragments. UUIDs and addresses stand alone: the
// engine's rules for words join more to them where they end in a letter, and an
// address with more beside it is not known for one.
func (g *queryGen) text() string {
	const uuid, addr = "8f14e45f-ceea-467f-9a0c-0123456789ab", "10.0.0.7"
	var b strings.Builder
	last := ""
	for range 1 + g.IntN(4) {
		part := pick(g, "anna", "Anna", "ANNA", "annabel", "berg", "Berg", "müller", "the", "failed", "login", "a", "B", "7", "42", "17", "1001", "042", "2024",
			"x1", "iPhone", "é", "straße", "北京", "北京市", "東京タワー", "서울", "2024-05-01", addr, uuid, "8f14e45f", "日a本", "Ωmega")
		switch {
		case b.Len() == 0:
		case part == uuid || last == uuid || part == addr || last == addr:
			b.WriteByte(' ')
		default:
			b.WriteString(pick(g, " ", " ", " ", "-", ", ", "/", "_", ".", ":", "@", "'"))
		}
		b.WriteString(part)
		last = part
	}
	return b.String()
}

func (g *queryGen) number() any {
	return pick[any](g, 0, 1, 7, 42, 99, 1001, 12345, -5, 123456, 7654321)
}
func (g *queryGen) price() any { return pick[any](g, 0.5, 1.25, 19.99, 100, 1234.5, 99.995) }
func (g *queryGen) day() string {
	return pick(g, "2024-05-01", "2024-05-02", "2024-05-01T10:00:00Z", "2023-12-31T23:59:59.999Z", "2024-02-29", "2024-06-15")
}

func (g *queryGen) addr() string {
	return pick(g, "10.0.0.1", "10.0.0.7", "10.0.1.1", "192.168.1.9", "203.0.113.5", "2001:db8::1", "2001:db8::2")
}

// value is one that a field may hold.
func (g *queryGen) value(field string) any {
	switch field {
	case "n", "items.qty":
		return g.number()
	case "price":
		return g.price()
	case "day":
		return g.day()
	case "addr":
		return g.addr()
	case "flag":
		return g.IntN(2) == 0
	case "simple": // its analyser cuts hexadecimal digits into letters
		for {
			if v := g.text(); !strings.Contains(v, "8f14") {
				return v
			}
		}
	case "mail":
		return pick(g, "anna", "anna.berg", "bo-li", "X7", "müller") + "@" + pick(g, "example.test", "mail.example.test", "北京.test")
	}
	return g.text()
}

// documents is a bulk body of n documents.
func (g *queryGen) documents(n int) string {
	var b strings.Builder
	for i := range n {
		doc := map[string]any{}
		for _, f := range []string{"kw", "low", "mail", "txt", "ws", "simple", "n", "price", "day", "addr", "flag"} {
			if g.IntN(8) > 0 {
				doc[f] = g.value(f)
			}
		}
		if g.IntN(2) == 0 {
			doc["tags"] = []any{g.text(), g.text()}
		}
		if g.IntN(3) == 0 {
			doc["items"] = []any{map[string]any{"sku": g.text(), "qty": g.number()}, map[string]any{"sku": g.text()}}
		}
		g.docs = append(g.docs, doc)
		fmt.Fprintf(&b, "{\"index\":{\"_id\":\"doc-%d\"}}\n%s\n", i, asJSON(doc))
	}
	return b.String()
}

// literal is a value to ask for: most are in a document.
func (g *queryGen) literal(field string) any {
	field = strings.TrimSuffix(field, ".raw")
	if g.IntN(4) > 0 {
		for range 20 {
			switch v := g.docs[g.IntN(len(g.docs))][field].(type) {
			case nil:
			case []any:
				return v[g.IntN(len(v))]
			default:
				return v
			}
		}
	}
	return g.value(field)
}

func (g *queryGen) str(field string) string { return fmt.Sprint(g.literal(field)) }

// wordy is a literal that is no number, date or address: as bounds these are
// taken for bounds of a field of their kind.
func (g *queryGen) wordy(field string) string {
	for {
		if v := g.str(field); v[0] < '0' || v[0] > '9' {
			return v
		}
	}
}

func (g *queryGen) whole() string {
	return pick(g, "kw", "kw", "tags", "low", "mail", "txt.raw", "n", "price", "day", "addr", "flag")
}
func (g *queryGen) keyword() string { return pick(g, "kw", "tags", "low", "mail", "txt.raw") }
func (g *queryGen) words() string   { return pick(g, "txt", "txt", "ws", "simple") }

type object = map[string]any

// clause is a random query and its name.
func (g *queryGen) clause(depth int) (string, object) {
	names := []string{
		"term", "term", "terms", "match", "match", "match and", "match_phrase", "match_phrase slop", "prefix", "wildcard", "range number", "range date",
		"range ip", "range text", "exists", "ids", "multi_match", "query_string", "simple_query_string", "nested", "fuzzy", "match_phrase_prefix", "term insensitive", "regexp",
	}
	if depth < 2 {
		names = append(names, "bool", "bool", "constant_score", "dis_max")
	}
	name := pick(g, names...)
	return name, g.named(name, depth)
}

func (g *queryGen) named(name string, depth int) object {
	one := func(kind, field string, v any) object { return object{kind: object{field: v}} }
	switch name {
	case "term":
		f := g.whole()
		return one("term", f, g.literal(f))
	case "term insensitive":
		f := g.keyword()
		return one("term", f, object{"value": g.literal(f), "case_insensitive": true})
	case "terms":
		f := g.whole()
		return one("terms", f, []any{g.literal(f), g.literal(f), g.literal(f)})
	case "match":
		f := pick(g, g.words(), g.words(), g.whole())
		return one("match", f, g.literal(f))
	case "match and":
		f := g.words()
		return one("match", f, object{"query": g.str(f) + pick(g, "", " berg"), "operator": "and"})
	case "match_phrase":
		f := g.words()
		return one("match_phrase", f, g.str(f))
	case "match_phrase slop":
		f := g.words()
		return one("match_phrase", f, object{"query": g.str(f), "slop": 2})
	case "match_phrase_prefix":
		f := g.words()
		return one("match_phrase_prefix", f, g.str(f))
	case "prefix":
		f := pick(g, g.keyword(), g.words())
		return one("prefix", f, g.cut(f))
	case "wildcard":
		f := pick(g, g.keyword(), g.words())
		return one("wildcard", f, pick(g, "", "*")+g.cut(f)+pick(g, "*", "?", ""))
	case "regexp":
		f := g.keyword()
		return one("regexp", f, g.cut(f)+".*")
	case "fuzzy":
		f := g.keyword()
		return one("fuzzy", f, g.literal(f))
	case "range number":
		f := pick(g, "n", "price")
		return one("range", f, g.bounds(g.literal(f), g.literal(f)))
	case "range date":
		return one("range", "day", g.bounds(g.literal("day"), pick[any](g, g.literal("day"), "2024-05-01||+1M/d", "2024-05")))
	case "range ip":
		return one("range", "addr", pick(g, g.bounds(g.literal("addr"), g.literal("addr")), g.block()))
	case "range text":
		f := g.keyword()
		return one("range", f, g.bounds(g.wordy(f), g.wordy(f)))
	case "exists":
		return object{"exists": object{"field": pick(g, g.whole(), g.words(), "items", "absent")}}
	case "ids":
		return object{"ids": object{"values": []any{fmt.Sprint("doc-", g.IntN(150)), fmt.Sprint("doc-", g.IntN(150)), "none"}}}
	}
	return g.compound(name, depth)
}

func (g *queryGen) compound(name string, depth int) object {
	sub := func() object { _, q := g.clause(depth + 1); return q }
	switch name {
	case "multi_match":
		return object{"multi_match": object{
			"query": g.str(g.words()), "fields": []any{"txt", "ws", pick(g, "kw", "simple^2")}, "type": pick(g, "best_fields", "most_fields", "phrase", "cross_fields"),
			"operator": pick(g, "or", "and"),
		}}
	case "query_string":
		return object{"query_string": object{"query": g.lucene(), "default_field": g.words()}}
	case "simple_query_string":
		return object{"simple_query_string": object{"query": pick(g, "", "+", "-") + g.str("txt") + pick(g, "", " | berg", ` + "anna berg"`), "fields": []any{g.words()}}}
	case "nested":
		return object{"nested": object{"path": "items", "query": pick(g, object{"term": object{"items.sku": g.text()}}, object{"exists": object{"field": "items.qty"}},
			object{"range": object{"items.qty": object{"gte": g.number()}}})}}
	case "constant_score":
		return object{"constant_score": object{"filter": sub()}}
	case "dis_max":
		return object{"dis_max": object{"queries": []any{sub(), sub()}}}
	}
	b := object{pick(g, "must", "filter"): []any{sub()}, "must_not": sub()}
	if g.IntN(2) == 0 {
		b = object{"should": []any{sub(), sub(), sub()}, "minimum_should_match": 1 + g.IntN(2)}
	}
	return object{"bool": b}
}

// cut is the beginning of a value: at a separator, or anywhere.
func (g *queryGen) cut(field string) string {
	s := []rune(g.str(field))
	if at := slices.IndexFunc(s, func(r rune) bool { return strings.ContainsRune(" -/_.:@,", r) }); at >= 0 && g.IntN(2) == 0 {
		return string(s[:at+1])
	}
	return string(s[:1+g.IntN(len(s))])
}

func (g *queryGen) bounds(a, b any) object {
	return pick(g, object{"gte": a}, object{"lt": b}, object{"gte": a, "lte": b}, object{"gt": a, "lt": b})
}

// block is a range that is one CIDR block.
func (g *queryGen) block() object {
	a, err := netip.ParseAddr(fmt.Sprint(g.literal("addr")))
	if err != nil {
		a = netip.MustParseAddr("10.0.0.7")
	}
	p, _ := a.Prefix(g.IntN(a.BitLen() + 1))
	last := p.Addr().AsSlice()
	for i := p.Bits(); i < a.BitLen(); i++ {
		last[i/8] |= 0x80 >> (i % 8)
	}
	high, _ := netip.AddrFromSlice(last)
	if next := high.Next(); next.IsValid() && g.IntN(2) == 0 {
		return object{"gte": p.Addr().String(), "lt": next.String()}
	}
	return object{"gte": p.Addr().String(), "lte": high.String()}
}

// lucene is a query string.
func (g *queryGen) lucene() string {
	field := g.keyword()
	quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(g.str(field)) + `"`
	word := func() string { return pick(g, "anna", "Berg", "failed", "müller", "42", "北京", "iPhone") }
	return pick(g,
		field+":"+quoted, word(), word()+" AND "+word(), word()+" OR NOT "+word(), "txt:("+word()+" "+word()+")", "+"+word()+" -"+word(),
		`"`+word()+" "+word()+`"`, `"`+word()+" "+word()+`"~2`, "n:["+fmt.Sprint(g.IntN(50))+" TO 2000]", "price:>"+fmt.Sprint(g.IntN(100)),
		"day:[2024-05-01 TO *]", "_exists_:"+g.whole(), word()+"*", word()+"~1", "flag:true", "("+word()+" OR "+word()+") AND NOT flag:true", "addr:10.0.0.7", "*:*")
}

// query is a random search: a query alone, by URL, or with an aggregation.
func (g *queryGen) query() genQuery {
	switch g.IntN(8) {
	case 0:
		return genQuery{"q=", "&q=" + url.QueryEscape(g.lucene()) + "&df=txt", ""}
	case 1, 2:
		name, agg := g.agg()
		body := object{"aggs": object{"a": agg}}
		if g.IntN(2) == 0 {
			body["query"] = g.named(pick(g, "term", "match", "exists"), 2)
		}
		return genQuery{"agg " + name, "", asJSON(body)}
	}
	name, q := g.clause(0)
	return genQuery{name, "", asJSON(object{"query": q})}
}

func (g *queryGen) agg() (string, object) {
	field := g.whole()
	switch name := pick(g, "terms", "terms", "terms include", "cardinality", "missing", "value_count", "filter", "filters", "range", "date_histogram", "histogram", "stats", "composite", "nested"); name {
	case "terms":
		return name, object{"terms": object{"field": field, "size": pick(g, 3, 10, 500)}}
	case "terms include":
		f := g.keyword()
		return name, object{"terms": object{"field": f, "include": []any{g.literal(f), g.literal(f)}}}
	case "cardinality", "missing", "value_count":
		return name, object{name: object{"field": field}}
	case "filter":
		return name, object{"filter": g.named("term", 2)}
	case "filters":
		return name, object{"filters": object{"filters": object{"x": g.named("match", 2), "y": g.named("prefix", 2)}}}
	case "range":
		return name, object{"range": object{"field": "n", "ranges": []any{object{"to": 50}, object{"from": 50, "to": 2000}, object{"from": 2000}}}}
	case "date_histogram":
		return name, object{"date_histogram": object{"field": "day", "calendar_interval": pick(g, "day", "week"), "min_doc_count": 1}}
	case "histogram":
		return name, object{"histogram": object{"field": "price", "interval": 10, "min_doc_count": 1}}
	case "stats":
		return name, object{"stats": object{"field": "price"}}
	case "composite":
		return name, object{"composite": object{"size": 1000, "sources": []any{object{"k": object{"terms": object{"field": field}}}}}}
	}
	return "nested", object{"nested": object{"path": "items"}, "aggs": object{"s": object{"terms": object{"field": "items.sku", "size": 500}}}}
}
