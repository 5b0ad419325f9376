package es

import "bytes"

// isAggType tells the aggregations of Elasticsearch and OpenSearch.
func isAggType(name []byte) bool {
	switch string(name) {
	case "terms", "avg", "sum", "min", "max", "date_histogram", "cardinality", "filter", "filters", "histogram", "range",
		"top_hits", "stats", "nested", "value_count", "percentiles", "composite", "date_range", "missing", "global", "reverse_nested",
		"extended_stats", "significant_terms", "significant_text", "sampler", "diversified_sampler", "random_sampler",
		"adjacency_matrix", "auto_date_histogram", "variable_width_histogram", "children", "parent", "rare_terms", "multi_terms",
		"ip_range", "ip_prefix", "geo_bounds", "geo_centroid", "geo_distance", "geo_line", "geohash_grid", "geotile_grid",
		"geohex_grid", "cartesian_bounds", "cartesian_centroid", "percentile_ranks", "median_absolute_deviation", "weighted_avg",
		"scripted_metric", "string_stats", "boxplot", "top_metrics", "t_test", "rate", "matrix_stats", "categorize_text",
		"frequent_item_sets", "time_series", "change_point", "avg_bucket", "sum_bucket", "min_bucket", "max_bucket", "stats_bucket",
		"extended_stats_bucket", "percentiles_bucket", "bucket_script", "bucket_selector", "bucket_sort", "bucket_count_ks_test",
		"bucket_correlation", "cumulative_sum", "cumulative_cardinality", "derivative", "moving_avg", "moving_fn",
		"moving_percentiles", "normalize", "serial_diff", "inference", "star_tree":
		return true
	}
	return false
}

// aggs writes the aggregations of an object as a set, without their names.
func (f *Fingerprinter) aggs(n int32, depth int) {
	t := &f.tree
	f.write("{")
	mark := f.beginSet()
	if t.is(n, ObjectStart) {
		for c := t.at(n).first; c != none; c = t.at(c).next {
			if t.is(c, ObjectStart) {
				f.member()
				f.agg(c, depth)
			}
		}
	}
	f.endSet(mark, ", ")
	f.write("}")
}

// agg writes one aggregation: its type and, in braces, those below it.
func (f *Fingerprinter) agg(n int32, depth int) {
	t := &f.tree
	below := none
	for c := t.at(n).first; c != none; c = t.at(c).next {
		switch key := t.key(c); string(key) {
		case "aggs", "aggregations":
			below = c
		case "meta":
		default:
			if isAggType(key) {
				f.out = append(f.out, key...)
			} else {
				f.write("other")
				f.digest(key)
			}
			f.aggBody(c)
		}
	}
	if below != none {
		f.aggs(below, depth+1)
	}
}

func (f *Fingerprinter) aggBody(n int32) {
	t := &f.tree
	f.write("(")
	start := len(f.out)
	switch string(t.key(n)) {
	case "filter":
		f.queries(n, 1)
	case "filters", "adjacency_matrix":
		f.aggFilters(t.get(n, "filters"))
	case "composite":
		f.aggSources(t.get(n, "sources"))
		f.amountOf(" size", t.get(n, "size"))
		if t.get(n, "after") != none {
			f.write(" after")
		}
	default:
		mark := f.beginSet()
		f.aggFields(n, 0)
		named := f.endSet(mark, ",")
		rest := len(f.out)
		if named {
			f.write(" ")
		}
		mark = f.beginSet()
		f.aggOptions(n)
		if !f.endSet(mark, " ") {
			f.out = f.out[:rest]
		}
	}
	if len(f.out) > start {
		f.write(")")
	} else {
		f.out = f.out[:start-1]
	}
}

// aggFilters writes named or listed queries.
func (f *Fingerprinter) aggFilters(n int32) {
	t := &f.tree
	if !t.is(n, ObjectStart) && !t.is(n, ArrayStart) {
		return
	}
	mark := f.beginSet()
	for c := t.at(n).first; c != none; c = t.at(c).next {
		f.member()
		f.queries(c, 1)
	}
	f.endSet(mark, "; ")
}

