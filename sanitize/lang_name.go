package sanitize

import (
	"bytes"
	"strings"
)

// wordAt handles a word that may be a keyword or a function. next is i where it
// is a name.
func (l *langWalk) wordAt(i int) (next int, why reason) {
	up, f := l.word(i), l.frame()
	if l.sign(i+1) == "." && l.glued(i+1) {
		return i, kept
	}
	switch {
	case l.kind(i-1) == langNumber && l.glued(i):
		unit, snap, _ := strings.Cut(up, "@") // -7d@d
		if !isSuffix(unit) || snap != "" && !isSuffix(snap) {
			return i, dropQueryLanguage
		}
		l.keep(i)
		return i + 1, kept
	case l.kind(i-1) == langNumber && isUnit(up), l.isType(i):
		if !looksLikeSchema(l.raw(i), "") {
			return i, dropQueryLanguage
		}
		l.interval(up)
		l.keep(i)
		return i + 1, kept
	case f.open == '{' && (l.lang == langSQL || l.lang == langOpenSQL) && l.sign(i-1) == "{": // {d '…'}, {fn …}
		l.keep(i)
		if up == "ESCAPE" {
			f.op = opEscape
		}
		return i + 1, kept
	case l.lang == langPPL && l.command == "SEARCH" && len(l.frames) == 1 && !isKeyword(up):
		if next, why = l.searched(i); next > i || why != kept {
			return next, why
		}
	case isKeyword(up) && !l.compared(i) && !(l.sign(i+1) == "(" && isBoth(up) && !l.listed(i)):
		l.keyword(i, up)
		l.keep(i)
		return i + 1, kept
	case l.sign(i+1) == "(" || l.sign(i+1) == "~" && l.sign(i+2) == "(":
		if !looksLikeSchema(l.raw(i), "") {
			return i, dropQueryLanguage
		}
		l.called(up)
		l.keep(i)
		return i + 1, kept
	}
	return i, kept
}

// listed tells that the word at i has a list of literals behind it: it is no
// function.
func (l *langWalk) listed(i int) bool {
	first := i + 2
	if l.sign(i+1) == "~" { // of EQL
		first++
	}
	return isListWord(l.word(i)) && (l.kind(first) == langString || l.word(i) == "IN")
}

func (l *langWalk) glued(i int) bool { return i < len(l.toks) && l.toks[i].glued }

// isType tells the name of a type: after ::, and after AS in a CAST.
func (l *langWalk) isType(i int) bool {
	return l.sign(i-1) == "::" || l.word(i-1) == "AS" && (l.frame().fn == "CAST" || l.frame().fn == "CONVERT" || l.frame().fn == "TRY_CAST")
}

// compared tells that the word at i is a name although it reads as a keyword: an
// operator follows.
func (l *langWalk) compared(i int) bool {
	switch l.sign(i + 1) {
	case "=", "==", "=~", "!=", "<>", "<=>", "<", ">", "<=", ">=":
		return true
	case ":":
		return l.lang == langESQL || l.lang == langEQL
	}
	return false
}

// keyword sees to what a keyword says about the literals behind it.
func (l *langWalk) keyword(i int, up string) {
	f := l.frame()
	switch up {
	case "AND":
		if f.op == opRange && l.word(i-2) == "BETWEEN" {
			return // the second bound comes
		}
		f.field, f.op = "", opNone
	case "OR", "XOR", "WHERE", "WHEN", "THEN", "ELSE", "END", "BY", "ON", "HAVING", "SELECT", "AS", "WITH", "REPLACE", "APPEND", "CASE",
		"UNTIL", "FROM", "GROUP", "JOIN", "UNION", "FIELDS", "OVER":
		f.field, f.op = "", opNone
	case "LIKE", "ILIKE":
		f.op = opLike
	case "RLIKE", "REGEXP", "REGEX":
		f.op = opRegexp
	case "IN", "IS":
		if f.op == opNone {
			f.op = opEqual
		}
	case "BETWEEN":
		f.op = opRange
	case "LIMIT", "TOP", "OFFSET", "MAXSPAN", "RUNS":
		f.field, f.op = "", opAmount
	case "ESCAPE":
		f.op = opEscape
	case "INTERVAL":
		f.op = opSpan
	case "ORDER":
		l.note(approx, "sort")
		f.field, f.op = "", opNone
	case "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP":
		l.called(up)
	}
}

