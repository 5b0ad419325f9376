package sanitize

import (
	"bytes"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// form1 appends the form of a literal's text.
func (l *langWalk) form1(dst, text []byte, kind litKind, field string) ([]byte, reason) {
	switch kind {
	case litValue:
		return l.valueText(dst, text, pTerm, field)
	case litText:
		return l.valueText(dst, text, pT, field)
	case litBound:
		return l.valueText(dst, text, pBound, field)
	case litLike:
		return l.like(dst, text, field)
	case litWildcard:
		return l.valueText(dst, text, pWildcard, field)
	case litRegexp:
		return l.valueText(dst, text, pRegexp, field)
	case litLucene:
		return l.luceneText(dst, text)
	case litKQL:
		return l.kql(dst, text)
	case litSimple:
		return l.simpleText(dst, text)
	case litPlace:
		if l.p.cfg.Geo != "keep" {
			return dst, dropGeo
		}
		return l.Worker.text.text(dst, text), kept
	}
	return l.formOther(dst, text, kind)
}

// valueText appends the form of a text that a field is compared with, as the
// same text has it in the clause that prim stands for.
func (w *Worker) valueText(dst, text []byte, p prim, field string) ([]byte, reason) {
	out, why := w.rewriteAs(nil, es.AppendQuoted(nil, text), func(r *rewriter) reason {
		r.path = append(r.path[:0], field...)
		return r.node(node{scalar: p})
	})
	if why != kept {
		return dst, why
	}
	dst, ok := es.Unquote(dst, out)
	if !ok {
		return dst, dropQueryLanguage
	}
	return dst, kept
}

// valueNumberText is valueText for a number. It stays one, or drops the record.
func (w *Worker) valueNumberText(dst, raw []byte, p prim, field string) ([]byte, reason) {
	out, why := w.rewriteAs(nil, raw, func(r *rewriter) reason {
		r.path = append(r.path[:0], field...)
		return r.node(node{scalar: p})
	})
	if why == dropJSON || why == kept && !isNumber(out) {
		why = dropQueryLanguage
	}
	return append(dst, out...), why
}

// like appends a pattern of LIKE: % and _ are * and ? of a wildcard.
func (l *langWalk) like(dst, text []byte, field string) ([]byte, reason) {
	if bytes.ContainsAny(text, "*?\\") {
		l.note(broken, "wildcard")
		return l.valueText(dst, text, pTerm, field)
	}
	mark := len(dst)
	dst, why := l.valueText(dst, swapped(text, "%_", "*?"), pWildcard, field)
	copy(dst[mark:], swapped(dst[mark:], "*?", "%_"))
	return dst, why
}

// swapped is text with the characters of from replaced by those of to.
func swapped(text []byte, from, to string) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if j := strings.IndexByte(from, c); j >= 0 {
			out[i] = to[j]
		}
	}
	return out
}

// formOther is form1 for literals that are no values.
func (l *langWalk) formOther(dst, text []byte, kind litKind) ([]byte, reason) {
	switch kind {
	case litDate:
		if up := string(upperASCII(text)); isUnit(up) || isDateFormat(text) {
			l.interval(up)
			l.post.keep(text)
			return append(dst, text...), kept
		}
		if isTimeZone(text) {
			l.post.keep(text)
			return append(dst, text...), kept
		}
		return l.valueText(dst, text, pBound, "")
	case litFields:
		for i, name := range bytes.Split(text, []byte{','}) {
			if i > 0 {
				dst = append(dst, ',')
			}
			plain := bytes.TrimLeft(name, " ")
			dst = append(dst, name[:len(name)-len(plain)]...)
			dst = l.field(dst, plain)
		}
		return dst, kept
	case litName:
		return l.chosen(dst, text), kept
	case litOptions, litOption:
		extra := "%"
		if kind == litOptions {
			extra = "=;,~%"
		}
		if !looksLikeSchema(text, extra) || bytes.IndexByte(text, '@') >= 0 {
			if kind == litOption && isSpan(text) {
				return append(dst, text...), kept
			}
			return dst, dropStructural
		}
		if bytes.Contains(text, []byte("fuzziness")) {
			l.note(broken, "fuzzy")
		}
	case litPath:
		if !looksLikeSchema(text, "[]{}") {
			return dst, dropQueryLanguage
		}
	case litDissect:
		return l.dissect(dst, text)
	case litGrok:
		return l.grok(dst, text)
	case litGroups:
		return l.groups(dst, text)
	}
	l.post.keep(text)
	return append(dst, text...), kept
}

// isSpan tells what stands in INTERVAL '1 12:30' and after ESCAPE: signs, and no
// more than four digits in a row.
func isSpan(text []byte) bool {
	run := 0
	for _, c := range text {
		if c >= 0x80 || asciiClass(c) == classLetter {
			return false
		}
		if run++; asciiClass(c) != classDigit {
			run = 0
		}
		if run > 4 {
			return false
		}
	}
	return len(text) <= 32
}

