package es

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// mark stands in every value that shapeGen writes.
const mark = "qzMARKzq"

// shapeGen writes search bodies. Everything that a Shape tells apart comes from
// form; what it must not see comes from look: values, names of aggregations,
// the order of members and clauses, repetition, long and short forms, white
// space, escapes and the length of lists within a power of ten.
type shapeGen struct {
	form, look *rand.Rand
}

func newShapeGen(form, look uint64) *shapeGen {
	return &shapeGen{rand.New(rand.NewPCG(form, 1)), rand.New(rand.NewPCG(look, 2))}
}

func (g *shapeGen) space() string {
	return []string{"", "", "", " ", "\n\t", "/* " + mark + " */"}[g.look.IntN(6)]
}

// object joins members, given as name and value in turn, in any order.
func (g *shapeGen) object(members ...string) string {
	var all []string
	for i := 0; i < len(members); i += 2 {
		if members[i+1] != "" {
			all = append(all, g.space()+g.quote(members[i])+g.space()+":"+g.space()+members[i+1])
		}
	}
	g.look.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return "{" + strings.Join(all, ",") + g.space() + "}"
}

// quote writes a name, at times with an escape in it.
func (g *shapeGen) quote(s string) string {
	if g.look.IntN(8) == 0 {
		return fmt.Sprintf(`"\u%04x%s"`, s[0], s[1:])
	}
	return `"` + s + `"`
}

// set joins clauses in any order, some of them twice.
func (g *shapeGen) set(items []string) string {
	all := append([]string(nil), items...)
	for _, it := range items {
		if g.look.IntN(4) == 0 {
			all = append(all, it)
		}
	}
	g.look.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if len(items) == 1 && g.look.IntN(2) == 0 {
		return items[0]
	}
	return "[" + strings.Join(all, ","+g.space()) + "]"
}

func (g *shapeGen) text() string {
	return fmt.Sprintf(`"%s %d\u0041%s"`, mark, g.look.IntN(1000), strings.Repeat("ä", g.look.IntN(20)))
}

func (g *shapeGen) value() string {
	switch g.look.IntN(4) {
	case 0:
		return fmt.Sprintf("98765%d", g.look.IntN(1000))
	case 1:
		return "true"
	}
	return g.text()
}

func (g *shapeGen) values() string {
	all := make([]string, 1+g.look.IntN(9))
	for i := range all {
		all[i] = g.value()
	}
	return "[" + strings.Join(all, ",") + "]"
}

func (g *shapeGen) fieldName() string {
	return []string{"title", "user.name", "@timestamp", "price", "attrs.color", "größe"}[g.form.IntN(6)]
}

// leaf writes {F: value} or {F: {key: value, …}}.
func (g *shapeGen) leaf(key string) string {
	long := g.object(key, g.value(), "boost", []string{"", "2.5"}[g.look.IntN(2)], "_name", []string{"", g.text()}[g.look.IntN(2)])
	return g.object(g.fieldName(), []string{g.value(), long}[g.look.IntN(2)])
}

func (g *shapeGen) clauses(depth int) string {
	all := make([]string, 1+g.form.IntN(3))
	for i := range all {
		all[i] = g.clause(depth)
	}
	return g.set(all)
}

// maybe is s or nothing, as the form says.
func (g *shapeGen) maybe(s string) string {
	if g.form.IntN(2) == 0 {
		return ""
	}
	return s
}

