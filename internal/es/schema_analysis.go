package es

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Analysis is an index's own analysers and their parts, by name.
type Analysis struct {
	Analyzers   map[string]Definition `json:"analyzers,omitempty"`
	Normalizers map[string]Definition `json:"normalizers,omitempty"`
	Tokenizers  map[string]Definition `json:"tokenizers,omitempty"`
	Filters     map[string]Definition `json:"filters,omitempty"`
	CharFilters map[string]Definition `json:"char_filters,omitempty"`
}

// IsZero tells that there are none, so that nothing is written.
func (a Analysis) IsZero() bool {
	return len(a.Analyzers)+len(a.Normalizers)+len(a.Tokenizers)+len(a.Filters)+len(a.CharFilters) == 0
}

// Definition is an analyser or a part of one. Lists of words (synonyms, stop
// words …) may hold what documents hold: only their lengths are taken.
type Definition struct {
	Type        string            `json:"type,omitempty"`
	Tokenizer   string            `json:"tokenizer,omitempty"`
	Filters     []string          `json:"filter,omitempty"`
	CharFilters []string          `json:"char_filter,omitempty"`
	Options     map[string]string `json:"options,omitempty"`
	Lists       map[string]int    `json:"lists,omitempty"` // how many entries each has
}

// UnmarshalJSON reads a Schema's form and an engine's.
func (d *Definition) UnmarshalJSON(text []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return fmt.Errorf("analysis: %w", ErrSchema)
	}
	*d = Definition{}
	for name, raw := range members {
		var one string
		var list texts
		switch name {
		case "type", "tokenizer":
			if json.Unmarshal(raw, &one) != nil {
				return fmt.Errorf("analysis: %w", ErrSchema)
			}
			if name == "type" {
				d.Type = one
			} else {
				d.Tokenizer = one
			}
		case "filter", "char_filter":
			if json.Unmarshal(raw, &list) != nil {
				return fmt.Errorf("analysis: %w", ErrSchema)
			}
			if name == "filter" {
				d.Filters = list
			} else {
				d.CharFilters = list
			}
		default:
			d.option(name, raw)
		}
	}
	return nil
}

// option takes a setting of one value if it cannot hold words of documents.
func (d *Definition) option(name string, raw json.RawMessage) {
	switch name {
	case "options":
		if json.Unmarshal(raw, &d.Options) == nil {
			return
		}
	case "lists":
		if json.Unmarshal(raw, &d.Lists) == nil {
			return
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if d.Lists == nil {
			d.Lists = map[string]int{}
		}
		d.Lists[name] = len(list)
		return
	}
	switch name {
	case "language", "name", "min_gram", "max_gram", "preserve_original", "pattern", "max_token_length", "version", "mode", "token_chars",
		"min_shingle_size", "max_shingle_size", "output_unigrams", "split_on_case_change", "delimiter", "lowercase",
		"stopwords", "stopwords_path":
	default:
		return
	}
	text := string(raw)
	if name == "stopwords" || name == "stopwords_path" {
		if text = stopList(name, text); text == "" {
			return
		}
	}
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	if strings.HasPrefix(text, "{") || text == "null" {
		return
	}
	if d.Options == nil {
		d.Options = map[string]string{}
	}
	d.Options[name] = text
}

// stopList is what is told of a list of stop words that is named and not listed: a
// language's, by its name, or that there is a file.
func stopList(name, text string) string {
	switch {
	case name == "stopwords_path":
		return "file"
	case strings.HasPrefix(text, `"_`):
		return text
	case text == "null":
		return ""
	}
	return "list"
}

// parseAnalysis reads the analysers of each index from an answer to GET
// /{index}/_settings.
func parseAnalysis(settings []byte) (map[string]Analysis, error) {
	if len(settings) == 0 {
		return nil, nil
	}
	type parts struct {
		Analyzer   map[string]Definition `json:"analyzer"`
		Normalizer map[string]Definition `json:"normalizer"`
		Tokenizer  map[string]Definition `json:"tokenizer"`
		Filter     map[string]Definition `json:"filter"`
		CharFilter map[string]Definition `json:"char_filter"`
	}
	var byIndex map[string]struct {
		Settings struct {
			Index struct {
				Analysis parts `json:"analysis"`
			} `json:"index"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(settings, &byIndex); err != nil {
		return nil, fmt.Errorf("settings: %w", ErrSchema)
	}
	out := make(map[string]Analysis, len(byIndex))
	for name, x := range byIndex {
		a := x.Settings.Index.Analysis
		out[name] = Analysis{a.Analyzer, a.Normalizer, a.Tokenizer, a.Filter, a.CharFilter}
	}
	return out, nil
}

// texts is one text or a list of them.
type texts []string

// UnmarshalJSON takes a text with commas as a list, as the engines do.
func (t *texts) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = nil
		for part := range strings.SplitSeq(one, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*t = append(*t, part)
			}
		}
		return nil
	}
	var list []string
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("list: %w", ErrSchema)
	}
	*t = list
	return nil
}

// number is a whole number, which settings also write as a text.
type number int

// UnmarshalJSON takes both forms.
func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.Atoi(strings.Trim(string(text), `"`))
	if err != nil && string(text) != "null" {
		return fmt.Errorf("number: %w", ErrSchema)
	}
	*n = number(v)
	return nil
}
