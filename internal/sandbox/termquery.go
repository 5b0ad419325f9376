package sandbox

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

func sortedPaths(m *mapping) []string {
	out := make([]string, 0, len(m.byPath))
	for p := range m.byPath {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func (c *compiler) term(path string, f *field, p *node) (matcher, error) {
	if err := p.only("term", "value", "boost", "case_insensitive"); err != nil {
		return nil, err
	}
	v, ok := p.get("value").str()
	if !ok {
		return nil, illegal("value cannot be null")
	}
	fold, err := p.boolean("case_insensitive", false)
	if err != nil {
		return nil, err
	}
	return c.equals(path, f, v, fold)
}

// equals matches one value; on text fields one term, not analysed.
func (c *compiler) equals(path string, f *field, v string, fold bool) (matcher, error) {
	if path == "_id" {
		return idMatcher([]string{v}), nil
	}
	if f == nil {
		return nothing{}, nil
	}
	switch f.typ {
	case text:
		if fold {
			return c.matchWords(f, func(w string) bool { return strings.EqualFold(w, v) })
		}
		return c.matchTerms(f, []string{v}, 1)
	case keyword:
		if fold {
			return anyValue(f, 1, stringTest(v, true)), nil
		}
		return &oneString{ord: f.ord, want: v, score: c.keywordScore(f, v)}, nil
	case date:
		return c.between(f, v, v, "", "", &node{})
	}
	val, err := f.read(v)
	if err != nil {
		return nil, c.notNumber(f, v)
	}
	switch {
	case f.typ == double:
		return anyValue(f, 1, func(x *value) bool { return x.f == val.f }), nil
	case f.typ == long && fractional(v):
		return nothing{}, nil
	}
	return &wholeRange{ord: f.ord, lo: val.n, hi: val.n, score: 1}, nil
}

func fractional(s string) bool {
	x, err := strconv.ParseFloat(s, 64)
	return err == nil && x != math.Trunc(x)
}

func (c *compiler) notNumber(f *field, v string) error {
	err := shardFailure(c.ix.name, "query_shard_exception", "failed to create query: For input string: \"%s\"", v)
	if f.typ == boolean {
		err.reason = "failed to create query: Can't parse boolean value [" + v + "], expected [true] or [false]"
	}
	err.cause = failf(400, "number_format_exception", "For input string: \"%s\"", v)
	return err
}

// keywordScore is the score of a term that is the whole value of a field.
func (c *compiler) keywordScore(f *field, v string) float64 {
	if !c.scoring {
		return 1
	}
	df, n := 0, 0
	for _, d := range c.ix.docs {
		if d == nil {
			continue
		}
		vs := d.values(f)
		if len(vs) > 0 {
			n++
		}
		for i := range vs {
			if vs[i].s == v {
				df++
				break
			}
		}
	}
	idf := math.Log(1 + (float64(n-df)+0.5)/(float64(df)+0.5))
	return (bm25K1 + 1) * idf / (1 + bm25K1) // one occurrence, no norms
}

func (c *compiler) termsQuery(body *node) (matcher, error) {
	var path string
	var list *node
	for i, k := range body.keys {
		if k == "boost" {
			continue
		}
		if list != nil {
			return nil, parsing("[terms] query does not support multiple fields")
		}
		path, list = k, body.kids[i]
	}
	switch {
	case list.isObject():
		return nil, unsupported("terms lookup")
	case !list.isArray():
		return nil, parsing("[terms] query does not support [%s]", path)
	case len(list.kids) > maxTerms:
		return nil, illegal("The number of terms [%d] used in the Terms Query request has exceeded the allowed maximum of [%d]", len(list.kids), maxTerms)
	}
	f := c.ix.m.byPath[path]
	vals := list.strs()
	if len(vals) != len(list.kids) {
		return nil, parsing("No value specified for terms query")
	}
	m, err := c.anyOf(path, f, vals)
	if err != nil {
		return nil, err
	}
	return c.boostOf(body, &fixed{m, 1})
}

func (c *compiler) anyOf(path string, f *field, vals []string) (matcher, error) {
	if path == "_id" {
		return idMatcher(vals), nil
	}
	if f != nil && f.typ == keyword {
		want := make(map[string]bool, len(vals))
		for _, v := range vals {
			want[v] = true
		}
		return anyValue(f, 1, func(v *value) bool { return want[v.s] }), nil
	}
	was := c.scoring
	c.scoring = false
	defer func() { c.scoring = was }()
	out := &boolMatcher{least: 1}
	for _, v := range vals {
		m, err := c.equals(path, f, v, false)
		if err != nil {
			return nil, err
		}
		out.should = append(out.should, m)
	}
	return out, nil
}

// pattern compiles prefix and wildcard.
func (c *compiler) pattern(kind string, f *field, p *node) (matcher, error) {
	if err := p.only(kind, "value", kind, "boost", "case_insensitive", "rewrite"); err != nil {
		return nil, err
	}
	v, ok := p.get("value").str()
	if !ok {
		if v, ok = p.get(kind).str(); !ok {
			return nil, illegal("value cannot be null")
		}
	}
	fold, err := p.boolean("case_insensitive", false)
	if err != nil || f == nil {
		return nothing{}, err
	}
	if f.typ != text && f.typ != keyword {
		return nil, c.shardError("Can only use %s queries on keyword, text and wildcard fields - not on [%s] which is of type [%s]", kind, f.path, f.name)
	}
	if fold {
		v = strings.ToLower(v)
	}
	accept := func(s string) bool {
		if fold {
			s = strings.ToLower(s)
		}
		if kind == "prefix" {
			return strings.HasPrefix(s, v)
		}
		return glob(v, s)
	}
	if f.typ == text {
		return c.matchWords(f, accept)
	}
	return anyValue(f, 1, func(x *value) bool { return accept(x.s) }), nil
}

func (c *compiler) rangeQuery(f *field, p *node) (matcher, error) {
	if err := p.only("range", "gt", "gte", "lt", "lte", "from", "to", "include_lower", "include_upper", "format", "time_zone", "boost", "relation"); err != nil {
		return nil, err
	}
	if tz, ok := p.get("time_zone").str(); ok && tz != "UTC" && tz != "Z" && tz != "+00:00" {
		return nil, unsupported("range with a time_zone")
	}
	gte, _ := p.get("gte").str()
	gt, _ := p.get("gt").str()
	lte, _ := p.get("lte").str()
	lt, _ := p.get("lt").str()
	if s, ok := p.get("from").str(); ok {
		if p.get("include_lower").isNull() || p.get("include_lower").text == "true" {
			gte = s
		} else {
			gt = s
		}
	}
	if s, ok := p.get("to").str(); ok {
		if p.get("include_upper").isNull() || p.get("include_upper").text == "true" {
			lte = s
		} else {
			lt = s
		}
	}
	if f == nil {
		return nothing{}, nil
	}
	return c.between(f, gte, lte, gt, lt, p)
}

// between matches values inside the bounds; an empty bound is none.
func (c *compiler) between(f *field, gte, lte, gt, lt string, p *node) (matcher, error) {
	switch f.typ {
	case date:
		return c.dateRange(f, gte, lte, gt, lt, p)
	case keyword, text:
		in := func(s string) bool {
			return (gte == "" || s >= gte) && (gt == "" || s > gt) && (lte == "" || s <= lte) && (lt == "" || s < lt)
		}
		if f.typ == text {
			return c.matchWords(f, in)
		}
		return anyValue(f, 1, func(v *value) bool { return in(v.s) }), nil
	}
	lo, hi := math.Inf(-1), math.Inf(1)
	out := &wholeRange{ord: f.ord, lo: math.MinInt64, hi: math.MaxInt64, score: 1}
	for _, b := range []struct {
		s         string
		low, open bool
	}{{gte, true, false}, {gt, true, true}, {lte, false, false}, {lt, false, true}} {
		if b.s == "" {
			continue
		}
		if f.typ == boolean {
			v, err := f.read(b.s)
			if err != nil {
				return nil, c.notNumber(f, b.s)
			}
			b.s = strconv.FormatInt(v.n, 10)
		}
		x, err := strconv.ParseFloat(b.s, 64)
		if err != nil {
			return nil, c.notNumber(f, b.s)
		}
		if f.name == "float" {
			x = float64(float32(x))
		}
		if b.low {
			if b.open {
				x = math.Nextafter(x, math.Inf(1))
			}
			lo = max(lo, x)
			out.lo = max(out.lo, wholeBound(b.s, true, b.open))
		} else {
			if b.open {
				x = math.Nextafter(x, math.Inf(-1))
			}
			hi = min(hi, x)
			out.hi = min(out.hi, wholeBound(b.s, false, b.open))
		}
	}
	if f.whole() {
		return out, nil
	}
	return anyValue(f, 1, func(v *value) bool { return v.f >= lo && v.f <= hi }), nil
}

// wholeBound is the smallest (largest) whole number inside a bound.
func wholeBound(s string, low, open bool) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		x, _ := strconv.ParseFloat(s, 64)
		switch {
		case low && x != math.Trunc(x):
			x, open = math.Ceil(x), false
		case x != math.Trunc(x):
			x, open = math.Floor(x), false
		}
		switch {
		case x >= math.MaxInt64:
			n = math.MaxInt64
		case x <= math.MinInt64:
			n = math.MinInt64
		default:
			n = int64(x)
		}
	}
	switch {
	case open && low && n < math.MaxInt64:
		n++
	case open && !low && n > math.MinInt64:
		n--
	}
	return n
}

func (c *compiler) dateRange(f *field, gte, lte, gt, lt string, p *node) (matcher, error) {
	out := &wholeRange{ord: f.ord, lo: math.MinInt64, hi: math.MaxInt64, score: 1}
	seconds := f.seconds
	if form, ok := p.get("format").str(); ok {
		seconds = strings.Contains(form, "epoch_second")
	}
	for _, b := range []struct {
		s       string
		low, up bool
		shift   int64
	}{{gte, true, false, 0}, {gt, true, true, 1}, {lte, false, true, 0}, {lt, false, false, -1}} {
		if b.s == "" {
			continue
		}
		t, err := dateMath(b.s, c.now, b.up, seconds)
		if err != nil {
			return nil, shardFailure(c.ix.name, "parse_exception", "%v", err)
		}
		if ms := t.UnixMilli() + b.shift; b.low {
			out.lo = max(out.lo, ms)
		} else {
			out.hi = min(out.hi, ms)
		}
	}
	return out, nil
}
