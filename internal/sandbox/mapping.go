package sandbox

import (
	"errors"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// fieldType is how the values of a field are kept and searched.
type fieldType uint8

const (
	keyword fieldType = iota
	text
	long
	double
	date
	boolean
)

// typeNames are the mapping types that are known, and how each is kept.
func typeNames(name string) (fieldType, bool) {
	switch name {
	case "keyword", "ip", "constant_keyword", "version":
		return keyword, true
	case "text", "match_only_text":
		return text, true
	case "long", "integer", "short", "byte", "unsigned_long":
		return long, true
	case "double", "float", "half_float", "scaled_float":
		return double, true
	case "date", "date_nanos":
		return date, true
	case "boolean":
		return boolean, true
	}
	return 0, false
}

// field is one field of a mapping, multi-fields included. It never changes once
// it is part of a mapping.
type field struct {
	path        string
	typ         fieldType
	name        string // as the mapping says: "integer"
	ord         int    // place of its values in doc.cols
	sub         bool   // a multi-field of the field before its last dot
	ignoreAbove int
	seconds     bool   // date whose numbers are epoch seconds
	format      string // as given
	subs        []*field
}

// mapping is the fields of an index. It is never changed: extend makes another.
type mapping struct {
	byPath  map[string]*field
	dynamic string // "true", "false", "strict"
	n       int    // fields
}

const maxFields = 1000

func emptyMapping() *mapping { return &mapping{byPath: map[string]*field{}, dynamic: "true"} }

// extend is the mapping with more fields; their ordinals are set.
func (m *mapping) extend(fields []*field) *mapping {
	out := &mapping{byPath: make(map[string]*field, len(m.byPath)+len(fields)), dynamic: m.dynamic, n: m.n}
	for p, f := range m.byPath {
		out.byPath[p] = f
	}
	var add func(f *field)
	add = func(f *field) {
		f.ord = out.n
		out.n++
		out.byPath[f.path] = f
		for _, s := range f.subs {
			add(s)
		}
	}
	for _, f := range fields {
		add(f)
	}
	return out
}

// readMapping reads the mappings object of an index and lays it over m.
func (m *mapping) readMapping(n *node) (*mapping, error) {
	if n.isNull() {
		return m, nil
	}
	if !n.isObject() {
		return nil, failf(400, "mapper_parsing_exception", "[mappings] must be an object")
	}
	out := m
	if d, ok := n.get("dynamic").str(); ok {
		if d == "runtime" {
			return nil, unsupported("dynamic: runtime")
		}
		out = m.extend(nil)
		out.dynamic = d
	}
	var fields []*field
	if err := out.readProperties(n.get("properties"), "", &fields); err != nil {
		return nil, err
	}
	var fresh []*field
	for _, f := range fields {
		have, ok := m.byPath[f.path]
		if !ok {
			fresh = append(fresh, f)
		} else if have.name != f.name {
			return nil, illegal("mapper [%s] cannot be changed from type [%s] to [%s]", f.path, have.name, f.name)
		}
	}
	if m.n+len(fresh) > maxFields {
		return nil, illegal("Limit of total fields [%d] has been exceeded", maxFields)
	}
	return out.extend(fresh), nil
}

func (m *mapping) readProperties(n *node, prefix string, out *[]*field) error {
	if n.isNull() {
		return nil
	}
	if !n.isObject() {
		return failf(400, "mapper_parsing_exception", "[properties] must be an object")
	}
	for i, name := range n.keys {
		def := n.kids[i]
		typ, ok := def.get("type").str()
		if !ok && def.get("properties") != nil || typ == "object" {
			if err := m.readProperties(def.get("properties"), prefix+name+".", out); err != nil {
				return err
			}
			continue
		}
		f, err := readField(prefix+name, def)
		if err != nil {
			return err
		}
		*out = append(*out, f)
	}
	return nil
}

func readField(path string, def *node) (*field, error) {
	bad := func(format string, args ...any) error {
		return failf(400, "mapper_parsing_exception", format, args...)
	}
	name, ok := def.get("type").str()
	if !ok {
		return nil, bad("No type specified for field [%s]", path)
	}
	typ, ok := typeNames(name)
	if !ok {
		return nil, bad("No handler for type [%s] declared on field [%s] (the esshadow sandbox knows keyword, ip, text, the numbers, date and boolean)", name, path)
	}
	f := &field{path: path, typ: typ, name: name}
	if a, ok := def.get("analyzer").str(); ok && a != "standard" {
		return nil, bad("analyzer [%s] has not been configured in mappings", a)
	}
	var err error
	if f.ignoreAbove, err = def.integer("ignore_above", 0); err != nil {
		return nil, err
	}
	f.format, _ = def.get("format").str()
	f.seconds = strings.Contains(f.format, "epoch_second")
	fields := def.get("fields")
	if fields == nil {
		return f, nil
	}
	for i, k := range fields.keys {
		s, err := readField(path+"."+k, fields.kids[i])
		if err != nil {
			return nil, err
		}
		s.sub = true
		f.subs = append(f.subs, s)
	}
	return f, nil
}

// dynamicField is the field that a value of an unmapped path makes, nil where
// the value says nothing about its type.
func dynamicField(path string, v *node) *field {
	switch v.kind {
	case es.True, es.False:
		return &field{path: path, typ: boolean, name: "boolean"}
	case es.Number:
		if _, err := strconv.ParseInt(v.text, 10, 64); err == nil {
			return &field{path: path, typ: long, name: "long"}
		}
		return &field{path: path, typ: double, name: "float"}
	case es.String:
		if looksLikeDate(v.text) {
			return &field{path: path, typ: date, name: "date"}
		}
		return &field{path: path, typ: text, name: "text", subs: []*field{
			{path: path + ".keyword", typ: keyword, name: "keyword", sub: true, ignoreAbove: 256},
		}}
	}
	return nil
}

// value is one value of a field: s for keyword, text and boolean; n for long,
// date (ms) and boolean; f for every number.
type value struct {
	s string
	n int64
	f float64
}

// parse reads a value of a document.
func (f *field) parse(v *node) (value, bool, error) {
	s, ok := v.str()
	if !ok {
		return value{}, false, failf(400, "document_parsing_exception", "failed to parse field [%s] of type [%s]: a value was expected", f.path, f.name)
	}
	if f.typ == keyword && f.ignoreAbove > 0 && len([]rune(s)) > f.ignoreAbove {
		return value{}, false, nil
	}
	if s == "" && f.typ != keyword && f.typ != text && f.typ != boolean {
		return value{}, false, f.unreadable(s)
	}
	out, err := f.read(s)
	return out, err == nil, err
}

func (f *field) unreadable(s string) error {
	if len(s) > 60 {
		s = s[:60]
	}
	return failf(400, "document_parsing_exception", "failed to parse field [%s] of type [%s]. Preview of field's value: '%s'", f.path, f.name, s)
}

// read reads the text of a value as the field's type wants it.
func (f *field) read(s string) (value, error) {
	switch f.typ {
	case long:
		return f.readLong(s)
	case double:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return value{}, f.unreadable(s)
		}
		if f.name == "float" {
			x = float64(float32(x))
		}
		return value{f: x}, nil
	case date:
		t, _, err := parseDate(s, f.seconds)
		if err != nil {
			unreadable := f.unreadable(s)
			if bad := (*failure)(nil); errors.As(unreadable, &bad) {
				bad.cause = illegal("%v", err)
			}
			return value{}, unreadable
		}
		return value{n: t.UnixMilli(), f: float64(t.UnixMilli())}, nil
	case boolean:
		switch s {
		case "true":
			return value{s: s, n: 1, f: 1}, nil
		case "false", "":
			return value{s: "false"}, nil
		}
		return value{}, f.unreadable(s)
	}
	return value{s: s}, nil
}

