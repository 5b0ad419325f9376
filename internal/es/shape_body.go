package es

import (
	"bytes"
	"strconv"
)

// searchBody writes a search: its query first, then its other members in a
// fixed order.
func (f *Fingerprinter) searchBody(root int32, p params) {
	t := &f.tree
	if p.q != "" {
		f.kind("query_string")
		f.write("query_string(")
		f.trimmed(func() { f.operators([]byte(p.q)) })
		f.write(") ")
	} else if query := t.get(root, "query"); query != none {
		if f.queries(query, 0) {
			f.write(" ")
		}
	}
	for _, part := range [...]string{"index_filter", "post_filter", "filter"} {
		if n := t.get(root, part); n != none {
			f.block(part, n)
		}
	}
	f.knn(t.get(root, "knn"))
	if n := t.get(root, "retriever"); n != none {
		f.kind("retriever")
		f.write("retriever(")
		f.retriever(n, 0)
		f.write(") ")
	}
	for _, key := range [...]string{"aggs", "aggregations"} {
		if n := t.get(root, key); n != none {
			f.kind("aggs")
			f.write("aggs")
			f.aggs(n, 0)
			f.write(" ")
		}
	}
	f.order(root, p)
	f.paging(root, p)
	f.extras(root)
}

// block writes name[clauses].
func (f *Fingerprinter) block(name string, n int32) {
	start := len(f.out)
	f.write(name)
	f.write("[")
	if !f.queries(n, 0) {
		f.out = f.out[:start]
		return
	}
	f.kind(name)
	f.write("] ")
}

// knn writes the member knn of a search: one or several.
func (f *Fingerprinter) knn(n int32) {
	t := &f.tree
	mark := f.beginSet()
	switch {
	case t.is(n, ObjectStart):
		f.member()
		f.write("knn")
		f.vector(n, 0)
	case t.is(n, ArrayStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.write("knn")
			f.vector(c, 0)
		}
	}
	if f.endSet(mark, " ") {
		f.kind("knn")
		f.write(" ")
	}
}

// retriever writes a tree of retrievers.
func (f *Fingerprinter) retriever(n int32, depth int) {
	t := &f.tree
	mark := f.beginSet()
	switch {
	case t.is(n, ArrayStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.retriever(c, depth)
		}
	case t.is(n, ObjectStart):
		f.depth = max(f.depth, depth)
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.oneRetriever(c, depth)
		}
	}
	f.endSet(mark, ", ")
}

func (f *Fingerprinter) oneRetriever(c int32, depth int) {
	t := &f.tree
	switch key := t.at(c).key; string(key) {
	case "knn":
		f.write("knn")
		f.vector(c, depth)
		return
	case "retriever", "retrievers":
		f.retriever(c, depth+1)
		return
	case "standard", "rrf", "linear", "text_similarity_reranker", "rule", "pinned", "diversify", "rescorer", "random_reranker":
		f.out = append(f.out, key...)
	default:
		return // weight, normalizer, names of versions to come
	}
	f.write("(")
	mark := f.beginSet()
	for _, part := range [...]string{"retriever", "retrievers"} {
		if n := t.get(c, part); n != none {
			f.member()
			f.retriever(n, depth+1)
		}
	}
	for _, part := range [...]string{"query", "filter"} {
		if n := t.get(c, part); t.is(n, ObjectStart) || t.is(n, ArrayStart) {
			f.member()
			f.write(part)
			f.write("[")
			f.queries(n, depth+1)
			f.write("]")
		}
	}
	f.endSet(mark, ", ")
	f.amountOf(" window", t.get(c, "rank_window_size"))
	f.write(")")
}

// order writes how hits are sorted; that order is kept.
func (f *Fingerprinter) order(root int32, p params) {
	t := &f.tree
	n := t.get(root, "sort")
	if n == none && p.sort == "" {
		return
	}
	start := len(f.out)
	f.write("sort(")
	if p.sort != "" {
		for rest, more := []byte(p.sort), true; more; {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(","))
			f.sortName(item)
			f.write(",")
		}
	} else {
		f.sorts(n)
	}
	if f.out[len(f.out)-1] != ',' {
		f.out = f.out[:start]
		return
	}
	f.kind("sort")
	f.out = append(f.out[:len(f.out)-1], ") "...)
}

// sorts writes the items of a sort, each with a comma behind it.
func (f *Fingerprinter) sorts(n int32) {
	t := &f.tree
	switch {
	case t.str(n) != nil:
		f.sortName(t.str(n))
		f.write(",")
	case t.is(n, ArrayStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			if !t.is(c, ArrayStart) {
				f.sorts(c)
			}
		}
	case t.is(n, ObjectStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.sortBy(c)
			f.write(",")
		}
	}
}

// sortName writes "field" or "field:order".
func (f *Fingerprinter) sortName(item []byte) {
	name, order, _ := bytes.Cut(item, []byte(":"))
	f.field(name)
	f.direction(name, order)
}

func (f *Fingerprinter) direction(name, order []byte) {
	switch {
	case bytes.EqualFold(order, []byte("desc")):
		f.write(":desc")
	case bytes.EqualFold(order, []byte("asc")):
		f.write(":asc")
	case string(name) == "_score":
		f.write(":desc")
	default:
		f.write(":asc")
	}
}

