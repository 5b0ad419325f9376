package sanitize

import (
	"bytes"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"

	"github.com/esshadow/esshadow/internal/es"
)

// judgeKnown notes what a query's value tells still of a field whose type and
// analysers are known. It stands beside the judgement by the value alone, which
// leaves to it what a text is cut into.
func (w *Worker) judgeKnown(s []byte, p prim, pl *plan) {
	f := pl.facts
	if pl.copied == copiedText || pl.copied == copiedNumbers && hasDigit(s) {
		w.note(broken, "copied")
	}
	if pl.action == actKeep && pl.values == nil || len(s) == 0 {
		return
	}
	if f.Runtime {
		level := broken
		if isNumeric(f) || f.Kind == es.KindDate || f.Kind == es.KindBoolean {
			level = approx
		}
		w.note(level, "script") // of what took the values' places
		return
	}
	if !pl.action.replaces() || f.Text.Class == es.TextNone {
		return
	}
	switch {
	case p == pBound || p == pOrigin:
		if isText(f) {
			w.note(broken, "range_text")
		}
	case p == pLucene || p == pSimple: // word by word
	case isText(f):
		w.wordsAt(s, p)
		w.tooLong(s, p, f)
	default: // of another kind in another index
		w.analysed(s, &f.Text, p)
	}
}

// wordsAt notes what the words of a text tell still under the analysers of the
// field at hand.
func (w *Worker) wordsAt(s []byte, p prim) {
	t := &w.fact.Text
	if !w.analysed(s, t, p) || w.text.style.form != formTokens || w.text.style.shapeless {
		return
	}
	switch t.Cut {
	case es.CutNone:
	case es.CutSpace:
		if w.hasPiece(s, isTimeOfDay) {
			w.note(approx, "part_of_shape") // a date may stand before it in documents
		}
	case es.CutLetters:
		if w.hasPiece(s, isHexLetters) {
			w.note(approx, "part_of_shape")
		}
	default:
		if p == pT || p == pTerm || p == pSuggest || p == pLast {
			w.piecesOfText(s)
			if w.hasPiece(s, isDatePiece) {
				w.note(approx, "part_of_shape")
			}
		}
	}
}

// hasPiece looks for a run of letters and digits, colons within, that is like a
// piece of a date, an address or a UUID.
func (w *Worker) hasPiece(s []byte, like func([]byte) bool) bool {
	for part := range bytes.FieldsFuncSeq(s, func(r rune) bool { return r < utf8.RuneSelf && r != ':' && asciiClass(byte(r)) == classSep }) {
		if like(part) {
			return true
		}
	}
	return false
}

func isTimeOfDay(part []byte) bool {
	return len(part) > 3 && bytesHas(part, ':') && digitsAt(part, 0, 2)
}

// isHexLetters tells runs of letters that an analyser which drops digits makes of
// UUIDs and addresses, and the T and Z of dates.
func isHexLetters(part []byte) bool {
	for run := range bytes.FieldsFuncSeq(part, func(r rune) bool { return r < utf8.RuneSelf && asciiClass(byte(r)) != classLetter }) {
		hex := len(run) <= 12
		for _, c := range run {
			hex = hex && isHex(c)
		}
		if hex || len(run) == 1 && (run[0]|0x20 == 't' || run[0]|0x20 == 'z') {
			return true
		}
	}
	return false
}

// isDatePiece tells the day, the month and the hour of a date, and letters that may
// be a group of a UUID without a digit.
func isDatePiece(part []byte) bool {
	for group := range bytes.SplitSeq(part, []byte{':'}) {
		if len(group) == 2 && digitsAt(group, 0, 2) && group[0] < '6' {
			return true
		}
		hex := len(group) == 4 || len(group) == 8 || len(group) == 12
		for _, c := range group {
			hex = hex && isHex(c) && asciiClass(c) == classLetter
		}
		if hex {
			return true
		}
	}
	return false
}

