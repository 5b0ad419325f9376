package sandbox

import (
	"strings"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// compiler turns a query into a matcher for one index.
type compiler struct {
	ix      *index
	now     time.Time
	scoring bool // scores are wanted
	clauses int  // seen so far
	depth   int
}

// Bounds of a query, as Elasticsearch has them by default.
const (
	maxClauses    = 4096
	maxQueryDepth = 30
	maxTerms      = 65536
)

func (c *compiler) shardError(format string, args ...any) error {
	return shardFailure(c.ix.name, "query_shard_exception", format, args...)
}

func (c *compiler) tooMany() error {
	return shardFailure(c.ix.name, "too_many_nested_clauses", "Query contains too many nested clauses; maxClauseCount is set to %d", maxClauses)
}

// query compiles a query object; nil matches everything.
func (c *compiler) query(n *node) (matcher, error) {
	if n == nil {
		return constant{1}, nil
	}
	if !n.isObject() {
		return nil, parsing("[_na] query malformed, must start with start_object")
	}
	if len(n.keys) == 0 {
		return nil, illegal("query malformed, empty clause found")
	}
	if len(n.keys) > 1 {
		return nil, parsing("[%s] malformed query, expected [END_OBJECT] but found [FIELD_NAME]", n.keys[0])
	}
	if c.clauses++; c.clauses > maxClauses {
		return nil, c.tooMany()
	}
	if c.depth++; c.depth > maxQueryDepth {
		return nil, illegal("The nested depth of the query exceeds the maximum nested depth for queries set in [indices.query.bool.max_nested_depth]")
	}
	defer func() { c.depth-- }()
	kind, body := n.keys[0], n.kids[0]
	if !body.isObject() {
		return nil, parsing("[%s] query malformed, no start_object after query name", kind)
	}
	return c.clause(kind, body)
}

func (c *compiler) clause(kind string, body *node) (matcher, error) {
	switch kind {
	case "match_all":
		return c.boost(body, "match_all", constant{1})
	case "match_none":
		return nothing{}, nil
	case "bool":
		return c.boolean(body)
	case "constant_score":
		return c.constantScore(body)
	case "dis_max":
		return c.disMax(body)
	case "ids":
		return c.ids(body)
	case "exists":
		return c.exists(body)
	case "terms":
		return c.termsQuery(body)
	case "multi_match":
		return c.multiMatch(body)
	case "query_string", "simple_query_string":
		return c.queryString(kind, body)
	case "match", "match_phrase", "term", "range", "prefix", "wildcard":
		return c.fieldQuery(kind, body)
	}
	return nil, parsing("unknown query [%s]", kind)
}

// boost applies the boost of a clause that has no other parameter.
func (c *compiler) boost(body *node, kind string, m matcher) (matcher, error) {
	if err := body.only(kind, "boost"); err != nil {
		return nil, err
	}
	return c.boostOf(body, m)
}

func (c *compiler) boostOf(body *node, m matcher) (matcher, error) {
	b, err := body.float("boost", 1)
	if err != nil {
		return nil, err
	}
	if b < 0 {
		return nil, illegal("negative [boost] are not allowed")
	}
	if b == 1 {
		return m, nil
	}
	return &boosted{m, b}, nil
}

func (c *compiler) unscored(n *node) (matcher, error) {
	was := c.scoring
	c.scoring = false
	m, err := c.query(n)
	c.scoring = was
	return m, err
}

func (c *compiler) boolean(body *node) (matcher, error) {
	if err := body.only("bool", "must", "filter", "should", "must_not", "minimum_should_match", "boost", "adjust_pure_negative"); err != nil {
		return nil, err
	}
	out := &boolMatcher{}
	for _, part := range []struct {
		key    string
		to     *[]matcher
		scores bool
	}{{"must", &out.must, true}, {"filter", &out.filter, false}, {"should", &out.should, true}, {"must_not", &out.not, false}} {
		of := body.get(part.key)
		list := []*node{of}
		if of == nil {
			continue
		} else if of.isArray() {
			list = of.kids
		}
		for _, q := range list {
			compile := c.query
			if !part.scores {
				compile = c.unscored
			}
			m, err := compile(q)
			if err != nil {
				return nil, err
			}
			*part.to = append(*part.to, m)
		}
	}
	if len(out.must)+len(out.filter)+len(out.should)+len(out.not) == 0 {
		return c.boostOf(body, constant{1})
	}
	if len(out.should) > 0 && len(out.must)+len(out.filter) == 0 {
		out.least = 1
	}
	if s, ok := body.get("minimum_should_match").str(); ok {
		var err error
		if out.least, err = leastOf(s, len(out.should)); err != nil {
			return nil, err
		}
	}
	return c.boostOf(body, out)
}

func (c *compiler) constantScore(body *node) (matcher, error) {
	if err := body.only("constant_score", "filter", "boost"); err != nil {
		return nil, err
	}
	if body.get("filter") == nil {
		return nil, parsing("[constant_score] requires a 'filter' element")
	}
	m, err := c.unscored(body.get("filter"))
	if err != nil {
		return nil, err
	}
	return c.boostOf(body, &fixed{m, 1})
}

func (c *compiler) disMax(body *node) (matcher, error) {
	if err := body.only("dis_max", "queries", "tie_breaker", "boost"); err != nil {
		return nil, err
	}
	out := &best{}
	var err error
	if out.tie, err = body.float("tie_breaker", 0); err != nil {
		return nil, err
	}
	if !body.get("queries").isArray() {
		return nil, parsing("[dis_max] requires 'queries' field with at least one clause")
	}
	for _, q := range body.get("queries").kids {
		m, err := c.query(q)
		if err != nil {
			return nil, err
		}
		out.of = append(out.of, m)
	}
	return c.boostOf(body, out)
}

func (c *compiler) ids(body *node) (matcher, error) {
	if err := body.only("ids", "values", "boost"); err != nil {
		return nil, err
	}
	return c.boostOf(body, idMatcher(body.get("values").strs()))
}

func idMatcher(ids []string) matcher {
	want := make(map[string]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	return &predicate{score: 1, test: func(d *doc) bool { return want[d.id] }}
}

func (c *compiler) exists(body *node) (matcher, error) {
	if err := body.only("exists", "field", "boost"); err != nil {
		return nil, err
	}
	path, ok := body.get("field").str()
	if !ok {
		return nil, parsing("[exists] must be provided with a [field]")
	}
	var ords []int
	for p, f := range c.ix.m.byPath {
		if p == path || strings.HasPrefix(p, path+".") || strings.Contains(path, "*") && glob(path, p) {
			ords = append(ords, f.ord)
		}
	}
	return c.boostOf(body, &predicate{score: 1, test: func(d *doc) bool {
		for _, o := range ords {
			if o < len(d.cols) && len(d.cols[o]) > 0 {
				return true
			}
		}
		return false
	}})
}

// oneField takes apart {"field": value} and {"field": {parameters}}; key is the
// parameter that the short form stands for.
func oneField(kind string, body *node, key string) (path string, param *node, err error) {
	if len(body.keys) == 0 {
		return "", nil, parsing("[%s] query malformed, no field given", kind)
	}
	if len(body.keys) > 1 {
		return "", nil, parsing("[%s] query doesn't support multiple fields, found [%s] and [%s]", kind, body.keys[0], body.keys[1])
	}
	param = body.kids[0]
	if param.isArray() {
		return "", nil, parsing("[%s] query does not support arrays", kind)
	}
	if !param.isObject() {
		param = &node{kind: es.ObjectStart, keys: []string{key}, kids: []*node{param}}
	}
	return body.keys[0], param, nil
}

func (c *compiler) fieldQuery(kind string, body *node) (matcher, error) {
	key := "value"
	if strings.HasPrefix(kind, "match") {
		key = "query"
	}
	path, p, err := oneField(kind, body, key)
	if err != nil {
		return nil, err
	}
	f := c.ix.m.byPath[path]
	var m matcher
	switch kind {
	case "match":
		m, err = c.match(path, f, p)
	case "match_phrase":
		m, err = c.phrase(f, p)
	case "term":
		m, err = c.term(path, f, p)
	case "range":
		m, err = c.rangeQuery(f, p)
	default:
		m, err = c.pattern(kind, f, p)
	}
	if err != nil {
		return nil, err
	}
	return c.boostOf(p, m)
}
