package es

// verbs is a set of methods.
type verbs uint8

const (
	onGet verbs = 1 << iota // and HEAD
	onPost
	onPut
	onDelete
	onPatch
)

func verbOf(method string) verbs {
	switch method {
	case "GET", "HEAD":
		return onGet
	case "POST":
		return onPost
	case "PUT":
		return onPut
	case "DELETE":
		return onDelete
	case "PATCH":
		return onPatch
	}
	return 0
}

// rule is one line of the route tables: the segments after the API word, the
// methods that are known there, and what they mean. In rest, "@" stands for a
// segment that names indices, "#" for one that is an id, "*" for any other
// single segment, and a final "**" for one or more of them.
type rule struct {
	rest  string
	verbs verbs
	op    Op
	class Class
}

// family is what may follow one API word. The first rule that fits decides. An
// administrative family knows every path below its word, by method, where no
// rule fits.
type family struct {
	rules []rule
	admin bool
}

// apply finds the rule for rest and writes its meaning into r; r stays as it is
// where there is none.
func (f family) apply(r *Route, v verbs, rest string) {
	for i := range f.rules {
		if u := &f.rules[i]; u.verbs&v != 0 && u.match(r, rest) {
			r.Op, r.Class = u.op, u.class
			return
		}
	}
	if f.admin {
		r.Op, r.Class = OpAdmin, adminClass(v)
	}
}

// adminClass is the class of an administrative call by its method.
func adminClass(v verbs) Class {
	switch {
	case v&onGet != 0:
		return ClassAdminRead
	case v&onDelete != 0:
		return ClassDestructive
	}
	return ClassAdminWrite
}

// match tells whether rest has the form of the rule, and only then notes the
// index and the id that it found in it.
func (u *rule) match(r *Route, rest string) bool {
	pattern, index, id := u.rest, r.Index, r.ID
	for pattern != "" {
		if rest == "" {
			return false
		}
		var want, have string
		want, pattern = cutSegment(pattern)
		if want == "**" {
			break
		}
		have, rest = cutSegment(rest)
		switch want {
		case "@":
			index = have
		case "#":
			id = have
		case "*":
		default:
			if have != want {
				return false
			}
		}
		if have == "" {
			return false
		}
		if pattern == "" && rest != "" {
			return false
		}
	}
	if u.rest == "" && rest != "" {
		return false
	}
	r.Index, r.ID = index, id
	return true
}
