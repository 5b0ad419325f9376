package es

import (
	"bytes"
	"slices"
	"strconv"
)

// clauseForm is where a query clause has its field and its parts.
type clauseForm uint8

const (
	clauseUnknown   clauseForm = iota
	clauseBare                 // the name says all
	clauseByField              // {F: value or options}
	clauseHasField             // {field: F, …}
	clauseHasFields            // {fields: [F], …}
	clauseNested               // has other clauses in it
	clauseTerms
	clauseRange
	clauseVector
	clauseIntervals
)

// clauseOf is the closed table of the query clauses of Elasticsearch and
// OpenSearch.
func clauseOf(name []byte) clauseForm {
	switch string(name) {
	case "term", "match", "match_phrase", "prefix", "wildcard", "match_phrase_prefix", "match_bool_prefix", "regexp", "fuzzy",
		"common", "span_term", "terms_set", "geo_distance", "geo_bounding_box", "geo_polygon", "geo_shape", "geo_grid", "shape", "xy_shape",
		"neural_sparse", "text_expansion", "weighted_tokens":
		return clauseByField
	case "bool", "nested", "constant_score", "function_score", "dis_max", "boosting", "has_child", "has_parent", "script_score",
		"pinned", "rule", "rule_query", "span_near", "span_or", "span_first", "span_not", "span_containing", "span_within", "span_multi",
		"span_field_masking", "field_masking_span", "hybrid", "script", "filtered", "and", "or", "not":
		return clauseNested
	case "terms", "ids":
		return clauseTerms
	case "range":
		return clauseRange
	case "exists", "rank_feature", "distance_feature", "sparse_vector", "semantic", "percolate", "parent_id", "missing", "type":
		return clauseHasField
	case "match_all", "match_none", "wrapper", "template", "kql", "rank_doc", "agentic", "sltr":
		return clauseBare
	case "multi_match", "query_string", "simple_query_string", "combined_fields", "more_like_this":
		return clauseHasFields
	case "knn", "neural":
		return clauseVector
	case "intervals":
		return clauseIntervals
	}
	return clauseUnknown
}

// queries writes the clauses of a query, or of a list of them, as a set.
func (f *Fingerprinter) queries(n int32, depth int) bool {
	t := &f.tree
	f.depth = max(f.depth, depth)
	mark := f.beginSet()
	switch {
	case t.is(n, ObjectStart):
		f.clauses(n, depth)
	case t.is(n, ArrayStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			if t.is(c, ObjectStart) {
				f.clauses(c, depth)
			}
		}
	}
	return f.endSet(mark, ", ")
}

func (f *Fingerprinter) clauses(obj int32, depth int) {
	t := &f.tree
	for c := t.at(obj).first; c != none; c = t.at(c).next {
		f.member()
		f.clause(c, depth)
	}
}

// clause writes the clause whose name is the key of n.
func (f *Fingerprinter) clause(n int32, depth int) {
	t := &f.tree
	name := t.key(n)
	form := clauseOf(name)
	if form == clauseUnknown {
		f.kind("other")
		f.write("other")
		f.digest(name)
		return
	}
	f.kind(f.word(name))
	f.out = append(f.out, name...)
	switch form {
	case clauseByField:
		f.byField(n)
	case clauseTerms:
		f.terms(n)
	case clauseRange:
		f.ranges(n)
	case clauseHasField:
		f.hasField(n)
	case clauseHasFields:
		f.hasFields(n)
	case clauseVector:
		f.vector(n, depth)
	case clauseIntervals:
		f.intervals(n)
	case clauseNested:
		f.write("(")
		f.nested(n, depth)
		f.write(")")
	}
}

// isOption tells the members of a clause by field that name no field. Of the
// clauses on places there are more of them.
func isOption(key []byte, place bool) bool {
	switch string(key) {
	case "boost", "_name", "_cache", "_cache_key":
		return true
	case "distance", "distance_type", "validation_method", "ignore_unmapped", "type", "unit", "relation", "optimize_bbox",
		"normalize", "coerce", "ignore_malformed", "order", "mode", "nested":
		return place
	}
	return false
}

// fieldOf is the member of a clause whose key is its field.
func (f *Fingerprinter) fieldOf(n int32) int32 {
	t := &f.tree
	if !t.is(n, ObjectStart) {
		return none
	}
	name := t.key(n)
	place := bytes.Contains(name, []byte("geo_")) || bytes.HasSuffix(name, []byte("shape"))
	for c := t.at(n).first; c != none; c = t.at(c).next {
		if !isOption(t.key(c), place) {
			return c
		}
	}
	return t.at(n).first // a field may have any name
}

func (f *Fingerprinter) byField(n int32) {
	f.write("(")
	if c := f.fieldOf(n); c != none {
		f.field(f.tree.key(c))
		f.options(c)
	}
	f.write(")")
}

