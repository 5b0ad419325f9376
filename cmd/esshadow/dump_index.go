package main

import (
	"bytes"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// defFilter rewrites what indices are made with: mappings, settings, aliases and
// templates, as elasticdump's types of those names (and index, analyzer) give
// them. Names of indices and fields become what they are in a capture, words of
// analysis what they are in documents; options stay, and what is not known to be
// one is left out and counted.
type defFilter struct {
	f   *dumpFilter
	bad string // why the whole line is left out
}

// object writes the members that each gives; "" as a name leaves one out.
func (d *defFilter) object(text []byte, each func(name string, value []byte) (string, []byte)) []byte {
	members, ok := membersOf(text)
	if !ok {
		d.bad = badJSON
		return nil
	}
	out := []byte{'{'}
	for _, x := range members {
		name, value := each(x.name, text[x.start:x.end])
		if name == "" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(es.AppendQuoted(out, []byte(name)), ':'), value...)
	}
	return append(out, '}')
}

// list writes the elements of an array that each gives; nil leaves one out.
func (d *defFilter) list(text []byte, each func(element []byte) []byte) []byte {
	var t es.Tokens
	t.Reset(text)
	if k, err := t.Next(); err != nil || k.Kind != es.ArrayStart {
		d.bad = badMember
		return nil
	}
	out := []byte{'['}
	for {
		start, end, err := t.Skip()
		if err != nil {
			d.bad = badJSON
			return nil
		}
		if text[start] == ']' {
			return append(out, ']')
		}
		if made := each(text[start:end]); made != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, made...)
		}
	}
}

// strings rewrites a string, or each of an array of them; false leaves one out.
func (d *defFilter) strings(text []byte, form func(string) (string, bool)) []byte {
	one := func(text []byte) []byte {
		if len(text) < 2 || text[0] != '"' {
			d.bad = badMember
			return nil
		}
		s, ok := es.Unquote(nil, text)
		if !ok {
			d.bad = badJSON
			return nil
		}
		made, ok := form(string(s))
		if !ok {
			return nil
		}
		return es.AppendQuoted(nil, []byte(made))
	}
	if len(text) > 0 && text[0] == '[' {
		return d.list(text, one)
	}
	if made := one(text); made != nil {
		return made
	}
	return []byte("[]")
}

// line is the form of a whole line: definitions by name, or the two kinds of
// templates that stand in an array.
func (d *defFilter) line(line []byte, members []member) []byte {
	if len(members) == 0 {
		d.bad = badMember
		return nil
	}
	return d.object(line, func(name string, value []byte) (string, []byte) {
		if (name == "index_templates" || name == "component_templates") && value[0] == '[' {
			return name, d.list(value, d.definition)
		}
		if inner, ok := membersOf(value); !ok || len(inner) == 0 {
			// elasticdump puts an empty object where it knows no index.
			if !ok {
				d.bad = badMember
			}
			d.f.skipped("empty_definition")
			return "", nil
		}
		return d.index(name), d.definition(value)
	})
}

// definition is that of an index or of a template.
func (d *defFilter) definition(text []byte) []byte {
	return d.object(text, func(name string, value []byte) (string, []byte) {
		switch name {
		case "mappings":
			return name, d.mappings(value)
		case "settings":
			return name, d.settings("", value)
		case "aliases":
			return name, d.aliases(value)
		case "index_template", "component_template":
			return name, d.definition(value)
		case "template":
			if value[0] == '{' {
				return name, d.definition(value)
			}
			return name, d.indices(value)
		case "name", "index_patterns", "composed_of", "ignore_missing_component_templates":
			return name, d.indices(value)
		case "order", "version", "priority", "allow_auto_create", "deprecated", "data_stream":
			if optionsOnly(value) {
				return name, value
			}
		case "_meta", "lifecycle", "data_stream_options", "warmers", "created_date", "created_date_millis", "modified_date", "modified_date_millis":
		default:
			d.bad = badMember
		}
		d.f.skipped("template_member")
		return "", nil
	})
}

// index is the form of the name of an index, an alias or a template, or of a
// pattern of names.
func (d *defFilter) index(name string) string {
	made, ok := d.f.index(name)
	if !ok {
		d.bad = badMember
	}
	return made
}

func (d *defFilter) indices(text []byte) []byte {
	return d.strings(text, func(s string) (string, bool) { return d.index(s), true })
}

// word is the form that a text has in documents.
func (d *defFilter) word(v string) string {
	made, ok := d.f.value(v)
	if !ok {
		d.bad = badMember
	}
	return made
}

// aliases are those of one index. One with a filter that cannot be said among
// sanitised documents is left out: without its filter it would be another.
func (d *defFilter) aliases(text []byte) []byte {
	return d.object(text, func(alias string, def []byte) (string, []byte) {
		lost := false
		made := d.object(def, func(name string, value []byte) (string, []byte) {
			switch name {
			case "filter":
				query, ok := d.f.query(value)
				lost = lost || !ok
				return name, query
			case "routing", "index_routing", "search_routing":
				return name, d.strings(value, d.f.routing)
			case "is_write_index", "is_hidden":
				if string(value) == "true" || string(value) == "false" {
					return name, value
				}
			}
			d.f.skipped("alias_member")
			return "", nil
		})
		if lost {
			d.f.skipped("alias_with_filter")
			return "", nil
		}
		return d.index(alias), made
	})
}

// query is the form of a query; false where it would not find the same documents.
func (f *dumpFilter) query(text []byte) ([]byte, bool) {
	body := append(append([]byte(`{"query":`), text...), '}')
	x := capture.Exchange{
		Method: "POST", Target: "/_search", Body: body, BodySize: int64(len(body)),
		Header: []capture.Header{{Name: "Content-Type", Value: "application/json"}},
	}
	if f.worker.Sanitize(&f.rec, &x) != "" || f.rec.Fidelity == capture.Broken {
		return nil, false
	}
	members, ok := membersOf(f.rec.Body)
	if !ok || len(members) != 1 {
		return nil, false
	}
	return bytes.Clone(f.rec.Body[members[0].start:members[0].end]), true
}

// routing is the form of a routing value.
func (f *dumpFilter) routing(v string) (string, bool) {
	return f.asked("r"+v, func() []byte { return es.AppendQuoted(append(f.body[:0], `{"index":{"routing":`...), []byte(v)) }, "}}\n{}\n", func(out []byte) string {
		_, value, _ := bytes.Cut(out, []byte(`"routing":`))
		return firstString(value)
	})
}
