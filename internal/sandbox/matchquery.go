package sandbox

import (
	"strconv"
	"strings"
)

func (c *compiler) match(path string, f *field, p *node) (matcher, error) {
	if err := p.only("match", "query", "operator", "minimum_should_match", "boost", "lenient", "zero_terms_query", "auto_generate_synonyms_phrase_query"); err != nil {
		return nil, err
	}
	q, ok := p.get("query").str()
	if !ok {
		return nil, parsing("[match] requires query value")
	}
	lenient, err := p.boolean("lenient", false)
	if err != nil {
		return nil, err
	}
	op, _ := p.get("operator").str()
	least, _ := p.get("minimum_should_match").str()
	m, err := c.matchText(path, f, q, op, least)
	if err != nil && lenient {
		return nothing{}, nil
	}
	return m, err
}

// matchText matches an analysed text, or one value where the field is not text.
func (c *compiler) matchText(path string, f *field, q, op, leastText string) (matcher, error) {
	if f == nil || f.typ != text {
		return c.equals(path, f, q, false)
	}
	terms := c.ix.text.terms(q)
	least := 1
	switch {
	case strings.EqualFold(op, "and"):
		least = len(terms)
	case op != "" && !strings.EqualFold(op, "or"):
		return nil, illegal("operator needs to be either AND or OR, but found [%s]", op)
	case leastText != "":
		var err error
		if least, err = leastOf(leastText, len(terms)); err != nil {
			return nil, err
		}
		least = max(least, 1)
	}
	return c.matchTerms(f, terms, least)
}

func (c *compiler) phrase(f *field, p *node) (matcher, error) {
	if err := p.only("match_phrase", "query", "slop", "boost", "zero_terms_query"); err != nil {
		return nil, err
	}
	q, ok := p.get("query").str()
	if !ok {
		return nil, parsing("[match_phrase] requires query value")
	}
	if slop, err := p.integer("slop", 0); err != nil || slop != 0 {
		return nil, unsupported("match_phrase with slop")
	}
	if f == nil {
		return nothing{}, nil
	}
	if f.typ != text {
		return c.equals(f.path, f, q, false)
	}
	return c.matchPhrase(f, c.ix.text.terms(q))
}

func (c *compiler) multiMatch(body *node) (matcher, error) {
	if err := body.only("multi_match", "query", "fields", "type", "operator", "minimum_should_match", "tie_breaker", "boost", "lenient"); err != nil {
		return nil, err
	}
	q, ok := body.get("query").str()
	if !ok {
		return nil, parsing("No text specified for multi_match query")
	}
	typ, _ := body.get("type").str()
	op, _ := body.get("operator").str()
	least, _ := body.get("minimum_should_match").str()
	lenient, err := body.boolean("lenient", false)
	if err != nil {
		return nil, err
	}
	fields, boosts, err := c.fields(body.get("fields").strs())
	if err != nil {
		return nil, err
	}
	out := &best{}
	switch typ {
	case "", "best_fields", "phrase":
		if out.tie, err = body.float("tie_breaker", 0); err != nil {
			return nil, err
		}
	case "most_fields":
		out.tie = 1
	default:
		return nil, unsupported("multi_match of type " + typ)
	}
	for i, f := range fields {
		var m matcher
		if typ == "phrase" && f.typ == text {
			m, err = c.matchPhrase(f, c.ix.text.terms(q))
		} else {
			m, err = c.matchText(f.path, f, q, op, least)
		}
		if err != nil && !lenient {
			return nil, err
		} else if err == nil {
			out.of = append(out.of, &boosted{m, boosts[i]})
		}
	}
	return c.boostOf(body, out)
}

// fields finds fields named as "title^2" or "name.*"; without names it is every
// text and keyword field.
func (c *compiler) fields(names []string) ([]*field, []float64, error) {
	var fields []*field
	var boosts []float64
	if len(names) == 0 {
		names = []string{"*"}
	}
	for _, name := range names {
		pattern, b, has := strings.Cut(name, "^")
		boost := 1.0
		if has {
			var err error
			if boost, err = strconv.ParseFloat(b, 64); err != nil || boost < 0 {
				return nil, nil, illegal("boost of field [%s] is not a number", name)
			}
		}
		for _, p := range sortedPaths(c.ix.m) {
			f := c.ix.m.byPath[p]
			wild := strings.Contains(pattern, "*") && glob(pattern, p) && (f.typ == text || f.typ == keyword)
			if p == pattern || wild {
				fields, boosts = append(fields, f), append(boosts, boost)
			}
		}
	}
	return fields, boosts, nil
}
