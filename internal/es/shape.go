package es

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxShapeText bounds Shape.Text in bytes.
const MaxShapeText = 240

// Shape is what a request asks for with its values taken out, so that requests
// that differ only in values, in the order of what has none, or in the length of
// a list within a power of ten, have the same. Two levels: ID tells fields,
// clauses, sorts, aggregations, the class of the index name and sizes apart;
// Coarse only which operation it is, which kinds of clause it has, and about how
// deep.
//
// Neither holds a value of the request: values become types, counts become
// powers of ten, sources of scripts digests. Field and index names are in
// (digits that look like a date or an identifier as "*"), so a Shape is as safe
// to store as the request that it was made of: make it of the sanitised one.
type Shape struct {
	ID     string // Digest of the canonical text
	Coarse string // Digest of the canonical text of the coarse level
	Text   string // the canonical text for people, cut at MaxShapeText bytes
}

// Fingerprint makes the Shape of a request. Index is its index expression and
// query its query string, both percent-encoded as in Route; body is decoded (no
// gzip). It never fails: a body that it cannot read has a Shape that says so.
func Fingerprint(op Op, index, query string, body []byte) Shape {
	var f Fingerprinter
	return f.Fingerprint(op, index, query, body)
}

// Fingerprinter makes Shapes and keeps its buffers between them. The zero value
// is ready; two goroutines must not use one at once.
type Fingerprinter struct {
	tree  tree
	out   []byte // the canonical text
	kinds []string
	words map[string]string // of this package's tables: see word
	depth int               // of nested clauses, the deepest met

	cuts []int // where the open sets' members begin in out
	segs []segment
	tmp  []byte
	text []byte // decoded text
	bulk BulkReader

	known   map[string]Shape  // by canonical text
	coarses map[string]string // digests of the coarse level's texts
}

// Fingerprint is the function of that name.
func (f *Fingerprinter) Fingerprint(op Op, index, query string, body []byte) Shape {
	return f.fingerprint(op, index, func() { f.request(op, query, body) })
}

// fingerprint is Fingerprint; rest writes what follows the operation and the index.
func (f *Fingerprinter) fingerprint(op Op, index string, rest func()) Shape {
	f.tree.clear()
	f.out, f.kinds, f.depth, f.cuts = f.out[:0], f.kinds[:0], 0, f.cuts[:0]
	f.write(op.String())
	f.index(index)
	start := len(f.out)
	f.write(": ")
	f.trimmed(rest)
	f.out = bytes.TrimRight(f.out, " ")
	if len(f.out) == start+1 {
		f.out = f.out[:start]
	}
	s := f.shape()
	s.Coarse = f.coarse(op)
	f.tree.clear()
	return s
}

// Bounds of what a Fingerprinter remembers. The requests of an application have
// few shapes, so that nearly all digests are found.
const (
	maxKnownShapes = 1 << 10
	maxKnownText   = 1 << 10
)

// shape is the Shape of the canonical text, but for Coarse.
func (f *Fingerprinter) shape() Shape {
	if s, ok := f.known[string(f.out)]; ok {
		return s
	}
	s := Shape{ID: Digest(f.out), Text: shapeText(f.out)}
	remember(&f.known, f.out, s)
	return s
}

func remember[T any](known *map[string]T, text []byte, v T) {
	switch {
	case len(text) > maxKnownText:
		return
	case *known == nil:
		*known = make(map[string]T)
	case len(*known) >= maxKnownShapes:
		clear(*known) // what comes often is soon there again
	}
	(*known)[string(text)] = v
}

// coarse is the digest of the operation, the sorted kinds and the depth. It is
// known by them in any order.
func (f *Fingerprinter) coarse(op Op) string {
	f.coarseText(op)
	if id, ok := f.coarses[string(f.tmp)]; ok {
		return id
	}
	met := slices.Clone(f.tmp)
	slices.Sort(f.kinds)
	f.coarseText(op)
	id := Digest(f.tmp)
	remember(&f.coarses, met, id)
	return id
}

func (f *Fingerprinter) coarseText(op Op) {
	f.tmp = append(f.tmp[:0], op.String()...)
	for _, k := range f.kinds {
		f.tmp = append(append(f.tmp, ' '), k...)
	}
	switch {
	case f.depth > 3:
		f.tmp = append(f.tmp, " deep"...)
	case f.depth > 1:
		f.tmp = append(f.tmp, " nested"...)
	}
}

// shapeText is the beginning of a canonical text, cut between runes.
func shapeText(b []byte) string {
	if len(b) <= MaxShapeText {
		return string(b)
	}
	const more = "…"
	n := MaxShapeText - len(more)
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return string(b[:n]) + more
}

// request writes what follows the operation and the index.
func (f *Fingerprinter) request(op Op, query string, body []byte) {
	switch op {
	case OpBulk, OpBulkStream:
		f.bulkBody(body)
	case OpMsearch, OpMsearchTemplate:
		f.msearch(op, body)
	case OpGet, OpExists, OpIndex, OpCreate, OpDelete, OpTermvectors, OpMtermvectors, OpAnalyze, OpSimulate, OpInference,
		OpScroll, OpClearScroll, OpClosePIT, OpListPIT, OpAsyncGet, OpAsyncStatus, OpAsyncDelete, OpInfo, OpAdmin,
		OpUnknown, OpRefresh, OpResolve, OpSQLClose:
		// What their body holds is a document, a handle or of no weight.
	default:
		f.search(op, query, body)
	}
}