func (g *shapeGen) clause(depth int) string {
	n := 18
	if depth > 2 {
		n = 12
	}
	switch g.form.IntN(n) {
	case 0:
		return g.object("term", g.leaf("value"))
	case 1:
		return g.object("match", g.leaf("query"))
	case 2:
		return g.object("terms", g.object(g.fieldName(), g.values(), "boost", []string{"", "1"}[g.look.IntN(2)]))
	case 3:
		return g.object("range", g.object(g.fieldName(), g.object("gte", fmt.Sprintf(`"now-%dd/d"`, 2+g.look.IntN(8)), "lt", `"now"`, "format", g.text())))
	case 4:
		return g.object("range", g.object(g.fieldName(), g.object("gte", g.text(), "lte", g.maybe(g.text()), "time_zone", g.text())))
	case 5:
		return g.object("wildcard", g.leaf("value"))
	case 6:
		return g.object("exists", g.object("field", g.quote(g.fieldName())))
	case 7:
		return g.object("ids", g.object("values", g.values()))
	case 8:
		return g.object("query_string", g.object("query", fmt.Sprintf(`"%s%d AND (b%d OR %sc*)"`, mark, g.look.IntN(99), g.look.IntN(99), mark), "default_field", g.quote(g.fieldName()), "analyzer", g.text()))
	case 9:
		return g.object("multi_match", g.object("query", g.text(), "fields", `["`+g.fieldName()+`^`+fmt.Sprint(1+g.look.IntN(5))+`","body"]`))
	case 10:
		return g.object("made_up_clause", g.object("x", g.value()))
	case 11:
		vector := strings.Repeat(fmt.Sprintf("0.98765%d,", g.look.IntN(99)), 80) + "1"
		return g.object("knn", g.object("field", g.quote(g.fieldName()), "query_vector", "["+vector+"]", "k", fmt.Sprint(10+g.look.IntN(90))))
	case 12:
		return g.object("nested", g.object("path", g.quote(g.fieldName()), "query", g.clauses(depth+1), "score_mode", g.text()))
	case 13:
		return g.object("constant_score", g.object("filter", g.clause(depth+1), "boost", "9876543"))
	case 14:
		return g.object("function_score", g.object("query", g.clause(depth+1), "functions",
			"["+g.object("filter", g.clause(depth+1), "weight", "9876543")+"]", "boost_mode", g.text()))
	case 15:
		return g.object("has_child", g.object("type", `"answer"`, "query", g.clause(depth+1)))
	}
	return g.object("bool", g.object("filter", g.maybe(g.clauses(depth+1)), "must", g.maybe(g.clauses(depth+1)),
		"should", g.maybe(g.clauses(depth+1)), "must_not", g.maybe(g.clauses(depth+1)), "boost", []string{"", "9876543"}[g.look.IntN(2)]))
}

func (g *shapeGen) aggs(depth int) string {
	var all []string
	for i := range 1 + g.form.IntN(2) {
		var kind, body string
		switch g.form.IntN(5) {
		case 0:
			kind, body = "terms", g.object("field", g.quote(g.fieldName()), "size", fmt.Sprint(10+g.look.IntN(90)), "missing", g.text())
		case 1:
			kind, body = "avg", g.object("field", g.quote(g.fieldName()))
		case 2:
			kind, body = "filter", g.clause(2)
		case 3:
			kind, body = "date_histogram", g.object("field", g.quote(g.fieldName()), "calendar_interval", `"day"`, "time_zone", g.text())
		case 4:
			kind, body = "filters", g.object("filters", g.object(mark+"a", g.clause(2), mark+"b", g.clause(2)))
		}
		below := ""
		if depth < 2 && g.form.IntN(2) == 0 {
			below = g.aggs(depth + 1)
		}
		all = append(all, fmt.Sprintf("%s%d-%d", mark, i, g.look.IntN(99)), g.object(kind, body, "aggs", below, "meta", g.object("a", g.text())))
	}
	return g.object(all...)
}

func (g *shapeGen) search() string {
	return g.object(
		"query", g.maybe(g.clause(0)),
		"aggs", g.maybe(g.aggs(0)),
		"post_filter", g.maybe(g.clause(1)),
		"sort", g.maybe(`[{"`+g.fieldName()+`":"desc"},"_score"]`),
		"size", g.maybe(fmt.Sprint(10+g.look.IntN(90))),
		"from", g.maybe(fmt.Sprint(100+g.look.IntN(900))),
		"search_after", g.maybe(g.values()),
		"_source", g.maybe(`["a*","`+mark+`"]`),
		"highlight", g.maybe(g.object("fields", g.object("a", "{}"), "pre_tags", g.values())),
		"suggest", g.maybe(g.object(mark, g.object("text", g.text(), "term", g.object("field", `"title"`)))),
		"script_fields", g.maybe(g.object(mark, g.object("script", g.object("source", `"doc['a'].value * 2"`, "params", g.object("a", g.value()))))),
		"stats", g.values(), "preference", g.text(), "timeout", g.text(),
	)
}
