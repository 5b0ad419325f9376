package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/sanitize"
)

func newSanitizeCheck(s *streams) *cobra.Command {
	var r rulesFlags
	c := &cobra.Command{
		Use:   "check",
		Short: "Check sanitising rules, and say what survives each of them",
		Long: `check reads a file of rules strictly: every mistake is told with its line, and the
exit code is 2. Then it looks for what is allowed but hardly meant: rules that no
field reaches because those before match all that they match, and values that are
kept without a reason; these are findings, exit code 3. At last it prints, rule by
rule in the order in which they are asked, which queries still match.

With a schema it goes on to say of every field whether its rule fits its type
(findings, if not), and which queries the sanitiser would call exact, approx or
broken, with the reasons.`,
		Example: "  esshadow sanitize check -c rules.yaml\n  esshadow sanitize check --preset commerce --schema schema.json",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, text, err := r.config(c, s)
			if err != nil {
				return err
			}
			found := checkRules(s.out, cmp.Or(r.rules, "preset "+cfg.Preset), text, cfg)
			if cfg.Snapshot != nil && pipeNeedsKey(cfg.Preset) {
				p, err := anyPipeline(cfg)
				if err != nil {
					return &codeError{exitUsage, err}
				}
				found += checkFields(s.out, cfg, p)
			}
			if r.key != "" {
				if _, err := loadKey(r.key, s.in); err != nil {
					return &codeError{exitUsage, err}
				}
			}
			return verdict(found, 0)
		},
	}
	r.add(c)
	return c
}

// anyPipeline is one with a key of its own, to see what it says.
func anyPipeline(cfg sanitize.Config) (*sanitize.Pipeline, error) {
	key, err := sanitize.EphemeralKey()
	if err != nil {
		return nil, err
	}
	_, salt, err := captureMeta()
	if err != nil {
		return nil, err
	}
	return sanitize.New(cfg, key, salt)
}

// config is the configuration that the flags choose, and the text of its file.
func (r *rulesFlags) config(c *cobra.Command, s *streams) (sanitize.Config, []byte, error) {
	cfg := configs.Sanitize{Config: sanitize.Default()}
	if err := r.checkPreset(); err != nil {
		return cfg.Config, nil, err
	}
	cfg.Preset, cfg.Schema = r.preset, r.schema
	var text []byte
	named := "sanitize.schema"
	if r.rules != "" {
		var err error
		if text, err = readInput(r.rules, s.in); err != nil {
			return cfg.Config, nil, usage("sanitize.rules: %w", err)
		}
		rules, err := configs.LoadRules(r.rules, text)
		if err != nil {
			return cfg.Config, nil, &codeError{exitUsage, err}
		}
		if said(c, s, "preset") {
			rules.Preset = r.preset
		}
		if rules.Schema = beside(r.rules, rules.Schema); r.schema != "" {
			rules.Schema = r.schema
		} else {
			named = r.rules + ": schema"
		}
		cfg.Config = rules
	}
	if err := loadSchema(s, named, &cfg.Config); err != nil {
		return cfg.Config, nil, err
	}
	if err := cfg.Validate(); err != nil {
		return cfg.Config, nil, &codeError{exitUsage, err}
	}
	return cfg.Config, text, nil
}

// checkRules prints the findings and the table, and counts the findings.
func checkRules(out io.Writer, name string, text []byte, cfg sanitize.Config) (found int) {
	say := func(finding bool, rule sanitize.Applied, format string, args ...any) {
		kind := "note"
		if finding {
			kind = "warning"
			found++
		}
		at := name
		if line := configs.Line(text, rule.Name()); line > 0 {
			at = fmt.Sprintf("%s:%d", name, line)
		}
		fmt.Fprintf(out, "%s: %s: %s (%s): %s\n", at, kind, rule.Name(), strings.Join(rule.Match, ", "), fmt.Sprintf(format, args...))
	}
	for _, x := range cfg.Shadowed() {
		say(true, x.Rule, "no field reaches it: %s (%s) matches all that it matches and comes first", x.By.Name(), strings.Join(x.By.Match, ", "))
	}
	domains := map[string]bool{}
	for _, rule := range cfg.Rules() {
		domains[cmp.Or(rule.Domain, "text")] = true
		switch {
		case rule.Index < 0:
		case rule.Action == "keep" && rule.Why == "":
			say(true, rule, "keeps values without saying why")
		case rule.Action == "keep" && len(rule.Values) == 0 && strings.HasPrefix(rule.Match[0], "**"):
			say(false, rule, "keeps whatever such a field holds, at any depth: values would bound it")
		case sanitize.Weak(rule.Action):
			say(false, rule, "%s is weak: whoever reads enough of the capture undoes it", rule.Action)
		case rule.Action == "date-shift" && cfg.Effective().Now == "anchor":
			say(false, rule, "a query relative to now tells a reader by how much the dates moved: now: keep prevents it, and makes such records broken")
		case rule.Domain != "" && rule.Domain != "text" && rule.Action == "tokens":
			say(false, rule, "a multi_match, a query string without a field or a copy_to over this field and one of domain text matches only one of them")
		}
	}
	printRules(out, cfg)
	return found
}