// readLong reads a whole number; a fraction is cut off, as coerce does.
func (f *field) readLong(s string) (value, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value{n: n, f: float64(n)}, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(x) >= 1<<63 || math.IsNaN(x) {
		return value{}, f.unreadable(s)
	}
	n := int64(x)
	return value{n: n, f: float64(n)}, nil
}

// whole says whether the values of a field are whole numbers, kept in n.
func (f *field) whole() bool { return f.typ == long || f.typ == date || f.typ == boolean }

// numeric says whether f of its values means something.
func (f *field) numeric() bool { return f.typ == double || f.whole() }

// append writes the mappings object.
func (m *mapping) append(b []byte) []byte {
	b = append(b, '{')
	if m.dynamic != "true" {
		b = append(b, `"dynamic":`...)
		b = appendString(b, m.dynamic)
		if m.n > 0 {
			b = append(b, ',')
		}
	}
	paths := make([]string, 0, len(m.byPath))
	for p, f := range m.byPath {
		if !f.sub {
			paths = append(paths, p)
		}
	}
	sort.Strings(paths)
	if len(paths) > 0 {
		b = append(b, `"properties":{`...)
		b = append(m.appendLevel(b, paths, 0), '}')
	}
	return append(b, '}')
}

// appendLevel writes the fields of sorted paths, the first depth bytes of which
// agree.
func (m *mapping) appendLevel(b []byte, paths []string, depth int) []byte {
	for i := 0; i < len(paths); {
		if i > 0 {
			b = append(b, ',')
		}
		name, _, below := strings.Cut(paths[i][depth:], ".")
		b = append(appendString(b, name), ':')
		if !below {
			b = m.byPath[paths[i]].append(b)
			i++
			continue
		}
		prefix := paths[i][:depth] + name + "."
		j := i
		for j < len(paths) && strings.HasPrefix(paths[j], prefix) {
			j++
		}
		b = append(b, `{"properties":{`...)
		b = append(m.appendLevel(b, paths[i:j], len(prefix)), `}}`...)
		i = j
	}
	return b
}

func (f *field) append(b []byte) []byte {
	b = appendString(append(b, `{"type":`...), f.name)
	if f.ignoreAbove > 0 {
		b = appendInt(append(b, `,"ignore_above":`...), int64(f.ignoreAbove))
	}
	if f.format != "" {
		b = appendString(append(b, `,"format":`...), f.format)
	}
	for i, s := range f.subs {
		open := `,"fields":{`
		if i > 0 {
			open = `,`
		}
		b = append(appendString(append(b, open...), s.path[strings.LastIndexByte(s.path, '.')+1:]), ':')
		b = s.append(b)
	}
	if len(f.subs) > 0 {
		b = append(b, '}')
	}
	return append(b, '}')
}
