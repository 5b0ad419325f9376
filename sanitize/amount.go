package sanitize

import (
	"bytes"
	"math/big"
)

// amount is a decimal number, v times ten to the power of -scale. Numbers are
// moved and rounded as decimals, because binary fractions would not come out the
// same in a document and in a bound.
type amount struct {
	v     *big.Int
	scale int
}

// maxScale bounds how far a number's exponent is written out.
const maxScale = 64

// parseAmount reads a number as JSON has it, or with a + in front. ok is false
// for anything else, and for an exponent that is too large.
func parseAmount(s []byte) (a amount, ok bool) {
	digits := make([]byte, 0, len(s))
	i, point, any := 0, false, false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		digits = append(digits, s[i])
		i++
	}
	for ; i < len(s) && (s[i] == '.' && !point || digitsAt(s, i, 1)); i++ {
		if s[i] == '.' {
			point = true
			continue
		}
		digits, any = append(digits, s[i]), true
		if point {
			a.scale++
		}
	}
	if !any || len(digits) > 4*maxScale {
		return a, false
	}
	if i < len(s) {
		exp, ok := exponent(s[i:])
		if !ok {
			return a, false
		}
		a.scale -= exp
	}
	if a.scale > 4*maxScale || a.scale < -maxScale {
		return a, false
	}
	if a.v, ok = new(big.Int).SetString(string(digits), 10); !ok {
		return a, false
	}
	if a.scale < 0 {
		a = a.at(0)
	}
	return a, true
}

func exponent(s []byte) (exp int, ok bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	minus := len(s) > 0 && s[0] == '-'
	if minus || len(s) > 0 && s[0] == '+' {
		s = s[1:]
	}
	if len(s) == 0 || len(s) > 3 || !digitsAt(s, 0, len(s)) {
		return 0, false
	}
	exp = int(parseDigits(s))
	if minus {
		exp = -exp
	}
	return exp, true
}

// at is the amount with another, not smaller, scale.
func (a amount) at(scale int) amount {
	if scale == a.scale {
		return a
	}
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-a.scale)), nil)
	return amount{p.Mul(p, a.v), scale}
}

func (a amount) plus(b amount) amount {
	scale := max(a.scale, b.scale)
	a, b = a.at(scale), b.at(scale)
	return amount{new(big.Int).Add(a.v, b.v), scale}
}

func (a amount) times(n int64) amount {
	return amount{new(big.Int).Mul(a.v, big.NewInt(n)), a.scale}
}

func (a amount) less(b amount) bool {
	scale := max(a.scale, b.scale)
	return a.at(scale).v.Cmp(b.at(scale).v) < 0
}

// floor is the largest multiple of step, which is above zero, that is not above
// the amount.
func (a amount) floor(step amount) amount {
	scale := max(a.scale, step.scale)
	a, step = a.at(scale), step.at(scale)
	r := new(big.Int).Mod(a.v, step.v) // Euclidean: never below zero
	return amount{r.Sub(a.v, r), scale}
}

// appendTo appends the amount without exponent; fractions lose their trailing
// zeros, so that equal amounts have equal texts.
func (a amount) appendTo(dst []byte) []byte {
	text := a.v.Append(nil, 10)
	if text[0] == '-' {
		dst, text = append(dst, '-'), text[1:]
	}
	for len(text) <= a.scale {
		text = append([]byte{'0'}, text...)
	}
	whole, rest := text[:len(text)-a.scale], bytes.TrimRight(text[len(text)-a.scale:], "0")
	dst = append(dst, whole...)
	if len(rest) > 0 {
		dst = append(append(dst, '.'), rest...)
	}
	return dst
}

// moved appends a number moved by the domain's secret offset, a multiple of the
// step. ok is false where raw is no number.
func (d *domain) moved(dst, raw []byte) (out []byte, ok bool) {
	a, ok := parseAmount(raw)
	if !ok {
		return dst, false
	}
	step := d.style.step
	if step.v == nil {
		step = amount{big.NewInt(1), 0}
	}
	return a.plus(step.times(d.offset)).appendTo(dst), true
}

// bucketed appends a number rounded down to a multiple of the step, or cut after
// the significant digits.
func (d *domain) bucketed(dst, raw []byte) (out []byte, ok bool) {
	a, ok := parseAmount(raw)
	if !ok {
		return dst, false
	}
	if d.style.step.v != nil {
		return a.floor(d.style.step).appendTo(dst), true
	}
	digits := d.style.digits
	if digits == 0 {
		digits = significant
	}
	return appendRounded(dst, a.appendTo(nil), digits), true
}