// search writes a request whose body is one JSON object.
func (f *Fingerprinter) search(op Op, query string, body []byte) {
	params := readParams(query)
	if len(body) == 0 && params.source != "" {
		body = []byte(params.source)
	}
	root := none
	if !blank(body) {
		var why string
		if root, why = f.tree.build(body); why != "" {
			f.write(why)
			f.kind(why)
			return
		}
	}
	switch op {
	case OpMget:
		f.mget(root)
	case OpSearchTemplate, OpRender:
		f.template(root)
	case OpESQL, OpESQLAsync, OpSQL, OpSQLAsync, OpPPL, OpEQL, OpEQLAsync:
		f.language(op, root)
	case OpUpdate:
		f.update(root)
	case OpReindex:
		f.reindex(root)
	case OpRankEval:
		f.list("requests", f.tree.get(root, "requests"))
	default:
		f.searchBody(root, params)
	}
}

func (f *Fingerprinter) write(s string) { f.out = append(f.out, s...) }

// kind notes for the coarse level that a kind of clause was met. The name is a
// word of this package's tables, never one of the request.
func (f *Fingerprinter) kind(name string) {
	if !slices.Contains(f.kinds, name) {
		f.kinds = append(f.kinds, name)
	}
}

// word is name as a string; the names come from closed tables, so each is made
// only once.
func (f *Fingerprinter) word(name []byte) string {
	w, ok := f.words[string(name)]
	if !ok {
		if f.words == nil {
			f.words = make(map[string]string)
		}
		w = string(name)
		f.words[w] = w
	}
	return w
}

// A set is written member by member, each after a call of member; endSet then
// brings them into order and takes every one only once.
type segment struct{ from, to int }

func (f *Fingerprinter) beginSet() (mark int) { return len(f.cuts) }

func (f *Fingerprinter) member() { f.cuts = append(f.cuts, len(f.out)) }

// endSet reports whether the set had a member that wrote something. A member
// that is there ten times or more keeps the power of ten.
func (f *Fingerprinter) endSet(mark int, sep string) bool {
	cuts := f.cuts[mark:]
	if len(cuts) == 0 {
		return false
	}
	f.segs = f.segs[:0]
	for i, from := range cuts {
		to := len(f.out)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		if to > from {
			f.segs = append(f.segs, segment{from, to})
		}
	}
	start := cuts[0]
	f.cuts = f.cuts[:mark]
	switch len(f.segs) {
	case 0:
		return false
	case 1: // stands where it belongs
		return true
	}
	out := f.out
	sortParts(f.segs, out)
	f.tmp = f.tmp[:0]
	for i := 0; i < len(f.segs); {
		s, n := f.segs[i], 1
		for i+n < len(f.segs) && bytes.Equal(out[s.from:s.to], out[f.segs[i+n].from:f.segs[i+n].to]) {
			n++
		}
		if i > 0 {
			f.tmp = append(f.tmp, sep...)
		}
		f.tmp = append(f.tmp, out[s.from:s.to]...)
		f.tmp = appendTimes(f.tmp, n)
		i += n
	}
	f.out = append(f.out[:start], f.tmp...)
	return true
}

// sortParts sorts parts of out by their text. Most sets have two or three.
func sortParts(segs []segment, out []byte) {
	if len(segs) > 12 {
		slices.SortFunc(segs, func(a, b segment) int { return bytes.Compare(out[a.from:a.to], out[b.from:b.to]) })
		return
	}
	for i := 1; i < len(segs); i++ {
		s, j := segs[i], i
		for ; j > 0 && bytes.Compare(out[s.from:s.to], out[segs[j-1].from:segs[j-1].to]) < 0; j-- {
			segs[j] = segs[j-1]
		}
		segs[j] = s
	}
}

// digest writes "#" and eight digits of a Digest, which tell sources of scripts
// and names apart that must not be shown.
func (f *Fingerprinter) digest(text []byte) {
	f.out = append(f.out, '#')
	f.out = append(f.out, Digest(text)[:8]...)
}

// params is what of a query string bears on the shape of a search.
type params struct {
	q, sort, source   string
	size, from        string
	track, searchType string
	scroll, routing   bool
}

func readParams(query string) (p params) {
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "q":
			p.q = unescape(value)
		case "sort":
			p.sort = unescape(value)
		case "source":
			p.source = unescape(value)
		case "size":
			p.size = value
		case "from":
			p.from = value
		case "track_total_hits":
			p.track = value
		case "search_type":
			p.searchType = value
		case "scroll":
			p.scroll = true
		case "routing":
			p.routing = true
		}
	}
	return p
}

// unescape decodes a value of a query string; what is no escape stays.
func unescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '+':
			b = append(b, ' ')
		case c == '%' && i+2 < len(s) && hexValue(s[i+1]) >= 0 && hexValue(s[i+2]) >= 0:
			b = append(b, byte(hexValue(s[i+1])<<4|hexValue(s[i+2])))
			i += 2
		default:
			b = append(b, c)
		}
	}
	return string(b)
}
