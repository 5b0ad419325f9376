package main

import (
	"bufio"
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// dumpLine handles one line of elasticdump: a document as a search gives it, or
// what an index is made with.
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
	d := defFilter{f: f}
	out := d.line(line, members)
	return out, d.bad
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

// value is the form of a string value of a document.
func (f *dumpFilter) value(v string) (string, bool) {
	return f.asked("v"+v, func() []byte {
		return es.AppendQuoted(append(f.body[:0], `{"index":{}}`+"\n"+`{"a":`...), []byte(v))
	}, "}\n", func(out []byte) string {
		_, doc, _ := bytes.Cut(out, []byte(`"a":`))
		return firstString(doc)
	})
}
