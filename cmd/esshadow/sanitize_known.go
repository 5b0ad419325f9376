package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

// fieldProbe is a query that is put to the sanitiser to see what it says of it.
type fieldProbe struct {
	name  string
	kinds string // of values that it is for, as in kindName; "" all
	body  func(field, value string) string
}

func fieldProbes() []fieldProbe {
	query := func(kind string) func(field, value string) string {
		return func(field, value string) string {
			return fmt.Sprintf(`{"query":{%q:{%s:%s}}}`, kind, field, value)
		}
	}
	return []fieldProbe{
		{"term", "", query("term")},
		{"match", "", query("match")},
		{"match Han", "whole text", func(field, _ string) string { return query("match")(field, `"北京市"`) }},
		{"phrase", "text", func(field, _ string) string { return query("match_phrase")(field, `"example words"`) }},
		{"prefix", "whole text", func(field, _ string) string { return query("prefix")(field, `"exam"`) }},
		{"range", "", func(field, value string) string { return query("range")(field, `{"gte":`+value+`}`) }},
		{"sort", "whole integer fraction date ip boolean", func(field, _ string) string { return `{"sort":[{` + field + `:"asc"}]}` }},
		{"buckets", "whole integer fraction date ip boolean", func(field, _ string) string { return `{"aggs":{"a":{"terms":{"field":` + field + `}}}}` }},
		{"histogram", "integer fraction date", func(field, _ string) string {
			return `{"aggs":{"a":{"histogram":{"field":` + field + `,"interval":10}}}}`
		}},
		{"exists", "", func(field, _ string) string { return `{"query":{"exists":{"field":` + field + `}}}` }},
	}
}

// kindName names a kind of values, and gives one of them as JSON.
func kindName(k es.ValueKind) (name, example string) {
	switch k {
	case es.KindWhole:
		return "whole", `"example"`
	case es.KindText:
		return "text", `"example"`
	case es.KindInteger:
		return "integer", `12345`
	case es.KindFraction:
		return "fraction", `1234.5`
	case es.KindDate:
		return "date", `"2024-05-01T10:00:00Z"`
	case es.KindIP:
		return "ip", `"192.0.2.17"`
	case es.KindBoolean:
		return "boolean", `true`
	}
	return "", `"example"`
}

// probed says what the sanitiser makes of a probe on a field: =, ~ or x as in
// docs/sanitize.md with the reason, or that the record is dropped; "-" where such
// a query is not for the field's type.
func probed(w *sanitize.Worker, p fieldProbe, field string, f *es.FieldFacts) (sign, why string) {
	kind, value := kindName(f.Kind)
	if p.kinds != "" && !slices.Contains(strings.Fields(p.kinds), kind) {
		return "-", ""
	}
	body := []byte(p.body(jsonText(field), value))
	x := capture.Exchange{
		Method: "POST", Target: "/_search", Body: body, BodySize: int64(len(body)),
		Header: []capture.Header{{Name: "Content-Type", Value: "application/json"}},
	}
	var rec capture.Record
	if drop := w.Sanitize(&rec, &x); drop != "" {
		return "dropped", drop
	}
	switch rec.Fidelity {
	case capture.Exact:
		return "=", ""
	case capture.Approx:
		return "~", rec.FidWhy
	}
	return "x", rec.FidWhy
}

func jsonText(s string) string { return string(es.AppendQuoted(nil, []byte(s))) }

// factsText says what the schema says of a field.
func factsText(f *es.FieldFacts) string {
	text := strings.Join(f.Types, " or ")
	t := &f.Text
	if t.Class != es.TextNone && f.Kind == es.KindText {
		text += ", " + t.Class.String()
	}
	for _, x := range []struct {
		name string
		said bool
	}{{"folds marks", t.Folds}, {"splits words", t.Splits}, {"Porter", t.Porter}, {t.Breaks, t.Breaks != "" && t.Breaks != t.Class.String()}, {t.Bends, t.Bends != "" && t.Breaks == ""}, {"computed by a script", f.Runtime}} {
		if x.said {
			text += ", " + x.name
		}
	}
	if f.Format != "" {
		text += ", format " + f.Format
	}
	if f.IgnoreAbove > 0 {
		text += fmt.Sprintf(", ignore_above %d", f.IgnoreAbove)
	}
	return text
}

// misfit says what is wrong with an action on a field of a type; "" if nothing is.
func misfit(action string, f *es.FieldFacts) string {
	only := func(what string, actions ...string) string {
		if slices.Contains(append(actions, "keep", "null", "drop", "drop-record", "shape"), action) {
			return ""
		}
		return "action " + action + " makes no " + what + ": the engine refuses the document"
	}
	switch f.Kind {
	case es.KindInteger, es.KindFraction:
		return only("number", "fpe", "shift", "bucket", "mask", "tokens")
	case es.KindDate:
		return only("date", "date-shift", "tokens")
	case es.KindIP:
		return only("address", "ip-prefix", "tokens")
	case es.KindBoolean:
		return only("true or false", "mask", "tokens")
	case es.KindOpen:
		if f.Place {
			return only("place", "geo-grid", "lon-shift")
		}
		return ""
	}
	if slices.Contains([]string{"shift", "bucket", "date-shift", "geo-grid", "lon-shift"}, action) {
		return "action " + action + " is for numbers, dates and places: what else the field holds becomes tokens"
	}
	return ""
}

