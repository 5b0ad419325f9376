package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// valueAt handles a string that holds what users type or store.
func (r *rewriter) valueAt(k es.Token, s []byte, p prim) reason {
	if special := r.specialField(); special != nil && p != pBound {
		r.put(k, s, special)
		return kept
	}
	pl := r.planFor(r.path)
	if !r.inDoc && len(r.path) == 0 && r.p.mixed && !(p == pLucene && bytesHas(s, ':')) {
		r.note(approx, "many_fields") // fields may be treated unlike each other
	}
	return r.valueBy(k, s, p, r.over(p, pl))
}

// valueBy is valueAt with the plan of the field at hand.
func (r *rewriter) valueBy(k es.Token, s []byte, p prim, pl *plan) reason {
	if pl.facts != nil {
		return r.knownAt(k, s, p, pl)
	}
	if r.fact != nil || r.open != nil {
		defer r.about(nil)()
	}
	return r.replacedBy(k, s, p, pl)
}

// replacedBy applies a plan's action to a string.
func (r *rewriter) replacedBy(k es.Token, s []byte, p prim, pl *plan) reason {
	if !pl.action.replaces() {
		return r.act(k, s, p, pl)
	}
	if pl.d != r.Worker.text {
		own := r.Worker.text
		r.Worker.text = pl.d // whatever reads the value makes pseudonyms of this kind
		defer func() { r.Worker.text = own }()
	}
	switch pl.action {
	case actTokens, actEmail, actURL, actFPE, actIPPrefix:
		return r.tokensAt(k, s, p, pl.action)
	case actGeoGrid, actLonShift:
		return r.place(k, s)
	}
	return r.formAt(k, s, p, pl.action)
}

// tokensAt handles a string of a field whose values are replaced run by run.
func (r *rewriter) tokensAt(k es.Token, s []byte, p prim, a action) reason {
	style := r.Worker.text.style
	if style.runwise && !r.inDoc {
		r.normalizedAt(s, p)
	}
	if a == actIPPrefix && (p == pWildcard || p == pPrefix || p == pLast) && r.octets(k, s) {
		return kept
	}
	switch p {
	case pLucene:
		return r.lucene(k, s)
	case pSimple:
		return r.simpleQuery(k, s)
	case pWildcard:
		return r.wildcard(k, s)
	case pRegexp, pInclude:
		return r.regexp(k, s)
	case pBound, pOrigin:
		if a != actTokens && isNumber(s) {
			r.note(broken, "number_range")
			break
		}
		if p == pOrigin {
			return r.origin(k, s)
		}
		return r.bound(k, s)
	case pMissing:
		if string(s) == "_first" || string(s) == "_last" {
			return kept
		}
	case pTerm, pT:
		r.comparedAt(s, p, a)
	case pV:
		if !r.inDoc && isDateMath(s) {
			r.relativeParam(k, s)
			return kept
		}
		r.partialAt(s, p)
	default:
		r.partialAt(s, p)
	}
	r.put(k, s, r.Worker.text.text)
	return kept
}

// comparedAt notes what a value tells still that is compared as it is, or whose
// words are.
func (r *rewriter) comparedAt(s []byte, p prim, a action) {
	if (a == actTokens || a == actIPPrefix) && r.numericText(s) && !isText(r.fact) {
		level := broken
		if p == pT {
			level = approx
		}
		r.note(level, "number_as_string")
	}
	switch {
	case r.inDoc:
	case p == pT:
		if r.fact == nil { // else it is known what a text is cut into
			r.piecesOfText(s)
		}
	case oddBlock(s) && !isText(r.fact):
		r.note(broken, "ip_range")
	}
}

// partialAt notes what a part of a value, or what resembles one, tells still.
func (r *rewriter) partialAt(s []byte, p prim) {
	switch p {
	case pPrefix, pLast:
		if !r.endsDelimited(s) || p == pLast && len(s) > 0 && !(r.fact != nil && r.fact.Kind == es.KindWhole) {
			r.note(broken, "prefix") // an analyser takes a separator at the end away
		}
	case pFuzzy:
		r.note(broken, "fuzzy")
	case pSuggest:
		r.note(broken, "suggest")
	case pLike:
		r.note(approx, "more_like_this")
	case pCursor:
		r.note(broken, "search_after")
	case pV: // the mask of an ip_range
		if !r.inDoc && oddBlock(s) {
			r.note(broken, "ip_range")
		}
	}
}

// normalizedAt notes that values which differ became equal: that is right for
// what an analyser reads, not for what is compared as a whole.
func (r *rewriter) normalizedAt(s []byte, p prim) {
	style := r.Worker.text.style
	if f := r.fact; f != nil && f.Text.Folds && !style.stem && (f.Kind == es.KindWhole || isASCII(s)) {
		return // what the field itself compares is without marks
	}
	if (style.fold || style.stem) && (p == pTerm || p == pV) && len(s) > 0 {
		r.note(broken, "normalized")
	}
}

