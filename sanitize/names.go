package sanitize

import (
	"bytes"
	"slices"
)

// looksLikeSchema tells a name that a developer gave to a part of a schema from
// one that data became: ASCII letters, digits, _ - * and dots, an @ or $ or # at
// the start of a part only, few digits. extra are further characters to allow.
func looksLikeSchema(name []byte, extra string) bool {
	if len(name) > 128 {
		return false
	}
	run, digits := 0, 0
	start := true
	for _, c := range name {
		switch {
		case c >= '0' && c <= '9':
			run++
			digits++
			if run > 4 || digits > 8 {
				return false
			}
			start = false
			continue
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '-', c == '*':
			start = false
		case c == '.':
			start, digits = true, 0
		case (c == '@' || c == '$' || c == '#') && start:
			start = false
		case extra != "" && bytes.IndexByte([]byte(extra), c) >= 0:
			start, digits = true, 0
		default:
			return false
		}
		run = 0
	}
	return true
}

// fieldStays tells that a field's name is kept.
func (w *Worker) fieldStays(name []byte) bool {
	switch w.p.cfg.FieldNames {
	case "keep":
		return true
	case "pseudonym":
		return len(name) == 0 || name[0] == '_' || name[0] == '@' || name[0] == '*'
	}
	if looksLikeSchema(name, "[]") {
		return true
	}
	if w.p.cfg.FieldNames == "drop-record" {
		w.denied = dropRule
	}
	return false
}

// field appends the form of a field name, or of a pattern of them, that may be
// followed by ^boost or :order.
func (w *Worker) field(dst, name []byte) []byte {
	end := len(name)
	if i := bytes.LastIndexAny(name, "^:"); i > 0 {
		if tail := name[i+1:]; isNumber(tail) || string(tail) == "asc" || string(tail) == "desc" {
			end = i
		}
	}
	if w.keepField(name[:end]) {
		return append(dst, name...)
	}
	if bytesHas(name[:end], '.') {
		w.note(broken, "field_name")
	}
	dst = w.text.text(dst, name[:end])
	return append(dst, name[end:]...)
}

// fieldList is field for names joined by commas.
func (w *Worker) fieldList(dst, names []byte) []byte {
	for {
		name, rest, more := bytes.Cut(names, []byte{','})
		if dst = w.field(dst, name); !more {
			return dst
		}
		dst, names = append(dst, ','), rest
	}
}

// chosen appends the form of a caller-chosen name: of an aggregation, a filter,
// a template, a pipeline. Names of answers go the same way.
func (w *Worker) chosen(dst, name []byte) []byte {
	if w.keepChosen(name) {
		return append(dst, name...)
	}
	return w.text.text(dst, name)
}

// namePath appends the form of names joined by ">", with a metric behind a dot
// or in brackets at the end.
func (w *Worker) namePath(dst, path []byte) []byte {
	for i, part := range bytes.Split(path, []byte{'>'}) {
		if i > 0 {
			dst = append(dst, '>')
		}
		end := len(part)
		if j := bytes.LastIndexAny(part, ".["); j > 0 && isMetric(part[j:]) {
			end = j
		}
		dst = w.chosen(dst, part[:end])
		dst = append(dst, part[end:]...)
	}
	return dst
}

// isMetric tells ".value", ".99.5", "[99]" … at the end of a path.
func isMetric(tail []byte) bool {
	if tail[0] == '[' {
		return tail[len(tail)-1] == ']' && isNumber(tail[1:len(tail)-1])
	}
	switch string(tail[1:]) {
	case "value", "values", "count", "min", "max", "avg", "sum", "std_deviation", "variance", "sum_of_squares",
		"doc_count", "normalized_value", "_count", "_key", "std_deviation_bounds", "upper", "lower":
		return true
	}
	return isNumber(tail[1:])
}

// isNumber tells an optional sign, digits, and an optional fraction.
func isNumber(s []byte) bool {
	digits, point := false, false
	for i, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits = true
		case c == '.' && digits && !point:
			point = true
		case (c == '-' || c == '+') && i == 0:
		default:
			return false
		}
	}
	return digits
}

func bytesHas(s []byte, c byte) bool { return bytes.IndexByte(s, c) >= 0 }

// maxID and maxIndex are the engines' bounds of an _id and of an index name.
const (
	maxID    = 512
	maxIndex = 255
)

// id appends the pseudonym of a document id or routing value.
func (w *Worker) id(dst, id []byte) []byte {
	if w.p.cfg.IDs.Action == "keep" {
		w.post.keep(id)
		return append(dst, id...)
	}
	start := len(dst)
	dst = w.ids.text(dst, id)
	if len(dst)-start > maxID && len(id) <= maxID {
		dst = w.ids.digest(dst[:start], id)
	}
	return dst
}

// preference appends the form of a search preference: what the engine gives a
// meaning stays, a session's key is an id.
func (w *Worker) preference(dst, s []byte) []byte {
	for _, p := range []string{"_local", "_only_local", "_primary", "_primary_first", "_replica", "_replica_first"} {
		if string(s) == p {
			return append(dst, s...)
		}
	}
	if shards, rest, ok := bytes.Cut(s, []byte{'|'}); ok && bytes.HasPrefix(shards, []byte("_shards:")) && OptionLike(shards) {
		return w.preference(append(append(dst, shards...), '|'), rest)
	}
	if bytes.HasPrefix(s, []byte("_shards:")) && isNumber(bytes.ReplaceAll(s[8:], []byte{','}, nil)) {
		return append(dst, s...)
	}
	return w.id(dst, s)
}

