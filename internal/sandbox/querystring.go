package sandbox

import (
	"strings"
)

// queryString compiles the usual part of the Lucene mini-language: words,
// "phrases", field:word, field:(a b), wildcards, _exists_:field, ranges, AND OR
// NOT, + - and parentheses. What it does not know (fuzziness, boosts, regular
// expressions, slop) is refused.
func (c *compiler) queryString(kind string, body *node) (matcher, error) {
	if err := body.only(kind, "query", "default_field", "fields", "default_operator", "boost", "lenient", "analyze_wildcard"); err != nil {
		return nil, err
	}
	q, ok := body.get("query").str()
	if !ok {
		return nil, parsing("[%s] must be provided with a [query]", kind)
	}
	names := body.get("fields").strs()
	if df, ok := body.get("default_field").str(); ok {
		names = []string{df}
	}
	op, _ := body.get("default_operator").str()
	p := &qsParser{c: c, in: q, and: strings.EqualFold(op, "and"), fields: names}
	m, err := p.list(0)
	if err == nil && p.at < len(p.in) {
		err = p.bad("unexpected )")
	}
	if err != nil {
		return nil, err
	}
	return c.boostOf(body, m)
}

type qsParser struct {
	c      *compiler
	in     string
	at     int
	and    bool
	fields []string
}

func (p *qsParser) bad(why string) error {
	return p.c.shardError("Failed to parse query [%s]: %s", p.in, why)
}

func (p *qsParser) space() {
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n", p.in[p.at]) >= 0 {
		p.at++
	}
}

func (p *qsParser) word(words ...string) bool {
	p.space()
	for _, w := range words {
		end := p.at + len(w)
		letters := w[0] >= 'A'
		if strings.HasPrefix(p.in[p.at:], w) && (!letters || end == len(p.in) || strings.IndexByte(" (\t", p.in[end]) >= 0) {
			p.at = end
			return true
		}
	}
	return false
}

// list reads clauses up to the end or a closing parenthesis. As in Lucene, AND
// makes the clauses on its two sides required.
func (p *qsParser) list(depth int) (matcher, error) {
	if depth > maxQueryDepth {
		return nil, p.bad("nested too deeply")
	}
	type part struct {
		m         matcher
		must, not bool
	}
	var parts []part
	for {
		and := p.word("AND", "&&")
		or := !and && p.word("OR", "||")
		p.space()
		if p.at >= len(p.in) || p.in[p.at] == ')' {
			if and || or {
				return nil, p.bad("a clause is missing")
			}
			break
		}
		not := p.word("NOT", "!")
		must := false
		if !not && p.at < len(p.in) && (p.in[p.at] == '+' || p.in[p.at] == '-') {
			must, not = p.in[p.at] == '+', p.in[p.at] == '-'
			p.at++
		}
		m, err := p.clause(depth)
		if err != nil {
			return nil, err
		}
		if and && len(parts) > 0 {
			parts[len(parts)-1].must = true
		}
		if or && p.and && len(parts) > 0 {
			parts[len(parts)-1].must = false
		}
		parts = append(parts, part{m, must || and || p.and && !or, not})
	}
	out := &boolMatcher{}
	for _, c := range parts {
		switch {
		case c.not:
			out.not = append(out.not, c.m)
		case c.must:
			out.must = append(out.must, c.m)
		default:
			out.should = append(out.should, c.m)
		}
	}
	if len(parts) == 0 {
		return nothing{}, nil
	}
	if len(out.must) == 0 && len(out.should) > 0 {
		out.least = 1
	}
	return out, nil
}