func printRules(out io.Writer, cfg sanitize.Config) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "RULE\tFIELDS\tACTION\tDOMAIN\tEQUAL VALUES\tSURVIVES")
	for _, rule := range cfg.Rules() {
		name := rule.Name()
		if rule.Locked {
			name += " locked"
		}
		e := effectOf(rule.Action)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, shorten(strings.Join(rule.Match, ", ")), actionText(rule), cmp.Or(rule.Domain, "text"), e.equal, e.survives)
	}
	for _, d := range defaultsOf(cfg) {
		e := effectOf(d.action)
		fmt.Fprintf(w, "default\t%s\t%s\t-\t%s\t%s\n", d.what, d.action, e.equal, e.survives)
	}
	_ = w.Flush()
	e := cfg.Effective()
	fmt.Fprintf(out, "preset %s: index names %s, ids %s, field names %s, dates in strings %s, places %s, vectors %s, scripts %s\n",
		e.Preset, e.Indices.Other, e.IDs.Action, e.FieldNames, e.Dates, e.Geo, e.Vectors, e.Scripts)
}

func shorten(s string) string {
	const most = 48
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func actionText(rule sanitize.Applied) string {
	a := rule.Action
	for _, x := range [][]string{rule.Normalize, rule.Split, rule.Values} {
		if len(x) > 0 {
			a += " [" + shorten(strings.Join(x, ", ")) + "]"
		}
	}
	if rule.Step != "" {
		a += " by " + rule.Step
	}
	return a
}

// defaultOf is what becomes of values of one type that no rule is for.
type defaultOf struct{ what, action string }

func defaultsOf(cfg sanitize.Config) []defaultOf {
	e := cfg.Effective()
	integer, fraction := cfg.NumberActions()
	return []defaultOf{
		{"strings", cmp.Or(e.Defaults.String.Action, "tokens")},
		{"integers", integer},
		{"fractions", fraction},
		{"booleans", cmp.Or(e.Defaults.Boolean.Action, "keep")},
	}
}

// effect is what an action leaves: whether equal values stay equal and different
// ones different, and which queries match as before.
type effect struct{ equal, survives string }

func effectOf(action string) effect { return effect{equalOf(action), survivorsOf(action)} }

func equalOf(action string) string {
	switch action {
	case "bucket", "geo-grid":
		return "stay equal, near ones become equal"
	case "mask", "shape":
		return "become equal"
	case "null", "drop":
		return "are gone"
	case "drop-record":
		return "-"
	}
	return "stay equal, others differ"
}

func survivorsOf(action string) string {
	switch action {
	case "keep":
		return "everything; and everything can be read"
	case "guard":
		return "everything, but order and ranges of what looks like a telephone or card number"
	case "tokens":
		return "term, match, phrase, terms aggregation; prefix and wildcard where the literal ends at a separator; no range, no fuzzy"
	case "pseudonym":
		return "term, terms aggregation; no match on parts"
	case "prefix":
		return "as tokens, and prefixes, edge n-grams, completion"
	case "charsub":
		return "as tokens, and n-grams, wildcards inside of words, Chinese and Japanese text; weak"
	case "email":
		return "as tokens; the top-level domain stays"
	case "url":
		return "as tokens; the scheme stays, credentials go"
	case "fpe":
		return "term, terms aggregation; no range, no sort"
	case "shift", "date-shift":
		return "term, range, sort, histograms; one known pair undoes it"
	case "ip-prefix":
		return "term, CIDR, ranges that are one CIDR block; no other range"
	case "bucket":
		return "sums and ranges about; coarse values can be read"
	case "geo-grid":
		return "distances and boxes about"
	case "lon-shift":
		return "distances; boxes but at the date line; weak"
	case "mask", "shape":
		return "exists"
	case "null", "drop":
		return "nothing"
	case "drop-record":
		return "nothing: the record is not captured"
	}
	return "-"
}

func newSanitizeExplain(s *streams) *cobra.Command {
	var r rulesFlags
	c := &cobra.Command{
		Use:   "explain FIELD",
		Short: "Say which rule decides about a field, and show what it makes of examples",
		Example: `  esshadow sanitize explain user.email -c rules.yaml
  esshadow sanitize explain client.ip --preset ecs-logs`,
		Args: oneArg("field"),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, text, err := r.config(c, s)
			if err != nil {
				return err
			}
			key, err := loadKey(r.key, s.in)
			if err != nil {
				return &codeError{exitUsage, err}
			}
			_, salt, err := captureMeta()
			if err != nil {
				return err
			}
			p, err := sanitize.New(cfg, key, salt)
			if err != nil {
				return &codeError{exitUsage, err}
			}
			return explain(s.out, r.rules, text, cfg, p, args[0])
		},
	}
	r.add(c)
	return c
}