// called notes what a function does to what can be compared.
func (l *langWalk) called(fn string) {
	switch {
	case cutsText(fn):
		l.note(broken, "function")
	case fn == "MATCH_BOOL_PREFIX" || fn == "MATCH_PHRASE_PREFIX":
		l.note(broken, "prefix")
	case fn == "CONCAT" || fn == "CONCAT_WS":
		l.note(approx, "function")
	case l.p.style.shiftDates && isClock(fn):
		l.note(broken, "now")
	case l.p.style.shiftDates && takesDatePart(fn):
		l.note(broken, "date_part")
	}
}

// interval notes that dates that were moved by weeks lie in other months.
func (l *langWalk) interval(unit string) {
	switch unit {
	case "MONTH", "MONTHS", "MON", "QUARTER", "QUARTERS", "YEAR", "YEARS", "YY", "YYYY", "QQ", "MM":
		if l.p.style.shiftDates {
			l.note(approx, "interval")
		}
	}
}

// searched handles a word of PPL's search command, in which words behind an
// operator, and words alone, are values. next is i where it is a field's name.
func (l *langWalk) searched(i int) (next int, why reason) {
	end := l.nameEnd(i)
	if field := l.frame().field; l.word(i) == "NOW" && (strings.EqualFold(field, "earliest") || strings.EqualFold(field, "latest")) {
		l.called("NOW")
		l.keep(i)
		return i + 1, kept
	}
	switch l.sign(end) {
	case "=", "==", "!=", "<", ">", "<=", ">=":
		if l.frame().op == opNone {
			return i, kept
		}
	}
	if l.word(end) == "IN" || l.sign(i+1) == "(" {
		return i, kept
	}
	return l.bare(i, end)
}

// bare handles a value of PPL's search command that begins at i and goes on at
// least to end, not in quotes.
func (l *langWalk) bare(i, end int) (next int, why reason) {
	for end < len(l.toks) && l.glued(end) && (l.kind(end) == langSign && strings.Contains("*-./:", l.sign(end)) ||
		l.kind(end) == langWord || l.kind(end) == langNumber) {
		end++
	}
	raw := l.s[l.toks[i].start:l.toks[end-1].end]
	kind := litValue
	if bytes.IndexByte(raw, '*') >= 0 {
		kind = litWildcard
	}
	out, why := l.form1(l.out, raw, kind, l.frame().field)
	l.out = out
	l.frame().field, l.frame().op = "", opNone
	return end, why
}

// nameEnd is where the name that begins at i ends: parts in quotes and words,
// joined by dots.
func (l *langWalk) nameEnd(i int) int {
	end := i + 1
	for l.sign(end) == "." && l.glued(end) && l.glued(end+1) && (l.kind(end+1) == langWord || l.kind(end+1) == langName) {
		end += 2
	}
	return end
}

// path is the plain form of the name in tokens i to end.
func (l *langWalk) path(i, end int) string {
	var b strings.Builder
	for ; i < end; i++ {
		raw := l.raw(i)
		if l.kind(i) == langName {
			q := string(raw[:1])
			b.WriteString(strings.ReplaceAll(string(raw[1:len(raw)-1]), q+q, q))
			continue
		}
		b.Write(raw)
	}
	return b.String()
}

// name handles the name of a field, of a column that the text makes, or of an
// index that a name is qualified by.
func (l *langWalk) name(i int) (next int, why reason) {
	end, f := l.nameEnd(i), l.frame()
	if l.lang == langSQL && l.kind(i) == langName && f.op != opNone && f.op != opAmount && l.raw(i)[0] == '"' {
		return i, dropQueryLanguage // a value in the quotes of a name
	}
	if from, to := l.index[0], l.index[1]; i == from && to > from {
		l.out = l.indexExpr(l.out, l.s[l.toks[i].start:l.toks[to-1].end])
		return to, kept
	}
	path := l.path(i, end)
	if f.op == opNone || f.field == "" {
		f.field = path
	}
	if f.arg == 0 && f.first == "" {
		f.first = path
	}
	raw := l.s[l.toks[i].start:l.toks[end-1].end]
	if source, rest, ok := l.qualifier(i, end); ok {
		l.out = l.indexExpr(l.out, source)
		if len(rest) > 0 {
			l.out = l.fieldName(append(l.out, '.'), rest, path[len(source)+1:])
		}
		return end, kept
	}
	l.out = l.fieldName(l.out, raw, path)
	return end, kept
}

