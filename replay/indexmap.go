package replay

import (
	"fmt"
	"strings"
)

// IndexRule renames indices: From is a name in which each * stands for any
// text, To the new name, whose first * takes what the first * of From stood
// for, and so on.
type IndexRule struct {
	From string `yaml:"from"`
	To   string `yaml:"to"`
}

// ParseIndexRule reads FROM=TO.
func ParseIndexRule(s string) (IndexRule, error) {
	from, to, ok := strings.Cut(s, "=")
	r := IndexRule{From: from, To: to}
	if !ok {
		return r, fmt.Errorf("index_map: %q: want FROM=TO, such as logs-*=replay-logs-*", s)
	}
	return r, r.check()
}

func (r IndexRule) check() error {
	switch {
	case r.From == "" || r.To == "":
		return fmt.Errorf("index_map: %q: want FROM=TO, such as logs-*=replay-logs-*", r.From+"="+r.To)
	case strings.Count(r.To, "*") > strings.Count(r.From, "*"):
		return fmt.Errorf("index_map: %q: TO has more * than FROM", r.From+"="+r.To)
	case strings.ContainsAny(r.From+r.To, ", /\\\"<>|?#\r\n\t"):
		return fmt.Errorf("index_map: %q: has a character that no index name has", r.From+"="+r.To)
	}
	return nil
}

// apply renames name if the rule is for it.
func (r IndexRule) apply(name string) (string, bool) {
	stars, ok := match(r.From, name, nil)
	if !ok {
		return "", false
	}
	parts := strings.Split(r.To, "*")
	to := parts[0]
	for i, p := range parts[1:] {
		to += stars[i] + p
	}
	return to, true
}

// match matches name against a pattern with *, each of which takes as little as
// it can, and returns what each took.
func match(pattern, name string, stars []string) ([]string, bool) {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return stars, pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return nil, false
	}
	name = name[len(head):]
	for i := 0; i <= len(name); i++ {
		if got, ok := match(rest, name[i:], append(stars, name[:i])); ok {
			return got, true
		}
	}
	return nil, false
}

// indexMap is the rules in order: the first that fits a name renames it.
type indexMap []IndexRule

// name maps one index name. ok tells that a rule was for it.
func (m indexMap) name(name string) (to string, ok bool) {
	for _, r := range m {
		if to, ok := r.apply(name); ok {
			return to, true
		}
	}
	return name, false
}

// expression maps each part of an index expression (a, b-*, -c, cluster:d). all
// tells that a rule was for every part; an expression of another cluster is
// never mapped.
func (m indexMap) expression(expr string) (to string, all bool) {
	parts := splitExpression(expr)
	all = expr != ""
	for i, p := range parts {
		sign := ""
		if i > 0 && strings.HasPrefix(p, "-") {
			sign, p = "-", p[1:]
		}
		if strings.Contains(p, ":") {
			all = false
			continue
		}
		to, ok := m.name(p)
		all = all && ok
		parts[i] = sign + to
	}
	return strings.Join(parts, ","), all
}

// splitExpression splits at commas, but not inside a date math name <…>.
func splitExpression(expr string) []string {
	var parts []string
	start, depth := 0, 0
	for i := range len(expr) {
		switch expr[i] {
		case '<':
			depth++
		case '>':
			depth--
		case ',':
			if depth <= 0 {
				parts = append(parts, expr[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, expr[start:])
}