func (f *Fingerprinter) sortBy(c int32) {
	t := &f.tree
	name, order := t.at(c).key, t.str(c)
	if order == nil {
		order = t.str(t.get(c, "order"))
	}
	switch string(name) {
	case "_script":
		f.write("_script ")
		f.script(t.get(c, "script"))
	case "_geo_distance":
		f.write("_geo_distance(")
		if g := f.fieldOf(c); g != none {
			f.field(t.at(g).key)
		}
		f.write(")")
	default:
		f.field(name)
	}
	f.direction(name, order)
	if nested := t.get(c, "nested"); nested != none {
		f.write(" nested")
	}
}

// paging writes how many hits are asked for, from where, and how far they are
// counted.
func (f *Fingerprinter) paging(root int32, p params) {
	t := &f.tree
	for _, at := range [...]struct{ key, param string }{{"size", p.size}, {"from", p.from}} {
		if v, ok := wholeNumber([]byte(at.param)); ok {
			f.amount(at.key, v)
			f.write(" ")
		} else if n := t.get(root, at.key); t.is(n, Number) {
			f.amountOf(at.key, n)
			f.write(" ")
		}
	}
	switch track := t.get(root, "track_total_hits"); {
	case p.track == "true" || p.track == "" && t.is(track, True):
		f.write("total=all ")
	case p.track == "false" || p.track == "" && t.is(track, False):
		f.write("total=no ")
	case p.track != "":
		if v, err := strconv.ParseInt(p.track, 10, 64); err == nil {
			f.amount("total", v)
			f.write(" ")
		}
	case t.is(track, Number):
		f.amountOf("total", track)
		f.write(" ")
	}
	if p.scroll {
		f.write("scroll ")
	}
	if p.routing {
		f.write("routing ")
	}
	if p.searchType == "dfs_query_then_fetch" {
		f.write("dfs ")
	}
}

// extras writes what else a search asks for.
func (f *Fingerprinter) extras(root int32) {
	t := &f.tree
	if t.is(root, ObjectStart) {
		for _, name := range [...]string{"search_after", "pit", "slice", "min_score", "terminate_after", "indices_boost", "script", "max_docs", "conflicts"} {
			if n := t.get(root, name); n != none && t.at(n).kind != Null {
				f.write(name)
				if name == "script" {
					f.out = f.out[:len(f.out)-len(name)]
					f.script(n)
				}
				f.write(" ")
			}
		}
		for _, name := range [...]string{"profile", "explain"} {
			if t.is(t.get(root, name), True) {
				f.write(name)
				f.write(" ")
			}
		}
	}
	if src := t.get(root, "_source"); t.is(src, False) {
		f.write("_source=no ")
	} else if src != none && !t.is(src, True) {
		f.list("_source", src)
		f.write(" ")
	}
	for _, name := range [...]string{"fields", "docvalue_fields", "stored_fields", "fetch_fields"} {
		if n := t.get(root, name); n != none {
			f.list(name, n)
			f.write(" ")
		}
	}
	f.scripts(root)
	if n := t.get(root, "highlight"); n != none {
		f.kind("highlight")
		f.list("highlight", t.get(n, "fields"))
		f.write(" ")
	}
	if n := t.get(root, "collapse"); n != none {
		f.kind("collapse")
		f.write("collapse")
		f.hasField(n)
		f.write(" ")
	}
	f.rescore(t.get(root, "rescore"))
	f.suggest(t.get(root, "suggest"))
}

// scripts writes fields that scripts compute: how many, and one digest of all
// sources.
func (f *Fingerprinter) scripts(root int32) {
	t := &f.tree
	for _, name := range [...]string{"runtime_mappings", "script_fields", "derived"} {
		n := t.get(root, name)
		if !t.is(n, ObjectStart) || t.at(n).first == none {
			continue
		}
		f.list(name, n)
		mark, start := f.beginSet(), len(f.out)
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.script(t.get(c, "script"))
		}
		if f.endSet(mark, ",") {
			sum := Digest(f.out[start:])
			f.out = append(f.out[:start], '#')
			f.write(sum[:8])
		}
		f.write(" ")
	}
}

func (f *Fingerprinter) rescore(n int32) {
	t := &f.tree
	if n == none {
		return
	}
	f.kind("rescore")
	f.write("rescore[")
	mark := f.beginSet()
	if t.is(n, ArrayStart) {
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.queries(t.get(t.get(c, "query"), "rescore_query"), 1)
		}
	} else {
		f.member()
		f.queries(t.get(t.get(n, "query"), "rescore_query"), 1)
	}
	f.endSet(mark, ", ")
	f.write("] ")
}

func (f *Fingerprinter) suggest(n int32) {
	t := &f.tree
	if !t.is(n, ObjectStart) {
		return
	}
	f.kind("suggest")
	f.write("suggest[")
	mark := f.beginSet()
	for c := t.at(n).first; c != none; c = t.at(c).next {
		for _, kind := range [...]string{"term", "phrase", "completion"} {
			if s := t.get(c, kind); s != none {
				f.member()
				f.write(kind)
				f.hasField(s)
			}
		}
	}
	f.endSet(mark, ", ")
	f.write("] ")
}

// trimmed runs write and takes away one space that it began with.
func (f *Fingerprinter) trimmed(write func()) {
	start := len(f.out)
	write()
	if len(f.out) > start && f.out[start] == ' ' {
		f.out = append(f.out[:start], f.out[start+1:]...)
	}
}
