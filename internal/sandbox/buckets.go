package sandbox

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// bucket is one bucket while it is filled.
type bucket struct {
	key   value
	count int64
	in    []docSet // one per searched index, where sub-aggregations need them
	rank  float64  // value of the metric it is ordered by
}

func (k *bucket) add(i int, sets []docSet, d *doc, keep bool) {
	k.count++
	if !keep {
		return
	}
	if k.in == nil {
		k.in = make([]docSet, len(sets))
		for j := range sets {
			k.in[j].ix = sets[j].ix
		}
	}
	k.in[i].docs = append(k.in[i].docs, d)
}

// body writes the rest of a bucket whose key is written.
func (a *aggregator) body(b []byte, g *aggregation, k *bucket, sets []docSet) ([]byte, error) {
	if len(g.subs) > 0 {
		if k.in == nil {
			k.in = make([]docSet, len(sets))
			for j := range sets {
				k.in[j].ix = sets[j].ix
			}
		}
		return a.bucketBody(b, g, k.in)
	}
	if err := a.oneMore(); err != nil {
		return nil, err
	}
	return append(appendInt(append(b, `"doc_count":`...), k.count), '}'), nil
}

// byValue puts documents into one bucket a value; typ is nil where no index
// has the field.
func (g *aggregation) byValue(sets []docSet) (all map[value]*bucket, typ *field) {
	all = map[value]*bucket{}
	for i, s := range sets {
		f := g.field(s.ix)
		if f == nil {
			continue
		}
		typ = f
		for _, d := range s.docs {
			vs := d.values(f)
			for j, v := range vs {
				if slices.Contains(vs[:j], v) { // a document counts once
					continue
				}
				k := all[v]
				if k == nil {
					k = &bucket{key: v}
					all[v] = k
				}
				k.add(i, sets, d, len(g.subs) > 0)
			}
		}
	}
	return all, typ
}

func (a *aggregator) terms(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	size, err := g.p.integer("size", 10)
	if err != nil {
		return nil, err
	}
	least, err := g.p.integer("min_doc_count", 1)
	if err != nil {
		return nil, err
	}
	if size <= 0 {
		return nil, illegal("[size] must be greater than 0. Found [%d] in [%s]", size, g.name)
	}
	order, err := g.order("_count", true)
	if err != nil {
		return nil, err
	}
	all, typ := g.byValue(sets)
	list := make([]*bucket, 0, len(all))
	for _, k := range all {
		if k.count >= int64(least) {
			list = append(list, k)
		}
	}
	if err := order.sort(list, g); err != nil {
		return nil, err
	}
	var other int64
	for _, k := range list[min(size, len(list)):] {
		other += k.count
	}
	list = list[:min(size, len(list))]
	b = append(b, `{"doc_count_error_upper_bound":0,"sum_other_doc_count":`...)
	b = append(appendInt(b, other), `,"buckets":[`...)
	for i, k := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKey(append(b, '{'), typ, k.key)
		if b, err = a.body(b, g, k, sets); err != nil {
			return nil, err
		}
	}
	return append(b, "]}"...), nil
}

// appendKey writes the key of a terms bucket, and a comma.
func appendKey(b []byte, f *field, v value) []byte {
	b = append(b, `"key":`...)
	switch f.typ {
	case keyword:
		b = appendString(b, v.s)
	case double:
		b = appendFloat(b, v.f)
	case date:
		b = appendString(append(appendInt(b, v.n), `,"key_as_string":`...), dateText(v.n))
	case boolean:
		b = appendString(append(appendInt(b, v.n), `,"key_as_string":`...), v.s)
	default:
		b = appendInt(b, v.n)
	}
	return append(b, ',')
}

// bucketOrder is the order of buckets: by count, key or the metric at path.
type bucketOrder struct {
	by   []string // "_count", "_key" or a path
	desc []bool
}

func (g *aggregation) order(by string, desc bool) (bucketOrder, error) {
	n := g.p.get("order")
	if n.isNull() {
		return bucketOrder{[]string{by}, []bool{desc}}, nil
	}
	list := []*node{n}
	if n.isArray() {
		list = n.kids
	}
	var out bucketOrder
	for _, e := range list {
		for i, k := range e.keys {
			dir, _ := e.kids[i].str()
			if dir = strings.ToLower(dir); dir != "asc" && dir != "desc" {
				return out, parsing("Unknown terms order direction [%s]", dir)
			}
			out.by, out.desc = append(out.by, k), append(out.desc, dir == "desc")
		}
	}
	if len(out.by) == 0 {
		return out, parsing("Must specify at least one field for [order]")
	}
	return out, nil
}