// options writes those options of a text clause that change what it costs.
func (f *Fingerprinter) options(n int32) {
	t := &f.tree
	if !t.is(n, ObjectStart) {
		return
	}
	mark := f.beginSet()
	for c := t.at(n).first; c != none; c = t.at(c).next {
		word := ""
		switch string(t.key(c)) {
		case "operator", "default_operator":
			if bytes.EqualFold(t.str(c), []byte("and")) {
				word = " and"
			}
		case "fuzziness":
			word = " fuzzy"
		case "minimum_should_match":
			word = " msm"
		case "slop":
			word = " slop"
		case "analyzer":
			word = " analyzer"
		case "case_insensitive":
			word = " nocase"
		case "type":
			word = matchType(t.str(c))
		}
		if word != "" {
			f.member()
			f.write(word)
		}
	}
	f.endSet(mark, "")
}

func matchType(b []byte) string {
	switch string(b) {
	case "most_fields":
		return " most_fields"
	case "cross_fields":
		return " cross_fields"
	case "phrase":
		return " phrase"
	case "phrase_prefix":
		return " phrase_prefix"
	case "bool_prefix":
		return " bool_prefix"
	}
	return ""
}

// terms writes terms and ids clauses, whose lists keep their power of ten.
func (f *Fingerprinter) terms(n int32) {
	t := &f.tree
	c := f.fieldOf(n)
	var list int32
	if values := t.get(n, "values"); string(t.key(n)) == "ids" {
		c, list = none, values
	} else {
		list = c
	}
	f.write("(")
	if c != none {
		f.field(t.key(c))
	}
	switch {
	case t.is(list, ObjectStart):
		f.write(" lookup")
	case t.is(list, ArrayStart):
		f.out = appendTimes(f.out, int(t.at(list).size))
	}
	f.write(")")
}

func (f *Fingerprinter) hasField(n int32) {
	t := &f.tree
	f.write("(")
	if name := t.str(t.get(n, "field")); name != nil {
		f.field(name)
	} else if name := t.str(t.get(n, "type")); name != nil {
		f.field(name)
	}
	if list := t.get(n, "documents"); list != none {
		f.write(" documents")
	}
	f.write(")")
}

func (f *Fingerprinter) hasFields(n int32) {
	t := &f.tree
	f.write("(")
	start := len(f.out)
	if list := t.get(n, "fields"); list != none {
		f.fields(list)
	} else if one := t.get(n, "default_field"); one != none {
		f.fields(one)
	}
	f.options(n)
	switch string(t.key(n)) {
	case "query_string", "simple_query_string":
		f.operators(t.str(t.get(n, "query")))
	}
	if len(f.out) > start && f.out[start] == ' ' {
		f.out = slices.Delete(f.out, start, start+1)
	}
	f.write(")")
}

// vector writes a kNN search: as a clause of either engine, or as the member
// knn of a search.
func (f *Fingerprinter) vector(n int32, depth int) {
	t := &f.tree
	f.write("(")
	body := n
	if name := t.str(t.get(n, "field")); name != nil {
		f.field(name)
	} else if c := f.fieldOf(n); c != none && t.is(c, ObjectStart) {
		f.field(t.key(c))
		body = c
	}
	for _, key := range [...]string{"query_vector", "vector"} {
		if v := t.get(body, key); t.is(v, ArrayStart) {
			f.write(" dims=")
			f.out = strconv.AppendInt(f.out, int64(t.at(v).size), 10)
		}
	}
	f.amountOf(" k", t.get(body, "k"))
	f.amountOf(" candidates", t.get(body, "num_candidates"))
	if filter := t.get(body, "filter"); filter != none {
		start := len(f.out)
		f.write(" filter[")
		if f.queries(filter, depth+1) {
			f.write("]")
		} else {
			f.out = f.out[:start]
		}
	}
	f.write(")")
}

// amountOf writes about how many the number at n says, if it is one.
func (f *Fingerprinter) amountOf(name string, n int32) {
	if f.tree.is(n, Number) {
		if v, ok := wholeNumber(f.tree.value(n)); ok {
			f.amount(name, v)
		}
	}
}

// intervals writes the field and which rules it is asked for by.
func (f *Fingerprinter) intervals(n int32) {
	f.write("(")
	if c := f.fieldOf(n); c != none {
		f.field(f.tree.key(c))
		mark := f.beginSet()
		f.intervalRules(c, 0)
		f.endSet(mark, "")
	}
	f.write(")")
}

func (f *Fingerprinter) intervalRules(n int32, depth int) {
	t := &f.tree
	if depth > maxShapeDepth || !t.is(n, ObjectStart) && !t.is(n, ArrayStart) {
		return
	}
	for c := t.at(n).first; c != none; c = t.at(c).next {
		switch string(t.key(c)) {
		case "match", "prefix", "wildcard", "fuzzy", "regexp", "range", "all_of", "any_of", "filter":
			f.member()
			f.write(" ")
			f.out = append(f.out, t.key(c)...) // one of the words above
		}
		f.intervalRules(c, depth+1)
	}
}
