package sanitize

import (
	"fmt"
	"slices"
	"strings"
)

// DefaultRules say what becomes of values that no rule is for. What is left
// empty is as the preset, or as Numbers, Dates and FieldNames have it.
type DefaultRules struct {
	String           StringDefault  `yaml:"string"`
	Integer          IntegerDefault `yaml:"integer"`
	Float            FloatDefault   `yaml:"float"`
	Boolean          BooleanDefault `yaml:"boolean"`
	UnknownFieldName string         `yaml:"unknown_field_name"` // as field_names
}

// StringDefault is what becomes of strings.
type StringDefault struct {
	Action string `yaml:"action"` // tokens, mask, shape, drop-record
	Domain string `yaml:"domain"` // text, ids or one of Config.Domains
}

// IntegerDefault is what becomes of integers.
type IntegerDefault struct {
	Action    string `yaml:"action"`     // keep, guard, fpe, mask, drop-record
	MinDigits int    `yaml:"min_digits"` // fpe keeps integers with fewer; 6 where it is 0
}

// FloatDefault is what becomes of fractions.
type FloatDefault struct {
	Action string `yaml:"action"` // keep, bucket, mask, drop-record
	Digits int    `yaml:"digits"` // significant ones that bucket leaves; 3 where it is 0
}

// BooleanDefault is what becomes of booleans.
type BooleanDefault struct {
	Action string `yaml:"action"` // keep, mask, drop-record
}

func (d *DefaultRules) mistakes(c *Config) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, t := range []struct {
		path, action string
		allowed      []string
	}{
		{"string", d.String.Action, []string{"", "tokens", "mask", "shape", "drop-record"}},
		{"integer", d.Integer.Action, []string{"", "keep", "guard", "fpe", "mask", "drop-record"}},
		{"float", d.Float.Action, []string{"", "keep", "bucket", "mask", "drop-record"}},
		{"boolean", d.Boolean.Action, []string{"", "keep", "mask", "drop-record"}},
	} {
		if !slices.Contains(t.allowed, t.action) {
			bad("defaults.%s.action: %q is not one of %s", t.path, t.action, strings.Join(t.allowed[1:], ", "))
		}
	}
	if !c.knowsDomain(d.String.Domain) {
		bad("defaults.string.domain: %q is not one of text, ids and the names under domains", d.String.Domain)
	}
	if n := d.Integer.MinDigits; n < 0 || n > maxFF1Digits {
		bad("defaults.integer.min_digits: %d is not between 1 and %d", n, maxFF1Digits)
	}
	if n := d.Float.Digits; n < 0 || n > 17 {
		bad("defaults.float.digits: %d is not between 1 and 17", n)
	}
	return errs
}

// numberMode is what becomes of integers, or of fractions.
type numberMode uint8

const (
	numbersKeep numberMode = iota
	numbersGuard
	numbersFPE
	numbersBucket
	numbersMask
	numbersDrop
)

// numberModes reads Numbers and Defaults.
func (c *Config) numberModes() (ints, floats numberMode, minDigits, digits int) {
	modes := map[string]numberMode{
		"keep": numbersKeep, "guard": numbersGuard, "fpe": numbersFPE, "bucket": numbersBucket, "mask": numbersMask, "drop-record": numbersDrop,
	}
	ints, minDigits, digits = modes[c.Numbers], tableDigits+1, significant
	if ints == numbersFPE {
		floats = numbersBucket
	}
	if a := c.Defaults.Integer.Action; a != "" {
		ints = modes[a]
	}
	if a := c.Defaults.Float.Action; a != "" {
		floats = modes[a]
	}
	if n := c.Defaults.Integer.MinDigits; n != 0 {
		minDigits = n
	}
	if n := c.Defaults.Float.Digits; n != 0 {
		digits = n
	}
	return ints, floats, minDigits, digits
}
