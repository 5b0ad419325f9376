package sanitize

import (
	"bytes"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// Dates that are relative to now. Where the dates of documents move, the clock
// of the target does not: now becomes the moment of the record, moved as they
// are, and the date math behind it stays. now-15m/d is then
// 2019-03-02T10:00:00.000Z||-15m/d, whenever it is sent.
const (
	anchorLayout = "2006-01-02T15:04:05.000Z"
	anchorFormat = "strict_date_optional_time" // which reads it
)

// anchored appends the moment of the record, moved as the dates of d are, and the
// math. ok is false where rules keep now as it is, or the moment is not known.
func (w *Worker) anchored(dst []byte, d *domain, math []byte) (out []byte, ok bool) {
	if w.p.cfg.Now == "keep" {
		return dst, false
	}
	w.asking.unlike = true
	if w.at == 0 {
		return dst, false
	}
	var room [len(anchorLayout)]byte
	if dst, ok = d.date(dst, time.Unix(0, w.at).UTC().AppendFormat(room[:0], anchorLayout)); !ok {
		return dst, false
	}
	if len(math) > 0 {
		dst = append(append(dst, "||"...), math...)
	}
	w.judgeMath(d, math)
	if !roundsDown(math) {
		w.note(approx, "now") // the source read its own clock, when the request got there
	}
	return dst, true
}

// roundsDown tells math that ends in a rounding to a minute or more, after which
// the few milliseconds between two clocks are gone.
func roundsDown(math []byte) bool {
	n := len(math)
	return n > 1 && math[n-2] == '/' && bytes.IndexByte([]byte("mhHdwMy"), math[n-1]) >= 0
}

// judgeMath notes that months and years are not as long where dates moved to, and
// that weeks do not begin there where dates moved by days.
func (w *Worker) judgeMath(d *domain, math []byte) {
	if !d.style.shiftDates {
		return
	}
	if bytes.ContainsAny(math, "My") || d.style.days && bytes.Contains(math, []byte("/w")) {
		w.note(approx, "interval")
	}
}

// relative handles a bound that is relative to now.
func (r *rewriter) relative(k es.Token, s []byte) {
	d := r.Worker.text
	if !d.style.shiftDates {
		r.keepText(k, s)
		return
	}
	out, ok := r.anchored(r.tmp[:0], d, s[len("now"):])
	r.tmp = out
	if !ok {
		r.note(broken, "now") // documents move, the clock does not
		r.keepText(k, s)
		return
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	r.addFormat()
}

// relativeParam handles a value that a template, a script or a rule is given, and
// that reads as one relative to now. now alone may be a word that is searched for.
func (r *rewriter) relativeParam(k es.Token, s []byte) {
	if len(s) > len("now") {
		r.relative(k, s)
		return
	}
	r.note(broken, "now")
	r.keepText(k, s)
}

// datesMove tells that the dates of the field at hand do.
func (r *rewriter) datesMove() bool {
	pl := r.planFor(r.path)
	return pl.action.replaces() && pl.d.style.shiftDates
}

// datedText is the object around, whose values may be dates in a format that one
// of its members names; nil where there is none.
func (r *rewriter) datedText() []byte {
	if r.dated == 0 {
		return nil
	}
	saved := r.t
	end, err := r.t.SkipOpen()
	r.t = saved
	if err != nil {
		return nil // the walk itself reports what is wrong
	}
	return r.in[r.dated-1 : end]
}

// addFormat says in a range that has no format in which one the bound that was
// just written is: the field's own may be another. The other bounds must be in
// it too.
func (r *rewriter) addFormat() {
	if r.datedBy != "range_of" || r.said == r.dated {
		return
	}
	switch hasFormat, readable := r.boundsOf(r.datedText()); {
	case hasFormat: // dateFormat sees to it
	case readable:
		r.out = append(r.out, `,"format":"`+anchorFormat+`"`...)
		r.said = r.dated
	default:
		r.note(approx, "now") // whatever format the field has, ours may not be it
	}
}

// boundsOf looks at the members of a range: whether it has a format, and whether
// all bounds can be read in anchorFormat.
func (r *rewriter) boundsOf(text []byte) (hasFormat, readable bool) {
	var t es.Tokens
	t.MaxDepth = r.p.cfg.MaxDepth
	t.Reset(text)
	if _, err := t.Next(); err != nil {
		return false, false
	}
	for readable = true; ; {
		k, err := t.Next()
		if err != nil || k.Kind != es.Key {
			return hasFormat, readable
		}
		name := string(t.Raw(k))
		start, end, err := t.Skip()
		if err != nil {
			return hasFormat, false
		}
		switch name {
		case `"format"`:
			hasFormat = true
		case `"gt"`, `"gte"`, `"lt"`, `"lte"`, `"from"`, `"to"`:
			readable = readable && inAnchorFormat(bytes.Trim(text[start:end], `"`))
		}
	}
}

// inAnchorFormat tells a bound that anchorFormat can read, or that needs no
// reading.
func inAnchorFormat(s []byte) bool {
	head, _, _ := bytes.Cut(s, []byte("||"))
	switch {
	case len(s) == 0, string(s) == "null", string(s) == "*", isDateMath(s):
		return true
	case isYearMonth(head):
		return head[4] == '-'
	}
	return dateLen(head) == len(head) && digitsAt(head, 0, 4) && head[4] == '-' && !bytesHas(head, ' ')
}

// dateFormat handles the format that dates are written in. Where now stands beside
// it, what now becomes must be readable as well; the first format named is still
// the one of answers.
func (r *rewriter) dateFormat(k es.Token, s []byte) {
	if !r.datesMove() || bytes.Contains(s, []byte(anchorFormat)) || r.p.cfg.Now == "keep" || !bytes.Contains(r.datedText(), []byte(`"now`)) {
		r.keepText(k, s)
		return
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, append(append(r.tmp[:0], s...), "||"+anchorFormat...))
}

// decays notes that a decay without an origin starts from now: that is a matter of
// scores alone.
func (r *rewriter) decays() {
	if r.datesMove() && !bytes.Contains(r.datedText(), []byte(`"origin"`)) {
		r.note(approx, "now")
	}
}

// luceneNow appends a bound of a query string that is relative to now.
func (w *Worker) luceneNow(dst, word, plain []byte, field string, tokens bool) ([]byte, reason) {
	d := w.text
	if !tokens {
		pl := w.planFor([]byte(field))
		if !pl.action.replaces() {
			return w.luceneValue(dst, word, pBound, field)
		}
		d = pl.d
	}
	if !d.style.shiftDates {
		if !tokens {
			return w.luceneValue(dst, word, pBound, field)
		}
		return append(dst, word...), kept
	}
	form, ok := w.anchored(nil, d, plain[len("now"):])
	if !ok {
		w.note(broken, "now")
		return append(dst, word...), kept
	}
	if word[0] == '"' {
		return append(append(append(dst, '"'), form...), '"'), kept
	}
	for _, c := range form { // colons end a field's name
		if c == ':' || c == '/' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst, kept
}
