package es

// nested writes the parts of a clause that has other clauses in it.
func (f *Fingerprinter) nested(n int32, depth int) {
	t := &f.tree
	mark := f.beginSet()
	switch {
	case t.is(n, ArrayStart): // the and, or of version 1; lists of functions
		f.member()
		f.queries(n, depth+1)
	case t.is(n, ObjectStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.part(c, depth)
		}
	}
	f.endSet(mark, ", ")
}

// part writes one member of such a clause, if it has a bearing on the shape.
func (f *Fingerprinter) part(c int32, depth int) {
	t := &f.tree
	switch key := t.key(c); string(key) {
	case "must", "filter", "should", "must_not", "positive", "negative", "query", "queries", "organic", "clauses", "little", "big",
		"include", "exclude", "match", "no_match_query", "filters":
		start := len(f.out)
		f.out = append(f.out, key...) // one of the words above
		f.write("[")
		if f.queries(c, depth+1) {
			f.write("]")
		} else {
			f.out = f.out[:start]
		}
	case "path", "type", "parent_type", "child_type", "field":
		if name := t.str(c); name != nil {
			f.out = append(f.out, key...)
			f.write("=")
			f.field(name)
		}
	case "functions":
		f.functions(c, depth)
	case "script", "source", "inline", "id", "stored":
		f.script(c)
	case "minimum_should_match":
		f.write("msm")
	case "inner_hits":
		f.write("inner_hits")
	case "ids", "docs":
		f.out = append(f.out, key...)
		f.out = appendTimes(f.out, int(t.at(c).size))
	default:
		f.function(c)
	}
}

// functions writes the list of a function_score.
func (f *Fingerprinter) functions(n int32, depth int) {
	t := &f.tree
	if !t.is(n, ArrayStart) {
		return
	}
	mark := f.beginSet()
	f.member()
	f.write("functions[")
	inner := f.beginSet()
	for c := t.at(n).first; c != none; c = t.at(c).next {
		f.member()
		if !t.is(c, ObjectStart) {
			continue
		}
		f.nested(c, depth)
	}
	f.endSet(inner, "; ")
	f.write("]")
	f.endSet(mark, "")
}

// function writes one scoring function.
func (f *Fingerprinter) function(c int32) {
	t := &f.tree
	switch key := t.key(c); string(key) {
	case "random_score", "weight":
		f.out = append(f.out, key...)
	case "gauss", "linear", "exp":
		f.out = append(f.out, key...)
		f.byField(c)
	case "field_value_factor":
		f.write("field_value_factor")
		f.hasField(c)
	case "script_score":
		f.write("script_score ")
		f.script(t.get(c, "script"))
	}
}

// script writes a digest of a script's source or of its stored id.
func (f *Fingerprinter) script(n int32) {
	t := &f.tree
	switch {
	case t.str(n) != nil:
		f.kind("script")
		f.write("script")
		f.digest(t.str(n))
	case t.is(n, ObjectStart):
		for _, key := range [...]string{"source", "inline", "id", "stored", "script"} {
			if s := t.get(n, key); s != none {
				f.script(s)
				return
			}
		}
	}
}

// list writes name and the power of ten of the length of a list or an object.
func (f *Fingerprinter) list(name string, n int32) {
	t := &f.tree
	if n == none {
		return
	}
	f.write(name)
	if t.is(n, ArrayStart) || t.is(n, ObjectStart) {
		f.out = appendTimes(f.out, int(t.at(n).size))
	}
}