func (o bucketOrder) sort(list []*bucket, g *aggregation) error {
	for i, by := range o.by {
		if by == "_count" || by == "_key" {
			continue
		}
		if i > 0 {
			return unsupported("an order by more than one metric")
		}
		name, part, _ := strings.Cut(by, ".")
		at := slices.IndexFunc(g.subs, func(s *aggregation) bool { return s.name == name && s.metric() })
		if at < 0 {
			return failf(400, "aggregation_execution_exception", "Invalid aggregation order path [%s]. The provided aggregation [%s] either does not exist, or is not a metric.", by, name)
		}
		m := g.subs[at]
		if part == "" || part == "value" {
			part = m.kind
		}
		if m.kind == "stats" && part == "stats" {
			return failf(400, "aggregation_execution_exception", "Invalid aggregation order path [%s]. stats has several values", by)
		}
		if err := m.fits(first(list)); err != nil {
			return err
		}
		for _, k := range list {
			k.rank = m.metrics(k.in).of(part)
		}
	}
	slices.SortFunc(list, o.compare)
	return nil
}

func first(list []*bucket) []docSet {
	if len(list) == 0 {
		return nil
	}
	return list[0].in
}

func (o bucketOrder) compare(a, b *bucket) int {
	for i, by := range o.by {
		var c int
		switch by {
		case "_count":
			c = cmp.Compare(a.count, b.count)
		case "_key":
			c = compareKeys(a, b)
		default:
			if nan := math.IsNaN(a.rank); nan != math.IsNaN(b.rank) { // no value: last
				return map[bool]int{true: 1, false: -1}[nan]
			}
			c = cmp.Compare(a.rank, b.rank)
		}
		if o.desc[i] {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return compareKeys(a, b)
}

func compareKeys(a, b *bucket) int {
	if c := cmp.Compare(a.key.f, b.key.f); c != 0 {
		return c
	}
	if c := cmp.Compare(a.key.n, b.key.n); c != 0 {
		return c
	}
	return cmp.Compare(a.key.s, b.key.s)
}

func (a *aggregator) ranges(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	list := g.p.get("ranges")
	if !list.isArray() || len(list.kids) == 0 {
		return nil, illegal("No [ranges] specified for the [%s] aggregation", g.name)
	}
	spans := make([]span, len(list.kids))
	for i, r := range list.kids {
		err := r.only("range", "from", "to", "key")
		if err == nil {
			spans[i].from, err = r.float("from", math.Inf(-1))
		}
		if err == nil {
			spans[i].to, err = r.float("to", math.Inf(1))
		}
		if err != nil {
			return nil, err
		}
		spans[i].key, _ = r.get("key").str()
	}
	slices.SortStableFunc(spans, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to))
	})
	b = append(b, `{"buckets":[`...)
	for i, r := range spans {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = a.bucketBody(r.append(b), g, within(g, sets, r.from, r.to)); err != nil {
			return nil, err
		}
	}
	return append(b, "]}"...), nil
}

// span is one range of a range aggregation: from inclusive, to exclusive.
type span struct {
	from, to float64
	key      string
}

// append opens a bucket and writes its key and bounds.
func (r span) append(b []byte) []byte {
	bound := func(b []byte, f float64) []byte {
		if math.IsInf(f, 0) {
			return append(b, '*')
		}
		return appendFloat(b, f)
	}
	key, from, to := r.key, r.from, r.to
	if key == "" {
		key = string(bound(append(bound(nil, from), '-'), to))
	}
	b = append(appendString(append(b, `{"key":`...), key), ',')
	if !math.IsInf(from, 0) {
		b = append(appendFloat(append(b, `"from":`...), from), ',')
	}
	if !math.IsInf(to, 0) {
		b = append(appendFloat(append(b, `"to":`...), to), ',')
	}
	return b
}

func within(g *aggregation, sets []docSet, from, to float64) []docSet {
	var out []docSet
	for _, s := range sets {
		f := g.field(s.ix)
		in := docSet{ix: s.ix}
		for _, d := range s.docs {
			if slices.ContainsFunc(d.values(f), func(v value) bool { return v.f >= from && v.f < to }) {
				in.docs = append(in.docs, d)
			}
		}
		out = append(out, in)
	}
	return out
}
