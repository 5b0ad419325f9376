package es

import (
	"bytes"
	"strconv"
)

// order writes how hits are sorted; that order is kept.
func (f *Fingerprinter) order(root int32, p params) {
	t := &f.tree
	n := t.get(root, "sort")
	if n == none && p.sort == "" {
		return
	}
	start := len(f.out)
	f.write("sort(")
	if p.sort != "" {
		for rest, more := []byte(p.sort), true; more; {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(","))
			f.sortName(item)
			f.write(",")
		}
	} else {
		f.sorts(n)
	}
	if f.out[len(f.out)-1] != ',' {
		f.out = f.out[:start]
		return
	}
	f.kind("sort")
	f.out = append(f.out[:len(f.out)-1], ") "...)
}

// sorts writes the items of a sort, each with a comma behind it.
func (f *Fingerprinter) sorts(n int32) {
	t := &f.tree
	switch {
	case t.str(n) != nil:
		f.sortName(t.str(n))
		f.write(",")
	case t.is(n, ArrayStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			if !t.is(c, ArrayStart) {
				f.sorts(c)
			}
		}
	case t.is(n, ObjectStart):
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.sortBy(c)
			f.write(",")
		}
	}
}

// sortName writes "field" or "field:order".
func (f *Fingerprinter) sortName(item []byte) {
	name, order, _ := bytes.Cut(item, []byte(":"))
	f.field(name)
	f.direction(name, order)
}

func (f *Fingerprinter) direction(name, order []byte) {
	switch {
	case bytes.EqualFold(order, []byte("desc")):
		f.write(":desc")
	case bytes.EqualFold(order, []byte("asc")):
		f.write(":asc")
	case string(name) == "_score":
		f.write(":desc")
	default:
		f.write(":asc")
	}
}

func (f *Fingerprinter) sortBy(c int32) {
	t := &f.tree
	name, order := t.key(c), t.str(c)
	if order == nil {
		order = t.str(t.get(c, "order"))
	}
	switch string(name) {
	case "_script":
		f.write("_script ")
		f.script(t.get(c, "script"))
	case "_geo_distance":
		f.write("_geo_distance(")
		if g := f.fieldOf(c); g != none {
			f.field(t.key(g))
		}
		f.write(")")
	default:
		f.field(name)
	}
	f.direction(name, order)
	if nested := t.get(c, "nested"); nested != none {
		f.write(" nested")
	}
}

// paging writes how many hits are asked for, from where, and how far they are
// counted.
func (f *Fingerprinter) paging(root int32, p params) {
	t := &f.tree
	for _, at := range [...]struct{ key, param string }{{"size", p.size}, {"from", p.from}} {
		if v, ok := wholeNumber([]byte(at.param)); ok {
			f.amount(at.key, v)
			f.write(" ")
		} else if n := t.get(root, at.key); t.is(n, Number) {
			f.amountOf(at.key, n)
			f.write(" ")
		}
	}
	switch track := t.get(root, "track_total_hits"); {
	case p.track == "true" || p.track == "" && t.is(track, True):
		f.write("total=all ")
	case p.track == "false" || p.track == "" && t.is(track, False):
		f.write("total=no ")
	case p.track != "":
		if v, err := strconv.ParseInt(p.track, 10, 64); err == nil {
			f.amount("total", v)
			f.write(" ")
		}
	case t.is(track, Number):
		f.amountOf("total", track)
		f.write(" ")
	}
	if p.scroll {
		f.write("scroll ")
	}
	if p.routing {
		f.write("routing ")
	}
	if p.searchType == "dfs_query_then_fetch" {
		f.write("dfs ")
	}
}
