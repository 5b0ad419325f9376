package es

import (
	"bytes"
	"strconv"
)

// Bounds of what is looked at in requests of many parts.
const (
	maxShapeSearches = 64  // searches of an msearch that are told apart
	maxShapeItems    = 512 // bulk items whose index is looked at
)

// BulkTally is what a _bulk body has as a whole.
type BulkTally struct {
	Ops   [4]bool // by BulkOp: there are such items
	Items int
}

// Add counts an item.
func (t *BulkTally) Add(op BulkOp) {
	if int(op) < len(t.Ops) {
		t.Ops[op] = true
	}
	t.Items++
}

// FingerprintBulk is Fingerprint for a _bulk body whose items the caller has counted
// as they were read: it reads no more of the body than it names.
func (f *Fingerprinter) FingerprintBulk(op Op, index string, body []byte, t BulkTally) Shape {
	return f.fingerprint(op, index, func() { f.bulkItems(body, &t) })
}

// bulkBody writes which actions a bulk has, on which indices, and about how
// many items.
func (f *Fingerprinter) bulkBody(body []byte) { f.bulkItems(body, nil) }

func (f *Fingerprinter) bulkItems(body []byte, all *BulkTally) {
	var read BulkTally
	var last []byte
	mark := f.beginSet()
	f.bulk.Reset(body)
	for all == nil || read.Items < maxShapeItems {
		it, err := f.bulk.Next()
		if err != nil {
			break
		}
		if read.Add(it.Op); read.Items > maxShapeItems {
			continue
		}
		if name := f.metaIndex(it.Meta); len(name) > 0 && !bytes.Equal(name, last) {
			last = name
			f.member()
			f.indexNames(name)
		}
	}
	if all == nil {
		all = &read
	}
	// Which indices there are counts, not how many items each has.
	start := len(f.out)
	if cuts := f.cuts[mark:]; len(cuts) > 0 {
		start = cuts[0]
	}
	f.endSet(mark, "")
	f.out = append(f.out[:start], stripTimes(f.out[start:])...)
	for op, there := range all.Ops {
		if there {
			f.write(" ")
			f.write(BulkOp(op).String())
			f.kind(BulkOp(op).String())
		}
	}
	f.amount(" items", int64(all.Items))
}

// stripTimes removes what appendTimes added to members, in place.
func stripTimes(b []byte) []byte {
	for {
		i := bytes.Index(b, []byte("×"))
		if i < 0 {
			return b
		}
		end := digitsEnd(b, i+len("×"))
		b = append(b[:i], b[end:]...)
	}
}

// metaIndex is the member _index of a bulk action's metadata.
func (f *Fingerprinter) metaIndex(meta []byte) []byte {
	t := &f.tree.tokens
	t.MaxDepth = maxShapeDepth
	t.Reset(meta)
	depth, found := 0, false
	for {
		k, err := t.Next()
		switch {
		case err != nil || k.Kind == End:
			return nil
		case k.Kind == ObjectStart || k.Kind == ArrayStart:
			depth++
		case k.Kind == ObjectEnd || k.Kind == ArrayEnd:
			depth--
		case found && k.Kind == String:
			raw := t.Raw(k)
			if !k.Escaped {
				return raw[1 : len(raw)-1]
			}
			name, _ := Unquote(nil, raw)
			return name
		}
		found = depth == 1 && k.Kind == Key && string(t.Raw(k)) == `"_index"`
	}
}

// msearch writes the set of the searches of an msearch, and how many there are.
func (f *Fingerprinter) msearch(op Op, body []byte) {
	var r MsearchReader
	r.Reset(body)
	mark, n := f.beginSet(), 0
	for {
		it, err := r.Next()
		if err != nil {
			break
		}
		if n++; n <= maxShapeSearches {
			f.member()
			f.msearchItem(op, it)
		}
	}
	f.endSet(mark, "; ")
	f.amount(" searches", int64(n))
}

func (f *Fingerprinter) msearchItem(op Op, it MsearchItem) {
	t := &f.tree
	start := len(f.out)
	if !blank(it.Header) {
		if root, why := t.build(it.Header); why == "" {
			for _, key := range [...]string{"index", "indices"} {
				if n := t.get(root, key); n != none {
					f.indexList(n)
				}
			}
		}
	}
	root, why := none, ""
	if !blank(it.Body) {
		root, why = t.build(it.Body)
	} else {
		t.clear()
	}
	if len(f.out) > start {
		f.out[start] = '{' // for the space before the index
		f.write(": ")
	} else {
		f.write("{")
	}
	switch {
	case why != "":
		f.write(why)
	case op == OpMsearchTemplate:
		f.template(root)
	default:
		f.searchBody(root, params{})
	}
	f.out = append(bytes.TrimRight(f.out, ": "), '}')
}

// indexList writes an index expression that is a string or a list of them.
func (f *Fingerprinter) indexList(n int32) {
	t := &f.tree
	if s := t.str(n); s != nil {
		f.indexNames(s)
		return
	}
	if !t.is(n, ArrayStart) {
		return
	}
	var all []byte
	for c := t.at(n).first; c != none; c = t.at(c).next {
		if s := t.str(c); s != nil {
			all = append(append(all, s...), ',')
		}
	}
	f.indexNames(bytes.TrimSuffix(all, []byte(",")))
}

func (f *Fingerprinter) mget(root int32) {
	t := &f.tree
	docs := t.get(root, "docs")
	mark := f.beginSet()
	if t.is(docs, ArrayStart) {
		for c := t.at(docs).first; c != none; c = t.at(c).next {
			if name := t.str(t.get(c, "_index")); name != nil {
				f.member()
				f.indexNames(name)
			}
		}
	}
	start := len(f.out)
	if cuts := f.cuts[mark:]; len(cuts) > 0 {
		start = cuts[0]
	}
	f.endSet(mark, "")
	f.out = append(f.out[:start], stripTimes(f.out[start:])...)
	n := t.at(docs).size + t.at(t.get(root, "ids")).size
	f.amount(" docs", int64(n))
}

// template writes a search by a template: which, not its parameters.
func (f *Fingerprinter) template(root int32) {
	t := &f.tree
	switch source := t.get(root, "source"); {
	case t.is(source, ObjectStart):
		f.searchBody(source, params{})
	case source != none:
		f.write("template")
		f.digest(t.str(source))
	case t.get(root, "id") != none:
		f.write("template")
		f.digest(t.str(t.get(root, "id")))
	}
}

func (f *Fingerprinter) update(root int32) {
	t := &f.tree
	for _, key := range [...]string{"doc", "script", "upsert", "scripted_upsert", "doc_as_upsert"} {
		switch n := t.get(root, key); {
		case n == none:
		case key == "script":
			f.script(n)
			f.write(" ")
		default:
			f.write(key)
			f.write(" ")
		}
		if t.get(root, key) != none {
			f.kind(key)
		}
	}
}

func (f *Fingerprinter) reindex(root int32) {
	t := &f.tree
	source, dest := t.get(root, "source"), t.get(root, "dest")
	if remote := t.get(source, "remote"); remote != none {
		f.write("remote")
	}
	f.indexList(t.get(source, "index"))
	f.write(" ->")
	f.indexList(t.get(dest, "index"))
	f.write(" ")
	f.searchBody(source, params{})
	if n := t.get(root, "script"); n != none {
		f.script(n)
	}
	if n := t.get(root, "max_docs"); t.is(n, Number) {
		if v, err := strconv.ParseInt(string(t.value(n)), 10, 64); err == nil {
			f.amount(" max_docs", v)
		}
	}
}
