package sanitize

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// ErrDraftPreset is a preset that has no rules for fields.
var ErrDraftPreset = errors.New("a draft of rules is for strict, fidelity, ecs-logs, commerce or shape-only: the other presets replace nothing")

// Draft writes a file of rules for the fields of a schema: a proposal with
// reasons, which a person reads before it is used. It is valid as it stands.
func Draft(s es.Schema, preset string) ([]byte, error) {
	if !slices.Contains(Presets(), preset) || preset == PresetOff || preset == PresetSealed {
		return nil, fmt.Errorf("preset %q: %w", preset, ErrDraftPreset)
	}
	d := draft{schema: s, preset: preset, fromCopy: map[string][]string{}, subs: map[string][]es.FieldInfo{}}
	d.config = Config{Preset: preset}.withPreset()
	for _, path := range s.Paths() {
		f, _ := s.Field(path)
		for _, to := range f.CopyTo {
			d.fromCopy[to] = append(d.fromCopy[to], path)
		}
		if f.Parent != "" {
			d.subs[f.Parent] = append(d.subs[f.Parent], f)
		}
	}
	d.line("# A draft from %d indices, made by `esshadow sanitize init`. Read it: types and analysers are facts, what is personal is a guess.", d.indices())
	if s.Unread != "" {
		d.line("# The engine did not tell its analysers: those that are not built in are taken for unknown.")
	}
	d.line("version: 1\npreset: %s\nfields:", preset)
	n := d.out.Len()
	for _, path := range s.Paths() {
		if f, _ := s.Field(path); f.Parent == "" {
			d.field(f)
		}
	}
	if !d.ruled {
		text := bytes.Replace(d.out.Bytes()[:n], []byte("fields:\n"), []byte("fields: []\n"), 1)
		return append(slices.Clone(text), d.out.Bytes()[n:]...), nil
	}
	return d.out.Bytes(), nil
}

type draft struct {
	schema   es.Schema
	preset   string
	config   Config
	fromCopy map[string][]string
	subs     map[string][]es.FieldInfo // by their field
	ruled    bool
	out      bytes.Buffer
}

func (d *draft) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

func (d *draft) indices() (n int) {
	for i := range d.schema.Groups {
		n += len(d.schema.Groups[i].Indices)
	}
	return n
}

// quoted is a text that YAML reads as it is, also within a comment.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// field writes what is known of a field and the rule for it.
func (d *draft) field(f es.FieldInfo) {
	d.line("  # %s: %s", quoted(f.Path), d.facts(f))
	if from := d.fromCopy[f.Path]; len(from) > 0 {
		d.line("  #   filled by copy_to from %s: their rules should do the same as this one", quoted(strings.Join(from, ", ")))
	}
	for _, sub := range d.subs[f.Path] {
		d.line("  #   %s: %s", quoted(sub.Path), d.facts(sub))
	}
	if p := "." + f.Path + "."; strings.Contains(p, "..") {
		d.line("  #   no rule can name this path; the preset's defaults hold")
		return
	}
	if i, ok := d.presetRule(f.Path); ok {
		d.line("  #   the preset has a rule for it: %s", d.config.Fields[i].Action)
		return
	}
	p := d.proposal(f)
	for _, why := range p.notes {
		d.line("  #   %s", why)
	}
	if p.rule == "" {
		return
	}
	match := quoted(f.Path)
	if f.Type == "flattened" || f.Type == "flat_object" {
		match = "[" + match + ", " + quoted(f.Path+".**") + "]"
	}
	d.ruled = true
	d.line("  - { match: %s, %s }", match, p.rule)
	if p.other != "" {
		d.line("  # - { match: %s, %s }", match, p.other)
	}
}

// presetRule is the preset's own rule for a path.
func (d *draft) presetRule(path string) (int, bool) {
	parts := strings.Split(path, ".")
	for i := range d.config.Fields {
		for _, m := range d.config.Fields[i].Match {
			if matchPath(strings.Split(m, "."), parts) {
				return i, true
			}
		}
	}
	return 0, false
}

// facts say what the schema says of a field.
func (d *draft) facts(f es.FieldInfo) string {
	types := d.schema.Types(f.Path)
	for i := range types {
		types[i] = comment(types[i])
	}
	text := strings.Join(types, " or ")
	for _, x := range []struct{ name, value string }{
		{"analyzer", f.Analyzer}, {"search analyzer", f.SearchAnalyzer}, {"normalizer", f.Normalizer}, {"format", f.Format}, {"for", f.Target},
	} {
		if x.value != "" {
			text += ", " + x.name + " " + comment(x.value)
		}
	}
	if f.Index != es.TextNone {
		text += " (" + f.Index.String()
		if f.Search != es.TextNone {
			text += ", searched as " + f.Search.String()
		}
		text += ")"
	}
	if f.Runtime {
		text += ", computed by a script"
	}
	return text
}

// comment is a name as it may stand in a comment.
func comment(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 }) {
		return quoted(s)
	}
	return s
}
