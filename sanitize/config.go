package sanitize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/size"
)

// Config says what becomes of what a request holds. The zero value of a setting
// means: as the preset has it.
type Config struct {
	// Version of this form of the rules: 1.
	Version int `yaml:"version"`
	// Preset is one of Presets.
	Preset string `yaml:"preset"`
	// Scope is project (pseudonyms agree in all captures made with the key) or
	// capture (they agree within one). Empty: project with a key file, capture
	// with an ephemeral key.
	Scope string `yaml:"scope"`

	// Domains names domains besides text and ids: equal values in one domain get
	// equal pseudonyms, in two domains unrelated ones.
	Domains map[string]Domain `yaml:"domains"`
	// Defaults say what becomes of values that no rule is for.
	Defaults DefaultRules `yaml:"defaults"`
	// Fields: the first rule that matches a field's dotted path decides, locked
	// rules first, the preset's rules last.
	Fields []FieldRule `yaml:"fields"`
	// Detectors look for personal data in what rules keep.
	Detectors DetectorRules `yaml:"detectors"`
	// FieldNames is schema (names that look like names of a schema stay, others
	// are tokenised), pseudonym (all but names that begin with _ or @ are
	// tokenised), keep or drop-record (a name that does not look like one of a
	// schema drops the record).
	FieldNames string `yaml:"field_names"`
	// Numbers is keep, guard (kept, but for those that look like a telephone,
	// resident or card number, which are permuted) or fpe (integers of 6 and more
	// digits are permuted, fractions rounded to 3 significant digits).
	Numbers string `yaml:"numbers"`
	// Dates is keep or shift (by a secret number of whole weeks).
	Dates string `yaml:"dates"`
	// Now is anchor (where dates move, now in a query becomes the moment of the
	// record, moved as they are, which tells a reader by how much) or keep (such
	// queries are broken).
	Now string `yaml:"now"`
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
	// RequestCache is how many bytes each worker may use to remember whole requests
	// that come again and what they became; 0: none. It changes no record.
	RequestCache size.Size `yaml:"request_cache" json:"-"`

	// Recipients are the age X25519 recipients (age1…) that preset sealed encrypts
	// to; only their identities open the capture.
	Recipients Globs `yaml:"recipients"`

	// Schema is the file that holds Snapshot; its hash stands in a capture's header
	// by itself, not as a part of the rules' hash.
	Schema string `yaml:"schema" json:"-"`
	// Snapshot is what the source says of its fields; nil: nothing is known of them.
	Snapshot *es.Schema `yaml:"-" json:"-"`

	// AcceptPlaintext is what preset off needs: the person who starts the
	// process has said that plain text on disk is accepted. Not a key of the file.
	AcceptPlaintext bool `yaml:"-"`
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

// whole tells that requests are stored as they are but for credentials: in plain
// text, or sealed.
func (c *Config) whole() bool { return c.Preset == PresetOff || c.Preset == PresetSealed }

// Default is the configuration without any setting: preset strict.
func Default() Config {
	return Config{Version: 1, Preset: PresetStrict, MaxDepth: 1000, MaxBody: 64 << 20, WordCache: 1 << 16, RequestCache: 16 * size.MiB}
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
		{"field_names", c.FieldNames, []string{"", "schema", "pseudonym", "keep", "drop-record"}},
		{"defaults.unknown_field_name", c.Defaults.UnknownFieldName, []string{"", "schema", "pseudonym", "keep", "drop-record"}},
		{"numbers", c.Numbers, []string{"", "keep", "guard", "fpe"}},
		{"dates", c.Dates, []string{"", "keep", "shift"}},
		{"now", c.Now, []string{"", "anchor", "keep"}},
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
	errs = append(errs, slices.Concat(c.ruleMistakes(), c.Defaults.mistakes(&c), c.Detectors.mistakes())...)
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
	if c.RequestCache < 0 || c.RequestCache > size.GiB {
		bad("request_cache: must be between 0 and 1GiB")
	}
	return errors.Join(errs...)
}
