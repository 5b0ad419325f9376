package sandbox

import (
	"cmp"
	"math"
	"strconv"

	"github.com/esshadow/esshadow/internal/es"
)

// sortKey is one criterion of an order.
type sortKey struct {
	name  string // field, or _score, _doc, _shard_doc, _id
	desc  bool
	first bool // documents without a value come first
	lax   bool // unmapped_type: an index without the field sorts as missing
	max   bool // mode: of several values the largest
	f     *field
}

// sortValue is one value of a document's place in an order.
type sortValue struct {
	missing bool
	str     bool // s counts
	whole   bool // n counts, as does f
	s       string
	n       int64
	f       float64
}

// parseSort reads the sort value of a body.
func parseSort(n *node) ([]sortKey, error) {
	if n.isNull() {
		return nil, nil
	}
	list := []*node{n}
	if n.isArray() {
		list = n.kids
	}
	var out []sortKey
	for _, e := range list {
		if s, ok := e.str(); ok {
			out = append(out, newSortKey(s, ""))
			continue
		}
		if !e.isObject() {
			return nil, parsing("malformed sort format, either start array, start object, or an actual string")
		}
		for i, name := range e.keys {
			k, err := readSortKey(name, e.kids[i])
			if err != nil {
				return nil, err
			}
			out = append(out, k)
		}
	}
	return out, nil
}

func newSortKey(name, order string) sortKey {
	k := sortKey{name: name, desc: order == "desc" || order == "" && name == "_score"}
	k.max = k.desc
	return k
}

func readSortKey(name string, n *node) (sortKey, error) {
	if s, ok := n.str(); ok {
		if s != "asc" && s != "desc" {
			return sortKey{}, illegal("Unknown SortOrder [%s]", s)
		}
		return newSortKey(name, s), nil
	}
	if !n.isObject() {
		return sortKey{}, parsing("malformed sort for [%s]", name)
	}
	if err := n.only(name, "order", "missing", "unmapped_type", "mode", "format", "numeric_type"); err != nil {
		return sortKey{}, err
	}
	order, _ := n.get("order").str()
	k := newSortKey(name, order)
	switch m, ok := n.get("missing").str(); {
	case m == "_first":
		k.first = true
	case ok && m != "_last":
		return k, unsupported("sort with missing other than _first and _last")
	}
	k.lax = n.get("unmapped_type") != nil
	switch m, ok := n.get("mode").str(); {
	case m == "max":
		k.max = true
	case m == "min":
		k.max = false
	case ok:
		return k, unsupported("sort mode " + m)
	}
	if n.get("format") != nil {
		return k, unsupported("sort with a format")
	}
	return k, nil
}

// bind finds the fields of the criteria in an index.
func bindSort(keys []sortKey, ix *index) ([]sortKey, error) {
	out := append([]sortKey(nil), keys...)
	for i := range out {
		k := &out[i]
		switch k.name {
		case "_score", "_doc", "_shard_doc", "_id":
			continue
		}
		k.f = ix.m.byPath[k.name]
		switch {
		case k.f == nil && !k.lax:
			return nil, shardFailure(ix.name, "query_shard_exception", "No mapping found for [%s] in order to sort on", k.name)
		case k.f != nil && k.f.typ == text:
			return nil, noFielddata(ix, k.f)
		}
	}
	return out, nil
}

func noFielddata(ix *index, f *field) error {
	return shardFailure(ix.name, "illegal_argument_exception",
		"Fielddata is disabled on [%s] in [%s]. Text fields are not optimised for operations that require per-document field data like aggregations and sorting, so these operations are disabled by default. Please use a keyword field instead.", f.path, ix.name)
}

