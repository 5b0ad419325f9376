package main

import (
	"slices"
	"strings"
)

// settings are those of an index, nested as the engines give them or with dots.
// path is where in them text stands, without the "index." that all have.
func (d *defFilter) settings(path string, text []byte) []byte {
	return d.object(text, func(name string, value []byte) (string, []byte) {
		at := strings.TrimPrefix(strings.TrimPrefix(path+"."+name, "."), "index.")
		isObject := value[0] == '{'
		switch {
		case at == "index" && isObject:
			return name, d.settings("", value)
		case at == "analysis" && isObject:
			return name, d.analysis(value)
		case at == "sort.field", at == "query.default_field", at == "routing_path":
			return name, d.paths(value)
		case keptSetting(at) && !isObject && optionsOnly(value):
			return name, value
		case at == "similarity" && isObject && !strings.Contains(string(value), `"script`) && optionsOnly(value):
			return name, value
		case isObject && slices.Contains(settingGroups(), at):
			return name, d.settings(at, value)
		}
		d.f.skipped("setting")
		return "", nil
	})
}

// settingGroups are the settings that hold others which stay.
func settingGroups() []string {
	return []string{
		"sort", "query", "mapping", "mapping.total_fields", "mapping.depth", "mapping.nested_fields", "mapping.nested_objects",
		"mapping.field_name_length", "mapping.dimension_fields", "mapping.source", "merge", "merge.policy", "merge.scheduler", "translog", "soft_deletes",
		"soft_deletes.retention_lease", "highlight", "search", "search.idle", "knn", "knn.algo_param", "knn.advanced", "queries", "queries.cache", "requests",
		"requests.cache", "store",
	}
}

// keptSetting tells the settings whose values are options, and that a new index
// takes. What the engine writes itself (uuid, creation_date, version,
// provided_name), what names things of the source's cluster (allocation,
// pipelines, lifecycles) and what would keep the target from being filled
// (blocks) is not among them.
func keptSetting(at string) bool {
	switch at {
	case "number_of_shards", "number_of_replicas", "auto_expand_replicas", "refresh_interval", "number_of_routing_shards",
		"routing_partition_size", "max_result_window", "max_inner_result_window", "max_rescore_window", "max_docvalue_fields_search",
		"max_script_fields", "max_ngram_diff", "max_shingle_diff", "max_refresh_listeners", "max_terms_count", "max_regex_length",
		"max_slices_per_scroll", "max_slices_per_pit", "highlight.max_analyzed_offset", "analyze.max_token_count", "codec", "gc_deletes",
		"load_fixed_bitset_filters_eagerly", "hidden", "priority", "mode", "knn", "warmer.enabled", "shard.check_on_startup",
		"sort.order", "sort.mode", "sort.missing", "search.idle.after", "store.type", "queries.cache.enabled", "requests.cache.enable":
		return true
	}
	for _, group := range []string{"mapping.", "merge.", "translog.", "soft_deletes.", "knn."} {
		if strings.HasPrefix(at, group) {
			return true
		}
	}
	return false
}
