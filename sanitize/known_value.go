package sanitize

import (
	"bytes"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// knownAt handles a string of a field that the schema knows.
func (r *rewriter) knownAt(k es.Token, s []byte, p prim, pl *plan) reason {
	if r.inDoc {
		if pl.native && r.typedString(k, s, p, pl.typed) {
			return kept
		}
		return r.replacedBy(k, s, p, pl)
	}
	defer r.about(pl.facts)()
	own := r.Worker.text
	if pl.action.replaces() {
		r.Worker.text = pl.d
	}
	r.judgeKnown(s, p, pl)
	r.Worker.text = own
	if pl.native && r.typedString(k, s, p, pl.typed) {
		return kept
	}
	return r.replacedBy(k, s, p, pl)
}

// typedString handles a string that no rule is for where the field's type says
// that it is a number, a date or a place; it is false where the string is to go
// the way of strings. What strings do not show, strict does not show either.
func (r *rewriter) typedString(k es.Token, s []byte, p prim, f *es.FieldFacts) bool {
	whole := p == pV || p == pTerm || p == pT || p == pBound || p == pOrigin || p == pMissing || p == pInclude
	if !whole || len(s) == 0 {
		return false
	}
	loose := r.p.cfg.kind() == PresetFidelity
	switch {
	case isNumeric(f) && loose, f.Kind == es.KindDate && loose && isNumber(s):
		return r.numericString(k, s, p, f)
	case f.Kind == es.KindDate && !r.p.style.shiftDates:
		if dateLen(s) == len(s) || isDateMath(s) && p != pV || isDateText(s) {
			r.post.keep(s)
			r.keepText(k, s)
			return true
		}
	case f.Kind == es.KindDate:
		return r.typedDate(k, s, p, f)
	case f.Kind == es.KindOpen && f.Place && r.inDoc && r.p.cfg.Geo == "keep" && (isPlace(s) || isGeohash(s)):
		r.post.keep(s)
		r.keepText(k, s)
		return true
	}
	return false
}

// typedDate moves a date of a form that is one by its field's mapping alone.
func (r *rewriter) typedDate(k es.Token, s []byte, p prim, f *es.FieldFacts) bool {
	head, math, _ := bytes.Cut(s, []byte("||"))
	if len(math) > 0 && !isMath(math) {
		return false
	}
	d := r.Worker.text
	var out []byte
	ok := false
	switch {
	case isYearMonth(s) && p == pV, len(head) == 8 && basicDates(f.Format):
		out, ok = d.movedDate(nil, head)
	default:
		out, ok = d.dayFirst(nil, head, f.Format)
	}
	if !ok {
		return false
	}
	r.judgeMath(d, math)
	d.remember(head)
	r.replace(k)
	r.out = es.AppendQuoted(r.out, append(out, s[len(head):]...))
	return true
}

// dayFirst appends a date with its year behind day and month, moved, where the
// format says which of them stands first.
func (d *domain) dayFirst(dst, s []byte, format string) (out []byte, ok bool) {
	if len(s) < 10 || dateLen(s) != len(s) || digitsAt(s, 0, 4) || !d.style.shiftDates {
		return dst, false
	}
	day := strings.Contains(format, "dd"+string(s[2])+"MM"+string(s[5])+"yyyy")
	if month := strings.Contains(format, "MM"+string(s[2])+"dd"+string(s[5])+"yyyy"); day == month {
		return dst, false
	}
	a, b := 0, 3
	if !day {
		a, b = 3, 0
	}
	y, m, n := civil(dayNumber(two(s, 6)*100+two(s, 8), two(s, b), two(s, a)) + d.days)
	if y < 1000 || two(s, b) > 12 {
		return dst, false
	}
	first, second := n, m
	if !day {
		first, second = m, n
	}
	dst = append(appendPadded(dst, uint64(first), 2), s[2])
	dst = append(appendPadded(dst, uint64(second), 2), s[5])
	return append(appendPadded(dst, uint64(y), 4), s[10:]...), true
}

// numericString handles a number in quotes as the number that it is: a document
// may hold it without them.
func (r *rewriter) numericString(k es.Token, s []byte, p prim, f *es.FieldFacts) bool {
	plain := s
	if f.Kind != es.KindDate { // a year is one as it is written
		plain = plainNumber(s)
	}
	if plain == nil {
		return false
	}
	r.tmp = r.number(r.tmp[:0], plain)
	if bytes.Equal(r.tmp, plain) {
		r.keepText(k, s)
		return true
	}
	if p == pBound || p == pOrigin {
		r.note(broken, "number_range")
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, r.tmp)
	return true
}

// plainNumber is a number as JSON writes it: without a plus and without zeros
// before it. nil: none, or one of another form.
func plainNumber(s []byte) []byte {
	if len(s) > 40 {
		return nil
	}
	mantissa, exp, hasExp := bytes.Cut(bytes.ToLower(s), []byte{'e'})
	if !isNumber(mantissa) || hasExp && (!isNumber(exp) || bytesHas(exp, '.')) || mantissa[len(mantissa)-1] == '.' {
		return nil
	}
	plain, negative := bytes.CutPrefix(s, []byte{'-'})
	plain = bytes.TrimPrefix(plain, []byte{'+'})
	for len(plain) > 1 && plain[0] == '0' && digitsAt(plain, 1, 1) {
		plain = plain[1:]
	}
	if negative {
		return append([]byte{'-'}, plain...)
	}
	return plain
}

// knownNumber handles a JSON number of a field that the schema knows; done is
// false where it is to go the way of any number.
func (r *rewriter) knownNumber(k es.Token, raw []byte, p prim, pl *plan) (done bool, why reason) {
	f := pl.typed
	if f.Runtime && !r.inDoc && pl.action != actKeep {
		r.note(approx, "script")
	}
	switch {
	case pl.native && f.Kind == es.KindDate && !r.inDoc && r.p.style.shiftDates:
		r.note(broken, "number_range") // dates in texts move, points in time as numbers do not
	case !isText(f) || pl.action != actTokens && pl.action != actIPPrefix:
		return false, kept
	}
	// A text, which documents may hold in quotes as well: it has one pseudonym.
	if !r.inDoc {
		around := r.about(pl.facts)
		own := r.Worker.text
		r.Worker.text = pl.d
		r.judgeKnown(raw, p, pl)
		r.Worker.text = own
		around()
	}
	r.tmp = pl.d.text(r.tmp[:0], raw)
	r.replace(k)
	if isJSONNumber(r.tmp) {
		r.out = append(r.out, r.tmp...)
	} else {
		r.out = es.AppendQuoted(r.out, r.tmp)
	}
	return true, kept
}

// isJSONNumber tells a number as JSON writes it, without an exponent.
func isJSONNumber(s []byte) bool {
	s = bytes.TrimPrefix(s, []byte{'-'})
	return len(s) > 0 && s[0] != '+' && isNumber(s) && s[len(s)-1] != '.' && (s[0] != '0' || len(s) == 1 || s[1] == '.')
}

// isDateText tells what is made of the parts of dates alone: short runs of
// digits, one of which may be a year, names of months and days, zones.
func isDateText(s []byte) bool {
	if len(s) > 40 || !hasDigit(s) {
		return false
	}
	years := 0
	for i := 0; i < len(s); {
		end := i + 1
		switch class := asciiClass(s[i]); {
		case s[i] >= 0x80 || class == classSep && strings.IndexByte(" -/.:,+[]|'", s[i]) < 0:
			return false
		case class == classSep:
		default:
			for end < len(s) && s[end] < 0x80 && asciiClass(s[end]) == class {
				end++
			}
			if class == classLetter && !datePart(s[i:end]) {
				return false
			}
			if class == classDigit && !dateDigitsAt(s, i, end, &years) {
				return false
			}
		}
		i = end
	}
	return years <= 1
}

// dateDigitsAt tells a run of digits as dates have: a day, a year, a fraction of
// a second, a zone, or year, month and day in one.
func dateDigitsAt(s []byte, i, end int, years *int) bool {
	switch n := end - i; {
	case n <= 2:
		return true
	case i > 0 && (s[i-1] == '.' || s[i-1] == ',') && bytesHas(s[:i], ':'):
		return n <= 9
	case n == 4 && i > 0 && (s[i-1] == '+' || s[i-1] == '-' && bytesHas(s[:i], ':')):
		return true
	case n == 4, n == 8 && (i == 0 || s[i-1] == ' ') && dateLen([]byte(string(s[i:i+4])+"-"+string(s[i+4:i+6])+"-"+string(s[i+6:i+8]))) == 10:
		*years++
		return true
	case n == 6 && i > 1 && (s[i-1] == 'T' || s[i-1] == 't'):
		return true
	}
	return false
}

// datePart tells the words of dates.
func datePart(word []byte) bool {
	var low [9]byte
	if len(word) > len(low) {
		return false
	}
	for i, c := range word {
		low[i] = c | 0x20
	}
	switch string(low[:len(word)]) {
	case "t", "z", "w", "am", "pm", "utc", "gmt", "cet", "cest", "est", "edt", "cst", "cdt", "mst", "mdt", "pst", "pdt", "jst", "msk",
		"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
		"mon", "tue", "wed", "thu", "fri", "sat", "sun", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday":
		return true
	}
	return false
}
