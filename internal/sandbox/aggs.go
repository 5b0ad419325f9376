package sandbox

import (
	"net/http"
	"strings"
	"time"
)

// aggregation is one named aggregation of a request.
type aggregation struct {
	name string
	kind string
	p    *node // its parameters
	subs []*aggregation
}

const (
	maxAggDepth = 20
	maxBuckets  = 65536
)

// parseAggs reads the aggs object, in order.
func parseAggs(n *node, depth int) ([]*aggregation, error) {
	if n.isNull() {
		return nil, nil
	}
	if !n.isObject() {
		return nil, parsing("Expected [START_OBJECT] in [aggs]")
	}
	if depth > maxAggDepth {
		return nil, illegal("aggregations nested too deeply")
	}
	var out []*aggregation
	for i, name := range n.keys {
		a, err := parseAgg(name, n.kids[i], depth)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func parseAgg(name string, n *node, depth int) (*aggregation, error) {
	if strings.ContainsAny(name, "[]>") {
		return nil, parsing("Invalid aggregation name [%s]. Aggregation names can contain any character except '[', ']', and '>'", name)
	}
	if !n.isObject() {
		return nil, parsing("Aggregation definition for [%s] must be an object", name)
	}
	a := &aggregation{name: name}
	for i, k := range n.keys {
		switch k {
		case "aggs", "aggregations":
			subs, err := parseAggs(n.kids[i], depth+1)
			if err != nil {
				return nil, err
			}
			a.subs = subs
		case "meta":
			return nil, unsupported("aggregation meta")
		default:
			if a.kind != "" {
				return nil, parsing("Found two aggregation type definitions in [%s]: [%s] and [%s]", name, a.kind, k)
			}
			a.kind, a.p = k, n.kids[i]
		}
	}
	if a.kind == "" {
		return nil, parsing("Missing definition for aggregation [%s]", name)
	}
	return a, a.check()
}

// check refuses parameters that are not known, before anything is searched.
func (g *aggregation) check() error {
	known := map[string][]string{
		"terms":          {"field", "size", "order", "min_doc_count", "shard_size", "show_term_doc_count_error", "execution_hint", "collect_mode"},
		"date_histogram": {"field", "fixed_interval", "calendar_interval", "time_zone", "format", "min_doc_count", "order"},
		"histogram":      {"field", "interval", "offset", "min_doc_count", "order"},
		"range":          {"field", "ranges"},
		"filter":         nil,
		"filters":        {"filters"},
		"missing":        {"field"},
		"min":            {"field"}, "max": {"field"}, "avg": {"field"}, "sum": {"field"}, "stats": {"field"},
		"value_count": {"field"},
		"cardinality": {"field", "precision_threshold"},
	}
	params, ok := known[g.kind]
	if !ok {
		f := parsing("Unknown aggregation type [%s]", g.kind)
		return f
	}
	if !g.p.isObject() {
		return parsing("Aggregation [%s] must be an object", g.name)
	}
	if g.kind == "filter" {
		return nil
	}
	if err := g.p.only(g.kind, params...); err != nil {
		return err
	}
	if _, ok := g.p.get("field").str(); !ok && g.kind != "filters" {
		return illegal("Required one of fields [field, script], but none were specified.")
	}
	if g.metric() && len(g.subs) > 0 {
		return failf(http.StatusBadRequest, "aggregation_initialization_exception", "Aggregator [%s] of type [%s] cannot accept sub-aggregations", g.name, g.kind)
	}
	return nil
}

func (g *aggregation) metric() bool {
	switch g.kind {
	case "min", "max", "avg", "sum", "stats", "value_count", "cardinality":
		return true
	}
	return false
}

// docSet is matched documents of one index.
type docSet struct {
	ix   *index
	docs []*doc
}

func countDocs(sets []docSet) int64 {
	n := 0
	for _, s := range sets {
		n += len(s.docs)
	}
	return int64(n)
}

// aggregator computes aggregations and writes their answers.
type aggregator struct {
	now       time.Time
	typedKeys bool
	buckets   int
}

func (a *aggregator) appendAll(b []byte, aggs []*aggregation, sets []docSet) ([]byte, error) {
	for i, g := range aggs {
		if i > 0 {
			b = append(b, ',')
		}
		name := g.name
		if a.typedKeys {
			name = g.typedName(sets) + "#" + name
		}
		b = append(appendString(b, name), ':')
		var err error
		if b, err = a.append(b, g, sets); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (g *aggregation) typedName(sets []docSet) string {
	if g.kind != "terms" {
		return g.kind
	}
	for _, s := range sets {
		if f := g.field(s.ix); f != nil {
			switch {
			case f.typ == double:
				return "dterms"
			case f.whole():
				return "lterms"
			}
			return "sterms"
		}
	}
	return "umterms"
}

func (a *aggregator) append(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	if err := g.fits(sets); err != nil {
		return nil, err
	}
	switch g.kind {
	case "terms":
		return a.terms(b, g, sets)
	case "date_histogram":
		return a.dateHistogram(b, g, sets)
	case "histogram":
		return a.histogram(b, g, sets)
	case "range":
		return a.ranges(b, g, sets)
	case "filter":
		in, err := a.filtered(g.p, sets)
		if err != nil {
			return nil, err
		}
		return a.bucket(b, g, in)
	case "filters":
		return a.filters(b, g, sets)
	case "missing":
		return a.bucket(b, g, without(g, sets))
	}
	return g.appendMetric(b, sets), nil
}

func (g *aggregation) field(ix *index) *field {
	path, _ := g.p.get("field").str()
	return ix.m.byPath[path]
}

// fits refuses fields of a type that an aggregation cannot work on.
func (g *aggregation) fits(sets []docSet) error {
	for _, s := range sets {
		f := g.field(s.ix)
		if f == nil || g.kind == "filter" || g.kind == "filters" {
			continue
		}
		ok := true
		switch g.kind {
		case "min", "max", "avg", "sum", "stats", "histogram", "range":
			ok = f.numeric()
		case "date_histogram":
			ok = f.typ == date
		}
		if f.typ == text && g.kind != "missing" {
			return noFielddata(s.ix, f)
		}
		if !ok {
			return shardFailure(s.ix.name, "illegal_argument_exception", "Field [%s] of type [%s] is not supported for aggregation [%s]", f.path, f.name, g.kind)
		}
	}
	return nil
}

// oneMore counts a bucket of the answer.
func (a *aggregator) oneMore() error {
	if a.buckets++; a.buckets > maxBuckets {
		return tooManyBuckets()
	}
	return nil
}

func tooManyBuckets() error {
	return failf(http.StatusBadRequest, "too_many_buckets_exception", "Trying to create too many buckets. Must be less than or equal to: [%d].", maxBuckets)
}

// bucket writes a bucket without a key: its count and what is below it.
func (a *aggregator) bucket(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	return a.bucketBody(append(b, '{'), g, sets)
}

// bucketBody writes the rest of a bucket that is already open.
func (a *aggregator) bucketBody(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	if err := a.oneMore(); err != nil {
		return nil, err
	}
	b = appendInt(append(b, `"doc_count":`...), countDocs(sets))
	if len(g.subs) > 0 {
		var err error
		if b, err = a.appendAll(append(b, ','), g.subs, sets); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func (a *aggregator) filtered(query *node, sets []docSet) ([]docSet, error) {
	var out []docSet
	for _, s := range sets {
		m, err := (&compiler{ix: s.ix, now: a.now}).query(query)
		if err != nil {
			return nil, err
		}
		in := docSet{ix: s.ix}
		for _, d := range s.docs {
			if _, ok := m.match(d); ok {
				in.docs = append(in.docs, d)
			}
		}
		out = append(out, in)
	}
	return out, nil
}

func without(g *aggregation, sets []docSet) []docSet {
	var out []docSet
	for _, s := range sets {
		f := g.field(s.ix)
		in := docSet{ix: s.ix}
		for _, d := range s.docs {
			if len(d.values(f)) == 0 {
				in.docs = append(in.docs, d)
			}
		}
		out = append(out, in)
	}
	return out
}

func (a *aggregator) filters(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	list := g.p.get("filters")
	if !list.isObject() && !list.isArray() {
		return nil, parsing("[filters] must be an object or an array")
	}
	open, end := `{"buckets":{`, "}}"
	if list.isArray() {
		open, end = `{"buckets":[`, "]}"
	}
	b = append(b, open...)
	for i, q := range list.kids {
		if i > 0 {
			b = append(b, ',')
		}
		if list.isObject() {
			b = append(appendString(b, list.keys[i]), ':')
		}
		in, err := a.filtered(q, sets)
		if err != nil {
			return nil, err
		}
		if b, err = a.bucket(b, g, in); err != nil {
			return nil, err
		}
	}
	return append(b, end...), nil
}
