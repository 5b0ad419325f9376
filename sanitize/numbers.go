package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// valueNumber handles a JSON number that is data.
func (r *rewriter) valueNumber(k es.Token, p prim) {
	raw := r.t.Raw(k)
	switch r.actionFor(r.path) {
	case actKeep:
		r.keepNumber(raw)
		return
	case actMask, actDrop:
		r.replace(k)
		r.out = append(r.out, '0')
		if !r.inDoc {
			r.note(broken, "masked_field")
		}
		return
	}
	mark := len(r.out) + k.Start - r.pos
	r.replace(k)
	r.out = r.number(r.out, raw)
	if bytes.Equal(r.out[mark:], raw) {
		return
	}
	switch p {
	case pBound, pOrigin:
		if bytesHas(raw, '.') {
			r.note(approx, "rounded")
		} else {
			r.note(broken, "number_range")
		}
	case pCursor:
		r.note(broken, "search_after")
	}
}

// number appends the form of a number by the policy. It stays a number of the
// same kind, with as many digits before the point.
func (w *Worker) number(dst, raw []byte) []byte {
	if w.p.cfg.Numbers == "keep" {
		w.keepNumber(raw)
		return append(dst, raw...)
	}
	digits := raw
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	n := 0
	for n < len(digits) && digits[n] >= '0' && digits[n] <= '9' {
		n++
	}
	whole := n == len(digits) || isZeros(digits[n:])
	switch {
	case w.p.cfg.Numbers == "fpe" && !whole:
		return appendRounded(dst, raw)
	case w.p.cfg.Numbers == "fpe" && n > tableDigits, whole && personalNumber(digits[:n]):
		if n >= postDigits {
			w.post.orig.add(w.post.orig.hash(digits[:n]))
		}
		dst = append(dst, raw[:len(raw)-len(digits)]...)
		dst = w.text.permute(dst, digits[:n])
		return append(dst, digits[n:]...)
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

// isZeros tells ".0", ".00" …
func isZeros(s []byte) bool {
	return len(s) > 1 && s[0] == '.' && len(bytes.Trim(s[1:], "0")) == 0
}

// significant is how many digits appendRounded leaves.
const significant = 3

// appendRounded appends a number cut after its third significant digit.
func appendRounded(dst, raw []byte) []byte {
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