func (p *qsParser) clause(depth int) (matcher, error) {
	p.space()
	fields := p.fields
	if name, ok := p.fieldName(); ok {
		if name == "_exists_" {
			return p.c.exists(objectOf("field", p.bare()))
		}
		defer func() { p.fields = fields }()
		p.fields = []string{name}
	}
	if p.at >= len(p.in) {
		return nil, p.bad("a clause is missing")
	}
	switch p.in[p.at] {
	case '(':
		p.at++
		m, err := p.list(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.at >= len(p.in) {
			return nil, p.bad("missing )")
		}
		p.at++
		return m, p.noSuffix()
	case '"':
		end := strings.IndexByte(p.in[p.at+1:], '"')
		if end < 0 {
			return nil, p.bad("missing \"")
		}
		s := p.in[p.at+1 : p.at+1+end]
		p.at += end + 2
		if err := p.noSuffix(); err != nil {
			return nil, err
		}
		return p.each(func(f *field) (matcher, error) {
			if f.typ == text {
				return p.c.matchPhrase(f, p.c.ix.text.terms(s))
			}
			return p.c.equals(f.path, f, s, false)
		})
	case '[', '{':
		return p.span()
	case '>', '<':
		return p.compare()
	case '/':
		return nil, p.bad("regular expressions are not supported by the esshadow sandbox")
	}
	return p.plain()
}

func (p *qsParser) noSuffix() error {
	if p.at < len(p.in) && (p.in[p.at] == '^' || p.in[p.at] == '~') {
		return p.bad("^ and ~ are not supported by the esshadow sandbox")
	}
	return nil
}

func (p *qsParser) fieldName() (string, bool) {
	for i := p.at; i < len(p.in); i++ {
		switch ch := p.in[i]; {
		case ch == ':' && i > p.at:
			name := p.in[p.at:i]
			p.at = i + 1
			return name, true
		case strings.IndexByte(" \t\"()[]{}:", ch) >= 0:
			return "", false
		}
	}
	return "", false
}

// bare reads up to the next white space or bracket.
func (p *qsParser) bare() string {
	start := p.at
	for p.at < len(p.in) && strings.IndexByte(" \t\r\n()[]{}\"", p.in[p.at]) < 0 {
		if p.in[p.at] == '\\' && p.at+1 < len(p.in) {
			p.at++
		}
		p.at++
	}
	return p.in[start:p.at]
}

func (p *qsParser) plain() (matcher, error) {
	s := p.bare()
	if s == "" {
		return nil, p.bad("unexpected character")
	}
	if strings.ContainsAny(s, "^~") {
		return nil, p.bad("^ and ~ are not supported by the esshadow sandbox")
	}
	if s == "*" && len(p.fields) == 1 && p.fields[0] != "*" {
		return p.c.exists(objectOf("field", p.fields[0]))
	}
	if s == "*" {
		return constant{1}, nil
	}
	if strings.ContainsAny(s, "*?") {
		return p.each(func(f *field) (matcher, error) {
			if f.typ == text {
				low := strings.ToLower(s)
				return p.c.matchWords(f, func(w string) bool { return glob(low, w) })
			}
			return p.c.pattern("wildcard", f, objectOf("value", s))
		})
	}
	s = unescapeWord(s)
	return p.each(func(f *field) (matcher, error) { return p.c.matchText(f.path, f, s, p.operator(), "") })
}

func (p *qsParser) operator() string {
	if p.and {
		return "and"
	}
	return "or"
}

func unescapeWord(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// span reads [a TO b], {a TO b} and their mixtures.
func (p *qsParser) span() (matcher, error) {
	openLow := p.in[p.at] == '{'
	end := strings.IndexAny(p.in[p.at:], "]}")
	if end < 0 {
		return nil, p.bad("missing ]")
	}
	lo, hi, ok := strings.Cut(p.in[p.at+1:p.at+end], " TO ")
	if !ok {
		return nil, p.bad("a range is [a TO b]")
	}
	openHigh := p.in[p.at+end] == '}'
	p.at += end + 1
	var gte, gt, lte, lt string
	if lo = strings.Trim(lo, ` "`); lo != "*" {
		if gte = lo; openLow {
			gte, gt = "", lo
		}
	}
	if hi = strings.Trim(hi, ` "`); hi != "*" {
		if lte = hi; openHigh {
			lte, lt = "", hi
		}
	}
	return p.each(func(f *field) (matcher, error) { return p.c.between(f, gte, lte, gt, lt, &node{}) })
}

// compare reads >5, >=5, <5 and <=5.
func (p *qsParser) compare() (matcher, error) {
	op := p.in[p.at : p.at+1]
	p.at++
	if p.at < len(p.in) && p.in[p.at] == '=' {
		op += "="
		p.at++
	}
	s := p.bare()
	return p.each(func(f *field) (matcher, error) {
		b := map[string]string{op: s}
		return p.c.between(f, b[">="], b["<="], b[">"], b["<"], &node{})
	})
}

// each takes the best over the fields in question; a value that a field cannot
// have does not match it where several fields are searched.
func (p *qsParser) each(compile func(*field) (matcher, error)) (matcher, error) {
	if p.c.clauses++; p.c.clauses > maxClauses {
		return nil, p.bad("too many clauses")
	}
	if len(p.fields) == 1 && p.fields[0] == "_id" {
		return compile(&field{path: "_id", typ: keyword, ord: 1 << 30})
	}
	fields, boosts, err := p.c.fields(p.fields)
	if err != nil {
		return nil, err
	}
	out := &best{}
	for i, f := range fields {
		m, err := compile(f)
		if err != nil {
			if len(fields) > 1 {
				continue
			}
			return nil, err
		}
		out.of = append(out.of, &boosted{m, boosts[i]})
	}
	return out, nil
}