// aggSources writes the sources of a composite, whose order counts.
func (f *Fingerprinter) aggSources(n int32) {
	t := &f.tree
	if !t.is(n, ArrayStart) {
		return
	}
	sep := ""
	for c := t.at(n).first; c != none; c = t.at(c).next {
		if !t.is(c, ObjectStart) {
			continue
		}
		for s := t.at(c).first; s != none; s = t.at(s).next {
			if t.is(s, ObjectStart) {
				f.write(sep)
				f.agg(s, 1)
				sep = ", "
			}
		}
	}
}

// aggFields writes the fields of an aggregation, which may stand one or two
// levels below, as members of the open set.
func (f *Fingerprinter) aggFields(n int32, depth int) {
	t := &f.tree
	if depth > 3 || !t.is(n, ObjectStart) && !t.is(n, ArrayStart) {
		return
	}
	for c := t.at(n).first; c != none; c = t.at(c).next {
		switch key := t.key(c); string(key) {
		case "field", "path", "type":
			if name := t.str(c); name != nil {
				f.member()
				f.field(name)
			}
		case "fields":
			f.member()
			f.fields(c)
			f.aggFields(c, depth+1)
		case "terms", "value", "weight", "a", "b", "metrics", "point", "":
			f.aggFields(c, depth+1)
		}
	}
}

// aggOptions writes what else of an aggregation bears on its cost, as members
// of the open set.
func (f *Fingerprinter) aggOptions(n int32) {
	t := &f.tree
	if !t.is(n, ObjectStart) {
		return
	}
	for c := t.at(n).first; c != none; c = t.at(c).next {
		f.aggOption(c)
	}
}

func (f *Fingerprinter) aggOption(c int32) {
	t := &f.tree
	switch key := t.key(c); string(key) {
	case "size":
		f.member()
		f.amountOf("size", c)
	case "script", "init_script", "map_script", "combine_script", "reduce_script":
		f.member()
		f.script(c)
	case "interval", "calendar_interval", "fixed_interval":
		f.member()
		f.interval(c)
	case "ranges", "percents":
		f.member()
		f.list(string(key), c)
	case "order":
		f.aggOrder(c)
	case "include", "exclude", "missing":
		f.member()
		f.out = append(f.out, key...)
	case "sort":
		f.member()
		f.write("sort(")
		f.sorts(c)
		f.out = append(bytes.TrimRight(f.out, ","), ')')
	case "filter", "background_filter":
		f.member()
		f.out = append(f.out, key...)
		f.write("[")
		f.queries(c, 1)
		f.write("]")
	case "value", "weight", "a", "b":
		f.aggOptions(c)
	}
}

// aggOrder marks buckets that are not in the usual order.
func (f *Fingerprinter) aggOrder(c int32) {
	t := &f.tree
	word := "order"
	if first := t.at(c).first; t.is(c, ObjectStart) && first != none {
		switch string(t.key(first)) {
		case "_count":
			return
		case "_key", "_term":
			word = "order=_key"
		}
	}
	f.member()
	f.write(word)
}

// interval writes a calendar unit, or the power of ten of a fixed width.
func (f *Fingerprinter) interval(c int32) {
	t := &f.tree
	if t.is(c, Number) {
		f.amountOf("every", c)
		return
	}
	text := t.str(c)
	switch string(text) {
	case "minute", "1m":
		f.write("every=minute")
	case "hour", "1h":
		f.write("every=hour")
	case "day", "1d":
		f.write("every=day")
	case "week", "1w":
		f.write("every=week")
	case "month", "1M":
		f.write("every=month")
	case "quarter", "1q":
		f.write("every=quarter")
	case "year", "1y":
		f.write("every=year")
	default:
		if s, ok := maths(append([]byte("+"), text...)); ok && s > 0 {
			f.write("every")
			f.duration(s)
		} else {
			f.write("every")
		}
	}
}