// analysed notes what analysers do to words so that others in their place fare
// otherwise; whole is true where they leave words as they are.
func (w *Worker) analysed(s []byte, t *es.TextFacts, p prim) (whole bool) {
	style := w.text.style
	before := w.fid.level
	switch {
	case t.Class == es.TextNone:
	case t.Breaks != "":
		w.note(broken, t.Breaks)
	case style.form == formWhole && t.Class != es.TextWhole:
		w.note(broken, "part_of_value")
	case t.Class == es.TextDictionary:
		if hasIdeographs(s) {
			w.note(broken, "dictionary")
		}
		w.note(approx, "dictionary")
	case style.form == formCharsub && w.text.spells(s) && t.Class != es.TextStem:
	case style.form == formPrefix && w.text.spells(s) && (t.Class == es.TextEdge || t.Class <= es.TextWords):
	case t.Class == es.TextEdge, t.Class == es.TextNgram:
		w.note(broken, "ngram")
	case t.Class == es.TextCJK:
		if hasIdeographs(s) {
			w.note(broken, "ideographs")
		}
		w.note(approx, "ideographs") // wide letters are made narrow ones
	case t.Class == es.TextStem:
		w.stemmed(s, t, p)
	case t.Possessive && !style.stem:
		w.note(approx, "stem")
	case style.stem, style.fold && !t.Folds:
		if p != pTerm && p != pV || t.Class != es.TextWhole { // there it is noted already
			w.note(broken, "normalized")
		}
	}
	w.lettersChanged(s, t)
	return w.fid.level == before && t.Class != es.TextNone
}

// lettersChanged is the part of analysed about letters within words.
func (w *Worker) lettersChanged(s []byte, t *es.TextFacts) {
	style := w.text.style
	if style.form == formWhole || t.Class == es.TextNone {
		return
	}
	switch {
	case t.Folds && !style.fold:
		w.note(broken, "folding")
	case t.Folds && !isASCII(s):
		w.note(approx, "folding") // engines fold other letters than we do
	}
	switch {
	case t.Splits && !style.splitCase:
		w.note(broken, "splits")
	case t.Splits:
		w.note(approx, "splits")
	}
	if t.Bends != "" {
		w.note(approx, t.Bends)
	}
}

// stemmed notes what a stemmer does: where words are made of Porter's stems, plain
// English words still match.
func (w *Worker) stemmed(s []byte, t *es.TextFacts, p prim) {
	if !t.Porter || !w.text.style.stem || p != pT && p != pLike && p != pSuggest {
		w.note(broken, "stem")
		return
	}
	for i := 0; i < len(s); {
		class, n := classAt(s, i)
		end := runEnd(s, i+n, class)
		switch {
		case class == classCJK:
			w.note(broken, "ideographs")
		case class == classLetter && !isASCII(s[i:end]):
			w.note(broken, "stem")
		case class == classDigit, class == classSep && s[i] == '_', class == classSep && joins(s, i), class == classLetter && w.oddStem(s[i:end]):
			w.note(approx, "stem")
		}
		i = end
	}
}

// joins tells a character between two words that makes one of both, whose stem
// is that of the whole.
func joins(s []byte, i int) bool {
	switch s[i] {
	case '.', ':', '\'':
		return i > 0 && inRun(s, i-1) && i+1 < len(s) && inRun(s, i+1) && !(s[i] == '\'' && isClitic(s, i+1, runEnd(s, i+1, classLetter)))
	}
	return false
}

// oddStem tells a word whose stem is a word that stays, or that stays itself
// although analysers do not drop it.
func (w *Worker) oddStem(run []byte) bool {
	low := string(bytes.ToLower(run))
	if w.text.style.keep[low] {
		return !isStopWord(low)
	}
	return w.text.style.keep[porterstemmer.StemString(low)]
}

func isStopWord(low string) bool {
	words := stopWords()
	for _, s := range words[:len(words)-3] { // the last are JSON's literals
		if s == low {
			return true
		}
	}
	return false
}

// mayOutgrow tells a keyword of which values that are not long are no longer
// indexed when words of 13 letters stand for theirs. The 256 characters that
// engines put where nobody says anything hold 18 of them.
func mayOutgrow(f *es.FieldFacts) bool {
	const usual = 256
	return f.Kind == es.KindWhole && f.IgnoreAbove > 0 && f.IgnoreAbove < usual
}

// tooLong notes a value that a keyword indexes and whose pseudonym is longer than
// it does.
func (w *Worker) tooLong(s []byte, p prim, f *es.FieldFacts) {
	if f.Kind != es.KindWhole || f.IgnoreAbove == 0 {
		return
	}
	if p != pTerm && p != pT && p != pV && p != pInclude {
		if mayOutgrow(f) {
			w.note(approx, "ignore_above")
		}
		return
	}
	if len(s)*wordLen <= f.IgnoreAbove {
		return
	}
	w.low = w.text.text(w.low[:0], s)
	if utf8.RuneCount(s) <= f.IgnoreAbove && utf8.RuneCount(w.low) > f.IgnoreAbove {
		w.note(broken, "ignore_above")
	}
}
