package main

import (
	"strings"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

// mappings are those of one index; up to version 6 they stand under a type.
func (d *defFilter) mappings(text []byte) []byte {
	members, _ := membersOf(text)
	for _, x := range members {
		if x.name == "properties" || mappingOption(x.name) {
			return d.field(text)
		}
	}
	return d.object(text, func(typ string, value []byte) (string, []byte) {
		if !plainWord([]byte(typ)) {
			d.bad = badMember
			return "", nil
		}
		return typ, d.field(value)
	})
}

// field is the definition of one field, or of the whole document.
func (d *defFilter) field(text []byte) []byte {
	return d.object(text, func(name string, value []byte) (string, []byte) {
		switch name {
		case "properties", "fields":
			return name, d.object(value, func(field string, def []byte) (string, []byte) {
				made, ok := d.f.name(field)
				if !ok || made == "" {
					d.bad = badMember
					return "", nil
				}
				return made, d.field(def)
			})
		case "copy_to", "path":
			return name, d.paths(value)
		case "relations":
			return name, d.relations(value)
		}
		if mappingOption(name) && optionsOnly(value) {
			return name, value
		}
		d.f.skipped("mapping_member")
		return "", nil
	})
}

// paths are dotted names of fields, one or an array of them.
func (d *defFilter) paths(text []byte) []byte {
	return d.strings(text, func(path string) (string, bool) {
		levels := strings.Split(path, ".")
		for i, level := range levels {
			made, ok := d.f.name(level)
			if !ok {
				d.bad = badMember
			}
			levels[i] = made
		}
		return strings.Join(levels, "."), true
	})
}

// relations of a join field are values of documents.
func (d *defFilter) relations(text []byte) []byte {
	return d.object(text, func(parent string, children []byte) (string, []byte) {
		return d.word(parent), d.strings(children, func(s string) (string, bool) { return d.word(s), true })
	})
}

// mappingOption tells the members of mappings whose values are options.
func mappingOption(name string) bool {
	switch name {
	case "type", "index", "enabled", "dynamic", "analyzer", "search_analyzer", "search_quote_analyzer", "normalizer", "format",
		"ignore_above", "doc_values", "store", "norms", "index_options", "similarity", "term_vector", "coerce", "ignore_malformed",
		"scaling_factor", "dims", "dimension", "element_type", "method", "model_id", "index_prefixes", "index_phrases",
		"eager_global_ordinals", "fielddata", "fielddata_frequency_filter", "position_increment_gap", "max_input_length",
		"preserve_separators", "preserve_position_increments", "depth_limit", "split_queries_on_whitespace", "subobjects",
		"orientation", "ignore_z_value", "date_detection", "numeric_detection", "dynamic_date_formats", "_routing", "_size",
		"_field_names", "_all", "include_in_all", "boost", "include_in_parent", "include_in_root", "time_series_dimension",
		"time_series_metric", "metrics", "default_metric", "locale", "tree", "precision", "strategy", "data_type", "mode",
		"max_shingle_size", "max_analyzed_offset", "ignore_dynamic_beyond_limit", "unit", "synthetic_source_keep", "search_inference_id",
		"inference_id", "space_type", "compression_level", "path_match_mode", "positive_score_impact", "fielddata_format":
		return true
	}
	return false
}

// optionsOnly tells JSON whose names and strings are plain words.
func optionsOnly(text []byte) bool {
	var t es.Tokens
	t.Reset(text)
	for {
		k, err := t.Next()
		if err != nil {
			return false
		}
		switch k.Kind {
		case es.End:
			return true
		case es.Key, es.String:
			s, ok := es.Unquote(nil, t.Raw(k))
			if !ok || !plainWord(s) {
				return false
			}
		case es.Number:
			if k.End-k.Start > 10 {
				return false
			}
		}
	}
}

// plainWord tells short names, formats and the like from data.
func plainWord(s []byte) bool { return len(s) <= 100 && sanitize.OptionLike(s) }
