package es

import "strings"

// TextCut is where an analyser cuts a text.
type TextCut uint8

// The cuts. The zero value stands first because it asks for the most caution.
const (
	CutWords   TextCut = iota // between words as Unicode knows them, and inside of ideographs
	CutSpace                  // at white space alone
	CutLetters                // at all that is no letter
	CutNone                   // nowhere
)

// TextFacts say what the analysers of a field do to words.
type TextFacts struct {
	// Class is the most that they do.
	Class TextClass
	Cut   TextCut
	// Folds: marks are taken off letters. Splits: runs of letters are cut inside.
	Folds, Splits bool
	// Porter: the only stemmer is Porter's for English.
	Porter bool
	// Possessive: an 's at the end of a word is cut off.
	Possessive bool
	// Breaks names what changes words so that counts say nothing of others in their
	// place: synonyms, stop_words (a list other than the English one), analyzer.
	Breaks string
	// Bends names what may do so to a few words: analyzer.
	Bends string
}

// And is what holds where a text meets both analysers.
func (t TextFacts) And(u TextFacts) TextFacts {
	out := TextFacts{
		Class: max(t.Class, u.Class), Folds: t.Folds || u.Folds, Splits: t.Splits || u.Splits, Possessive: t.Possessive || u.Possessive,
		Porter: t.Porter && u.Porter, Breaks: firstOf(t.Breaks, u.Breaks), Bends: firstOf(t.Bends, u.Bends),
	}
	switch {
	case t.Cut == u.Cut:
		out.Cut = t.Cut
	case t.Class == TextNone:
		out.Cut = u.Cut
	case u.Class == TextNone:
		out.Cut = t.Cut
	}
	if t.Folds != u.Folds && t.Class != TextNone && u.Class != TextNone {
		out.Bends = firstOf(out.Bends, "analyzer")
	}
	return out
}

func (t *TextFacts) breaks(why string) { t.Breaks = firstOf(t.Breaks, why) }
func (t *TextFacts) bends()            { t.Bends = firstOf(t.Bends, "analyzer") }

// normalizerFacts are those of a field that is compared as a whole.
func (a *Analysis) normalizerFacts(f *FieldInfo) TextFacts {
	t := TextFacts{Class: TextWhole, Cut: CutNone}
	switch d, ok := a.Normalizers[f.Normalizer]; {
	case f.Type == "icu_collation_keyword":
		t.breaks("analyzer")
	case ok:
		a.parts(&t, d)
	case f.Normalizer != "" && f.Normalizer != "lowercase":
		t.breaks("analyzer")
	}
	return t
}

// textFacts are those of a field with analysers, when it is written and when it
// is searched.
func (a *Analysis) textFacts(f *FieldInfo) TextFacts {
	name := firstOf(f.Analyzer, "default")
	if f.Type == "completion" {
		name = firstOf(f.Analyzer, "simple")
	}
	t := a.analyzerFacts(name)
	if search := firstOf(f.SearchAnalyzer, a.has("default_search", f.Analyzer == "")); search != "" {
		t = t.And(a.analyzerFacts(search))
	}
	switch f.Type {
	case "search_as_you_type", "completion":
		t.Class = max(t.Class, TextEdge)
	case "annotated_text", "semantic_text":
		t.breaks("analyzer")
	}
	return t
}

// analyzerFacts are those of an analyser, by its name.
func (a *Analysis) analyzerFacts(name string) TextFacts {
	d, ok := a.Analyzers[name]
	switch {
	case !ok && name == "default":
		return TextFacts{Class: TextWords}
	case !ok:
		return builtinFacts(name, Definition{})
	case d.Type != "" && d.Type != "custom":
		return builtinFacts(d.Type, d)
	}
	t := a.tokenizerFacts(d.Tokenizer)
	a.parts(&t, d)
	return t
}

