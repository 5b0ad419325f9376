package main

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// analysis is the part of an index's settings that says how texts are cut into
// words. Words in it (stop words, synonyms, …) become what they are in documents,
// so that they do to the pseudonyms what they did to the words. Where that cannot
// be, the part is left out, or an empty one stands for it, and it is counted.
func (d *defFilter) analysis(text []byte) []byte {
	return d.object(text, func(group string, parts []byte) (string, []byte) {
		switch group {
		case "analyzer", "tokenizer", "filter", "char_filter", "normalizer":
		default:
			d.f.skipped("analysis_member")
			return "", nil
		}
		return group, d.object(parts, func(name string, def []byte) (string, []byte) {
			if !plainWord([]byte(name)) {
				d.f.skipped("analysis_name") // as mappings that name it
				return "", nil
			}
			return name, d.part(group, def)
		})
	})
}

// part is the definition of one analyser, filter, … .
func (d *defFilter) part(group string, def []byte) []byte {
	if empty := idle(group); empty != "" && d.unsayable(def) {
		d.f.skipped("analysis_part")
		return []byte(empty)
	}
	return d.object(def, func(name string, value []byte) (string, []byte) {
		if inline, ok := strings.CutSuffix(name, "_path"); ok && isWords(inline) || name == "synonyms_set" {
			if name == "synonyms_set" {
				inline = "synonyms"
			}
			d.f.skipped("words_elsewhere") // in a file of the source's nodes, or in its cluster
			return inline, []byte("[]")
		}
		switch {
		case isWords(name):
			return name, d.words(name, value)
		case name == "pattern" || name == "patterns" || name == "keywords_pattern":
			if d.all(value, wordless) {
				return name, value
			}
		case name == "replacement":
			if d.all(value, wordlessReplacement) {
				return name, value
			}
		case analysisOption(name) && optionsOnly(value):
			return name, value
		}
		d.f.skipped("analysis_member")
		return "", nil
	})
}

// idle is a filter of either kind that does nothing, for one that cannot be said
// among pseudonyms but that analysers name; "" where leaving out is better.
func idle(group string) string {
	switch group {
	case "filter":
		return `{"type":"trim"}`
	case "char_filter":
		return `{"type":"mapping","mappings":[]}`
	}
	return ""
}

// unsayable tells a definition that needs what cannot be replaced: a script, a
// pattern with words in it, a file of patterns.
func (d *defFilter) unsayable(def []byte) bool {
	members, _ := membersOf(def)
	for _, m := range members {
		value := def[m.start:m.end]
		switch m.name {
		case "script", "hyphenation_patterns_path":
			return true
		case "pattern", "patterns":
			if !d.all(value, wordless) {
				return true
			}
		case "replacement":
			if !d.all(value, wordlessReplacement) {
				return true
			}
		}
	}
	return false
}

// all tells that a string, or each of an array of them, is as is wants it.
func (d *defFilter) all(text []byte, is func(string) bool) bool {
	ok := true
	d.strings(text, func(s string) (string, bool) {
		ok = ok && is(s)
		return s, true
	})
	return ok && d.bad == ""
}

// isWords tells the members that hold words, or rules made of words.
func isWords(name string) bool {
	switch name {
	case "stopwords", "stem_exclusion", "keywords", "keep_words", "common_words", "word_list", "protected_words", "articles",
		"synonyms", "rules", "mappings", "type_table":
		return true
	}
	return false
}

// words rewrites such a member.
func (d *defFilter) words(name string, value []byte) []byte {
	form := d.listed
	switch name {
	case "synonyms", "rules":
		form = d.rule
	case "mappings", "type_table":
		form = d.substitution
	}
	return d.strings(value, form)
}

// listed is the form of a word of a list, or of several with commas between them.
// _english_ and the like name a list of the engine's.
func (d *defFilter) listed(s string) (string, bool) {
	if len(s) > 2 && s[0] == '_' && s[len(s)-1] == '_' && plainWord([]byte(s)) {
		return s, true
	}
	return d.terms(s), true
}

// terms rewrites terms with commas between them.
func (d *defFilter) terms(s string) string {
	parts := strings.Split(s, ",")
	for i, p := range parts {
		word := strings.TrimSpace(p)
		if word == "" {
			continue
		}
		before, after, _ := strings.Cut(p, word)
		parts[i] = before + d.word(word) + after
	}
	return strings.Join(parts, ",")
}

