package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// stringAt handles a string at a position.
func (r *rewriter) stringAt(k es.Token, p prim) reason {
	s, why := r.textOf(k, &r.str)
	if why != kept {
		return why
	}
	if r.template && hasTag(s) {
		if done, why := r.taggedAt(k, s, p); done {
			return why
		}
	}
	switch p {
	case pNone:
		return dropShape
	case pS, pMatchType, pFuzziness, pOrder, pOptions, pFormat:
		return r.option(k, s, p)
	case pF, pSort, pN, pPath, pID, pIX, pState:
		r.nameAt(k, s, p)
	case pScript:
		return r.script(k, s)
	case pTemplate, pQueryTemplate:
		return r.templateString(k, s, p)
	case pESQL:
		return r.langAt(k, s, langESQL)
	case pSQL:
		return r.langAt(k, s, langSQL)
	case pEQL:
		return r.langAt(k, s, langEQL)
	case pPPL:
		return r.langAt(k, s, langPPL)
	case pVector, pImage:
		return r.vectorText(k, s)
	case pGeo:
		return r.place(k, s)
	case pSecret:
		return dropSecret
	case pTag:
		return r.tag(k, s)
	case pWrapper:
		return r.wrapper(k, s)
	case pExt:
		r.replace(k)
		r.out = append(r.out, "null"...)
		r.note(approx, "ext")
	case pDoc:
		return r.valueString(k, s)
	default:
		return r.valueAt(k, s, p)
	}
	return kept
}

// nameAt handles a string that names something.
func (r *rewriter) nameAt(k es.Token, s []byte, p prim) {
	switch p {
	case pF:
		r.field1(k, s)
	case pSort:
		r.sorted(s)
		r.field1(k, s)
	case pN:
		r.put(k, s, r.chosen)
	case pPath:
		r.put(k, s, r.namePath)
	case pID:
		r.put(k, s, r.id)
	case pIX:
		r.put(k, s, r.indexExpr)
	default:
		r.put(k, s, r.state)
	}
}

// field1 writes a string that names a field, or several.
func (r *rewriter) field1(k es.Token, s []byte) {
	if bytesHas(s, ',') {
		r.put(k, s, r.fieldList)
		return
	}
	r.put(k, s, r.Worker.field)
}

// valueString handles a string of a document.
func (r *rewriter) valueString(k es.Token, s []byte) reason {
	return r.valueBy(k, s, pV, r.planFor(r.path))
}

// specialField gives the form of values of the metadata fields.
func (r *rewriter) specialField() func(dst, s []byte) []byte {
	if r.inDoc || len(r.path) < 3 || r.path[0] != '_' {
		return nil
	}
	switch string(r.path) {
	case "_id", "_routing", "_parent":
		return r.id
	case "_index":
		return r.indexExpr
	case "_type":
		return r.chosen
	}
	return nil
}

// act applies an action that makes no pseudonyms to a string.
func (r *rewriter) act(k es.Token, s []byte, p prim, pl *plan) reason {
	switch pl.action {
	case actKeep:
		return r.keptString(k, s, p, pl)
	case actDropRecord:
		return dropRule
	case actDrop, actNull:
		if r.inDoc {
			r.replace(k)
			r.out = append(r.out, "null"...)
			return kept
		}
		r.note(broken, "dropped_field")
	case actShape:
		if !r.inDoc {
			r.note(broken, "masked_field")
		}
		r.tmp = constant(r.tmp[:0], s)
		r.replace(k)
		r.out = es.AppendQuoted(r.out, r.tmp)
		r.Worker.text.remember(s)
		return kept
	default:
		if !r.inDoc {
			r.note(broken, "masked_field")
		}
	}
	r.replace(k)
	r.out = append(r.out, `"mmmmm"`...)
	return kept
}

// keptString handles a string that a rule keeps, unless it is none of the rule's
// values or a detector finds something in it.
func (r *rewriter) keptString(k es.Token, s []byte, p prim, pl *plan) reason {
	if pl.values != nil && !pl.values[string(s)] {
		return r.valueBy(k, s, p, &r.other)
	}
	switch r.detect(s) {
	case detectDrop:
		return dropDetector
	case detectMask:
		r.note(broken, "masked_field")
		r.replace(k)
		r.out = append(r.out, `"mmmmm"`...)
		return kept
	}
	r.post.keep(s)
	r.keepText(k, s)
	return kept
}

// numericText tells a string that a numeric field would take as a number while
// the documents' numbers are kept: its digits are permuted, so the two part.
func (w *Worker) numericText(s []byte) bool {
	if len(s) == 0 || len(s) > 20 || !isNumber(s) {
		return false
	}
	mode, n := w.numberMode(s)
	return mode != numbersFPE || n < len(s)
}

// endsDelimited tells that a prefix ends where a run ends, and not inside of what
// may be a date, an address or a UUID.
func (r *rewriter) endsDelimited(s []byte) bool {
	return len(s) == 0 || !inRun(s, len(s)-1) && !endsInShape(s)
}

// option handles an option's value, which must look like one.
func (r *rewriter) option(k es.Token, s []byte, p prim) reason {
	if !OptionLike(s) || p == pOptions && !looksLikeSchema(s, "") {
		return dropStructural
	}
	switch {
	case p == pFormat:
		r.dateFormat(k, s)
		return kept
	case p == pFuzziness && string(s) != "0":
		r.note(broken, "fuzzy")
	case p == pMatchType && (string(s) == "phrase_prefix" || string(s) == "bool_prefix"):
		r.note(broken, "prefix")
	case isTimeZone(s):
		r.post.keep(s) // a city of the zone may be searched for as well
		if r.datesMove() && !bytes.HasPrefix(s, []byte("Etc/")) {
			r.note(approx, "time_zone") // days that moved have another summer time
		}
	}
	r.keepText(k, s)
	return kept
}

