package es

import (
	"bytes"
	"slices"
	"strings"
)

// Bounds of the work on aggregations.
const (
	maxAggDepth = 32
	maxAggNames = 4 * MaxAggs  // names met, metric aggregations included
	maxAllAggs  = 16 * MaxAggs // aggregations of all items of an msearch answer
)

// aggWalk gathers the bucket aggregations of one answer. Its nodes are the
// names met, as a tree in which each knows its parent's first child: the same
// name under every bucket of its parent is one node.
type aggWalk struct {
	nodes []aggNode
	paths []byte // of each node its name, and the mapped names of its path joined by ">"
	left  int    // aggregations that may still be kept
	cut   bool
}

type aggNode struct {
	name, path  [2]int32 // extents of paths: the name as it stands in the answer, the mapped path
	first, next int32    // first child, next sibling; 0 is none
	seen        bool
	many        bool // has buckets, not one count
	unordered   bool
	buckets     int
	counts      []int64
	other       int64
	hasOther    bool
}

func (w *aggWalk) reset(budget int) {
	w.left, w.cut = budget, false
	w.clear()
}

func (w *aggWalk) clear() {
	clear(w.nodes)
	w.nodes, w.paths = w.nodes[:0], w.paths[:0]
}

// take returns what was gathered since the last call, in order of Path, and
// whether a bound was hit.
func (w *aggWalk) take() (aggs []Agg, cut bool) {
	for i := range w.nodes {
		n := &w.nodes[i]
		if !n.seen {
			continue
		}
		if len(aggs) == MaxAggs || w.left == 0 {
			w.cut = true
			break
		}
		w.left--
		a := Agg{
			Path: Digest(w.paths[n.path[0]:n.path[1]]), Buckets: n.buckets,
			Counts: n.counts, Unordered: n.unordered,
		}
		if n.hasOther {
			a.Other = new(n.other)
		}
		aggs = append(aggs, a)
	}
	slices.SortFunc(aggs, func(a, b Agg) int { return strings.Compare(a.Path, b.Path) })
	cut, w.cut = w.cut, false
	w.clear()
	return aggs, cut
}

// child finds or makes the node of a name below parent. It returns 0 when the
// bound of names is reached.
func (z *Summarizer) child(parent int32, raw []byte) int32 {
	w := &z.aggs
	last := int32(0)
	for i := w.nodes[parent].first; i != 0; i = w.nodes[i].next {
		if at := w.nodes[i].name; bytes.Equal(w.paths[at[0]:at[1]], raw) {
			return i
		}
		last = i
	}
	if len(w.nodes) > maxAggNames {
		w.cut = true
		return 0
	}
	id, p := int32(len(w.nodes)), w.nodes[parent]
	begin := int32(len(w.paths))
	w.paths = append(w.paths, raw...)
	start := int32(len(w.paths))
	if parent != 0 {
		w.paths = append(w.paths, w.paths[p.path[0]:p.path[1]]...)
		w.paths = append(w.paths, '>')
	}
	name := untyped(raw)
	if z.mapper.Name != nil {
		w.paths = z.mapper.Name(w.paths, name)
	} else {
		w.paths = append(w.paths, name...)
	}
	w.nodes = append(w.nodes, aggNode{
		name: [2]int32{begin, start}, path: [2]int32{start, int32(len(w.paths))}, unordered: p.unordered || p.many,
	})
	if last == 0 {
		w.nodes[parent].first = id
	} else {
		w.nodes[last].next = id
	}
	return id
}

// untyped strips what typed_keys puts before a name: the type and "#".
func untyped(name []byte) []byte {
	for i, c := range name {
		switch {
		case c == '#' && i > 0:
			return name[i+1:]
		case c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9'):
			return name
		}
	}
	return name
}

// aggregations reads the object aggregations of an answer.
func (z *Summarizer) aggregations() {
	if !z.c.enter(ObjectStart) {
		return
	}
	z.aggs.clear()
	z.aggs.nodes = append(z.aggs.nodes, aggNode{}) // the root
	for key := z.c.member(); key != nil; key = z.c.member() {
		z.named(0, key, 1)
	}
}

// named reads the value of a member that may be an aggregation called name.
func (z *Summarizer) named(parent int32, name []byte, depth int) {
	if depth > maxAggDepth {
		z.aggs.cut = true
		z.c.skip()
		return
	}
	if z.c.peek() != '{' { // only an object can be one
		z.c.skip()
		return
	}
	id := z.child(parent, name)
	if id == 0 {
		z.c.skip()
		return
	}
	if z.c.enter(ObjectStart) {
		z.agg(id, depth)
	}
}

// agg reads the open object of an aggregation.
func (z *Summarizer) agg(id int32, depth int) {
	var docs int64
	single, many := false, false
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch string(key) {
		case "buckets":
			many = true
			z.buckets(id, depth)
		case "doc_count":
			docs, single = z.c.number()
		case "sum_other_doc_count":
			if n, ok := z.c.number(); ok {
				z.aggs.nodes[id].other += n
				z.aggs.nodes[id].hasOther = true
			}
		case "value", "values", "meta", "hits", "after_key", "key":
			z.c.skip()
		default:
			z.named(id, key, depth+1)
		}
	}
	if single && !many {
		z.aggs.nodes[id].add(docs)
	}
}

func (z *Summarizer) buckets(id int32, depth int) {
	k := z.c.next()
	n := &z.aggs.nodes[id]
	switch k.Kind {
	case ArrayStart:
		n.seen, n.many = true, true
		for k, ok := z.c.element(); ok; k, ok = z.c.element() {
			z.bucket(id, depth, k)
		}
	case ObjectStart:
		if !n.unordered {
			slices.SortFunc(n.counts, falling)
		}
		n.seen, n.many, n.unordered = true, true, true
		for key := z.c.member(); key != nil; key = z.c.member() {
			z.bucket(id, depth, z.c.next())
		}
	}
}

// bucket reads the bucket that k begins.
func (z *Summarizer) bucket(id int32, depth int, k Token) {
	if k.Kind != ObjectStart {
		z.c.leave(k)
		return
	}
	var docs int64
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch string(key) {
		case "doc_count":
			docs, _ = z.c.number()
		case "key", "key_as_string", "meta":
			z.c.skip()
		default:
			z.named(id, key, depth+1)
		}
	}
	z.aggs.nodes[id].add(docs)
}

// add counts one bucket.
func (n *aggNode) add(docs int64) {
	n.seen = true
	n.buckets++
	if !n.unordered {
		if len(n.counts) < MaxBuckets {
			n.counts = append(n.counts, docs)
		}
		return
	}
	at, _ := slices.BinarySearchFunc(n.counts, docs, falling)
	if len(n.counts) == MaxBuckets {
		if at == MaxBuckets {
			return
		}
		n.counts = n.counts[:MaxBuckets-1]
	}
	n.counts = slices.Insert(n.counts, at, docs)
}

func falling(a, b int64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}
