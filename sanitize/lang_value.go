package sanitize

import (
	"bytes"
	"strings"
)

// litKind says what a literal is, and so what becomes of it.
type litKind uint8

const (
	litValue    litKind = iota
	litText             // searched for
	litBound            // of a range
	litLike             // pattern with % and _
	litWildcard         // pattern with * and ?
	litRegexp
	litLucene
	litSimple
	litKQL
	litFields  // names, joined by commas
	litDate    // part of a date, format or date
	litOptions // k=v;k=v
	litOption
	litName // chosen by a caller
	litPath // into a JSON document
	litDissect
	litGrok
	litGroups // Java's regular expression with named groups
	litPlace
)

// literal handles the literal at i.
func (l *langWalk) literal(i int) reason {
	f := l.frame()
	field, op := l.operand(i)
	if l.lang == langPPL && l.sign(i+1) == "=" && op == opNone {
		return dropQueryLanguage // a name in the quotes of a literal
	}
	if l.lang == langESQL && f.open == '{' || f.open == '[' && l.lang == langESQL && f.op == opMatch {
		return l.option(i)
	}
	kind, field := l.place(i, field, op)
	why := l.put(i, kind, field)
	if l.lang == langPPL && l.command == "SEARCH" && len(l.frames) == 1 {
		f.field, f.op = "", opNone
	}
	return why
}

// operand is the field that the literal at i is compared with, and how.
func (l *langWalk) operand(i int) (field string, op langOp) {
	f := l.frame()
	if f.op != opNone || l.lang == langPPL && l.command == "SEARCH" {
		return f.field, f.op
	}
	switch l.sign(i + 1) { // literal = field
	case "=", "==", "=~", "!=", "<>":
		op = opEqual
	case "<", ">", "<=", ">=":
		op = opRange
	default:
		return f.field, f.op
	}
	if k := l.kind(i + 2); k != langWord && k != langName {
		return "", op
	}
	return l.path(i+2, l.nameEnd(i+2)), op
}

// place says what the literal at i is, and which field's rules hold for it.
func (l *langWalk) place(i int, field string, op langOp) (litKind, string) {
	f := l.frame()
	switch op {
	case opEqual:
		if l.lang == langPPL || l.lang == langOpenSQL {
			return l.assigned(field)
		}
		return litValue, field
	case opRange:
		return litBound, field
	case opLike:
		if l.lang == langESQL || l.lang == langEQL {
			return litWildcard, field
		}
		return litLike, field
	case opSame:
		return litWildcard, field
	case opRegexp:
		if l.lang == langPPL || l.lang == langOpenSQL {
			return litGroups, field
		}
		return litRegexp, field
	case opMatch:
		return litText, field
	case opEscape, opSpan:
		return litOption, ""
	}
	if f.fn != "" {
		return l.argument(f)
	}
	switch l.command {
	case "DISSECT":
		return litDissect, field
	case "GROK":
		return litGrok, field
	case "PARSE", "REX":
		return litGroups, field
	case "RERANK", "SEARCH":
		return litText, field
	}
	switch l.word(i - 1) {
	case "DATE", "TIME", "TIMESTAMP", "D", "T", "TS":
		return litBound, field
	}
	return litValue, ""
}

// assigned is place for name='literal' of PPL and of OpenSearch's SQL, where
// arguments of functions and commands may be given by name.
func (l *langWalk) assigned(field string) (litKind, string) {
	f := l.frame()
	if f.fn != "" && searchKind(f.fn, l.lang) != 0 {
		if strings.EqualFold(field, "fuzziness") {
			l.note(broken, "fuzzy")
		}
		return litOption, ""
	}
	switch l.command {
	case "WHERE", "EVAL", "SEARCH", "SELECT", "":
		return litValue, field
	case "REX":
		if strings.EqualFold(field, "mode") {
			return litOption, ""
		}
		return litGroups, field
	case "REGEX":
		return litGroups, field
	}
	switch strings.ToLower(field) {
	case "time_field", "category_field", "field", "input", "output":
		return litFields, ""
	}
	return litValue, field
}