// isTimeZone tells Europe/Berlin and the like.
func isTimeZone(s []byte) bool {
	area, _, ok := bytes.Cut(s, []byte{'/'})
	if !ok {
		return false
	}
	switch string(area) {
	case "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "Etc":
		return len(s) <= 40 && looksLikeSchema(s, "/+")
	}
	return false
}

// OptionLike tells what option values are made of, which stay as they are wherever
// an option stands: names, numbers with units, format patterns, percentages. What
// holds an @, a long run of digits, quotes
// of prose or any letter beyond ASCII is none.
func OptionLike(s []byte) bool {
	if len(s) > 256 {
		return false
	}
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits >= 8 {
				return false
			}
			continue
		case c == '@', c >= 0x80, c < 0x20 && c != '\n' && c != '\t':
			return false
		}
		digits = 0
	}
	return bytes.Count(s, []byte{' '}) <= 6
}

// boolAt handles true and false, which stay as options wherever a scalar may
// stand.
func (r *rewriter) boolAt(k es.Token, p prim) reason {
	switch p {
	case pNone:
		return dropShape
	case pSecret:
		return dropSecret
	case pV, pTerm, pT:
	case pBound:
		if pl := r.planFor(r.path); isText(pl.facts) && pl.action.replaces() {
			r.note(broken, "range_text")
		}
		return kept
	default:
		return kept
	}
	switch a := r.planFor(r.path).action; {
	case a == actDropRecord, a == r.other.action && r.p.boolean == actDropRecord:
		return dropRule
	case a == actNull && r.inDoc:
		r.replace(k)
		r.out = append(r.out, "null"...)
	case a == r.other.action && r.p.boolean == actMask:
		r.replace(k)
		r.out = append(r.out, "false"...)
		if !r.inDoc {
			r.note(broken, "masked_field")
		}
	}
	return kept
}

// numberAt handles a number at a position.
func (r *rewriter) numberAt(k es.Token, p prim) reason {
	switch p {
	case pNone:
		return dropShape
	case pS, pOptions, pMatchType, pOrder, pVector, pMissing, pFormat:
		if p == pVector {
			return r.oneOfVector()
		}
		if k.End-k.Start <= 10 { // an option; longer ones are values
			return kept
		}
	case pFuzziness:
		if string(r.t.Raw(k)) != "0" {
			r.note(broken, "fuzzy")
		}
		return kept
	case pID:
		return r.idNumber(k)
	case pGeo:
		return r.coarse(k)
	case pSecret, pState, pTemplate, pQueryTemplate, pScript, pTag, pWrapper, pImage, pESQL, pSQL, pEQL, pPPL:
		return dropShape
	}
	if r.specialField() != nil {
		return r.idNumber(k)
	}
	return r.valueNumber(k, p)
}

// idNumber handles an id given as a number: the engines take its text.
func (r *rewriter) idNumber(k es.Token) reason {
	raw := r.t.Raw(k)
	if r.p.cfg.IDs.Action == "keep" {
		r.post.keep(raw)
		return kept
	}
	r.replace(k)
	if len(raw) > 0 && raw[0] != '-' && digitsAt(raw, 0, len(raw)) {
		r.out = r.id(r.out, raw)
		return kept
	}
	r.tmp = r.id(r.tmp[:0], raw)
	r.out = es.AppendQuoted(r.out, r.tmp)
	return kept
}

// primObject handles an object that has just been opened where the tables know
// a scalar only.
func (r *rewriter) primObject(p prim) reason {
	switch p {
	case pDoc:
		inDoc := r.inDoc
		r.inDoc, r.path = true, r.path[:0]
		why := r.doc()
		r.inDoc = inDoc
		return why
	case pV, pTerm, pT, pMissing:
		// A value that is an object (flattened fields, context values): all of it
		// is data.
		return r.doc()
	case pGeo, pOrigin:
		return r.geoObject()
	case pOptions:
		return r.optionObject()
	case pScript:
		return r.scriptObject()
	case pTemplate, pQueryTemplate:
		return r.templateObject(p)
	case pExt:
		return r.empty()
	case pSecret:
		return dropSecret
	}
	return dropShape
}

// optionObject handles an option that is an object of options.
func (r *rewriter) optionObject() reason {
	return r.members(func(k es.Token, name []byte) reason {
		if !looksLikeSchema(name, "") {
			return dropStructural
		}
		r.keepText(k, name)
		return r.node(node{scalar: pOptions})
	})
}

// empty replaces the object that has just been opened by {}.
func (r *rewriter) empty() reason {
	from := r.t.Offset()
	r.out = append(r.out, r.in[r.pos:from]...)
	end, err := r.t.SkipOpen()
	if err != nil {
		return jsonReason(err)
	}
	if end-from > 1 {
		r.note(approx, "ext")
	}
	r.pos = end - 1
	return kept
}

// tag handles a highlighter's tag, which stands around words in answers.
func (r *rewriter) tag(k es.Token, s []byte) reason {
	if string(s) == "@kibana-highlighted-field@" || string(s) == "@/kibana-highlighted-field@" || OptionLike(s) {
		r.keepText(k, s)
		return kept
	}
	r.put(k, s, r.Worker.text.text)
	return kept
}

// sorted notes that the order of hits follows a field.
func (w *Worker) sorted(name []byte) {
	switch string(name) {
	case "_score", "_doc", "_shard_doc", "_score:desc", "_doc:asc":
		return
	}
	if name, _, _ = bytes.Cut(name, []byte{':'}); w.p.schema != nil && w.keepsOrder(w.planFor(name)) {
		return
	}
	w.note(approx, "sort")
}