// rule is the form of a rule of synonyms or of stems: "a, b => c", or a line of
// WordNet's Prolog files.
func (d *defFilter) rule(s string) (string, bool) {
	if s = strings.TrimSpace(s); s == "" || s[0] == '#' {
		return "", false
	}
	if strings.HasPrefix(s, "s(") {
		if i, j := strings.IndexByte(s, '\''), strings.LastIndexByte(s, '\''); i > 0 && j > i+1 && !strings.Contains(s[i+1:j], "'") {
			if head, tail := s[:i+1], s[j:]; plainWord([]byte(tail)) && wordNet().MatchString(head) {
				return head + d.word(s[i+1:j]) + tail, true
			}
		}
		d.f.skipped("synonym_rule")
		return "", false
	}
	sides := strings.Split(s, "=>")
	if len(sides) > 2 || strings.Contains(s, `\`) {
		d.f.skipped("synonym_rule")
		return "", false
	}
	for i := range sides {
		sides[i] = d.terms(sides[i])
	}
	return strings.Join(sides, "=>"), true
}

func wordNet() *regexp.Regexp { return regexp.MustCompile(`^s\(\d{9},\d{1,3},'$`) }

// substitution is the form of a rule of a character filter, "x => y", or of a
// table of character types. Letters and digits are others in pseudonyms, so that
// only rules for other characters still do what they did.
func (d *defFilter) substitution(s string) (string, bool) {
	left, right, ok := strings.Cut(s, "=>")
	if !ok || !wordless(unescaped(left)) {
		d.f.skipped("character_rule")
		return "", false
	}
	word := strings.TrimSpace(right)
	if word == "" || strings.Contains(word, `\`) && wordless(unescaped(word)) {
		return s, true
	}
	if typ := strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"); typ == "" && characterType(word) {
		return s, true
	}
	if strings.Contains(word, `\`) {
		d.f.skipped("character_rule")
		return "", false
	}
	return left + "=> " + d.word(word), true
}

// characterType tells the right sides of type_table.
func characterType(s string) bool {
	switch s {
	case "LOWER", "UPPER", "ALPHA", "DIGIT", "ALPHANUM", "SUBWORD_DELIM":
		return true
	}
	return false
}

// unescaped reads the \uXXXX of a rule of characters; other escapes name control
// characters and separators.
func unescaped(s string) string {
	return unicodeEscape().ReplaceAllStringFunc(s, func(e string) string {
		if e[1] != 'u' {
			return " "
		}
		n, err := strconv.ParseUint(e[2:], 16, 16)
		if err != nil {
			return "x"
		}
		return string(rune(n))
	})
}

func unicodeEscape() *regexp.Regexp { return regexp.MustCompile(`\\u[0-9A-Fa-f]{4}|\\[\\tnrbf]`) }

// wordlessReplacement is wordless for what stands for a match: $1 is a part of it.
func wordlessReplacement(s string) bool { return wordless(groupRef().ReplaceAllString(s, "")) }

func groupRef() *regexp.Regexp { return regexp.MustCompile(`\$\d`) }

// patternParts are the parts of a regular expression that have letters in them
// but stand for classes of characters, and counts.
func patternParts() *regexp.Regexp {
	return regexp.MustCompile(`\\[pP]\{\^?\w{1,32}\}|\\[wWsSdDbBtnrAzZhHvVR]|\{\d{0,4},?\d{0,4}\}|a-z|A-Z|0-9`)
}

// wordless tells a text, or a regular expression, without a letter or a digit of
// its own: it means the same among pseudonyms.
func wordless(s string) bool {
	if len(s) > 500 {
		return false
	}
	return strings.IndexFunc(patternParts().ReplaceAllString(s, ""), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
}

// analysisOption tells the members of definitions whose values are options, or
// name other parts.
func analysisOption(name string) bool {
	switch name {
	case "type", "tokenizer", "filter", "filters", "char_filter", "ignore_case", "remove_trailing", "expand", "lenient", "format", "updateable",
		"language", "name", "min_gram", "max_gram", "min_shingle_size", "max_shingle_size", "output_unigrams", "output_unigrams_if_no_shingles",
		"token_separator", "filler_token", "min", "max", "length", "max_token_count", "consume_all_tokens", "preserve_original",
		"generate_word_parts", "generate_number_parts", "catenate_words", "catenate_numbers", "catenate_all", "split_on_case_change",
		"split_on_numerics", "stem_english_possessive", "adjust_offsets", "ignore_keywords", "encoder", "replace", "rule_type", "name_type",
		"languageset", "max_token_length", "token_chars", "custom_token_chars", "delimiter", "reverse", "skip", "buffer_size", "group", "flags",
		"lowercase", "position_increment_gap", "articles_case", "keep_words_case", "types", "mode", "query_mode", "min_word_size",
		"min_subword_size", "max_subword_size", "only_longest_match", "side", "escaped_tags", "tokenize_on_chars", "unicode_set_filter", "method",
		"decomposition", "encoding", "max_output_size", "separator", "discard_punctuation", "discard_compound_token", "use_romaji", "stoptags",
		"decompound_mode", "locale", "dedup", "longest_only", "preserve_position_increments", "all", "output_offsets", "hash_count", "bucket_count",
		"hash_set_size", "with_rotation", "strength", "alternate", "case_level", "case_first", "numeric", "country", "variant", "version":
		return true
	}
	return false
}
