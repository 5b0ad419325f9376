package sanitize

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// FieldRule gives an action to fields.
type FieldRule struct {
	// Match holds dotted paths; * stands for one level, ** for any number.
	Match Globs `yaml:"match"`
	// Action is one of Actions.
	Action string `yaml:"action"`
	// Domain is text (where it is empty), ids or one of Config.Domains.
	Domain string `yaml:"domain"`
	// Why says why keeping is right; keep needs it in preset strict.
	Why string `yaml:"why"`
	// Values are what keep keeps; any other value goes the way of the default.
	// Empty: all.
	Values Globs `yaml:"values"`
	// Normalize makes words of tokens equal that an analyser makes equal: fold
	// (marks taken off letters), stem:english (Porter).
	Normalize Globs `yaml:"normalize"`
	// Split makes parts of a run of letters words of their own: case (before an
	// upper-case letter).
	Split Globs `yaml:"split"`
	// Unit is week (where it is empty) or day: what date-shift moves by whole
	// numbers of.
	Unit string `yaml:"unit"`
	// Digits is how many significant digits bucket leaves, 3 where it is 0.
	Digits int `yaml:"digits"`
	// Step is a decimal number. bucket and geo-grid round down to multiples of it,
	// shift moves by one.
	Step string `yaml:"step"`
	// AcceptWeak says that it is known that charsub and lon-shift are undone by
	// who reads enough.
	AcceptWeak bool `yaml:"accept_weak"`
	// Locked puts the rule before those that are not.
	Locked bool `yaml:"locked"`
	// KeepPrivate leaves private, loopback and link-local addresses as they are.
	KeepPrivate bool `yaml:"keep_private"`
}

// Domain has no settings yet.
type Domain struct{}

// Globs is one pattern or a list of them.
type Globs []string

// UnmarshalYAML takes a string as a list of one.
func (g *Globs) UnmarshalYAML(decode func(any) error) error {
	var one string
	if decode(&one) == nil {
		*g = Globs{one}
		return nil
	}
	var list []string
	if err := decode(&list); err != nil {
		return err
	}
	*g = list
	return nil
}

// ruleMistakes are those of Fields and Domains.
func (c *Config) ruleMistakes() (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(c.Domains)) {
		if !domainName().MatchString(name) || slices.Contains([]string{domainText, domainIDs, domainIndices, domainHandles}, name) {
			errs = append(errs, fmt.Errorf("domains.%s: a name of up to 32 of a-z, 0-9 and _ is needed, other than text, ids, indices, handles", name))
		}
	}
	for i := range c.Fields {
		for _, err := range c.Fields[i].mistakes(c) {
			errs = append(errs, fmt.Errorf("fields[%d]: %w", i, err))
		}
	}
	return errs
}

func domainName() *regexp.Regexp { return regexp.MustCompile("^[a-z][a-z0-9_]{0,31}$") }

// knowsDomain tells a domain that rules may name.
func (c *Config) knowsDomain(name string) bool {
	_, ok := c.Domains[name]
	return ok || name == "" || name == domainText || name == domainIDs
}

func (f *FieldRule) mistakes(c *Config) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if len(f.Match) == 0 {
		bad("match: names no field")
	}
	for _, m := range f.Match {
		if m == "" || strings.HasPrefix(m, ".") || strings.HasSuffix(m, ".") || strings.Contains(m, "..") {
			bad("match: %q is not a dotted path", m)
		}
	}
	a, ok := parseAction(f.Action)
	if !ok {
		bad("action: %q is not one of %s", f.Action, strings.Join(Actions(), ", "))
		return errs
	}
	if a == actKeep && f.Why == "" && c.Preset == PresetStrict {
		bad("why: keep needs a reason in preset strict")
	}
	if a.weak() && !f.AcceptWeak {
		bad("accept_weak: %s is weak, whoever reads enough of the capture undoes it: say accept_weak: true", f.Action)
	}
	if !c.knowsDomain(f.Domain) {
		bad("domain: %q is not one of text, ids and the names under domains", f.Domain)
	}
	if f.Domain != "" && !a.replaces() {
		bad("domain: action %s makes no pseudonyms", f.Action)
	}
	return append(errs, f.optionMistakes(a)...)
}

// optionMistakes are those of the settings that belong to single actions.
func (f *FieldRule) optionMistakes(a action) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	only := func(key string, said bool, actions ...action) {
		if said && !slices.Contains(actions, a) {
			bad("%s: is not for action %s", key, f.Action)
		}
	}
	only("values", len(f.Values) > 0, actKeep)
	only("normalize", len(f.Normalize) > 0, actTokens)
	only("split", len(f.Split) > 0, actTokens)
	only("unit", f.Unit != "", actDateShift)
	only("digits", f.Digits != 0, actBucket)
	only("step", f.Step != "", actBucket, actShift, actGeoGrid)
	only("accept_weak", f.AcceptWeak, actCharsub, actLonShift)
	only("keep_private", f.KeepPrivate, actIPPrefix)
	for _, n := range f.Normalize {
		if n != "fold" && n != "stem:english" {
			bad("normalize: %q is not one of fold, stem:english", n)
		}
	}
	for _, n := range f.Split {
		if n != "case" {
			bad("split: %q is not case", n)
		}
	}
	if f.Unit != "" && f.Unit != "week" && f.Unit != "day" {
		bad("unit: %q is not one of week, day", f.Unit)
	}
	if f.Digits < 0 || f.Digits > 17 {
		bad("digits: %d is not between 1 and 17", f.Digits)
	}
	step, ok := parseAmount([]byte(f.Step))
	switch {
	case f.Step != "" && (!ok || step.v.Sign() <= 0):
		bad("step: %q is not a number above 0", f.Step)
	case f.Step != "" && f.Digits != 0:
		errs = append(errs, errors.New("step: stands beside digits, one of them is enough"))
	case a == actGeoGrid && f.Step == "":
		errs = append(errs, errors.New("step: geo-grid needs one, in degrees"))
	}
	return errs
}