// fieldName appends the form of a name as it stands in the text.
func (l *langWalk) fieldName(dst, raw []byte, path string) []byte {
	if l.fieldStays([]byte(path)) || isComputed(path) {
		l.post.keep(raw)
		return append(dst, raw...)
	}
	if strings.IndexByte(path, '.') >= 0 {
		l.note(broken, "field_name")
	}
	return l.Worker.text.text(dst, raw)
}

// isComputed tells the name of a column that the engine made of an expression,
// as `COUNT(x)`: it holds no literal.
func isComputed(path string) bool {
	open := strings.IndexByte(path, '(')
	if open <= 0 || path[len(path)-1] != ')' || strings.Contains(strings.ReplaceAll(path, ", ", ","), " ") {
		return false
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return strings.ContainsRune("(), ", r) }) {
		if !looksLikeSchema([]byte(part), "") {
			return false
		}
	}
	return true
}

// qualifier cuts an index of the text off the name in tokens i to end.
func (l *langWalk) qualifier(i, end int) (source, rest []byte, ok bool) {
	raw := l.s[l.toks[i].start:l.toks[end-1].end]
	if l.kind(i) != langWord || l.lang == langESQL || l.lang == langEQL {
		return nil, nil, false
	}
	for _, name := range l.sources {
		if string(raw) == name && l.sign(end) == "." {
			return raw, nil, true
		}
		if len(raw) > len(name) && raw[len(name)] == '.' && string(raw[:len(name)]) == name {
			return raw[:len(name)], raw[len(name)+1:], true
		}
	}
	return nil, nil, false
}

// joined is the span of the index that the join of PPL at i names last, if it
// ends in one.
func (l *langWalk) joined(i int) (span [2]int) {
	from, to := 0, i
	for to < len(l.toks) && l.sign(to) != "|" && l.sign(to) != "]" && l.sign(to) != "[" {
		to++
	}
	if l.sign(to) == "[" {
		return span
	}
	if l.word(to-2) == "AS" {
		to -= 2
	}
	for from = to - 1; from > 0 && l.glued(from); from-- {
	}
	if from <= i {
		return span
	}
	return [2]int{from, to}
}

// maxSources bounds how many index names a text may hold.
const maxSources = 1000

// findSources gathers the index names of the text.
func (l *langWalk) findSources() {
	for i, t := range l.toks {
		if t.kind == langSource {
			if raw := l.raw(i); !bytes.ContainsAny(raw, "*\"'`<") {
				l.sources = append(l.sources, string(raw))
			}
		}
	}
}

// source handles an index expression, or the policy of ENRICH.
func (l *langWalk) source(i int) reason {
	form := l.indexExpr
	if l.lang == langESQL && l.command == "ENRICH" {
		form = l.policy
	}
	raw, selector := l.raw(i), []byte(nil)
	if q := raw[0]; q == '"' || q == '\'' || q == '`' {
		text, ok := l.d.unquote(l.text[:0], raw)
		l.text = text
		if !ok {
			return dropQueryLanguage
		}
		text, selector = cutSelector(text)
		l.form = append(form(l.form[:0], text), selector...)
		l.out = l.d.quote(l.out, raw, l.form)
		return kept
	}
	raw, selector = cutSelector(raw)
	l.out = append(form(l.out, raw), selector...)
	return kept
}

// cutSelector cuts "::data" or "::failures" off an index expression.
func cutSelector(expr []byte) (name, selector []byte) {
	for _, s := range []string{"::data", "::failures"} {
		if name, ok := bytes.CutSuffix(expr, []byte(s)); ok {
			return name, []byte(s)
		}
	}
	return expr, nil
}

// policy appends the name of an enrich policy, which may have a mode before it.
func (l *langWalk) policy(dst, name []byte) []byte {
	if mode, rest, ok := bytes.Cut(name, []byte{':'}); ok && len(mode) > 0 && mode[0] == '_' {
		dst = append(append(dst, mode...), ':')
		name = rest
	}
	return l.chosen(dst, name)
}