// builtinFacts are those of an analyser that engines or their add-ons bring.
func builtinFacts(kind string, d Definition) TextFacts {
	t := TextFacts{Class: knownAnalyzer(kind, d).class}
	english := false // its stop words are the English ones where nothing is said
	switch kind {
	case "standard", "default":
	case "english":
		t.Porter, t.Possessive, english = true, true, true
	case "cjk":
		english = true
	case "simple":
		t.Cut = CutLetters
	case "stop":
		t.Cut, english = CutLetters, true
	case "whitespace":
		t.Cut = CutSpace
	case "keyword":
		t.Cut = CutNone
	case "classic", "uax_url_email", "pattern":
		t.bends()
	}
	if t.Class == TextOther {
		t.breaks("analyzer")
	}
	switch said := d.Options["stopwords"]; {
	case d.Lists["stopwords"] > 0, d.Options["stopwords_path"] != "", said != "" && said != "_english_" && said != "_none_":
		t.breaks("stop_words")
	case !english && said == "" && t.Class == TextStem:
		t.breaks("stem") // with a list of stop words of its language
	}
	if d.Lists["stem_exclusion"] > 0 || d.Options["max_token_length"] != "" {
		t.breaks("analyzer")
	}
	return t
}

func (a *Analysis) tokenizerFacts(name string) TextFacts {
	d := a.Tokenizers[name]
	t := TextFacts{Class: a.tokenizer(name).class}
	switch firstOf(d.Type, name) {
	case "standard":
	case "whitespace":
		t.Cut = CutSpace
	case "letter", "lowercase":
		t.Cut = CutLetters
	case "keyword":
		t.Cut = CutNone
	case "ngram", "nGram", "edge_ngram", "edgeNGram":
	default:
		t.bends()
	}
	if t.Class == TextOther || d.Options["max_token_length"] != "" {
		t.breaks("analyzer")
	}
	return t
}

// parts adds what the filters of a definition do.
func (a *Analysis) parts(t *TextFacts, d Definition) {
	for _, name := range d.CharFilters {
		if firstOf(a.CharFilters[name].Type, name) == "html_strip" {
			t.bends() // entities
			continue
		}
		t.breaks("analyzer")
	}
	for _, name := range d.Filters {
		f := a.Filters[name]
		filterFacts(t, firstOf(f.Type, name), f)
	}
}

func filterFacts(t *TextFacts, kind string, f Definition) {
	switch kind {
	case "lowercase":
		if f.Options["language"] != "" {
			t.bends() // of Greek, Irish, Turkish: some letters only
		}
	case "uppercase", "unique", "trim", "apostrophe", "flatten_graph", "limit", "keyword_repeat", "decimal_digit", "remove_duplicates", "shingle", "standard":
	case "stop":
		if said := f.Options["stopwords"]; f.Lists["stopwords"] > 0 || f.Options["stopwords_path"] != "" || said != "" && said != "_english_" && said != "_none_" {
			t.breaks("stop_words")
		}
	case "stemmer":
		stemmerFacts(t, strings.ToLower(firstOf(f.Options["language"], f.Options["name"], "porter")))
	case "porter_stem":
		stemmerFacts(t, "porter")
	case "snowball", "kstem":
		stemmerFacts(t, kind)
	case "synonym", "synonym_graph":
		t.breaks("synonyms")
	default:
		e := effect{class: t.Class}
		filterEffect(&e, kind, f)
		switch {
		case e.folds:
			t.Folds = true
		case e.splits:
			t.Splits = true
		case e.class == TextOther:
			t.breaks("analyzer")
		case e.class > t.Class:
			t.Class = e.class
		case e.class == t.Class: // a list of words, lengths, widths: some words only
			t.bends()
		}
		if kind == "length" || kind == "keep" || kind == "common_grams" || kind == "elision" {
			t.breaks("analyzer")
		}
	}
}

func stemmerFacts(t *TextFacts, language string) {
	switch language {
	case "possessive_english":
		t.Possessive = true
		return
	case "porter", "english":
		t.Porter = t.Class < TextStem || t.Porter
	default:
		t.Porter = false
		if t.Class == TextStem { // a second stemmer
			t.breaks("stem")
		}
	}
	t.Class = max(t.Class, TextStem)
}
