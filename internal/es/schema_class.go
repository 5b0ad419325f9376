package es

import (
	"fmt"
	"slices"
	"strings"
)

// TextClass is what becomes of a text when a field indexes it, from the least
// change to the most.
type TextClass uint8

// The classes. The zero value is a field that indexes no text.
const (
	TextNone       TextClass = iota
	TextWhole                // one term: keyword
	TextWords                // cut at separators: standard, whitespace, simple
	TextStem                 // words without their endings
	TextEdge                 // the beginnings of words
	TextNgram                // parts of words
	TextCJK                  // pairs of Chinese, Japanese or Korean characters
	TextDictionary           // cut where a dictionary says: ik, kuromoji, nori, smartcn, thai
	TextOther                // changed in another way: synonyms, phonetic, patterns; or not known
)

func textClasses() []string {
	return []string{"", "whole", "words", "stem", "edge_ngram", "ngram", "cjk", "dictionary", "other"}
}

// String is the class's name in a Schema.
func (c TextClass) String() string {
	if names := textClasses(); int(c) < len(names) {
		return names[c]
	}
	return "other"
}

// MarshalText writes the name.
func (c TextClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a name.
func (c *TextClass) UnmarshalText(text []byte) error {
	i := slices.Index(textClasses(), string(text))
	if i < 0 {
		return fmt.Errorf("class: %w", ErrSchema)
	}
	*c = TextClass(i)
	return nil
}

// effect is what an analyser does to a text.
type effect struct {
	class    TextClass
	folds    bool
	splits   bool
	language string
}

func (e *effect) atLeast(c TextClass) { e.class = max(e.class, c) }

// classify fills in what the field's analysers do.
func (a *Analysis) classify(f *FieldInfo) {
	var at, ask effect
	switch f.Type {
	case "keyword", "constant_keyword", "wildcard", "flattened", "flat_object", "version", "ip", "icu_collation_keyword":
		at = a.normalizer(f.Normalizer)
		if f.Type == "icu_collation_keyword" {
			at.class = TextOther
		}
		ask = at
	case "text", "match_only_text", "annotated_text", "string":
		at = a.analyzer(firstOf(f.Analyzer, "default"))
		ask = at
		if name := firstOf(f.SearchAnalyzer, a.has("default_search", f.Analyzer == "")); name != "" {
			ask = a.analyzer(name)
		}
	case "search_as_you_type", "completion":
		at = a.analyzer(firstOf(f.Analyzer, map[bool]string{true: "simple"}[f.Type == "completion"], "default"))
		at.atLeast(TextEdge)
		ask = at
	case "semantic_text":
		at.class, ask.class = TextOther, TextOther
	default:
		return
	}
	f.Index, f.Folds, f.Splits, f.Language = at.class, at.folds || ask.folds, at.splits || ask.splits, firstOf(at.language, ask.language)
	if ask.class != at.class {
		f.Search = ask.class
	}
}

func firstOf(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

// has is the name where it is wanted and defined.
func (a *Analysis) has(name string, wanted bool) string {
	if _, ok := a.Analyzers[name]; ok && wanted {
		return name
	}
	return ""
}

func (a *Analysis) normalizer(name string) effect {
	e := effect{class: TextWhole}
	if d, ok := a.Normalizers[name]; ok {
		a.filters(&e, d)
	} else if name != "" && name != "lowercase" {
		e.class = TextOther
	}
	return e
}

func (a *Analysis) analyzer(name string) effect {
	d, ok := a.Analyzers[name]
	switch {
	case !ok && name == "default":
		return effect{class: TextWords}
	case !ok:
		return knownAnalyzer(name, Definition{})
	case d.Type != "" && d.Type != "custom":
		return knownAnalyzer(d.Type, d)
	}
	e := a.tokenizer(d.Tokenizer)
	a.filters(&e, d)
	return e
}

// knownAnalyzer is what an analyser does that engines or their add-ons bring.
func knownAnalyzer(name string, d Definition) effect {
	switch name {
	case "standard", "simple", "whitespace", "stop", "classic", "default", "uax_url_email":
		return effect{class: TextWords}
	case "pattern":
		if d.Options["pattern"] == "" || d.Options["pattern"] == `\W+` {
			return effect{class: TextWords}
		}
	case "keyword":
		return effect{class: TextWhole}
	case "cjk":
		return effect{class: TextCJK}
	case "thai", "chinese":
		return effect{class: TextDictionary}
	case "snowball":
		return effect{class: TextStem, language: strings.ToLower(firstOf(d.Options["language"], "english"))}
	}
	if slices.Contains(languages(), name) {
		return effect{class: TextStem, language: name}
	}
	if dictionary(name) {
		return effect{class: TextDictionary}
	}
	return effect{class: TextOther}
}

func languages() []string {
	return strings.Fields(`arabic armenian basque bengali brazilian bulgarian catalan czech danish dutch english estonian finnish
		french galician german greek hindi hungarian indonesian irish italian latvian lithuanian norwegian persian portuguese
		romanian russian serbian sorani spanish swedish turkish ukrainian polish`)
}

// dictionary tells the names of add-ons that cut text by a dictionary.
func dictionary(name string) bool {
	for _, p := range []string{"ik_", "kuromoji", "nori", "smartcn", "icu_tokenizer", "icu_analyzer", "jieba", "hanlp", "hao_", "pinyin", "thai", "stconvert", "ansj", "mmseg", "seunjeon", "sudachi", "vi_"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func (a *Analysis) tokenizer(name string) effect {
	d := a.Tokenizers[name]
	switch kind := firstOf(d.Type, name); kind {
	case "standard", "whitespace", "letter", "lowercase", "classic", "uax_url_email", "char_group", "path_hierarchy", "PathHierarchy":
		return effect{class: TextWords}
	case "keyword":
		return effect{class: TextWhole}
	case "ngram", "nGram":
		return effect{class: TextNgram}
	case "edge_ngram", "edgeNGram":
		return effect{class: TextEdge}
	case "pattern":
		if p := d.Options["pattern"]; p == "" || p == `\W+` {
			return effect{class: TextWords}
		}
	default:
		if dictionary(kind) {
			return effect{class: TextDictionary}
		}
	}
	return effect{class: TextOther}
}

// filters adds what a definition's filters do.
func (a *Analysis) filters(e *effect, d Definition) {
	for _, name := range d.Filters {
		f := a.Filters[name]
		filterEffect(e, firstOf(f.Type, name), f)
	}
	for _, name := range d.CharFilters {
		switch firstOf(a.CharFilters[name].Type, name) {
		case "html_strip":
		case "icu_normalizer":
			e.folds = true
		default:
			e.atLeast(TextOther)
		}
	}
}

func filterEffect(e *effect, kind string, f Definition) {
	switch kind {
	case "lowercase", "uppercase", "stop", "unique", "trim", "length", "classic", "apostrophe", "elision", "flatten_graph", "limit",
		"keyword_repeat", "keyword_marker", "decimal_digit", "cjk_width", "common_grams", "shingle", "remove_duplicates", "keep", "keep_types", "standard":
	case "asciifolding", "icu_folding", "icu_normalizer":
		e.folds = true
	case "word_delimiter", "word_delimiter_graph":
		e.splits = true
	case "stemmer", "snowball":
		e.atLeast(TextStem)
		e.language = strings.ToLower(firstOf(f.Options["language"], f.Options["name"], "english"))
	case "porter_stem", "kstem":
		e.atLeast(TextStem)
		e.language = "english"
	case "ngram", "nGram":
		e.atLeast(TextNgram)
	case "edge_ngram", "edgeNGram":
		e.atLeast(TextEdge)
	case "cjk_bigram":
		e.atLeast(TextCJK)
	case "dictionary_decompounder", "hyphenation_decompounder":
		e.atLeast(TextDictionary)
	default:
		switch {
		case strings.HasSuffix(kind, "_stem"):
			e.atLeast(TextStem)
			e.language = strings.TrimSuffix(kind, "_stem")
		case strings.HasSuffix(kind, "_normalization"):
			e.folds = true
		case dictionary(kind):
			e.atLeast(TextDictionary)
		default:
			e.atLeast(TextOther)
		}
	}
}
