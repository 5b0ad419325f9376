package main

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// dumpLine handles one line of elasticdump: a document as a search gives it, or
// mappings by index.
func (f *dumpFilter) dumpLine(in *bufio.Reader) error {
	line, _, fits, err := f.line(in)
	if err != nil {
		return err
	}
	bad := ""
	var out []byte
	switch {
	case !fits:
		bad = badLineTooLong
	case len(bytes.TrimSpace(line)) > 0:
		out, bad = f.dumped(line)
	}
	if bad != "" {
		f.bad[bad]++
		return nil
	}
	f.written++
	return f.put(out)
}

// member is one member of an object, as it came.
type member struct {
	name       string
	start, end int // of the value
	kind       es.Kind
}

// membersOf reads the members of the object that text is; ok is false where it
// is none.
func membersOf(text []byte) (all []member, ok bool) {
	var t es.Tokens
	t.Reset(text)
	k, err := t.Next()
	if err != nil || k.Kind != es.ObjectStart {
		return nil, false
	}
	for {
		k, err := t.Next()
		if err != nil {
			return nil, false
		}
		if k.Kind == es.ObjectEnd {
			_, err = t.Next()
			return all, err == nil
		}
		name, ok := es.Unquote(nil, t.Raw(k))
		if !ok {
			return nil, false
		}
		start, end, err := t.Skip()
		if err != nil {
			return nil, false
		}
		all = append(all, member{string(name), start, end, kindOf(text[start])})
	}
}

func kindOf(first byte) es.Kind {
	switch first {
	case '{':
		return es.ObjectStart
	case '[':
		return es.ArrayStart
	case '"':
		return es.String
	case 't':
		return es.True
	case 'f':
		return es.False
	case 'n':
		return es.Null
	}
	return es.Number
}

// dumped is the form of a line, or the reason why there is none.
func (f *dumpFilter) dumped(line []byte) ([]byte, string) {
	members, ok := membersOf(line)
	if !ok {
		return nil, badJSON
	}
	for _, m := range members {
		if m.name == "_source" {
			return f.hit(line, members)
		}
	}
	m := mappingFilter{f: f}
	out, bad := m.indices(line, members)
	return out, bad
}

// hit sanitises a document as a search gives it. Its metadata and its source go
// the way of a line of _bulk.
func (f *dumpFilter) hit(line []byte, members []member) ([]byte, string) {
	meta := []byte(`{"index":{`)
	var source []byte
	for _, m := range members {
		switch m.name {
		case "_index", "_id", "_type", "_routing", "routing", "_parent":
			if meta[len(meta)-1] != '{' {
				meta = append(meta, ',')
			}
			meta = append(append(es.AppendQuoted(meta, []byte(m.name)), ':'), line[m.start:m.end]...)
		case "_source":
			source = line[m.start:m.end]
		}
	}
	body := append(append(meta, "}}\n"...), source...)
	made, bad := f.sanitise(append(body, '\n'))
	if bad != "" {
		return nil, bad
	}
	head, doc, _ := bytes.Cut(made, []byte{'\n'})
	metaValues, ok := metaOf(head)
	if !ok {
		return nil, badFraming
	}
	out := []byte{'{'}
	for _, m := range members {
		var value []byte
		switch m.name {
		case "_index", "_id", "_type", "_routing", "routing", "_parent":
			value = metaValues[m.name]
		case "_source":
			value = bytes.TrimSuffix(doc, []byte{'\n'})
		case "_score", "_version", "_seq_no", "_primary_term", "found":
			if m.kind == es.String || m.kind == es.ObjectStart || m.kind == es.ArrayStart {
				return nil, badMember
			}
			value = line[m.start:m.end]
		case "sort", "_ignored", "fields", "highlight", "matched_queries", "inner_hits", "_explanation", "ignored_field_values":
			f.skipped(m.name)
			continue
		default:
			return nil, badMember
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(es.AppendQuoted(out, []byte(m.name)), ':'), value...)
	}
	return append(out, '}'), ""
}

// metaOf reads the values of an action line.
func metaOf(action []byte) (map[string][]byte, bool) {
	outer, ok := membersOf(action)
	if !ok || len(outer) != 1 {
		return nil, false
	}
	inner := action[outer[0].start:outer[0].end]
	members, ok := membersOf(inner)
	values := make(map[string][]byte, len(members))
	for _, m := range members {
		values[m.name] = inner[m.start:m.end]
	}
	return values, ok
}

// mappingFilter rewrites mappings: names of indices and fields become what they
// are in a capture, options stay, and what may hold values is left out.
type mappingFilter struct {
	f   *dumpFilter
	bad string
}

