package sandbox

import (
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// selection chooses parts of a JSON value by dotted paths with wildcards, as
// _source filtering and filter_path do.
type selection struct {
	none     bool // nothing at all
	includes []string
	excludes []string
}

func (s *selection) all() bool {
	return s == nil || !s.none && len(s.includes) == 0 && len(s.excludes) == 0
}

// apply returns the chosen part, nil where nothing is left.
func (s *selection) apply(n *node) *node {
	if s.all() {
		return n
	}
	return s.walk(n, nil)
}

func (s *selection) walk(n *node, at []string) *node {
	switch n.kind {
	case es.ObjectStart:
		out := &node{kind: n.kind}
		for i, k := range n.keys {
			below := append(at[:len(at):len(at)], k)
			if matchesAny(s.excludes, below) {
				continue
			}
			kid := n.kids[i]
			whole := len(s.includes) == 0 || matchesAny(s.includes, below)
			switch {
			case whole && !reachesBelow(s.excludes, below):
			case whole:
				sub := selection{excludes: s.excludes}
				kid = sub.walk(kid, below)
			default:
				kid = s.walk(kid, below)
				if kid != nil && len(kid.kids) == 0 {
					kid = nil
				}
			}
			if kid != nil {
				out.keys, out.kids = append(out.keys, k), append(out.kids, kid)
			}
		}
		return out
	case es.ArrayStart:
		out := &node{kind: n.kind}
		for _, kid := range n.kids {
			kid = s.walk(kid, at)
			if kid != nil && (len(kid.kids) > 0 || kid.raw != nil) {
				out.kids = append(out.kids, kid)
			}
		}
		return out
	}
	if len(s.includes) > 0 {
		return nil
	}
	return n
}

// reachesBelow says whether a pattern may match something below a path.
func reachesBelow(patterns []string, at []string) bool {
	for _, p := range patterns {
		parts := strings.Split(p, ".")
		if len(parts) > len(at) && matchParts(parts[:len(at)], at) || strings.Contains(p, "*") {
			return true
		}
	}
	return false
}

func matchesAny(patterns []string, at []string) bool {
	for _, p := range patterns {
		if matchParts(strings.Split(p, "."), at) {
			return true
		}
	}
	return false
}

// matchParts matches a path segment by segment; a segment "**" stands for any
// number of them.
func matchParts(pattern, at []string) bool {
	if len(pattern) == 0 {
		return len(at) == 0
	}
	if pattern[0] == "**" {
		for i := 0; i <= len(at); i++ {
			if matchParts(pattern[1:], at[i:]) {
				return true
			}
		}
		return false
	}
	if len(at) == 0 {
		return false
	}
	return glob(pattern[0], at[0]) && matchParts(pattern[1:], at[1:])
}

// sourceSelection reads the _source value of a body.
func sourceSelection(n *node) (*selection, error) {
	switch {
	case n == nil:
		return nil, nil
	case n.kind == es.True:
		return nil, nil
	case n.kind == es.False:
		return &selection{none: true}, nil
	case n.isObject():
		if err := n.only("_source", "includes", "include", "excludes", "exclude"); err != nil {
			return nil, err
		}
		s := &selection{}
		s.includes = append(n.get("includes").strs(), n.get("include").strs()...)
		s.excludes = append(n.get("excludes").strs(), n.get("exclude").strs()...)
		return s, nil
	case n.isArray() || n.kind == es.String:
		return &selection{includes: n.strs()}, nil
	}
	return nil, parsing("unknown value for [_source]")
}

// sourceParams reads _source, _source_includes and _source_excludes of a URL.
func sourceParams(p params, s *selection) *selection {
	if v, ok := p["_source"]; ok {
		switch v {
		case "true", "":
			s = nil
		case "false":
			s = &selection{none: true}
		default:
			s = &selection{includes: strings.Split(v, ",")}
		}
	}
	inc, exc := p["_source_includes"], p["_source_excludes"]
	if inc == "" && exc == "" {
		return s
	}
	s = &selection{}
	if inc != "" {
		s.includes = strings.Split(inc, ",")
	}
	if exc != "" {
		s.excludes = strings.Split(exc, ",")
	}
	return s
}

// glob matches text against a pattern in which * stands for any text and ? for
// one character; a backslash takes the next character as it is.
func glob(pattern, text string) bool {
	p, t := []rune(pattern), []rune(text)
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(t) {
		step := 1
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
			continue
		case i < len(p) && p[i] == '?':
			i, j = i+1, j+1
			continue
		case i+1 < len(p) && p[i] == '\\':
			step = 2
		}
		if i < len(p) && p[i+step-1] == t[j] {
			i, j = i+step, j+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
