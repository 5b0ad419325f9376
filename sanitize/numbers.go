package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// valueNumber handles a JSON number that is data.
func (r *rewriter) valueNumber(k es.Token, p prim) reason {
	raw := r.t.Raw(k)
	pl := r.over(p, r.planFor(r.path))
	if pl.facts != nil {
		if done, why := r.knownNumber(k, raw, p, pl); done {
			return why
		}
	}
	a := pl.action
	switch {
	case a == actKeep && (pl.values == nil || pl.values[string(raw)]):
		return r.keptNumber(k, raw)
	case a == actMask || a == actDrop || a == actNull || a == actShape:
		r.replace(k)
		if a == actNull && r.inDoc {
			r.out = append(r.out, "null"...)
			return kept
		}
		r.out = append(r.out, '0')
		if !r.inDoc {
			r.note(broken, "masked_field")
		}
		return kept
	case a == actDropRecord:
		return dropRule
	case a.quotes():
		r.tmp = pl.d.text(r.tmp[:0], raw)
		r.replace(k)
		r.out = es.AppendQuoted(r.out, r.tmp)
		r.judgeNumber(p, raw, nil)
		return kept
	}
	mark := len(r.out) + k.Start - r.pos
	r.replace(k)
	ok := false
	if r.out, ok = r.planned(r.out, raw, pl); !ok {
		if a == actGeoGrid || a == actLonShift {
			return dropGeo // a coordinate outside of a place
		}
		if mode, _ := r.numberMode(raw); mode == numbersDrop {
			return dropRule
		}
		r.out = r.number(r.out, raw)
	}
	if out := r.out[mark:]; string(out) != string(raw) {
		r.judgeNumber(p, raw, pl)
	}
	return kept
}

// planned appends the form of a number by the action of a rule, as far as that is
// one for numbers.
func (w *Worker) planned(dst, raw []byte, pl *plan) (out []byte, ok bool) {
	switch pl.action {
	case actShift:
		return pl.d.moved(dst, raw)
	case actBucket:
		return pl.d.bucketed(dst, raw)
	case actDateShift:
		return pl.d.movedDate(dst, raw)
	case actFPE:
		return pl.d.permuteNumber(dst, raw)
	}
	return dst, false
}

// keptNumber handles a number that a rule keeps.
func (r *rewriter) keptNumber(k es.Token, raw []byte) reason {
	switch r.detect(raw) {
	case detectDrop:
		return dropDetector
	case detectMask:
		r.replace(k)
		r.out = append(r.out, '0')
		r.note(broken, "masked_field")
		return kept
	}
	r.keepNumber(raw)
	return kept
}

// judgeNumber notes what a number that was replaced does to what a clause
// compares. pl is nil for one that became a string.
func (r *rewriter) judgeNumber(p prim, raw []byte, pl *plan) {
	switch p {
	case pBound, pOrigin:
		switch {
		case pl != nil && (pl.action == actShift || pl.action == actDateShift):
		case pl != nil && (pl.action == actBucket || pl.action != actFPE && bytesHas(raw, '.')):
			r.note(approx, "rounded")
		default:
			r.note(broken, "number_range")
		}
	case pCursor:
		r.note(broken, "search_after")
	case pV, pTerm, pT:
		if pl != nil && pl.action == actBucket && !r.inDoc {
			r.note(approx, "rounded")
		}
	}
}

// permuteNumber appends an integer with its digits permuted. Fractions have
// theirs permuted apart; one that ends in a zero keeps them, as equal numbers
// may be written with and without it.
func (d *domain) permuteNumber(dst, raw []byte) (out []byte, ok bool) {
	n := 0
	if len(raw) > 0 && raw[0] == '-' {
		n = 1
	}
	start := n
	for n < len(raw) && digitsAt(raw, n, 1) {
		n++
	}
	if n < len(raw) && !isZeros(raw[n:]) || n == start {
		return dst, false
	}
	dst = append(dst, raw[:start]...)
	dst = d.digitRun(dst, raw[start:n])
	return append(dst, raw[n:]...), true
}

// numberMode is what becomes of a number that no rule is for, and how many digits
// it has before the point.
func (w *Worker) numberMode(raw []byte) (mode numberMode, n int) {
	if len(raw) > 0 && raw[0] == '-' {
		raw = raw[1:]
	}
	for n < len(raw) && raw[n] >= '0' && raw[n] <= '9' {
		n++
	}
	switch mode = w.p.floats; {
	case n < len(raw) && !isZeros(raw[n:]):
	case w.p.ints == numbersFPE && n < w.p.minDigits || w.p.ints == numbersGuard:
		if mode = numbersKeep; personalNumber(raw[:n]) {
			mode = numbersFPE
		}
	default:
		mode = w.p.ints
	}
	return mode, n
}