func (l *langWalk) regexpForm(dst, text []byte) ([]byte, reason) {
	out, whole, ok := l.regexpText(dst, text)
	if !ok {
		return out, dropUnparsableQuery
	}
	if !whole {
		l.note(broken, "regexp")
	}
	return out, kept
}

// kql appends the form of a query in Kibana's language, which reads like
// Lucene's but for comparisons and nested fields.
func (l *langWalk) kql(dst, text []byte) ([]byte, reason) {
	if bytes.ContainsAny(text, "{}<>/[]^~") {
		return dst, dropUnparsableQuery
	}
	return l.luceneText(dst, text)
}

// dissect appends a pattern of DISSECT: names go the way of fields, the text
// between them becomes its pseudonym.
func (l *langWalk) dissect(dst, text []byte) ([]byte, reason) {
	return l.keyed(dst, text, "%{", "}", func(dst, key []byte) ([]byte, reason) {
		name, order, _ := bytes.Cut(bytes.TrimRight(bytes.TrimLeft(key, "+?&*"), "->"), []byte{'/'})
		if name = bytes.TrimRight(name, "->"); !l.fieldStays(name) || !digitsAt(order, 0, len(order)) {
			return dst, dropQueryLanguage
		}
		l.post.keep(name)
		return append(dst, key...), kept
	}, func(dst, part []byte) ([]byte, reason) { return l.Worker.text.text(dst, part), kept })
}

// grok appends a pattern of GROK: %{PATTERN:name:type}, regular expressions
// between them.
func (l *langWalk) grok(dst, text []byte) ([]byte, reason) {
	return l.keyed(dst, text, "%{", "}", func(dst, key []byte) ([]byte, reason) {
		for _, part := range bytes.Split(key, []byte{':'}) {
			if !l.fieldStays(part) {
				return dst, dropQueryLanguage
			}
			l.post.keep(part)
		}
		return append(dst, key...), kept
	}, l.groups)
}

// groups appends a regular expression of Java, whose groups may have names.
func (l *langWalk) groups(dst, text []byte) ([]byte, reason) {
	return l.keyed(dst, text, "(?<", ">", func(dst, key []byte) ([]byte, reason) {
		if !looksLikeSchema(key, "") || len(key) == 0 {
			return dst, dropQueryLanguage
		}
		l.post.keep(key)
		return append(dst, key...), kept
	}, func(dst, part []byte) ([]byte, reason) {
		if bytes.Contains(part, []byte("(?")) && !bytes.Contains(part, []byte("(?:")) || bytes.Contains(part, []byte(`\Q`)) {
			return dst, dropUnparsableQuery
		}
		if bytes.ContainsAny(part, `\.*+?[({|`) {
			l.note(broken, "regexp")
		}
		return l.regexpForm(dst, part)
	})
}

// keyed cuts text at the keys between open and end, and appends keys and parts
// by their forms.
func (l *langWalk) keyed(dst, text []byte, open, end string, key, part func(dst, s []byte) ([]byte, reason)) ([]byte, reason) {
	for first := true; ; first = false {
		i := bytes.Index(text, []byte(open))
		if i < 0 {
			i = len(text)
		}
		var why reason
		if i > 0 && inRun(text, i-1) || !first && len(text) > 0 && inRun(text, 0) {
			l.note(broken, "extract")
		}
		if dst, why = part(dst, text[:i]); why != kept || i == len(text) {
			return dst, why
		}
		text = text[i+len(open):]
		n := bytes.Index(text, []byte(end))
		if n < 0 {
			return dst, dropQueryLanguage
		}
		dst = append(dst, open...)
		if dst, why = key(dst, text[:n]); why != kept {
			return dst, why
		}
		dst = append(dst, end...)
		text = text[n+len(end):]
	}
}

// isDateFormat tells yyyy-MM-dd'T'HH:mm and %Y-%m-%d: runs of one letter, which
// spell nothing.
func isDateFormat(text []byte) bool {
	if len(text) == 0 || len(text) > 64 {
		return false
	}
	for i, c := range text {
		switch {
		case c >= 0x80, asciiClass(c) == classDigit:
			return false
		case asciiClass(c) == classSep:
			if strings.IndexByte("'-/.:,% []+_()", c) < 0 {
				return false
			}
		case !bytes.ContainsAny(text[i:i+1], "yYuUMLdDeEaAhHkKmsSnNGQqwWzZxXVOBFTijcbpfrIlv"):
			return false
		case i > 0 && asciiClass(text[i-1]) == classLetter && text[i-1] != c:
			return false
		}
	}
	return true
}