// checkFields prints what the rules do to the fields of a schema: what does not
// fit, and which queries still match. It counts the findings.
func checkFields(out io.Writer, cfg sanitize.Config, p *sanitize.Pipeline) (found int) {
	table := cfg.Snapshot.Table()
	paths := cfg.Snapshot.Paths()
	reached := map[string]bool{}
	for _, path := range paths {
		rule, ok := cfg.RuleFor(path)
		if ok {
			reached[rule.Name()] = true
		}
		f := table.Field(path)
		if f == nil || !ok {
			continue
		}
		if why := misfit(rule.Action, f); why != "" {
			found++
			fmt.Fprintf(out, "schema: warning: %s (%s): %s: %s\n", path, strings.Join(f.Types, " or "), rule.Name(), why)
		}
		if table.Target(path) != path {
			if _, ok := cfg.RuleFor(table.Target(path)); !ok {
				found++
				fmt.Fprintf(out, "schema: warning: %s: %s is for an alias: documents hold %s, which no rule is for\n", path, rule.Name(), table.Target(path))
			}
		}
	}
	found += checkCopies(out, cfg)
	for _, rule := range cfg.Rules() {
		if rule.Index >= 0 && !reached[rule.Name()] {
			fmt.Fprintf(out, "schema: note: %s (%s): the schema has no such field\n", rule.Name(), strings.Join(rule.Match, ", "))
		}
	}
	printFields(out, cfg, p, paths, table)
	return found
}

// checkCopies finds fields that are filled from others whose values another rule
// makes unlike.
func checkCopies(out io.Writer, cfg sanitize.Config) (found int) {
	for _, path := range cfg.Snapshot.Paths() {
		f, _ := cfg.Snapshot.Field(path)
		from, _ := cfg.RuleFor(path)
		for _, to := range f.CopyTo {
			rule, _ := cfg.RuleFor(to)
			if cmp.Or(rule.Action, "default") != cmp.Or(from.Action, "default") || cmp.Or(rule.Domain, "text") != cmp.Or(from.Domain, "text") {
				found++
				fmt.Fprintf(out, "schema: warning: %s is filled from %s by copy_to: queries for it go by %s, its values by %s\n",
					to, path, cmp.Or(rule.Action, "the default"), cmp.Or(from.Action, "the default"))
			}
		}
	}
	return found
}

// printFields prints the table of fields and queries.
func printFields(out io.Writer, cfg sanitize.Config, p *sanitize.Pipeline, paths []string, table *es.FieldTable) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	probes := fieldProbes()
	head := "FIELD\tTYPE\tACTION"
	for _, x := range probes {
		head += "\t" + strings.ToUpper(x.name)
	}
	fmt.Fprintln(w, head+"\tREASONS")
	worker := p.Worker()
	for _, path := range paths {
		f := table.Field(path)
		if f == nil {
			continue
		}
		var whys []string
		line := path + "\t" + shorten(factsText(f)) + "\t" + actionOf(cfg, p, path)
		for _, x := range probes {
			sign, why := probed(worker, x, path, f)
			line += "\t" + sign
			if why != "" && !slices.Contains(whys, why) {
				whys = append(whys, why)
			}
		}
		fmt.Fprintln(w, line+"\t"+strings.Join(whys, ", "))
	}
	_ = w.Flush()
	fmt.Fprintln(out, "= exact, ~ approx, x broken, - not a query for such a field; docs/sanitize.md explains the reasons")
}

// explainKnown says what the schema knows of a field, and what follows.
func explainKnown(row func(what, format string, args ...any), cfg sanitize.Config, p *sanitize.Pipeline, field string) {
	table := cfg.Snapshot.Table()
	f := table.Field(field)
	if f == nil {
		row("schema", "has no such field: it is judged by its values alone")
		return
	}
	row("type", "%s", factsText(f))
	if to := table.Target(field); to != field {
		row("stands for", "%s", to)
	}
	if info, ok := cfg.Snapshot.Field(field); ok && info.Analyzer+info.SearchAnalyzer+info.Normalizer != "" {
		row("analysers", "%s", strings.Join(slices.DeleteFunc([]string{info.Analyzer, info.SearchAnalyzer, info.Normalizer}, func(s string) bool { return s == "" }), ", "))
	}
	if rule, ok := cfg.RuleFor(field); !ok {
		row("by its type", "%s", p.ByType(field))
	} else if why := misfit(rule.Action, f); why != "" {
		row("warning", "%s", why)
	}
	if !pipeNeedsKey(cfg.Preset) {
		return
	}
	worker := p.Worker()
	for _, x := range fieldProbes() {
		switch sign, why := probed(worker, x, field, f); sign {
		case "-":
		case "=":
			row(x.name, "exact")
		case "dropped":
			row(x.name, "dropped (%s)", why)
		default:
			row(x.name, "%s (%s)", map[string]string{"~": "approx", "x": "broken"}[sign], why)
		}
	}
}

// actionOf is the action that a field's values get.
func actionOf(cfg sanitize.Config, p *sanitize.Pipeline, path string) string {
	if rule, ok := cfg.RuleFor(path); ok {
		return actionText(rule)
	}
	return "(" + p.ByType(path) + ")"
}
