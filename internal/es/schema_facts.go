package es

import (
	"maps"
	"slices"
	"strings"
)

// ValueKind is what an engine takes the values of a field for.
type ValueKind uint8

// The kinds. KindOpen is a field of a type of which nothing more is told here.
const (
	KindOpen     ValueKind = iota
	KindWhole              // a text compared as a whole: keyword and the like
	KindText               // a text that analysers cut
	KindInteger            // a whole number
	KindFraction           // a number that may have a fraction
	KindDate
	KindIP
	KindBoolean
)

// FieldFacts say what queries on a field compare. Where the indices of a schema
// differ in a field, they say what holds in all of them.
type FieldFacts struct {
	Kind ValueKind
	// Path is the field's own where the name that was asked for is an alias.
	Path string
	// Parent is the field whose value a sub-field indexes.
	Parent string
	// Types are the types that the field has, sorted.
	Types []string
	// Digits bounds how many digits a whole number of the type has; 0 is no bound.
	Digits int
	// Format is a date's, "" where the mapping names none.
	Format string
	// IgnoreAbove is how many characters of a value a keyword indexes; longer ones
	// it does not. 0 is no bound.
	IgnoreAbove int
	// Place tells a point on the earth.
	Place bool
	// Runtime tells a field that a script computes.
	Runtime bool
	// Text is what the analysers do.
	Text TextFacts
}

// FieldTable holds the facts of all fields of a schema, by path. It is read-only and safe
// for any number of goroutines.
type FieldTable struct {
	byPath map[string]*FieldFacts
	paths  []string            // sorted
	from   map[string][]string // fields that copy_to fills, and those that they are filled from
	copies map[string]bool     // those
}

// Table tells of each field what queries compare.
func (s *Schema) Table() *FieldTable {
	return s.TableOf(func(int) bool { return true })
}

// TableOf is Table for the groups that are wanted, by their number.
func (s *Schema) TableOf(wanted func(group int) bool) *FieldTable {
	t := &FieldTable{byPath: map[string]*FieldFacts{}, from: map[string][]string{}, copies: map[string]bool{}}
	aliases := map[string]string{}
	for i := range s.Groups {
		g := &s.Groups[i]
		if !wanted(i) {
			continue
		}
		for j := range g.Fields {
			f := &g.Fields[j]
			if f.Type == "alias" {
				aliases[f.Path] = f.Target
				continue
			}
			for _, to := range f.CopyTo {
				t.copies[f.Path] = true
				if !slices.Contains(t.from[to], f.Path) {
					t.from[to] = append(t.from[to], f.Path)
				}
			}
			facts := g.facts(f)
			if old := t.byPath[f.Path]; old != nil {
				facts = old.And(facts)
			}
			t.byPath[f.Path] = &facts
		}
	}
	for name, target := range aliases {
		if to := t.byPath[target]; to != nil && t.byPath[name] == nil {
			t.byPath[name] = to
		}
	}
	t.paths = slices.Sorted(maps.Keys(t.byPath))
	return t
}

// Field is what is known of a path, nil where the schema does not have it. A path
// below a flattened field, and the parts of search_as_you_type, have the facts of
// the field.
func (t *FieldTable) Field(path string) *FieldFacts {
	if f := t.byPath[path]; f != nil {
		return f
	}
	for {
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return nil
		}
		path = path[:i]
		if f := t.byPath[path]; f != nil {
			if f.only("flattened") || f.only("flat_object") || f.only("search_as_you_type") {
				return f
			}
			return nil
		}
	}
}

// Each calls yield with every path and its facts, by path, until it returns false.
func (t *FieldTable) Each(yield func(path string, f *FieldFacts) bool) {
	for _, path := range t.paths {
		if !yield(path, t.byPath[path]) {
			return
		}
	}
}

// Sources are the fields whose values copy_to puts into a field, besides its own.
func (t *FieldTable) Sources(path string) []string { return t.from[path] }

// Copies tells that the values of a field go into others, too.
func (t *FieldTable) Copies(path string) bool {
	return t.copies[path]
}

// Len is how many paths there are.
func (t *FieldTable) Len() int { return len(t.paths) }

// Target is the path that a name stands for: its own, but for an alias.
func (t *FieldTable) Target(path string) string {
	if f := t.byPath[path]; f != nil {
		return f.Path
	}
	return path
}

func (f *FieldFacts) only(kind string) bool { return len(f.Types) == 1 && f.Types[0] == kind }

// facts are those of one index's field.
func (g *IndexSchema) facts(f *FieldInfo) FieldFacts {
	out := FieldFacts{Path: f.Path, Parent: f.Parent, Types: []string{f.Type}, Format: f.Format, IgnoreAbove: f.IgnoreAbove, Runtime: f.Runtime}
	switch f.Type {
	case "byte":
		out.Kind, out.Digits = KindInteger, 3
	case "short":
		out.Kind, out.Digits = KindInteger, 5
	case "integer", "token_count":
		out.Kind, out.Digits = KindInteger, 10
	case "long", "unsigned_long":
		out.Kind = KindInteger
	case "float", "double", "half_float", "scaled_float":
		out.Kind = KindFraction
	case "date", "date_nanos":
		out.Kind = KindDate
	case "ip":
		out.Kind = KindIP
	case "geo_point":
		out.Place = true
	case "boolean":
		out.Kind = KindBoolean
	case "keyword", "constant_keyword", "wildcard", "flattened", "flat_object", "version", "icu_collation_keyword":
		out.Kind = KindWhole
		out.Text = g.Analysis.normalizerFacts(f)
	case "text", "match_only_text", "string", "search_as_you_type", "completion", "annotated_text", "semantic_text":
		out.Kind = KindText
		out.Text = g.Analysis.textFacts(f)
	}
	return out
}

// And is what holds of a field in two indices. Where its kinds differ, what its
// analysers break stays.
func (f *FieldFacts) And(g FieldFacts) FieldFacts {
	out := *f
	if f.Kind != g.Kind {
		out.Kind = KindOpen
	}
	out.Types = append(slices.Clone(f.Types), g.Types...)
	slices.Sort(out.Types)
	out.Types = slices.Compact(out.Types)
	if f.Parent != g.Parent {
		out.Parent = ""
	}
	if f.Digits == 0 || g.Digits == 0 {
		out.Digits = 0
	} else {
		out.Digits = max(f.Digits, g.Digits)
	}
	if f.Format != g.Format {
		out.Format = firstOf(f.Format, "strict_date_optional_time||epoch_millis") + "||" + firstOf(g.Format, "strict_date_optional_time||epoch_millis")
	}
	if f.IgnoreAbove == 0 || g.IgnoreAbove > 0 && g.IgnoreAbove < f.IgnoreAbove {
		out.IgnoreAbove = g.IgnoreAbove
	}
	out.Place = f.Place && g.Place
	out.Runtime = f.Runtime || g.Runtime
	out.Text = f.Text.And(g.Text)
	return out
}
