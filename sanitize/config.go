package sanitize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/size"
)

// Config says what becomes of what a request holds. The zero value of a setting
// means: as the preset has it.
type Config struct {
	// Version of this form of the rules: 1.
	Version int `yaml:"version"`
	// Preset is strict, fidelity or off.
	Preset string `yaml:"preset"`
	// Scope is project (pseudonyms agree in all captures made with the key) or
	// capture (they agree within one). Empty: project with a key file, capture
	// with an ephemeral key.
	Scope string `yaml:"scope"`

	// Fields: the first rule that matches a field's dotted path decides.
	Fields []FieldRule `yaml:"fields"`
	// FieldNames is schema (names that look like names of a schema stay, others
	// are tokenised), pseudonym (all but names that begin with _ or @ are
	// tokenised) or keep.
	FieldNames string `yaml:"field_names"`
	// Numbers is keep, guard (kept, but for those that look like a telephone,
	// resident or card number, which are permuted) or fpe (integers of 6 and more
	// digits are permuted, fractions rounded to 3 significant digits).
	Numbers string `yaml:"numbers"`
	// Dates is keep or shift (by a secret number of whole weeks).
	Dates string `yaml:"dates"`
	// Geo is keep, coarse (3 significant digits) or drop (the record).
	Geo string `yaml:"geo"`
	// Vectors is keep or drop (the record).
	Vectors string `yaml:"vectors"`
	// Scripts is drop (any inline script drops the record), code (scripts without
	// string literals but field names, and without long numbers, stay) or
	// literals (literals are replaced as values are).
	Scripts string `yaml:"scripts"`

	Indices   IndexRules  `yaml:"indices"`
	IDs       IDRules     `yaml:"ids"`
	Headers   HeaderRules `yaml:"headers"`
	Params    ParamRules  `yaml:"params"`
	KeepWords []string    `yaml:"keep_words"`
	Postcheck *bool       `yaml:"postcheck"`

	// MaxDepth bounds how deep a body nests.
	MaxDepth int `yaml:"max_depth"`
	// MaxBody bounds a body after decoding.
	MaxBody size.Size `yaml:"max_body"`
	// WordCache is how many tokens each worker remembers, a power of two.
	WordCache int `yaml:"word_cache"`

	// Recipients are the age X25519 recipients (age1…) that preset sealed encrypts
	// to; only their identities open the capture.
	Recipients Globs `yaml:"recipients"`

	// AcceptPlaintext is what preset off needs: the person who starts the
	// process has said that plain text on disk is accepted. Not a key of the file.
	AcceptPlaintext bool `yaml:"-"`
}

// FieldRule gives an action to fields.
type FieldRule struct {
	// Match holds dotted paths; * stands for one level, ** for any number.
	Match Globs `yaml:"match"`
	// Action is keep, drop, mask or tokens.
	Action string `yaml:"action"`
	// Why says why keeping is right; keep needs it in preset strict.
	Why string `yaml:"why"`
}

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

// IndexRules says what becomes of index names.
type IndexRules struct {
	// Keep holds names and globs (*) that stay as they are.
	Keep Globs `yaml:"keep"`
	// Other is tokens or keep: what becomes of the other names.
	Other string `yaml:"other"`
	// KeepDateSuffix keeps dates and rollover numbers in names.
	KeepDateSuffix *bool `yaml:"keep_date_suffix"`
}

// IDRules says what becomes of _id, routing and the like.
type IDRules struct {
	// Action is tokens or keep.
	Action string `yaml:"action"`
	// Domain is ids, or text where ids must agree with the same values in documents.
	Domain string `yaml:"domain"`
}

// HeaderRules names request headers that stay besides the built-in ones.
type HeaderRules struct {
	Keep []string `yaml:"keep"`
}

// ParamRules names URL parameters whose values stay although they are not known.
type ParamRules struct {
	Keep []string `yaml:"keep"`
}

// Presets.
const (
	PresetStrict   = "strict"
	PresetFidelity = "fidelity"
	PresetSealed   = "sealed" // nothing replaced, blocks encrypted to the recipients
	PresetOff      = "off"
)

// Presets lists the presets, the default first.
func Presets() []string { return []string{PresetStrict, PresetFidelity, PresetSealed, PresetOff} }

// whole tells that requests are stored as they are but for credentials: in plain
// text, or sealed.
func (c *Config) whole() bool { return c.Preset == PresetOff || c.Preset == PresetSealed }

// Default is the configuration without any setting: preset strict.
func Default() Config {
	return Config{Version: 1, Preset: PresetStrict, MaxDepth: 1000, MaxBody: 64 << 20, WordCache: 1 << 16}
}

