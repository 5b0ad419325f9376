package es

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
	switch key := t.key(c); string(key) {
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

// trimmed runs write and takes away one space that it began with.
func (f *Fingerprinter) trimmed(write func()) {
	start := len(f.out)
	write()
	if len(f.out) > start && f.out[start] == ' ' {
		f.out = append(f.out[:start], f.out[start+1:]...)
	}
}