// formAt handles a string of a field whose values are replaced as a whole or
// character by character.
func (r *rewriter) formAt(k es.Token, s []byte, p prim, a action) reason {
	charwise := a == actCharsub && r.Worker.text.spells(s)
	opening := charwise || a == actPrefix && r.Worker.text.spells(s)
	switch p {
	case pLucene:
		return r.lucene(k, s)
	case pSimple:
		return r.simpleQuery(k, s)
	case pMissing:
		if string(s) == "_first" || string(s) == "_last" {
			return kept
		}
	case pPrefix, pLast:
		if !opening {
			r.note(broken, "prefix")
		}
	case pWildcard:
		if !charwise && !(opening && openEnded(s)) {
			r.note(broken, "wildcard")
		}
	case pRegexp, pInclude:
		if a != actCharsub && a != actPrefix {
			r.note(broken, "regexp")
		}
		return r.charRegexp(k, s, charwise)
	case pFuzzy:
		if !charwise {
			r.note(broken, "fuzzy")
		}
	case pSuggest:
		if !opening {
			r.note(broken, "suggest")
		}
		r.note(approx, "suggest")
	case pLike:
		r.note(approx, "more_like_this")
	case pCursor:
		r.note(broken, "search_after")
	case pBound, pOrigin:
		return r.formBound(k, s, a)
	case pT:
		if a == actPseudonym {
			r.note(broken, "part_of_value") // of a text field a word may be asked for
		}
	}
	if a == actBucket && !r.inDoc {
		r.note(approx, "rounded")
	}
	r.put(k, s, r.Worker.text.text)
	return kept
}

// openEnded tells a pattern with one *, at its end, and no other operator; or one
// whose operators stand at separators.
func openEnded(s []byte) bool {
	if bytesHas(s, '\\') || bytesHas(s, '?') {
		return false
	}
	i := bytes.IndexByte(s, '*')
	return i < 0 || i == len(s)-1
}

// charRegexp handles a regular expression for values that are replaced by
// characters, of which charsub alone keeps what operators mean.
func (r *rewriter) charRegexp(k es.Token, s []byte, charwise bool) reason {
	if !charwise || bytes.ContainsAny(s, `[<~&@#\`) {
		return r.regexp(k, s)
	}
	out, _, ok := r.regexpText(r.tmp[:0], s)
	r.tmp = out
	if !ok {
		return dropUnparsableQuery
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// formBound handles a bound of a range.
func (r *rewriter) formBound(k es.Token, s []byte, a action) reason {
	switch {
	case len(s) == 0 || string(s) == "*":
		return kept
	case a == actDateShift:
		return r.dateBound(k, s)
	case a == actShift && isAmount(s):
	case a == actBucket && isAmount(s):
		r.note(approx, "rounded")
	default:
		r.note(broken, "range_text")
	}
	r.put(k, s, r.Worker.text.text)
	return kept
}

func isAmount(s []byte) bool {
	_, ok := parseAmount(s)
	return ok
}

// dateBound handles a bound in a field whose dates move.
func (r *rewriter) dateBound(k es.Token, s []byte) reason {
	if isDateMath(s) {
		r.relative(k, s)
		return kept
	}
	head, math, _ := bytes.Cut(s, []byte("||"))
	out, ok := r.Worker.text.movedDate(r.tmp[:0], head)
	switch {
	case !ok || len(math) > 0 && !isMath(math):
		r.note(broken, "range_text")
		r.put(k, s, r.Worker.text.text)
		return kept
	case isYearMonth(head):
		r.note(approx, "partial_date")
	}
	r.judgeMath(r.Worker.text, math)
	r.tmp = append(out, s[len(head):]...) // the math stays
	r.replace(k)
	r.out = es.AppendQuoted(r.out, r.tmp)
	return kept
}

// octets handles the whole octets that an IPv4 address begins with, as 10.1. or
// 10.1.*: they become the octets that the addresses begin with now.
func (r *rewriter) octets(k es.Token, s []byte) bool {
	text, star := bytes.CutSuffix(s, []byte{'*'})
	var in [4]byte
	n := 0
	for len(text) > 0 {
		part, rest, ok := bytes.Cut(text, []byte{'.'})
		if !ok || n == 3 || len(part) == 0 || len(part) > 3 || !digitsAt(part, 0, len(part)) || parseDigits(part) > 255 || part[0] == '0' && len(part) > 1 {
			return false
		}
		in[n] = byte(parseDigits(part))
		n, text = n+1, rest
	}
	if n == 0 {
		return false
	}
	out := r.Worker.text.mapAddr4(in)
	r.replace(k)
	r.out = append(r.out, '"')
	for _, b := range out[:n] {
		r.out = append(appendPadded(r.out, uint64(b), decimals(b)), '.')
	}
	if star {
		r.out = append(r.out, '*')
	}
	r.out = append(r.out, '"')
	return true
}

// decimals is how many digits a byte has.
func decimals(b byte) int {
	switch {
	case b < 10:
		return 1
	case b < 100:
		return 2
	}
	return 3
}
