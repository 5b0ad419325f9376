package sanitize

import (
	"reflect"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// fieldRule is a FieldRule made ready: patterns cut at the dots.
type fieldRule struct {
	match  [][]string
	action action
	values map[string]bool // keep these only; nil: all
	domain string
	style  *style // of its domain; nil: the domain's own
}

// compileRules puts locked rules before the others, so that none overrides them.
func compileRules(rules []FieldRule, own style) []fieldRule {
	out := make([]fieldRule, 0, len(rules))
	for _, locked := range []bool{true, false} {
		for _, f := range rules {
			if f.Locked == locked {
				out = append(out, f.compile(own))
			}
		}
	}
	return out
}

func (f *FieldRule) compile(own style) fieldRule {
	c := fieldRule{domain: f.Domain}
	c.action, _ = parseAction(f.Action)
	for _, m := range f.Match {
		c.match = append(c.match, strings.Split(m, "."))
	}
	if len(f.Values) > 0 {
		c.values = make(map[string]bool)
		for _, v := range f.Values {
			c.values[v] = true
		}
	}
	if c.domain == "" {
		c.domain = domainText
	}
	if s := f.style(c.action, own); s != nil {
		c.style = s
	}
	return c
}

// style is that of the rule's pseudonyms, nil where it is the domain's own.
func (f *FieldRule) style(a action, own style) *style {
	s := own
	s.form = a.form()
	s.days = f.Unit == "day"
	s.step, _ = parseAmount([]byte(f.Step))
	s.digits = f.Digits
	switch a {
	case actTokens:
		s.fold = slices.Contains(f.Normalize, "fold")
		s.stem = slices.Contains(f.Normalize, "stem:english")
		s.splitCase = slices.Contains(f.Split, "case")
		s.runwise = s.fold || s.stem || s.splitCase
		if !s.runwise {
			return nil
		}
	case actEmail:
		s.keep = withWords(own.keep, topDomains())
	case actURL:
		s.keep = withWords(own.keep, urlSchemes())
	case actFPE:
		s.magnitude, s.shapeless = true, true
	case actDateShift:
		s.shiftDates = true
	case actIPPrefix:
		s.keepPrivate = f.KeepPrivate
	case actPseudonym, actPrefix, actCharsub:
		s.keep, s.keepPlaces = nil, false
	case actShift, actBucket, actGeoGrid, actLonShift:
	default:
		return nil
	}
	return &s
}

func withWords(m map[string]bool, words []string) map[string]bool {
	out := make(map[string]bool, len(m)+len(words))
	for w := range m {
		out[w] = true
	}
	for _, w := range words {
		out[w] = true
	}
	return out
}

// plan is what a worker does with the values of a field.
type plan struct {
	action action
	values map[string]bool
	d      *domain // makes the pseudonyms

	facts  *es.FieldFacts // what the schema says of the field in the indices at hand; nil: nothing
	typed  *es.FieldFacts // and in all indices
	native bool           // no rule is for it: its type says what it is
	copied copied         // what copy_to brings
	usual  bool           // its strings are treated as those of most fields
}

// planFor is the plan of the first rule that matches a dotted path, or that of
// the default. A rule for a field holds for its sub-fields: name matches
// name.keyword in a query, because both are filled from one value.
func (w *Worker) planFor(path []byte) *plan {
	if !w.p.byField || len(path) == 0 {
		return &w.other
	}
	h := w.post.kept.hash(path)
	e := &w.recent[h>>16&(nameSlots-1)]
	if string(e.path) == string(path) {
		return e.plan
	}
	if w.p.schema != nil {
		pl, ok := w.view.plans[string(path)]
		if !ok {
			pl = w.knownPlan(string(path))
		}
		e.path, e.plan = append(e.path[:0], path...), pl
		return pl
	}
	i, ok := w.planOf[string(path)]
	if !ok {
		if len(w.planOf) >= maxPaths {
			clear(w.planOf)
		}
		i = w.p.ruleFor(string(path))
		w.planOf[string(path)] = i
	}
	e.path, e.plan = append(e.path[:0], path...), &w.other
	if i >= 0 {
		e.plan = &w.plans[i]
	}
	return e.plan
}

// recentPlan is an entry of the cache in front of planOf.
type recentPlan struct {
	path []byte
	plan *plan
}

// maxPaths bounds how many paths a worker remembers.
const maxPaths = 1 << 14

// ruleFor is the number of the first rule that matches, -1 for none.
func (p *Pipeline) ruleFor(path string) int {
	parts := strings.Split(path, ".")
	for i, rule := range p.rules {
		for _, m := range rule.match {
			if matchPath(m, parts) || len(parts) > 1 && matchPath(m, parts[:len(parts)-1]) {
				return i
			}
		}
	}
	return -1
}

// rulePlan is the plan of a rule by its number, -1 for the default's.
func (w *Worker) rulePlan(i int) *plan {
	if i < 0 {
		return &w.other
	}
	return &w.plans[i]
}

// actionFor is the action for a field's values.
func (w *Worker) actionFor(path []byte) action { return w.planFor(path).action }

// newPlans makes the plans of a worker. Rules without a style of their own share
// the worker's domains, rules of one style each other's.
func (w *Worker) newPlans() {
	const small = 12
	w.plans = make([]plan, len(w.p.rules))
	for i := range w.p.rules {
		rule := &w.p.rules[i]
		d := w.text
		like := slices.IndexFunc(w.p.rules[:i], func(r fieldRule) bool {
			return r.domain == rule.domain && (r.style == nil) == (rule.style == nil) && reflect.DeepEqual(r.style, rule.style)
		})
		switch {
		case like >= 0:
			d = w.plans[like].d
		case rule.style != nil:
			d = newDomain(w.p.domains[rule.domain], rule.style, &w.post, small)
		case rule.domain == domainIDs:
			d = w.ids
		case rule.domain != domainText:
			d = newDomain(w.p.domains[rule.domain], &w.p.style, &w.post, small)
		}
		w.plans[i] = plan{action: rule.action, values: rule.values, d: d}
	}
	w.other = plan{action: w.p.other, d: w.text}
}

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