// object writes the members that each gives; "" as a name leaves one out.
func (m *mappingFilter) object(text []byte, each func(name string, value []byte) (string, []byte)) []byte {
	members, ok := membersOf(text)
	if !ok {
		m.bad = badJSON
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

func (m *mappingFilter) indices(line []byte, members []member) ([]byte, string) {
	if len(members) == 0 {
		return nil, badMember
	}
	out := m.object(line, func(index string, value []byte) (string, []byte) {
		made, ok := m.f.index(index)
		if inner, is := membersOf(value); !ok || !is || len(inner) != 1 || inner[0].name != "mappings" {
			m.bad = badMember // settings, aliases: they hold words and filters
			return "", nil
		}
		return made, m.object(value, func(name string, mappings []byte) (string, []byte) { return name, m.mappings(mappings) })
	})
	return out, m.bad
}

// mappings are those of one index; up to version 6 they stand under a type.
func (m *mappingFilter) mappings(text []byte) []byte {
	members, _ := membersOf(text)
	for _, x := range members {
		if x.name == "properties" || mappingOption(x.name) {
			return m.field(text)
		}
	}
	return m.object(text, func(typ string, value []byte) (string, []byte) {
		if !plainWord([]byte(typ)) {
			m.bad = badMember
			return "", nil
		}
		return typ, m.field(value)
	})
}

// field is the definition of one field, or of the whole document.
func (m *mappingFilter) field(text []byte) []byte {
	return m.object(text, func(name string, value []byte) (string, []byte) {
		switch name {
		case "properties", "fields":
			return name, m.object(value, func(field string, def []byte) (string, []byte) {
				made, ok := m.f.name(field)
				if !ok || made == "" {
					m.bad = badMember
					return "", nil
				}
				return made, m.field(def)
			})
		case "copy_to", "path":
			return name, m.paths(value)
		case "relations":
			return name, m.relations(value)
		}
		if mappingOption(name) && optionsOnly(value) {
			return name, value
		}
		m.f.skipped("mapping_member")
		return "", nil
	})
}

// paths are dotted names of fields, one or an array of them.
func (m *mappingFilter) paths(text []byte) []byte {
	return m.strings(text, func(path string) string {
		levels := strings.Split(path, ".")
		for i, level := range levels {
			made, ok := m.f.name(level)
			if !ok {
				m.bad = badMember
			}
			levels[i] = made
		}
		return strings.Join(levels, ".")
	})
}

// relations of a join field are values of documents.
func (m *mappingFilter) relations(text []byte) []byte {
	value := func(v string) string {
		made, ok := m.f.value(v)
		if !ok {
			m.bad = badMember
		}
		return made
	}
	return m.object(text, func(parent string, children []byte) (string, []byte) {
		return value(parent), m.strings(children, value)
	})
}

// strings rewrites a string, or each of an array of them.
func (m *mappingFilter) strings(text []byte, form func(string) string) []byte {
	var t es.Tokens
	t.Reset(text)
	out := make([]byte, 0, len(text))
	pos := 0
	for {
		k, err := t.Next()
		if err != nil || k.Kind != es.End && k.Kind != es.String && k.Kind != es.ArrayStart && k.Kind != es.ArrayEnd {
			m.bad = badMember
			return nil
		}
		if k.Kind == es.End {
			return append(out, text[pos:]...)
		}
		if k.Kind != es.String {
			continue
		}
		s, ok := es.Unquote(nil, t.Raw(k))
		if !ok {
			m.bad = badJSON
			return nil
		}
		out = append(out, text[pos:k.Start]...)
		out = es.AppendQuoted(out, []byte(form(string(s))))
		pos = k.End
	}
}

// value is the form of a string value of a document.
func (f *dumpFilter) value(v string) (string, bool) {
	return f.asked("v"+v, func() []byte {
		return es.AppendQuoted(append(f.body[:0], `{"index":{}}`+"\n"+`{"a":`...), []byte(v))
	}, "}\n", func(out []byte) string {
		_, doc, _ := bytes.Cut(out, []byte(`"a":`))
		return firstString(doc)
	})
}

// mappingOption tells the members of mappings whose values are options.
func mappingOption(name string) bool {
	switch name {
	case "type", "index", "enabled", "dynamic", "analyzer", "search_analyzer", "search_quote_analyzer", "normalizer", "format",
		"ignore_above", "doc_values", "store", "norms", "index_options", "similarity", "term_vector", "coerce", "ignore_malformed",
		"scaling_factor", "dims", "dimension", "element_type", "method", "model_id", "index_prefixes", "index_phrases",
		"eager_global_ordinals", "fielddata", "fielddata_frequency_filter", "position_increment_gap", "max_input_length",
		"preserve_separators", "preserve_position_increments", "depth_limit", "split_queries_on_whitespace", "subobjects",
		"orientation", "ignore_z_value", "date_detection", "numeric_detection", "dynamic_date_formats", "_routing", "_size",
		"_field_names", "_all", "include_in_all", "boost", "include_in_parent", "include_in_root", "time_series_dimension",
		"time_series_metric", "metrics", "default_metric", "locale", "tree", "precision", "strategy", "data_type", "mode",
		"max_shingle_size", "max_analyzed_offset", "ignore_dynamic_beyond_limit", "unit", "synthetic_source_keep", "search_inference_id",
		"inference_id", "space_type", "compression_level", "path_match_mode", "positive_score_impact", "fielddata_format":
		return true
	}
	return false
}

// optionsOnly tells JSON whose names and strings are plain words.
func optionsOnly(text []byte) bool {
	var t es.Tokens
	t.Reset(text)
	for {
		k, err := t.Next()
		if err != nil {
			return false
		}
		switch k.Kind {
		case es.End:
			return true
		case es.Key, es.String:
			s, ok := es.Unquote(nil, t.Raw(k))
			if !ok || !plainWord(s) {
				return false
			}
		case es.Number:
			if k.End-k.Start > 10 {
				return false
			}
		}
	}
}

// plainWord tells names, formats and the like from data: ASCII, short, no @, no
// long number.
func plainWord(s []byte) bool {
	if len(s) > 100 {
		return false
	}
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits >= 8 {
				return false
			}
			continue
		case c < ' ' || c >= 0x7F || c == '@':
			return false
		}
		digits = 0
	}
	return true
}