// argument is place for the arguments of a function.
func (l *langWalk) argument(f *langFrame) (litKind, string) {
	kind := searchKind(f.fn, l.lang)
	switch {
	case kind == 0:
	case l.lang == langESQL || l.lang == langEQL:
		if f.fn == "TEXT_EMBEDDING" && f.arg > 0 {
			return litName, ""
		}
		return kind, f.first
	case f.arg == 0 && f.fn != "QUERY":
		return litFields, ""
	case f.arg > 1, f.arg == 1 && f.fn == "QUERY":
		return litOptions, ""
	default:
		return kind, f.first
	}
	switch {
	case strings.HasPrefix(f.fn, "JSON_"):
		if f.arg > 0 && (f.fn != "JSON_SET" || f.arg%2 == 1) {
			return litPath, ""
		}
		return litValue, ""
	case strings.HasPrefix(f.fn, "ST_"), strings.HasPrefix(f.fn, "TO_GEO"), strings.HasPrefix(f.fn, "TO_CARTESIAN"):
		return litPlace, ""
	case takesDate(f.fn):
		return litDate, ""
	case f.fn == "RLIKE", f.fn == "REGEXP", f.fn == "REGEXP_MATCH", f.fn == "REGEX_MATCH", f.fn == "REGEXP_REPLACE", f.fn == "REPLACE":
		return litGroups, ""
	case f.fn == "LIKE", f.fn == "ILIKE":
		return litLike, f.first
	case f.fn == "BETWEEN" && l.lang == langEQL:
		return litValue, ""
	}
	return litValue, ""
}

// option handles a string of an options map of ES|QL.
func (l *langWalk) option(i int) reason {
	text, ok := l.d.unquote(l.text[:0], l.raw(i))
	l.text = text
	f := l.frame()
	switch {
	case !ok:
		return dropQueryLanguage
	case l.sign(i+1) == ":" && f.open == '{':
		if !looksLikeSchema(text, "") {
			return dropStructural
		}
		f.field, f.op = string(text), opMatch
		l.post.keep(text)
		l.out = append(l.out, l.raw(i)...)
		return kept
	case f.field == "fuzziness":
		l.note(broken, "fuzzy")
	case f.field == "inference_id" || f.field == "model_id":
		return l.put(i, litName, "")
	}
	return l.put(i, litOption, "")
}

// put writes the literal at i as a literal of some kind.
func (l *langWalk) put(i int, kind litKind, field string) reason {
	raw := l.raw(i)
	text, ok := l.d.unquote(l.text[:0], raw)
	l.text = text
	if !ok {
		return dropQueryLanguage
	}
	form, why := l.form1(l.form[:0], text, kind, field)
	l.form = form
	switch {
	case why != kept:
		return why
	case bytes.Equal(form, text):
		l.out = append(l.out, raw...)
	default:
		l.out = l.d.quote(l.out, raw, form)
	}
	return kept
}

// number handles the number at i.
func (l *langWalk) number(i int) reason {
	f, raw := l.frame(), l.raw(i)
	field, op := l.operand(i)
	if l.lang == langPPL && l.command == "SEARCH" && len(l.frames) == 1 {
		defer func() { f.field, f.op = "", opNone }()
	}
	if pl := l.planFor([]byte(field)); (op == opEqual || op == opRange) && (pl != &l.other || !pl.action.replaces()) {
		p := pTerm
		if op == opRange {
			p = pBound
		}
		out, why := l.valueNumberText(l.out, raw, p, field)
		l.out = out
		return why
	}
	switch {
	case isVectorFunction(f.fn) && l.p.cfg.Vectors == "drop":
		return dropVector
	case len(raw) <= 10 && (op == opAmount || l.kind(i+1) == langWord && (l.glued(i+1) || isUnit(l.word(i+1)))),
		len(raw) <= 2 && field != "_id":
		l.post.keep(raw)
		l.out = append(l.out, raw...)
		return kept
	case strings.HasPrefix(f.fn, "ST_") && l.p.cfg.Geo != "keep":
		return dropGeo
	case op == opEqual && (field == "_id" || field == "_routing") && digitsAt(raw, 0, len(raw)):
		l.out = l.id(l.out, raw)
		return kept
	}
	mark := len(l.out)
	plain, point := bytes.CutSuffix(raw, []byte{'.'})
	if l.out = l.Worker.number(l.out, plain); point {
		l.out = append(l.out, '.')
	}
	if op != opEqual && !bytes.Equal(l.out[mark:], raw) {
		l.note(broken, "number_range")
	}
	return kept
}