// withPreset is c with every setting that was left open filled in.
func (c Config) withPreset() Config {
	type choice struct {
		setting          *string
		strict, fidelity string
	}
	for _, s := range []choice{
		{&c.FieldNames, "schema", "schema"},
		{&c.Numbers, "fpe", "guard"},
		{&c.Dates, "shift", "keep"},
		{&c.Geo, "coarse", "keep"},
		{&c.Vectors, "drop", "keep"},
		{&c.Scripts, "code", "literals"},
		{&c.Indices.Other, "tokens", "keep"},
		{&c.IDs.Action, "tokens", "tokens"},
		{&c.IDs.Domain, domainIDs, domainIDs},
	} {
		switch {
		case *s.setting != "":
		case c.Preset == PresetFidelity:
			*s.setting = s.fidelity
		default:
			*s.setting = s.strict
		}
	}
	d := Default()
	if c.MaxDepth == 0 {
		c.MaxDepth = d.MaxDepth
	}
	if c.MaxBody == 0 {
		c.MaxBody = d.MaxBody
	}
	if c.WordCache == 0 {
		c.WordCache = d.WordCache
	}
	yes := true
	if c.Postcheck == nil {
		c.Postcheck = &yes
	}
	if c.Indices.KeepDateSuffix == nil {
		c.Indices.KeepDateSuffix = &yes
	}
	return c
}

// Validate names every mistake at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.Version != 1 {
		bad("version: %d is not known, this program reads version 1", c.Version)
	}
	for _, s := range []struct {
		name, value string
		allowed     []string
	}{
		{"preset", c.Preset, Presets()},
		{"scope", c.Scope, []string{"", "project", "capture"}},
		{"field_names", c.FieldNames, []string{"", "schema", "pseudonym", "keep"}},
		{"numbers", c.Numbers, []string{"", "keep", "guard", "fpe"}},
		{"dates", c.Dates, []string{"", "keep", "shift"}},
		{"geo", c.Geo, []string{"", "keep", "coarse", "drop"}},
		{"vectors", c.Vectors, []string{"", "keep", "drop"}},
		{"scripts", c.Scripts, []string{"", "drop", "code", "literals"}},
		{"indices.other", c.Indices.Other, []string{"", "tokens", "keep"}},
		{"ids.action", c.IDs.Action, []string{"", "tokens", "keep"}},
		{"ids.domain", c.IDs.Domain, []string{"", domainIDs, domainText}},
	} {
		if !slices.Contains(s.allowed, s.value) {
			bad("%s: %q is not one of %s", s.name, s.value, strings.TrimPrefix(strings.Join(s.allowed, ", "), ", "))
		}
	}
	if (c.Preset == PresetSealed) != (len(c.Recipients) > 0) {
		bad("recipients: preset sealed needs at least one (age1…), and no other preset has any")
	}
	if c.Preset == PresetOff && !c.AcceptPlaintext {
		bad("preset off writes requests as they are, personal data included: it needs --i-accept-plaintext-on-disk")
	}
	for i, f := range c.Fields {
		for _, err := range f.mistakes(c.Preset) {
			bad("fields[%d]: %w", i, err)
		}
	}
	for _, h := range c.Headers.Keep {
		if secretHeader(h) {
			bad("headers.keep: %s carries credentials or people and is never kept", h)
		}
	}
	if c.MaxDepth < 0 || c.MaxDepth > 10000 {
		bad("max_depth: %d is not between 1 and 10000", c.MaxDepth)
	}
	if c.MaxBody < 0 {
		bad("max_body: must not be negative")
	}
	if n := c.WordCache; n < 0 || n > 1<<24 || n&(n-1) != 0 {
		bad("word_cache: %d is not a power of two up to 16777216", n)
	}
	return errors.Join(errs...)
}

func (f FieldRule) mistakes(preset string) (errs []error) {
	if len(f.Match) == 0 {
		errs = append(errs, errors.New("match: names no field"))
	}
	for _, m := range f.Match {
		if m == "" || strings.HasPrefix(m, ".") || strings.HasSuffix(m, ".") {
			errs = append(errs, fmt.Errorf("match: %q is not a dotted path", m))
		}
	}
	if _, ok := parseAction(f.Action); !ok {
		errs = append(errs, fmt.Errorf("action: %q is not one of keep, drop, mask, tokens", f.Action))
	}
	if f.Action == "keep" && f.Why == "" && preset == PresetStrict {
		errs = append(errs, errors.New("why: keep needs a reason in preset strict"))
	}
	return errs
}
