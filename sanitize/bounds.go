package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// bound handles a string that bounds a range: a date with date math, a number,
// an address, or text, whose order pseudonyms do not keep.
func (r *rewriter) bound(k es.Token, s []byte) reason {
	switch {
	case len(s) == 0 || string(s) == "*":
		return kept
	case isDateMath(s):
		r.relative(k, s)
		return kept
	case isNumber(s) && len(s) <= 20:
		if r.fact != nil && r.fact.Kind == es.KindDate && r.Worker.text.style.shiftDates {
			r.note(broken, "partial_date") // a year, or a point in time
		}
		return r.boundNumber(k, s)
	}
	head, math, _ := bytes.Cut(s, []byte("||"))
	if len(math) > 0 && !isMath(math) {
		r.note(broken, "range_text")
		r.put(k, s, r.Worker.text.text)
		return kept
	}
	switch {
	case dateLen(head) == len(head) && len(head) > 0:
		r.judgeMath(r.Worker.text, math)
		r.put(k, s, func(dst, s []byte) []byte { // the math stays
			return append(r.Worker.text.text(dst, head), s[len(head):]...)
		})
	case isYearMonth(head):
		r.yearMonth(k, s)
	case len(head) >= 3 && addressLen(head) == len(head):
		if len(math) == 0 && r.blockBound(k) {
			return kept
		}
		r.note(broken, "ip_range")
		r.put(k, s, r.Worker.text.text)
	default:
		r.note(broken, "range_text")
		r.put(k, s, r.Worker.text.text)
	}
	return kept
}

func addressLen(s []byte) int {
	_, n := address(s)
	return n
}

// boundNumber handles a bound that is a number in a string: numeric and date
// fields take it as one, so it goes the way of numbers.
func (r *rewriter) boundNumber(k es.Token, s []byte) reason {
	r.tmp = r.number(r.tmp[:0], s)
	if !bytes.Equal(r.tmp, s) {
		r.note(broken, "number_range")
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, r.tmp)
	return kept
}

// isDateMath tells now, now-1d/d and the like.
func isDateMath(s []byte) bool {
	rest, ok := bytes.CutPrefix(s, []byte("now"))
	return ok && isMath(rest)
}

// isMath tells a sequence of +1d, -10m, /d.
func isMath(s []byte) bool {
	if len(s) > 64 {
		return false
	}
	for len(s) > 0 {
		c := s[0]
		s = s[1:]
		n := 0
		for n < len(s) && digitsAt(s, n, 1) {
			n++
		}
		if c != '/' && c != '+' && c != '-' || c == '/' && n > 0 || n > 9 || n == len(s) {
			return false
		}
		if !bytes.ContainsAny(s[n:n+1], "yMwdhHms") {
			return false
		}
		s = s[n+1:]
	}
	return true
}

// isYearMonth tells yyyy-MM.
func isYearMonth(s []byte) bool {
	return len(s) == 7 && digitsAt(s, 0, 4) && isDateSep(s[4]) && digitsAt(s, 5, 2) && s[0] != '0' && two(s, 5) >= 1 && two(s, 5) <= 12
}

// yearMonth moves a month as its first day moves.
func (r *rewriter) yearMonth(k es.Token, s []byte) {
	if !r.Worker.text.style.shiftDates {
		r.keepText(k, s)
		return
	}
	r.note(approx, "partial_date")
	full := append(append(append(r.low[:0], s[:7]...), s[4]), "01"...)
	r.low = full
	out, ok := r.Worker.text.date(r.tmp[:0], full)
	if !ok {
		out = r.Worker.text.text(r.tmp[:0], full)
	}
	r.tmp = append(out[:7], s[7:]...)
	r.replace(k)
	r.out = es.AppendQuoted(r.out, r.tmp)
}

// origin handles what a decay or a distance starts from.
func (r *rewriter) origin(k es.Token, s []byte) reason {
	if isPlace(s) || isGeohash(s) && dateLen(s) == 0 && !isNumber(s) {
		return r.place(k, s)
	}
	return r.bound(k, s)
}