// value is a document's place by one criterion.
func (k *sortKey) value(d *doc, shard int, score float64) sortValue {
	switch k.name {
	case "_score":
		return sortValue{f: score}
	case "_doc", "_shard_doc":
		n := int64(shard)<<32 | int64(d.slot)
		return sortValue{whole: true, n: n, f: float64(n)}
	case "_id":
		return sortValue{str: true, s: d.id}
	}
	vs := d.values(k.f)
	if len(vs) == 0 {
		out := sortValue{missing: true}
		if k.f != nil {
			out.str, out.whole = k.f.typ == keyword, k.f.whole()
		}
		return out
	}
	pick := &vs[0]
	for i := 1; i < len(vs); i++ {
		c := k.compareRaw(&vs[i], pick)
		if k.max && c > 0 || !k.max && c < 0 {
			pick = &vs[i]
		}
	}
	return sortValue{str: k.f.typ == keyword, whole: k.f.whole(), s: pick.s, n: pick.n, f: pick.f}
}

func (k *sortKey) compareRaw(a, b *value) int {
	switch {
	case k.f.typ == keyword:
		return cmp.Compare(a.s, b.s)
	case k.f.whole():
		return cmp.Compare(a.n, b.n)
	}
	return cmp.Compare(a.f, b.f)
}

// compare orders two values by a criterion.
func (k *sortKey) compare(a, b *sortValue) int {
	if a.missing || b.missing {
		switch {
		case a.missing && b.missing:
			return 0
		case a.missing == k.first:
			return -1
		}
		return 1
	}
	var c int
	switch {
	case a.str || b.str:
		c = cmp.Compare(a.s, b.s)
	case a.whole && b.whole:
		c = cmp.Compare(a.n, b.n)
	default:
		c = cmp.Compare(a.f, b.f)
	}
	if k.desc {
		return -c
	}
	return c
}

// append writes a value as the sort array of a hit has it.
func (k *sortKey) append(b []byte, v *sortValue) []byte {
	switch {
	case v.missing && v.whole:
		if k.first == k.desc {
			return appendInt(b, math.MaxInt64)
		}
		return appendInt(b, math.MinInt64)
	case v.missing:
		return append(b, "null"...)
	case v.str:
		return appendString(b, v.s)
	case v.whole:
		return appendInt(b, v.n)
	case k.name == "_score":
		return appendScore(b, v.f)
	}
	return appendFloat(b, v.f)
}

// parseAfter reads search_after for the given criteria.
func parseAfter(n *node, keys []sortKey, ix *index, implicit bool) ([]sortValue, error) {
	if n.isNull() {
		return nil, nil
	}
	if !n.isArray() || len(keys) == 0 {
		return nil, illegal("Sort must contain at least one field.")
	}
	if len(n.kids) != len(keys) && !(implicit && len(n.kids) == len(keys)-1) {
		return nil, illegal("search_after has %d value(s) but sort has %d.", len(n.kids), len(keys))
	}
	out := make([]sortValue, len(n.kids))
	for i, v := range n.kids {
		var err error
		if out[i], err = keys[i].readAfter(v, ix); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k *sortKey) readAfter(v *node, ix *index) (sortValue, error) {
	if v.kind == es.Null {
		return sortValue{missing: true}, nil
	}
	s, ok := v.str()
	if !ok {
		return sortValue{}, parsing("search_after takes values only")
	}
	bad := shardFailure(ix.name, "illegal_argument_exception", "Failed to parse search_after value for field [%s].", k.name)
	switch {
	case k.name == "_id" || k.f != nil && k.f.typ == keyword:
		return sortValue{str: true, s: s}, nil
	case k.f != nil && k.f.whole():
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			missing := k.first == k.desc && n == math.MaxInt64 || k.first != k.desc && n == math.MinInt64
			return sortValue{whole: true, n: n, f: float64(n), missing: missing}, nil
		}
		x, err := k.f.read(s)
		if err != nil {
			return sortValue{}, bad
		}
		return sortValue{whole: true, n: x.n, f: x.f}, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return sortValue{}, bad
	}
	if k.name == "_score" {
		return sortValue{f: float64(float32(x))}, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return sortValue{whole: err == nil, n: n, f: x}, nil
}
