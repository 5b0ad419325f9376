package sanitize

import "strings"

// action is what becomes of a field's values.
type action uint8

const (
	actTokens action = iota
	actKeep
	actMask
	actDrop
)

func parseAction(name string) (action, bool) {
	switch name {
	case "tokens":
		return actTokens, true
	case "keep":
		return actKeep, true
	case "mask":
		return actMask, true
	case "drop":
		return actDrop, true
	}
	return 0, false
}

// fieldRule is a FieldRule made ready: patterns cut at the dots.
type fieldRule struct {
	match  [][]string
	action action
}

func compileRules(rules []FieldRule) []fieldRule {
	out := make([]fieldRule, 0, len(rules))
	for _, f := range rules {
		c := fieldRule{}
		c.action, _ = parseAction(f.Action)
		for _, m := range f.Match {
			c.match = append(c.match, strings.Split(m, "."))
		}
		out = append(out, c)
	}
	return out
}

// actionFor is the action of the first rule that matches a dotted path. A rule
// for a field holds for its sub-fields: name matches name.keyword in a query,
// because both are filled from one value.
func (w *Worker) actionFor(path []byte) action {
	if len(w.p.rules) == 0 || len(path) == 0 {
		return actTokens
	}
	if a, ok := w.actions[string(path)]; ok {
		return a
	}
	if len(w.actions) >= maxActions {
		clear(w.actions)
	}
	parts := strings.Split(string(path), ".")
	a := actTokens
search:
	for _, rule := range w.p.rules {
		for _, m := range rule.match {
			if matchPath(m, parts) || len(parts) > 1 && matchPath(m, parts[:len(parts)-1]) {
				a = rule.action
				break search
			}
		}
	}
	w.actions[string(path)] = a
	return a
}

// maxActions bounds how many paths a worker remembers.
const maxActions = 1 << 14

func matchPath(pattern, path []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(path) + 1 {
				if matchPath(pattern[1:], path[i:]) {
					return true
				}
			}
			return false
		}
		if len(path) == 0 || !glob(pattern[0], path[0]) {
			return false
		}
		pattern, path = pattern[1:], path[1:]
	}
	return len(path) == 0
}

// glob matches s against a pattern in which * stands for any text.
func glob(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], more
	}
}
