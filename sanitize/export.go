package sanitize

import (
	"fmt"
	"slices"
	"strings"
)

// Applied is a rule at its place in the order in which rules are asked.
type Applied struct {
	FieldRule
	Index int // in Config.Fields, -1 for a rule of the preset
}

// Name says where the rule stands: fields[2], or preset.
func (a Applied) Name() string {
	if a.Index < 0 {
		return "preset"
	}
	return fmt.Sprintf("fields[%d]", a.Index)
}

// Rules are the rules in the order in which they are asked: locked ones first,
// those of the preset behind those of the configuration.
func (c Config) Rules() []Applied {
	own := len(c.Fields)
	var all []Applied
	for i, f := range c.withPreset().Fields {
		a := Applied{f, i}
		if i >= own {
			a.Index = -1
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b Applied) int {
		switch {
		case a.Locked == b.Locked:
			return 0
		case a.Locked:
			return -1
		}
		return 1
	})
	return all
}

// RuleFor is the rule that decides about a field, by its dotted path; ok is false
// where none does and the default holds.
func (c Config) RuleFor(field string) (rule Applied, ok bool) {
	parts := strings.Split(field, ".")
	for _, a := range c.Rules() {
		for _, m := range a.Match {
			p := strings.Split(m, ".")
			if matchPath(p, parts) || len(parts) > 1 && matchPath(p, parts[:len(parts)-1]) {
				return a, true
			}
		}
	}
	return Applied{}, false
}

// Shadow is a rule that is never asked, because those before it match all that
// it matches.
type Shadow struct {
	Rule, By Applied
}

// Shadowed finds the rules of the configuration that no field reaches. What only
// several rules together cover may go unnoticed.
func (c Config) Shadowed() (all []Shadow) {
	rules := c.Rules()
	for i, r := range rules {
		if r.Index < 0 {
			continue
		}
		by := -1
		covered := 0
		for _, m := range r.Match {
			j := slices.IndexFunc(rules[:i], func(a Applied) bool { return a.covers(m) })
			if j < 0 {
				break
			}
			by = max(by, j)
			covered++
		}
		if covered == len(r.Match) && by >= 0 {
			all = append(all, Shadow{r, rules[by]})
		}
	}
	return all
}

// covers tells that one of the rule's patterns matches all that m matches.
func (a Applied) covers(m string) bool {
	parts := strings.Split(m, ".")
	return slices.ContainsFunc(a.Match, func(p string) bool { return coversPath(strings.Split(p, "."), parts) })
}

// coversPath is matchPath where path is a pattern as well: * of it is matched by
// * alone, ** by ** alone.
func coversPath(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		for i := range len(path) + 1 {
			if coversPath(pattern[1:], path[i:]) {
				return true
			}
		}
		return false
	case len(path) == 0 || path[0] == "**" || !glob(pattern[0], path[0]):
		return false
	}
	return coversPath(pattern[1:], path[1:])
}

// Effective is the configuration with every setting filled in as the preset has
// it, the preset's rules behind the others.
func (c Config) Effective() Config { return c.withPreset() }

// Weak tells an action that anybody undoes who reads enough of a capture.
func Weak(action string) bool {
	a, ok := parseAction(action)
	return ok && a.weak()
}

// NumberActions say what becomes of integers and of fractions that no rule is
// for: keep, guard, fpe, bucket, mask or drop-record, as in Defaults.
func (c Config) NumberActions() (integer, fraction string) {
	e := c.withPreset()
	names := map[numberMode]string{
		numbersKeep: "keep", numbersGuard: "guard", numbersFPE: "fpe", numbersBucket: "bucket", numbersMask: "mask", numbersDrop: "drop-record",
	}
	ints, floats, _, _ := e.numberModes()
	return names[ints], names[floats]
}