// indexExpr appends the form of an index expression: names, patterns,
// exclusions, remote clusters and date math, joined by commas.
func (w *Worker) indexExpr(dst, expr []byte) []byte {
	if len(expr) > 0 && string(expr) == string(w.indexIn) { // the lines of a bulk repeat theirs
		return append(dst, w.indexOut...)
	}
	start := len(dst)
	dst = w.indexParts(dst, expr)
	w.indexIn, w.indexOut = append(w.indexIn[:0], expr...), append(w.indexOut[:0], dst[start:]...)
	return dst
}

func (w *Worker) indexParts(dst, expr []byte) []byte {
	for {
		part, rest, more := bytes.Cut(expr, []byte{','})
		if dst = w.indexPart(dst, part); !more {
			return dst
		}
		dst, expr = append(dst, ','), rest
	}
}

func (w *Worker) indexPart(dst, part []byte) []byte {
	if len(part) > 0 && part[0] == '-' {
		dst = append(dst, '-')
		part = part[1:]
	}
	if bytes.HasPrefix(part, []byte("<")) {
		return w.dateMathIndex(dst, part)
	}
	if cluster, name, ok := bytes.Cut(part, []byte{':'}); ok {
		dst = append(w.indexName(dst, cluster), ':')
		part = name
	}
	return w.indexName(dst, part)
}

// dateMathIndex handles <name-{now/d}>: what braces hold stays.
func (w *Worker) dateMathIndex(dst, part []byte) []byte {
	for len(part) > 0 {
		i := bytes.IndexByte(part, '{')
		if i < 0 {
			i = len(part)
		}
		dst = w.indexName(dst, part[:i])
		part = part[i:]
		end, depth := 0, 0
		for end < len(part) {
			c := part[end]
			end++
			if c == '{' {
				depth++
			} else if c == '}' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if math := part[:end]; dateMathOnly(math) {
			dst = append(dst, math...)
		} else {
			dst = w.index.text(dst, math)
		}
		part = part[end:]
	}
	return dst
}

// dateMathOnly tells {now/d{yyyy.MM.dd|+12:00}} and the like.
func dateMathOnly(s []byte) bool {
	if len(s) > 64 {
		return false
	}
	run := 0
	for _, c := range s {
		switch asciiClass(c) {
		case classLetter:
			if !bytes.ContainsAny([]byte{c}, "nowyMdhHmsSuwWDEaQYkKzZxXGeL") {
				return false
			}
		case classDigit:
			if run++; run > 4 {
				return false
			}
			continue
		}
		run = 0
	}
	return true
}

// indexName appends the form of one name or pattern.
func (w *Worker) indexName(dst, name []byte) []byte {
	if w.indexStays(name) {
		w.post.keep(name)
		return append(dst, name...)
	}
	if bytesHas(name, '*') && !delimited(name, "*") {
		w.note(broken, "index_pattern")
	}
	body, suffix := name, []byte(nil)
	if *w.p.cfg.Indices.KeepDateSuffix {
		body, suffix = cutDateSuffix(name)
	}
	start := len(dst)
	dst = w.index.text(dst, body)
	dst = append(dst, suffix...)
	if len(dst)-start > maxIndex && len(name) <= maxIndex {
		dst = w.index.digest(dst[:start], name)
	}
	return dst
}

func (w *Worker) indexStays(name []byte) bool {
	if w.p.cfg.Indices.Other == "keep" || string(name) == "_all" || string(name) == "*" || len(name) == 0 {
		return true
	}
	return slices.ContainsFunc(w.p.cfg.Indices.Keep, func(g string) bool { return glob(g, string(name)) })
}

// cutDateSuffix cuts "-2024.05.01", "-2024-05", "-2024" and "-000001" off a
// name, in any of their combinations.
func cutDateSuffix(name []byte) (body, suffix []byte) {
	end := len(name)
	for {
		i := end
		for i > 0 && (name[i-1] >= '0' && name[i-1] <= '9' || name[i-1] == '.' || name[i-1] == '*') {
			i--
		}
		if i == end || i < 2 || name[i-1] != '-' && name[i-1] != '_' || !dateDigits(name[i:end]) {
			return name[:end], name[end:]
		}
		end = i - 1
	}
}

// dateDigits tells 2024, 2024.05, 2024.05.01, 20240501, 05, 000001 and patterns
// of them.
func dateDigits(s []byte) bool {
	s = bytes.TrimRight(s, "*.")
	parts := bytes.Split(s, []byte{'.'})
	if len(parts) > 3 {
		return false
	}
	for i, p := range parts {
		switch {
		case i > 0 && len(p) > 2, bytesHas(p, '*'):
			return false
		case len(p) == 8:
			return dateLen(slices.Concat(p[:4], []byte{'-'}, p[4:6], []byte{'-'}, p[6:])) == 10
		case len(p) == 6 && p[0] != '0' && two(p, 0) != 19 && two(p, 0) != 20:
			return false
		case len(p) == 4 && two(p, 0) != 19 && two(p, 0) != 20:
			return false
		case len(p) > 6, len(p) == 5, len(p) == 3:
			return false
		}
	}
	return true
}

// delimited tells that no run of letters, digits or Han touches one of the
// pattern characters: the pattern then matches the pseudonyms of what it
// matched.
func delimited(s []byte, pattern string) bool {
	for i, c := range s {
		if bytes.IndexByte([]byte(pattern), c) < 0 {
			continue
		}
		if i > 0 && inRun(s, i-1) || i+1 < len(s) && inRun(s, i+1) {
			return false
		}
	}
	return true
}

// inRun tells that the byte at i belongs to a run.
func inRun(s []byte, i int) bool {
	return s[i] >= 0x80 || asciiClass(s[i]) != classSep
}