func explain(out io.Writer, name string, text []byte, cfg sanitize.Config, p *sanitize.Pipeline, field string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(what, format string, args ...any) { fmt.Fprintf(w, what+"\t"+format+"\n", args...) }
	row("field", "%s", field)
	if rule, ok := cfg.RuleFor(field); ok {
		where := rule.Name()
		if line := configs.Line(text, where); line > 0 {
			where = fmt.Sprintf("%s, %s:%d", where, name, line)
		}
		row("rule", "%s: match %s", where, strings.Join(rule.Match, ", "))
		row("action", "%s", actionText(rule))
		row("domain", "%s", cmp.Or(rule.Domain, "text"))
		if rule.Why != "" {
			row("why", "%s", rule.Why)
		}
		e := effectOf(rule.Action)
		row("equal values", "%s", e.equal)
		row("survives", "%s", e.survives)
	} else {
		row("rule", "none: the default of preset %s", cfg.Preset)
		for _, d := range defaultsOf(cfg) {
			row(d.what, "%s: %s", d.action, effectOf(d.action).survives)
		}
	}
	if cfg.Snapshot != nil {
		explainKnown(row, cfg, p, field)
	}
	row("", "")
	row("a document's value", "becomes")
	worker := p.Worker()
	for _, v := range formExamples() {
		row(v, "%s", formOf(worker, field, v))
	}
	return w.Flush()
}

// formExamples are values to show what becomes of them.
func formExamples() []string {
	return []string{
		`"Anna Smith, Berlin"`, `"anna.smith@mail.example"`, `"192.0.2.17"`, `"2024-05-01T10:00:00Z"`, `"ORD-20417"`, `"你好世界"`,
		`7`, `13800138000`, `1234.5678`, `true`, `{"lat":52.5170,"lon":13.3888}`,
	}
}

// formOf is what a document's field becomes, or the reason why it is dropped.
func formOf(w *sanitize.Worker, field, value string) string {
	doc := []byte(value)
	levels := strings.Split(field, ".")
	for i := len(levels) - 1; i >= 0; i-- {
		name, err := json.Marshal(levels[i])
		if err != nil {
			return "not a field"
		}
		doc = append(append(append(append([]byte{'{'}, name...), ':'), doc...), '}')
	}
	body := append([]byte(`{"index":{}}`+"\n"), doc...)
	body = append(body, '\n')
	x := capture.Exchange{
		Method: "POST", Target: "/_bulk", Body: body, BodySize: int64(len(body)),
		Header: []capture.Header{{Name: "Content-Type", Value: "application/x-ndjson"}},
	}
	var rec capture.Record
	if drop := w.Sanitize(&rec, &x); drop != "" {
		return "record dropped: " + drop
	}
	_, out, _ := bytes.Cut(rec.Body, []byte{'\n'})
	return innermost(bytes.TrimSpace(out), len(levels))
}

func innermost(doc []byte, levels int) string {
	for range levels {
		members, ok := membersOf(doc)
		if !ok || len(members) != 1 {
			break
		}
		doc = doc[members[0].start:members[0].end]
	}
	return string(doc)
}