// keepsShort tells that numbers of fewer than postDigits bytes which no rule is for
// stay as they are.
func (p *Pipeline) keepsShort() bool {
	whole := p.ints == numbersKeep || p.ints == numbersGuard || p.ints == numbersFPE && p.minDigits >= postDigits
	return whole && p.floats == numbersKeep
}

// dropsNumbers tells that some numbers are a reason to drop the record.
func (p *Pipeline) dropsNumbers() bool { return p.ints == numbersDrop || p.floats == numbersDrop }

// number appends the form of a number that no rule is for. It stays a number of
// the same kind, with as many digits before the point.
func (w *Worker) number(dst, raw []byte) []byte {
	switch mode, n := w.numberMode(raw); mode {
	case numbersMask, numbersDrop:
		return append(dst, '0')
	case numbersBucket:
		return appendRounded(dst, raw, w.p.digits)
	case numbersFPE:
		if raw[0] == '-' {
			dst, raw = append(dst, '-'), raw[1:]
		}
		dst = w.text.digitRun(dst, raw[:n])
		return append(dst, raw[n:]...)
	}
	w.keepNumber(raw)
	return append(dst, raw...)
}

// keepNumber is post.keep for a number: short runs of digits are none of it.
func (w *Worker) keepNumber(raw []byte) {
	if len(raw) >= postDigits {
		w.post.keep(raw)
	}
}

// isZeros tells ".0", ".00" and the like.
func isZeros(s []byte) bool {
	n := len(s)
	for n > 1 && s[n-1] == '0' {
		n--
	}
	return n == 1 && len(s) > 1 && s[0] == '.'
}

// significant is how many digits of a fraction are left where nothing else is said.
const significant = 3

// appendRounded appends a number cut after so many significant digits.
func appendRounded(dst, raw []byte, significant int) []byte {
	seen, point := 0, false
	for i, c := range raw {
		switch {
		case c == '.':
			if seen >= significant {
				return append(dst, expPart(raw[i:])...)
			}
			if i+1 < len(raw) {
				dst = append(dst, c)
			}
			point = true
		case c == 'e', c == 'E':
			return append(dst, raw[i:]...)
		case c >= '0' && c <= '9':
			if c != '0' || seen > 0 {
				seen++
			}
			switch {
			case seen <= significant:
				dst = append(dst, c)
			case point:
				return append(dst, expPart(raw[i:])...)
			default:
				dst = append(dst, '0')
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func expPart(s []byte) []byte {
	if i := bytes.IndexAny(s, "eE"); i >= 0 {
		return s[i:]
	}
	return nil
}

// personalNumber tells integers that look like a mainland telephone, a resident
// identity number or a payment card. Numbers have no parts that a query could
// hold, so that to replace exactly these keeps documents and queries agreeing.
func personalNumber(d []byte) bool {
	switch len(d) {
	case 11:
		return d[0] == '1' && d[1] >= '3'
	case 18:
		return residentID(d)
	case 13, 14, 15, 16, 17, 19:
		return cardNumber(d)
	}
	return false
}

// residentID checks date and check digit of GB 11643-1999.
func residentID(d []byte) bool {
	y, m, day := two(d, 6)*100+two(d, 8), two(d, 10), two(d, 12)
	if y < 1900 || y > 2100 || m < 1 || m > 12 || day < 1 || day > 31 {
		return false
	}
	sum := 0
	for i, w := range []int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2} {
		sum += w * int(d[i]-'0')
	}
	return "10X98765432"[sum%11] == d[17]
}

// cardNumber checks issuer range and Luhn digit.
func cardNumber(d []byte) bool {
	p4 := two(d, 0)*100 + two(d, 2)
	issuer := d[0] == '4' && (len(d) == 13 || len(d) == 16 || len(d) == 19) ||
		len(d) == 16 && (p4 >= 5100 && p4 <= 5599 || p4 >= 2221 && p4 <= 2720) ||
		len(d) == 15 && (p4/100 == 34 || p4/100 == 37) ||
		len(d) >= 16 && (p4 == 6011 || p4/100 == 65 || p4/100 == 62) ||
		len(d) == 14 && (p4/100 == 36 || p4/100 == 38 || p4 >= 3000 && p4 <= 3059)
	if !issuer {
		return false
	}
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0
}
